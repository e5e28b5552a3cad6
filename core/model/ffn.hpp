// Feed-forward networks: dense or experts, depending on the layer's tensors; none if it has neither.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

void plan_ffn(const LayerPlan& plan, LayerWeights& weights);
[[nodiscard]] bool has_ffn(const LayerWeights& weights);
/// layer_input: x before attention, which some routers read.
void run_ffn(Pass& pass, size_t il, const float* x, const float* layer_input, float* y);

}  // namespace ggufscope
