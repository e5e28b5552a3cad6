// An audio encoder with its projector, from an mmproj file. It is loaded in the same way as a VisionModel.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "audio/audio_projector.hpp"
#include "model/model.hpp"

namespace ggufscope {

class AudioModel {
 public:
  /// Reads the keys and plans the tensors of `file`. n_embd_text is the embedding size of the text model. `file_index`
  /// is copied into the plan's requests. Errors: kUnsupported for a projector that cannot be run (checked before
  /// anything else is read); kBadShape if the projector's output does not fit the text model; kNotFound,
  /// kInvalidArgument or kOutOfRange for a key, which the message names; errors of Planner.
  [[nodiscard]] static Result<std::unique_ptr<AudioModel>> open(const ModelFile& file, uint32_t file_index,
                                                                uint64_t n_embd_text);
  AudioModel(const AudioModel&) = delete;
  AudioModel& operator=(const AudioModel&) = delete;

  [[nodiscard]] const AudioProjectorRow& row() const { return *row_; }
  [[nodiscard]] const AudioParameters& parameters() const { return parameters_; }
  [[nodiscard]] const AudioWeights& weights() const { return weights_; }
  [[nodiscard]] size_t n_out() const { return n_out_; }  ///< floats in each output token
  /// The number of tokens for one window, which is at most 30 s of audio.
  [[nodiscard]] uint32_t n_tokens() const;
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }

  /// Error: kOverflow.
  [[nodiscard]] Result<uint64_t> weight_bytes(Precision precision) const;
  void begin_load(Precision precision);
  /// See Model::set_rows.
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

/// Runs one window of 30 s of audio through an encoder and its projector. Each step is one layer, so the caller can
/// stop between two layers.
class AudioEncoder {
 public:
  /// The model and the pool must outlive this object.
  AudioEncoder(const AudioModel& model, Pool& pool)
      : model_(model), pass_(pool), encoder_(model.parameters().encoder, model.weights().encoder, pass_) {}

  /// The number of scratch bytes that one pass needs.
  [[nodiscard]] static uint64_t scratch_bytes(const AudioModel& model, size_t n_threads);

  /// mel: Whisper's log-mel spectrogram, [2 * kAudioFrames, n_mel]. Error: kOutOfMemory.
  [[nodiscard]] Result<void> begin(std::span<const float> mel);
  /// The steps are: the convolutions, each layer, the last norm, the projector.
  [[nodiscard]] size_t n_steps() const { return encoder_.n_steps() + 1; }
  /// Runs the next step. Returns false after the last one; take_output() then returns the result.
  bool step();
  /// The encoded tokens, [n_tokens, n_out].
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
