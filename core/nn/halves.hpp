// Rounding to half precision and back.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bytes.hpp"
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

/// The bytes of floats as those of halves, which are stored in `halves`; the floats may be there.
inline ByteView to_halves(ByteView floats, std::vector<uint8_t>& halves) {
  std::vector<float> aligned(floats.size() / sizeof(float));
  std::memcpy(aligned.data(), floats.data(), aligned.size() * sizeof(float));
  halves.resize(aligned.size() * sizeof(uint16_t));
  vec::store_finite_f16(aligned.data(), reinterpret_cast<uint16_t*>(halves.data()), aligned.size());
  return halves;
}

}  // namespace ggufscope
