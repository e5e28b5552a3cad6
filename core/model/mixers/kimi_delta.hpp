// The delta attention of Kimi Linear.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct KimiDeltaWeights {
  Linear q, k, v, decay_a, decay_b, gate_a, gate_b, beta, out;
  Vector conv_q, conv_k, conv_v, a, dt_bias;
  Affine norm;
};

}  // namespace ggufscope
