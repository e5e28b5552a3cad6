// Normalizes and adds rows on the pool's threads.
#include "model/rows.hpp"

#include "nn/vec.hpp"

namespace ggufscope {

void normalize_rows(Pool& pool, float eps, NormKind kind, const Affine& norm, const float* x, size_t n_rows, size_t n,
                    float* y) {
  each_token(pool, Operation::kNorm, n_rows,
             [&](size_t r) { normalize(kind, x + r * n, norm.weight.data(), norm.bias.data(), n, eps, y + r * n); });
}

void normalize_groups(Pool& pool, float eps, const Affine& norm, const float* x, size_t n_rows, size_t n,
                      size_t n_groups, float* y) {
  const size_t part = n / n_groups;
  each_token(pool, Operation::kNorm, n_rows, [&](size_t r) {
    for (size_t at = r * n; at < (r + 1) * n; at += part)
      normalize(NormKind::kRms, x + at, norm.weight.data() + at % n, nullptr, part, eps, y + at);
  });
}

void add_rows(Pool& pool, float* x, const float* y, size_t n_rows, size_t n) {
  each_token(pool, Operation::kAdd, n_rows, [&](size_t r) { vec::add(x + r * n, y + r * n, n); });
}

}  // namespace ggufscope
