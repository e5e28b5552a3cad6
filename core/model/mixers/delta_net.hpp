// The gated delta net of Qwen3-Next, Qwen3.5 and Qwen 4.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct DeltaNetSizes {
  bool sigmoid_gate = false;  ///< the output's gate is a sigmoid instead of SiLU (Qwen 4)
};

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
