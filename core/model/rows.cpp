// Normalizes and adds rows on the pool's threads.
#include "model/rows.hpp"

#include "nn/vec.hpp"

namespace ggufscope {

void normalize_rows(Pool& pool, float eps, NormKind kind, const Affine& norm, const float* x, size_t n_rows, size_t n,
                    float* y) {
  each_token(pool, Operation::kNorm, n_rows,
             [&](size_t r) { normalize(kind, x + r * n, norm.weight.data(), norm.bias.data(), n, eps, y + r * n); });
}

void add_rows(Pool& pool, float* x, const float* y, size_t n_rows, size_t n) {
  each_token(pool, Operation::kAdd, n_rows, [&](size_t r) { vec::add(x + r * n, y + r * n, n); });
}

}  // namespace ggufscope
