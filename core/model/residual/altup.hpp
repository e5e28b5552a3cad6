// Gemma 3n: several residual streams (AltUp), and the per-layer inputs of Gemma 3n and 4.
#pragma once

#include "model/forward.hpp"
#include "model/mixer.hpp"

namespace ggufscope {

struct AltupWeights {
  Linear router;   // [n_embd] -> [n_streams]
  Linear predict;  // [n_streams] -> [n_streams, n_streams]
  Linear correct;  // [n_streams] -> [n_streams]
  Linear laurel_left, laurel_right;
  Affine router_norm, laurel_norm;
  Vector correct_scale;  // [n_embd]
};

struct AltupModelWeights {
  LinearStack projection, unembedding;  // one matrix for each stream but the first
};

struct PerLayerWeights {
  Linear gate, proj;
  Affine norm;
};

void plan_per_layer(const LayerPlan& plan, LayerWeights& weights);
/// Every layer has its own input for each token. Returns [n_tokens, n_layer, n_embd_per_layer], in the arena.
const float* per_layer_inputs(Pass& pass, std::span<const int32_t> tokens, const float* x);
/// out [n_tokens, n_embd]: computed from a layer's own input for each token, and x.
void per_layer_output(Pass& pass, size_t il, const float* inputs, const float* x, float* out);

void plan_altup_model(Planner& planner, const Hparams& h, Weights& weights);
void plan_altup(const LayerPlan& plan, const Weights& model, LayerWeights& weights);
[[nodiscard]] size_t n_altup_streams(const Weights& weights);
/// Converts x [n_tokens, n_embd] to streams [n_streams, n_tokens, n_embd] and back.
void split_altup_streams(Pass& pass, const float* x, float* streams);
void merge_altup_streams(Pass& pass, const float* streams, float* x, float* scratch);
void run_altup_layer(Pass& pass, size_t il, float* streams, const float* per_layer, const Activations& a);

}  // namespace ggufscope
