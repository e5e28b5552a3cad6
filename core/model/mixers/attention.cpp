// Multi-head attention of the shared decoder, with the variations that the registry's rows select.
#include "model/mixers/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "model/mixers/block_attention.hpp"
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
  if (a.qk_norm_by_head || (entry != nullptr && entry->shape[0] == d && entry->shape[1] == n_head && entry->n_dims > 1))
    w.norms_by_head = true;
  plan.planner.affine(norm, name, whole || a.qk_norm_by_head ? n_head * d : d,
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
      const size_t at = w.norms_by_head && norm.weight.n != d ? head * d : 0;
      const float* weight = norm.weight ? norm.weight.data() + at : nullptr;
      normalize(kind, row, weight, norm.bias ? norm.bias.data() + at : nullptr, d, eps, row);
    }
  });
}

// Without a matrix for values, they are the keys before their norm, normalized without weights.
bool values_may_be_keys(const Architecture& architecture, const LayerParameters& layer) {
  return architecture.normalize_values || layer.mixer == MixerKind::kBlockAttention;
}

void clamp(float* x, size_t n, float limit) {
  for (size_t i = 0; i < n; ++i) x[i] = std::clamp(x[i], -limit, limit);
}

}  // namespace

void plan_output_gate(const LayerPlan& plan, Linear& gate, uint64_t n_out) {
  const TensorEntry* entry = plan.planner.find(plan.name("attn_gate.weight"));
  const bool by_head = entry != nullptr && entry->shape[1] == plan.layer.n_head;
  plan.planner.linear(gate, plan.name("attn_gate"), plan.h.n_embd, by_head ? plan.layer.n_head : n_out,
                      Need::kOptional);
}

void gate_heads(const Pass& pass, size_t il, float* gate, size_t n_gate, size_t d_v, float* mixed) {
  const size_t n = pass.n_tokens * n_gate;
  switch (pass.model.architecture().gate) {
    case GateKind::kSigmoid:
      activate(Activation::kSigmoid, gate, n);
      break;
    case GateKind::kSoftplus:
      for (size_t i = 0; i < n; ++i) gate[i] = softplus(gate[i]);
      break;
    case GateKind::kSoftplusBase2:
      for (size_t i = 0; i < n; ++i)
        gate[i] = softplus(gate[i] * std::numbers::ln2_v<float>) * std::numbers::log2e_v<float>;
      break;
  }
  if (n_gate == pass.layer(il).n_head * d_v) return vec::multiply(mixed, gate, n);
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

void plan_attention(const LayerPlan& plan, AttentionWeights& w) {
  Planner& p = plan.planner;
  const LayerParameters& layer = plan.layer;
  const uint64_t n_embd = plan.h.n_embd;
  const uint64_t n_q = uint64_t{layer.n_head} * layer.d_k, n_k = uint64_t{layer.n_head_kv} * layer.d_k;
  const uint64_t n_v = uint64_t{layer.n_head_kv} * layer.d_v, n_out = uint64_t{layer.n_head} * layer.d_v;
  const uint64_t n_in = plan.layer.mixer == MixerKind::kDraftAttention ? 2 * n_embd : n_embd;
  w.gated_query = plan.architecture.gated_query;
  if (p.has(plan.name("attn_qkv.weight"))) {
    p.linear(w.qkv, plan.name("attn_qkv"), n_in, n_q + n_k + n_v);
  } else {
    p.linear(w.q, plan.name("attn_q"), n_in, w.gated_query ? 2 * n_q : n_q);
    if (layer.kv_layer == plan.il) {
      p.linear(w.k, plan.name("attn_k"), n_in, n_k);
      if (layer.mixer == MixerKind::kValueExperts) {
        w.value_experts = std::make_unique<ValueExpertWeights>();
        plan_value_experts(plan, *w.value_experts, n_v);
      } else {
        p.linear(w.v, plan.name("attn_v"), n_in, n_v,
                 values_may_be_keys(plan.architecture, layer) ? Need::kOptional : Need::kRequired);
      }
      if (!w.v && !w.value_experts && n_v != n_k)
        p.refuse(ErrorCode::kBadShape, "values cannot be the keys of another size");
    }
  }
  p.linear(w.out, plan.name(p.has(plan.name("attn_o.weight")) ? "attn_o" : "attn_output"), n_out, n_embd);
  plan_qk_norm(plan, w, w.q_norm, "attn_q_norm", layer.n_head, layer.d_k);
  if (w.qkv || w.k) plan_qk_norm(plan, w, w.k_norm, "attn_k_norm", layer.n_head_kv, layer.d_k);
  p.affine(w.sub_norm, plan.name("attn_sub_norm"), n_out, Need::kOptional);
  plan_output_gate(plan, w.gate, n_out);
  if (plan.h.n_relative_buckets != 0)
    p.vector(w.relative_bias, plan.name("attn_rel_b.weight"), uint64_t{layer.n_head} * plan.h.n_relative_buckets,
             plan.il == 0 ? Need::kRequired : Need::kOptional);
  p.vector(w.sinks, plan.name("attn_sinks.weight"), layer.n_head, Need::kOptional);
  const bool pools = plan.h.part<IndexerSizes>().means;
  if (!layer.has_indexer) return pools ? p.ignore(plan.name("indexer.")) : void();
  w.indexer = std::make_unique<IndexerWeights>();
  pools ? plan_mean_indexer(plan, *w.indexer) : plan_block_indexer(plan, *w.indexer);
}

AttentionOptions attention_options(const Hparams& h, size_t d_k) {
  AttentionOptions options;
  options.scale = h.attention_scale.value_or(1.0f / std::sqrt(static_cast<float>(d_k)));
  return options;
}

void add_relative_bias(Pass& pass, size_t il, const AttentionWeights& w, AttentionOptions& options) {
  if (il == 0) pass.relative_bias = &w.relative_bias;
  const Vector* buckets = w.relative_bias ? &w.relative_bias : pass.relative_bias;
  if (buckets == nullptr || !*buckets) return;
  options.buckets = buckets->data();
  options.n_buckets = pass.h().n_relative_buckets;
  options.buckets_both_ways = pass.encoding || !pass.h().causal;
}

namespace {

void store_rows(Pass& pass, size_t il, const AttentionShape& shape, const CacheView& cache, const float* k,
                const float* v) {
  const State& state = pass.state;
  const bool windowed = pass.layer(il).windowed;
  each_token(pass.pool, Operation::kCache, pass.n_tokens, [&](size_t t) {
    cache_store(cache, shape, windowed ? state.batch_slots[t] : state.batch_cells[t],
                k + t * shape.n_head_kv * shape.d_k, v == nullptr ? nullptr : v + t * shape.n_head_kv * shape.d_v);
  });
}

}  // namespace

void attend(Pass& pass, size_t il, const AttentionShape& shape, AttentionOptions options, float* q, const float* k,
            const float* v, float* out) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  State& state = pass.state;
  // The encoder uses the memory in which the first layer's keys and values of its output will be stored at the end.
  const CacheView cache = pass.encoding            ? state.cross(0)
                          : pass.target != nullptr ? pass.target->cache(layer.kv_layer)
                                                   : state.cache(layer.kv_layer);
  if (k != nullptr) store_rows(pass, il, shape, cache, k, v);
  options.soft_cap = h.attention_soft_cap;
  if (h.max_alibi_bias > 0) options.slopes = pass.model.slopes().data();
  const auto& visible = layer.chooses ? pass.chosen : layer.windowed ? state.visible_windowed : state.visible_full;
  std::vector<AttentionRecord::Head> heads;
  if (pass.probe != nullptr) heads = pass.probe->heads_of(il);
  const AttentionRecord record{heads, heads.empty() ? 0 : pass.probe->n_positions()};
  if (!heads.empty()) options.record = &record;
  attention(pass.pool, shape, options, cache, q, pass.n_tokens, visible, pass.positions.data(),
            layer.windowed ? state.slot_positions.data() : state.cell_positions.data(),
            reinterpret_cast<float*>(state.thread_scratch.data()), state.thread_scratch_floats, out);
  if (pass.probe != nullptr) pass.probe->ablate_heads(il, pass.n_tokens, shape.n_head, shape.d_v, out);
}

namespace {

// Sizes and activations of one layer.
struct AttentionPass {
  size_t n, n_head, n_head_kv, d_k, d_v;
  size_t n_q, n_k, n_v, n_out;  // numbers of one token in q, k, v and mixed
  bool own_keys;                // false: the layer reads the keys and values of another one
  float* q;                     // [n_tokens, n_head, d_k]
  float* k;                     // [n_tokens, n_head_kv, d_k]
  float* v;                     // [n_tokens, n_head_kv, d_v]
  float* mixed;                 // [n_tokens, n_head, d_v]
  float* fused;                 // queries, keys and values of a token, concatenated
  float* gate;
};

AttentionPass begin_attention(Pass& pass, const LayerParameters& layer, const AttentionWeights& w) {
  AttentionPass a{};
  a.n = pass.n_tokens;
  a.n_head = layer.n_head;
  a.n_head_kv = layer.n_head_kv;
  a.d_k = layer.d_k;
  a.d_v = layer.d_v;
  a.n_q = a.n_head * a.d_k;
  a.n_k = a.n_head_kv * a.d_k;
  a.n_v = a.n_head_kv * a.d_v;
  a.n_out = a.n_head * a.d_v;
  a.own_keys = w.qkv || w.k;
  a.q = pass.take(a.n, a.n_head, a.d_k);
  a.k = pass.take(a.n, a.n_head_kv, a.d_k);
  a.v = pass.take(a.n, a.n_head_kv, a.d_v);
  a.mixed = pass.take(a.n, a.n_head, a.d_v);
  const uint64_t n_qkv = uint64_t{a.n_head} * a.d_k + uint64_t{a.n_head_kv} * (a.d_k + a.d_v);
  a.fused = pass.take(a.n, std::max(uint64_t{a.n_head} * 2 * a.d_k, n_qkv));
  a.gate = pass.take(a.n, a.n_head, std::max(a.d_k, a.d_v));
  return a;
}

void project_qkv(Pass& pass, const AttentionWeights& w, const float* x, const AttentionPass& a) {
  const size_t n = a.n, d_k = a.d_k;
  if (w.qkv) {
    apply(pass.pool, w.qkv, x, n, a.fused);
    for (size_t t = 0; t < n; ++t) {
      const float* row = a.fused + t * (a.n_q + a.n_k + a.n_v);
      std::memcpy(a.q + t * a.n_q, row, a.n_q * sizeof(float));
      std::memcpy(a.k + t * a.n_k, row + a.n_q, a.n_k * sizeof(float));
      std::memcpy(a.v + t * a.n_v, row + a.n_q + a.n_k, a.n_v * sizeof(float));
    }
  } else {
    apply(pass.pool, {{&w.q, w.gated_query ? a.fused : a.q}, {&w.k, a.k}, {&w.v, a.v}, {&w.gate, a.gate}}, x, n);
    if (w.gated_query)
      for (size_t i = 0; i < n * a.n_head; ++i) {
        std::memcpy(a.q + i * d_k, a.fused + 2 * i * d_k, d_k * sizeof(float));
        std::memcpy(a.gate + i * d_k, a.fused + (2 * i + 1) * d_k, d_k * sizeof(float));
      }
    if (w.value_experts) {
      run_value_experts(pass, *w.value_experts, x, a.v);
    } else if (w.k && !w.v) {
      std::memcpy(a.v, a.k, n * a.n_v * sizeof(float));
    }
  }
  if (const float limit = pass.h().clamp_kqv; limit > 0) {
    clamp(a.q, n * a.n_q, limit);
    clamp(a.k, a.own_keys ? n * a.n_k : 0, limit);
    clamp(a.v, a.own_keys ? n * a.n_v : 0, limit);
  }
}

// Norms and RoPE of queries and keys, in the architecture's order, and what some models do to values and queries.
void normalize_and_rotate(Pass& pass, size_t il, const AttentionWeights& w, const AttentionPass& a) {
  const Hparams& h = pass.h();
  const Architecture& arch = pass.model.architecture();
  const LayerParameters& layer = pass.layer(il);
  for (const bool rotating : {arch.qk_norm_after_rope, !arch.qk_norm_after_rope}) {
    if (rotating) {
      rotate(pass, il, a.q, a.n_q, a.n_head, a.d_k, 0);
      if (a.own_keys) rotate(pass, il, a.k, a.n_k, a.n_head_kv, a.d_k, 0);
    } else if (arch.qk_norm != QkNorm::kUnweighted || layer.use_rope) {
      normalize_heads(pass, w, w.q_norm, a.q, a.n_head, a.d_k);
      if (w.q_scale)
        for (size_t i = 0; i < a.n * a.n_head; ++i) vec::scale(a.q + i * a.d_k, w.q_scale.data()[i % a.n_head], a.d_k);
      if (a.own_keys) normalize_heads(pass, w, w.k_norm, a.k, a.n_head_kv, a.d_k);
    }
  }
  if (a.own_keys && (arch.normalize_values || (!w.v && values_may_be_keys(arch, layer))))
    for (size_t i = 0; i < a.n * a.n_head_kv; ++i)
      normalize(NormKind::kRms, a.v + i * a.d_v, nullptr, nullptr, a.d_v, h.norm_eps, a.v + i * a.d_v);
  // Llama 4 scales the queries only of layers without RoPE.
  if (h.temperature_scale != 0 && (h.temperature_offset == 0 || !layer.use_rope))
    for (size_t t = 0; t < a.n; ++t) vec::scale(a.q + t * a.n_q, query_temperature(h, pass.positions[t]), a.n_q);
}

}  // namespace

void run_attention(Pass& pass, size_t il, const AttentionWeights& w, const float* x, float* y) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  const ArenaScope scope(pass.state.arena);
  const AttentionPass a = begin_attention(pass, layer, w);
  const bool in_blocks = layer.has_indexer && !layer.chooses && !pass.state.options().attend_to_all;
  if (pass.counting()) {
    if (w.value_experts) run_value_experts(pass, *w.value_experts, nullptr, nullptr);
    if (in_blocks) attend_blocks(pass, il, *w.indexer, {}, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (layer.chooses) choose_pools(pass, il, *w.indexer, nullptr);
    return;
  }
  if (layer.chooses) choose_pools(pass, il, *w.indexer, x);
  project_qkv(pass, w, x, a);
  normalize_and_rotate(pass, il, w, a);

  const AttentionShape shape{a.n_head, a.n_head_kv, a.d_k, a.d_v};
  AttentionOptions options = attention_options(h, a.d_k);
  options.sinks = w.sinks.data();
  add_relative_bias(pass, il, w, options);
  if (in_blocks) {
    attend_blocks(pass, il, *w.indexer, options, x, a.q, a.k, a.v, a.mixed);
  } else {
    attend(pass, il, shape, options, a.q, a.own_keys ? a.k : nullptr, a.v, a.mixed);
  }

  if (w.sub_norm) normalize_rows(pass.pool, h.norm_eps, h.norm, w.sub_norm, a.mixed, a.n, a.n_out, a.mixed);
  if (w.gate && w.qkv) apply(pass.pool, w.gate, x, a.n, a.gate);
  if (w.gate || w.gated_query) gate_heads(pass, il, a.gate, w.gated_query ? a.n_out : w.gate.n_out, a.d_v, a.mixed);
  apply(pass.pool, w.out, a.mixed, a.n, y);
  if (h.attention_value_scale != 1) vec::scale(y, h.attention_value_scale, a.n * h.n_embd);
}

void cache_keys(Pass& pass, size_t il, const AttentionWeights& w, const float* x) {
  const ArenaScope scope(pass.state.arena);
  AttentionPass a = begin_attention(pass, pass.layer(il), w);
  a.n_head = 0;  // no queries
  apply(pass.pool, {{&w.k, a.k}, {&w.v, a.v}}, x, a.n);
  if (!w.v) std::memcpy(a.v, a.k, a.n * a.n_v * sizeof(float));
  normalize_and_rotate(pass, il, w, a);
  store_rows(pass, il, {a.n_head, a.n_head_kv, a.d_k, a.d_v}, pass.state.cache(il), a.k, a.v);
}

CacheShape key_value_heads(const Hparams&, const LayerParameters& layer) {
  return {layer.n_head_kv, layer.d_k, layer.d_v};
}

const Mixer kAttentionMixer{
    .plan = [](const LayerPlan& plan,
               LayerWeights& weights) { plan_attention(plan, weights.mixer.create<AttentionWeights>()); },
    .run = [](Pass& pass, size_t il, const float* x,
              float* y) { run_attention(pass, il, pass.mixer<AttentionWeights>(il), x, y); },
    .cache = key_value_heads,
    .further_rows = indexer_rows};

}  // namespace ggufscope
