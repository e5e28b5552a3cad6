// Runs one image part through an encoder and its projector. Each step is about one layer, so that the caller can stop
// or report progress between two steps. Patches may be in any order; each has its row and column.
#pragma once

#include <vector>

#include "model/layer_run.hpp"
#include "model/state.hpp"
#include "vision/mobilenet.hpp"
#include "vision/projector_input.hpp"
#include "vision/vision_model.hpp"

namespace ggufscope {

class ImageEncoder {
 public:
  ImageEncoder(const VisionModel& model, Pool& pool) : model_(model), pool_(pool), mobilenet_(model.weights(), pool) {}

  /// Scratch bytes for a part of this size.
  [[nodiscard]] static uint64_t scratch_bytes(const VisionModel& model, ImageSize part, size_t n_threads);

  /// Scratch bytes, and those of the other memory of a part of this size, its output included.
  [[nodiscard]] static uint64_t run_bytes(const VisionModel& model, ImageSize part, size_t n_threads);
  /// Checks the size of a part. Error: kOutOfRange for more than kMaxPatches patches or for a size without position
  /// embeddings in the file.
  [[nodiscard]] static Result<void> check(const VisionModel& model, ImageSize part);

  /// Copies the part's pixels. Errors: those of check; kOutOfMemory.
  [[nodiscard]] Result<void> start(const Image& part);
  [[nodiscard]] size_t n_steps() const {
    return model_.row().mobilenet ? mobilenet_.n_steps() : model_.parameters().n_run + 2;
  }
  /// Runs the next step: the patch embedding, then each layer, then the projector. Returns false after the last step;
  /// take_output() then returns the result.
  bool step();
  /// Instead of steps: layers that something else computes.
  [[nodiscard]] LayerRun begin_layers();
  /// The rows of the run up to its end were computed.
  void end_layers(uint32_t end);
  /// What the last layer gave, before the projector. Empty for encoders of convolutions.
  [[nodiscard]] std::span<const float> activations() const {
    return {x_, model_.row().mobilenet ? 0 : n_rows() * model_.parameters().n_embd};
  }
  [[nodiscard]] TokenGrid grid() const { return grid_; }
  /// The encoded tokens, [grid().n_tokens, n_out].
  [[nodiscard]] std::vector<float> take_output() { return std::move(output_); }

 private:
  struct Place {
    uint32_t row, column;
  };
  [[nodiscard]] static uint64_t count_scratch(const VisionModel& model, ImageSize part);
  [[nodiscard]] Result<void> begin_mobilenet(const Image& part);
  void begin(ImageSize part);
  /// The number of rows that the table of positions must have.
  [[nodiscard]] static uint64_t n_positions(const VisionModel& model, uint32_t columns, uint32_t rows);
  void order_places();
  void add_token(Place place, uint32_t merge);
  void turn(bool by_columns);
  void make_angles();
  void embed();
  void add_positions();
  void begin_layer(uint32_t il);
  void run_layer(uint32_t il);
  void end_layer(uint32_t il);
  void attend(const VisionLayer& w, std::span<const std::span<const CellRun>> sees, const float* x, float* y);
  void halve();
  [[nodiscard]] ProjectorInput make_input(float* out, size_t n_out);
  void normalize_heads(const Affine& norm, float* x, size_t n_heads) const;
  void deep_features(uint32_t il);
  void project();
  [[nodiscard]] size_t n_patches() const { return size_t{columns_} * rows_; }
  [[nodiscard]] size_t n_rows() const { return n_patches() + model_.n_registers(); }

  const VisionModel& model_;
  Pool& pool_;
  uint32_t columns_ = 0, rows_ = 0;
  bool by_columns_ = false;  // the order of places_
  bool halved_ = false;
  TokenGrid grid_;
  std::vector<Place> places_;           // row and column of each patch, in processing order
  std::vector<uint32_t> place_of_;      // [rows, columns]: index into places_
  std::vector<float> pixels_;           // [n_patches, 3, patch, patch]
  std::vector<float> cosines_, sines_;  // [n_patches, d_head / 2]
  std::vector<CellRun> all_, windows_;  // windows_: one for each patch
  std::vector<std::span<const CellRun>> sees_all_, sees_window_;
  std::vector<int32_t> no_positions_;  // one for each row; there is no relative position bias
  Buffer cache_, thread_scratch_;
  Arena arena_;
  size_t thread_floats_ = 0;
  float *x_ = nullptr, *normed_ = nullptr, *mixed_ = nullptr, *features_ = nullptr;
  size_t n_features_ = 0;
  std::vector<float> deep_;  // [layers with deep features, n_tokens, n]
  std::vector<float> output_;
  MobileNetRun mobilenet_;  // instead of all of this
  size_t at_ = 0;
};

}  // namespace ggufscope
