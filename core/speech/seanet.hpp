// SEANet (Tagliasacchi et al. 2020): a codec's convolutions between a waveform and frames, all of them causal.
//
//   decoder: conv_in, then stages of ELU, a transposed convolution, a residual unit; ELU, conv_out
//   encoder: conv_in, then stages of a residual unit, ELU, a strided convolution; ELU, conv_out
//   residual unit: x += conv2(elu(conv1(elu(x))))
#pragma once

#include "speech/stream.hpp"

namespace ggufscope {

struct SeanetStage {
  CausalConvolution first, second;  ///< of the residual unit
  TransposedConvolution up;         ///< of a decoder
  CausalConvolution down;           ///< of an encoder
};

struct Seanet {
  CausalConvolution in, out;
  std::vector<SeanetStage> stages;
  bool decodes = false;
  size_t factor = 1;  ///< samples for a frame

  /// Plans the tensors named prefix + "conv_in" and so on. The strides are half of the kernels. n_in: channels of the
  /// input. Returns the output's.
  uint64_t plan(SpeechPlan& plan, const std::string& prefix, uint64_t n_in);
};

/// y [n * factor] samples; x [n, channels of a frame].
void decode_seanet(Stream& stream, const Seanet& seanet, const float* x, size_t n, float* y);
/// y [n, channels of a frame]; x [n * factor] samples.
void encode_seanet(Stream& stream, const Seanet& seanet, const float* x, size_t n, float* y);

}  // namespace ggufscope
