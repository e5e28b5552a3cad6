// The registry of audio projectors: one row for each projector name in llama.cpp's clip-impl.h. A row names the family
// of its encoder, and describes how the encoder's frames become tokens and which text precedes and follows the audio.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "audio/conformer.hpp"
#include "audio/mimo.hpp"
#include "audio/q_former.hpp"
#include "audio/subsampling.hpp"
#include "audio/whisper_encoder.hpp"
#include "media/sound_frames.hpp"
#include "model/hparams.hpp"

namespace ggufscope {

inline constexpr uint32_t kAudioFrames = 1500;  ///< frames in Whisper's output for 30 s, before any pooling

/// The keys "clip.audio.*" of an mmproj file.
struct AudioParameters {
  SoundRule sound;
  WhisperEncoderShape encoder;
  ConformerShape conformer;
  uint32_t n_stages = 0;  ///< of the subsampling
  uint32_t stack = 1;     ///< consecutive frames that are concatenated into one token
  QFormerShape q_former;
  MimoShape mimo;
  std::vector<bool> features;  ///< [n_layer + 1]: layers' inputs that the projector reads beside the last output
};

struct AudioWeights {
  WhisperEncoderWeights encoder;
  Vector mel_filters, mel_window;
  Subsampling subsampling;
  ClippedLinear in;
  Vector positions;
  std::vector<ConformerLayer> layers;
  Linear ctc, ctc_back;
  QFormer q_former;
  Affine norm_before, norm_between;
  Linear first, gate, up, last;
  ClippedLinear out, projection;
  MimoWeights mimo;
  Vector begin, end;  // [n_out]: tokens before and after the audio's tokens
};

struct AudioPlan {
  Planner& planner;
  const AudioParameters& p;
  AudioWeights& w;
  uint64_t n_out = 0;  ///< floats in each token; the projector's plan sets it

  /// The number of rows (n_out) of a matrix in the file; 0 if it is missing.
  [[nodiscard]] uint64_t rows_of(const std::string& tensor) const {
    const TensorEntry* entry = planner.find(tensor + ".weight");
    return entry == nullptr ? 0 : entry->shape[1];
  }
  /// Plans a matrix with n_in columns and as many rows as the file has. Returns the number of rows.
  uint64_t linear(Linear& to, const std::string& name, uint64_t n_in) const {
    const uint64_t n = rows_of(name);
    planner.linear(to, name, n_in, n);
    return n;
  }
  /// Floats in the concatenated frames of one token.
  [[nodiscard]] uint64_t n_stacked() const { return uint64_t{p.stack} * p.encoder.sizes.n_embd; }
};

/// The arguments of a projector's function.
struct AudioProjectorInput {
  const AudioParameters& p;
  const AudioWeights& w;
  Pool& pool;
  Arena& arena;
  float* stacked = nullptr;  ///< [n_tokens, stack * n_embd], padded with zeros after the last frame; may be overwritten
  size_t n_frames = 0;
  size_t n_tokens = 0;  ///< without the tokens before and after the audio
  size_t n_out = 0;
  float* out = nullptr;  ///< [n_tokens, n_out]
};

class AudioModel;

/// Runs one part of the audio through an encoder and its projector. Each step is about one layer, so that the caller
/// can stop or report progress between two steps.
class AudioEncoder {
 public:
  /// The model and the pool must outlive this object.
  AudioEncoder(const AudioModel& model, Pool& pool) : model_(model), pool_(pool) {}
  virtual ~AudioEncoder() = default;
  /// frames: [n_frames, values of a frame] as in SoundFrames::part. Error: kOutOfMemory.
  [[nodiscard]] Result<void> start(std::span<const float> frames, size_t n_frames);
  /// Bytes that encoding n frames takes, except those of the output. The pool only counts.
  [[nodiscard]] uint64_t count_bytes(size_t n_frames);
  [[nodiscard]] virtual size_t n_steps() const = 0;
  /// Runs the next step. Returns false after the last one; take_output() then returns the result.
  bool step() {
    run(at_);
    return ++at_ < n_steps();
  }
  /// Instead of steps: layers that something else computes.
  [[nodiscard]] virtual LayerRun begin_layers() { return {}; }
  /// Their rows up to a layer were computed.
  virtual void end_layers(uint32_t end) { at_ = end + 1; }
  /// What the last layer gave, before the projector; empty without layers.
  [[nodiscard]] virtual std::span<const float> activations() const { return {}; }
  /// The encoded tokens, [n_tokens, n_out].
  [[nodiscard]] std::vector<float> take_output() { return std::move(output_); }

 protected:
  virtual void run(size_t step) = 0;
  /// Prepares the steps, with memory in the arena. Without frames if the arena counts. Error: kOutOfMemory.
  [[nodiscard]] virtual Result<void> begin(std::span<const float> frames) = 0;
  /// Floats beside the arena's.
  [[nodiscard]] virtual uint64_t count_buffers() const = 0;
  /// The output's memory [n_tokens, n_out], zeroed; nullptr if the arena counts.
  float* begin_output(size_t n_tokens);

  const AudioModel& model_;
  Pool& pool_;
  Arena arena_;
  size_t n_frames_ = 0, at_ = 0;
  std::vector<float> output_;

 private:
  [[nodiscard]] uint64_t count_scratch(size_t n_frames);
};

/// What the projectors with the same encoder share.
struct AudioFamily {
  void (*read)(AudioParameters& p, Keys& keys);
  void (*plan)(AudioPlan& plan);
  /// Frames in the encoder's output for n frames of its input.
  size_t (*frames)(const AudioParameters& p, size_t n);
  std::unique_ptr<AudioEncoder> (*create)(const AudioModel& model, Pool& pool);
};
extern const AudioFamily kWhisperFamily, kConformerFamily, kMimoFamily, kWaveformFamily;

struct AudioProjectorRow {
  std::string_view name;
  const AudioFamily* family = nullptr;                     ///< nullptr: the projector is known but cannot be run
  void (*read)(AudioParameters& p, Keys& keys) = nullptr;  ///< further keys; optional
  /// The projector's tensors, and its function if the family leaves that to the row.
  void (*plan)(AudioPlan& plan) = nullptr;
  void (*project)(AudioProjectorInput& input) = nullptr;
  bool halves = false;                    ///< the encoder averages each pair of frames
  bool stacks = false;                    ///< clip.audio.projector.stack_factor is required
  bool ends = false;                      ///< v.boi and v.eoi are tokens before and after the audio's tokens
  std::string_view begin = "", end = "";  ///< texts before and after the audio; may contain special tokens
};

[[nodiscard]] std::span<const AudioProjectorRow> all_audio_projectors();
/// Error: kUnsupported for an unknown projector or one that cannot be run; the message lists those that can.
[[nodiscard]] Result<const AudioProjectorRow*> find_audio_projector(std::string_view name);

/// The width of the blocks' feed-forward layers. As in libmtmd, the key must be there, and the tensors have the value.
[[nodiscard]] uint32_t read_feed_forward_length(Keys& keys);

// conformer_projectors.cpp
void read_lfm2a(AudioParameters& p, Keys& keys);
void plan_lfm2a(AudioPlan& plan);
void project_lfm2a(AudioProjectorInput& input);
void read_parakeet(AudioParameters& p, Keys& keys);
void plan_parakeet(AudioPlan& plan);
void project_parakeet(AudioProjectorInput& input);
void read_gemma4a(AudioParameters& p, Keys& keys);
void plan_gemma4a(AudioPlan& plan);
void project_gemma4a(AudioProjectorInput& input);
void read_granite_speech(AudioParameters& p, Keys& keys);
void plan_granite_speech(AudioPlan& plan);
void project_granite_speech(AudioProjectorInput& input);

}  // namespace ggufscope
