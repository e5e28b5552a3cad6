// IQ1: super-blocks of 256 as 32 groups of 8 values in {-1, 0, 1} from a codebook of 2048 entries, shifted by +-1/8.
//
//   IQ1_S  d:f16 qs[32] qh[8]:u16      qh, per 32: 4 x 3 high index bits, 3-bit scale, sign of the shift
//   IQ1_M  qs[32] qh[16] scales[4]:u16 qh nibble, per 8: 3 high index bits, sign of the shift; 3-bit scales per 16,
//                                      four in each u16, whose top nibbles together are the binary16 d
//
// value = d * (2 * scale + 1) * (q +- 1/8).
#include "quant/block.hpp"
#include "quant/iq_grids.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

void put_shifted(float* dst, float scale, const uint8_t* values, bool minus) {
  const float shift = minus ? -0.125f : 0.125f;
  for (size_t k = 0; k < 8; ++k) dst[k] = scale * (static_cast<float>(static_cast<int8_t>(values[k])) + shift);
}

}  // namespace

void reference_iq1_s(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq1_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 50) {
    const float d = load_f16(src);
    for (size_t l = 0; l < 32; ++l, dst += 8) {
      const uint32_t qh = load<uint16_t>(src + 34 + 2 * (l / 4));
      const uint32_t index = src[2 + l] | ((qh >> (3 * (l % 4))) & 7u) << 8;
      const float scale = d * static_cast<float>(2 * ((qh >> 12) & 7u) + 1);
      put_shifted(dst, scale, grid + 8 * index, (qh & 0x8000u) != 0);
    }
  }
}

void reference_iq1_m(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq1_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 56) {
    const uint8_t *qh = src + 32, *scales = src + 48;
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) bits |= (load<uint16_t>(scales + 2 * k) >> 12 & 15u) << (4 * k);
    const float d = f16_to_f32(static_cast<uint16_t>(bits));
    for (size_t l = 0; l < 32; ++l, dst += 8) {
      const uint32_t nibble = static_cast<uint32_t>(qh[l / 2]) >> (4 * (l % 2));
      const uint32_t index = src[l] | (nibble & 7u) << 8;
      const uint32_t scale = (load<uint16_t>(scales + 2 * (l / 8)) >> (3 * (l / 2 % 4))) & 7u;
      put_shifted(dst, d * static_cast<float>(2 * scale + 1), grid + 8 * index, (nibble & 8u) != 0);
    }
  }
}

namespace {

/// (2 * scale + 1) / 8 for the eight scales.
constexpr float kScales[8] = {0.125f, 0.375f, 0.625f, 0.875f, 1.125f, 1.375f, 1.625f, 1.875f};

/// Writes sixteen floats for two codebook entries: scale / 8 * (8 q +- 1). This is exact, like the reference's product.
void put_pair(float* dst, float scale_eighth, const int8_t* first, const int8_t* second, v128_t shifts) {
  put_scaled(dst, wasm_i8x16_add(load_pair(first, second), shifts), wasm_f32x4_splat(scale_eighth));
}

}  // namespace

void dequantize_iq1_s(const uint8_t* src, float* dst, size_t n_blocks) {
  const int8_t* grid = iq1_eighths();
  for (size_t i = 0; i < n_blocks; ++i, src += 50) {
    const float d = load_f16(src);
    const uint8_t* qs = src + 2;
    for (size_t ib = 0; ib < 8; ++ib, dst += 32, qs += 4) {
      const uint32_t qh = load<uint16_t>(src + 34 + 2 * ib);
      const float scale = d * kScales[qh >> 12 & 7u];
      const v128_t shifts = wasm_i8x16_splat((qh & 0x8000u) != 0 ? -1 : 1);
      put_pair(dst, scale, grid + 8 * (qs[0] | (qh & 7u) << 8), grid + 8 * (qs[1] | (qh >> 3 & 7u) << 8), shifts);
      put_pair(dst + 16, scale, grid + 8 * (qs[2] | (qh >> 6 & 7u) << 8), grid + 8 * (qs[3] | (qh >> 9 & 7u) << 8),
               shifts);
    }
  }
}

void dequantize_iq1_m(const uint8_t* src, float* dst, size_t n_blocks) {
  const int8_t* grid = iq1_eighths();
  alignas(8) static constexpr uint64_t kShifts[2] = {0x0101010101010101u, ~uint64_t{0}};  // 8 * (+-1/8) in each byte
  for (size_t i = 0; i < n_blocks; ++i, src += 56) {
    uint32_t words[4], bits = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      words[k] = load<uint16_t>(src + 48 + 2 * k);
      bits |= words[k] >> 12 << (4 * k);
    }
    const float d = f16_to_f32(static_cast<uint16_t>(bits));
    for (uint32_t ib = 0; ib < 8; ++ib, dst += 32) {
      const uint8_t* qs = src + 4 * ib;
      const uint32_t qh = load<uint16_t>(src + 32 + 2 * ib), scales = words[ib / 2] >> (6 * (ib % 2));
      const auto put = [&](float* to, const uint8_t* q, uint32_t high, uint32_t scale) {
        put_pair(to, d * kScales[scale & 7u], grid + 8 * (q[0] | (high & 7u) << 8),
                 grid + 8 * (q[1] | (high & 0x70u) << 4),
                 load_pair(&kShifts[high >> 3 & 1u], &kShifts[high >> 7 & 1u]));
      };
      put(dst, qs, qh, scales);
      put(dst + 16, qs + 2, qh >> 8, scales >> 3);
    }
  }
}

}  // namespace ggufscope
