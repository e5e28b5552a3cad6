// Convolutions along time as matrix products, and loops over parts of many rows.
#pragma once

#include <algorithm>
#include <type_traits>

#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

inline constexpr size_t kPartRows = 256;  ///< rows whose widest activations stay in L2

/// Calls work(first, rows) for consecutive parts of n rows.
template <class Work>
void each_part(size_t n, const Work& work) {
  for (size_t first = 0; first < n; first += kPartRows) work(first, std::min(kPartRows, n - first));
}

struct FrameKernel {
  size_t n = 1;       ///< frames that each output frame sees
  size_t stride = 1;  ///< frames between them
  size_t before = 0;  ///< of the first output frame: frames that precede the input, which are zero
  bool half = false;  ///< inputs are rounded to half precision, as in ggml's convolutions by im2col
};

/// im2col: rows [n_rows, n_in, kernel.n], the inputs of the output frames from `first` on. x [n, n_in].
void gather_frames(Pool& pool, const FrameKernel& kernel, const float* x, size_t n, size_t n_in, size_t first,
                   size_t n_rows, float* rows);

/// y [n_out, by.n_out] = the convolution of x [n, by.n_in / kernel.n]. activate(row), if not nullptr, changes each row
/// of y.
template <class Activate>
void convolve(Pool& pool, Arena& arena, const Linear& by, const FrameKernel& kernel, const float* x, size_t n,
              size_t n_out, float* y, const Activate& activate) {
  const ArenaScope scope(arena);
  float* gathered = arena.take(std::min(n_out, kPartRows), by.n_in);
  if (arena.counting()) return;
  each_part(n_out, [&](size_t first, size_t rows) {
    float* const part = y + first * by.n_out;
    gather_frames(pool, kernel, x, n, by.n_in / kernel.n, first, rows, gathered);
    apply(pool, by, gathered, rows, part);
    if constexpr (!std::is_null_pointer_v<Activate>)
      each_token(pool, Operation::kGate, rows, [&](size_t t) { activate(part + t * by.n_out); });
  });
}

}  // namespace ggufscope
