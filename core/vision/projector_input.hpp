// The arguments of a projector's function: the encoded patches of one image part, and helpers to compute with them.
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
  const uint32_t* place_of = nullptr;  ///< [rows * columns]: index of each patch in `encoded`
  size_t n_features = 0;               ///< floats in a row of `encoded`
  size_t n_out = 0;
  float* out = nullptr;             ///< [grid.n_tokens, n_out]
  uint8_t* cache = nullptr;         ///< for keys and values of all patches
  float* thread_scratch = nullptr;  ///< thread_floats for each thread
  size_t thread_floats = 0;

  /// to [n_tokens, merge * merge * n_features]: concatenates the patches of each token, row by row. Patches outside the
  /// image are 0. side: patches to a side of a token, if not p.merge.
  void merge_patches(float* to, uint32_t side = 0) const;
  /// to [n_tokens, n_features]: averages the patches of each token.
  void pool_patches(float* to) const;
  /// Normalizes rows of n elements in place.
  void normalize(const Affine& by, float* x, size_t n_rows, size_t n, NormKind kind, float eps) const;
  /// out = norm_after(second(activation(norm_between(first(x))))). Without a second matrix, that step is left out.
  void adapt(const ProjectorAdapter& adapter, const float* x, size_t n_rows, float* to) const;
};

/// Several projections of the same x, each with its limits.
void apply_limited(Pool& pool, Arena& arena, const VisionWeights& w, std::initializer_list<Projection> projections,
                   const float* x, size_t n_rows);
/// The heads of MiniCPM-V's resampler.
[[nodiscard]] AttentionShape resampler_shape(size_t n_out);

/// Applies the activation in place. For both GELUs, argument and value are rounded to half precision like ggml's lookup
/// table, so that outputs can be compared with llama.cpp's.
void activate_rounded(Activation activation, float* x, size_t n);

}  // namespace ggufscope
