// Biased matrices and attention without a cache, for the blocks of decision heads.
#include "model/decision/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "nn/profile.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

void plan_biased(Planner& planner, Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out) {
  if (!planner.linear(to, name, n_in, n_out)) return;
  if (!to.bias) planner.refuse(ErrorCode::kNotFound, "tensor " + name + ".bias is missing");
}

void plan_unbiased(Planner& planner, Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out) {
  planner.flattened(to, name + ".weight", n_in, n_out);
}

void plan_layer_norm(Planner& planner, Affine& to, const std::string& name, uint64_t n) {
  planner.affine(to, name, n, Need::kRequired, Need::kRequired);
}

namespace {

// One query of one head. The softmax is computed online: out and sum are relative to the largest score so far.
template <class Sees>
void attend_row(const HeadShape& shape, const float* q, HeadRows k, HeadRows v, size_t n_kv, const Sees& sees,
                float* out) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.d_k));
  float max = -INFINITY, sum = 0;
  std::fill_n(out, shape.d_v, 0.0f);
  for (size_t j = 0; j < n_kv; ++j) {
    if (!sees(j)) continue;
    const float score = scale * vec::dot(q, k.data + j * k.stride, shape.d_k);
    if (score > max) {
      const float factor = std::exp(max - score);
      vec::scale(out, factor, shape.d_v);
      sum *= factor;
      max = score;
    }
    const float p = std::exp(score - max);
    vec::add_scaled(out, p, v.data + j * v.stride, shape.d_v);
    sum += p;
  }
  vec::scale(out, 1.0f / sum, shape.d_v);
}

}  // namespace

void attend_rows(Pool& pool, const HeadShape& shape, HeadRows q, size_t n_q, HeadRows k, HeadRows v, size_t n_kv,
                 std::span<const int32_t> sequences, float* out) {
  const Timed timed(pool.profile(), Operation::kAttention);
  const size_t group = shape.n_head / shape.n_head_kv;
  pool.parallel_for(n_q * shape.n_head, 1, [&](size_t first, size_t last, size_t) {
    for (size_t at = first; at < last; ++at) {
      const size_t i = at / shape.n_head, head = at % shape.n_head, head_kv = head / group;
      const auto sees = [&](size_t j) { return sequences.empty() || sequences[i] == sequences[j]; };
      attend_row(shape, q.data + i * q.stride + head * shape.d_k, {k.data + head_kv * shape.d_k, k.stride},
                 {v.data + head_kv * shape.d_v, v.stride}, n_kv, sees, out + at * shape.d_v);
    }
  });
}

}  // namespace ggufscope
