// An audio encoder with its projector, from an mmproj file, loaded as a VisionModel is.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "audio/audio_projector.hpp"
#include "model/model.hpp"

namespace ggufscope {

class AudioModel {
 public:
  /// n_embd_text: floats of a token that the text model takes. kUnsupported for a projector that cannot be run, before
  /// anything else is read; kBadShape where it does not fit the text model; kNotFound, kInvalidArgument or kOutOfRange
  /// name a key; errors of Planner. `file_index` is what the plan's requests carry.
  [[nodiscard]] static Result<std::unique_ptr<AudioModel>> open(const ModelFile& file, uint32_t file_index,
                                                                uint64_t n_embd_text);
  AudioModel(const AudioModel&) = delete;
  AudioModel& operator=(const AudioModel&) = delete;

  [[nodiscard]] const AudioProjectorRow& row() const { return *row_; }
  [[nodiscard]] const AudioParameters& parameters() const { return parameters_; }
  [[nodiscard]] const AudioWeights& weights() const { return weights_; }
  [[nodiscard]] size_t n_out() const { return n_out_; }  ///< floats of a token
  /// Of 30 s of sound, or less.
  [[nodiscard]] uint32_t n_tokens() const;
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }

  [[nodiscard]] Result<uint64_t> weight_bytes(Precision precision) const;
  void begin_load(Precision precision);
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
  [[nodiscard]] Result<void> finish_load() const { return all_arrived(plan_); }

 private:
  AudioModel() = default;

  const AudioProjectorRow* row_ = nullptr;
  AudioParameters parameters_;
  AudioWeights weights_;
  size_t n_out_ = 0;
  std::vector<TensorRequest> plan_;
  Precision precision_ = Precision::kExact;
};

/// One pass of 30 s of sound through an encoder and its projector, a layer at a time, so that the caller can stop
/// between any two.
class AudioEncoder {
 public:
  /// Both must outlive it.
  AudioEncoder(const AudioModel& model, Pool& pool)
      : model_(model), pass_(pool), encoder_(model.parameters().encoder, model.weights().encoder, pass_) {}

  /// Bytes of scratch.
  [[nodiscard]] static uint64_t scratch_bytes(const AudioModel& model, size_t n_threads);

  /// mel [2 * kAudioFrames, n_mel]: of Whisper's log-mel spectrogram. kOutOfMemory.
  [[nodiscard]] Result<void> begin(std::span<const float> mel);
  /// The convolutions, each layer, the last norm, the projector.
  [[nodiscard]] size_t n_steps() const { return encoder_.n_steps() + 1; }
  /// False: that was the last, and take_output() has it.
  bool step();
  /// [n_tokens, n_out].
  [[nodiscard]] std::vector<float> take_output() { return std::move(output_); }

 private:
  void project();

  const AudioModel& model_;
  WhisperPass pass_;
  WhisperEncoder encoder_;
  bool allocated_ = false;
  size_t at_ = 0;
  std::vector<float> output_;
};

}  // namespace ggufscope
