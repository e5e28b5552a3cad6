// Activations of feed-forward networks.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class Activation : uint8_t {
  kSilu,      ///< x sigmoid(x)
  kGelu,      ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kGeluHalf,  ///< kGelu through ggml's binary16 lookup table, whose rounding is visible in small models
  kRelu,      ///< max(x, 0)
  kReluSquared,
  kXielu,      ///< Huang et al. 2024, "Deriving activation functions using integration"
  kSwigluOai,  ///< gated only, gpt-oss: min(g, 7) sigmoid(1.702 g) (clamp(u, -7, 7) + 1)
  kSitu,       ///< gated only, Kimi K3: b tanh(g / b) sigmoid(g) l tanh(u / l); if l is 0, u instead of the last factor
  kSigmoid,
  kTanh,
  kGeluQuick,  ///< x sigmoid(1.702 x)
  kGeluErf,    ///< x / 2 (1 + erf(x / sqrt(2)))
};

/// log(1 + e^x). For large x the result is x, because 1 + e^x rounds to e^x.
[[nodiscard]] inline float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

/// Parameters of xIELU. Softplus and the shift by beta are already applied.
struct XieluParameters {
  float alpha_n = 0, alpha_p = 0, beta = 0, eps = 0;
};

/// The parameters b and l of SiTU.
struct SituParameters {
  float beta = 0, linear_beta = 0;
};

/// Applies the activation in place. Only kXielu uses xielu.
void activate(Activation activation, float* x, size_t n, const XieluParameters& xielu = {});

/// out = activation(gate) * up. out may be gate or up. Only kSitu uses situ.
void activate_gated(Activation activation, const float* gate, const float* up, size_t n, float* out,
                    const SituParameters& situ = {});

}  // namespace ggufscope
