// The short convolution of LFM2.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct ShortConvolutionWeights {
  Linear in, out;
  Vector conv;  // [n_embd, length]
};

}  // namespace ggufscope
