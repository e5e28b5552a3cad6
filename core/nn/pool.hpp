// A fixed set of worker threads with work stealing, for one loop at a time. Without threads, loops are plain loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "nn/profile.hpp"

namespace ggufscope {

/// The length of parallel_for_runs' initial chunk, in eighths of a thread's items. A long one suits equal cores, a
/// shorter one cores of different speeds. The engine tries both while it generates.
inline constexpr size_t kInitialEighths[] = {7, 5};
/// Selects an entry of kInitialEighths, for all pools; 0 at first.
void use_runs(size_t index);

/// The calling thread takes part in every loop as thread 0. Each thread starts with the same items in every loop, so
/// that data it wrote is still in its core's cache; then it steals chunks from others. A loop ends when its last item
/// ends and does not wait for workers that wake late. Idle workers spin for some hundred microseconds, then sleep.
/// Loops must be started one at a time, from one thread.
class Pool {
 public:
  static constexpr size_t kMaxThreads = 64;

  /// n_threads includes the calling thread; it must be 1 in builds without threads. The pool has fewer threads if the
  /// system cannot create more. Error: kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<Pool>> create(size_t n_threads);
  /// Skips all loops and matrix products: for passes that only count the scratch memory that so many threads need.
  struct Counting {
    size_t n_threads = 1;
  };
  explicit Pool(Counting of) : n_threads_(of.n_threads), counting_(true) {}
  [[nodiscard]] bool counting() const { return counting_; }
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] size_t n_threads() const { return n_threads_; }
  /// Loops use the first n threads (1 .. n_threads()) from now on; the others sleep. At first all are used.
  void use_threads(size_t n);

  /// Wasm cannot create threads. The host calls work(worker(thread)) on threads 1 .. n_threads() - 1 when each is
  /// ready; until then the pool computes without them. work() returns when the pool ends.
  [[nodiscard]] void* worker(size_t thread);
  static void work(void* worker);
  /// For a work() that trapped instead of returning: the loop that waits for it then traps, too.
  static void fail_worker(void* worker);

  /// Calls body(first, last, thread) for disjoint ranges that cover [0, n_items), each of at most `grain` items, on any
  /// threads in any order; thread < n_threads(). Returns when all are done. Not reentrant. In wasm a body must not
  /// allocate or initialize a local static, because the allocator may call JavaScript, and the initialization is not
  /// thread-safe.
  template <class Body>
  void parallel_for(size_t n_items, size_t grain, const Body& body) {
    if (!counting_) run(task_of<Body>(), &body, n_items, grain, false);
  }
  /// The same for loops that are limited by memory bandwidth, which need long runs. Ranges are multiples of `grain`.
  /// Each thread's initial chunk is most of its items (kInitialEighths), and the last chunks are short, so that threads
  /// finish together.
  template <class Body>
  void parallel_for_runs(size_t n_items, size_t grain, const Body& body) {
    if (!counting_) run(task_of<Body>(), &body, n_items, grain, true);
  }

  /// The profile of everything computed with this pool since start_profile, or nullptr before that.
  [[nodiscard]] Profile* profile() const { return profile_.get(); }
  void start_profile() { profile_ = std::make_unique<Profile>(); }

  /// Scratch memory for one operation at a time. Call reserve while loading (it grows the memory and loses its
  /// content), then use the memory while computing. Error: kOutOfMemory.
  [[nodiscard]] Result<void> reserve_scratch(uint64_t shared_bytes, uint64_t bytes_per_thread);
  /// Reserves shared scratch memory of that many bytes for each kind of use, kind < 64.
  [[nodiscard]] Result<void> reserve_scratch_of_kind(uint32_t kind, uint64_t bytes_of_each);
  /// Reserves as much as another pool has.
  [[nodiscard]] Result<void> reserve_scratch_of(const Pool& other);
  [[nodiscard]] Buffer& shared_scratch() { return shared_scratch_; }
  [[nodiscard]] uint8_t* thread_scratch(size_t thread) {
    return thread_scratch_.data() + thread * thread_scratch_bytes_;
  }

 private:
  using Task = void (*)(const void* context, size_t first, size_t last, size_t thread);
  struct Workers;

  template <class Body>
  static Task task_of() {
    return [](const void* context, size_t first, size_t last, size_t thread) {
      (*static_cast<const Body*>(context))(first, last, thread);
    };
  }

  Pool() = default;
  void run(Task task, const void* context, size_t n_items, size_t grain, bool in_runs);

  size_t n_threads_ = 1;
  bool counting_ = false;
  [[maybe_unused]] size_t n_used_ = 1;
  [[maybe_unused]] Workers* workers_ = nullptr;  // nullptr: no threads
  std::unique_ptr<Profile> profile_;
  Buffer shared_scratch_;
  uint64_t scratch_kinds_ = 0;       // bits
  uint64_t scratch_kind_bytes_ = 0;  // of each
  Buffer thread_scratch_;
  size_t thread_scratch_bytes_ = 0;  // a multiple of 64, so that threads share no cache line
};

}  // namespace ggufscope
