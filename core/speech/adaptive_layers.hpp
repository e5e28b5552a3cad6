// Layers over a whole sound, as steps: convolutions that see both sides, LSTMs in both directions, and norms whose
// factors come from a style (StyleTTS 2, Li et al. 2023). Rows are [n, channels].
#pragma once

#include <array>

#include "speech/step_list.hpp"
#include "speech/stream.hpp"

namespace ggufscope {

/// Plans the tensor `name` as a matrix [n_in, n_out], whatever dimensions of 1 are before them.
void plan_matrix(Planner& p, Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out);
/// The same with a bias.
void plan_linear(Planner& p, Linear& to, const std::string& name, const std::string& bias, uint64_t n_in,
                 uint64_t n_out);
/// A dimension of a tensor; 0 after an error. Error: kNotFound, kBadShape for a size that no model has.
uint64_t dimension(Planner& p, const std::string& name, size_t axis);

/// y[t] = bias + sum over k of W[k] x[t * stride - padding + k * dilation]; rows outside are zero.
struct CenteredConvolution {
  CausalConvolution taps;
  size_t padding = 0;
  /// Plans `name`_weight [n_kernel, n_in, n_out] and `name`_bias; separator: what is before "weight" and "bias".
  void plan(SpeechPlan& plan, const std::string& name, const char* separator, uint64_t n_in, size_t padding,
            size_t stride = 1, size_t dilation = 1);
  [[nodiscard]] size_t n_out() const { return taps.by.n_out; }
  [[nodiscard]] size_t n_rows(size_t n) const {
    return (n + 2 * padding - (taps.n_kernel - 1) * taps.dilation - 1) / taps.stride + 1;
  }
};
/// y [n_rows(n), n_out].
void add_convolution(StepList& s, const CenteredConvolution& by, const float* x, size_t n, float* y);

/// Each row of x adds n_kernel rows to y, from row t * stride - padding on. y [(n - 1) * stride + n_kernel - 2
/// padding].
void add_transposed(StepList& s, const TransposedConvolution& by, size_t padding, const float* x, size_t n, float* y);

/// One layer of an LSTM (Hochreiter & Schmidhuber 1997) that reads forwards, and one that reads backwards.
struct BiLstm {
  /// The gates in the order input, forget, cell, output.
  struct Direction {
    std::array<Linear, 4> input, hidden;
  };
  Direction forward, backward;
  size_t n_hidden = 0;
  /// Plans prefix + ".0.weights.0" and so on. n_in: what a row has.
  void plan(Planner& p, const std::string& prefix, uint64_t n_in);
  [[nodiscard]] size_t n_out() const { return 2 * n_hidden; }
};
/// y [n, n_out()].
void add_lstm(StepList& s, const BiLstm& by, const float* x, size_t n, float* y);

/// y = (1 + gamma(style)) * norm(x) + beta(style).
struct AdaptiveNorm {
  Linear gamma, beta;
  /// Plans name + "gamma" + end + "_weight" and so on.
  void plan(Planner& p, const std::string& name, const std::string& end, uint64_t n_style, uint64_t n);
};
/// Each channel is normalized over all rows; then follows an activation: with alpha [channels] Snake,
/// x + sin(alpha x)^2 / alpha (Ziyin et al. 2020), otherwise x, or 0.2 x below 0. y is not x.
void add_adaptive_norm(StepList& s, const AdaptiveNorm& by, const float* style, const float* x, size_t n,
                       const float* alpha, float* y);
/// Each row is normalized over its channels, without an activation.
void add_adaptive_rows(StepList& s, const AdaptiveNorm& by, const float* style, const float* x, size_t n, float* y);

/// x, or slope * x below 0, in place.
void add_leaky(StepList& s, float slope, float* x, size_t n);

/// x -> (conv2(norm2(conv1(pool(norm1(x))))) + shortcut(x)) / sqrt(2), where a pool doubles the rows.
struct AdaptiveBlock {
  AdaptiveNorm norm1, norm2;
  CenteredConvolution conv1, conv2;
  Vector pool, pool_bias;  ///< [channels, 3], [channels]
  Linear shortcut;         ///< if the channels change
  size_t n_in = 0;
  void plan(SpeechPlan& plan, const std::string& name, uint64_t n_in, uint64_t n_style);
  [[nodiscard]] size_t n_out() const { return conv2.n_out(); }
  [[nodiscard]] size_t n_rows(size_t n) const { return pool ? 2 * n : n; }
};
/// y [n_rows(n), n_out()].
void add_block(StepList& s, const AdaptiveBlock& by, const float* style, const float* x, size_t n, float* y);

}  // namespace ggufscope
