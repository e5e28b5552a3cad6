// Lanes that the SIMD kernels share: sixteen small integers to sixteen scaled floats.
#pragma once

#include "base/simd.hpp"
#include "quant/block.hpp"

namespace ggufscope {

/// Four i32 lanes as floats.
inline v128_t floats_of(v128_t i32) { return wasm_f32x4_convert_i32x4(i32); }

/// Calls put(k, four floats) for k = 0..3 with the 16 signed bytes of q in order.
template <class Put>
inline void each_4(v128_t q, Put put) {
  const v128_t low = wasm_i16x8_extend_low_i8x16(q), high = wasm_i16x8_extend_high_i8x16(q);
  put(0, floats_of(wasm_i32x4_extend_low_i16x8(low)));
  put(4, floats_of(wasm_i32x4_extend_high_i16x8(low)));
  put(8, floats_of(wasm_i32x4_extend_low_i16x8(high)));
  put(12, floats_of(wasm_i32x4_extend_high_i16x8(high)));
}

/// dst[0..16) = scale * q, q signed bytes.
inline void put_scaled(float* dst, v128_t q, v128_t scale) {
  each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(v, scale)); });
}

/// dst[0..16) = scale * q + offset, two roundings.
inline void put_scaled_plus(float* dst, v128_t q, v128_t scale, v128_t offset) {
  each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_add(wasm_f32x4_mul(v, scale), offset)); });
}

/// dst[0..16) = scale * q - offset, two roundings.
inline void put_scaled_minus(float* dst, v128_t q, v128_t scale, v128_t offset) {
  each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_sub(wasm_f32x4_mul(v, scale), offset)); });
}

inline v128_t splat_f16(const uint8_t* p) { return wasm_f32x4_splat(load_f16(p)); }

inline v128_t low_nibbles(v128_t bytes) { return wasm_v128_and(bytes, wasm_i8x16_splat(15)); }
inline v128_t high_nibbles(v128_t bytes) { return wasm_u8x16_shr(bytes, 4); }

/// Bit k of the 16 low bits of the value as all ones or zeros in byte k.
inline v128_t bits_to_bytes(uint32_t bits) {
  const v128_t spread = wasm_i8x16_swizzle(wasm_i32x4_splat(static_cast<int32_t>(bits)),
                                           wasm_i8x16_const(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
  const v128_t bit = wasm_i8x16_const(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  return wasm_i8x16_eq(wasm_v128_and(spread, bit), bit);
}

/// q where the mask is zero, -q where it is all ones.
inline v128_t negate_where(v128_t q, v128_t mask) { return wasm_i8x16_sub(wasm_v128_xor(q, mask), mask); }

}  // namespace ggufscope
