// The exact GELU, PyTorch's default: x / 2 (1 + erf(x / sqrt(2))). The approximations are in activation.hpp.
#pragma once

#include <initializer_list>

#include "nn/vec.hpp"

namespace ggufscope {

// Abramowitz and Stegun, formula 7.1.26: with z = |x| / sqrt(2) and t = 1 / (1 + 0.3275911 z), the value 1 - erf(z)
// equals (a1 t + ... + a5 t^5) e^(-z^2) with an error below 1.5e-7.
inline v128_t gelu_erf4(v128_t x) {
  const auto splat = [](float value) { return wasm_f32x4_splat(value); };
  const v128_t z = wasm_f32x4_mul(wasm_f32x4_abs(x), splat(0.70710678118654752f));
  const v128_t t = wasm_f32x4_div(splat(1.0f), wasm_f32x4_add(splat(1.0f), wasm_f32x4_mul(splat(0.3275911f), z)));
  v128_t sum = splat(1.061405429f);
  for (const float a : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f})
    sum = wasm_f32x4_add(wasm_f32x4_mul(sum, t), splat(a));
  const v128_t tail = wasm_f32x4_mul(wasm_f32x4_mul(sum, t), vec::exp4(wasm_f32x4_neg(wasm_f32x4_mul(z, z))));
  const v128_t half = wasm_f32x4_mul(wasm_f32x4_mul(splat(0.5f), x), tail);
  return wasm_v128_bitselect(half, wasm_f32x4_sub(x, half), wasm_f32x4_lt(x, splat(0.0f)));
}

/// Computes GELU in place. The absolute error is below 2e-7 max(|x|, 1).
inline void gelu_erf(float* x, size_t n) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(x + i, gelu_erf4(wasm_v128_load(x + i)));
  for (; i < n; ++i) x[i] = wasm_f32x4_extract_lane(gelu_erf4(wasm_f32x4_splat(x[i])), 0);
}

}  // namespace ggufscope
