// Computes activations with SIMD.
#include "nn/activation.hpp"

#include <cmath>

#include "nn/gelu_erf.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

v128_t silu4(v128_t x) { return wasm_f32x4_mul(x, vec::sigmoid4(x)); }

// (1 + tanh(u)) / 2 = sigmoid(2 u).
v128_t gelu4(v128_t x) {
  const v128_t x2 = wasm_f32x4_mul(x, x);
  const v128_t cubic = wasm_f32x4_add(wasm_f32x4_splat(1.0f), wasm_f32x4_mul(wasm_f32x4_splat(0.044715f), x2));
  const v128_t u2 = wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_splat(2 * 0.79788456080286535588f), x), cubic);
  return wasm_f32x4_mul(x, vec::sigmoid4(u2));
}

v128_t gelu_quick4(v128_t x) { return wasm_f32x4_mul(x, vec::sigmoid4(wasm_f32x4_mul(wasm_f32x4_splat(1.702f), x))); }

v128_t relu4(v128_t x) { return wasm_f32x4_pmax(x, wasm_f32x4_splat(0)); }

v128_t relu_squared4(v128_t x) {
  const v128_t r = relu4(x);
  return wasm_f32x4_mul(r, r);
}

template <class Function>
void map(float* x, size_t n, Function function) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(x + i, function(wasm_v128_load(x + i)));
  for (; i < n; ++i) x[i] = wasm_f32x4_extract_lane(function(wasm_f32x4_splat(x[i])), 0);
}

template <class Function>
void map_gated(const float* gate, const float* up, size_t n, float* out, Function function) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(out + i, function(wasm_v128_load(gate + i), wasm_v128_load(up + i)));
  for (; i < n; ++i) out[i] = wasm_f32x4_extract_lane(function(wasm_f32x4_splat(gate[i]), wasm_f32x4_splat(up[i])), 0);
}

float xielu1(float x, const XieluParameters& p) {
  if (x > 0) return p.alpha_p * x * x + p.beta * x;
  return (std::expm1(std::fmin(x, p.eps)) - x) * p.alpha_n + p.beta * x;
}

float gelu_half1(float x) {
  if (std::fabs(x) >= 10.0f) return std::fmax(x, 0.0f);
  const float rounded = f16_to_f32(f32_to_f16(x));
  const float cubic = 1.0f + 0.044715f * rounded * rounded;
  return f16_to_f32(f32_to_f16(0.5f * rounded * (1.0f + std::tanh(0.79788456080286535588f * rounded * cubic))));
}

float situ1(float gate, float up, const SituParameters& p) {
  const float a = p.beta * std::tanh(gate / p.beta) / (1.0f + std::exp(-gate));
  return a * (p.linear_beta > 0 ? p.linear_beta * std::tanh(up / p.linear_beta) : up);
}

v128_t swiglu_oai4(v128_t gate, v128_t up) {
  const v128_t limit = wasm_f32x4_splat(7.0f), one = wasm_f32x4_splat(1.0f);
  const v128_t g = wasm_f32x4_min(gate, limit);
  const v128_t u = wasm_f32x4_max(wasm_f32x4_min(up, limit), wasm_f32x4_neg(limit));
  const v128_t s = vec::sigmoid4(wasm_f32x4_mul(wasm_f32x4_splat(1.702f), g));
  return wasm_f32x4_mul(wasm_f32x4_mul(g, s), wasm_f32x4_add(u, one));
}

}  // namespace

void activate(Activation activation, float* x, size_t n, const XieluParameters& xielu) {
  switch (activation) {
    case Activation::kSilu:
      return map(x, n, silu4);
    case Activation::kGelu:
      return map(x, n, gelu4);
    case Activation::kGeluHalf:
      for (size_t i = 0; i < n; ++i) x[i] = gelu_half1(x[i]);
      return;
    case Activation::kRelu:
      return map(x, n, relu4);
    case Activation::kReluSquared:
      return map(x, n, relu_squared4);
    case Activation::kSigmoid:
      return map(x, n, vec::sigmoid4);
    case Activation::kGeluQuick:
      return map(x, n, gelu_quick4);
    case Activation::kGeluErf:
      return gelu_erf(x, n);
    case Activation::kTanh:
      for (size_t i = 0; i < n; ++i) x[i] = std::tanh(x[i]);
      return;
    case Activation::kXielu:
      for (size_t i = 0; i < n; ++i) x[i] = xielu1(x[i], xielu);
      return;
    case Activation::kSwigluOai:
    case Activation::kSitu:
      return;  // have no ungated form; no architecture uses it
  }
}

void activate_gated(Activation activation, const float* gate, const float* up, size_t n, float* out,
                    const SituParameters& situ) {
  const auto times = [&](auto function) {
    map_gated(gate, up, n, out, [&](v128_t g, v128_t u) { return wasm_f32x4_mul(function(g), u); });
  };
  switch (activation) {
    case Activation::kSilu:
      return times(silu4);
    case Activation::kGelu:
      return times(gelu4);
    case Activation::kGeluHalf:
      for (size_t k = 0; k < n; ++k) out[k] = gelu_half1(gate[k]) * up[k];
      return;
    case Activation::kSitu:
      for (size_t k = 0; k < n; ++k) out[k] = situ1(gate[k], up[k], situ);
      return;
    case Activation::kRelu:
      return times(relu4);
    case Activation::kReluSquared:
      return times(relu_squared4);
    case Activation::kSigmoid:
      return times(vec::sigmoid4);
    case Activation::kGeluQuick:
      return times(gelu_quick4);
    case Activation::kGeluErf:
      return times(gelu_erf4);
    case Activation::kSwigluOai:
      return map_gated(gate, up, n, out, swiglu_oai4);
    case Activation::kTanh:
    case Activation::kXielu:
      return;  // have no gated form; no architecture uses it
  }
}

}  // namespace ggufscope
