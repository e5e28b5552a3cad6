// Two-dimensional convolutions that shorten a spectrogram: each stage has a kernel of 3 x 3 and stride 2 in both
// directions, and an activation. Their output [frames, bands, channels] becomes one vector for each frame.
#pragma once

#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

struct SubsamplingStage {
  Linear mix;                  // [9 * n_in] -> [n_out], or [n_in] -> [n_out] after a depthwise kernel
  Vector kernel, kernel_bias;  // depthwise: [n_in, 9]
  Affine norm;                 // of each frame's and band's channels
  bool half = true;            // mix and its inputs are rounded to half precision, as in ggml's convolutions by im2col
};

struct SubsamplingShape {
  uint32_t n_mel = 0;
  bool frames_fastest = false;  ///< the kernel's elements: along frames fastest, otherwise along bands
  bool bands_fastest = false;   ///< the output's elements: bands fastest, otherwise channels
  bool gelu = false;            ///< GELU with erf; otherwise max(x, 0)
};

struct Subsampling {
  SubsamplingShape shape;
  std::vector<SubsamplingStage> stages;

  /// Plans stage i: name.weight [3, 3, n_in, n] with any n, and name.bias.
  void plan(Planner& planner, size_t i, const std::string& name, Need bias = Need::kRequired);
  /// Plans stage i: depthwise.weight [3, 3, 1, n_in], then mix.weight [1, 1, n_in, n] with any n, and their biases.
  void plan_depthwise(Planner& planner, size_t i, const std::string& depthwise, const std::string& mix, bool half);

  /// Bands and channels after so many stages; frames from n frames.
  [[nodiscard]] size_t bands(size_t n_stages) const;
  [[nodiscard]] size_t channels(size_t n_stages) const;
  [[nodiscard]] static size_t frames(size_t n, size_t n_stages);
  [[nodiscard]] size_t n_out() const { return bands(stages.size()) * channels(stages.size()); }

  /// x [n, n_mel] -> out [last - first, n_out()]: frames first to last of the output, at most kFrames.
  static constexpr size_t kFrames = 8;
  void run(Pool& pool, Arena& arena, const float* x, size_t n, size_t first, size_t last, float* out) const;

 private:
  struct Input;
  void run_stage(Pool& pool, Arena& arena, const Input& input, size_t n_stages, size_t first, size_t last,
                 float* out) const;
};

}  // namespace ggufscope
