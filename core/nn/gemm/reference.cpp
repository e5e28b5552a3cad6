// The product of one group in scalar code: the reference of the micro-kernels' tests.
#include <algorithm>
#include <bit>
#include <cmath>

#include "nn/gemm/dispatch.hpp"

namespace ggufscope {
namespace {

struct QuantizedBlock {
  float scale;
  int q[kSuperHalf];
};

void quantize_block(const float* x, size_t n, QuantizedBlock& out) {
  float max = 0;
  for (size_t i = 0; i < n; ++i) max = std::max(max, std::abs(x[i]));
  const float inverse = kMaxInt16 / std::max(max, kMinActivation);
  uint32_t min = UINT32_MAX;
  for (uint32_t i = 0; i < kMaxCodes.size(); ++i) {
    int q[kSuperHalf], squares = 0;
    for (size_t k = 0; k < n; ++k) {
      const int wide = std::isfinite(max) ? static_cast<int>(std::nearbyint(x[k] * inverse)) : 0;
      const int in_256ths = (wide * kMaxCodeFactors[i] + 16384) >> 15;
      q[k] = (in_256ths + 128) >> 8;
      const int error = in_256ths - q[k] * 256;
      squares += error * error;
    }
    const uint32_t error = std::bit_cast<uint32_t>(static_cast<float>(squares) * kErrorWeights[i]);
    if (((error & ~3u) | i) >= min) continue;
    min = (error & ~3u) | i;
    out.scale = max * kMaxCodeInverses[i];
    std::copy_n(q, n, out.q);
  }
}

// The same for ActivationLayout::kBfp16.
void quantize_bfp16_block(const float* x, size_t n, QuantizedBlock& out) {
  float max = 0, max_sum = 0;
  for (size_t i = 0; i < n; ++i) max = std::max(max, std::abs(x[i]));
  for (size_t i = 0; i < n; i += 16) {
    float lanes[4] = {};
    for (size_t k = 0; k < 16; ++k) lanes[k % 4] += std::abs(x[i + k]);
    max_sum = std::max(max_sum, (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
  }
  out.scale = std::max(max / kBfp16Max, max_sum / kBfp16MaxSum);
  const float inverse = 1.0f / std::max(out.scale, kMinActivation);
  for (size_t i = 0; i < n; ++i)
    out.q[i] = std::isfinite(out.scale) ? static_cast<int>(std::nearbyint(x[i] * inverse)) : 0;
}

}  // namespace

void gemm_group_reference(const PackedFormat& f, const uint8_t* group, size_t n_in, const float* x, size_t x_stride,
                          size_t n_tokens, Beta beta, float* y, size_t y_stride, size_t n_rows) {
  const size_t k_block = f.block(), part = activation_quant(f, n_tokens).block;
  for (size_t t = 0; t < n_tokens; ++t) {
    for (size_t r = 0; r < n_rows; ++r) {
      float acc = beta == Beta::kZero ? 0 : y[t * y_stride + r];
      for (size_t first = 0; first < n_in; first += part) {
        const uint8_t* p = group + first / k_block * f.block_bytes();
        const size_t first_code = first % k_block;
        QuantizedBlock a;
        (f.bits == 16 ? quantize_bfp16_block : quantize_block)(x + t * x_stride + first, part, a);
        const float d = scale_of(f, p, r);
        float products = 0;
        int corrections = 0;
        for (size_t s = first_code / f.sub; s < (first_code + part) / f.sub; ++s) {
          int dot = 0, sum = 0;
          for (size_t k = s * f.sub; k < (s + 1) * f.sub; ++k) {
            dot += code_of(f, p + f.codes_at(), r, k) * a.q[k - first_code];
            sum += a.q[k - first_code];
          }
          if (f.correction == Correction::kOffset) dot -= f.offset * sum;
          const int8_t scale = f.super ? static_cast<int8_t>(p[f.scales_at() + 8 * s + r]) : int8_t{1};
          products += static_cast<float>(dot * scale);
          if (f.stores_e())
            corrections += sum * (f.super ? static_cast<int8_t>(p[f.mins_at() + 16 * (s / 2) + 2 * r + s % 2]) : 1);
        }
        float scaled = d * products;
        if (f.stores_e()) scaled = scale_of(f, p + f.e_at(), r) * static_cast<float>(corrections) + scaled;
        acc = scaled * a.scale + acc;
      }
      y[t * y_stride + r] = acc;
    }
  }
}

}  // namespace ggufscope
