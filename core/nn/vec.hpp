// SIMD helpers that operations share: dot product, scaled addition, exponential, f16 conversion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/half.hpp"
#include "base/simd.hpp"

namespace ggufscope::vec {

inline float sum4(v128_t v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 2)) +
         (wasm_f32x4_extract_lane(v, 1) + wasm_f32x4_extract_lane(v, 3));
}

/// The sum of the lanes of each of four vectors, in the order of sum4.
template <class Add>
inline v128_t sums4(v128_t a, v128_t b, v128_t c, v128_t d, const Add& add) {
  const v128_t ab = add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  const v128_t cd = add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  return add(wasm_i32x4_shuffle(ab, cd, 0, 1, 4, 5), wasm_i32x4_shuffle(ab, cd, 2, 3, 6, 7));
}
inline v128_t sums4(v128_t a, v128_t b, v128_t c, v128_t d) {
  return sums4(a, b, c, d, [](v128_t x, v128_t y) { return wasm_f32x4_add(x, y); });
}
/// The same for integers.
inline v128_t integer_sums4(const v128_t* v) {
  return sums4(v[0], v[1], v[2], v[3], [](v128_t x, v128_t y) { return wasm_i32x4_add(x, y); });
}

inline float max4(v128_t v) {
  const float a = wasm_f32x4_extract_lane(v, 0), b = wasm_f32x4_extract_lane(v, 1);
  const float c = wasm_f32x4_extract_lane(v, 2), d = wasm_f32x4_extract_lane(v, 3);
  const float ab = a > b ? a : b, cd = c > d ? c : d;
  return ab > cd ? ab : cd;
}

/// The larger of |x| and `max`, as bits. Integer comparison orders magnitudes correctly, with infinity and then NaN as
/// the largest. It takes one instruction; f32x4.max takes eight.
inline v128_t max_magnitude(v128_t max, v128_t x) {
  return wasm_i32x4_max(max, wasm_v128_and(x, wasm_i32x4_splat(INT32_MAX)));
}

/// The largest of four such lanes, as a float.
inline float largest_magnitude(v128_t max) {
  max = wasm_i32x4_max(max, wasm_i32x4_shuffle(max, max, 2, 3, 0, 1));
  max = wasm_i32x4_max(max, wasm_i32x4_shuffle(max, max, 1, 0, 3, 2));
  return wasm_f32x4_extract_lane(max, 0);
}

/// Sum of a[i] * b[i].
inline float dot(const float* a, const float* b, size_t n) {
  v128_t s0 = wasm_f32x4_splat(0), s1 = s0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    s0 = relaxed_madd(wasm_v128_load(a + i), wasm_v128_load(b + i), s0);
    s1 = relaxed_madd(wasm_v128_load(a + i + 4), wasm_v128_load(b + i + 4), s1);
  }
  float sum = sum4(wasm_f32x4_add(s0, s1));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// y += s * x.
inline void add_scaled(float* y, float s, const float* x, size_t n) {
  const v128_t vs = wasm_f32x4_splat(s);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(y + i, relaxed_madd(vs, wasm_v128_load(x + i), wasm_v128_load(y + i)));
  for (; i < n; ++i) y[i] += s * x[i];
}

/// y += x.
inline void add(float* y, const float* x, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(y + i, wasm_f32x4_add(wasm_v128_load(y + i), wasm_v128_load(x + i)));
  for (; i < n; ++i) y[i] += x[i];
}

/// y *= x.
inline void multiply(float* y, const float* x, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(y + i, wasm_f32x4_mul(wasm_v128_load(y + i), wasm_v128_load(x + i)));
  for (; i < n; ++i) y[i] *= x[i];
}

/// y *= s.
inline void scale(float* y, float s, size_t n) {
  const v128_t vs = wasm_f32x4_splat(s);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(y + i, wasm_f32x4_mul(wasm_v128_load(y + i), vs));
  for (; i < n; ++i) y[i] *= s;
}

// Loaded at each use, because V8 would rebuild literal constants through general registers each time.
alignas(16) inline constexpr float kExp[] = {-87.3365447f,     88.3762626f,      1.44269504f,      -0.693359375f,
                                             2.12194440e-4f,   1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                             4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f, 1.0f,
                                             0x1.8p23f};

/// e^x in each lane, within 2 units in the last place; 0 below -87.3, about 2.4e38 above 88.3; NaN stays NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by the Cephes polynomial of degree 6; 2^n by its exponent bits.
inline v128_t exp4(v128_t x) {
  const float* const table = opaque(kExp);
  const auto at = [table](size_t i) { return wasm_v128_load32_splat(table + i); };
  const v128_t lowest = at(0), one = at(11);
  const v128_t underflow = wasm_f32x4_lt(x, lowest);
  const v128_t c = wasm_f32x4_pmin(wasm_f32x4_pmax(x, lowest), at(1));
  // Added to 1.5 * 2^23, a small number leaves the nearest integer in the low bits.
  const v128_t shifted = relaxed_madd(c, at(2), at(12)), n = wasm_f32x4_sub(shifted, at(12));
  v128_t r = relaxed_madd(n, at(3), c);
  r = relaxed_madd(n, at(4), r);
  v128_t p = at(5);
  for (size_t i = 6; i <= 10; ++i) p = relaxed_madd(p, r, at(i));
  p = wasm_f32x4_add(relaxed_madd(wasm_f32x4_mul(p, r), r, r), one);
  // Adding 127 to an exponent is adding 1.0's bits to n << 23.
  const v128_t bits = wasm_i32x4_add(wasm_i32x4_shl(shifted, 23), one);
  return wasm_v128_andnot(wasm_f32x4_mul(p, bits), underflow);
}

/// e^x, exactly as a lane of exp4.
inline float exp1(float x) { return wasm_f32x4_extract_lane(exp4(wasm_f32x4_splat(x)), 0); }

/// 1 / (1 + e^-x).
inline v128_t sigmoid4(v128_t x) {
  const v128_t one = wasm_f32x4_splat(1.0f);
  return wasm_f32x4_div(one, wasm_f32x4_add(one, exp4(wasm_f32x4_neg(x))));
}

/// Converts four consecutive binary16 values to floats, exactly: the mantissa and exponent are shifted into place and
/// multiplied by 2^112, which also handles subnormals. Infinities and NaN are corrected afterwards.
inline v128_t load_f16x4(const uint16_t* p) {
  const v128_t h = wasm_u32x4_load16x4(p);
  const v128_t sign = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_splat(0x8000)), 16);
  const v128_t body = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_splat(0x7fff)), 13);
  const v128_t value = wasm_f32x4_mul(body, wasm_f32x4_splat(0x1p112f));
  const v128_t special = wasm_i32x4_gt(wasm_i32x4_add(body, wasm_i32x4_splat(1)), wasm_i32x4_splat(0x0f800000));
  const v128_t patched = wasm_v128_bitselect(wasm_v128_or(body, wasm_i32x4_splat(0x7f800000)), value, special);
  return wasm_v128_or(patched, sign);
}

/// Converts n binary16 values to floats.
inline void load_f16(const uint16_t* src, float* dst, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(dst + i, load_f16x4(src + i));
  for (; i < n; ++i) dst[i] = ggufscope::f16_to_f32(src[i]);
}

/// Constants for converting binary16: the sign stays on top, exponent and mantissa move into place, and a factor of
/// 2^112 corrects the exponent's bias.
struct HalfConstants {
  v128_t kept = loop_constant(wasm_i16x8_splat(static_cast<int16_t>(0x8fff)));
  v128_t bias = loop_constant(wasm_f32x4_splat(0x1p112f));
};

/// Converts eight binary16 values to floats, but 2^112 times too small.
inline void load_small_f16x8(const uint8_t* p, const HalfConstants& c, v128_t* out) {
  const v128_t v = wasm_v128_load(p);
  const v128_t upper = wasm_v128_and(wasm_i16x8_shr(v, 3), c.kept), lower = wasm_i16x8_shl(v, 13);
  out[0] = wasm_i16x8_shuffle(lower, upper, 0, 8, 1, 9, 2, 10, 3, 11);
  out[1] = wasm_i16x8_shuffle(lower, upper, 4, 12, 5, 13, 6, 14, 7, 15);
}

/// Converts eight binary16 values to floats. Infinities and NaN become large numbers.
inline void load_finite_f16x8(const uint8_t* p, const HalfConstants& c, v128_t* out) {
  load_small_f16x8(p, c, out);
  out[0] = wasm_f32x4_mul(out[0], c.bias);
  out[1] = wasm_f32x4_mul(out[1], c.bias);
}

/// Converts four floats to binary16 in i32 lanes, rounded to nearest, ties to even. Values beyond the range and NaN
/// become the largest finite value.
inline v128_t to_finite_f16x4(v128_t x) {
  const v128_t max = wasm_f32x4_splat(65504.0f), half = wasm_f32x4_splat(0.5f);
  const v128_t magnitude = wasm_f32x4_pmin(max, wasm_f32x4_abs(x));
  // Adding 0.5 leaves the rounded multiple of 2^-24, a subnormal number, in the low bits of the mantissa.
  const v128_t small = wasm_i32x4_sub(wasm_f32x4_add(magnitude, half), half);
  const v128_t odd = wasm_v128_and(wasm_u32x4_shr(magnitude, 13), wasm_i32x4_splat(1));
  const v128_t normal =
      wasm_u32x4_shr(wasm_i32x4_add(wasm_i32x4_add(magnitude, wasm_i32x4_splat(0xfff - (112 << 23))), odd), 13);
  const v128_t is_small = wasm_i32x4_lt(magnitude, wasm_i32x4_splat(113 << 23));
  const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 16), wasm_i32x4_splat(0x8000));
  return wasm_v128_or(wasm_v128_bitselect(small, normal, is_small), sign);
}

/// Converts n floats to binary16 with to_finite_f16x4.
inline void store_finite_f16(const float* src, uint16_t* dst, size_t n) {
  for (size_t i = 0; i < n; i += 4) {
    alignas(16) float four[4] = {};
    const size_t count = n - i < 4 ? n - i : 4;
    if (count < 4) std::memcpy(four, src + i, count * sizeof(float));
    const v128_t halves = to_finite_f16x4(count < 4 ? wasm_v128_load(four) : wasm_v128_load(src + i));
    const v128_t packed = wasm_u16x8_narrow_i32x4(halves, halves);
    if (count == 4)
      wasm_v128_store64_lane(dst + i, packed, 0);
    else
      std::memcpy(dst + i, &packed, count * sizeof(uint16_t));
  }
}

}  // namespace ggufscope::vec
