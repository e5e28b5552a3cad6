// The worker threads: how they wait, start, steal and stop.
#include "nn/pool.hpp"

#include <algorithm>
#include <bit>
#include <new>

// Native builds create threads. In wasm with shared memory the host provides them. Other wasm builds have none.
#if !defined(__EMSCRIPTEN__)
#define GGUFSCOPE_THREADS 1
#include <pthread.h>
#include <time.h>
#elif defined(__EMSCRIPTEN_SHARED_MEMORY__)
#define GGUFSCOPE_THREADS 1
#endif
#if defined(GGUFSCOPE_THREADS)
#include <atomic>
#endif

namespace ggufscope {
namespace {
size_t g_runs = 0;  // of kInitialEighths
}

void use_runs(size_t which) { g_runs = which; }

#if defined(GGUFSCOPE_THREADS)
namespace {

// Threads poll for some 100 to 200 microseconds. That is longer than they wait within a token (for example if one has
// an attention head more) and mostly between tokens, and shorter than a scheduler's time slice. Wasm has no pause
// instruction, so its iterations are shorter.
#if defined(__EMSCRIPTEN__)
constexpr int kSpins = 200000;
#else
constexpr int kSpins = 4000;
#endif

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// One integer holds the whole state of the current loop, so joining and closing are single atomic steps.
constexpr uint32_t kActive = 0xff;  // number of workers inside the loop
constexpr uint32_t kOpen = 0x100;   // workers may still join
constexpr uint32_t kEpoch = 0x200;  // number of the loop, in the bits above
constexpr uint32_t kEpochMask = ~0x1ffu;

}  // namespace

struct Pool::Workers {
  // The current loop. Written only while no worker is inside.
  Task task = nullptr;
  const void* context = nullptr;
  size_t n_shares = 1;   // one for each thread
  size_t first_run = 1;  // items of a thread's initial chunk
  size_t grain = 1;      // items of each chunk that follows
  struct alignas(64) Share {
    std::atomic<size_t> next{0};
    size_t begin = 0, end = 0;
  };
  Share shares[kMaxThreads];
  alignas(64) std::atomic<uint32_t> state{0};
  std::atomic<uint32_t> n_sleeping{0};
  std::atomic<uint32_t> n_used{kMaxThreads};  // workers from this index on are parked
  std::atomic<bool> stop{false};
  std::atomic<bool> broken{false};
  struct Worker {
    Workers* owner;
    size_t index;
#if !defined(__EMSCRIPTEN__)
    pthread_t thread;
#endif
  };
  Worker workers[kMaxThreads];
  size_t n_workers = 0;

#if defined(__EMSCRIPTEN__)
  void sleep(uint32_t seen) {
    n_sleeping.fetch_add(1);
    // The wait compares the state again before the thread sleeps, so a loop that starts meanwhile is not missed.
    for (uint32_t now = state.load(); (now & kEpochMask) == seen && !stop.load(); now = state.load())
      __builtin_wasm_memory_atomic_wait32(word(), static_cast<int>(now), -1);
    n_sleeping.fetch_sub(1);
  }
  void wake_all() { __builtin_wasm_memory_atomic_notify(word(), ~0u); }
  void park(size_t index) {
    for (uint32_t n = n_used.load(); index >= n; n = n_used.load())
      __builtin_wasm_memory_atomic_wait32(n_used_word(), static_cast<int>(n), -1);
  }
  void unpark() { __builtin_wasm_memory_atomic_notify(n_used_word(), ~0u); }
  // A worker was preempted in the middle of an item. Sleeping lets it run. A worker that trapped there would never
  // finish.
  void nap() {
    if (broken.load(std::memory_order_relaxed)) __builtin_trap();
    constexpr int64_t kNanoseconds = 20000;
    const uint32_t now = state.load();
    if ((now & kActive) != 0) __builtin_wasm_memory_atomic_wait32(word(), static_cast<int>(now), kNanoseconds);
  }
  int* word() { return reinterpret_cast<int*>(&state); }
  int* n_used_word() { return reinterpret_cast<int*>(&n_used); }
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(int));

  bool add_worker() { return true; }
  // The host ends its threads. The pool must stay alive until then.
  bool join_all() { return false; }
#else
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

  void sleep(uint32_t seen) {
    pthread_mutex_lock(&mutex);
    n_sleeping.fetch_add(1);
    while ((state.load() & kEpochMask) == seen && !stop.load()) pthread_cond_wait(&wake, &mutex);
    n_sleeping.fetch_sub(1);
    pthread_mutex_unlock(&mutex);
  }
  void wake_all() {
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&mutex);
  }
  void park(size_t index) {
    if (index < n_used.load()) return;
    pthread_mutex_lock(&mutex);
    while (index >= n_used.load()) pthread_cond_wait(&wake, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  void unpark() { wake_all(); }
  // A worker was preempted in the middle of an item. Sleeping lets it run.
  void nap() {
    const timespec pause{0, 20000};
    nanosleep(&pause, nullptr);
  }
  bool add_worker() {
    const auto enter = [](void* worker) -> void* {
      work(*static_cast<const Worker*>(worker));
      return nullptr;
    };
    return pthread_create(&workers[n_workers].thread, nullptr, enter, &workers[n_workers]) == 0;
  }
  bool join_all() {
    for (size_t i = 0; i < n_workers; ++i) pthread_join(workers[i].thread, nullptr);
    pthread_cond_destroy(&wake);
    pthread_mutex_destroy(&mutex);
    return true;
  }
#endif

  // Takes the thread's own chunks, then steals.
  void take_items(size_t thread) {
    for (size_t i = 0; i < n_shares; ++i) {
      Share& share = shares[(thread + i) % n_shares];
      for (size_t first = share.next.load(std::memory_order_relaxed); first < share.end;) {
        const size_t last = std::min(first + (first == share.begin ? first_run : grain), share.end);
        if (!share.next.compare_exchange_weak(first, last, std::memory_order_relaxed)) continue;
        task(context, first, last, thread);
        first = share.next.load(std::memory_order_relaxed);
      }
    }
  }

  // Blocks until a loop other than `seen` starts, or the pool ends.
  uint32_t wait_for_other(uint32_t seen) {
    for (int i = 0; i < kSpins; ++i) {
      const uint32_t now = state.load(std::memory_order_acquire);
      if ((now & kEpochMask) != seen || stop.load(std::memory_order_relaxed)) return now;
      relax();
    }
    sleep(seen);
    return state.load(std::memory_order_acquire);
  }

  static void work(const Worker& self) {
    Workers& w = *self.owner;
    uint32_t seen = 0;
    while (!w.stop.load(std::memory_order_relaxed)) {
      w.park(self.index);
      uint32_t now = w.wait_for_other(seen);
      seen = now & kEpochMask;
      // The number of used threads changes only between loops.
      while ((now & kOpen) != 0 && self.index < w.n_used.load(std::memory_order_relaxed)) {
        seen = now & kEpochMask;
        if (!w.state.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) continue;
        w.take_items(self.index);
        w.state.fetch_sub(1, std::memory_order_release);
        break;
      }
    }
  }
};

Result<std::unique_ptr<Pool>> Pool::create(size_t n_threads) {
  std::unique_ptr<Pool> pool(new (std::nothrow) Pool);
  if (pool == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate the thread pool");
  n_threads = std::clamp<size_t>(n_threads, 1, kMaxThreads);
  if (n_threads == 1) return pool;
  Workers* w = new (std::nothrow) Workers;
  if (w == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate the thread pool");
  pool->workers_ = w;
  for (size_t i = 1; i < n_threads; ++i) {
    Workers::Worker& worker = w->workers[w->n_workers];
    worker.owner = w;
    worker.index = i;
    if (!w->add_worker()) break;
    ++w->n_workers;
  }
  pool->n_threads_ = pool->n_used_ = w->n_workers + 1;
  return pool;
}

void Pool::use_threads(size_t n) {
  n = std::clamp<size_t>(n, 1, n_threads_);
  if (n == n_used_) return;
  workers_->n_used.store(static_cast<uint32_t>(n));
  if (n > n_used_) workers_->unpark();
  n_used_ = n;
}

Pool::~Pool() {
  if (workers_ == nullptr) return;
  workers_->stop.store(true);
  workers_->state.fetch_add(kEpoch);  // a loop that no worker can join; it wakes waiting workers
  workers_->wake_all();
  workers_->n_used.store(kMaxThreads + 1);  // a value that nobody waits for
  workers_->unpark();
  if (workers_->join_all()) delete workers_;
}

void* Pool::worker(size_t thread) { return &workers_->workers[thread - 1]; }

void Pool::work(void* worker) { Workers::work(*static_cast<const Workers::Worker*>(worker)); }

void Pool::fail_worker(void* worker) { static_cast<const Workers::Worker*>(worker)->owner->broken.store(true); }

void Pool::run(Task task, const void* context, size_t n_items, size_t grain, bool in_runs) {
  grain = std::max<size_t>(grain, 1);
  if (in_runs && n_used_ == 1) grain = n_items;
  if (n_used_ == 1 || n_items <= grain) {
    for (size_t first = 0; first < n_items; first += grain) task(context, first, std::min(first + grain, n_items), 0);
    return;
  }
  Workers& w = *workers_;
  w.task = task;
  w.context = context;
  w.n_shares = n_used_;
  w.first_run = w.grain = grain;
  if (in_runs) {
    // The number of items for n eighths of a thread's share, in multiples of the grain.
    const auto eighths = [&](size_t n) { return n * n_items / (n_used_ * 8) / grain * grain; };
    w.first_run = std::max(eighths(kInitialEighths[g_runs]), grain);
    w.grain = std::max(eighths(1), grain);
  }
  const size_t n_grains = (n_items + grain - 1) / grain;
  for (size_t i = 0, end = 0; i < n_used_; ++i) {
    Workers::Share& share = w.shares[i];
    share.begin = end;
    share.end = end = std::min((i + 1) * n_grains / n_used_ * grain, n_items);
    share.next.store(share.begin, std::memory_order_relaxed);
  }
  const uint32_t epoch = (w.state.load(std::memory_order_relaxed) & kEpochMask) + kEpoch;
  w.state.store(epoch | kOpen);
  if (w.n_sleeping.load() != 0) w.wake_all();
  w.take_items(0);
  w.state.fetch_and(~kOpen, std::memory_order_relaxed);
  for (int i = 0; (w.state.load(std::memory_order_acquire) & kActive) != 0; ++i) {
    relax();
    if (i > kSpins) w.nap();
  }
}

#else

struct Pool::Workers {};

void* Pool::worker(size_t) { return nullptr; }

void Pool::work(void*) {}

void Pool::fail_worker(void*) {}

Result<std::unique_ptr<Pool>> Pool::create(size_t) {
  std::unique_ptr<Pool> pool(new (std::nothrow) Pool);
  if (pool == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate the thread pool");
  return pool;
}

Pool::~Pool() = default;

void Pool::use_threads(size_t) {}

void Pool::run(Task task, const void* context, size_t n_items, size_t grain, bool in_runs) {
  grain = in_runs ? n_items : std::max<size_t>(grain, 1);
  for (size_t first = 0; first < n_items; first += grain) task(context, first, std::min(first + grain, n_items), 0);
}

#endif

Result<void> Pool::reserve_scratch(uint64_t shared_bytes, uint64_t bytes_per_thread) {
  if (shared_bytes > shared_scratch_.size())
    if (const Result<void> done = shared_scratch_.reserve(shared_bytes); !done) return done;
  if (bytes_per_thread > thread_scratch_bytes_) {
    if (bytes_per_thread > (uint64_t{1} << 40))
      return fail(ErrorCode::kOutOfMemory, "scratch memory beyond any machine");
    const uint64_t padded = (bytes_per_thread + 63) / 64 * 64;
    if (const Result<void> done = thread_scratch_.reserve(padded * n_threads_); !done) return done;
    thread_scratch_bytes_ = static_cast<size_t>(padded);
  }
  return {};
}

Result<void> Pool::reserve_scratch_of_kind(uint32_t kind, uint64_t bytes_of_each) {
  scratch_kinds_ |= uint64_t{1} << kind;
  scratch_kind_bytes_ = std::max(scratch_kind_bytes_, bytes_of_each);
  return reserve_scratch(static_cast<uint64_t>(std::popcount(scratch_kinds_)) * scratch_kind_bytes_, 0);
}

Result<void> Pool::reserve_scratch_of(const Pool& other) {
  scratch_kinds_ |= other.scratch_kinds_;
  scratch_kind_bytes_ = std::max(scratch_kind_bytes_, other.scratch_kind_bytes_);
  const uint64_t shared = static_cast<uint64_t>(std::popcount(scratch_kinds_)) * scratch_kind_bytes_;
  return reserve_scratch(std::max<uint64_t>(shared, other.shared_scratch_.size()), other.thread_scratch_bytes_);
}

}  // namespace ggufscope
