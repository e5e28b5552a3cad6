// Four-lane helpers that every operation shares: dot product, scaled addition, exponential, f16 lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.hpp"
#include "base/simd.hpp"

namespace ggufscope::vec {

inline float sum4(v128_t v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 2)) +
         (wasm_f32x4_extract_lane(v, 1) + wasm_f32x4_extract_lane(v, 3));
}

inline float max4(v128_t v) {
  const float a = wasm_f32x4_extract_lane(v, 0), b = wasm_f32x4_extract_lane(v, 1);
  const float c = wasm_f32x4_extract_lane(v, 2), d = wasm_f32x4_extract_lane(v, 3);
  const float ab = a > b ? a : b, cd = c > d ? c : d;
  return ab > cd ? ab : cd;
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

/// e^x in each lane, within 2 units in the last place; 0 below -87.3, about 2.4e38 above 88.3; NaN stays NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by the Cephes polynomial of degree 6; 2^n by its exponent bits.
inline v128_t exp4(v128_t x) {
  const v128_t lowest = wasm_f32x4_splat(-87.3365447f);
  const v128_t underflow = wasm_f32x4_lt(x, lowest);
  const v128_t c = wasm_f32x4_min(wasm_f32x4_max(x, lowest), wasm_f32x4_splat(88.3762626f));
  const v128_t n = wasm_f32x4_nearest(wasm_f32x4_mul(c, wasm_f32x4_splat(1.44269504f)));
  v128_t r = wasm_f32x4_sub(c, wasm_f32x4_mul(n, wasm_f32x4_splat(0.693359375f)));
  r = wasm_f32x4_add(r, wasm_f32x4_mul(n, wasm_f32x4_splat(2.12194440e-4f)));
  v128_t p = wasm_f32x4_splat(1.9875691500e-4f);
  p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(1.3981999507e-3f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(8.3334519073e-3f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(4.1665795894e-2f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(1.6666665459e-1f));
  p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(5.0000001201e-1f));
  p = wasm_f32x4_add(wasm_f32x4_add(wasm_f32x4_mul(wasm_f32x4_mul(p, r), r), r), wasm_f32x4_splat(1.0f));
  const v128_t bits = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127)), 23);
  return wasm_v128_andnot(wasm_f32x4_mul(p, bits), underflow);
}

/// e^x, exactly as a lane of exp4.
inline float exp1(float x) { return wasm_f32x4_extract_lane(exp4(wasm_f32x4_splat(x)), 0); }

/// 1 / (1 + e^-x).
inline v128_t sigmoid4(v128_t x) {
  const v128_t one = wasm_f32x4_splat(1.0f);
  return wasm_f32x4_div(one, wasm_f32x4_add(one, exp4(wasm_f32x4_neg(x))));
}
inline float sigmoid1(float x) { return 1.0f / (1.0f + exp1(-x)); }

/// Four consecutive binary16 values as floats, exactly: the mantissa and exponent are shifted into place and scaled
/// by 2^112, which also makes subnormals right; infinities and NaN are patched.
inline v128_t load_f16x4(const uint16_t* p) {
  const v128_t h = wasm_u32x4_load16x4(p);
  const v128_t sign = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_splat(0x8000)), 16);
  const v128_t body = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_splat(0x7fff)), 13);
  const v128_t value = wasm_f32x4_mul(body, wasm_f32x4_splat(0x1p112f));
  const v128_t special = wasm_i32x4_gt(wasm_i32x4_add(body, wasm_i32x4_splat(1)), wasm_i32x4_splat(0x0f800000));
  const v128_t patched = wasm_v128_bitselect(wasm_v128_or(body, wasm_i32x4_splat(0x7f800000)), value, special);
  return wasm_v128_or(patched, sign);
}

/// n binary16 values to floats.
inline void load_f16(const uint16_t* src, float* dst, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(dst + i, load_f16x4(src + i));
  for (; i < n; ++i) dst[i] = ggufscope::f16_to_f32(src[i]);
}

}  // namespace ggufscope::vec
