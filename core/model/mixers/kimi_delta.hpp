// The delta attention of Kimi Linear.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

/// The kda.* keys.
struct KimiDeltaSizes {
  uint32_t d_head = 0;
  float gate_bound = 0;  ///< 0: the decay is a softplus
  bool negated = false;  ///< with a bound: ssm_a holds the negated rate
  float l2_eps = 0;      ///< of the queries' and keys' norm; 0: the epsilon of all norms
};

struct KimiDeltaWeights {
  Linear q, k, v, decay_a, decay_b, gate_a, gate_b, beta, out;
  Vector conv_q, conv_k, conv_v, a, dt_bias;
  Affine norm;
};

}  // namespace ggufscope
