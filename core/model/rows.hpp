// Loops over the rows of activations.
#pragma once

#include "model/weights.hpp"
#include "nn/norm.hpp"
#include "nn/pool.hpp"
#include "nn/profile.hpp"

namespace ggufscope {

/// Calls work(t) for every token, in parallel if there are many.
template <class Work>
void each_token(Pool& pool, Operation operation, size_t n_tokens, const Work& work) {
  const Timed timed(pool.profile(), operation);
  pool.parallel_for(n_tokens, 8, [&](size_t first, size_t last, size_t) {
    for (size_t t = first; t < last; ++t) work(t);
  });
}

/// Normalizes the rows of x to y.
void normalize_rows(Pool& pool, float eps, NormKind kind, const Affine& norm, const float* x, size_t n_rows, size_t n,
                    float* y);
/// Normalizes each of n_groups equal parts of a row by its root mean square. The weights are those of the whole row.
void normalize_groups(Pool& pool, float eps, const Affine& norm, const float* x, size_t n_rows, size_t n,
                      size_t n_groups, float* y);
/// x += y, rows of n elements.
void add_rows(Pool& pool, float* x, const float* y, size_t n_rows, size_t n);

}  // namespace ggufscope
