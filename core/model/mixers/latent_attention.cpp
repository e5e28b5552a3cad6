// Multi-head latent attention of DeepSeek-V2 (2024): keys and values are computed from one low-rank vector for each
// token.
//
// With attn_k_b and attn_v_b, the expansion is absorbed into queries and outputs, and the cache holds the latent vector
// and the rotated part [kv_lora_rank + n_rot] once for all heads. Files without them (attn_kv_b) expand keys and
// values.
#include "model/mixers/latent_attention.hpp"

#include <algorithm>
#include <cstring>

#include "model/mixers/attention.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

const LatentSize& latent_of(const Hparams& h, const LayerParameters& layer) {
  return layer.windowed ? h.part<LatentSizes>().windowed : h.part<LatentSizes>().full;
}

}  // namespace

LatentShape latent_shape(const Hparams& h, const LayerParameters& layer) {
  const LatentSize& own = latent_of(h, layer);
  const bool absorbed = own.d_k != 0;
  const uint64_t d_k = absorbed ? own.d_k : layer.d_k, d_v = absorbed ? own.d_v : layer.d_v;
  return {layer.n_head, d_k, d_v, layer.n_rot, d_k - layer.n_rot, own.rank, absorbed};
}

namespace {

void plan_latent_attention(const LayerPlan& plan, LayerWeights& weights) {
  LatentAttentionWeights& w = weights.mixer.create<LatentAttentionWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const LatentShape s = latent_shape(h, plan.layer);
  if (s.latent == 0 || (s.n_rot == 0 && plan.layer.use_rope) || s.n_rot > s.d_k || (s.absorbed && s.n_rot == s.d_k) ||
      s.d_v == 0)
    return p.refuse(ErrorCode::kOutOfRange,
                    "attention.kv_lora_rank or a head size of latent attention is missing or out of range");
  if (const uint64_t q_rank = h.part<LatentSizes>().q_rank; q_rank != 0 && p.has(plan.name("attn_q_a.weight"))) {
    p.linear(w.q_a, plan.name("attn_q_a"), h.n_embd, q_rank);
    p.affine(w.q_a_norm, plan.name("attn_q_a_norm"), q_rank);
    p.linear(w.q_b, plan.name("attn_q_b"), q_rank, s.n_head * s.d_k);
  } else {
    p.linear(w.q, plan.name("attn_q"), h.n_embd, s.n_head * s.d_k);
  }
  p.linear(w.kv_a, plan.name("attn_kv_a_mqa"), h.n_embd, s.latent + s.n_rot);
  p.affine(w.kv_a_norm, plan.name("attn_kv_a_norm"), s.latent);
  // dots3note normalizes the rotated part.
  p.affine(w.k_norm, plan.name("attn_k_norm"), s.n_rot, Need::kOptional);
  if (s.absorbed) {
    p.stack(w.k_b, plan.name("attn_k_b"), s.d_nope, s.latent, s.n_head);
    p.stack(w.v_b, plan.name("attn_v_b"), s.latent, s.d_v, s.n_head);
  } else {
    p.linear(w.kv_b, plan.name("attn_kv_b"), s.latent, s.n_head * (s.d_nope + s.d_v));
  }
  p.linear(w.out, plan.name("attn_output"), s.n_head * s.d_v, h.n_embd);
  plan_output_gate(plan, w.gate, s.n_head * s.d_v);
  p.vector(w.sinks, plan.name("attn_sinks.weight"), s.n_head, Need::kOptional);
  if (!plan.layer.has_indexer) return;
  w.indexer = std::make_unique<IndexerWeights>();
  plan_indexer(plan, *w.indexer);
}

// Sizes and activations of one layer.
struct LatentPass {
  size_t n, n_head, n_rot, d_k, d_v, d_nope, latent, cached;
  float* low;               // [n_tokens, q_lora_rank]
  float* q;                 // [n_tokens, n_head, d_nope | n_rot]
  float* kv;                // [n_tokens, latent | n_rot]
  float* compressed;        // [n_tokens, latent]
  float* mixed;             // [n_tokens, n_head, d_v]
  float* wide;              // absorbed queries, or expanded keys and values
  float* middle;            // mixed latents, or keys
  float* values;            // [n_tokens, n_head, d_v]
  float *one_in, *one_out;  // one head of all tokens
  float* gate;
};

LatentPass begin_latent(Pass& pass, const LayerParameters& layer, const LatentAttentionWeights& w) {
  const LatentShape s = latent_shape(pass.h(), layer);
  LatentPass a{};
  const size_t n = pass.n_tokens, n_head = layer.n_head;
  a.n = n;
  a.n_head = n_head;
  a.n_rot = layer.n_rot;
  a.d_k = static_cast<size_t>(s.d_k);
  a.d_v = static_cast<size_t>(s.d_v);
  a.d_nope = a.d_k - a.n_rot;
  a.latent = static_cast<size_t>(s.latent);
  a.cached = a.latent + a.n_rot;
  a.low = pass.take(n, pass.h().part<LatentSizes>().q_rank);
  a.q = pass.take(n, n_head, a.d_k);
  a.kv = pass.take(n, a.cached);
  a.compressed = pass.take(n, a.latent);
  a.mixed = pass.take(n, n_head, a.d_v);
  a.wide = pass.take(n, n_head, std::max(a.cached, a.d_nope + a.d_v));
  a.middle = pass.take(n, n_head, std::max(a.latent, a.d_k));
  a.values = pass.take(n, n_head, a.d_v);
  a.one_in = pass.take(n, std::max(a.d_nope, a.latent));
  a.one_out = pass.take(n, std::max(a.latent, a.d_v));
  a.gate = pass.take(n, w.gate.n_out);
  return a;
}

// Computes queries and latent vectors, normalized and rotated.
void project_latents(Pass& pass, size_t il, const float* x, const LatentPass& a) {
  const Hparams& h = pass.h();
  const LatentAttentionWeights& w = pass.mixer<LatentAttentionWeights>(il);
  const size_t n = a.n;
  apply(pass.pool, {{&w.kv_a, a.kv}, {&w.q_a, a.low}, {&w.q, a.q}, {&w.gate, a.gate}}, x, n);
  if (w.q_a) {
    normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.q_a_norm, a.low, n, h.part<LatentSizes>().q_rank, a.low);
    apply(pass.pool, w.q_b, a.low, n, a.q);
  }
  if (w.indexer != nullptr) choose_positions(pass, il, *w.indexer, x, a.low);
  rotate(pass, il, a.q, a.n_head * a.d_k, a.n_head, a.d_k, a.d_nope);
  for (size_t t = 0; t < n && w.k_norm; ++t) {
    float* rotated = a.kv + t * a.cached + a.latent;
    normalize(NormKind::kRms, rotated, w.k_norm.weight.data(), nullptr, a.n_rot, h.norm_eps, rotated);
  }
  rotate(pass, il, a.kv, a.cached, 1, a.cached, a.latent);
  for (size_t t = 0; t < n; ++t) {
    float* row = a.kv + t * a.cached;
    normalize(NormKind::kRms, row, w.kv_a_norm.weight.data(), nullptr, a.latent, h.norm_eps, row);
  }
  if (h.temperature_scale != 0)
    for (size_t t = 0; t < n; ++t)
      vec::scale(a.q + t * a.n_head * a.d_k, query_temperature(h, pass.positions[t]), a.n_head * a.d_k);
}

// Attention to the latent vectors themselves, with attn_k_b applied to the queries and attn_v_b to the result.
void attend_to_latents(Pass& pass, size_t il, const AttentionOptions& options, const LatentPass& a) {
  const LatentAttentionWeights& w = pass.mixer<LatentAttentionWeights>(il);
  const size_t n = a.n, n_head = a.n_head, d_k = a.d_k, d_v = a.d_v, d_nope = a.d_nope, latent = a.latent;
  float* queries = a.wide;  // [n_tokens, n_head, latent | n_rot]
  for (size_t head = 0; head < n_head; ++head) {
    for (size_t t = 0; t < n; ++t)
      std::memcpy(a.one_in + t * d_nope, a.q + (t * n_head + head) * d_k, d_nope * sizeof(float));
    apply(pass.pool, w.k_b, head, a.one_in, n, a.one_out);
    for (size_t t = 0; t < n; ++t) {
      float* to = queries + (t * n_head + head) * a.cached;
      std::memcpy(to, a.one_out + t * latent, latent * sizeof(float));
      std::memcpy(to + latent, a.q + (t * n_head + head) * d_k + d_nope, a.n_rot * sizeof(float));
    }
  }
  attend(pass, il, {n_head, 1, a.cached, latent}, options, queries, a.kv, nullptr, a.middle);
  for (size_t head = 0; head < n_head; ++head) {
    for (size_t t = 0; t < n; ++t)
      std::memcpy(a.one_in + t * latent, a.middle + (t * n_head + head) * latent, latent * sizeof(float));
    apply(pass.pool, w.v_b, head, a.one_in, n, a.one_out);
    for (size_t t = 0; t < n; ++t)
      std::memcpy(a.mixed + (t * n_head + head) * d_v, a.one_out + t * d_v, d_v * sizeof(float));
  }
}

// Attention to keys and values that attn_kv_b computes from the latent vectors.
void attend_to_expanded(Pass& pass, size_t il, const AttentionOptions& options, const LatentPass& a) {
  const size_t n = a.n, n_head = a.n_head, d_k = a.d_k, d_v = a.d_v, d_nope = a.d_nope, latent = a.latent;
  for (size_t t = 0; t < n; ++t) std::memcpy(a.compressed + t * latent, a.kv + t * a.cached, latent * sizeof(float));
  apply(pass.pool, pass.mixer<LatentAttentionWeights>(il).kv_b, a.compressed, n,
        a.wide);  // [n_tokens, n_head, d_nope | d_v]
  for (size_t i = 0; i < n * n_head; ++i) {
    const float* from = a.wide + i * (d_nope + d_v);
    std::memcpy(a.middle + i * d_k, from, d_nope * sizeof(float));
    std::memcpy(a.middle + i * d_k + d_nope, a.kv + i / n_head * a.cached + latent, a.n_rot * sizeof(float));
    std::memcpy(a.values + i * d_v, from + d_nope, d_v * sizeof(float));
  }
  attend(pass, il, {n_head, n_head, d_k, d_v}, options, a.q, a.middle, a.values, a.mixed);
}

void run_latent_attention(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  const LatentAttentionWeights& w = pass.mixer<LatentAttentionWeights>(il);
  const ArenaScope scope(pass.state.arena);
  const LatentPass a = begin_latent(pass, layer, w);
  if (pass.counting()) {
    if (w.indexer != nullptr) choose_positions(pass, il, *w.indexer, nullptr, nullptr);
    return;
  }
  project_latents(pass, il, x, a);
  AttentionOptions options = attention_options(h, a.d_k);
  options.sinks = w.sinks.data();
  if (latent_shape(h, layer).absorbed) {
    attend_to_latents(pass, il, options, a);
  } else {
    attend_to_expanded(pass, il, options, a);
  }
  if (w.gate) gate_heads(pass, il, a.gate, w.gate.n_out, a.d_v, a.mixed);
  apply(pass.pool, w.out, a.mixed, a.n, y);
}

// Expanded latent attention has keys for every head; the file's number of key heads is ignored.
CacheShape latent_cache(const Hparams& h, const LayerParameters& layer) {
  if (h.part<LatentSizes>().full.d_k != 0) return {1, size_t{latent_of(h, layer).rank} + layer.n_rot, 0};
  return {layer.n_head, layer.d_k, layer.d_v};
}

void read_latent(Keys& keys, const Architecture&, Hparams& h) {
  LatentSizes& sizes = h.parts.edit<LatentSizes>();
  keys.u32("attention.q_lora_rank", sizes.q_rank);
  keys.u32("attention.kv_lora_rank", sizes.full.rank);
  keys.u32("attention.key_length_mla", sizes.full.d_k, 1u << 16);
  keys.u32("attention.value_length_mla", sizes.full.d_v, 1u << 16);
  sizes.windowed = sizes.full;
}

}  // namespace

const Mixer kLatentAttentionMixer{.read = read_latent,
                                  .plan = plan_latent_attention,
                                  .run = run_latent_attention,
                                  .cache = latent_cache,
                                  .further_rows = indexer_rows};

}  // namespace ggufscope
