// SIMD helpers that convert sixteen small integers to sixteen scaled floats.
#pragma once

#include "base/simd.hpp"
#include "quant/block.hpp"

namespace ggufscope {

/// Converts four i32 lanes to floats.
inline v128_t floats_of(v128_t i32) { return wasm_f32x4_convert_i32x4(i32); }

/// Calls put(k, four floats) for k = 0..3, for the 16 signed bytes of q in order.
template <class Put>
inline void each_4(v128_t q, Put put) {
  const v128_t low = wasm_i16x8_extend_low_i8x16(q), high = wasm_i16x8_extend_high_i8x16(q);
  put(0, floats_of(wasm_i32x4_extend_low_i16x8(low)));
  put(4, floats_of(wasm_i32x4_extend_high_i16x8(low)));
  put(8, floats_of(wasm_i32x4_extend_low_i16x8(high)));
  put(12, floats_of(wasm_i32x4_extend_high_i16x8(high)));
}

/// Calls put(k, bytes) for k = 0, 8: eight bytes of low and of high from byte k on, interleaved.
template <class Put>
inline void interleave_bytes(v128_t low, v128_t high, Put put) {
  put(0, wasm_i8x16_shuffle(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  put(8, wasm_i8x16_shuffle(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}

/// Calls put(k, lanes) for k = 0, 4 with four 32-bit lanes: the lower halves are low's int16 from k on, the upper
/// halves high's.
template <class Put>
inline void interleave_words(v128_t low, v128_t high, Put put) {
  put(0, wasm_i16x8_shuffle(low, high, 0, 8, 1, 9, 2, 10, 3, 11));
  put(4, wasm_i16x8_shuffle(low, high, 4, 12, 5, 13, 6, 14, 7, 15));
}

/// Calls put(k, lanes) for k = 0, 4, 8, 12 with four 32-bit lanes: the lower halves are the bytes of low and high from
/// k on, the upper halves the int16 of `upper` (all equal).
template <class Put>
inline void each_lower(v128_t low, v128_t high, v128_t upper, Put put) {
  interleave_bytes(low, high, [&](int k, v128_t both) {
    interleave_words(both, upper, [&](int i, v128_t lanes) { put(k + i, lanes); });
  });
}

/// The same with the bytes of low and high as the upper halves and the int16 of `lower` below them.
template <class Put>
inline void each_upper(v128_t lower, v128_t low, v128_t high, Put put) {
  interleave_bytes(low, high, [&](int k, v128_t both) {
    interleave_words(lower, both, [&](int i, v128_t lanes) { put(k + i, lanes); });
  });
}

/// Converts bytes to scaled floats by two interleaves and a subtraction, which is fewer steps than widening and
/// converting: byte q with the bytes 0x4b above it is the float kWhole + q.
struct ByteFloats {
  static constexpr float kWhole = 0x1p23f + 0x4b4b00;
  const v128_t upper = loop_constant(wasm_i8x16_splat(0x4b));
  const v128_t bias;

  /// zero: the byte that represents 0.
  explicit ByteFloats(int zero) : bias(loop_constant(wasm_f32x4_splat(kWhole + static_cast<float>(zero)))) {}

  /// Calls put(k, four floats) for k = 0, 4, 8, 12 with the 16 bytes of q in order, minus zero.
  template <class Put>
  void each_4(v128_t q, Put put) const {
    each_lower(q, upper, upper, [&](int k, v128_t v) { put(k, wasm_f32x4_sub(v, bias)); });
  }

  /// dst[0..16) = scale * (q - zero).
  void put_scaled(float* dst, v128_t q, v128_t scale) const {
    each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(v, scale)); });
  }
};

/// The same for signed bytes, which become unsigned by adding 128.
struct SignedByteFloats : ByteFloats {
  const v128_t top = loop_constant(wasm_i8x16_splat(-128));

  SignedByteFloats() : ByteFloats(128) {}

  /// dst[0..16) = q.
  void put(float* dst, v128_t q) const {
    each_4(wasm_v128_xor(q, top), [&](int k, v128_t v) { wasm_v128_store(dst + k, v); });
  }

  /// dst[0..16) = scale * q.
  void put_scaled(float* dst, v128_t q, v128_t scale) const {
    ByteFloats::put_scaled(dst, wasm_v128_xor(q, top), scale);
  }
};

/// True if OffsetFloats gives the same bits as scale * q - offset with each operation rounded. p points to the binary16
/// scale and the offset (or -offset) after it. This holds if kFirst * scale and the offset add up exactly within 24
/// bits, also after multiplication by 6-bit integers if kFirst is 32. It is true for what quantizers write, where an
/// offset is zero or a few times the scale.
inline bool adds_exactly(const uint8_t* p) {
  const uint32_t scale = load<uint16_t>(p), offset = load<uint16_t>(p + 2) & 0x7fffu;
  const uint32_t apart = (offset >> 10) + 1 - (scale >> 10);  // difference of the exponents
  return scale < 0x7c00 && (offset == 0 || (offset < 0x7c00 && apart <= 12));
}

/// Converts small integers q to scale * q - offset without the subtraction of ByteFloats. Byte q with the byte 0x43
/// above it is the upper half of the float 128 + q; 4 * q with 0x42 is that of 32 + q. The scale has few bits, so the
/// product is exact, and the offset absorbs kFirst * scale.
template <int kFirst>
struct OffsetFloats {
  static_assert(kFirst == 128 || kFirst == 32);
  const v128_t upper = loop_constant(wasm_i8x16_splat(kFirst == 128 ? 0x43 : 0x42));
  const v128_t zero = loop_constant(wasm_i32x4_splat(0));

  /// dst[0..16) = scale * q - rest, where offset is kFirst * scale + rest. q: bytes; they must be multiplied by four if
  /// kFirst is 32.
  void put_scaled(float* dst, v128_t q, v128_t scale, v128_t offset) const {
    each_upper(zero, q, upper,
               [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_sub(wasm_f32x4_mul(v, scale), offset)); });
  }
};

/// A table of sixteen signed bytes. Converts indices to scaled floats.
struct TableFloats {
  const ByteFloats floats{128};
  const v128_t table;

  explicit TableFloats(const int8_t (&values)[16])
      : table(loop_constant(wasm_v128_xor(wasm_v128_load(values), wasm_i8x16_splat(-128)))) {}

  /// dst[0..16) = scale * values[indices], indices within 0..15.
  void put_scaled(float* dst, v128_t indices, v128_t scale) const {
    floats.put_scaled(dst, wasm_i8x16_swizzle(table, indices), scale);
  }
};

/// dst[0..16) = scale * q for signed bytes q.
inline void put_scaled(float* dst, v128_t q, v128_t scale) {
  each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(v, scale)); });
}

inline v128_t splat_f16(const uint8_t* p) { return wasm_f32x4_splat(load_f16(p)); }

/// Splits bytes into nibbles. It shifts 16-bit lanes and masks, because x86 has no byte shifts.
struct Nibbles {
  const v128_t mask = loop_constant(wasm_i8x16_splat(15));
  v128_t low(v128_t bytes) const { return wasm_v128_and(bytes, mask); }
  v128_t high(v128_t bytes) const { return wasm_v128_and(wasm_u16x8_shr(bytes, 4), mask); }
};

/// Expands bits to byte masks: bit k of the index gives all ones or all zeros in byte k.
struct ByteMasks {
  uint64_t of_8[256];
  uint64_t of_even_7[128];  ///< for 7 stored signs; the eighth makes the number of ones even
};
[[nodiscard]] const ByteMasks& byte_masks();

/// Loads 8 bytes at p and 8 bytes at q into one vector.
inline v128_t load_pair(const void* p, const void* q) { return wasm_v128_load64_lane(q, wasm_v128_load64_zero(p), 1); }

/// Expands the 16 low bits to byte masks.
inline v128_t bits_to_bytes(const ByteMasks& masks, uint32_t bits) {
  return load_pair(&masks.of_8[bits & 255u], &masks.of_8[bits >> 8 & 255u]);
}

/// Negates q where the mask is all ones.
inline v128_t negate_where(v128_t q, v128_t mask) { return wasm_i8x16_sub(wasm_v128_xor(q, mask), mask); }

}  // namespace ggufscope
