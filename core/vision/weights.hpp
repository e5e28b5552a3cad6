// The weights of an image encoder and its projector: where each tensor of an mmproj file goes.
#pragma once

#include <string>
#include <vector>

#include "model/weights.hpp"
#include "nn/halves.hpp"
#include "vision/parameters.hpp"

namespace ggufscope {

/// Norm, matrix, activation, matrix: what the small networks of projectors are made of.
struct ProjectorAdapter {
  Affine norm;
  Linear first, second;
  Affine norm_between, norm_after;
};

struct VisionLayer {
  Affine norm_1, norm_2, norm_after_mixing, norm_after_ffn, q_norm, k_norm;
  Linear qkv, q, k, v, out;
  Linear up, gate, down;
  Vector scale_1, scale_2, scale_out;  // [n_embd] of what attention and feed-forward give, and of the sum
  ProjectorAdapter deep;               // its output goes into a layer of the text model
};

struct VisionWeights {
  Linear patches, patches_2;  // [n_embd, 3 * patch * patch]
  Vector patch_bias;
  Vector class_token;  // [n_embd]
  Vector positions;    // [n_positions, n_embd]
  Affine norm_before, norm_after;
  std::vector<VisionLayer> layers;
  ProjectorAdapter adapter;
  Linear merger;
  Vector row_break;   // [n_out]
  Vector transposed;  // [n_embd, n_out], of which `transposed_matrix` is made when it is there
  PackedMatrix transposed_matrix;
};

struct VisionPlan {
  Planner& planner;
  const ProjectorRow& row;
  VisionParameters& p;
  VisionWeights& w;
  uint64_t n_out = 0;  ///< floats of a token: the projector's plan sets it

  /// n_out of a matrix in the file; 0 where it is missing.
  [[nodiscard]] uint64_t rows_of(const std::string& tensor, uint32_t dimension = 1) const {
    const TensorEntry* entry = planner.find(tensor);
    return entry == nullptr ? 0 : entry->shape[dimension];
  }
  /// Floats of one row of the encoder's output: features of several layers lie side by side.
  [[nodiscard]] uint64_t n_features() const { return uint64_t{p.n_embd} * std::max<size_t>(p.features.size(), 1); }
  /// first [n_in, whatever the file says], second [that, n_out]; without a second, first gives n_out.
  void adapter(ProjectorAdapter& to, const std::string& first, const std::string& second, uint64_t n_in,
               Need need_second = Need::kRequired) {
    const uint64_t n_hidden = rows_of(first + ".weight");
    planner.linear(to.first, first, n_in, n_hidden);
    n_out = n_hidden;
    const uint64_t n_second = rows_of(second + ".weight");
    if (planner.linear(to.second, second, n_hidden, n_second, need_second)) n_out = n_second;
  }
};

/// Encoder, then projector, then what is left over is ignored, as libmtmd does. Sets plan.n_out and p.n_run.
void plan_vision(VisionPlan& plan);

}  // namespace ggufscope
