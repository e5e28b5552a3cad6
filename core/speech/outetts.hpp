// OuteTTS (OuteAI 2024): a text model writes the codes of WavTokenizer as tokens, and its decoder, a model of its own
// (model/wavtokenizer.hpp), makes a spectrum of each code. An inverse STFT makes sound of them
// (media/inverse_stft.hpp). The decoder sees all codes of a chunk at once, so sound comes chunk by chunk.
#pragma once

#include "media/inverse_stft.hpp"
#include "model/wavtokenizer.hpp"
#include "speech/speech_model.hpp"

namespace ggufscope {

inline constexpr uint32_t kMaxChunkFrames = 1024;  ///< that are decoded together: 14 seconds

class OuteTts final : public SpeechGenerator {
 public:
  explicit OuteTts(const Model& vocoder) : vocoder_(vocoder) {}
  void plan(const Gguf&, SpeechPlan&, Keys&, uint64_t, bool) override {}
  [[nodiscard]] Result<void> finish_load(Pool&) override { return {}; }
  [[nodiscard]] size_t frame_samples() const override { return n_fft() / 4; }
  [[nodiscard]] size_t frames_at_once() const override { return kWholeChunk; }
  [[nodiscard]] Result<std::unique_ptr<SpeechDecoder>> create_decoder(Pool& pool) const override;
  [[nodiscard]] std::unique_ptr<VoiceEncoder> create_voice_encoder(Pool&) const override { return nullptr; }
  [[nodiscard]] uint64_t scratch_bytes(Pool& pool) const override;
  /// Codes that the decoder knows: 0 to n_codes() - 1.
  [[nodiscard]] size_t n_codes() const { return vocoder_.hparams().n_vocab; }

 private:
  [[nodiscard]] size_t n_fft() const { return vocoder_.n_output() - 2; }

  const Model& vocoder_;
};

}  // namespace ggufscope
