// K-quants: super-blocks of 256 with a binary16 scale d (and scale of minima dmin), and small integer scales.
//
//   Q2_K  scales[16] qs[64] d:f16 dmin:f16         16 x 16: d * (scale & 15) * q - dmin * (scale >> 4)
//   Q3_K  hmask[32] qs[64] scales[12] d:f16        16 x 16: d * (scale - 32) * (q - 4), scales of 6 bits
//   Q4_K  d:f16 dmin:f16 scales[12] qs[128]         8 x 32: d * scale * q - dmin * min, see scale_min_k4
//   Q5_K  d:f16 dmin:f16 scales[12] qh[32] qs[128]  8 x 32: the same, fifth bit of sub-block j in bit j of qh
//   Q6_K  ql[128] qh[64] scales[16]:i8 d:f16       16 x 16: d * scale * (q - 32)
//   Q8_K  d:f32 qs[256]:i8 bsums[16]:i16           d * q             (bsums: for dot products)
//
// The 2-bit fields of Q2_K and Q3_K: of 128 elements, the j-th 32 are bits 2j of 32 bytes. Nibbles of Q4_K, Q5_K: of 64
// elements, 32 in the low halves and 32 in the high halves of 32 bytes.
#include "quant/block.hpp"
#include "quant/kernels.hpp"

namespace ggufscope {

void reference_q2_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 84, dst += kSuperBlock) {
    const float d = load_f16(src + 80), dmin = load_f16(src + 82);
    for (size_t j = 0; j < 16; ++j) {
      const float scale = d * static_cast<float>(src[j] & 15), min = dmin * static_cast<float>(src[j] >> 4);
      const uint8_t* qs = src + 16 + 32 * (j / 8) + 16 * (j % 2);
      const size_t shift = 2 * (j / 2 % 4);
      for (size_t l = 0; l < 16; ++l) dst[16 * j + l] = scale * static_cast<float>((qs[l] >> shift) & 3) - min;
    }
  }
}

void reference_q3_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 110, dst += kSuperBlock) {
    const float d = load_f16(src + 108);
    const uint8_t* packed = src + 96;
    for (size_t j = 0; j < 16; ++j) {
      // Low four bits: a nibble of bytes 0..7; high two: bits 2 * (j / 4) of bytes 8..11.
      const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
      const int high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      const uint8_t* qs = src + 32 + 32 * (j / 8) + 16 * (j % 2);
      const uint8_t* hmask = src + 16 * (j % 2);
      const size_t shift = 2 * (j / 2 % 4);
      for (size_t l = 0; l < 16; ++l) {
        const int q = ((qs[l] >> shift) & 3) - (((hmask[l] >> (j / 2)) & 1) != 0 ? 0 : 4);
        dst[16 * j + l] = scale * static_cast<float>(q);
      }
    }
  }
}

void reference_q4_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 144, dst += kSuperBlock) {
    const float d = load_f16(src), dmin = load_f16(src + 2);
    for (size_t j = 0; j < 8; ++j) {
      const ScaleMin sm = scale_min_k4(j, src + 4);
      const float scale = d * static_cast<float>(sm.scale), min = dmin * static_cast<float>(sm.min);
      const uint8_t* qs = src + 16 + 32 * (j / 2);
      const size_t shift = 4 * (j % 2);
      for (size_t l = 0; l < 32; ++l) dst[32 * j + l] = scale * static_cast<float>((qs[l] >> shift) & 15) - min;
    }
  }
}

void reference_q5_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 176, dst += kSuperBlock) {
    const float d = load_f16(src), dmin = load_f16(src + 2);
    const uint8_t* qh = src + 16;
    for (size_t j = 0; j < 8; ++j) {
      const ScaleMin sm = scale_min_k4(j, src + 4);
      const float scale = d * static_cast<float>(sm.scale), min = dmin * static_cast<float>(sm.min);
      const uint8_t* qs = src + 48 + 32 * (j / 2);
      const size_t shift = 4 * (j % 2);
      for (size_t l = 0; l < 32; ++l) {
        const int q = ((qs[l] >> shift) & 15) + ((qh[l] >> j) & 1) * 16;
        dst[32 * j + l] = scale * static_cast<float>(q) - min;
      }
    }
  }
}

void reference_q6_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 210, dst += kSuperBlock) {
    const float d = load_f16(src + 208);
    const int8_t* scales = reinterpret_cast<const int8_t*>(src + 192);
    // Of 128 elements, quarter k: nibble k / 2 of 32 bytes (the second 32 for odd k), two more bits at 2k of qh.
    for (size_t j = 0; j < 16; ++j) {
      const size_t half = j / 8, quarter = j / 2 % 4, at = 16 * (j % 2);
      const uint8_t* ql = src + 64 * half + 32 * (quarter % 2) + at;
      const uint8_t* qh = src + 128 + 32 * half + at;
      const float scale = d * static_cast<float>(scales[j]);
      for (size_t l = 0; l < 16; ++l) {
        const int q = ((ql[l] >> (4 * (quarter / 2))) & 15) | ((qh[l] >> (2 * quarter)) & 3) << 4;
        dst[16 * j + l] = scale * static_cast<float>(q - 32);
      }
    }
  }
}

void reference_q8_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 292, dst += kSuperBlock) {
    const float d = load<float>(src);
    for (size_t j = 0; j < kSuperBlock; ++j) dst[j] = d * static_cast<float>(static_cast<int8_t>(src[4 + j]));
  }
}

}  // namespace ggufscope
