// The decoder of WavTokenizer: a model without the shared decoder's layers.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct CodecSizes {
  uint32_t n = 0;           ///< channels; 0: the model is no codec
  uint32_t n_features = 0;  ///< width of the tokens' embeddings
  uint32_t n_ff = 0;
  uint32_t n_posnet = 0, n_convnext = 0;
  uint32_t n_groups = 0;  ///< groups of channels that are normalized together
  float group_eps = 0;
};

/// A residual block; with q, attention; with only a norm, a norm.
struct PosNetLayer {
  Affine norm, norm_2;
  Linear conv_1, conv_2;
  Linear q, k, v, out;
};

/// A block of ConvNeXt.
struct ConvNextBlock {
  Vector depthwise, depthwise_bias;  // [n, n_kernel] and [n]
  Affine norm;
  Linear up, down;
  Vector gamma;  // [n]
};

struct CodecWeights {
  Linear first;
  std::vector<PosNetLayer> posnet;
  std::vector<ConvNextBlock> blocks;
};

void plan_codec(Planner& planner, const Hparams& h, Weights& weights);
AttentionShape codec_heads(const Hparams& h);
/// Computes the frames of the pass's tokens and writes those of `outputs`. Error: kUnsupported for several sequences.
[[nodiscard]] Result<void> run_codec(Pass& pass, std::span<const int32_t> tokens, std::span<const uint32_t> outputs,
                                     float* out);

/// The same in steps of half a layer, for a caller that can stop between two. The pass must outlive it.
class CodecRun {
 public:
  /// Takes memory of the pass, and looks the tokens up.
  CodecRun(Pass& pass, std::span<const int32_t> tokens);
  /// Computes the next step. Returns false after the last one.
  bool step();
  /// Writes the frames of `outputs`, after the last step.
  void write(std::span<const uint32_t> outputs, float* out);

 private:
  Pass& pass_;
  float *embedded_, *x_, *normed_, *mixed_;
  size_t i_step_ = 0;
};

}  // namespace ggufscope
