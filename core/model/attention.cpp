// Multi-head attention of the shared decoder, with the variations that the registry's rows select.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/mixer.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// A norm of queries or keys: over each head if its tensor has d elements, otherwise over all heads of a row.
void plan_qk_norm(const LayerPlan& plan, AttentionWeights& w, Affine& norm, std::string_view part, size_t n_head,
                  size_t d) {
  const Architecture& a = plan.architecture;
  if (a.qk_norm == QkNorm::kUnweighted) {
    norm.present = true;
    if (part == "attn_q_norm") plan.planner.vector(w.q_scale, plan.name("attn_q_norm.weight"), n_head, Need::kOptional);
    return;
  }
  const std::string name = plan.name(part);
  const TensorEntry* entry = plan.planner.find(name + ".weight");
  const bool whole = entry != nullptr && entry->shape[0] * entry->shape[1] != d;
  if (entry != nullptr && entry->shape[0] == d && entry->shape[1] == n_head && entry->n_dims > 1)
    w.norms_by_head = true;
  plan.planner.affine(norm, name, whole ? n_head * d : d,
                      a.qk_norm == QkNorm::kRequired ? Need::kRequired : Need::kOptional);
}

void normalize_heads(const Pass& pass, const AttentionWeights& w, const Affine& norm, float* x, size_t n_head,
                     size_t d) {
  if (!norm) return;
  const NormKind kind = pass.model.architecture().qk_norm_kind;
  const float eps = pass.h().head_norm_eps != 0 ? pass.h().head_norm_eps : pass.h().norm_eps;
  const bool whole = norm.weight && norm.weight.n != d && !w.norms_by_head;
  if (whole) {
    for (size_t t = 0; t < pass.n_tokens; ++t)
      normalize(kind, x + t * n_head * d, norm.weight.data(), norm.bias.data(), n_head * d, eps, x + t * n_head * d);
    return;
  }
  each_token(pass.pool, Operation::kNorm, pass.n_tokens, [&](size_t t) {
    for (size_t head = 0; head < n_head; ++head) {
      float* row = x + (t * n_head + head) * d;
      const size_t at = w.norms_by_head ? head * d : 0;
      const float* weight = norm.weight ? norm.weight.data() + at : nullptr;
      normalize(kind, row, weight, norm.bias ? norm.bias.data() + at : nullptr, d, eps, row);
    }
  });
}

void clamp(float* x, size_t n, float limit) {
  for (size_t i = 0; i < n; ++i) x[i] = std::clamp(x[i], -limit, limit);
}

}  // namespace

void plan_output_gate(const LayerPlan& plan, AttentionWeights& w, uint64_t n_out) {
  const TensorEntry* gate = plan.planner.find(plan.name("attn_gate.weight"));
  const bool by_head = gate != nullptr && gate->shape[1] == plan.layer.n_head;
  plan.planner.linear(w.gate, plan.name("attn_gate"), plan.h.n_embd, by_head ? plan.layer.n_head : n_out,
                      Need::kOptional);
}

void gate_heads(const Pass& pass, size_t il, const AttentionWeights& w, float* gate, size_t d_v, float* mixed) {
  const size_t n_head = pass.layer(il).n_head, n_gate = w.gated_query ? n_head * d_v : w.gate.n_out;
  const size_t n = pass.n_tokens * n_gate;
  if (pass.model.architecture().softplus_gate) {
    for (size_t i = 0; i < n; ++i) gate[i] = softplus(gate[i]);
  } else {
    activate(Activation::kSigmoid, gate, n);
  }
  if (n_gate == n_head * d_v) return vec::multiply(mixed, gate, n);
  for (size_t i = 0; i < n; ++i) vec::scale(mixed + i * d_v, gate[i], d_v);
}

float query_temperature(const Hparams& h, int32_t position) {
  const float chunk =
      std::floor((static_cast<float>(position) + h.temperature_offset) / static_cast<float>(h.temperature_length));
  return std::log(chunk + 1.0f) * h.temperature_scale + 1.0f;
}

void rotate(Pass& pass, size_t il, float* x, size_t token_stride, size_t n_heads, size_t head_stride, size_t offset) {
  rotate(pass, il, x, token_stride, n_heads, head_stride, offset, pass.h().rope_kind);
}

void rotate(Pass& pass, size_t il, float* x, size_t token_stride, size_t n_heads, size_t head_stride, size_t offset,
            RopeKind kind) {
  const LayerParameters& layer = pass.layer(il);
  if (!layer.use_rope) return;
  const size_t which = layer.windowed ? 1 : 0, half = layer.n_rot / 2;
  each_token(pass.pool, Operation::kPositions, pass.n_tokens, [&](size_t t) {
    rope(kind, x + t * token_stride + offset, n_heads, head_stride, layer.n_rot, pass.cosines[which] + t * half,
         pass.sines[which] + t * half);
  });
}

void plan_attention(const LayerPlan& plan, LayerWeights& weights) {
  AttentionWeights& w = weights.attention;
  Planner& p = plan.planner;
  const LayerParameters& layer = plan.layer;
  const uint64_t n_embd = plan.h.n_embd;
  const uint64_t n_q = uint64_t{layer.n_head} * layer.d_k, n_k = uint64_t{layer.n_head_kv} * layer.d_k;
  const uint64_t n_v = uint64_t{layer.n_head_kv} * layer.d_v, n_out = uint64_t{layer.n_head} * layer.d_v;
  w.gated_query = plan.architecture.gated_query;
  if (p.has(plan.name("attn_qkv.weight"))) {
    p.linear(w.qkv, plan.name("attn_qkv"), n_embd, n_q + n_k + n_v);
  } else {
    p.linear(w.q, plan.name("attn_q"), n_embd, w.gated_query ? 2 * n_q : n_q);
    if (layer.kv_layer == plan.il) {
      p.linear(w.k, plan.name("attn_k"), n_embd, n_k);
      p.linear(w.v, plan.name("attn_v"), n_embd, n_v,
               plan.architecture.normalize_values ? Need::kOptional : Need::kRequired);
      if (!w.v && n_v != n_k) p.refuse(ErrorCode::kBadShape, "values cannot be the keys of another size");
    }
  }
  p.linear(w.out, plan.name(p.has(plan.name("attn_o.weight")) ? "attn_o" : "attn_output"), n_out, n_embd);
  plan_qk_norm(plan, w, w.q_norm, "attn_q_norm", layer.n_head, layer.d_k);
  if (w.qkv || w.k) plan_qk_norm(plan, w, w.k_norm, "attn_k_norm", layer.n_head_kv, layer.d_k);
  p.affine(w.sub_norm, plan.name("attn_sub_norm"), n_out, Need::kOptional);
  plan_output_gate(plan, w, n_out);
  if (plan.h.n_relative_buckets != 0)
    p.vector(w.relative_bias, plan.name("attn_rel_b.weight"), uint64_t{layer.n_head} * plan.h.n_relative_buckets,
             plan.il == 0 ? Need::kRequired : Need::kOptional);
  p.vector(w.sinks, plan.name("attn_sinks.weight"), layer.n_head, Need::kOptional);
  if (layer.has_indexer) plan_block_indexer(plan, weights);
}

uint64_t attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights&, uint64_t n_tokens) {
  const uint64_t n_q = uint64_t{layer.n_head} * layer.d_k, n_k = uint64_t{layer.n_head_kv} * layer.d_k;
  const uint64_t n_v = uint64_t{layer.n_head_kv} * layer.d_v, n_out = uint64_t{layer.n_head} * layer.d_v;
  return arena_floats(n_tokens * n_q, n_tokens * n_k, n_tokens * n_v, n_tokens * n_out,
                      n_tokens * std::max(2 * n_q, n_q + n_k + n_v), n_tokens * std::max(n_q, n_out)) +
         (layer.has_indexer ? block_attention_floats(h, layer, n_tokens) : 0);
}

void attend(Pass& pass, size_t il, const AttentionShape& shape, AttentionOptions options, float* q, const float* k,
            const float* v, float* out) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  State& state = pass.state;
  // The encoder uses the memory in which the first layer's keys and values of its output will be stored at the end.
  const CacheView cache = pass.encoding ? state.cross(0) : state.cache(layer.kv_layer);
  if (k != nullptr)
    each_token(pass.pool, Operation::kCache, pass.n_tokens, [&](size_t t) {
      cache_store(cache, shape, layer.windowed ? state.batch_slots[t] : state.batch_cells[t],
                  k + t * shape.n_head_kv * shape.d_k, v == nullptr ? nullptr : v + t * shape.n_head_kv * shape.d_v);
    });
  options.soft_cap = h.attention_soft_cap;
  if (h.max_alibi_bias > 0) options.slopes = pass.model.slopes().data();
  // T5: a layer without relative position biases uses those of the first layer.
  const AttentionWeights& first = pass.weights(0).attention;
  const AttentionWeights& own = pass.weights(il).attention;
  const Vector& buckets = own.relative_bias ? own.relative_bias : first.relative_bias;
  if (buckets) {
    options.buckets = buckets.data();
    options.n_buckets = h.n_relative_buckets;
    options.buckets_both_ways = pass.encoding || !h.causal;
  }
  const auto& visible = layer.chooses ? pass.chosen : layer.windowed ? state.visible_windowed : state.visible_full;
  attention(pass.pool, shape, options, cache, q, pass.n_tokens, visible, pass.positions.data(),
            layer.windowed ? state.slot_positions.data() : state.cell_positions.data(),
            reinterpret_cast<float*>(state.thread_scratch.data()), state.thread_scratch_floats, out);
}

void run_attention(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  const AttentionWeights& w = pass.weights(il).attention;
  const size_t n = pass.n_tokens, d_k = layer.d_k, d_v = layer.d_v;
  const size_t n_q = layer.n_head * d_k, n_k = layer.n_head_kv * d_k, n_v = layer.n_head_kv * d_v;
  const size_t n_out = layer.n_head * d_v;
  const size_t mark = pass.state.arena.mark();
  float* q = pass.take(n * n_q);        // [n_tokens, n_head, d_k]
  float* k = pass.take(n * n_k);        // [n_tokens, n_head_kv, d_k]
  float* v = pass.take(n * n_v);        // [n_tokens, n_head_kv, d_v]
  float* mixed = pass.take(n * n_out);  // [n_tokens, n_head, d_v]
  float* fused =
      pass.take(n * std::max(2 * n_q, n_q + n_k + n_v));  // queries, keys and values of a token, concatenated
  float* gate = pass.take(n * std::max(n_q, n_out));

  if (w.qkv) {
    apply(pass.pool, w.qkv, x, n, fused);
    for (size_t t = 0; t < n; ++t) {
      const float* row = fused + t * (n_q + n_k + n_v);
      std::memcpy(q + t * n_q, row, n_q * sizeof(float));
      std::memcpy(k + t * n_k, row + n_q, n_k * sizeof(float));
      std::memcpy(v + t * n_v, row + n_q + n_k, n_v * sizeof(float));
    }
  } else {
    apply(pass.pool, {{&w.q, w.gated_query ? fused : q}, {&w.k, k}, {&w.v, v}, {&w.gate, gate}}, x, n);
    if (w.gated_query)
      for (size_t i = 0; i < n * layer.n_head; ++i) {
        std::memcpy(q + i * d_k, fused + 2 * i * d_k, d_k * sizeof(float));
        std::memcpy(gate + i * d_k, fused + (2 * i + 1) * d_k, d_k * sizeof(float));
      }
    if (w.k && !w.v) std::memcpy(v, k, n * n_v * sizeof(float));
  }
  const bool own_keys = w.qkv || w.k;
  if (h.clamp_kqv > 0) {
    clamp(q, n * n_q, h.clamp_kqv);
    clamp(k, own_keys ? n * n_k : 0, h.clamp_kqv);
    clamp(v, own_keys ? n * n_v : 0, h.clamp_kqv);
  }
  const bool norm_last = pass.model.architecture().qk_norm_after_rope;
  for (const bool rotating : {norm_last, !norm_last}) {
    if (rotating) {
      rotate(pass, il, q, n_q, layer.n_head, d_k, 0);
      if (own_keys) rotate(pass, il, k, n_k, layer.n_head_kv, d_k, 0);
    } else if (pass.model.architecture().qk_norm != QkNorm::kUnweighted || layer.use_rope) {
      normalize_heads(pass, w, w.q_norm, q, layer.n_head, d_k);
      if (w.q_scale)
        for (size_t i = 0; i < n * layer.n_head; ++i) vec::scale(q + i * d_k, w.q_scale.data()[i % layer.n_head], d_k);
      if (own_keys) normalize_heads(pass, w, w.k_norm, k, layer.n_head_kv, d_k);
    }
  }
  if (pass.model.architecture().normalize_values && own_keys)
    for (size_t i = 0; i < n * layer.n_head_kv; ++i)
      normalize(NormKind::kRms, v + i * d_v, nullptr, nullptr, d_v, h.norm_eps, v + i * d_v);
  // Llama 4 scales the queries only of layers without RoPE.
  if (h.temperature_scale != 0 && (h.temperature_offset == 0 || !layer.use_rope))
    for (size_t t = 0; t < n; ++t) vec::scale(q + t * n_q, query_temperature(h, pass.positions[t]), n_q);

  const AttentionShape shape{layer.n_head, layer.n_head_kv, d_k, d_v};
  AttentionOptions options;
  options.scale = h.attention_scale != 0 ? h.attention_scale : 1.0f / std::sqrt(static_cast<float>(d_k));
  options.sinks = w.sinks.data();
  if (layer.has_indexer && !pass.state.options().attend_to_all) {
    attend_blocks(pass, il, options, x, q, k, v, mixed);
  } else {
    attend(pass, il, shape, options, q, own_keys ? k : nullptr, v, mixed);
  }

  if (w.sub_norm) normalize_rows(pass.pool, h.norm_eps, h.norm, w.sub_norm, mixed, n, n_out, mixed);
  if (w.gate && w.qkv) apply(pass.pool, w.gate, x, n, gate);
  if (w.gate || w.gated_query) gate_heads(pass, il, w, gate, d_v, mixed);
  apply(pass.pool, w.out, mixed, n, y);
  if (h.attention_value_scale != 1) vec::scale(y, h.attention_value_scale, n * h.n_embd);
  pass.state.arena.release(mark);
}

}  // namespace ggufscope
