// Scratch memory for activations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggufscope {

/// Activations of one batch: a bump allocator that is released at once. Its size was computed in advance.
class Arena {
 public:
  void reset(float* base, size_t n_floats) {
    base_ = base;
    size_ = n_floats;
    used_ = 0;
  }
  [[nodiscard]] float* take(size_t n_floats) {
    const size_t padded = static_cast<size_t>(round_up(n_floats));
    if (padded > size_ - used_) __builtin_trap();  // the computed size is wrong: a bug, never caused by input
    float* p = base_ + used_;
    used_ += padded;
    return p;
  }
  [[nodiscard]] size_t mark() const { return used_; }
  void release(size_t mark) { used_ = mark; }
  /// Allocations are rounded up to whole cache lines.
  [[nodiscard]] static constexpr uint64_t round_up(uint64_t n_floats) { return (n_floats + 15) / 16 * 16; }

 private:
  float* base_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
};

/// Floats of the arena that buffers of these sizes take.
template <class... Sizes>
[[nodiscard]] constexpr uint64_t arena_floats(Sizes... n) {
  return (Arena::round_up(uint64_t{n}) + ... + uint64_t{0});
}

}  // namespace ggufscope
