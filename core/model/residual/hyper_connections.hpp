// Hyper-connections (DeepSeek-V4): several residual streams, mixed by computed weights.
#pragma once

#include "model/forward.hpp"
#include "model/mixer.hpp"

namespace ggufscope {

struct HyperSizes {
  uint32_t n = 0;  ///< residual streams; 0: the usual single one
  uint32_t iterations = 0;
  float eps = 0;
  bool independent = false;  ///< streams are not mixed (Hunyuan 4)
  float magnitude = 2.0f;    ///< largest weight of an output
  bool mean_output = false;  ///< at the end their mean, instead of a weighted sum
  /// Mixing weights of one token: to read, to write, and a matrix between the streams.
  [[nodiscard]] size_t n_weights() const { return size_t{n} * (independent ? 2 : 2 + n); }
};

/// Weights from which a connection computes its mixing weights.
struct HyperWeights {
  Linear mix;
  Vector base, scale;
};

struct HyperLayerWeights {
  HyperWeights attention, ffn;
};

struct HyperStreams {
  float* x = nullptr;        // [n_tokens, n, n_embd]
  float* other = nullptr;    // the same
  float* weights = nullptr;  // [n_tokens, n_weights]
};
void plan_hyper_ends(Planner& planner, const Hparams& h, Weights& weights);
void plan_hyper(const LayerPlan& plan, LayerWeights& weights);
/// Converts x [n_tokens, n_embd] to streams, and the sum of streams back to x.
HyperStreams split_hyper_streams(Pass& pass, const float* x);
void merge_hyper_streams(Pass& pass, const HyperStreams& s, float* x);
void run_hyper_layer(Pass& pass, size_t il, HyperStreams& s, const Activations& a);

}  // namespace ggufscope
