// What the blocks of decision heads share: biased matrices, and attention without a cache.
#pragma once

#include <span>

#include "model/weights.hpp"

namespace ggufscope {

/// Plans name.weight and name.bias, which must both exist.
void plan_biased(Planner& planner, Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out);
/// Plans name.weight. A bias would be an unknown tensor.
void plan_unbiased(Planner& planner, Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out);
/// Plans a layer norm, whose bias must exist.
void plan_layer_norm(Planner& planner, Affine& to, const std::string& name, uint64_t n);

/// Rows of `stride` floats, in each of which the heads of one kind lie one after another.
struct HeadRows {
  const float* data = nullptr;
  size_t stride = 0;
};

struct HeadShape {
  size_t n_head = 0, n_head_kv = 0, d_k = 0, d_v = 0;
};

/// out [n_q, n_head, d_v]: each query attends to all n_kv keys, with scores divided by sqrt(d_k). sequences, if not
/// empty: [n_q], n_q = n_kv, and a query attends only to keys of its own sequence.
void attend_rows(Pool& pool, const HeadShape& shape, HeadRows q, size_t n_q, HeadRows k, HeadRows v, size_t n_kv,
                 std::span<const int32_t> sequences, float* out);

}  // namespace ggufscope
