// The short convolution of LFM2.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct ShortConvolutionSizes {
  uint32_t length = 0;
};

struct ShortConvolutionWeights {
  Linear in, out;
  Vector conv;  // [n_embd, length]
};

[[nodiscard]] uint64_t short_convolution_state(const Hparams& h);

}  // namespace ggufscope
