// MTP heads as draft models: see mtp_head.cpp.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

void plan_mtp_head(Planner& planner, const Architecture& a, const Hparams& h, Weights& weights);
/// The residual streams of a hidden state that a head reads, and of its layer.
uint32_t n_state_streams(const Hparams& h);
/// to: the input of the layer: all its streams. The embeddings of the tokens are in pass.first_value.
void join_mtp_inputs(Pass& pass, float* to);

}  // namespace ggufscope
