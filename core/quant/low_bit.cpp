// One or two bits for each element, with one binary16 scale.
//
//   Q1_0  d:f16 qs[16]  128 elements, lowest bit first: d or -d
//   Q2_0  d:f16 qs[16]   64 elements, lowest two bits first: d * (q - 1)
#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {

void reference_q1_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 128) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 128; ++j) dst[j] = ((src[2 + j / 8] >> (j % 8)) & 1) != 0 ? d : -d;
  }
}

void reference_q2_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 64) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 64; ++j) dst[j] = static_cast<float>(((src[2 + j / 4] >> (2 * (j % 4))) & 3) - 1) * d;
  }
}

void dequantize_q1_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const ByteMasks& masks = byte_masks();
  const ByteFloats floats(1);
  const v128_t two = loop_constant(wasm_i8x16_splat(2));
  for (size_t i = 0; i < n_blocks; ++i, src += 18) {
    const v128_t d = splat_f16(src);
    for (size_t j = 0; j < 16; j += 2, dst += 16) {
      const v128_t set = bits_to_bytes(masks, load<uint16_t>(src + 2 + j));
      floats.put_scaled(dst, wasm_v128_and(set, two), d);
    }
  }
}

void dequantize_q2_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const v128_t spread = loop_constant(wasm_i8x16_const(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
  const v128_t field = loop_constant(wasm_i8x16_const(3, 12, 48, -64, 3, 12, 48, -64, 3, 12, 48, -64, 3, 12, 48, -64));
  const v128_t one = loop_constant(wasm_i16x8_const(1, 4, 16, 64, 1, 4, 16, 64));
  const v128_t fractions = loop_constant(wasm_f32x4_const(1.0f, 0.25f, 0.0625f, 0.015625f));
  for (size_t i = 0; i < n_blocks; ++i, src += 18) {
    // Fields are not shifted down: in lane k they are 4^k times too large, and the scale corrects that exactly.
    const v128_t d = wasm_f32x4_mul(splat_f16(src), fractions);
    for (size_t j = 0; j < 16; j += 4, dst += 16) {
      const v128_t bytes = wasm_v128_and(wasm_i8x16_swizzle(wasm_v128_load32_splat(src + 2 + j), spread), field);
      const v128_t low = wasm_i16x8_sub(wasm_u16x8_extend_low_u8x16(bytes), one);
      const v128_t high = wasm_i16x8_sub(wasm_u16x8_extend_high_u8x16(bytes), one);
      wasm_v128_store(dst, wasm_f32x4_mul(floats_of(wasm_i32x4_extend_low_i16x8(low)), d));
      wasm_v128_store(dst + 4, wasm_f32x4_mul(floats_of(wasm_i32x4_extend_high_i16x8(low)), d));
      wasm_v128_store(dst + 8, wasm_f32x4_mul(floats_of(wasm_i32x4_extend_low_i16x8(high)), d));
      wasm_v128_store(dst + 12, wasm_f32x4_mul(floats_of(wasm_i32x4_extend_high_i16x8(high)), d));
    }
  }
}

}  // namespace ggufscope
