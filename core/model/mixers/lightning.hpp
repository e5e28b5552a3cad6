// The lightning attention of MiniMax-01.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct LightningWeights {
  Linear qkv, gate, out;
  Affine sub_norm;
};

}  // namespace ggufscope
