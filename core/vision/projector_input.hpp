// What a projector's function sees: the encoded patches of one image part, and the means to compute with them.
#pragma once

#include "model/state.hpp"
#include "vision/projector.hpp"

namespace ggufscope {

struct ProjectorInput {
  const VisionParameters& p;
  const VisionWeights& w;
  Pool& pool;
  Arena& arena;
  uint32_t columns = 0, rows = 0;  ///< of patches
  TokenGrid grid;
  const float* encoded = nullptr;      ///< [n_patches (+ 1), n_features], in the encoder's order
  const uint32_t* place_of = nullptr;  ///< [rows * columns]: where the patch of a row and a column stands
  size_t n_features = 0;               ///< floats of a row of `encoded`
  size_t n_out = 0;
  float* out = nullptr;  ///< [grid.n_tokens, n_out]

  /// to [n_tokens, merge * merge * n_features]: the patches of each token side by side, row by row; those beyond the
  /// image are 0.
  void merge_patches(float* to) const;
  /// to [n_tokens, n_features]: their mean.
  void pool_patches(float* to) const;
  /// by: of rows of n elements, in place.
  void normalize(const Affine& by, float* x, size_t n_rows, size_t n, NormKind kind, float eps) const;
  /// out = second(activation(norm_between(first(x)))), norm_after of it; without a second, of the activation.
  void adapt(const ProjectorAdapter& adapter, const float* x, size_t n_rows, Activation activation, float* to) const;
};

/// In place. Of both GELUs the argument and the value are rounded to half precision, as ggml's table of them does: the
/// encoders' outputs are compared with its own.
void activate_rounded(Activation activation, float* x, size_t n);

/// Floats of the arena that any projector takes for n_patches patches.
[[nodiscard]] uint64_t projection_floats(const VisionParameters& p, const VisionWeights& w, uint64_t n_patches,
                                         uint64_t n_tokens, uint64_t n_out);

}  // namespace ggufscope
