// Attention to a window and to compressed blocks of positions (DeepSeek-V4).
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct CompressedSizes {
  uint32_t n_groups = 0;  ///< groups of heads, each with its own output matrix
  uint32_t out_rank = 0;
};

/// Computes a block's key.
struct CompressorWeights {
  Linear kv, gate;  // [n_embd] -> [sets * d]
  Vector ape;       // [ratio, sets * d]
  Affine norm;
};

struct CompressedAttentionWeights {
  Linear q_a, q_b, k, out;
  Affine q_a_norm, k_norm;
  LinearStack out_a;  // one matrix for each group of heads
  Vector sinks;       // [n_head]
  CompressorWeights compressor, index_compressor;
  Linear index_q, index_head_weights;
};

}  // namespace ggufscope
