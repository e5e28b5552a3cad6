// Computes attention with embeddings of distances, one query after another.
#include "audio/relative_attention.hpp"

#include <algorithm>
#include <cmath>

#include "nn/norm.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void attend_head(const RelativeAttention& a, size_t h, size_t query, KeySpan keys, float* scratch, float* out) {
  const size_t d = a.d, row = a.n_head * d, n = keys.last - keys.first;
  float *by_content = scratch, *by_distance = scratch + d, *scores = scratch + 2 * d;
  const float* q = a.queries + query * row + h * d;
  for (size_t i = 0; i < d; ++i) {
    by_content[i] = q[i] + (a.u != nullptr ? a.u[h * d + i] : 0);
    by_distance[i] = q[i] + (a.v != nullptr ? a.v[h * d + i] : 0);
  }
  for (size_t i = 0; i < n; ++i) {
    const size_t key = keys.first + i;
    float score = vec::dot(by_content, a.keys + key * row + h * d, d);
    if (a.distances != nullptr) {
      const ptrdiff_t distance = static_cast<ptrdiff_t>(query) - static_cast<ptrdiff_t>(key);
      score += vec::dot(by_distance, a.distances + h * a.head_stride + distance * a.distance_stride, d);
    }
    score *= a.scale;
    scores[i] = a.cap != 0 ? a.cap * std::tanh(score / a.cap) : score;
  }
  softmax(scores, n);
  std::fill_n(out, d, 0.0f);
  for (size_t i = 0; i < n; ++i) vec::add_scaled(out, scores[i], a.values + (keys.first + i) * row + h * d, d);
}

}  // namespace

void attend_relative(Pool& pool, const RelativeAttention& attention, size_t n, const KeySpan* visible, float* scratch,
                     size_t thread_floats, float* out) {
  const size_t row = attention.n_head * attention.d;
  pool.parallel_for(n, 4, [&](size_t first, size_t last, size_t thread) {
    for (size_t query = first; query < last; ++query)
      for (size_t h = 0; h < attention.n_head; ++h)
        attend_head(attention, h, query, visible[query], scratch + thread * thread_floats,
                    out + query * row + h * attention.d);
  });
}

}  // namespace ggufscope
