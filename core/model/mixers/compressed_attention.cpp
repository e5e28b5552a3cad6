// Attention of DeepSeek-V4 (2026): a sliding window of positions, and earlier blocks of `ratio` positions that are
// compressed to one key each, which is also the value. Each element of a block's key is a weighted mean over its
// positions,
//
//   key = rope(norm(sum over s of softmax_s(gate(x_s) + ape[s mod ratio]) kv(x_s))).
//
// With ratio 4, a block also reads the one before it through a second set of projections, and an indexer, whose keys
// are compressed in the same way, selects the best blocks. The inputs of unfinished blocks are stored in the window's
// cells. A block's key is stored in the cell of its last position.
#include "model/mixers/compressed_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/mixers/indexer.hpp"
#include "model/mixers/latent_attention.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kOverlapping = 4;                                              // the ratio with overlapping blocks
constexpr size_t kPending = 0, kBlocks = 1, kIndexPending = 2, kIndexBlocks = 3;  // further rows

uint64_t sets(uint32_t ratio) { return ratio == kOverlapping ? 2 : 1; }

void plan_compressor(const LayerPlan& plan, CompressorWeights& w, std::string_view name, uint64_t d) {
  Planner& p = plan.planner;
  const uint64_t ratio = plan.layer.compress_ratio, n = sets(plan.layer.compress_ratio) * d;
  const std::string prefix = plan.name(name) + "_compressor_";
  p.matrix(w.kv, prefix + "kv", plan.h.n_embd, n);
  p.matrix(w.gate, prefix + "gate", plan.h.n_embd, n);
  p.vector(w.ape, prefix + "ape.weight", n * ratio);
  p.affine(w.norm, prefix + "norm", d);
}

void plan_compressed_attention(const LayerPlan& plan, LayerWeights& weights) {
  CompressedAttentionWeights& w = weights.mixer.create<CompressedAttentionWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const CompressedSizes& s = h.part<CompressedSizes>();
  const LayerParameters& layer = plan.layer;
  const uint64_t n_out = uint64_t{layer.n_head} * layer.d_k;
  if (s.n_groups == 0 || layer.n_head % s.n_groups != 0 || h.part<LatentSizes>().q_rank == 0 || layer.d_v != layer.d_k)
    return p.refuse(ErrorCode::kOutOfRange, "attention.output_group_count, q_lora_rank or a head size is out of range");
  p.matrix(w.q_a, plan.name("attn_q_a"), h.n_embd, h.part<LatentSizes>().q_rank);
  p.affine(w.q_a_norm, plan.name("attn_q_a_norm"), h.part<LatentSizes>().q_rank);
  p.matrix(w.q_b, plan.name("attn_q_b"), h.part<LatentSizes>().q_rank, n_out);
  p.matrix(w.k, plan.name("attn_kv"), h.n_embd, layer.d_k);
  p.affine(w.k_norm, plan.name("attn_kv_a_norm"), layer.d_k);
  p.split_stack(w.out_a, plan.name("attn_output_a.weight"), n_out / s.n_groups, s.out_rank, s.n_groups);
  p.matrix(w.out, plan.name("attn_output_b"), uint64_t{s.n_groups} * s.out_rank, h.n_embd);
  p.vector(w.sinks, plan.name("attn_sinks.weight"), layer.n_head);
  if (layer.compress_ratio == 0) return;
  plan_compressor(plan, w.compressor, "attn", layer.d_k);
  if (layer.compress_ratio != kOverlapping) return;
  const uint64_t d = h.part<IndexerSizes>().d_k;
  p.matrix(w.index_q, plan.name("indexer.attn_q_b"), h.part<LatentSizes>().q_rank, h.part<IndexerSizes>().n_head * d);
  p.matrix(w.index_head_weights, plan.name("indexer.proj"), h.n_embd, h.part<IndexerSizes>().n_head);
  plan_compressor(plan, w.index_compressor, "indexer", d);
}

FurtherRows compressed_rows(const Hparams& h, const LayerParameters& layer) {
  FurtherRows rows;
  if (layer.compress_ratio == 0) return rows;
  rows[kPending] = {2 * static_cast<size_t>(sets(layer.compress_ratio)) * layer.d_k, true};
  rows[kBlocks] = {layer.d_k, false};
  if (layer.compress_ratio != kOverlapping) return rows;
  rows[kIndexPending] = {4 * size_t{h.part<IndexerSizes>().d_k}, true};
  rows[kIndexBlocks] = {h.part<IndexerSizes>().d_k, false};
  return rows;
}

// The angles are those of compressed layers (table 0) or of the others (1). backwards: inverse rotation.
void turn(const Pass& pass, const LayerParameters& layer, float* x, size_t n_heads, size_t d, size_t t,
          bool backwards = false) {
  const size_t which = layer.compress_ratio != 0 ? 0 : 1, half = layer.n_rot / 2;
  const float* sines = pass.sines[which] + t * half;
  std::vector<float> negated;
  if (backwards)
    for (size_t i = 0; i < half; ++i) negated.push_back(-sines[i]);
  rope(pass.h().rope_kind, x + d - layer.n_rot, n_heads, d, layer.n_rot, pass.cosines[which] + t * half,
       backwards ? negated.data() : sines);
}

// The cells of a sequence, indexed by position.
const std::vector<uint32_t>& cells_by_position(Pass& pass, int32_t sequence) {
  auto& all = pass.cells_by_position;
  if (all.empty()) all.resize(kMaxSequences);
  std::vector<uint32_t>& own = all[static_cast<size_t>(sequence)];
  if (!own.empty()) return own;
  const std::vector<Cell>& cells = pass.state.cells();
  for (uint32_t c = 0; c < cells.size(); ++c) {
    if ((cells[c].sequences >> sequence & 1) == 0) continue;
    const size_t position = static_cast<size_t>(cells[c].position);
    if (own.size() <= position) own.resize(position + 1, UINT32_MAX);
    own[position] = c;
  }
  return own;
}

struct Compressor {
  const CompressorWeights& weights;
  size_t pending, blocks, d;
};

// The key of the block that ends at token t, computed from its positions' rows.
void compress(const Pass& pass, size_t il, const Compressor& c, std::span<const uint32_t> cells, size_t t, float* key) {
  const LayerParameters& layer = pass.layer(il);
  const size_t ratio = layer.compress_ratio, n_sets = static_cast<size_t>(sets(layer.compress_ratio));
  const size_t n = n_sets * c.d, end = static_cast<size_t>(pass.positions[t]) + 1;
  const CacheView cache = pass.state.further(il, c.pending);
  std::vector<const float*> rows;  // empty for a block before the first
  std::vector<size_t> offsets;
  for (size_t back = n_sets * ratio; back > 0; --back) {
    if (back > end || cells[end - back] == UINT32_MAX) continue;
    const int32_t slot =
        layer.windowed ? pass.state.slot_of(cells[end - back]) : static_cast<int32_t>(cells[end - back]);
    if (slot < 0) continue;
    rows.push_back(reinterpret_cast<const float*>(cache.keys) + static_cast<size_t>(slot) * 2 * n);
    offsets.push_back(n_sets == 2 && back <= ratio ? c.d : 0);
  }
  std::vector<float> scores(rows.size());
  for (size_t i = 0; i < c.d; ++i) {
    for (size_t r = 0; r < rows.size(); ++r) scores[r] = rows[r][n + offsets[r] + i];
    softmax(scores.data(), scores.size());
    float sum = 0;
    for (size_t r = 0; r < rows.size(); ++r) sum += scores[r] * rows[r][offsets[r] + i];
    key[i] = sum;
  }
  normalize(NormKind::kRms, key, c.weights.norm.weight.data(), nullptr, c.d, pass.h().norm_eps, key);
  std::vector<float> cosines(layer.n_rot / 2), sines(layer.n_rot / 2);
  rope_angles(pass.state.rope_tables[0], static_cast<int32_t>(end - ratio), cosines.data(), sines.data());
  rope(pass.h().rope_kind, key + c.d - layer.n_rot, 1, c.d, layer.n_rot, cosines.data(), sines.data());
}

// Stores the projections of tokens x [n_tokens, n_embd], and computes the keys of completed blocks.
void compress_tokens(Pass& pass, size_t il, const Compressor& c, const float* x) {
  const LayerParameters& layer = pass.layer(il);
  const size_t n_tokens = pass.n_tokens, n = static_cast<size_t>(sets(layer.compress_ratio)) * c.d;
  const size_t ratio = layer.compress_ratio;
  const ArenaScope scope(pass.state.arena);
  float* kv = pass.take(n_tokens, n);
  float* gate = pass.take(n_tokens, n);
  float* rows = pass.take(n_tokens, 2, n);
  if (pass.counting()) return;
  apply(pass.pool, {{&c.weights.kv, kv}, {&c.weights.gate, gate}}, x, n_tokens);
  const CacheView pending = pass.state.further(il, c.pending), blocks = pass.state.further(il, c.blocks);
  for (size_t t = 0; t < n_tokens; ++t) {
    float* row = rows + t * 2 * n;
    std::memcpy(row, kv + t * n, n * sizeof(float));
    std::memcpy(row + n, gate + t * n, n * sizeof(float));
    vec::add(row + n, c.weights.ape.data() + static_cast<size_t>(pass.positions[t]) % ratio * n, n);
    const uint32_t at = layer.windowed ? pass.state.batch_slots[t] : pass.state.batch_cells[t];
    cache_store(pending, {1, 1, 2 * n, 0}, at, row, nullptr);
  }
  for (size_t t = 0; t < n_tokens; ++t) cells_by_position(pass, pass.sequences[t]);
  each_token(pass.pool, Operation::kAttention, n_tokens, [&](size_t t) {
    if ((static_cast<size_t>(pass.positions[t]) + 1) % ratio != 0) return;
    std::vector<float> key(c.d);
    compress(pass, il, c, pass.cells_by_position[static_cast<size_t>(pass.sequences[t])], t, key.data());
    cache_store(blocks, {1, 1, c.d, 0}, pass.state.batch_cells[t], key.data(), nullptr);
  });
}

void load_row(const CacheView& cache, size_t cell, size_t d, float* out) {
  const size_t row_bytes = cache_row_bytes(cache.types.keys, d);
  load_cache_rows(cache.types.keys, cache.keys + cell * row_bytes, row_bytes, 1, d, out);
  if (is_quantized(cache.types.keys)) hadamard(out, d, cache.key_width);
}

// The cells of the blocks that token t attends to.
std::vector<uint32_t> chosen_blocks(const Pass& pass, size_t il, size_t t, const float* q, const float* head_weights) {
  const IndexerSizes& s = pass.h().part<IndexerSizes>();
  const size_t ratio = pass.layer(il).compress_ratio;
  const std::vector<uint32_t>& cells = pass.cells_by_position[static_cast<size_t>(pass.sequences[t])];
  std::vector<uint32_t> blocks;
  for (size_t end = ratio; end <= static_cast<size_t>(pass.positions[t]) + 1; end += ratio)
    if (cells[end - 1] != UINT32_MAX) blocks.push_back(cells[end - 1]);
  if (ratio != kOverlapping) return blocks;
  const CacheView cache = pass.state.further(il, kIndexBlocks);
  std::vector<float> scores(blocks.size(), 0.0f), row(s.d_k);
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t head = 0; head < s.n_head; ++head)
      scores[i] +=
          head_weights[head] * std::max(cached_dot(cache, blocks[i], s.d_k, q + head * s.d_k, row.data()), 0.0f);
  std::vector<uint32_t> order;
  best_of(scores, s.top_k, order);
  for (uint32_t& i : order) i = blocks[i];
  return order;
}

// Attention of one token's heads q [n_head, d] over rows of keys, which are also the values.
void attend_rows(const CompressedAttentionWeights& w, const float* q, size_t n_head, size_t d,
                 const std::vector<float>& rows, float* out) {
  const size_t n = rows.size() / d;
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  std::vector<float> scores(n);
  for (size_t head = 0; head < n_head; ++head) {
    for (size_t i = 0; i < n; ++i) scores[i] = scale * vec::dot(q + head * d, rows.data() + i * d, d);
    softmax(scores.data(), n, w.sinks.data() + head);
    float* to = out + head * d;
    std::memset(to, 0, d * sizeof(float));
    for (size_t i = 0; i < n; ++i) vec::add_scaled(to, scores[i], rows.data() + i * d, d);
  }
}

// Activations of one layer.
struct CompressedPass {
  size_t il;
  float* low;                      // [n_tokens, q_lora_rank]
  float *q, *mixed;                // [n_tokens, n_head, d]
  float* kv;                       // [n_tokens, d]
  float* grouped;                  // [n_tokens, n_groups, rank]
  float *index_q, *index_weights;  // [n_tokens, n_index, d_index], [n_tokens, n_index]
};

CompressedPass take_buffers(Pass& pass, size_t il) {
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, d = pass.layer(il).d_k, n_head = pass.layer(il).n_head;
  CompressedPass a{};
  a.il = il;
  a.low = pass.take(n, h.part<LatentSizes>().q_rank);
  a.q = pass.take(n, n_head, d);
  a.kv = pass.take(n, d);
  a.mixed = pass.take(n, n_head, d);
  a.grouped = pass.take(n, h.part<CompressedSizes>().n_groups, h.part<CompressedSizes>().out_rank);
  a.index_q = pass.take(n, h.part<IndexerSizes>().n_head, h.part<IndexerSizes>().d_k);
  a.index_weights = pass.take(n, h.part<IndexerSizes>().n_head);
  return a;
}

// Computes the queries, and stores the keys of the window.
void project_window(Pass& pass, const float* x, const CompressedPass& a) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(a.il);
  const CompressedAttentionWeights& w = pass.mixer<CompressedAttentionWeights>(a.il);
  const size_t n = pass.n_tokens, n_head = layer.n_head, d = layer.d_k;
  apply(pass.pool, {{&w.q_a, a.low}, {&w.k, a.kv}}, x, n);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.q_a_norm, a.low, n, h.part<LatentSizes>().q_rank, a.low);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.k_norm, a.kv, n, d, a.kv);
  apply(pass.pool, w.q_b, a.low, n, a.q);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, {}, a.q, n * n_head, d, a.q);
  const CacheView cache = pass.state.cache(a.il);
  for (size_t t = 0; t < n; ++t) {
    turn(pass, layer, a.q + t * n_head * d, n_head, d, t);
    turn(pass, layer, a.kv + t * d, 1, d, t);
    cache_store(cache, {n_head, 1, d, d}, layer.windowed ? pass.state.batch_slots[t] : pass.state.batch_cells[t],
                a.kv + t * d, nullptr);
  }
}

void project_indexer(Pass& pass, const float* x, const CompressedPass& a) {
  const CompressedAttentionWeights& w = pass.mixer<CompressedAttentionWeights>(a.il);
  const size_t n = pass.n_tokens, n_head = pass.h().part<IndexerSizes>().n_head, d = pass.h().part<IndexerSizes>().d_k;
  compress_tokens(pass, a.il, {w.index_compressor, kIndexPending, kIndexBlocks, d}, x);
  if (pass.counting()) return;
  apply(pass.pool, w.index_q, a.low, n, a.index_q);
  apply(pass.pool, w.index_head_weights, x, n, a.index_weights);
  vec::scale(a.index_weights, 1.0f / std::sqrt(static_cast<float>(n_head * d)), n * n_head);
  for (size_t t = 0; t < n; ++t) turn(pass, pass.layer(a.il), a.index_q + t * n_head * d, n_head, d, t);
}

// Attention of token t to its window and to compressed blocks.
void attend_token(const Pass& pass, const CompressedPass& a, const CacheView& cache, const CacheView& blocks,
                  size_t t) {
  const LayerParameters& layer = pass.layer(a.il);
  const size_t n_head = layer.n_head, d = layer.d_k;
  std::vector<uint32_t> seen;
  for (const CellRun& run : layer.windowed ? pass.state.visible_windowed[t] : pass.state.visible_full[t])
    for (uint32_t c = run.begin; c < run.end; ++c) seen.push_back(c);
  const size_t n_window = seen.size();
  const IndexerSizes& index = pass.h().part<IndexerSizes>();
  if (layer.compress_ratio != 0)
    for (const uint32_t c :
         chosen_blocks(pass, a.il, t, a.index_q + t * index.n_head * index.d_k, a.index_weights + t * index.n_head))
      seen.push_back(c);
  std::vector<float> rows(seen.size() * d);
  for (size_t i = 0; i < seen.size(); ++i) load_row(i < n_window ? cache : blocks, seen[i], d, rows.data() + i * d);
  float* mixed = a.mixed + t * n_head * d;
  attend_rows(pass.mixer<CompressedAttentionWeights>(a.il), a.q + t * n_head * d, n_head, d, rows, mixed);
  turn(pass, layer, mixed, n_head, d, t, true);
}

// The first projection of the output, with a matrix for each group of heads.
void project_groups(Pass& pass, const CompressedPass& a) {
  const size_t n = pass.n_tokens, n_groups = pass.h().part<CompressedSizes>().n_groups,
               rank = pass.h().part<CompressedSizes>().out_rank;
  const size_t n_in = pass.layer(a.il).n_head * pass.layer(a.il).d_k / n_groups;
  const ArenaScope scope(pass.state.arena);
  float* one_in = pass.take(n, n_in);  // one group of all tokens
  float* one_out = pass.take(n, rank);
  if (pass.counting()) return;
  for (size_t g = 0; g < n_groups; ++g) {
    for (size_t t = 0; t < n; ++t)
      std::memcpy(one_in + t * n_in, a.mixed + (t * n_groups + g) * n_in, n_in * sizeof(float));
    apply(pass.pool, pass.mixer<CompressedAttentionWeights>(a.il).out_a, g, one_in, n, one_out);
    for (size_t t = 0; t < n; ++t)
      std::memcpy(a.grouped + (t * n_groups + g) * rank, one_out + t * rank, rank * sizeof(float));
  }
}

void run_compressed_attention(Pass& pass, size_t il, const float* x, float* y) {
  const LayerParameters& layer = pass.layer(il);
  const CompressedAttentionWeights& w = pass.mixer<CompressedAttentionWeights>(il);
  State& state = pass.state;
  const size_t n = pass.n_tokens;
  const ArenaScope scope(pass.state.arena);
  const CompressedPass a = take_buffers(pass, il);
  if (!pass.counting()) project_window(pass, x, a);
  if (layer.compress_ratio != 0) compress_tokens(pass, il, {w.compressor, kPending, kBlocks, layer.d_k}, x);
  if (layer.compress_ratio == kOverlapping) project_indexer(pass, x, a);
  if (!pass.counting()) {
    const CacheView cache = state.cache(il), blocks = state.further(il, kBlocks);
    each_token(pass.pool, Operation::kAttention, n, [&](size_t t) { attend_token(pass, a, cache, blocks, t); });
  }
  project_groups(pass, a);
  if (pass.counting()) return;
  apply(pass.pool, w.out, a.grouped, n, y);
}

CacheShape compressed_cache(const Hparams&, const LayerParameters& layer) { return {1, layer.d_k, 0}; }

}  // namespace

const Mixer kCompressedAttentionMixer{.plan = plan_compressed_attention,
                                      .run = run_compressed_attention,
                                      .cache = compressed_cache,
                                      .further_rows = compressed_rows};

}  // namespace ggufscope
