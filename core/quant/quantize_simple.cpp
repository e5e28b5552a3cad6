// Quantizers without a search: the types without blocks, the ternary and low-bit types and the four-bit floats. Layouts
// are in simple.cpp, ternary.cpp, low_bit.cpp and fp4.cpp.
#include "quant/quantize.hpp"

namespace ggufscope {

void quantize_f32(const float* src, uint8_t* dst, size_t n, const float*, size_t) {
  if (n != 0) std::memcpy(dst, src, n * sizeof(float));
}
void quantize_f16(const float* src, uint8_t* dst, size_t n, const float*, size_t) {
  for (size_t i = 0; i < n; ++i) store_f16(dst + 2 * i, src[i]);
}
void quantize_bf16(const float* src, uint8_t* dst, size_t n, const float*, size_t) {
  for (size_t i = 0; i < n; ++i) store<uint16_t>(dst + 2 * i, f32_to_bf16(src[i]));
}

void quantize_q1_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<128, 18>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    float sum = 0;
    for (size_t j = 0; j < 128; ++j) sum += std::fabs(x[j]);
    store_f16(y, sum / 128);
    std::memset(y + 2, 0, 16);
    for (size_t j = 0; j < 128; ++j)
      if (x[j] >= 0) y[2 + j / 8] = static_cast<uint8_t>(y[2 + j / 8] | 1 << (j % 8));
  });
}

void quantize_q2_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<64, 18>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    const float d = absolute_maximum(x, 64), inverse = inverse_or_zero(d);
    store_f16(y, d);
    std::memset(y + 2, 0, 16);
    for (size_t j = 0; j < 64; ++j) {
      const int q = clamp_int(round_to_int(x[j] * inverse), -1, 2) + 1;
      y[2 + j / 4] = static_cast<uint8_t>(y[2 + j / 4] | q << (2 * (j % 4)));
    }
  });
}

void quantize_tq1_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 54>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    const float d = absolute_maximum(x, 256), inverse = inverse_or_zero(d);
    store_f16(y + 52, d);
    // Each byte takes n_trits trits that are `stride` elements apart. Five trits are scaled to a fraction of 256,
    // rounded up.
    const auto pack = [&](uint8_t* bytes, const float* from, size_t stride, size_t n_trits) {
      for (size_t j = 0; j < stride; ++j) {
        uint8_t number = 0;
        for (size_t k = 0; k < 5; ++k)
          number =
              static_cast<uint8_t>(number * 3 + (k < n_trits ? round_to_int(from[j + k * stride] * inverse) + 1 : 0));
        bytes[j] = static_cast<uint8_t>((number * 256 + 242) / 243);
      }
    };
    pack(y, x, 32, 5);
    pack(y + 32, x + 160, 16, 5);
    pack(y + 48, x + 240, 4, 4);
  });
}

void quantize_tq2_0(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 66>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    const float d = absolute_maximum(x, 256), inverse = inverse_or_zero(d);
    store_f16(y + 64, d);
    std::memset(y, 0, 64);
    for (size_t j = 0; j < 256; ++j) {
      uint8_t& byte = y[32 * (j / 128) + j % 32];
      byte = static_cast<uint8_t>(byte | ((round_to_int(x[j] * inverse) + 1) & 3) << (2 * (j / 32 % 4)));
    }
  });
}

namespace {

/// The code whose value times the scale is nearest; the first of equals.
uint8_t nearest_e2m1(float x, float half_scale) {
  uint8_t best = 0;
  float best_error = std::fabs(static_cast<float>(kE2m1Doubled[0]) * half_scale - x);
  for (uint8_t code = 1; code < 16; ++code) {
    const float error = std::fabs(static_cast<float>(kE2m1Doubled[code]) * half_scale - x);
    if (error < best_error) {
      best = code;
      best_error = error;
    }
  }
  return best;
}

void pack_e2m1(const float* x, uint8_t* qs, size_t n_bytes, float half_scale) {
  for (size_t j = 0; j < n_bytes; ++j)
    qs[j] = static_cast<uint8_t>(nearest_e2m1(x[j], half_scale) | nearest_e2m1(x[j + n_bytes], half_scale) << 4);
}

/// The nearest unsigned E4M3, rounded from the four leading mantissa bits, at most 448; 0 for values that are not
/// positive.
uint8_t ue4m3_of(float x) {
  if (!(x > 0)) return 0;
  const uint32_t bits = std::bit_cast<uint32_t>(x > 448.0f ? 448.0f : x);
  const int exponent = static_cast<int>(bits >> 23) - 127 + 7;
  if (exponent <= 0) return static_cast<uint8_t>(clamp_int(static_cast<int>(x * 512.0f + 0.5f), 0, 7));
  if (exponent >= 15) return 0x7e;
  // A mantissa that rounds up to 8 carries into the exponent.
  const uint32_t rounded = (static_cast<uint32_t>(exponent) << 3 | (bits >> 20 & 7u)) + (bits >> 19 & 1u);
  return static_cast<uint8_t>(rounded >= 15u << 3 ? 0x7eu : rounded);
}

}  // namespace

void quantize_mxfp4(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<32, 17>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    const float max = absolute_maximum(x, 32);
    y[0] = max > 0 ? static_cast<uint8_t>(truncate_to_int(std::floor(std::log2(max)) - 2 + 127)) : uint8_t{0};
    pack_e2m1(x, y + 1, 16, half_e8m0(y[0]));
  });
}

void quantize_nvfp4(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<64, 36>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float*) {
    for (size_t s = 0; s < 4; ++s) {
      y[s] = ue4m3_of(absolute_maximum(x + 16 * s, 16) / 6.0f);
      pack_e2m1(x + 16 * s, y + 4 + 8 * s, 8, half_ue4m3(y[s]));
    }
  });
}

}  // namespace ggufscope
