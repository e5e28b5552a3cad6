// Runs a Q-Former over windows of frames.
#include "audio/q_former.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/activation.hpp"

namespace ggufscope {
namespace {

constexpr float kQFormerEps = 1e-12f;

void plan_q_attention(Planner& planner, QFormerAttention& w, const std::string& name, uint64_t n, uint64_t n_from) {
  planner.linear(w.q, name + "_q", n, n);
  planner.linear(w.k, name + "_k", n_from, n);
  planner.linear(w.v, name + "_v", n_from, n);
  planner.linear(w.out, name + "_out", n, n);
  planner.affine(w.norm, name + "_norm", n);
}

}  // namespace

uint64_t QFormer::plan(Planner& planner, const std::string& prefix, size_t n_layers) {
  const uint64_t n = shape.n_embd;
  planner.vector(queries, prefix + "proj_query", n * shape.n_queries);
  planner.affine(norm, prefix + "proj_norm", n);
  layers.resize(n_layers);
  for (size_t i = 0; i < n_layers; ++i) {
    QFormerLayer& layer = layers[i];
    const std::string block = prefix + "proj_blk." + std::to_string(i) + ".";
    plan_q_attention(planner, layer.self, block + "self_attn", n, n);
    plan_q_attention(planner, layer.cross, block + "cross_attn", n, shape.n_features);
    const TensorEntry* up = planner.find(block + "ffn_up.weight");
    const uint64_t n_ff = up == nullptr ? 0 : up->shape[1];
    planner.linear(layer.up, block + "ffn_up", n, n_ff);
    planner.linear(layer.down, block + "ffn_down", n_ff, n);
    planner.affine(layer.ffn_norm, block + "ffn_norm", n);
  }
  const TensorEntry* last = planner.find(prefix + "proj_linear.weight");
  const uint64_t n_out = last == nullptr ? 0 : last->shape[1];
  planner.linear(out, prefix + "proj_linear", n, n_out);
  return n_out;
}

// x [n_windows * n_queries, n_embd] = norm(x + attention of x over `from`), where each window sees its n_from rows.
void QFormer::attend(Pool& pool, Arena& arena, const QFormerAttention& w, const float* from, size_t n_from,
                     size_t n_windows, float* x) const {
  const size_t mark = arena.mark(), n = shape.n_embd, n_tokens = n_windows * shape.n_queries;
  float* q = arena.take(n_tokens * n);
  float* mixed = arena.take(n_tokens * n);
  float* k = arena.take(n_windows * n_from * n);
  float* v = arena.take(n_windows * n_from * n);
  apply(pool, w.q, x, n_tokens, q);
  apply(pool, {{&w.k, k}, {&w.v, v}}, from, n_windows * n_from);
  RelativeAttention a{.n_head = shape.n_head, .d = n / shape.n_head};
  a.scale = 1 / std::sqrt(static_cast<float>(a.d));
  a.queries = q, a.keys = k, a.values = v;
  std::vector<KeySpan> visible(n_tokens);
  for (size_t t = 0; t < n_tokens; ++t) {
    const size_t first = t / shape.n_queries * n_from;
    visible[t] = {first, first + n_from};
  }
  const size_t thread_floats = static_cast<size_t>(Arena::round_up(relative_attention_scratch(a.d, n_from)));
  attend_relative(pool, a, n_tokens, visible.data(), arena.take(thread_floats * pool.n_threads()), thread_floats,
                  mixed);
  apply(pool, w.out, mixed, n_tokens, q);
  add_rows(pool, x, q, n_tokens, n);
  normalize_rows(pool, kQFormerEps, NormKind::kLayer, w.norm, x, n_tokens, n, x);
  arena.release(mark);
}

void QFormer::run(Pool& pool, Arena& arena, const float* x, size_t n_frames, float* result) const {
  const size_t mark = arena.mark(), n = shape.n_embd, n_windows = shape.n_windows(n_frames);
  const size_t n_tokens = n_windows * shape.n_queries, n_padded = n_windows * shape.window;
  float* frames = arena.take(n_padded * shape.n_features);
  if (!arena.counting()) {
    std::memcpy(frames, x, n_frames * shape.n_features * sizeof(float));
    std::fill(frames + n_frames * shape.n_features, frames + n_padded * shape.n_features, 0.0f);
  }
  float* tokens = arena.take(n_tokens * n);
  for (size_t i = 0; i < n_windows; ++i)
    normalize_rows(pool, kQFormerEps, NormKind::kLayer, norm, queries.data(), shape.n_queries, n,
                   tokens + i * shape.n_queries * n);
  for (const QFormerLayer& layer : layers) {
    attend(pool, arena, layer.self, tokens, shape.n_queries, n_windows, tokens);
    attend(pool, arena, layer.cross, frames, shape.window, n_windows, tokens);
    const size_t inner = arena.mark(), n_ff = layer.up.n_out;
    float* wide = arena.take(n_tokens * n_ff);
    float* added = arena.take(n_tokens * n);
    apply(pool, layer.up, tokens, n_tokens, wide);
    each_token(pool, Operation::kGate, n_tokens,
               [&](size_t t) { activate(Activation::kGeluHalf, wide + t * n_ff, n_ff); });
    apply(pool, layer.down, wide, n_tokens, added);
    add_rows(pool, tokens, added, n_tokens, n);
    normalize_rows(pool, kQFormerEps, NormKind::kLayer, layer.ffn_norm, tokens, n_tokens, n, tokens);
    arena.release(inner);
  }
  apply(pool, out, tokens, n_tokens, result);
  arena.release(mark);
}

}  // namespace ggufscope
