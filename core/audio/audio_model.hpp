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
  /// The number of tokens for a part of n frames (see SoundFrames::part_frames); inner_tokens: without those at its
  /// ends.
  [[nodiscard]] size_t n_tokens(size_t n_frames) const { return inner_tokens(n_frames) + (row_->ends ? 2 : 0); }
  [[nodiscard]] size_t inner_tokens(size_t n_frames) const;
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }
  /// Scratch bytes for encoding a part of n frames; without n_frames, of 30 s.
  [[nodiscard]] uint64_t scratch_bytes(size_t n_threads, size_t n_frames = 0) const;

  void begin_load(Precision precision);
  /// See Model::set_rows.
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
  /// Instead of set_rows, for a tensor that only a device reads.
  void leave_out(size_t i) { plan_[i].n_rows_arrived = plan_[i].n_rows_kept; }
  /// See VisionModel::leave_layers.
  void leave_layers(bool leave) { parameters_.encoder.without_blocks = leave; }
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

}  // namespace ggufscope
