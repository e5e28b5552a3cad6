// The blocks of a Conformer (Gulati et al. 2020), which several audio encoders share. Each computes
//
//   x += ffn(norm(x)) / 2;  x += attention(norm(x));  x += convolution(norm(x));  x += ffn(norm(x)) / 2;  x = norm(x)
//
// The convolution is a matrix, a gate, a kernel along time for each channel, a norm, SiLU, a matrix. Some of the norms
// are left out if the file has none.
#pragma once

#include "audio/relative_attention.hpp"
#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

/// A matrix whose inputs and outputs may have limits, which are tensors of one element in the file.
struct ClippedLinear {
  Linear linear;
  Vector input_min, input_max, output_min, output_max;

  /// Plans name.weight and its limits.
  void plan_limits(Planner& planner, const std::string& name);
};

struct ConformerFfn {
  Affine norm, norm_after;
  ClippedLinear up, down;
};

struct ConformerLayer {
  ConformerFfn first, second;
  Affine attn_norm, attn_norm_after;
  ClippedLinear q, k, v, out;
  Vector q_scale, k_scale;  // [d_head]
  Linear positions;         // embeddings of distances from sines and cosines
  Vector bias_u, bias_v;    // [n_head, d_head]
  Vector distances;         // [2 * largest + 1, d_head]: embeddings of distances, the same for all heads
  Affine conv_norm;         // absent: no convolution
  ClippedLinear conv_in, conv_out;
  Vector kernel, kernel_bias;           // [n_embd, n_kernel], [n_embd]
  Affine kernel_norm;                   // a scale and an offset for each channel, or a norm
  Vector kernel_mean, kernel_variance;  // [n_embd]
  Affine norm;
};

/// Which frames a frame attends to.
enum class ConformerView : uint8_t {
  kAll,
  kRecent,  ///< itself and the reach - 1 before
  kBlock,   ///< those of its block of `reach` frames
};

struct ConformerShape {
  uint32_t n_embd = 0, n_head = 0, d_head = 0, n_layer = 0, n_ff = 0;
  NormKind norm = NormKind::kLayer;
  float eps = 1e-5f;
  ConformerView view = ConformerView::kAll;
  uint32_t reach = 0;
  uint32_t all_limit = 0;  ///< kAll, with more frames than this: only those at most all_reach away; 0: no limit
  uint32_t all_reach = 0;
  float q_scale = 1, k_scale = 1, score_scale = 1, cap = 0;
  uint32_t n_distances = 0;  ///< the largest distance of a table of embeddings
  uint32_t n_position = 0;   ///< sines and cosines in the embedding of a distance
  bool halves = false;       ///< first all sines, then all cosines; otherwise alternating
  uint32_t n_kernel = 0;
  bool causal = false;             ///< the kernel sees no later frames
  bool normalizes_kernel = false;  ///< kernel_norm is a norm over the channels
};

class Conformer {
 public:
  /// The arguments must outlive this object.
  Conformer(const ConformerShape& shape, const std::vector<ConformerLayer>& layers, Pool& pool, Arena& arena)
      : shape_(shape), layers_(layers), pool_(pool), arena_(arena) {}

  /// Floats that this object allocates for n frames.
  [[nodiscard]] static uint64_t count_buffers(const ConformerShape& shape, uint64_t n);

  void start(size_t n);
  /// x: [n, n_embd].
  void run_layer(size_t il, float* x);

  /// y [n, n_out] = x [n, n_in] through a matrix with limits.
  static void apply_clipped(Pool& pool, Arena& arena, const ClippedLinear& by, const float* x, size_t n, float* y);

 private:
  void normalize(const Affine& by, const float* x, size_t n, float* y);
  void feed_forward(const ConformerFfn& w, float* x);
  void attend(const ConformerLayer& w, float* x);
  void convolve(const ConformerLayer& w, float* x);
  void apply_kernel(const ConformerLayer& w, const float* x, float* y);
  [[nodiscard]] ptrdiff_t min_distance() const;
  [[nodiscard]] static size_t n_distances(const ConformerShape& shape, uint64_t n);
  [[nodiscard]] static bool sees_all(const ConformerShape& shape, uint64_t n) {
    return shape.view == ConformerView::kAll && (shape.all_limit == 0 || n <= shape.all_limit);
  }

  const ConformerShape& shape_;
  const std::vector<ConformerLayer>& layers_;
  Pool& pool_;
  Arena& arena_;
  size_t n_ = 0;
  std::vector<float> positions_;  // [n_distances, n_position]
  std::vector<KeySpan> visible_;  // [n]
  std::vector<float> taps_;       // [n_kernel, n_embd]
};

}  // namespace ggufscope
