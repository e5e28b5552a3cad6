// Quantizers of the K-quants (layouts in k_quants.cpp). The searches of fit.hpp give the sub-blocks' scales. These are
// quantized, and the levels are computed again for the stored scales.
#include <algorithm>

#include "quant/quantize.hpp"

namespace ggufscope {
namespace {

/// Computes levels[i] for the stored scale d and offset. If d is zero they stay as they are, as in ggml.
template <class Level>
void requantize(const float* x, size_t n, float d, float offset, int low, int high, Level* levels) {
  if (d == 0) return;
  for (size_t i = 0; i < n; ++i)
    levels[i] = static_cast<Level>(clamp_int(nearest_int((x[i] + offset) / d), low, high) - low);
}

/// Packs the two low bits of 256 levels: in each 128 elements, the j-th 32 become bits 2j of 32 bytes.
template <class Level>
void pack_2_bits(const Level* levels, uint8_t* qs) {
  for (size_t j = 0; j < 256; j += 128)
    for (size_t l = 0; l < 32; ++l)
      qs[j / 4 + l] = static_cast<uint8_t>((levels[j + l] & 3) | (levels[j + l + 32] & 3) << 2 |
                                           (levels[j + l + 64] & 3) << 4 | (levels[j + l + 96] & 3) << 6);
}

/// Packs the four low bits of 256 levels: in each 64 elements, the first 32 become low halves and the others high
/// halves of 32 bytes.
void pack_4_bits(const uint8_t* levels, uint8_t* qs) {
  for (size_t j = 0; j < 256; j += 64)
    for (size_t l = 0; l < 32; ++l)
      qs[j / 2 + l] = static_cast<uint8_t>((levels[j + l] & 15) | (levels[j + l + 32] & 15) << 4);
}

float largest_positive(const float* x, size_t n) {
  float max = 0;
  for (size_t i = 0; i < n; ++i) max = x[i] > max ? x[i] : max;
  return max;
}

void quantize_block_q2_k(const float* x, uint8_t* y, const float* importance) {
  uint8_t levels[256];
  float scales[16], mins[16], weights[16], weight_sums[16];
  const float sigma2 = importance == nullptr ? 0 : sum_of_squares(x, 256) / 256;
  for (size_t j = 0; j < 16; ++j) {
    const float* xj = x + 16 * j;
    AffineFit fit;
    if (importance == nullptr) {
      for (size_t l = 0; l < 16; ++l) weights[l] = std::fabs(xj[l]);
      fit = fit_affine(16, 3, xj, weights, levels + 16 * j, {-0.5f, 0.1f, 15, true});
    } else {
      importance_weights(xj, importance + 16 * j, sigma2, weights, 16);
      weight_sums[j] = 0;
      for (const float weight : weights) weight_sums[j] += weight;
      fit = fit_affine(16, 3, xj, weights, levels + 16 * j, {-0.9f, 0.05f, 36, false});
    }
    scales[j] = fit.scale;
    mins[j] = fit.min;
  }
  float d, dmin;
  uint8_t scale_levels[16] = {}, min_levels[16] = {};
  if (importance == nullptr) {
    const float max_scale = largest_positive(scales, 16), max_min = largest_positive(mins, 16);
    const auto quantize_scales = [](const float* values, float max, uint8_t* out) {
      if (!(max > 0)) return;
      const float inverse = 15.0f / max;
      for (size_t j = 0; j < 16; ++j) out[j] = static_cast<uint8_t>(nearest_int(inverse * values[j]));
    };
    quantize_scales(scales, max_scale, scale_levels);
    quantize_scales(mins, max_min, min_levels);
    d = max_scale > 0 ? max_scale / 15.0f : 0.0f;
    dmin = max_min > 0 ? max_min / 15.0f : 0.0f;
  } else {
    d = fit_positive(16, 15, scales, scale_levels, weight_sums);
    dmin = fit_positive(16, 15, mins, min_levels, weight_sums);
  }
  store_f16(y + 80, d);
  store_f16(y + 82, dmin);
  for (size_t j = 0; j < 16; ++j) {
    y[j] = static_cast<uint8_t>(scale_levels[j] | min_levels[j] << 4);
    requantize(x + 16 * j, 16, load_f16(y + 80) * static_cast<float>(y[j] & 15),
               load_f16(y + 82) * static_cast<float>(y[j] >> 4), 0, 3, levels + 16 * j);
  }
  pack_2_bits(levels, y + 16);
}

void quantize_block_q3_k(const float* x, uint8_t* y, const float* importance) {
  int8_t levels[256], scale_levels[16] = {};
  float scales[16], weights[16], weight_sums[16];
  uint8_t* packed = y + 96;
  std::memset(packed, 0, 12);
  float d = 0;
  if (importance == nullptr) {
    for (size_t j = 0; j < 16; ++j) scales[j] = fit_symmetric_stepwise(16, 4, x + 16 * j, levels + 16 * j);
    const float largest = largest_by_magnitude(scales, 16);
    if (largest != 0) {
      const float inverse = -32.0f / largest;
      for (size_t j = 0; j < 16; ++j) {
        const auto l = static_cast<int8_t>(nearest_int(inverse * scales[j]));
        scale_levels[j] = static_cast<int8_t>(clamp_int(l, -32, 31) + 32);
      }
      d = 1 / inverse;
    }
  } else {
    const float sigma2 = 2 * sum_of_squares(x, 256) / 256;
    for (size_t j = 0; j < 16; ++j) {
      importance_weights(x + 16 * j, importance + 16 * j, sigma2, weights, 16);
      weight_sums[j] = 0;
      for (const float weight : weights) weight_sums[j] += weight;
      scales[j] = fit_symmetric(16, 4, x + 16 * j, levels + 16 * j, weights);
    }
    d = fit_symmetric(16, 32, scales, scale_levels, weight_sums);
  }
  for (size_t j = 0; j < 16; ++j) {
    const int8_t l = scale_levels[j];
    packed[j % 8] = static_cast<uint8_t>(packed[j % 8] | (l & 15) << (j < 8 ? 0 : 4));
    packed[8 + j % 4] = static_cast<uint8_t>(packed[8 + j % 4] | (l >> 4) << (2 * (j / 4)));
  }
  store_f16(y + 108, d);
  // All-zero bytes mean scales of -32, not 0, so the scales are read back as a reader would.
  for (size_t j = 0; j < 16; ++j) {
    const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4, high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
    requantize(x + 16 * j, 16, load_f16(y + 108) * static_cast<float>((low | high << 4) - 32), 0, -4, 3,
               levels + 16 * j);
  }
  std::memset(y, 0, 32);
  for (size_t j = 0; j < 256; ++j)
    if (levels[j] > 3) y[j % 32] = static_cast<uint8_t>(y[j % 32] | 1 << (j / 32));
  pack_2_bits(levels, y + 32);
}

/// Q4_K (kBits 4) and Q5_K (kBits 5). Writes d, dmin and scales[12] to y; the caller packs the levels.
template <int kBits>
void quantize_scale_min(const float* x, uint8_t* y, const float* importance, uint8_t* levels) {
  constexpr int kMax = (1 << kBits) - 1;
  constexpr AffineSearch kSearch =
      kBits == 4 ? AffineSearch{-1.0f, 0.1f, 20, false} : AffineSearch{-0.5f, 0.1f, 15, false};
  float scales[8], mins[8], weights[32], weight_sums[8];
  uint8_t scale_levels[8], min_levels[8];
  const float sigma2 = importance == nullptr ? 0 : 2 * sum_of_squares(x, 256) / 256;
  for (size_t j = 0; j < 8; ++j) {
    const float* xj = x + 32 * j;
    AffineFit fit;
    if (importance == nullptr) {
      const float root_mean_square = std::sqrt(sum_of_squares(xj, 32) / 32);
      for (size_t l = 0; l < 32; ++l) weights[l] = root_mean_square + std::fabs(xj[l]);
      fit = fit_affine(32, kMax, xj, weights, levels + 32 * j, kSearch);
    } else {
      importance_weights(xj, importance + 32 * j, sigma2, weights, 32);
      weight_sums[j] = 0;
      for (const float weight : weights) weight_sums[j] += weight;
      fit = fit_affine(32, kMax, xj, weights, levels + 32 * j, {-0.9f, 0.05f, 36, false});
    }
    scales[j] = fit.scale;
    mins[j] = fit.min;
  }
  float d, dmin;
  if (importance == nullptr) {
    const float max_scale = largest_positive(scales, 8), max_min = largest_positive(mins, 8);
    const float inverse_scale = max_scale > 0 ? 63.0f / max_scale : 0.0f;
    const float inverse_min = max_min > 0 ? 63.0f / max_min : 0.0f;
    for (size_t j = 0; j < 8; ++j) {
      scale_levels[j] = static_cast<uint8_t>(nearest_int(inverse_scale * scales[j]));
      min_levels[j] = static_cast<uint8_t>(nearest_int(inverse_min * mins[j]));
    }
    d = max_scale / 63.0f;
    dmin = max_min / 63.0f;
  } else {
    d = fit_positive(8, 63, scales, scale_levels, weight_sums);
    dmin = fit_positive(8, 63, mins, min_levels, weight_sums);
  }
  store_f16(y, d);
  store_f16(y + 2, dmin);
  uint8_t* packed = y + 4;
  std::memset(packed, 0, 12);
  for (size_t j = 0; j < 8; ++j) {
    const int scale = std::min<int>(scale_levels[j], 63), min = std::min<int>(min_levels[j], 63);
    if (j < 4) {
      packed[j] = static_cast<uint8_t>(scale);
      packed[j + 4] = static_cast<uint8_t>(min);
    } else {
      packed[j + 4] = static_cast<uint8_t>((scale & 15) | (min & 15) << 4);
      packed[j - 4] = static_cast<uint8_t>(packed[j - 4] | scale >> 4 << 6);
      packed[j] = static_cast<uint8_t>(packed[j] | min >> 4 << 6);
    }
  }
  for (size_t j = 0; j < 8; ++j) {
    const ScaleMin sm = scale_min_k4(j, packed);
    requantize(x + 32 * j, 32, load_f16(y) * static_cast<float>(sm.scale), load_f16(y + 2) * static_cast<float>(sm.min),
               0, kMax, levels + 32 * j);
  }
}

void quantize_block_q4_k(const float* x, uint8_t* y, const float* importance) {
  uint8_t levels[256];
  quantize_scale_min<4>(x, y, importance, levels);
  pack_4_bits(levels, y + 16);
}

void quantize_block_q5_k(const float* x, uint8_t* y, const float* importance) {
  uint8_t levels[256];
  quantize_scale_min<5>(x, y, importance, levels);
  pack_4_bits(levels, y + 48);
  std::memset(y + 16, 0, 32);
  for (size_t j = 0; j < 256; ++j)
    if (levels[j] > 15) y[16 + j % 32] = static_cast<uint8_t>(y[16 + j % 32] | 1 << (j / 32));
}

void quantize_block_q6_k(const float* x, uint8_t* y, const float* importance) {
  int8_t levels[256];
  float scales[16];
  for (size_t j = 0; j < 16; ++j)
    scales[j] =
        fit_symmetric(16, 32, x + 16 * j, levels + 16 * j, importance == nullptr ? nullptr : importance + 16 * j);
  const float largest = largest_by_magnitude(scales, 16);
  std::memset(y, 0, 210);
  if (std::fabs(largest) < kTinyGroup) return;
  const float inverse = -128.0f / largest;
  store_f16(y + 208, 1 / inverse);
  for (size_t j = 0; j < 16; ++j) {
    const auto scale = static_cast<int8_t>(std::min(127, nearest_int(inverse * scales[j])));
    y[192 + j] = static_cast<uint8_t>(scale);
    requantize(x + 16 * j, 16, load_f16(y + 208) * static_cast<float>(scale), 0, -32, 31, levels + 16 * j);
  }
  for (size_t j = 0; j < 256; ++j) {
    const size_t half = j / 128, quarter = j / 32 % 4;
    uint8_t &low = y[64 * half + j % 64], &high = y[128 + 32 * half + j % 32];
    low = static_cast<uint8_t>(low | (levels[j] & 15) << (4 * (quarter / 2)));
    high = static_cast<uint8_t>(high | levels[j] >> 4 << (2 * quarter));
  }
}

void quantize_block_q8_k(const float* x, uint8_t* y, const float*) {
  const float largest = largest_by_magnitude(x, 256);
  std::memset(y, 0, 292);
  if (largest == 0) return;
  const float inverse = -127.0f / largest;
  store<float>(y, 1 / inverse);
  for (size_t j = 0; j < 16; ++j) {
    int sum = 0;
    for (size_t l = 16 * j; l < 16 * j + 16; ++l) {
      const auto q = static_cast<int8_t>(std::min(127, nearest_int(inverse * x[l])));
      y[4 + l] = static_cast<uint8_t>(q);
      sum += q;
    }
    store<int16_t>(y + 260 + 2 * j, static_cast<int16_t>(sum));
  }
}

}  // namespace

void quantize_q2_k(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 84>(src, dst, n_blocks, importance, row_blocks, quantize_block_q2_k);
}
void quantize_q3_k(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 110>(src, dst, n_blocks, importance, row_blocks, quantize_block_q3_k);
}
void quantize_q4_k(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 144>(src, dst, n_blocks, importance, row_blocks, quantize_block_q4_k);
}
void quantize_q5_k(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 176>(src, dst, n_blocks, importance, row_blocks, quantize_block_q5_k);
}
void quantize_q6_k(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 210>(src, dst, n_blocks, importance, row_blocks, quantize_block_q6_k);
}
void quantize_q8_k(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 292>(src, dst, n_blocks, importance, row_blocks, quantize_block_q8_k);
}

}  // namespace ggufscope
