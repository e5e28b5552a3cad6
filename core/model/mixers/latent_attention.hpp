// Multi-head latent attention (DeepSeek-V2).
#pragma once

#include <memory>

#include "model/mixers/indexer.hpp"

namespace ggufscope {

/// d_k and d_v are 0 unless keys and values are absorbed.
struct LatentSize {
  uint32_t rank = 0;  ///< size of the latent vector
  uint32_t d_k = 0;   ///< key_length_mla
  uint32_t d_v = 0;   ///< value_length_mla
};
struct LatentSizes {
  uint32_t q_rank = 0;        ///< q_lora_rank: of the compressed queries
  LatentSize full, windowed;  ///< of full and of windowed layers
};

struct LatentShape {
  uint64_t n_head, d_k, d_v, n_rot, d_nope, latent;
  bool absorbed;  ///< the cache holds latent vectors instead of keys and values
};
[[nodiscard]] LatentShape latent_shape(const Hparams& h, const LayerParameters& layer);

struct LatentAttentionWeights {
  Linear q;              // or q_a and q_b: low-rank queries
  Linear q_a, q_b;       // [n_embd] -> [q_lora_rank] -> [n_head, d_k]
  Linear kv_a;           // [n_embd] -> [latent | n_rot]
  Linear kv_b;           // [latent] -> [n_head, d_nope | d_v]; or k_b and v_b
  LinearStack k_b, v_b;  // one matrix for each head
  Affine q_a_norm, kv_a_norm;
  Affine k_norm;  // of the rotated part
  Linear out, gate;
  Vector sinks;  // [n_head]
  std::unique_ptr<IndexerWeights> indexer;
};

}  // namespace ggufscope
