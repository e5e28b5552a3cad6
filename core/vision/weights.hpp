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
  bool exact_gelu = false;  ///< instead of the activation
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

struct VisionWeights {
  Linear patches, patches_2;  // [n_embd, 3 * patch * patch]
  Vector patch_bias;
  Vector class_token;                            // [n_embd]; further rows are registers
  Vector positions;                              // [table.height, table.width, n_embd]
  ImageSize table;                               // of a table that is resampled
  Affine norm_patches, norm_before, norm_after;  // before and after the positions are added; after the last layer
  std::vector<VisionLayer> layers;
  ProjectorAdapter adapter;
  Linear merger;
  Linear up, gate, down;  // a gated network after the adapter
  Vector begin, end;      // [n_out]: tokens around the image's
  Vector row_break;       // [n_out]
  Vector transposed;      // [n_embd, n_out]: optional; transposed_matrix is built from it
  PackedMatrix transposed_matrix;
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
