// Computes RMS norm, layer norm and softmax.
#include "nn/norm.hpp"

#include <cmath>

#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// Sums in double precision, like ggml, because a mean over thousands of values needs it.
double sum_of(const float* x, size_t n) {
  v128_t low = wasm_f64x2_splat(0), high = low;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v128_t v = wasm_v128_load(x + i);
    low = wasm_f64x2_add(low, wasm_f64x2_promote_low_f32x4(v));
    high = wasm_f64x2_add(high, wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(v, v, 2, 3, 2, 3)));
  }
  const v128_t both = wasm_f64x2_add(low, high);
  double sum = wasm_f64x2_extract_lane(both, 0) + wasm_f64x2_extract_lane(both, 1);
  for (; i < n; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

double sum_of_squares(const float* x, float shift, size_t n) {
  const v128_t vs = wasm_f32x4_splat(shift);
  v128_t low = wasm_f64x2_splat(0), high = low;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v128_t d = wasm_f32x4_sub(wasm_v128_load(x + i), vs);
    const v128_t v = wasm_f32x4_mul(d, d);
    low = wasm_f64x2_add(low, wasm_f64x2_promote_low_f32x4(v));
    high = wasm_f64x2_add(high, wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(v, v, 2, 3, 2, 3)));
  }
  const v128_t both = wasm_f64x2_add(low, high);
  double sum = wasm_f64x2_extract_lane(both, 0) + wasm_f64x2_extract_lane(both, 1);
  for (; i < n; ++i) {
    const float d = x[i] - shift;
    sum += static_cast<double>(d * d);
  }
  return sum;
}

}  // namespace

void normalize(NormKind kind, const float* x, const float* weight, const float* bias, size_t n, float eps, float* y) {
  const double count = static_cast<double>(n);
  const float mean = kind == NormKind::kLayer ? static_cast<float>(sum_of(x, n) / count) : 0.0f;
  const float variance = static_cast<float>(sum_of_squares(x, mean, n) / count);
  const float factor = 1.0f / std::sqrt(variance + eps);
  const v128_t vm = wasm_f32x4_splat(mean), vf = wasm_f32x4_splat(factor);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    v128_t v = wasm_f32x4_mul(wasm_f32x4_sub(wasm_v128_load(x + i), vm), vf);
    if (weight != nullptr) v = wasm_f32x4_mul(v, wasm_v128_load(weight + i));
    if (bias != nullptr) v = wasm_f32x4_add(v, wasm_v128_load(bias + i));
    wasm_v128_store(y + i, v);
  }
  for (; i < n; ++i) {
    float v = (x[i] - mean) * factor;
    if (weight != nullptr) v *= weight[i];
    if (bias != nullptr) v += bias[i];
    y[i] = v;
  }
}

void l2_normalize(float* x, size_t n, float eps) {
  vec::scale(x, 1.0f / static_cast<float>(std::sqrt(sum_of_squares(x, 0.0f, n) + eps)), n);
}

void softmax(float* x, size_t n, const float* extra) {
  float top = extra != nullptr ? *extra : -INFINITY;
  v128_t tops = wasm_f32x4_splat(top);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) tops = wasm_f32x4_pmax(tops, wasm_v128_load(x + i));
  top = vec::max4(tops);
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;

  const v128_t vt = wasm_f32x4_splat(top);
  v128_t sums = wasm_f32x4_splat(0);
  for (i = 0; i + 4 <= n; i += 4) {
    const v128_t e = vec::exp4(wasm_f32x4_sub(wasm_v128_load(x + i), vt));
    wasm_v128_store(x + i, e);
    sums = wasm_f32x4_add(sums, e);
  }
  float sum = vec::sum4(sums);
  for (; i < n; ++i) {
    x[i] = vec::exp1(x[i] - top);
    sum += x[i];
  }
  if (extra != nullptr) sum += vec::exp1(*extra - top);
  vec::scale(x, 1.0f / sum, n);
}

}  // namespace ggufscope
