// Keys and values of the last positions are in a ring of cells that is carried over.
#include "speech/blocks.hpp"

#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// What all blocks of a run share.
struct BlockRun {
  Stream& s;
  const SpeechBlocks& b;
  size_t n = 0, n_cells = 0;
  uint64_t position = 0;
  float *cosines = nullptr, *sines = nullptr;
  std::vector<int32_t> positions{};                 // [n]
  std::vector<CellRun> cells{};                     // two for each row
  std::vector<std::span<const CellRun>> visible{};  // [n]
};

void find_visible(BlockRun& run) {
  run.cells.resize(2 * run.n);
  run.visible.resize(run.n);
  for (size_t t = 0; t < run.n; ++t) {
    const uint64_t last = run.position + t + 1, first = last - std::min<uint64_t>(last, run.b.window);
    const auto begin = static_cast<uint32_t>(first % run.n_cells);
    const auto length = static_cast<uint32_t>(last - first), end = begin + length;
    const auto n_cells = static_cast<uint32_t>(run.n_cells);
    CellRun* cells = &run.cells[2 * t];
    cells[0] = {begin, std::min(end, n_cells)};
    cells[1] = {0, end - std::min(end, n_cells)};
    run.visible[t] = {cells, cells[1].end == 0 ? size_t{1} : size_t{2}};
  }
}

void rotate(BlockRun& run, float* x, size_t n_head) {
  const size_t d = run.b.heads.d_k, half = d / 2;
  each_token(run.s.pool, Operation::kPositions, run.n, [&](size_t t) {
    rope(run.b.rope_kind, x + t * n_head * d, n_head, d, d, run.cosines + t * half, run.sines + t * half);
  });
}

void normalize_heads(BlockRun& run, const Affine& by, float* x, size_t n_head) {
  if (by) normalize_rows(run.s.pool, run.b.eps, NormKind::kRms, by, x, run.n * n_head, run.b.heads.d_k, x);
}

void add_scaled_rows(BlockRun& run, const Vector& scale, float* x, float* added) {
  const size_t n_embd = run.b.n_embd;
  each_token(run.s.pool, Operation::kAdd, run.n, [&](size_t t) {
    if (scale) vec::multiply(added + t * n_embd, scale.data(), n_embd);
    vec::add(x + t * n_embd, added + t * n_embd, n_embd);
  });
}

void attend(BlockRun& run, const SpeechBlock& w, float* x, float* normed) {
  Stream& s = run.s;
  const AttentionShape& a = run.b.heads;
  const ArenaScope scope(s.arena);
  float* keys = s.carry(a.n_head_kv, run.n_cells, a.d_k);
  float* values = s.carry(a.n_head_kv, run.n_cells, a.d_v);
  float* q = s.arena.take(run.n, a.n_head, a.d_k);
  float* k = s.arena.take(run.n, a.n_head_kv, a.d_k);
  float* v = s.arena.take(run.n, a.n_head_kv, a.d_v);
  float* mixed = s.arena.take(run.n, a.n_head, a.d_v);
  const size_t n_scratch = static_cast<size_t>(Arena::round_up(attention_scratch(a, run.n_cells)));
  float* scratch = s.arena.take(s.pool.n_threads(), n_scratch);
  if (s.counting()) return;
  normalize_rows(s.pool, run.b.eps, run.b.norm, w.norm_1, x, run.n, run.b.n_embd, normed);
  apply(s.pool, {{&w.q, q}, {&w.k, k}, {&w.v, v}}, normed, run.n);
  normalize_heads(run, w.q_norm, q, a.n_head);
  normalize_heads(run, w.k_norm, k, a.n_head_kv);
  rotate(run, q, a.n_head);
  rotate(run, k, a.n_head_kv);
  const CacheView cache{CacheTypes{}, reinterpret_cast<uint8_t*>(keys), reinterpret_cast<uint8_t*>(values), a.d_v,
                        run.n_cells};
  for (size_t t = 0; t < run.n; ++t)
    cache_store(cache, a, static_cast<size_t>((run.position + t) % run.n_cells), k + t * a.n_head_kv * a.d_k,
                v + t * a.n_head_kv * a.d_v);
  const AttentionOptions options{.scale = 1 / std::sqrt(static_cast<float>(a.d_k))};
  attention(s.pool, a, options, cache, q, run.n, run.visible, run.positions.data(), nullptr, scratch, n_scratch, mixed);
  apply(s.pool, w.out, mixed, run.n, normed);
  add_scaled_rows(run, w.scale_1, x, normed);
}

void feed_forward(BlockRun& run, const SpeechBlock& w, float* x, float* normed) {
  Stream& s = run.s;
  const size_t n = run.n, n_ff = run.b.n_ff;
  const ArenaScope scope(s.arena);
  float* wide = s.arena.take(n, n_ff);
  float* gate = w.gate ? s.arena.take(n, n_ff) : nullptr;
  if (s.counting()) return;
  normalize_rows(s.pool, run.b.eps, run.b.norm, w.norm_2, x, n, run.b.n_embd, normed);
  apply(s.pool, {{&w.up, wide}, {&w.gate, gate}}, normed, n);
  each_token(s.pool, Operation::kGate, n, [&](size_t t) {
    float* row = wide + t * n_ff;
    if (gate != nullptr) {
      activate_gated(run.b.activation, gate + t * n_ff, row, n_ff, row);
    } else {
      activate(run.b.activation, row, n_ff);
    }
  });
  apply(s.pool, w.down, wide, n, normed);
  add_scaled_rows(run, w.scale_2, x, normed);
}

}  // namespace

void SpeechBlocks::plan(SpeechPlan& plan, const std::string& prefix, size_t n_layer, size_t n_head, size_t n_head_kv) {
  Planner& p = plan.planner;
  if (n_head_kv == 0) n_head_kv = n_head;
  const uint64_t n_q = p.rows_of(prefix + "0.attn_q");
  n_ff = static_cast<size_t>(p.rows_of(prefix + "0.ffn_up"));
  if (n_head == 0 || n_head % n_head_kv != 0 || n_q % (2 * n_head) != 0 || n_q == 0)
    return p.refuse(ErrorCode::kBadShape, "tensor " + prefix + "0.attn_q.weight has " + counted(n_q, "row") + ", no " +
                                              counted(n_head, "head") + " of even length");
  const auto d = static_cast<size_t>(n_q / n_head);
  heads = {n_head, n_head_kv, d, d};
  blocks.resize(n_layer);
  for (size_t i = 0; i < n_layer && !p.failed(); ++i) {
    SpeechBlock& w = blocks[i];
    const std::string name = prefix + std::to_string(i) + ".";
    const Need bias = norm == NormKind::kLayer ? Need::kRequired : Need::kOptional;
    p.affine(w.norm_1, name + "ln1", n_embd, Need::kRequired, bias);
    p.affine(w.norm_2, name + "ln2", n_embd, Need::kRequired, bias);
    p.affine(w.q_norm, name + "attn_q_norm", d, Need::kOptional);
    p.affine(w.k_norm, name + "attn_k_norm", d, Need::kOptional);
    p.linear(w.q, name + "attn_q", n_embd, n_q);
    p.linear(w.k, name + "attn_k", n_embd, d * n_head_kv);
    p.linear(w.v, name + "attn_v", n_embd, d * n_head_kv);
    p.linear(w.out, name + "attn_out", n_q, n_embd);
    if (activation == Activation::kSilu) p.linear(w.gate, name + "ffn_gate", n_embd, n_ff);
    p.linear(w.up, name + "ffn_up", n_embd, n_ff);
    p.linear(w.down, name + "ffn_down", n_ff, n_embd);
    p.vector(w.scale_1, name + "ls1.weight", n_embd, Need::kOptional);
    p.vector(w.scale_2, name + "ls2.weight", n_embd, Need::kOptional);
  }
  rope = make_rope_table({.n_rot = static_cast<uint32_t>(d), .freq_base = rope_base}, {});
}

void run_blocks(Stream& s, const SpeechBlocks& b, float* x, size_t n, uint64_t position, size_t n_max) {
  const ArenaScope scope(s.arena);
  BlockRun run{.s = s, .b = b, .n = n, .n_cells = b.window - 1 + n_max, .position = position};
  const size_t half = b.heads.d_k / 2;
  run.cosines = s.arena.take(n, half);
  run.sines = s.arena.take(n, half);
  float* normed = s.arena.take(n, b.n_embd);
  if (!s.counting()) {
    find_visible(run);
    for (size_t t = 0; t < n; ++t) {
      run.positions.push_back(static_cast<int32_t>(position + t));
      rope_angles(b.rope, run.positions[t], run.cosines + t * half, run.sines + t * half);
    }
  }
  for (const SpeechBlock& w : b.blocks) {
    attend(run, w, x, normed);
    feed_forward(run, w, x, normed);
  }
}

}  // namespace ggufscope
