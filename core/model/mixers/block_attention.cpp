// Attention to only the best blocks of positions (MiniMax-M3, 2026). Each group of heads that shares keys has an index
// head. A block's score is that of its best position that the token may attend to,
//
//   score(t, b) = max over positions s of block b of q_g(t) . k(s).
//
// Attention uses the top_k blocks with the best scores, which always include the last local_blocks.
#include "model/mixers/block_attention.hpp"

#include <algorithm>
#include <cfloat>
#include <cstring>

#include "model/mixers/attention.hpp"

namespace ggufscope {

void plan_block_indexer(const LayerPlan& plan, IndexerWeights& w) {
  Planner& p = plan.planner;
  const IndexerSizes& s = plan.h.part<IndexerSizes>();
  if (s.d_k == 0 || s.top_k == 0 || plan.layer.n_rot > s.d_k || s.n_head != plan.layer.n_head_kv)
    return p.refuse(ErrorCode::kOutOfRange,
                    "attention.indexer.* is out of range, or has not one head for each key head");
  p.matrix(w.q, plan.name("indexer.q_proj"), plan.h.n_embd, uint64_t{s.n_head} * s.d_k);
  p.matrix(w.k, plan.name("indexer.k_proj"), plan.h.n_embd, s.d_k);
  p.affine(w.q_norm, plan.name("indexer.q_norm"), s.d_k);
  p.affine(w.k_norm, plan.name("indexer.k_norm"), s.d_k);
}

namespace {

// The cells that a token attends to in its best blocks.
void choose_blocks(const Pass& pass, const CacheView& cache, size_t t, const float* q, std::vector<CellRun>& runs) {
  const IndexerSizes& s = pass.h().part<IndexerSizes>();
  const int32_t here = pass.positions[t] / static_cast<int32_t>(s.block);
  std::vector<float> scores(static_cast<size_t>(here) + 1, -FLT_MAX), row(s.d_k);
  const auto block_of = [&](uint32_t cell) { return static_cast<size_t>(pass.state.cell_positions[cell]) / s.block; };
  for (const CellRun& run : pass.state.visible_full[t])
    for (uint32_t c = run.begin; c < run.end; ++c) {
      float& best = scores[std::min(block_of(c), scores.size() - 1)];
      best = std::max(best, cached_dot(cache, c, s.d_k, q, row.data()));
    }
  for (size_t l = 0; l < std::min<size_t>(s.local_blocks, scores.size()); ++l) scores[scores.size() - 1 - l] += 1e30f;
  std::vector<uint32_t> best;
  best_of(scores, s.top_k, best);
  for (const CellRun& run : pass.state.visible_full[t])
    for (uint32_t c = run.begin; c < run.end; ++c)
      if (std::binary_search(best.begin(), best.end(), static_cast<uint32_t>(block_of(c)))) add_cell(runs, c);
}

}  // namespace

void attend_blocks(Pass& pass, size_t il, const IndexerWeights& w, const AttentionOptions& options, const float* x,
                   const float* q, const float* k, const float* v, float* out) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  State& state = pass.state;
  const size_t n = pass.n_tokens, d = h.part<IndexerSizes>().d_k, n_index = h.part<IndexerSizes>().n_head;
  const ArenaScope scope(pass.state.arena);
  const size_t d_k = layer.d_k, d_v = layer.d_v, n_kv = layer.n_head_kv, group = layer.n_head / n_kv;
  float* index_q = pass.take(n, n_index, d);
  float* index_k = pass.take(n, d);
  float* queries = pass.take(n, group, d_k);  // of one key head
  float* results = pass.take(n, group, d_v);
  if (pass.counting()) return;
  apply(pass.pool, {{&w.q, index_q}, {&w.k, index_k}}, x, n);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.q_norm, index_q, n * n_index, d, index_q);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.k_norm, index_k, n, d, index_k);
  rotate(pass, il, index_q, n_index * d, n_index, d, 0, h.part<IndexerSizes>().rope);
  rotate(pass, il, index_k, d, 1, d, 0, h.part<IndexerSizes>().rope);

  const CacheView index = state.further(il, 0), cache = state.cache(il);
  for (size_t t = 0; t < n; ++t) {
    cache_store(index, {1, 1, d, 0}, state.batch_cells[t], index_k + t * d, nullptr);
    cache_store(cache, {layer.n_head, n_kv, d_k, d_v}, state.batch_cells[t], k + t * n_kv * d_k, v + t * n_kv * d_v);
  }
  std::vector<std::vector<CellRun>> runs(n);
  std::vector<std::span<const CellRun>> visible(n);
  for (size_t head = 0; head < n_kv; ++head) {
    each_token(pass.pool, Operation::kAttention, n, [&](size_t t) {
      runs[t].clear();
      choose_blocks(pass, index, t, index_q + (t * n_index + head) * d, runs[t]);
      visible[t] = runs[t];
      std::memcpy(queries + t * group * d_k, q + (t * n_kv + head) * group * d_k, group * d_k * sizeof(float));
    });
    CacheView own = cache;
    own.keys += head * cache.n_cells * cache_row_bytes(cache.types.keys, d_k);
    own.values += head * cache.n_cells * cache_row_bytes(cache.types.values, d_v);
    attention(pass.pool, {group, 1, d_k, d_v}, options, own, queries, n, visible, pass.positions.data(),
              state.cell_positions.data(), reinterpret_cast<float*>(state.thread_scratch.data()),
              state.thread_scratch_floats, results);
    for (size_t t = 0; t < n; ++t)
      std::memcpy(out + (t * n_kv + head) * group * d_v, results + t * group * d_v, group * d_v * sizeof(float));
  }
}

}  // namespace ggufscope
