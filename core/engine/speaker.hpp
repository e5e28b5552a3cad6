// Speaks a text: a text model's hidden states become frames of speech, and these become samples while it goes on.
//
//   begin(text)  ->  next() until it returns false; samples() has what each call added
//   begin_voice(recording)  ->  step_voice() until it returns false; then texts are spoken with that voice
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/forward.hpp"
#include "speech/speech_model.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

struct SpeakOptions {
  float temperature = -1;  ///< of the choices, or of the noise; below 0: the model's
  int32_t top_k = 50;      ///< pipelines that choose codes: from so many; 0: all
  float top_p = 1;
  uint32_t seed = 0;
  float speed = 1;  ///< pipelines that plan durations: 2 is twice as fast
  /// The voice of pipelines that take one as a text: OuteTTS's profile (speaker_outetts.cpp), the name of Kokoro's
  std::string profile;
  std::string language;  ///< English name or ISO 639-1 code; empty: English. Only for pipelines that have several
};

/// What a pipeline does between the text model and the decoder.
class SpeechWriter {
 public:
  virtual ~SpeechWriter() = default;
  /// Prepares a text. n_context: positions that a chunk may take. voice: rows of VoiceEncoder, or none. Errors:
  /// kInvalidArgument without a text or for an unknown language; kOutOfRange if a chunk does not fit.
  [[nodiscard]] virtual Result<void> start(std::string_view text, const SpeakOptions& options,
                                           std::span<const float> voice, size_t n_context) = 0;
  [[nodiscard]] virtual float default_temperature() const = 0;
  /// Names of the languages that it speaks, separated by spaces; empty: one.
  [[nodiscard]] virtual std::string languages() const { return ""; }
  /// True if it takes a voice as SpeakOptions::profile.
  [[nodiscard]] virtual bool reads_profiles() const { return false; }
  /// True if it uses SpeakOptions::speed.
  [[nodiscard]] virtual bool sets_speed() const { return false; }
  /// Names of its own voices, one a line; empty: they have none.
  [[nodiscard]] virtual std::string voices() const { return ""; }
  /// What a user should know about the file, or the text that was started, one a line; usually empty.
  [[nodiscard]] virtual std::string warning() const { return ""; }
  /// Parts of the text, each of which has a prompt of its own.
  [[nodiscard]] virtual size_t n_chunks() const = 0;
  /// The rows [n, n_embd] that all prompts begin with.
  [[nodiscard]] virtual std::vector<float> common_rows() const = 0;
  /// The other rows of a chunk's prompt. Its frames follow.
  [[nodiscard]] virtual std::vector<float> start_chunk(size_t chunk) = 0;
  /// Makes the frame that follows a hidden state [n_embd], and the model's next input [n_embd]. Returns false, without
  /// a frame, if the chunk ends. Error: kOutOfRange for a frame that is not of numbers.
  [[nodiscard]] virtual Result<bool> make_frame(std::span<const float> hidden, SpeechFrames& frames,
                                                std::vector<float>& input) = 0;
};

/// Numbers of a normal distribution: the same on all machines for a seed.
class NormalRandom {
 public:
  explicit NormalRandom(uint32_t seed) : random_(seed) {}
  float next();

 private:
  double uniform() { return (double(random_()) + 0.5) / 4294967296.0; }
  std::mt19937 random_;
};

/// What a writer works with. All must outlive it.
struct SpeechTools {
  const Model& model;
  Pool& pool;
  const Tokenizer* tokenizer;  ///< nullptr: of a model that speaks by itself
  const SpeechModel& speech;

  /// The embeddings of tokens.
  [[nodiscard]] std::vector<float> embed(std::span<const TokenId> ids) const;
};
/// Error: kNotFound if the vocabulary lacks a token that the pipeline needs.
[[nodiscard]] Result<std::unique_ptr<SpeechWriter>> create_speech_writer(const SpeechTools& tools);
[[nodiscard]] Result<std::unique_ptr<SpeechWriter>> create_pockettts_writer(const SpeechTools& tools);
[[nodiscard]] Result<std::unique_ptr<SpeechWriter>> create_qwen3tts_writer(const SpeechTools& tools);
[[nodiscard]] Result<std::unique_ptr<SpeechWriter>> create_outetts_writer(const SpeechTools& tools);
[[nodiscard]] Result<std::unique_ptr<SpeechWriter>> create_kokoro_writer(const SpeechTools& tools);

class Speaker {
 public:
  /// Errors: kOutOfMemory; those of create_speech_writer.
  [[nodiscard]] static Result<std::unique_ptr<Speaker>> create(const SpeechTools& tools, State& state);

  /// Starts to speak a text. The state must be empty. Errors of SpeechWriter::start.
  [[nodiscard]] Result<void> begin(std::string_view text, const SpeakOptions& options);
  /// Runs the next step: a part of a prompt, a frame, or its samples. Returns false after the last one. Errors:
  /// kInvalidArgument if nothing is being spoken, or something else used the state; kOutOfRange if the context is full,
  /// or what is computed is not of numbers; those of forward.
  [[nodiscard]] Result<bool> next();
  /// Ends what is being spoken, and frees its cells of the cache.
  void end();
  /// The samples that next() added, at kSpeechRate; often none.
  [[nodiscard]] const std::vector<float>& samples() const { return samples_; }
  [[nodiscard]] const SpeechWriter& writer() const { return *writer_; }
  /// Share of the text's chunks that are spoken, 0 to 1.
  [[nodiscard]] double progress() const {
    const size_t n = writer_->n_chunks(), n_spoken = chunk_ + (chunk_ended_ && frames_.n == 0 ? 1 : 0);
    return n == 0 ? 0 : double(std::min(n_spoken, n)) / double(n);
  }

  /// Starts to encode a recording. Errors: kUnsupported if the file has no encoder of voices; those of resample and
  /// VoiceEncoder::start.
  [[nodiscard]] Result<void> begin_voice(std::span<const float> samples, uint32_t rate);
  /// Runs the next step. Returns false when the voice is set. Error: kInvalidArgument if nothing is being encoded.
  [[nodiscard]] Result<bool> step_voice();
  /// The rows [n, n_embd] of the voice; empty: the model's own.
  [[nodiscard]] const std::vector<float>& voice() const { return voice_; }
  /// Sets them, for example as an earlier voice() gave them. Error: kInvalidArgument for incomplete rows, or numbers
  /// that are none.
  [[nodiscard]] Result<void> set_voice(std::vector<float> rows);

 private:
  Speaker(const SpeechTools& tools, State& state) : tools_(tools), state_(state) {}
  [[nodiscard]] Result<bool> run_prompt();
  [[nodiscard]] Result<bool> run_frame();
  [[nodiscard]] Result<bool> next_chunk();
  [[nodiscard]] Result<void> compute(std::span<const float> rows);
  void start_chunk();
  [[nodiscard]] Result<void> decode_frames();

  SpeechTools tools_;
  State& state_;
  std::unique_ptr<SpeechWriter> writer_;
  std::unique_ptr<SpeechDecoder> decoder_;
  std::unique_ptr<VoiceEncoder> encoder_;
  std::vector<float> voice_;
  bool speaking_ = false, chunk_ended_ = false;
  size_t chunk_ = 0, n_common_ = 0, n_computed_ = 0;
  std::vector<float> prompt_;  // rows that are still to be computed
  size_t n_prompted_ = 0;      // of them, those that are
  std::vector<float> hidden_, input_, samples_;
  SpeechFrames frames_;
  size_t n_at_once_ = 1;  // frames to decode: few at first, so that sound comes early
};

}  // namespace ggufscope
