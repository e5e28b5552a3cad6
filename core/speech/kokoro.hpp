// Kokoro (hexgrad 2025), after StyleTTS 2 (Li et al. 2023): phonemes and a style become sound in one pass. The files
// are those of TTS.cpp's converter; they need no other model.
//
//   prosody  PL-BERT (an ALBERT, one layer run again and again) and LSTMs that see the style give each phoneme a number
//            of frames; over all frames follow the pitch and the energy, two values for each frame
//   text     convolutions and an LSTM over the phonemes, repeated for their frames
//   sound    blocks of convolutions whose norms see the style; a harmonic source of the pitch; an inverse STFT
//
// A voice has a style for each number of phonemes: its first half is for the sound, its second half for the prosody.
#pragma once

#include "speech/adaptive_layers.hpp"
#include "speech/speech_model.hpp"

namespace ggufscope {

inline constexpr size_t kKokoroMaxFrames = 1024;   ///< of a chunk: 25.6 s. Memory grows with them
inline constexpr size_t kKokoroMaxPhonemes = 200;  ///< of a chunk, at the usual speed

struct KokoroBert {
  Linear tokens, positions;
  Vector token_type;
  Affine norm;
  Linear widen;
  Linear q, k, v, out, up, down;
  Affine attention_norm, out_norm;
  size_t n_embd = 0, n_head = 0, n_ff = 0, n_repeats = 0;
};

struct KokoroProsody {
  Linear encode;
  struct Layer {
    BiLstm lstm;
    AdaptiveNorm norm;
  };
  std::vector<Layer> layers;
  BiLstm durations_lstm, shared;
  Linear durations;
  std::vector<AdaptiveBlock> pitch, energy;
  Linear pitch_out, energy_out;
  size_t n_hidden = 0;
};

struct KokoroText {
  Linear embedding;
  struct Layer {
    CenteredConvolution convolution;
    Affine norm;
  };
  std::vector<Layer> layers;
  BiLstm lstm;
};

/// x += conv2(snake2(norm2(conv1(snake1(norm1(x))))), three times.
struct KokoroResidual {
  struct Part {
    AdaptiveNorm norm1, norm2;
    Vector alpha1, alpha2;
    CenteredConvolution conv1, conv2;
  };
  std::array<Part, 3> parts;
};

struct KokoroSound {
  CenteredConvolution pitch, energy, text;
  AdaptiveBlock encode;
  std::vector<AdaptiveBlock> decode;
  struct Stage {
    TransposedConvolution up;
    size_t padding = 0;
    CenteredConvolution source;
    KokoroResidual source_block;
    std::vector<KokoroResidual> blocks;
  };
  std::vector<Stage> stages;
  CenteredConvolution out;
  Vector source_weight, source_bias;  ///< [harmonics], [1]
  size_t n_fft = 0, hop = 0, n_up = 1;
  std::vector<float> window, cosines, sines;  ///< [n_fft]; [bins, n_fft]
  [[nodiscard]] size_t n_bins() const { return n_fft / 2 + 1; }
  /// Samples of a value of the pitch.
  [[nodiscard]] size_t n_samples() const { return n_up * hop; }
};

struct KokoroWeights {
  KokoroBert bert;
  KokoroProsody prosody;
  KokoroText text;
  KokoroSound sound;
  size_t n_vocab = 0, n_ctx = 0, n_style = 0;  ///< n_style: half of a voice's row
};

/// What the first half of a pass leaves for the second.
struct KokoroPhonemes {
  size_t n = 0;
  std::vector<float> hidden;     ///< [n, prosody.n_hidden + n_style]
  std::vector<float> text;       ///< [n, text.lstm.n_out()]
  std::vector<float> durations;  ///< [n]: frames, not rounded
};

/// A style and the phonemes to speak with it.
struct KokoroInput {
  const float* style;  ///< [2 * n_style]
  std::span<const int32_t> ids;
  uint32_t seed;
};
void record_prosody(StepList& s, const KokoroWeights& w, const KokoroInput& in, KokoroPhonemes& to);
/// frames: of each phoneme. samples [sum of the frames * 2 * n_samples()].
void record_sound(StepList& s, const KokoroWeights& w, const KokoroInput& in, const KokoroPhonemes& from,
                  std::span<const uint32_t> frames, std::vector<float>& samples);
/// The pitch's harmonics and noise as a spectrogram [n * n_up + 1, 2 * n_bins()]: magnitudes, then phases. pitch [n].
void add_source(StepList& s, const KokoroSound& w, uint32_t seed, const float* pitch, size_t n, float* y);
/// Logarithms of magnitudes, then what the sines of the phases are of: spectra [n_rows, 2 * n_bins()] to samples
/// [(n_rows - 1) * hop]. spectra is overwritten.
void add_samples(StepList& s, const KokoroSound& w, float* spectra, size_t n_rows, std::vector<float>& samples);

class Kokoro final : public SpeechGenerator {
 public:
  void plan(const Gguf& gguf, SpeechPlan& plan, Keys& keys, uint64_t n_embd, bool with_voices) override;
  [[nodiscard]] Result<void> finish_load(Pool& pool) override;
  [[nodiscard]] size_t frame_samples() const override { return 2 * w_.sound.n_samples(); }
  [[nodiscard]] size_t frames_at_once() const override { return kWholeChunk; }
  [[nodiscard]] Result<std::unique_ptr<SpeechDecoder>> create_decoder(Pool& pool) const override;
  [[nodiscard]] std::unique_ptr<VoiceEncoder> create_voice_encoder(Pool&) const override { return nullptr; }
  [[nodiscard]] uint64_t scratch_bytes(Pool& pool) const override;

  [[nodiscard]] const KokoroWeights& weights() const { return w_; }
  /// Phonemes of a pass, at most, without the tokens before and after them.
  [[nodiscard]] size_t max_phonemes() const { return max_phonemes_; }
  /// The token of a character; kNoToken if it is not of the alphabet.
  [[nodiscard]] int32_t find(std::string_view character) const;
  struct Voice {
    std::string name;
    Vector styles;  ///< [rows, 2 * n_style]
  };
  [[nodiscard]] const std::vector<Voice>& voices() const { return voices_; }

 private:
  void read_alphabet(const Gguf& gguf, Keys& keys);
  void plan_voices(const Gguf& gguf, Planner& p, Keys& keys);

  KokoroWeights w_;
  std::vector<std::pair<std::string, int32_t>> alphabet_;  // sorted
  std::vector<Voice> voices_;
  size_t max_phonemes_ = 0;
};

[[nodiscard]] std::unique_ptr<SpeechGenerator> create_kokoro();

}  // namespace ggufscope
