// Mamba and Mamba-2, and the weights that PLaMo-2 shares with them.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct MambaWeights {
  Linear in, x, dt, out;
  Vector conv, conv_bias, dt_bias, a, d;
  Affine norm, dt_norm, b_norm, c_norm;
};

uint64_t mamba_state(const Hparams& h);
void plan_mamba2(const LayerPlan& plan, MambaWeights& w);
uint64_t mamba2_state(const Hparams& h);
void run_mamba2(Pass& pass, size_t il, const MambaWeights& w, const float* x, float* y);

}  // namespace ggufscope
