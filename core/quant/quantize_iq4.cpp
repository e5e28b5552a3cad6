// Quantizers of IQ4_NL and IQ4_XS (layouts in iq4.cpp). For each 32 elements, a few scales are tried around the one
// that maps the largest magnitude to the codebook's end, and the best one is used.
#include "quant/quantize.hpp"

namespace ggufscope {
namespace {

/// The codebook index nearest to x; of two equally near, the greater value.
uint8_t nearest_code(float x) {
  if (x <= static_cast<float>(kIq4Values[0])) return 0;
  if (x >= static_cast<float>(kIq4Values[15])) return 15;
  uint8_t below = 0, above = 15;
  while (above - below > 1) {
    const uint8_t middle = static_cast<uint8_t>((below + above) / 2);
    (x < static_cast<float>(kIq4Values[middle]) ? above : below) = middle;
  }
  return x - static_cast<float>(kIq4Values[above - 1]) < static_cast<float>(kIq4Values[above]) - x ? above - 1 : above;
}

float fit_codebook(const float* x, const float* importance, float sigma2) {
  float weights[32];
  if (importance != nullptr) {
    importance_weights(x, importance, sigma2, weights, 32);
  } else {
    for (size_t j = 0; j < 32; ++j) weights[j] = x[j] * x[j];
  }
  const float largest = largest_by_magnitude(x, 32);
  if (std::fabs(largest) < kTinyGroup) return 0;
  float sum_qx = 0, sum_q2 = 0;
  const auto correlate = [&](float inverse) {
    sum_qx = sum_q2 = 0;
    for (size_t j = 0; j < 32; ++j) {
      const float q = static_cast<float>(kIq4Values[nearest_code(inverse * x[j])]);
      sum_qx += weights[j] * q * x[j];
      sum_q2 += weights[j] * q * q;
    }
  };
  correlate(1 / (-largest / static_cast<float>(kIq4Values[0])));
  float d = sum_q2 > 0 ? sum_qx / sum_q2 : 0.0f;
  float best = d * sum_qx;
  for (int step = -7; step <= 7; ++step) {
    correlate(static_cast<float>(step + kIq4Values[0]) / largest);
    if (sum_q2 > 0 && sum_qx * sum_qx > best * sum_q2) {
      d = sum_qx / sum_q2;
      best = d * sum_qx;
    }
  }
  return d;
}

void pack_32(const float* x, float inverse, uint8_t* qs) {
  for (size_t j = 0; j < 16; ++j)
    qs[j] = static_cast<uint8_t>(nearest_code(inverse * x[j]) | nearest_code(inverse * x[j + 16]) << 4);
}

void quantize_block_iq4_nl(const float* x, uint8_t* y, const float* importance) {
  const float sigma2 = sum_of_squares(x, 32) * (2.0f / 32);
  const float d = fit_codebook(x, importance, sigma2);
  store_f16(y, d);
  pack_32(x, inverse_or_zero(d), y + 2);
}

void quantize_block_iq4_xs(const float* x, uint8_t* y, const float* importance) {
  const float sigma2 = sum_of_squares(x, 256) * (2.0f / 256);
  float scales[8];
  for (size_t j = 0; j < 8; ++j)
    scales[j] = fit_codebook(x + 32 * j, importance == nullptr ? nullptr : importance + 32 * j, sigma2);
  const float d = -largest_by_magnitude(scales, 8) / 32, inverse = inverse_or_zero(d);
  std::memset(y, 0, 8);
  store_f16(y, d);
  uint32_t high = 0;
  for (size_t j = 0; j < 8; ++j) {
    const int l = clamp_int(nearest_int(inverse * scales[j]), -32, 31);
    pack_32(x + 32 * j, inverse_or_zero(d * static_cast<float>(l)), y + 8 + 16 * j);
    y[4 + j / 2] = static_cast<uint8_t>(y[4 + j / 2] | ((l + 32) & 15) << (4 * (j % 2)));
    high |= static_cast<uint32_t>((l + 32) >> 4) << (2 * j);
  }
  store<uint16_t>(y + 2, static_cast<uint16_t>(high));
}

}  // namespace

void quantize_iq4_nl(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<32, 18>(src, dst, n_blocks, importance, row_blocks, quantize_block_iq4_nl);
}
void quantize_iq4_xs(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 136>(src, dst, n_blocks, importance, row_blocks, quantize_block_iq4_xs);
}

}  // namespace ggufscope
