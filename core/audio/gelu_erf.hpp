// The GELU of PyTorch's default: x / 2 (1 + erf(x / sqrt(2))). The others are activations of activation.hpp.
#pragma once

#include <cstddef>

namespace ggufscope {

/// In place, within 2e-7 max(|x|, 1).
void gelu_erf(float* x, size_t n);

}  // namespace ggufscope
