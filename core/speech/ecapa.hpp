// An encoder of voices: ECAPA-TDNN (Desplanques et al. 2020) makes one row of a recording's mel spectrogram.
//
//   x_0 = relu(front(mel));  x_b = x_(b-1) + gate * h
//     h = relu(second(split(relu(first(x_(b-1)))))), gate = sigmoid(squeeze_2(relu(squeeze_1(mean over time of h))))
//     split: the channels in equal parts; part 0 stays, part i = relu(parts[i](part i + the one before it))
//   m = relu(gather([x_1, x_2, ...])); scores = attend_2(tanh(relu(attend_1([m, its mean, its deviation]))))
//   row = out([mean, deviation of m over time, weighted by the softmax of the scores])
//
// Convolutions have the length of their input: before the start and behind the end, it is mirrored.
#pragma once

#include "speech/speech_model.hpp"

namespace ggufscope {

struct EcapaBlock {
  CausalConvolution first, second, squeeze_1, squeeze_2;
  std::vector<std::unique_ptr<CausalConvolution>> parts;
};

struct EcapaWeights {
  CausalConvolution front, gather, attend_1, attend_2, out;
  std::vector<std::unique_ptr<EcapaBlock>> blocks;
  uint32_t n_mel = 0;
  size_t n = 0, n_gathered = 0;  ///< channels

  void plan(SpeechPlan& plan, Keys& keys, uint64_t n_embd);
};

/// The weights and the pool must outlive it.
[[nodiscard]] std::unique_ptr<VoiceEncoder> create_ecapa(const EcapaWeights& weights, Pool& pool);

}  // namespace ggufscope
