// Attention to only the best positions: the "lightning indexer" of DeepSeek-V3.2 (2025). Small separate heads score
// each position s that a token t may attend to,
//
//   score(t, s) = sum over heads h of w_h(t) max(q_h(t) . k(s), 0)
//
// and attention uses the top_k positions. The indexer's keys are cached in addition to those of attention. llama.cpp
// first multiplies q and k by a Hadamard matrix, which does not change their products.
#include "model/mixers/indexer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "model/mixers/attention.hpp"
#include "model/mixers/latent_attention.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

void plan_indexer(const LayerPlan& plan, IndexerWeights& w) {
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const uint64_t n_embd = h.n_embd, n_head = h.part<IndexerSizes>().n_head, d = h.part<IndexerSizes>().d_k;
  if (n_head == 0 || d == 0 || h.part<IndexerSizes>().top_k == 0 || plan.layer.n_rot > d)
    return p.refuse(ErrorCode::kOutOfRange, "attention.indexer.* is missing or out of range");
  p.matrix(w.q, plan.name("indexer.attn_q_b"), h.part<LatentSizes>().q_rank, n_head * d);
  p.matrix(w.k, plan.name("indexer.attn_k"), n_embd, d);
  p.matrix(w.head_weights, plan.name("indexer.proj"), n_embd, n_head);
  p.affine(w.k_norm, plan.name("indexer.k_norm"), d, Need::kRequired, Need::kRequired);
  const uint32_t pool = h.part<IndexerSizes>().pool;
  if (pool == 0) return;
  p.matrix(w.pool_gate, plan.name("indexer_compressor_gate"), n_embd, d);
  p.vector(w.pool_positions, plan.name("indexer_compressor_ape.weight"), d * pool);
}

void plan_mean_indexer(const LayerPlan& plan, IndexerWeights& w) {
  Planner& p = plan.planner;
  const IndexerSizes& s = plan.h.part<IndexerSizes>();
  if (plan.layer.n_rot > s.d_k)
    return p.refuse(ErrorCode::kOutOfRange, "rope.dimension_count is more than attention.indexer.key_length");
  p.matrix(w.q, plan.name("indexer.q_proj"), plan.h.n_embd, uint64_t{s.n_head} * s.d_k);
  p.matrix(w.k, plan.name("indexer.k_proj"), plan.h.n_embd, s.d_k);
  p.affine(w.q_norm, plan.name("indexer.q_norm"), s.d_k);
  p.affine(w.k_norm, plan.name("indexer.k_norm"), s.d_k);
}

namespace {

// The k best scores. Among equal scores, it selects the same as std::partial_sort in llama.cpp's builds: a heap of the
// first k with the worst on top, which better ones of the rest replace.
class BestHeap {
 public:
  BestHeap(std::vector<uint32_t>& order, std::span<const float> scores, size_t k)
      : order_(order), scores_(scores), k_(k) {
    order.resize(scores.size());
    std::iota(order.begin(), order.end(), 0u);
    for (size_t parent = k / 2; parent-- > 0;) sift(parent, order[parent]);
    for (size_t i = k; i < order.size(); ++i)
      if (better(order[i], order[0])) sift(0, std::exchange(order[i], order[0]));
    order.resize(k);
    std::sort(order.begin(), order.end());
  }

 private:
  [[nodiscard]] bool better(uint32_t a, uint32_t b) const { return scores_[a] > scores_[b]; }
  // The hole moves down to a leaf along the worse children; then the value moves up from there.
  void sift(size_t hole, uint32_t value) {
    const size_t top = hole;
    size_t child = hole;
    while (child < (k_ - 1) / 2) {
      child = 2 * (child + 1);
      if (better(order_[child], order_[child - 1])) --child;
      order_[hole] = order_[child];
      hole = child;
    }
    if (k_ % 2 == 0 && k_ >= 2 && child == (k_ - 2) / 2) {
      child = 2 * (child + 1);
      order_[hole] = order_[child - 1];
      hole = child - 1;
    }
    while (hole > top && better(order_[(hole - 1) / 2], value)) {
      order_[hole] = order_[(hole - 1) / 2];
      hole = (hole - 1) / 2;
    }
    order_[hole] = value;
  }

  std::vector<uint32_t>& order_;
  std::span<const float> scores_;
  size_t k_;
};

}  // namespace

void best_of(std::span<const float> scores, size_t k, std::vector<uint32_t>& order) {
  if (k >= scores.size()) {
    order.resize(scores.size());
    std::iota(order.begin(), order.end(), 0u);
  } else {
    BestHeap(order, scores, k);
  }
}

float cached_dot(const CacheView& cache, size_t cell, size_t d, const float* x, float* row) {
  if (cache.types.keys == CacheType::kF32) return vec::dot(reinterpret_cast<const float*>(cache.keys) + cell * d, x, d);
  const size_t row_bytes = cache_row_bytes(cache.types.keys, d);
  load_cache_rows(cache.types.keys, cache.keys + cell * row_bytes, row_bytes, 1, d, row);
  return vec::dot(row, x, d);
}

namespace {

// The sum of a pool's keys, weighted by the softmax of their gates, which each element has.
void pool_keys(const IndexerSizes& s, const float* positions, const float* rows, float* key) {
  const size_t d = s.d_k;
  std::vector<float> weights(s.pool);
  for (size_t i = 0; i < d; ++i) {
    for (size_t j = 0; j < s.pool; ++j) weights[j] = rows[(2 * j + 1) * d + i] + positions[j * d + i];
    softmax(weights.data(), s.pool);
    key[i] = 0;
    for (size_t j = 0; j < s.pool; ++j) key[i] += weights[j] * rows[2 * j * d + i];
  }
}

// The normalized mean of a pool's keys, rotated to the pool's first position.
void pool_means(const Pass& pass, size_t il, const Affine& norm, const Cell& first, const float* rows, float* key) {
  const Hparams& h = pass.h();
  const IndexerSizes& s = h.part<IndexerSizes>();
  const size_t n_rot = pass.layer(il).n_rot;
  std::memcpy(key, rows, s.d_k * sizeof(float));
  for (size_t j = 1; j < s.pool; ++j) vec::add(key, rows + j * s.d_k, s.d_k);
  vec::scale(key, 1.0f / static_cast<float>(s.pool), s.d_k);
  normalize(NormKind::kRms, key, norm.weight.data(), norm.bias.data(), s.d_k, h.norm_eps, key);
  const RopeTable& table = pass.state.rope_tables[0];
  std::vector<float> cosines(n_rot / 2), sines(n_rot / 2);
  if (first.order == 0) {
    rope_angles(table, first.position, cosines.data(), sines.data());
  } else {
    const int32_t axes[] = {first.position, first.position + static_cast<int32_t>(first.order >> 16),
                            first.position + static_cast<int32_t>(first.order & UINT16_MAX)};
    rope_angles(table, axes, cosines.data(), sines.data());
  }
  rope(h.rope_kind, key, 1, s.d_k, n_rot, cosines.data(), sines.data());
}

// Chooses among pools of keys. Pools are counted from the sequence's first position.
class Pools {
 public:
  Pools(const Pass& pass, size_t il, const IndexerWeights& w, const CacheView& cache)
      : pass_(pass), il_(il), s_(pass.h().part<IndexerSizes>()), w_(w), cache_(cache), number_of_(cache.n_cells, -1) {
    std::vector<float> rows(size_t{s_.pool} * n_row());
    for (size_t t = 0; t < pass.n_tokens; ++t) add(cells_of(t), rows);
  }

  // head_weights: nullptr if all heads weigh the same.
  void choose(size_t t, const float* q, const float* head_weights, std::vector<CellRun>& runs) const {
    const std::vector<uint32_t> cells = cells_of(t);
    const size_t n_pools = cells.size() / s_.pool, d = s_.d_k;
    std::vector<float> scores(n_pools, 0.0f);
    for (size_t p = 0; p < n_pools; ++p) {
      const float* key = keys_.data() + static_cast<size_t>(number_of_[last_of(cells, p)]) * d;
      for (size_t head = 0; head < s_.n_head; ++head)
        scores[p] +=
            (head_weights != nullptr ? head_weights[head] : 1.0f) * std::max(vec::dot(q + head * d, key, d), 0.0f);
    }
    std::vector<uint32_t> best, chosen;
    best_of(scores, s_.top_k / s_.pool, best);
    for (const uint32_t p : best)
      for (size_t j = 0; j < s_.pool; ++j) chosen.push_back(cells[p * s_.pool + j]);
    for (size_t i = n_pools * s_.pool; i < cells.size() && s_.selects_tail; ++i) chosen.push_back(cells[i]);
    for (const uint32_t cell : chosen) add_cell(runs, cell);
  }

 private:
  // The cells that a token may attend to, by position.
  [[nodiscard]] std::vector<uint32_t> cells_of(size_t t) const {
    std::vector<uint32_t> cells;
    for (const CellRun& run : pass_.state.visible_full[t])
      for (uint32_t c = run.begin; c < run.end; ++c) cells.push_back(c);
    const auto position = [&](uint32_t cell) { return pass_.state.cell_positions[cell]; };
    // Tokens of an image share a position; their cells have the image's order.
    if (!std::ranges::is_sorted(cells, {}, position)) std::ranges::stable_sort(cells, {}, position);
    return cells;
  }
  // Floats that a cell stores.
  [[nodiscard]] size_t n_row() const { return s_.means ? size_t{s_.d_k} : 2 * size_t{s_.d_k}; }
  [[nodiscard]] uint32_t last_of(const std::vector<uint32_t>& cells, size_t p) const {
    return cells[(p + 1) * s_.pool - 1];
  }
  // Computes the keys of the pools that have none yet. Sequences that share a cell share all before it.
  void add(const std::vector<uint32_t>& cells, std::vector<float>& rows) {
    const size_t n = n_row(), row_bytes = cache_row_bytes(cache_.types.keys, n);
    for (size_t p = 0; p < cells.size() / s_.pool; ++p) {
      int32_t& number = number_of_[last_of(cells, p)];
      if (number >= 0) continue;
      number = static_cast<int32_t>(keys_.size() / s_.d_k);
      for (size_t j = 0; j < s_.pool; ++j)
        load_cache_rows(cache_.types.keys, cache_.keys + cells[p * s_.pool + j] * row_bytes, row_bytes, 1, n,
                        rows.data() + j * n);
      keys_.resize(keys_.size() + s_.d_k);
      float* const key = keys_.data() + keys_.size() - s_.d_k;
      if (s_.means) {
        pool_means(pass_, il_, w_.k_norm, pass_.state.cells()[cells[p * s_.pool]], rows.data(), key);
      } else {
        pool_keys(s_, w_.pool_positions.data(), rows.data(), key);
      }
    }
  }

  const Pass& pass_;
  size_t il_;
  const IndexerSizes& s_;
  const IndexerWeights& w_;
  const CacheView& cache_;
  std::vector<int32_t> number_of_;  // of the pool that ends in a cell; -1: none
  std::vector<float> keys_;         // [pools, d_k]
};

// Sets the cells that each token attends to.
void set_chosen(Pass& pass, const std::vector<std::vector<CellRun>>& runs) {
  pass.chosen_runs.clear();
  pass.chosen.clear();
  for (const auto& own : runs) pass.chosen_runs.insert(pass.chosen_runs.end(), own.begin(), own.end());
  size_t begin = 0;
  for (const auto& own : runs) {
    pass.chosen.emplace_back(pass.chosen_runs.data() + begin, own.size());
    begin += own.size();
  }
}

}  // namespace

void choose_positions(Pass& pass, size_t il, const IndexerWeights& w, const float* x, const float* low) {
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, n_head = h.part<IndexerSizes>().n_head, d = h.part<IndexerSizes>().d_k;
  const ArenaScope scope(pass.state.arena);
  float* q = pass.take(n, n_head, d);
  float* k = pass.take(n, d);
  float* head_weights = pass.take(n, n_head);
  const size_t n_row = w.pool_gate ? 2 * d : d;
  float* gate = pass.take(n, w.pool_gate.n_out);
  float* rows = pass.take(n, n_row);  // of the cache: a key, and with pools its gate
  if (pass.counting()) return;
  apply(pass.pool, w.q, low, n, q);
  apply(pass.pool, {{&w.k, k}, {&w.head_weights, head_weights}, {&w.pool_gate, gate}}, x, n);
  normalize_rows(pass.pool, h.part<IndexerSizes>().norm_eps, NormKind::kLayer, w.k_norm, k, n, d, k);
  const size_t rotated_from = h.part<IndexerSizes>().rotates_last ? d - pass.layer(il).n_rot : 0;
  rotate(pass, il, q, n_head * d, n_head, d, rotated_from, h.part<IndexerSizes>().rope);
  rotate(pass, il, k, d, 1, d, rotated_from, h.part<IndexerSizes>().rope);
  vec::scale(head_weights, 1.0f / std::sqrt(static_cast<float>(n_head * d)), n * n_head);

  State& state = pass.state;
  const CacheView cache = state.further(il, 0);
  for (size_t t = 0; t < n; ++t) {
    std::memcpy(rows + t * n_row, k + t * d, d * sizeof(float));
    if (w.pool_gate) std::memcpy(rows + t * n_row + d, gate + t * d, d * sizeof(float));
    cache_store(cache, {1, 1, n_row, 0}, state.batch_cells[t], rows + t * n_row, nullptr);
  }
  const auto pools = w.pool_gate ? std::make_unique<Pools>(pass, il, w, cache) : nullptr;

  std::vector<std::vector<CellRun>> runs(n);
  each_token(pass.pool, Operation::kAttention, n, [&](size_t t) {
    if (pools) return pools->choose(t, q + t * n_head * d, head_weights + t * n_head, runs[t]);
    std::vector<uint32_t> cells, order;
    for (const CellRun& run : state.visible_full[t])
      for (uint32_t c = run.begin; c < run.end; ++c) cells.push_back(c);
    std::vector<float> scores(cells.size(), 0.0f), row(d);
    for (size_t i = 0; i < cells.size(); ++i)
      for (size_t head = 0; head < n_head; ++head) {
        const float product = cached_dot(cache, cells[i], d, q + (t * n_head + head) * d, row.data());
        scores[i] += head_weights[t * n_head + head] * std::max(product, 0.0f);
      }
    best_of(scores, h.part<IndexerSizes>().top_k, order);
    for (const uint32_t i : order) add_cell(runs[t], cells[i]);
  });
  set_chosen(pass, runs);
}

void choose_pools(Pass& pass, size_t il, const IndexerWeights& w, const float* x) {
  const Hparams& h = pass.h();
  const IndexerSizes& s = h.part<IndexerSizes>();
  const size_t n = pass.n_tokens, n_head = s.n_head, d = s.d_k;
  const ArenaScope scope(pass.state.arena);
  float* q = pass.take(n, n_head, d);
  float* k = pass.take(n, d);
  if (pass.counting()) return;
  apply(pass.pool, {{&w.q, q}, {&w.k, k}}, x, n);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.q_norm, q, n * n_head, d, q);
  rotate(pass, il, q, n_head * d, n_head, d, 0);
  const CacheView cache = pass.state.further(il, 0);
  for (size_t t = 0; t < n; ++t) cache_store(cache, {1, 1, d, 0}, pass.state.batch_cells[t], k + t * d, nullptr);
  const Pools pools(pass, il, w, cache);
  std::vector<std::vector<CellRun>> runs(n);
  each_token(pass.pool, Operation::kAttention, n,
             [&](size_t t) { pools.choose(t, q + t * n_head * d, nullptr, runs[t]); });
  set_chosen(pass, runs);
}

FurtherRows indexer_rows(const Hparams& h, const LayerParameters& layer) {
  FurtherRows rows;
  const IndexerSizes& s = h.part<IndexerSizes>();
  if (layer.has_indexer) rows[0] = {s.pool != 0 && !s.means ? 2 * size_t{s.d_k} : s.d_k, false};
  return rows;
}

}  // namespace ggufscope
