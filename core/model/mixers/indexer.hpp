// Selection of the positions that a token attends to: see indexer.cpp.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

struct IndexerSizes {
  uint32_t n_head = 0;
  uint32_t d_k = 0;
  uint32_t top_k = 0;         ///< number of positions or blocks to select
  uint32_t block = 0;         ///< 0: selects single positions
  uint32_t local_blocks = 0;  ///< the last ones, always selected
  float norm_eps = 0;
  RopeKind rope = RopeKind::kHalves;
  uint32_t pool = 0;          ///< keys of so many positions are pooled to one; 0: none
  bool selects_tail = true;   ///< the positions of the unfinished pool are selected, too
  bool means = false;         ///< a pool's key is the mean of its keys, then normalized and rotated (Qwen 4)
  bool rotates_last = false;  ///< the last elements of a key are rotated, not the first
};

struct IndexerWeights {
  Linear q, k, head_weights;
  Affine q_norm, k_norm;
  Linear pool_gate;
  Vector pool_positions;  // [pool, d_k]: added to the gates
};

void plan_indexer(const LayerPlan& plan, IndexerWeights& w);
/// The same for an indexer whose pools have mean keys. It reads the layer's input only.
void plan_mean_indexer(const LayerPlan& plan, IndexerWeights& w);
/// Sets pass.chosen_runs from x [n_tokens, n_embd] and the compressed queries low [n_tokens, q_lora_rank].
void choose_positions(Pass& pass, size_t il, const IndexerWeights& w, const float* x, const float* low);
/// The same for an indexer whose pools have mean keys.
void choose_pools(Pass& pass, size_t il, const IndexerWeights& w, const float* x);
/// The additional row of a layer with an indexer: its keys.
FurtherRows indexer_rows(const Hparams& h, const LayerParameters& layer);

/// The indices of the k best scores, ascending.
void best_of(std::span<const float> scores, size_t k, std::vector<uint32_t>& order);
/// Dot product of x [d] with a cell's key, in a cache with one head. row [d]: scratch.
[[nodiscard]] float cached_dot(const CacheView& cache, size_t cell, size_t d, const float* x, float* row);
/// Appends a cell. It extends the last run if it lies next to it.
inline void add_cell(std::vector<CellRun>& runs, uint32_t cell) {
  if (runs.empty() || runs.back().end != cell) runs.push_back({cell, cell});
  runs.back().end = cell + 1;
}

}  // namespace ggufscope
