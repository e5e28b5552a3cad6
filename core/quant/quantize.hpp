// Helpers that the quantizers share.
#pragma once

#include <cstring>

#include "quant/block.hpp"
#include "quant/fit.hpp"
#include "quant/kernels.hpp"

namespace ggufscope {

inline void store_f16(uint8_t* p, float value) { store<uint16_t>(p, f32_to_f16(value)); }

/// 1 / d, or 0 for 0.
[[nodiscard]] inline float inverse_or_zero(float d) { return d != 0 ? 1.0f / d : 0.0f; }

/// The largest magnitude of n floats. NaN is ignored.
[[nodiscard]] inline float absolute_maximum(const float* x, size_t n) {
  float max = 0;
  for (size_t i = 0; i < n; ++i) max = max > std::fabs(x[i]) ? max : std::fabs(x[i]);
  return max;
}

/// Calls quantize(the block's floats, the block's bytes, its importance or nullptr) for every block.
template <size_t kElements, size_t kBytes, class Quantize>
void each_block(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks,
                Quantize quantize) {
  for (size_t i = 0; i < n_blocks; ++i) {
    const float* weights = importance == nullptr ? nullptr : importance + i % row_blocks * kElements;
    quantize(src + i * kElements, dst + i * kBytes, weights);
  }
}

}  // namespace ggufscope
