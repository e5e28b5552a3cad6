// Qwen3-TTS (Alibaba 2026): a text model chooses the first code of a frame, a small transformer the others, and a
// decoder makes sound of the codes.
//
//   codes     a transformer that starts anew for each frame: position 0 is proj_in(hidden), position 1
//             proj_in(out_embd[code 0]), position g + 1 proj_in(embd[g - 1][code g]); head[g] gives code g + 1
//   feedback  out_embd[code 0] + sum over g of embd[g - 1][code g]: part of the text model's next input
//   decoder   out_proj_first codebook_first[code 0] + out_proj_rest (sum over g of codebook_rest[g][code g]);
//             pre_conv; blocks with a window; twice: a transposed convolution, ConvNeXt (Liu et al. 2022);
//             four blocks of DAC (Kumar et al. 2023): snake, a transposed convolution, three residual units
//   snake     x + beta sin(alpha x)^2
//   voice     ECAPA-TDNN (Desplanques et al. 2020) of a mel spectrogram; see ecapa.hpp
#pragma once

#include "speech/blocks.hpp"
#include "speech/choose_code.hpp"
#include "speech/ecapa.hpp"
#include "speech/speech_model.hpp"

namespace ggufscope {

struct Snake {
  Vector alpha, beta;  ///< [n]
};

struct ConvNext {
  TransposedConvolution up;
  DepthwiseConvolution1 depthwise;
  Affine norm;
  Linear wide, narrow;
  Vector gamma;
};

struct DacUnit {
  Snake snake_1, snake_2;
  CausalConvolution first, second;
};

struct DacBlock {
  Snake snake;
  TransposedConvolution up;
  DacUnit units[3];
};

struct Qwen3TtsWeights {
  // Of the codes.
  Linear proj_in;         ///< [n_embd] -> [n_code_embd]; absent: the same width
  Linear out_embd, embd;  ///< rows [n_embd]: of code 0; of the others, one table below the other
  LinearStack heads;      ///< [n_code_embd] -> [n_rest]
  Affine code_norm;
  SpeechBlocks code_blocks;
  // Of the decoder.
  Linear first_proj, rest_proj, first_codes, rest_codes;
  CausalConvolution pre, entry, post;
  Linear blocks_in, blocks_out;
  Affine blocks_norm;
  SpeechBlocks blocks;
  std::vector<ConvNext> ups;
  std::vector<DacBlock> dac;
  Snake post_snake;

  EcapaWeights voice;
  size_t n_embd = 0;
  size_t n_codes = 0;  ///< of a frame
  size_t n_first = 0;  ///< values of code 0
  size_t n_rest = 0;   ///< values of each of the others
  size_t n_code_embd = 0;
  size_t frame_samples = 1;
};

class Qwen3Tts final : public SpeechGenerator {
 public:
  void plan(const Gguf& gguf, SpeechPlan& plan, Keys& keys, uint64_t n_embd, bool with_voices) override;
  [[nodiscard]] Result<void> finish_load(Pool&) override { return {}; }
  [[nodiscard]] size_t frame_samples() const override { return w_.frame_samples; }
  [[nodiscard]] size_t frames_at_once() const override { return 1; }
  [[nodiscard]] Result<std::unique_ptr<SpeechDecoder>> create_decoder(Pool& pool) const override;
  [[nodiscard]] std::unique_ptr<VoiceEncoder> create_voice_encoder(Pool& pool) const override;
  [[nodiscard]] uint64_t scratch_bytes(Pool& pool) const override;
  [[nodiscard]] const Qwen3TtsWeights& weights() const { return w_; }

 private:
  Qwen3TtsWeights w_;
};

/// Makes the codes of frames.
class CodePredictor {
 public:
  /// The weights and the pool must outlive this object.
  CodePredictor(const Qwen3TtsWeights& weights, Pool& pool) : w_(weights), stream_(pool) {}
  /// Error: kOutOfMemory.
  [[nodiscard]] Result<void> allocate();
  [[nodiscard]] uint64_t count_bytes();
  /// Appends the codes of a frame whose first one is `first`, and sets feedback [n_embd]. hidden: [n_embd].
  void predict(std::span<const float> hidden, int32_t first, CodeChoice& choice, std::vector<int32_t>& codes,
               std::vector<float>& feedback);

 private:
  /// Runs n positions from `position` on, of rows [n, n_embd], and returns the last one's logits of head g.
  std::vector<float> run(const float* rows, size_t n, uint64_t position, size_t g);

  const Qwen3TtsWeights& w_;
  Stream stream_;
};

}  // namespace ggufscope
