// The weights of an image encoder and its projector, and which tensor of an mmproj file each one is.
#pragma once

#include <string>
#include <vector>

#include "model/weights.hpp"
#include "nn/activation.hpp"
#include "nn/halves.hpp"
#include "vision/parameters.hpp"

namespace ggufscope {

inline constexpr float kTorchEps = 1e-5f;  ///< LayerNorm's epsilon where the projector's source does not set one

/// A small network, the building block of projectors: norm, matrix, norm, activation, matrix, norm. All norms are
/// optional. The first one is of patches or of tokens, depending on its length.
struct ProjectorAdapter {
  Affine norm;
  Linear first, second;
  Affine norm_between, norm_after;
  NormKind norm_kind = NormKind::kLayer;  ///< of the first norm
  float eps = kTorchEps;                  ///< of the norms before the activation
  Activation activation = Activation::kGelu;
};

struct VisionLayer {
  Affine norm_1, norm_2, norm_after_mixing, norm_after_ffn, q_norm, k_norm;
  Linear qkv, q, k, v, out;
  Linear up, gate, down;
  Vector sinks;  // [n_head]
  Vector scale_1, scale_2,
      scale_out;  // [n_embd]: scales of the attention's output, the feed-forward's output, and the layer's output
  ProjectorAdapter deep;  // DeepStack: its output is added in a layer of the text model
};

/// Limits of a matrix's inputs and outputs [1]; absent ones do not limit.
struct LinearLimits {
  const Linear* linear = nullptr;
  Vector in_min, in_max, out_min, out_max;
};

/// Attention of learned queries to all patches, whose keys have sinusoidal positions (MiniCPM-V).
struct ResamplerWeights {
  Vector queries;  // [n_queries, n_out]
  Linear kv, q, k, v, out, last;
  Affine norm_q, norm_kv, norm_after;
  explicit operator bool() const { return static_cast<bool>(queries); }
};

/// A convolution as a matrix [n_out, n_in, n_kernel, n_kernel].
struct Convolution {
  Linear matrix;
  uint32_t n_kernel = 1;
  bool halves = false;  ///< the file's type is F16, and so ggml rounds the inputs
  explicit operator bool() const { return static_cast<bool>(matrix); }
};

/// One kernel for each channel: [n, n_kernel, n_kernel].
struct DepthwiseConvolution {
  Vector weights;
  uint32_t n_kernel = 1;
  explicit operator bool() const { return static_cast<bool>(weights); }
};

/// A block of MobileVLM: one kernel for each channel, a norm, a gate for each channel from the means of all, a matrix.
struct GatedChannels {
  DepthwiseConvolution kernel;
  Vector kernel_bias;  ///< of LDPv2, which has nothing but the kernel
  Affine norm, norm_after;
  Linear narrow, wide, matrix;
};

/// A block of MobileNetV5: an edge residual (a wide convolution, then a narrow one), a universal inverted residual
/// (depthwise, wide, depthwise, narrow), or attention with one key head.
struct MobileBlock {
  bool edge = false, attends = false, fused = false;  ///< fused: its result is part of the output
  uint32_t stride = 1;
  uint32_t side = 0;      ///< of its result
  size_t n_channels = 0;  ///< of its result
  DepthwiseConvolution start, mid, k_down, v_down;
  Convolution first, last, q, k, v;
  Affine norm, start_norm, first_norm, mid_norm, last_norm, k_norm, v_norm;
  Vector scale;
};

struct MobileNetWeights {
  Convolution stem;
  Vector stem_bias;
  Affine stem_norm;
  std::vector<MobileBlock> blocks;
  Convolution wide, narrow;  ///< of the fused stages
  Affine wide_norm, narrow_norm, norm_after;
  uint64_t map_floats = 0, fused_floats = 0, chunk_floats = 0, thread_floats = 0;  ///< memory, see mobilenet.cpp
};

struct VisionWeights {
  Linear patches, patches_2;  // [n_embd, 3 * patch * patch]
  Vector patch_bias;
  Vector class_token;                            // [n_embd]; further rows are registers
  Vector positions;                              // [table.height, table.width, n_embd]
  ImageSize table;                               // of a table that is resampled
  Affine norm_pixels;                            // before the patch matrix
  Affine norm_patches, norm_before, norm_after;  // before and after the positions are added; after the last layer
  std::vector<VisionLayer> layers;
  VisionLayer halving;  // attention within windows, after the layer p.halve_after; then `deep` merges each window
  std::vector<LinearLimits> limits;
  ProjectorAdapter adapter;
  Linear merger;
  Linear up, gate, down;  // a gated network after the adapter
  Vector begin, end;      // [n_out]: tokens around the image's
  Vector row_break;       // [n_out]
  Vector separators;      // [4, n_out]: see engine/image_canvas.hpp
  Vector transposed;      // [n_embd, n_out]: optional; transposed_matrix is built from it
  PackedMatrix transposed_matrix;
  ResamplerWeights resampler;
  MobileNetWeights mobile;
  GatedChannels channels[2];
  Vector shift, factor;  // [n_embd]: tokens become (x - shift) * factor
};

struct VisionPlan {
  Planner& planner;
  const ProjectorRow& row;
  VisionParameters& p;
  VisionWeights& w;
  uint64_t n_out = 0;  ///< floats in each token; the projector's plan sets it

  /// The number of rows (n_out) of a matrix in the file; 0 if it is missing.
  [[nodiscard]] uint64_t rows_of(const std::string& tensor, uint32_t dimension = 1) const {
    const TensorEntry* entry = planner.find(tensor);
    return entry == nullptr ? 0 : entry->shape[dimension];
  }
  /// Floats in one row of the encoder's output: the features of several layers are concatenated.
  [[nodiscard]] uint64_t n_features() const { return uint64_t{p.n_embd} * std::max<size_t>(p.features.size(), 1); }
  /// Floats of all patches of a token.
  [[nodiscard]] uint64_t n_merged() const { return n_features() * p.merge * p.merge; }
  /// Plans first [n_in, n_hidden] and second [n_hidden, n_out] with the sizes in the file. Without a second matrix,
  /// n_out = n_hidden.
  void adapter(ProjectorAdapter& to, const std::string& first, const std::string& second, uint64_t n_in,
               Need need_second = Need::kRequired) {
    const uint64_t n_hidden = rows_of(first + ".weight");
    planner.linear(to.first, first, n_in, n_hidden);
    n_out = n_hidden;
    const uint64_t n_second = rows_of(second + ".weight");
    if (planner.linear(to.second, second, n_hidden, n_second, need_second)) n_out = n_second;
  }
};

/// Plans the encoder and the projector. Other tensors are ignored, as in libmtmd. Sets plan.n_out and p.n_run.
void plan_vision(VisionPlan& plan);

}  // namespace ggufscope
