// RWKV, versions 4 to 7: its attention and its feed-forward network.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct RwkvSizes {
  uint32_t head_size = 0;
  float norm_eps = 1e-5f;      ///< of version 5
  uint32_t rescale_every = 0;  ///< activations are halved after every so many layers
};

struct RwkvWeights {
  Linear key, value, receptance, gate, output;
  Linear w1, w2, a1, a2, v1, v2, g1, g2, decay_w1, decay_w2;
  LinearStack mix_w2;
  Vector lerp_x, lerp, lerp_k, lerp_v, lerp_r, lerp_g, first, decay, w0, a0, v0, k_k, k_a, r_k;
  Affine norm;
};

/// Of the norm of heads in versions 6 and 7.
inline constexpr float kRwkvHeadNormEps = 64e-5f;

/// RWKV's feed-forward network, which also reads the previous token.
struct ChannelMixWeights {
  Vector lerp_k, lerp_r;
  Linear key, value, receptance;
};

/// Creates weights.channel_mix.
void plan_channel_mix(const LayerPlan& plan, LayerWeights& weights);
void run_channel_mix(Pass& pass, size_t il, const float* x, float* y);

}  // namespace ggufscope
