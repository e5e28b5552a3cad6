// An image encoder with its projector, from an mmproj file. It is used like a Model:
//
//   open(file, n_embd of the text model)   checks everything and allocates little; plan() lists the bytes needed
//   begin_load, then set_rows for every request of the plan, in any order, then finish_load
//   split_image(pixels, parameters().image), and an ImageEncoder for each part
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/model.hpp"
#include "vision/projector.hpp"

namespace ggufscope {

class VisionModel {
 public:
  /// Reads the keys and plans the tensors of `file`. n_embd_text is the embedding size of the text model. `file_index`
  /// is copied into the plan's requests. Errors: kUnsupported for a projector that cannot be run (checked before
  /// anything else is read); kBadShape if the projector's output does not fit the text model; errors of
  /// read_vision_parameters and of Planner; kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<VisionModel>> open(const ModelFile& file, uint32_t file_index,
                                                                 uint64_t n_embd_text);
  VisionModel(const VisionModel&) = delete;
  VisionModel& operator=(const VisionModel&) = delete;

  [[nodiscard]] const ProjectorRow& row() const { return *row_; }
  [[nodiscard]] const VisionParameters& parameters() const { return parameters_; }
  [[nodiscard]] const VisionWeights& weights() const { return weights_; }
  /// Rows in front of which no patch is: the class token, or registers.
  [[nodiscard]] size_t n_registers() const { return weights_.class_token.n / parameters_.n_embd; }
  [[nodiscard]] size_t n_out() const { return n_out_; }  ///< floats in each output token
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }
  /// The grid of tokens for an image part of this size.
  [[nodiscard]] TokenGrid tokens_of(ImageSize part) const;

  void begin_load(Precision precision);
  /// See Model::set_rows.
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
  /// Instead of set_rows, for a tensor that only a device reads.
  void leave_out(size_t i) { plan_[i].n_rows_arrived = plan_[i].n_rows_kept; }
  /// A device computes the layers: encoders have no memory for them.
  void leave_layers(bool leave) { leaves_layers_ = leave; }
  [[nodiscard]] bool leaves_layers() const { return leaves_layers_; }
  [[nodiscard]] Result<void> finish_load(Pool& pool);
  /// Something else than a layer reads or moves the rows between layer n - 1 and layer n.
  [[nodiscard]] bool reads_rows_between(uint32_t n) const;

 private:
  VisionModel() = default;

  const ProjectorRow* row_ = nullptr;
  VisionParameters parameters_;
  VisionWeights weights_;
  size_t n_out_ = 0;
  std::vector<TensorRequest> plan_;
  bool leaves_layers_ = false;
  Precision precision_ = Precision::kExact;
};

}  // namespace ggufscope
