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

/// Calls put(k, bytes) for k = 0, 8 with eight bytes of low and of high, interleaved, from byte k on.
template <class Put>
inline void interleave_bytes(v128_t low, v128_t high, Put put) {
  put(0, wasm_i8x16_shuffle(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  put(8, wasm_i8x16_shuffle(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}

/// Calls put(k, lanes) for k = 0, 4 with four 32-bit lanes each, their lower halves from int16 k of low on, their upper
/// ones from int16 k of high on.
template <class Put>
inline void interleave_words(v128_t low, v128_t high, Put put) {
  put(0, wasm_i16x8_shuffle(low, high, 0, 8, 1, 9, 2, 10, 3, 11));
  put(4, wasm_i16x8_shuffle(low, high, 4, 12, 5, 13, 6, 14, 7, 15));
}

/// Calls put(k, lanes) for k = 0, 4, 8, 12 with four 32-bit lanes each: bytes k.. of low and high are their lower half,
/// the int16 of upper (all the same) their upper half.
template <class Put>
inline void each_lower(v128_t low, v128_t high, v128_t upper, Put put) {
  interleave_bytes(low, high, [&](int k, v128_t both) {
    interleave_words(both, upper, [&](int i, v128_t lanes) { put(k + i, lanes); });
  });
}

/// The same with bytes k.. of low and high as the upper half of the lanes, the int16 of lower below them.
template <class Put>
inline void each_upper(v128_t lower, v128_t low, v128_t high, Put put) {
  interleave_bytes(low, high, [&](int k, v128_t both) {
    interleave_words(lower, both, [&](int i, v128_t lanes) { put(k + i, lanes); });
  });
}

/// Bytes to scaled floats by two interleavings and a subtraction, fewer steps than to widen and convert: the byte q
/// with the bytes 0x4b above it is the float kWhole + q.
struct ByteFloats {
  static constexpr float kWhole = 0x1p23f + 0x4b4b00;
  const v128_t upper = loop_constant(wasm_i8x16_splat(0x4b));
  const v128_t bias;

  /// zero: the byte that stands for 0.
  explicit ByteFloats(int zero) : bias(loop_constant(wasm_f32x4_splat(kWhole + static_cast<float>(zero)))) {}

  /// Calls put(k, four floats) for k = 0, 4, 8, 12 with the 16 bytes of q in order, less zero.
  template <class Put>
  void each_4(v128_t q, Put put) const {
    each_lower(q, upper, upper, [&](int k, v128_t v) { put(k, wasm_f32x4_sub(v, bias)); });
  }

  /// dst[0..16) = scale * (q - zero).
  void put_scaled(float* dst, v128_t q, v128_t scale) const {
    each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(v, scale)); });
  }
};

/// Signed bytes, as unsigned ones with an offset of 128.
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

/// Whether OffsetFloats gives the bits of scale * q - offset, each rounded, for the binary16 scale at p and the offset
/// (or -offset) behind it, also times integers of 6 bits where kFirst is 32: whether kFirst * scale and the offset add
/// up within 24 bits. They do in what quantizers make, where an offset is zero or a few times the scale.
inline bool adds_exactly(const uint8_t* p) {
  const uint32_t scale = load<uint16_t>(p), offset = load<uint16_t>(p + 2) & 0x7fffu;
  const uint32_t apart = (offset >> 10) + 1 - (scale >> 10);  // exponents
  return scale < 0x7c00 && (offset == 0 || (offset < 0x7c00 && apart <= 12));
}

/// Small integers q to scale * q - offset, without the subtraction of ByteFloats: the byte q with the byte 0x43 above
/// it is the upper half of the float 128 + q, and 4 * q with 0x42 that of 32 + q. Of few bits, as the scale, its
/// product is exact, and kFirst * scale goes away with the offset.
template <int kFirst>
struct OffsetFloats {
  static_assert(kFirst == 128 || kFirst == 32);
  const v128_t upper = loop_constant(wasm_i8x16_splat(kFirst == 128 ? 0x43 : 0x42));
  const v128_t zero = loop_constant(wasm_i32x4_splat(0));

  /// dst[0..16) = scale * q - rest, where offset is kFirst * scale + rest. q: bytes, four times as large where kFirst
  /// is 32.
  void put_scaled(float* dst, v128_t q, v128_t scale, v128_t offset) const {
    each_upper(zero, q, upper,
               [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_sub(wasm_f32x4_mul(v, scale), offset)); });
  }
};

/// Sixteen signed bytes as scaled floats, each by its index.
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

/// dst[0..16) = scale * q, q signed bytes.
inline void put_scaled(float* dst, v128_t q, v128_t scale) {
  each_4(q, [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(v, scale)); });
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

/// The entries at p and q next to each other.
inline v128_t load_pair(const void* p, const void* q) { return wasm_v128_load64_lane(q, wasm_v128_load64_zero(p), 1); }

/// Bit k of the 16 low bits as all ones or zeros in byte k.
inline v128_t bits_to_bytes(const ByteMasks& masks, uint32_t bits) {
  return load_pair(&masks.of_8[bits & 255u], &masks.of_8[bits >> 8 & 255u]);
}

/// q where the mask is zero, -q where it is all ones.
inline v128_t negate_where(v128_t q, v128_t mask) { return wasm_i8x16_sub(wasm_v128_xor(q, mask), mask); }

}  // namespace ggufscope
