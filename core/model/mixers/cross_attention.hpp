// Attention of a decoder's layer to the output of the encoder (T5).
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct CrossAttentionWeights {
  Affine norm;
  Linear q, k, v, out;
  Vector relative_bias;  // not used
};

/// Creates weights.cross.
/// Plans the scales of the decoder's own attention, which llama.cpp reads by names without "dec.".
void plan_decoder_scales(Planner& planner, size_t il, LayerWeights& weights);
void plan_cross_attention(const LayerPlan& plan, LayerWeights& weights);
/// y = attention of x [n_tokens, n_embd] over the encoder's output in the state.
void run_cross_attention(Pass& pass, size_t il, const float* x, float* y);

}  // namespace ggufscope
