// Mamba and Mamba-2, and the weights that PLaMo-2 shares with them.
#pragma once

#include "model/mixer.hpp"
#include "model/mixers/attention.hpp"

namespace ggufscope {

/// The ssm.* keys, which delta nets read as well.
struct MambaSizes {
  uint32_t d_conv = 0, d_inner = 0, d_state = 0, dt_rank = 0, n_group = 0;
  bool norms = false;  ///< dt_b_c_rms: dt, B and C are normalized without weights
};

struct MambaWeights {
  Linear in, x, dt, out;
  Vector conv, conv_bias, dt_bias, a, d;
  Affine norm, dt_norm, b_norm, c_norm;
};

/// Falcon-H1: attention and Mamba-2 read the same input, and their outputs are added.
struct AttentionMamba2Weights {
  AttentionWeights attention;
  MambaWeights mamba;
};

uint64_t mamba_state(const Hparams& h);
void plan_mamba2(const LayerPlan& plan, MambaWeights& w);
uint64_t mamba2_state(const Hparams& h);
void run_mamba2(Pass& pass, size_t il, const MambaWeights& w, const float* x, float* y);

}  // namespace ggufscope
