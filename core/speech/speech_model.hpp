// What makes speech of a text model's hidden states: the part "clip.gen.audio.*" of an mmproj file, with the encoder of
// voices beside it. Each pipeline is a row, with a generator in a file of its own. It is loaded like a VisionModel.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/hparams.hpp"
#include "model/model.hpp"
#include "speech/stream.hpp"

namespace ggufscope {

inline constexpr uint32_t kSpeechRate = 24000;   ///< samples per second of all pipelines
inline constexpr size_t kMaxSpeechFrames = 2;    ///< that are decoded at once: more would delay an abort
inline constexpr size_t kWholeChunk = SIZE_MAX;  ///< frames_at_once() of a decoder that reads all frames of a chunk

/// Frames of speech, as a pipeline's generator makes them: latents, or codes.
struct SpeechFrames {
  size_t n = 0;
  std::vector<float> latents;  ///< [n, values of a frame]
  std::vector<int32_t> codes;  ///< [n, codes of a frame]
  uint32_t seed = 0;           ///< of the noise of a decoder that has some
  void clear() {
    n = 0;
    latents.clear();
    codes.clear();
  }
};

/// Frames to samples, as a stream: wherever the frames are cut, the samples are the same.
class SpeechDecoder {
 public:
  virtual ~SpeechDecoder() = default;
  /// Appends the samples of at most as many frames as the generator's frames_at_once(). Returns true if the same frames
  /// need another call, because decoding has steps. Error: kOutOfRange for frames that cannot be decoded.
  virtual Result<bool> decode(const SpeechFrames& frames, std::vector<float>& samples) = 0;
  /// The next frames start another sound.
  virtual void reset() = 0;
};

/// A recording to the rows of a prompt that make a model speak with its voice. Each step is a part of the work, so that
/// the caller can stop between two of them.
class VoiceEncoder {
 public:
  virtual ~VoiceEncoder() = default;
  /// samples: at kSpeechRate. Errors: kInvalidArgument for a recording that is too short or too long; kOutOfMemory.
  [[nodiscard]] virtual Result<void> start(std::vector<float> samples) = 0;
  /// Runs the next step. Returns false after the last one; take_rows() then returns the result.
  virtual bool step() = 0;
  [[nodiscard]] std::vector<float> take_rows() { return std::move(rows_); }

 protected:
  std::vector<float> rows_;  ///< [n, n_embd of the text model]
};

/// The weights of a pipeline.
class SpeechGenerator {
 public:
  virtual ~SpeechGenerator() = default;
  /// Reads the keys and plans the tensors. n_embd: of the text model. with_voices: the file has an encoder of voices.
  virtual void plan(const Gguf& gguf, SpeechPlan& plan, Keys& keys, uint64_t n_embd, bool with_voices) = 0;
  /// What remains to be done when all weights are there.
  [[nodiscard]] virtual Result<void> finish_load(Pool& pool) = 0;
  /// Samples for a frame.
  [[nodiscard]] virtual size_t frame_samples() const = 0;
  /// Frames that the decoder makes sound of at once: at most kMaxSpeechFrames, or kWholeChunk.
  [[nodiscard]] virtual size_t frames_at_once() const { return kMaxSpeechFrames; }
  /// Error: kOutOfMemory.
  [[nodiscard]] virtual Result<std::unique_ptr<SpeechDecoder>> create_decoder(Pool& pool) const = 0;
  [[nodiscard]] virtual std::unique_ptr<VoiceEncoder> create_voice_encoder(Pool& pool) const = 0;
  /// Bytes that the decoder and the making of a frame take.
  [[nodiscard]] virtual uint64_t scratch_bytes(Pool& pool) const = 0;
};

struct SpeechPipeline {
  std::string_view name;           ///< clip.gen.audio.projector_type
  std::string_view voice_encoder;  ///< clip.audio.projector_type
  std::string_view architecture;   ///< of the text model
  std::unique_ptr<SpeechGenerator> (*create)() = nullptr;
};
[[nodiscard]] std::span<const SpeechPipeline> all_speech_pipelines();

/// The architecture of a model that speaks by itself.
inline constexpr std::string_view kSpeaksAlone = "kokoro";

class SpeechModel {
 public:
  /// Reads the keys and plans the tensors of `file`: an mmproj, or WavTokenizer's decoder, with which any model whose
  /// vocabulary has its codes can speak (OuteTTS). text: the model whose hidden states it reads, or nullptr for any.
  /// `file_index` is copied into the plan's requests. Errors: kUnsupported for a pipeline that is not known, or another
  /// architecture; kBadShape if tensors do not fit each other or the text model; kNotFound, kInvalidArgument or
  /// kOutOfRange for a key, which the message names; errors of Planner.
  [[nodiscard]] static Result<std::unique_ptr<SpeechModel>> open(const ModelFile& file, uint32_t file_index,
                                                                 const Model* text);
  /// Opens a model that speaks by itself (Kokoro). The same errors.
  [[nodiscard]] static Result<std::unique_ptr<SpeechModel>> open_alone(const ModelFile& file);
  SpeechModel(const SpeechModel&) = delete;
  SpeechModel& operator=(const SpeechModel&) = delete;

  [[nodiscard]] const SpeechPipeline& pipeline() const { return *pipeline_; }
  [[nodiscard]] const SpeechGenerator& generator() const { return *generator_; }
  /// Whether it can encode voices.
  [[nodiscard]] bool has_voices() const { return has_voices_; }
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return vocoder_ ? vocoder_->plan() : plan_; }

  /// Error: kOverflow.
  [[nodiscard]] Result<uint64_t> weight_bytes(Precision precision) const;
  [[nodiscard]] Result<void> begin_load(Pool& pool, Precision precision);
  /// See Model::set_rows.
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
  /// Errors: kTruncated if rows are missing; kOutOfMemory.
  [[nodiscard]] Result<void> finish_load(Pool& pool);

 private:
  SpeechModel() = default;
  [[nodiscard]] static Result<std::unique_ptr<SpeechModel>> open_vocoder(const ModelFile& file, uint32_t file_index);
  /// Takes the generator's plan of the file's tensors. The other arguments are those of SpeechGenerator::plan.
  [[nodiscard]] Result<void> plan_file(const ModelFile& file, uint32_t file_index, Keys& keys, uint64_t n_embd);

  const SpeechPipeline* pipeline_ = nullptr;
  std::unique_ptr<Model> vocoder_;  // OuteTTS: all weights are those of a model
  std::unique_ptr<SpeechGenerator> generator_;
  bool has_voices_ = false, turned_ = false;
  std::vector<TensorRequest> plan_;
  std::vector<CausalConvolution*> convolutions_;
  std::vector<TransposedConvolution*> transposed_;
  Precision precision_ = Precision::kExact;
};

[[nodiscard]] std::unique_ptr<SpeechGenerator> create_pockettts();
[[nodiscard]] std::unique_ptr<SpeechGenerator> create_qwen3tts();
/// vocoder: a model that reads codes, and outlives this.
[[nodiscard]] std::unique_ptr<SpeechGenerator> create_outetts(const Model& vocoder);

}  // namespace ggufscope
