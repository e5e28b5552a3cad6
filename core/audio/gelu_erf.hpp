// The exact GELU, PyTorch's default: x / 2 (1 + erf(x / sqrt(2))). The approximations are in activation.hpp.
#pragma once

#include <cstddef>

namespace ggufscope {

/// Computes GELU in place. The absolute error is below 2e-7 max(|x|, 1).
void gelu_erf(float* x, size_t n);

}  // namespace ggufscope
