// The gated delta net of Qwen3-Next and Qwen3.5.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct DeltaNetWeights {
  Linear in;  // q, k, v and z of each key head; or qkv and gate
  Linear qkv, gate;
  Linear beta_alpha;  // or beta and alpha
  Linear beta, alpha;
  Vector conv, dt_bias, a;
  Affine norm;
  Linear out;
};

[[nodiscard]] uint64_t delta_net_state(const Hparams& h);

}  // namespace ggufscope
