// The feed-forward network of an encoder's block: x += f(x), some rows at a time.
#pragma once

#include <algorithm>

#include "model/convolution.hpp"

namespace ggufscope {

/// For some rows of x [n, n_embd] at a time: widen(part, rows, normed, wide) computes [rows, n_ff] from them, by way of
/// normed [rows, n_embd], and narrow(wide, rows, added, part) adds to them what it makes of that, by way of added
/// [rows, n_embd].
template <class Widen, class Narrow>
void feed_forward_rows(Arena& arena, float* x, size_t n, size_t n_embd, size_t n_ff, const Widen& widen,
                       const Narrow& narrow) {
  const size_t mark = arena.mark(), max = std::min(n, kPartRows);
  float* normed = arena.take(max * n_embd);
  float* wide = arena.take(max * n_ff);
  float* added = arena.take(max * n_embd);
  each_part(n, [&](size_t first, size_t rows) {
    float* const part = x + first * n_embd;
    widen(part, rows, normed, wide);
    narrow(wide, rows, added, part);
  });
  arena.release(mark);
}

}  // namespace ggufscope
