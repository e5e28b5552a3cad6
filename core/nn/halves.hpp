// Rounding to half precision and back.
#pragma once

#include <algorithm>

#include "nn/vec.hpp"

namespace ggufscope {

/// Rounds n floats to half precision. ggml's convolutions use halves, regardless of the file's type.
inline void round_to_halves(float* x, size_t n) {
  constexpr size_t kPart = 256;
  uint16_t halves[kPart];
  for (size_t first = 0; first < n; first += kPart) {
    const size_t count = std::min(kPart, n - first);
    vec::store_finite_f16(x + first, halves, count);
    vec::load_f16(halves, x + first, count);
  }
}

}  // namespace ggufscope
