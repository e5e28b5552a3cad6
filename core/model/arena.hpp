// Scratch memory for activations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ggufscope {

/// Activations of one batch: a bump allocator that is released at once. Its size was counted in advance, by running the
/// same code with an arena that only counts.
class Arena {
 public:
  static constexpr uint64_t kMaxFloats = uint64_t{1} << 61;  ///< what counting gives for sizes beyond it

  void reset(float* base, size_t n_floats) { *this = Arena(base, n_floats); }
  /// take() only counts from now on, and returns nullptr.
  void count() {
    *this = Arena(nullptr, 0);
    counting_ = true;
  }
  [[nodiscard]] bool counting() const { return counting_; }
  /// The most floats that were taken at once.
  [[nodiscard]] uint64_t peak() const { return peak_; }

  /// Memory for floats of a shape, such as (n_tokens, n_head, d).
  template <class... Sizes>
  float* take(Sizes... shape) {
    return take_shape({static_cast<uint64_t>(shape)...});
  }
  [[nodiscard]] size_t mark() const { return static_cast<size_t>(used_); }
  void release(size_t mark) { used_ = mark; }
  /// Allocations are rounded up to whole cache lines.
  [[nodiscard]] static constexpr uint64_t round_up(uint64_t n_floats) { return (n_floats + 15) / 16 * 16; }

  Arena() = default;

 private:
  friend class ArenaScope;
  [[gnu::noinline]] float* take_shape(std::initializer_list<uint64_t> shape) {
    uint64_t n = 1;
    bool fits = true;
    for (const uint64_t size : shape) fits = fits && !__builtin_mul_overflow(n, size, &n);
    const uint64_t at = used_;
    used_ = std::min(used_ + round_up(fits ? std::min(n, kMaxFloats) : kMaxFloats), kMaxFloats);
    peak_ = std::max(peak_, used_);
    if (counting_) return nullptr;
    if (used_ > size_) __builtin_trap();  // the counted size is wrong: a bug, never caused by input
    return base_ + at;
  }
  Arena(float* base, uint64_t size) : base_(base), size_(size) {}

  float* base_ = nullptr;
  uint64_t size_ = 0, used_ = 0, peak_ = 0;
  bool counting_ = false;
};

/// Releases at the end of a scope what was taken in it.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.used_) {}
  ~ArenaScope() { arena_.used_ = mark_; }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  uint64_t mark_;
};

/// Floats of the arena that buffers of these sizes take.
template <class... Sizes>
[[nodiscard]] constexpr uint64_t arena_floats(Sizes... n) {
  return (Arena::round_up(uint64_t{n}) + ... + uint64_t{0});
}

}  // namespace ggufscope
