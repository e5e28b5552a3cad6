// Mixture of value experts (MoVA, K2 Horizon): attention whose values come from a few experts that a router selects.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct ValueExpertSizes {
  uint32_t n = 0;       ///< experts; 0: values have one matrix
  uint32_t n_used = 0;  ///< of each token
};

struct ValueExpertWeights {
  Linear router;  // [n_embd] -> [n]
  Vector bias;    // [n]: for the selection only
  LinearStack experts;
};

void plan_value_experts(const LayerPlan& plan, ValueExpertWeights& w, uint64_t n_v);
/// v [n_tokens, n_head_kv, d_v] = the weighted sum of SiLU of the selected experts' outputs. v is not used in a pass
/// that counts.
void run_value_experts(Pass& pass, const ValueExpertWeights& w, const float* x, float* v);

}  // namespace ggufscope
