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

/// The same with 16 unsigned bytes: their upper halves widen by one instruction where signed ones need two.
template <class Put>
inline void each_4_unsigned(v128_t q, Put put) {
  const v128_t low = wasm_u16x8_extend_low_u8x16(q), high = wasm_u16x8_extend_high_u8x16(q);
  put(0, floats_of(wasm_u32x4_extend_low_u16x8(low)));
  put(4, floats_of(wasm_u32x4_extend_high_u16x8(low)));
  put(8, floats_of(wasm_u32x4_extend_low_u16x8(high)));
  put(12, floats_of(wasm_u32x4_extend_high_u16x8(high)));
}

/// dst[0..16) = scale * q, q signed bytes.
inline void put_scaled(float* dst, v128_t q, v128_t scale) {
  each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(v, scale)); });
}

/// dst[0..16) = scale * q + offset, two roundings, q unsigned bytes.
inline void put_scaled_plus(float* dst, v128_t q, v128_t scale, v128_t offset) {
  each_4_unsigned(q,
                  [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_add(wasm_f32x4_mul(v, scale), offset)); });
}

/// dst[0..16) = scale * q - offset, two roundings, q unsigned bytes.
inline void put_scaled_minus(float* dst, v128_t q, v128_t scale, v128_t offset) {
  each_4_unsigned(q,
                  [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_sub(wasm_f32x4_mul(v, scale), offset)); });
}

inline v128_t splat_f16(const uint8_t* p) { return wasm_f32x4_splat(load_f16(p)); }

/// The halves of bytes. Shifts are of 16 bits and a mask follows: byte shifts are emulated on x86.
struct Nibbles {
  const v128_t mask = loop_constant(wasm_i8x16_splat(15));
  v128_t low(v128_t bytes) const { return wasm_v128_and(bytes, mask); }
  v128_t high(v128_t bytes) const { return wasm_v128_and(wasm_u16x8_shr(bytes, 4), mask); }
};

/// Bits as bytes: bit k of an index is all ones or zeros in byte k.
struct ByteMasks {
  uint64_t of_8[256];
  uint64_t of_even_7[128];  ///< 7 stored signs; the eighth makes the number of ones even
};
[[nodiscard]] const ByteMasks& byte_masks();

/// The entries at p and q side by side.
inline v128_t load_pair(const void* p, const void* q) { return wasm_v128_load64_lane(q, wasm_v128_load64_zero(p), 1); }

/// Bit k of the 16 low bits as all ones or zeros in byte k.
inline v128_t bits_to_bytes(const ByteMasks& masks, uint32_t bits) {
  return load_pair(&masks.of_8[bits & 255u], &masks.of_8[bits >> 8 & 255u]);
}

/// q where the mask is zero, -q where it is all ones.
inline v128_t negate_where(v128_t q, v128_t mask) { return wasm_i8x16_sub(wasm_v128_xor(q, mask), mask); }

}  // namespace ggufscope
