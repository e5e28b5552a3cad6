// IQ3: super-blocks of 256 as 64 groups of 4 magnitudes from a codebook, with eight signs for each two groups.
//
//   IQ3_XXS  d:f16 qs[64] rest[8]:u32                       rest, per 32: 4 x 7 signs (see even_signs), 4-bit scale
//   IQ3_S    d:f16 qs[64] qh[8] signs[32] scales[4]         ninth index bit of group l in bit l % 8 of qh[l / 8]
//
// IQ3_XXS: d * (0.5 + scale) / 2 * magnitude * sign; IQ3_S: d * (1 + 2 * scale) * magnitude * sign.
#include "quant/block.hpp"
#include "quant/iq_grids.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
void reference_iq3_xxs(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq3_xxs_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 98) {
    const float d = load_f16(src);
    const uint8_t* qs = src + 2;
    for (size_t ib = 0; ib < 8; ++ib) {
      const uint32_t rest = load<uint32_t>(src + 66 + 4 * ib);
      const float scale = d * (0.5f + static_cast<float>(rest >> 28)) * 0.5f;
      for (size_t l = 0; l < 4; ++l, dst += 8, qs += 2) {
        const uint32_t signs = even_signs((rest >> (7 * l)) & 127u);
        put_signed<4>(dst, scale, grid + 4 * qs[0], signs);
        put_signed<4>(dst + 4, scale, grid + 4 * qs[1], signs >> 4);
      }
    }
  }
}

void reference_iq3_s(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq3_s_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 110) {
    const float d = load_f16(src);
    const uint8_t *qs = src + 2, *qh = src + 66, *signs = src + 74, *scales = src + 106;
    for (size_t l = 0; l < 64; ++l, dst += 4) {
      const uint32_t index = qs[l] | ((qh[l / 8] >> (l % 8)) & 1u) << 8;
      const float scale = d * static_cast<float>(1 + 2 * ((scales[l / 16] >> (4 * (l / 8 % 2))) & 15));
      put_signed<4>(dst, scale, grid + 4 * index, static_cast<uint32_t>(signs[l / 2]) >> (4 * (l % 2)));
    }
  }
}

namespace {

/// Writes sixteen floats for four codebook entries and their sixteen signs.
void put_four(float* dst, v128_t scale, const uint8_t* grid, const uint32_t (&index)[4], v128_t signs) {
  v128_t magnitudes = wasm_v128_load32_zero(grid + 4 * index[0]);
  magnitudes = wasm_v128_load32_lane(grid + 4 * index[1], magnitudes, 1);
  magnitudes = wasm_v128_load32_lane(grid + 4 * index[2], magnitudes, 2);
  magnitudes = wasm_v128_load32_lane(grid + 4 * index[3], magnitudes, 3);
  put_scaled(dst, negate_where(magnitudes, signs), scale);
}

}  // namespace

void dequantize_iq3_xxs(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq3_xxs_grid().values;
  const ByteMasks& masks = byte_masks();
  for (size_t i = 0; i < n_blocks; ++i, src += 98) {
    const float d = load_f16(src);
    const uint8_t* qs = src + 2;
    for (size_t ib = 0; ib < 8; ++ib) {
      const uint32_t rest = load<uint32_t>(src + 66 + 4 * ib);
      const v128_t scale = wasm_f32x4_splat(d * (0.5f + static_cast<float>(rest >> 28)) * 0.5f);
      for (uint32_t l = 0; l < 28; l += 14, dst += 16, qs += 4) {
        const v128_t signs = load_pair(&masks.of_even_7[rest >> l & 127u], &masks.of_even_7[rest >> (l + 7) & 127u]);
        put_four(dst, scale, grid, {qs[0], qs[1], qs[2], qs[3]}, signs);
      }
    }
  }
}

void dequantize_iq3_s(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq3_s_grid().values;
  const ByteMasks& masks = byte_masks();
  for (size_t i = 0; i < n_blocks; ++i, src += 110) {
    const float d = load_f16(src);
    const uint8_t* qs = src + 2;
    for (size_t j = 0; j < 16; ++j, dst += 16, qs += 4) {
      const uint32_t high = static_cast<uint32_t>(src[66 + j / 2]) >> (4 * (j % 2));
      const float scale = d * static_cast<float>(1 + 2 * ((src[106 + j / 4] >> (4 * (j / 2 % 2))) & 15));
      put_four(dst, wasm_f32x4_splat(scale), grid,
               {qs[0] | (high & 1u) << 8, qs[1] | (high & 2u) << 7, qs[2] | (high & 4u) << 6, qs[3] | (high & 8u) << 5},
               bits_to_bytes(masks, load<uint16_t>(src + 74 + 2 * j)));
    }
  }
}

}  // namespace ggufscope
