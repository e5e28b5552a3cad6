// Attention with embeddings of the distance between query and key (Dai et al. 2019, Transformer-XL; Shaw et al. 2018):
//
//   score = ((q + u) . k + (q + v) . r[query - key]) scale
#pragma once

#include "nn/pool.hpp"

namespace ggufscope {

struct RelativeAttention {
  size_t n_head = 0, d = 0;  ///< rows of queries, keys and values have n_head * d elements
  float scale = 1;
  float cap = 0;  ///< not 0: cap tanh(score / cap)
  const float* queries = nullptr;
  const float* keys = nullptr;
  const float* values = nullptr;
  const float* distances = nullptr;  ///< the embedding of distance 0 for head 0; nullptr: none
  ptrdiff_t distance_stride = 0;     ///< floats to the embedding of the next larger distance
  size_t head_stride = 0;            ///< floats to the next head's
  const float* u = nullptr;          ///< [n_head, d] or nullptr
  const float* v = nullptr;
};

struct KeySpan {
  size_t first = 0, last = 0;
};

/// Floats of scratch memory for each thread, if a query sees so many keys.
[[nodiscard]] constexpr uint64_t relative_attention_scratch(uint64_t d, uint64_t n_keys) { return 2 * d + n_keys; }

/// out [n, n_head * d]; visible [n]. scratch: relative_attention_scratch for each thread of the pool.
void attend_relative(Pool& pool, const RelativeAttention& attention, size_t n, const KeySpan* visible, float* scratch,
                     size_t thread_floats, float* out);

}  // namespace ggufscope
