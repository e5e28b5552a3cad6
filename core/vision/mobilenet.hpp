// MobileNetV5, the image encoder of Gemma 3n (tools/mtmd/models/mobilenetv5.cpp). It consists of convolutions, so it
// has its own weights and memory. Maps are squares [side, side, channels].
#pragma once

#include "model/state.hpp"
#include "vision/weights.hpp"

namespace ggufscope {

/// Plans the network and its projector. Sets plan.n_out. Errors: those of Planner; kBadShape for maps or heads that do
/// not fit together.
void plan_mobilenet(VisionPlan& plan);

/// A square map [side, side, n] through one kernel for each channel, with `before` zeros before the first row and
/// column. Rounds x to halves, as ggml does.
void filter_channels(Pool& pool, const DepthwiseConvolution& by, float* x, uint32_t side, size_t n, uint32_t stride,
                     uint32_t before, float* to);

/// Runs the network in steps: the first convolution, each block, then the projector.
class MobileNetRun {
 public:
  MobileNetRun(const VisionWeights& w, Pool& pool) : w_(w), pool_(pool) {}
  [[nodiscard]] size_t n_steps() const { return w_.mobile.blocks.size() + 2; }
  /// Bytes of memory that a run needs.
  [[nodiscard]] static uint64_t count_bytes(const VisionWeights& w, size_t n_threads);
  /// Allocates memory, and returns where the pixels [side, side, 3] belong. Error: kOutOfMemory.
  [[nodiscard]] Result<float*> start(uint32_t side);
  /// Runs a step. The last one writes the tokens [n_tokens, n_out] to out.
  void step(size_t at, float* out);

 private:
  void take_maps();
  struct Map {
    uint32_t side = 0;
    size_t n_channels = 0;
    float* x = nullptr;
    [[nodiscard]] size_t n_places() const { return size_t{side} * side; }
  };
  void gather(const Convolution& by, const Map& from, uint32_t stride, size_t begin, size_t n_rows, float* to);
  Map convolve(const Convolution& by, const Map& from, uint32_t stride, float* to);
  Map filter(const DepthwiseConvolution& by, const Map& from, uint32_t stride, float* to);
  void normalize(const Affine& by, const Map& map);
  void activate(const Map& map);
  Map run_edge(const MobileBlock& w);
  Map run_inverted(const MobileBlock& w);
  Map run_attention(const MobileBlock& w);
  void run_block(const MobileBlock& w);
  void fuse();
  void project(float* out);

  const VisionWeights& w_;
  Pool& pool_;
  Arena arena_;
  Map map_, fused_;      // the result of the last step, and the results that are fused
  size_t n_fused_ = 0;   // channels that fused_ has already
  float* maps_[3] = {};  // memory of map_, and two free ones
  float* chunk_ = nullptr;
  float* threads_ = nullptr;
};

}  // namespace ggufscope
