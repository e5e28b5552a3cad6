// Activations of feed-forward networks.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class Activation : uint8_t {
  kSilu,      ///< x sigmoid(x)
  kGelu,      ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kGeluHalf,  ///< kGelu by a table of binary16: ggml's, of which small models show the rounding
  kRelu,      ///< max(x, 0)
  kReluSquared,
  kXielu,      ///< Huang et al. 2024, "Deriving activation functions using integration"
  kSwigluOai,  ///< gated only: min(g, 7) sigmoid(1.702 g) (clamp(u, -7, 7) + 1), of gpt-oss
  kSitu,       ///< gated only, of Kimi K3: b tanh(g / b) sigmoid(g) l tanh(u / l); u itself where l is 0
  kSigmoid,
  kTanh,
  kGeluQuick,  ///< x sigmoid(1.702 x)
};

/// log(1 + e^x); x itself where e^x + 1 rounds to e^x.
[[nodiscard]] inline float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

/// Parameters of xIELU as the kernel takes them: softplus and the shift by beta already applied.
struct XieluParameters {
  float alpha_n = 0, alpha_p = 0, beta = 0, eps = 0;
};

/// b and l of SiTU.
struct SituParameters {
  float beta = 0, linear_beta = 0;
};

/// In place. Only kXielu reads xielu.
void activate(Activation activation, float* x, size_t n, const XieluParameters& xielu = {});

/// out = activation(gate) * up; out may be gate or up. situ is read by kSitu only.
void activate_gated(Activation activation, const float* gate, const float* up, size_t n, float* out,
                    const SituParameters& situ = {});

}  // namespace ggufscope
