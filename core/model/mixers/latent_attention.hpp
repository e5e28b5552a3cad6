// Multi-head latent attention (DeepSeek-V2).
#pragma once

#include <memory>

#include "model/mixers/indexer.hpp"

namespace ggufscope {

struct LatentAttentionWeights {
  Linear q;              // or q_a and q_b: low-rank queries
  Linear q_a, q_b;       // [n_embd] -> [q_lora_rank] -> [n_head, d_k]
  Linear kv_a;           // [n_embd] -> [latent | n_rot]
  Linear kv_b;           // [latent] -> [n_head, d_nope | d_v]; or k_b and v_b
  LinearStack k_b, v_b;  // one matrix for each head
  Affine q_a_norm, kv_a_norm;
  Affine k_norm;  // of the rotated part
  Linear out, gate;
  std::unique_ptr<IndexerWeights> indexer;
};

}  // namespace ggufscope
