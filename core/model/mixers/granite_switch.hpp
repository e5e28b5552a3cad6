// Granite models that contain low-rank adapters.
#pragma once

#include "model/mixers/attention.hpp"

namespace ggufscope {

struct SwitchSizes {
  uint32_t rank = 0;
  float gain = 15.0f;
  std::vector<int32_t> activate, substitute;  ///< one token for each adapter
};

/// The low-rank pairs of one matrix: [n_in, rank, n_slots] and [rank, n_out, n_slots].
struct SwitchedAdapter {
  LinearStack a, b;
};

struct SwitchedAttentionWeights {
  AttentionWeights attention;
  SwitchedAdapter q, k, v, out, gate, up, down;
};

/// Sets pass.slots and returns the tokens to embed instead of the control tokens.
std::vector<int32_t> switch_tokens(Pass& pass, std::span<const int32_t> tokens);
/// The feed-forward network of a layer with switched attention.
void run_switched_ffn(Pass& pass, size_t il, const float* x, float* y);

}  // namespace ggufscope
