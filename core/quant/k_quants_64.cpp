// Super-blocks of 64 elements (ggml before May 2024, QK_K = 64); otherwise as in k_quants.cpp.
//
//   Q2_K  scales[4] qs[16] d:f16 dmin:f16        4 x 16: d * (scale & 15) * q - dmin * (scale >> 4)
//   Q3_K  hmask[8] qs[16] scales[2] d:f16        4 x 16: d * (nibble - 8) * (q - 4)
//   Q4_K  d:f16 dmin:f16 scales[2] qs[32]        2 x 32: d * (scale & 15) * q - dmin * (scale >> 4)
//   Q5_K  d:f16 scales[4]:i8 qh[8] qs[32]        4 x 16: d * scale * (q - 16)
//   Q6_K  ql[32] qh[16] scales[4]:i8 d:f16       4 x 16: d * scale * (q - 32)
//   Q8_K  d:f32 qs[64]:i8 bsums[4]:i16           d * q
#include "quant/k_quants_64.hpp"

#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

void dequantize_q2_k_64(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 24, dst += 64) {
    const float d = load_f16(src + 20), dmin = load_f16(src + 22);
    for (size_t j = 0; j < 64; ++j) {
      const uint8_t scale = src[j / 16];
      const int q = (src[4 + j % 16] >> (2 * (j / 16))) & 3;
      dst[j] = d * static_cast<float>(scale & 15) * static_cast<float>(q) - dmin * static_cast<float>(scale >> 4);
    }
  }
}

void dequantize_q3_k_64(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 28, dst += 64) {
    const float d = load_f16(src + 26);
    for (size_t j = 0; j < 64; ++j) {
      const int scale = (src[24 + j / 32] >> (4 * (j / 16 % 2))) & 15;
      const int high = (src[j % 8] >> (j / 8)) & 1;
      const int q = ((src[8 + j % 16] >> (2 * (j / 16))) & 3) - (high != 0 ? 0 : 4);
      dst[j] = d * static_cast<float>(scale - 8) * static_cast<float>(q);
    }
  }
}

void dequantize_q4_k_64(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 38, dst += 64) {
    const float d = load_f16(src), dmin = load_f16(src + 2);
    for (size_t j = 0; j < 64; ++j) {
      const uint8_t scale = src[4 + j / 32];
      const int q = (src[6 + j % 32] >> (4 * (j / 32))) & 15;
      dst[j] = d * static_cast<float>(scale & 15) * static_cast<float>(q) - dmin * static_cast<float>(scale >> 4);
    }
  }
}

void dequantize_q5_k_64(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 46, dst += 64) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 64; ++j) {
      const auto scale = static_cast<int8_t>(src[2 + j / 16]);
      const int high = (src[6 + j % 8] >> (j / 8)) & 1;
      const int q = ((src[14 + j % 32] >> (4 * (j / 32))) & 15) - (high != 0 ? 0 : 16);
      dst[j] = d * static_cast<float>(scale) * static_cast<float>(q);
    }
  }
}

void dequantize_q6_k_64(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 54, dst += 64) {
    const float d = load_f16(src + 52);
    for (size_t j = 0; j < 64; ++j) {
      const auto scale = static_cast<int8_t>(src[48 + j / 16]);
      const int low = (src[j % 32] >> (4 * (j / 32))) & 15, high = (src[32 + j % 16] >> (2 * (j / 16))) & 3;
      dst[j] = d * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
    }
  }
}

void dequantize_q8_k_64(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 76, dst += 64) {
    const float d = load<float>(src);
    for (size_t j = 0; j < 64; ++j) dst[j] = d * static_cast<float>(static_cast<int8_t>(src[4 + j]));
  }
}

constexpr SmallBlockKernels kSmallBlockKernels[] = {
    {static_cast<uint32_t>(TypeId::kQ2_K), dequantize_q2_k_64},
    {static_cast<uint32_t>(TypeId::kQ3_K), dequantize_q3_k_64},
    {static_cast<uint32_t>(TypeId::kQ4_K), dequantize_q4_k_64},
    {static_cast<uint32_t>(TypeId::kQ5_K), dequantize_q5_k_64},
    {static_cast<uint32_t>(TypeId::kQ6_K), dequantize_q6_k_64},
    {static_cast<uint32_t>(TypeId::kQ8_K), dequantize_q8_k_64},
};

}  // namespace

const SmallBlockKernels* find_small_block_kernels(uint32_t type) {
  for (const SmallBlockKernels& kernels : kSmallBlockKernels)
    if (kernels.type == type) return &kernels;
  return nullptr;
}

}  // namespace ggufscope
