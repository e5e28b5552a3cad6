// A computation that is first written down as short steps, and then runs: so it can stop between two of them.
#pragma once

#include <memory>
#include <vector>

#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

/// Steps run in the order in which they were added. Memory of the arena that is released while they are written down
/// may be taken again: a later step then overwrites what an earlier one left there.
class StepList {
 public:
  explicit StepList(Pool& to) : pool(to) {}
  /// Writes down the steps with write(), which runs twice: first only to count memory. Error: kOutOfMemory.
  template <class Write>
  [[nodiscard]] Result<void> record(const Write& write) {
    clear();
    arena.count();
    write();
    if (const Result<void> allocated = arena.allocate_counted(); !allocated) return allocated;
    write();
    return {};
  }
  /// Bytes that the steps of write() would take.
  template <class Write>
  [[nodiscard]] uint64_t count_bytes(const Write& write) {
    arena.count();
    write();
    return arena.peak() * sizeof(float);
  }
  [[nodiscard]] bool counting() const { return arena.counting(); }
  template <class Step>
  void add(Step step) {
    if (!counting()) steps_.push_back(std::make_unique<StepOf<Step>>(std::move(step)));
  }
  /// Adds part(first, n) for each `size` of n_items.
  template <class Work>
  void add_parts(size_t n_items, size_t size, const Work& part) {
    for (size_t first = 0; first < n_items; first += size) {
      const size_t n = std::min(size, n_items - first);
      add([part, first, n] { part(first, n); });
    }
  }
  /// Runs the next step. Returns false, and frees the memory, if there is none.
  bool run_next();
  /// Forgets the steps, and frees the memory.
  void clear();

  Pool& pool;
  Arena arena;

 private:
  struct AnyStep {
    virtual ~AnyStep() = default;
    virtual void run() = 0;
  };
  template <class Step>
  struct StepOf final : AnyStep {
    explicit StepOf(Step by) : step(std::move(by)) {}
    void run() override { step(); }
    Step step;
  };

  std::vector<std::unique_ptr<AnyStep>> steps_;
  size_t next_ = 0;
};

}  // namespace ggufscope
