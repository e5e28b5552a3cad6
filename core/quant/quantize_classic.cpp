// Quantizers of the first types (layouts in classic.cpp). The scale comes from each block's extremes or, with
// importance, from the searches of fit.hpp with weights importance * sqrt(mean square of the row + x^2).
#include <cfloat>

#include "quant/quantize.hpp"

namespace ggufscope {
namespace {

/// Packs nibbles: element j as the low half and element j + 16 as the high half of byte j. Returns the fifth bits.
uint32_t pack_nibbles(const uint8_t (&levels)[32], uint8_t* qs) {
  uint32_t fifth = 0;
  for (size_t j = 0; j < 16; ++j) qs[j] = static_cast<uint8_t>((levels[j] & 15) | (levels[j + 16] & 15) << 4);
  for (size_t j = 0; j < 32; ++j) fifth |= (levels[j] >> 4 & 1u) << j;
  return fifth;
}

/// Q4_0 (kBits 4) and Q5_0 (kBits 5). The element with the largest magnitude becomes -2^(bits - 1).
template <int kBits>
void quantize_centred(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  constexpr int kMiddle = 1 << (kBits - 1);
  constexpr size_t kBytes = kBits == 4 ? 18 : 22;
  float sigma2 = 0;
  for (size_t i = 0; i < n_blocks; ++i, src += 32, dst += kBytes) {
    uint8_t levels[32];
    float d;
    if (importance == nullptr) {
      d = largest_by_magnitude(src, 32) / -kMiddle;
      const float inverse = inverse_or_zero(d);
      for (size_t j = 0; j < 32; ++j) {
        const auto q = static_cast<int8_t>(truncate_to_int(src[j] * inverse + (static_cast<float>(kMiddle) + 0.5f)));
        levels[j] = static_cast<uint8_t>(q < 2 * kMiddle - 1 ? q : 2 * kMiddle - 1);
      }
    } else {
      const size_t column = i % row_blocks;
      if (column == 0) sigma2 = sum_of_squares(src, 32 * row_blocks) / static_cast<float>(32 * row_blocks);
      float weights[32];
      int8_t fitted[32];
      importance_weights(src, importance + 32 * column, sigma2, weights, 32);
      d = fit_symmetric(32, kMiddle, src, fitted, weights);
      for (size_t j = 0; j < 32; ++j) levels[j] = static_cast<uint8_t>(fitted[j]);
    }
    store_f16(dst, d);
    const uint32_t fifth = pack_nibbles(levels, dst + kBytes - 16);
    if constexpr (kBits == 5) store<uint32_t>(dst + 2, fifth);
  }
}

/// Q4_1 (kBits 4) and Q5_1 (kBits 5). The range is from the smallest to the largest element.
template <int kBits>
void quantize_offset(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  constexpr int kMax = (1 << kBits) - 1;
  constexpr size_t kBytes = kBits == 4 ? 20 : 24;
  float sigma2 = 0;
  for (size_t i = 0; i < n_blocks; ++i, src += 32, dst += kBytes) {
    uint8_t levels[32];
    float d, min;
    if (importance == nullptr) {
      float max = -FLT_MAX;
      min = FLT_MAX;
      for (size_t j = 0; j < 32; ++j) {
        if (src[j] < min) min = src[j];
        if (src[j] > max) max = src[j];
      }
      d = (max - min) / kMax;
      const float inverse = inverse_or_zero(d);
      for (size_t j = 0; j < 32; ++j) {
        const auto q = static_cast<int8_t>(truncate_to_int((src[j] - min) * inverse + 0.5f));
        levels[j] = static_cast<uint8_t>(kBits == 5 || q < kMax ? q : kMax);
      }
    } else {
      const size_t column = i % row_blocks;
      if (column == 0) sigma2 = sum_of_squares(src, 32 * row_blocks) / static_cast<float>(32 * row_blocks);
      float weights[32];
      importance_weights(src, importance + 32 * column, sigma2, weights, 32);
      const AffineFit fit = fit_affine(32, kMax, src, weights, levels, {-0.9f, 0.05f, 36, false});
      d = fit.scale;
      min = -fit.min;
    }
    store_f16(dst, d);
    store_f16(dst + 2, min);
    const uint32_t fifth = pack_nibbles(levels, dst + kBytes - 16);
    if constexpr (kBits == 5) store<uint32_t>(dst + 4, fifth);
  }
}

/// Scales by the largest magnitude. Returns the scale and the sum of the levels.
struct ByteBlock {
  float d;
  int sum;
};
ByteBlock quantize_bytes(const float* x, uint8_t* qs) {
  const float d = absolute_maximum(x, 32) / 127, inverse = inverse_or_zero(d);
  int sum = 0;
  for (size_t j = 0; j < 32; ++j) {
    const auto q = static_cast<int8_t>(round_to_int(x[j] * inverse));
    qs[j] = static_cast<uint8_t>(q);
    sum += q;
  }
  return {d, sum};
}

}  // namespace

void quantize_q4_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  quantize_centred<4>(src, dst, n_blocks, importance, row_blocks);
}
void quantize_q5_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  quantize_centred<5>(src, dst, n_blocks, importance, row_blocks);
}
void quantize_q4_1(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  quantize_offset<4>(src, dst, n_blocks, importance, row_blocks);
}
void quantize_q5_1(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  quantize_offset<5>(src, dst, n_blocks, importance, row_blocks);
}

void quantize_q8_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<32, 34>(src, dst, n_blocks, importance, row_blocks,
                     [](const float* x, uint8_t* y, const float*) { store_f16(y, quantize_bytes(x, y + 2).d); });
}

void quantize_q8_1(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<32, 36>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    const ByteBlock block = quantize_bytes(x, y + 4);
    store_f16(y, block.d);
    store_f16(y + 2, static_cast<float>(block.sum) * block.d);
  });
}

}  // namespace ggufscope
