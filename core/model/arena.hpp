// Scratch memory for activations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/buffer.hpp"

namespace ggufscope {

/// Activations of one batch: a bump allocator that is released at once. Its size was counted in advance, by running the
/// same code with an arena that only counts, and with a pool that does (Pool::Counting) or parts that skip their work.
class Arena {
 public:
  static constexpr uint64_t kMaxFloats = uint64_t{1} << 61;  ///< what counting gives for sizes beyond it

  /// Has at least so many floats from now on, all free. Error: kOutOfMemory.
  [[nodiscard]] Result<void> allocate(uint64_t n_floats) {
    if (const Result<void> done = memory_.reserve(n_floats * sizeof(float)); !done) return done;
    restart(false);
    return {};
  }
  /// As many as it counted.
  [[nodiscard]] Result<void> allocate_counted() { return allocate(peak_); }
  /// take() only counts from now on, and returns nullptr.
  void count() { restart(true); }
  void free() { *this = Arena(); }
  [[nodiscard]] uint64_t bytes() const { return memory_.size(); }
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
    if (used_ > memory_.size() / sizeof(float)) __builtin_trap();  // the counted size is wrong: a bug, not bad input
    return memory_.as<float>() + at;
  }
  void restart(bool counting) {
    used_ = peak_ = 0;
    counting_ = counting;
  }

  Buffer memory_;
  uint64_t used_ = 0, peak_ = 0;
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

}  // namespace ggufscope
