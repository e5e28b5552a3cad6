// Feed-forward networks: dense or experts, depending on the layer's tensors; none if it has neither.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

void plan_ffn(const LayerPlan& plan, LayerWeights& weights);
[[nodiscard]] bool has_ffn(const LayerWeights& weights);
/// layer_input: x before attention, which some routers read.
void run_ffn(Pass& pass, size_t il, const float* x, const float* layer_input, float* y);

/// Selects `used` of n experts of a token by their logits [n], with the model's function and weights of experts. bias
/// [n]: for the selection only, or nullptr. Overwrites logits and scores [n]; ids and weights: [used].
void choose_experts(const Hparams& h, size_t n, size_t used, const float* bias, float* logits, float* scores,
                    int32_t* ids, float* weights);

}  // namespace ggufscope
