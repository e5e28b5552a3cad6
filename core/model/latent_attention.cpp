// Multi-head latent attention of DeepSeek-V2 (2024): keys and values are computed from one low-rank vector for each
// token.
//
// With attn_k_b and attn_v_b, the expansion is absorbed into queries and outputs, and the cache holds the latent vector
// and the rotated part [kv_lora_rank + n_rot] once for all heads. Files without them (attn_kv_b) expand keys and
// values.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/mixer.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

struct Sizes {
  uint64_t n_head, d_k, d_v, n_rot, d_nope, latent;
  bool absorbed;
};

Sizes sizes_of(const Hparams& h, const LayerParameters& layer) {
  const LatentSizes& own = latent_of(h, layer);
  const bool absorbed = own.d_k != 0;
  const uint64_t d_k = absorbed ? own.d_k : layer.d_k, d_v = absorbed ? own.d_v : layer.d_v;
  return {layer.n_head, d_k, d_v, layer.n_rot, d_k - layer.n_rot, own.rank, absorbed};
}

}  // namespace

void plan_latent_attention(const LayerPlan& plan, LayerWeights& weights) {
  AttentionWeights& w = weights.attention;
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const Sizes s = sizes_of(h, plan.layer);
  if (s.latent == 0 || s.n_rot == 0 || s.n_rot > s.d_k || (s.absorbed && s.n_rot == s.d_k) || s.d_v == 0)
    return p.refuse(ErrorCode::kOutOfRange,
                    "attention.kv_lora_rank or a head size of latent attention is missing or out of range");
  if (h.q_lora_rank != 0 && p.has(plan.name("attn_q_a.weight"))) {
    p.linear(w.q_a, plan.name("attn_q_a"), h.n_embd, h.q_lora_rank);
    p.affine(w.q_a_norm, plan.name("attn_q_a_norm"), h.q_lora_rank);
    p.linear(w.q_b, plan.name("attn_q_b"), h.q_lora_rank, s.n_head * s.d_k);
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
  plan_output_gate(plan, w, s.n_head * s.d_v);
  if (plan.layer.has_indexer) plan_indexer(plan, weights);
}

uint64_t latent_attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                                 uint64_t n) {
  const Sizes s = sizes_of(h, layer);
  const uint64_t cached = s.latent + s.n_rot;
  return arena_floats(n * h.q_lora_rank, n * s.n_head * s.d_k, n * cached, n * s.latent, n * s.n_head * s.d_v,
                      n * s.n_head * std::max(cached, s.d_nope + s.d_v), n * s.n_head * std::max(s.latent, s.d_k),
                      n * s.n_head * s.d_v, n * std::max(s.d_nope, s.latent), n * std::max(s.latent, s.d_v),
                      n * weights.attention.gate.n_out) +
         (layer.has_indexer ? indexer_floats(h, n) : 0);
}

void run_latent_attention(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  const AttentionWeights& w = pass.weights(il).attention;
  const Sizes s = sizes_of(h, layer);
  const size_t n = pass.n_tokens, n_head = layer.n_head, n_rot = layer.n_rot;
  const size_t d_k = static_cast<size_t>(s.d_k), d_v = static_cast<size_t>(s.d_v),
               latent = static_cast<size_t>(s.latent);
  const size_t d_nope = d_k - n_rot, cached = latent + n_rot;
  const size_t mark = pass.state.arena.mark();
  float* low = pass.take(n * h.q_lora_rank);
  float* q = pass.take(n * n_head * d_k);     // [n_tokens, n_head, d_nope | n_rot]
  float* kv = pass.take(n * cached);          // [n_tokens, latent | n_rot]
  float* compressed = pass.take(n * latent);  // [n_tokens, latent]
  float* mixed = pass.take(n * n_head * d_v);
  float* wide =
      pass.take(n * n_head * std::max(cached, d_nope + d_v));     // absorbed queries, or expanded keys and values
  float* middle = pass.take(n * n_head * std::max(latent, d_k));  // mixed latents, or keys
  float* values = pass.take(n * n_head * d_v);
  float* one_in = pass.take(n * std::max(d_nope, latent));  // one head of all tokens
  float* one_out = pass.take(n * std::max(latent, d_v));
  float* gate = pass.take(n * w.gate.n_out);

  apply(pass.pool, {{&w.kv_a, kv}, {&w.q_a, low}, {&w.q, q}, {&w.gate, gate}}, x, n);
  if (w.q_a) {
    normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.q_a_norm, low, n, h.q_lora_rank, low);
    apply(pass.pool, w.q_b, low, n, q);
  }
  if (layer.has_indexer) choose_positions(pass, il, x, low);
  rotate(pass, il, q, n_head * d_k, n_head, d_k, d_nope);
  for (size_t t = 0; t < n && w.k_norm; ++t)
    normalize(NormKind::kRms, kv + t * cached + latent, w.k_norm.weight.data(), nullptr, n_rot, h.norm_eps,
              kv + t * cached + latent);
  rotate(pass, il, kv, cached, 1, cached, latent);
  for (size_t t = 0; t < n; ++t)
    normalize(NormKind::kRms, kv + t * cached, w.kv_a_norm.weight.data(), nullptr, latent, h.norm_eps, kv + t * cached);
  if (h.temperature_scale != 0)
    for (size_t t = 0; t < n; ++t)
      vec::scale(q + t * n_head * d_k, query_temperature(h, pass.positions[t]), n_head * d_k);

  AttentionOptions options;
  options.scale = h.attention_scale != 0 ? h.attention_scale : 1.0f / std::sqrt(static_cast<float>(d_k));
  if (s.absorbed) {
    float* queries = wide;  // [n_tokens, n_head, latent | n_rot]
    for (size_t head = 0; head < n_head; ++head) {
      for (size_t t = 0; t < n; ++t)
        std::memcpy(one_in + t * d_nope, q + (t * n_head + head) * d_k, d_nope * sizeof(float));
      apply(pass.pool, w.k_b, head, one_in, n, one_out);
      for (size_t t = 0; t < n; ++t) {
        float* to = queries + (t * n_head + head) * cached;
        std::memcpy(to, one_out + t * latent, latent * sizeof(float));
        std::memcpy(to + latent, q + (t * n_head + head) * d_k + d_nope, n_rot * sizeof(float));
      }
    }
    attend(pass, il, {n_head, 1, cached, latent}, options, queries, kv, nullptr, middle);
    for (size_t head = 0; head < n_head; ++head) {
      for (size_t t = 0; t < n; ++t)
        std::memcpy(one_in + t * latent, middle + (t * n_head + head) * latent, latent * sizeof(float));
      apply(pass.pool, w.v_b, head, one_in, n, one_out);
      for (size_t t = 0; t < n; ++t)
        std::memcpy(mixed + (t * n_head + head) * d_v, one_out + t * d_v, d_v * sizeof(float));
    }
  } else {
    for (size_t t = 0; t < n; ++t) std::memcpy(compressed + t * latent, kv + t * cached, latent * sizeof(float));
    apply(pass.pool, w.kv_b, compressed, n, wide);  // [n_tokens, n_head, d_nope | d_v]
    for (size_t i = 0; i < n * n_head; ++i) {
      const float* from = wide + i * (d_nope + d_v);
      std::memcpy(middle + i * d_k, from, d_nope * sizeof(float));
      std::memcpy(middle + i * d_k + d_nope, kv + i / n_head * cached + latent, n_rot * sizeof(float));
      std::memcpy(values + i * d_v, from + d_nope, d_v * sizeof(float));
    }
    attend(pass, il, {n_head, n_head, d_k, d_v}, options, q, middle, values, mixed);
  }
  if (w.gate) gate_heads(pass, il, w, gate, d_v, mixed);
  apply(pass.pool, w.out, mixed, n, y);
  pass.state.arena.release(mark);
}

}  // namespace ggufscope
