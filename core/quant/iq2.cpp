// IQ2: super-blocks of 256 as 32 groups of 8 magnitudes from a codebook, each with eight signs.
//
//   IQ2_XXS  d:f16 qs[32]:u16               per 32: four 8-bit indices, then 4 x 7 signs and a 4-bit scale
//   IQ2_XS   d:f16 qs[32]:u16 scales[8]     per 8: 9-bit index, 7 signs; a 4-bit scale per 16
//   IQ2_S    d:f16 qs[32] signs[32] qh[8] scales[8]   per 8: 10-bit index (two bits of qh), 8 signs
//
// value = d * (0.5 + scale) / 4 * magnitude * sign. Seven stored signs imply the eighth: see even_signs.
#include "quant/block.hpp"
#include "quant/iq_grids.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

float quarter_scale(float d, uint32_t scale) { return d * (0.5f + static_cast<float>(scale)) * 0.25f; }

}  // namespace

void reference_iq2_xxs(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq2_xxs_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 66) {
    const float d = load_f16(src);
    for (size_t ib = 0; ib < 8; ++ib) {
      const uint8_t* indices = src + 2 + 8 * ib;
      const uint32_t rest = load<uint32_t>(indices + 4);
      const float scale = quarter_scale(d, rest >> 28);
      for (size_t l = 0; l < 4; ++l, dst += 8)
        put_signed<8>(dst, scale, grid + 8 * indices[l], even_signs((rest >> (7 * l)) & 127u));
    }
  }
}

void reference_iq2_xs(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq2_xs_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 74) {
    const float d = load_f16(src);
    for (size_t l = 0; l < 32; ++l, dst += 8) {
      const uint32_t q = load<uint16_t>(src + 2 + 2 * l);
      const float scale = quarter_scale(d, (src[66 + l / 4] >> (4 * (l / 2 % 2))) & 15u);
      put_signed<8>(dst, scale, grid + 8 * (q & 511u), even_signs(q >> 9));
    }
  }
}

void reference_iq2_s(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq2_s_grid().values;
  for (size_t i = 0; i < n_blocks; ++i, src += 82) {
    const float d = load_f16(src);
    const uint8_t *qs = src + 2, *signs = src + 34, *qh = src + 66, *scales = src + 74;
    for (size_t l = 0; l < 32; ++l, dst += 8) {
      const uint32_t index = qs[l] | ((qh[l / 4] >> (2 * (l % 4))) & 3u) << 8;
      const float scale = quarter_scale(d, (scales[l / 4] >> (4 * (l / 2 % 2))) & 15u);
      put_signed<8>(dst, scale, grid + 8 * index, signs[l]);
    }
  }
}

namespace {

/// Writes sixteen floats for two codebook entries and their sixteen signs.
void put_pair(float* dst, v128_t scale, const uint8_t* first, const uint8_t* second, v128_t signs) {
  put_scaled(dst, negate_where(load_pair(first, second), signs), scale);
}

}  // namespace

void dequantize_iq2_xxs(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq2_xxs_grid().values;
  const ByteMasks& masks = byte_masks();
  for (size_t i = 0; i < n_blocks; ++i, src += 66) {
    const float d = load_f16(src);
    for (size_t ib = 0; ib < 8; ++ib, dst += 32) {
      const uint8_t* at = src + 2 + 8 * ib;
      const uint32_t rest = load<uint32_t>(at + 4);
      const v128_t scale = wasm_f32x4_splat(quarter_scale(d, rest >> 28));
      const auto signs = [&](uint32_t l) {
        return load_pair(&masks.of_even_7[rest >> (7 * l) & 127u], &masks.of_even_7[rest >> (7 * l + 7) & 127u]);
      };
      put_pair(dst, scale, grid + 8 * at[0], grid + 8 * at[1], signs(0));
      put_pair(dst + 16, scale, grid + 8 * at[2], grid + 8 * at[3], signs(2));
    }
  }
}

void dequantize_iq2_xs(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq2_xs_grid().values;
  const ByteMasks& masks = byte_masks();
  for (size_t i = 0; i < n_blocks; ++i, src += 74) {
    const float d = load_f16(src);
    for (size_t ib = 0; ib < 8; ++ib, dst += 32) {
      const uint32_t scales = src[66 + ib], first = load<uint32_t>(src + 2 + 8 * ib),
                     second = load<uint32_t>(src + 6 + 8 * ib);
      const auto put = [&](float* to, uint32_t q, uint32_t scale) {
        put_pair(to, wasm_f32x4_splat(quarter_scale(d, scale)), grid + 8 * (q & 511u), grid + 8 * (q >> 16 & 511u),
                 load_pair(&masks.of_even_7[q >> 9 & 127u], &masks.of_even_7[q >> 25]));
      };
      put(dst, first, scales & 15u);
      put(dst + 16, second, scales >> 4);
    }
  }
}

void dequantize_iq2_s(const uint8_t* src, float* dst, size_t n_blocks) {
  const uint8_t* grid = iq2_s_grid().values;
  const ByteMasks& masks = byte_masks();
  for (size_t i = 0; i < n_blocks; ++i, src += 82) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 16; ++j, dst += 16) {
      const uint8_t* qs = src + 2 + 2 * j;
      const uint32_t high = static_cast<uint32_t>(src[66 + j / 2]) >> (4 * (j % 2));
      const float scale = quarter_scale(d, (src[74 + j / 2] >> (4 * (j % 2))) & 15u);
      put_pair(dst, wasm_f32x4_splat(scale), grid + 8 * (qs[0] | (high & 3u) << 8),
               grid + 8 * (qs[1] | (high >> 2 & 3u) << 8), bits_to_bytes(masks, load<uint16_t>(src + 34 + 2 * j)));
    }
  }
}

}  // namespace ggufscope
