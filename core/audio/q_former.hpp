// A Q-Former (Li et al. 2023, BLIP-2): a few trained queries that attend to each other and to a window of frames. Every
// window gives as many tokens as there are queries.
#pragma once

#include "audio/relative_attention.hpp"
#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

struct QFormerAttention {
  Linear q, k, v, out;
  Affine norm;  // after the sum with the input
};

struct QFormerLayer {
  QFormerAttention self, cross;
  Linear up, down;
  Affine ffn_norm;
};

struct QFormerShape {
  uint32_t n_embd = 0, n_head = 0, n_queries = 0;
  uint32_t n_features = 0;  ///< elements of a frame
  uint32_t window = 0;      ///< frames
  [[nodiscard]] size_t n_windows(size_t n_frames) const { return (n_frames + window - 1) / window; }
};

struct QFormer {
  QFormerShape shape;
  Vector queries;  // [n_queries, n_embd]
  Affine norm;
  std::vector<QFormerLayer> layers;
  Linear out;

  /// Plans the tensors "{prefix}proj_..." with so many layers. Returns the elements of a token.
  uint64_t plan(Planner& planner, const std::string& prefix, size_t n_layers);
  /// x [n_frames, n_features] -> out [n_windows * n_queries, out.n_out]
  void run(Pool& pool, Arena& arena, const float* x, size_t n_frames, float* result) const;

 private:
  void attend(Pool& pool, Arena& arena, const QFormerAttention& w, const float* from, size_t n_from, size_t n_windows,
              float* x) const;
};

}  // namespace ggufscope
