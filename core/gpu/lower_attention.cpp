// Attention: one product for queries, keys, values and gates, the attention kernels, and the output's product.
#include <algorithm>

#include "gpu/lower.hpp"
#include "model/mixers/attention.hpp"
#include "model/mixers/indexer.hpp"
#include "model/mixers/mamba.hpp"

namespace ggufscope::gpu {
namespace {

const AttentionWeights& attention_of(const Builder& b, size_t il) {
  const ModelPart& mixer = b.layer_weights(il).mixer;
  return b.layer(il).mixer == MixerKind::kAttention ? mixer.get<AttentionWeights>()
                                                    : mixer.get<AttentionMamba2Weights>().attention;
}

uint32_t head_norm(Builder& b, const AttentionWeights& w, const Affine& norm, size_t n_head, size_t d, uint32_t flag,
                   uint32_t& weight, uint32_t& bias) {
  if (!norm) return 0;
  weight = b.vector(norm.weight);
  bias = b.vector(norm.bias);
  const bool whole = norm.weight && norm.weight.n != d && !w.norms_by_head;
  if (whole && norm.weight.n != n_head * d) b.refuse("a norm of heads has an unknown shape");
  return flag | (whole ? uint32_t{kWholeNorm} : 0) | (w.norms_by_head ? uint32_t{kNormByHead} : 0);
}

// Where the parts of a row of qkv are.
void place_row(const AttentionWeights& w, const LayerParameters& layer, Heads& heads) {
  const uint32_t n_k = layer.n_head_kv * layer.d_k, n_v = layer.n_head_kv * layer.d_v;
  HeadsParameters& p = heads.p;
  if (w.gated_query) p.query_stride *= 2, p.key_at *= 2;
  const bool own = w.qkv || w.k;
  p.value_at = w.qkv || w.v ? p.key_at + n_k : p.key_at;
  uint32_t end = own ? p.key_at + n_k + (w.qkv || w.v ? n_v : 0) : p.key_at;
  if (w.gated_query) {
    p.gate_at = layer.d_k;
    p.gate_stride = 2 * layer.d_k;
  } else if (w.gate) {
    p.gate_at = end;
    p.gate_stride = w.gate.n_out == layer.n_head ? 1 : layer.d_v;
    end += static_cast<uint32_t>(w.gate.n_out);
  }
  p.n_qkv = end;
  heads.n_qkv = end;
}

uint32_t norm_flags(Builder& b, const AttentionWeights& w, const LayerParameters& layer, HeadsParameters& p) {
  const bool own = w.qkv || w.k;
  if (b.arch.qk_norm == QkNorm::kUnweighted && !layer.use_rope) return 0;
  uint32_t flags = head_norm(b, w, w.q_norm, layer.n_head, layer.d_k, kQueryNorm, p.query_weight, p.query_bias);
  if (own) {
    const uint32_t keys = head_norm(b, w, w.k_norm, layer.n_head_kv, layer.d_k, kKeyNorm, p.key_weight, p.key_bias);
    if (keys != 0 && flags != 0 && ((keys ^ flags) & kWholeNorm) != 0 && layer.n_head != 1 && layer.n_head_kv != 1)
      b.refuse("queries and keys have norms of different shapes");
    flags |= keys;
  }
  if (w.q_scale) {
    flags |= kQueryScale;
    p.query_scale_at = b.vector(w.q_scale);
  }
  if (b.arch.qk_norm_kind == NormKind::kLayer) flags |= kLayerNorm;
  if (b.arch.qk_norm_after_rope) flags |= kNormAfterRope;
  return flags;
}

Heads heads_of(Flow& flow, size_t il, const AttentionWeights& w) {
  Builder& b = flow.b;
  const Hparams& h = b.h;
  const LayerParameters& layer = b.layer(il);
  Heads heads(b, il, 0);
  HeadsParameters& p = heads.p;
  place_row(w, layer, heads);
  p.n_rot = layer.n_rot;
  p.soft_cap = h.attention_soft_cap;
  p.head_eps = h.head_norm_eps != 0 ? h.head_norm_eps : h.norm_eps;
  p.eps = h.norm_eps;
  Variant& v = heads.variant;
  v.rope = layer.use_rope ? h.rope_kind : RopeKind::kNone;
  v.flags = norm_flags(b, w, layer, p);
  if (w.qkv || w.k) v.flags |= kStores | (b.arch.normalize_values ? uint32_t{kNormValues} : 0);
  if (layer.windowed) v.flags |= kWindowed;
  if (p.soft_cap != 0) v.flags |= kSoftCap;
  if (h.temperature_scale != 0 && (h.temperature_offset == 0 || !layer.use_rope)) v.flags |= kTemperature;
  if (h.max_alibi_bias > 0) v.flags |= kAlibi;
  if (w.sinks) v.flags |= kSinks, p.sinks_at = b.vector(w.sinks);
  if (w.gate || w.gated_query) {
    v.flags |= kHeadGate;
    if (b.arch.gate == GateKind::kSoftplusBase2 && w.gate)
      b.refuse("the gate of attention is a softplus to the base 2");
    if (b.arch.gate == GateKind::kSoftplus) v.flags |= kSoftplusGate;
    if (!w.gated_query && w.gate.n_out == layer.n_head) v.flags |= kGateOfHead;
  }
  return heads;
}

// A bias for the bucket of each distance (T5): of the layer, or of the first one of its stack.
void add_relative_bias(Builder& b, size_t il, const AttentionWeights& w, Heads& heads) {
  if (b.h.n_relative_buckets == 0) return;
  const bool encodes = il >= b.h.n_layer;
  const Vector& biases = w.relative_bias ? w.relative_bias : attention_of(b, encodes ? b.h.n_layer : 0).relative_bias;
  if (!biases) return;
  heads.variant.flags |= kRelative;
  heads.p.biases_at = b.vector(biases);
  heads.p.buckets_at = b.buckets(encodes || !b.h.causal);
  heads.p.max_distance = max_distance(b.h.n_relative_buckets);
}

void check(Builder& b, size_t il, const AttentionWeights& w) {
  const LayerParameters& layer = b.layer(il);
  if (!b.options.attend_to_all) refuse_selection(b, il);
  if (layer.n_head_kv == 0 || layer.n_head % layer.n_head_kv != 0 || layer.d_k % 4 != 0 || layer.d_v % 4 != 0 ||
      layer.d_k > 1024 || layer.d_v > 1024)
    refuse_head_sizes(b, layer.d_k, layer.d_v);
  if (b.h.clamp_kqv > 0 && w.gate) b.refuse("projections are clamped, but not the gate's");
  refuse_quantized_cache(b);
}

// The part of a variant that a kernel uses, so that as few as possible are compiled.
Variant only(Variant v, Kernel kernel, uint32_t flags) {
  v.kernel = kernel;
  v.flags &= flags;
  return v;
}

constexpr uint32_t kPrepares = kQueryNorm | kKeyNorm | kWholeNorm | kNormByHead | kNormAfterRope | kNormValues |
                               kQueryScale | kTemperature | kStores | kLayerNorm | kWindowed | kLatent | kSharedValues;
constexpr uint32_t kScores = kSoftCap | kAlibi | kRelative | kWindowed | kSharedValues;
constexpr uint32_t kEnds = kSinks | kHeadGate | kSoftplusGate | kGateOfHead;

// Query heads of one key head that a workgroup computes together: a divisor of their number. It reads a cell once for
// all of them, and its memory has room for their queries.
uint16_t heads_together(uint32_t heads_per_kv, uint32_t d_k) {
  uint32_t n = kMaxHeadsTogether;
  while (n > 1 && (heads_per_kv % n != 0 || n * d_k > kMaxQueryFloats)) --n;
  return static_cast<uint16_t>(n);
}

}  // namespace

Heads::Heads() {
  for (uint32_t* at : {&p.query_weight, &p.query_bias, &p.key_weight, &p.key_bias, &p.query_scale_at, &p.slopes_at,
                       &p.sinks_at, &p.gate_at})
    *at = kAbsent;
}

Heads::Heads(const Builder& b, size_t il, uint32_t flags) : Heads() {
  const LayerParameters& layer = b.layer(il);
  const CacheTypes types = b.cache_types(il);
  p.n_head = layer.n_head;
  p.n_head_kv = layer.n_head_kv;
  p.query_stride = p.key_stride = layer.d_k;
  p.value_stride = layer.d_v;
  p.key_at = p.n_qkv = layer.n_head * layer.d_k;
  p.value_at = p.key_at + layer.n_head_kv * layer.d_k;
  if ((flags & kStores) != 0) p.n_qkv = p.value_at + layer.n_head_kv * layer.d_v;
  p.n_cells = static_cast<uint32_t>(b.cells(il));
  p.scale = attention_options(b.h, layer.d_k).scale;
  n_qkv = p.n_qkv;
  n_out = size_t{layer.n_head} * layer.d_v;
  variant.d_k = static_cast<uint16_t>(layer.d_k);
  variant.d_v = static_cast<uint16_t>(layer.d_v);
  variant.cache_keys = types.keys;
  variant.cache_values = types.values;
  variant.flags = flags;
}

void refuse_head_sizes(Builder& b, uint64_t d_k, uint64_t d_v) {
  b.refuse("heads of " + std::to_string(d_k) + " and " + std::to_string(d_v) + " elements");
}

void refuse_selection(Builder& b, size_t il) {
  const LayerParameters& layer = b.layer(il);
  if (!layer.chooses && !layer.has_indexer) return;
  const IndexerSizes& s = b.h.part<IndexerSizes>();
  const uint64_t n_selected = uint64_t{s.top_k} * std::max(s.block, 1u);
  if (s.pool != 0 || layer.windowed || n_selected < b.cells(il)) b.refuse("layers attend to selected positions only");
}

void refuse_quantized_cache(Builder& b) {
  if (is_quantized(b.options.cache_types.keys) || is_quantized(b.options.cache_types.values))
    b.refuse("the cache is quantized; the kernels store f32 and f16");
}

Place attend_in_splits(Flow& flow, size_t il, const Heads& heads, Place qkv) {
  Builder& b = flow.b;
  const uint64_t n_splits = std::min<uint64_t>(kMaxSplits, (heads.p.n_cells + kSplitCells - 1) / kSplitCells);
  const Place partial =
      b.activation(Activations::kPartial, heads.p.n_head * n_splits * (heads.variant.d_v + uint64_t{2}));
  Variant v = only(heads.variant, Kernel::kAttendSplits, kPrepares | kScores);
  v.heads = heads_together(heads.p.n_head / heads.p.n_head_kv, v.d_k);
  flow.dispatch(v, heads.p, heads.p.n_head / v.heads, qkv, b.keys(il), b.values(il), partial, heads.low);
  return partial;
}

void combine_splits(Flow& flow, const Heads& heads, Place qkv, Place partial, Place to) {
  Variant combine = only(heads.variant, Kernel::kAttendCombine, kEnds | kWindowed);
  combine.rope = RopeKind::kNone;
  combine.cache_keys = combine.cache_values = CacheType::kF32;
  flow.dispatch(combine, heads.p, heads.p.n_head, qkv, partial, to);
}

void attend_in_rows(Flow& flow, size_t il, const Heads& heads, Place qkv, Place to, bool drops) {
  Builder& b = flow.b;
  const Place queries = b.activation(Activations::kQueries, uint64_t{heads.p.n_head} * heads.variant.d_k);
  const Place keys = b.keys(il), values = b.values(il);
  flow.dispatch(only(heads.variant, Kernel::kPrepareHeads, kPrepares), heads.p, heads.p.n_head + heads.p.n_head_kv, qkv,
                keys, values, queries, heads.low);
  if (drops) flow.drop_rows();
  Variant v = only(heads.variant, Kernel::kAttendRows, kScores | kEnds);
  v.flags |= flow.rows();
  v.rope = RopeKind::kNone;
  flow.dispatch(v, heads.p, heads.p.n_head, queries, qkv, keys, values, to);
}

Place attend(Flow& flow, size_t il, const Heads& heads, Place qkv, bool drops) {
  const Place attended = flow.b.activation(Activations::kAttended, heads.n_out);
  if (flow.b.refused()) return attended;
  if (flow.prefill()) {
    attend_in_rows(flow, il, heads, qkv, attended, drops);
  } else {
    combine_splits(flow, heads, qkv, attend_in_splits(flow, il, heads, qkv), attended);
  }
  return attended;
}

AttentionParts begin_attention(Flow& flow, size_t il, const Affine* norm, bool drops) {
  Builder& b = flow.b;
  const Hparams& h = b.h;
  const AttentionWeights& w = attention_of(b, il);
  check(b, il, w);
  if (b.refused()) return {};
  Heads heads = heads_of(flow, il, w);
  if (h.max_alibi_bias > 0) heads.p.slopes_at = b.slopes();
  add_relative_bias(b, il, w, heads);

  MatrixList rows;
  for (const Linear* linear : {&w.qkv, &w.q, &w.k, &w.v, &w.gate}) rows.add(*linear);
  Target to;
  to.limit = h.clamp_kqv > 0 ? h.clamp_kqv : 0;
  to.buffer = b.activation(Activations::kQkv, heads.n_qkv);
  flow.product(flow.stream_by(norm), b.group(rows), to);
  return {attend(flow, il, heads, to.buffer, drops), heads.n_out};
}

void finish_attention(Flow& flow, size_t il, const AttentionParts& parts) {
  const Builder& b = flow.b;
  const AttentionWeights& w = attention_of(b, il);
  flow.finish_part({parts.attended, if_any(w.sub_norm), parts.n_out}, w.out, b.layer_weights(il).attn_post_norm,
                   b.h.residual_scale, b.h.attention_value_scale);
}

void lower_attention(Flow& flow, size_t il, const Affine* norm, bool drops) {
  const AttentionParts parts = begin_attention(flow, il, norm, drops);
  if (!flow.b.refused()) finish_attention(flow, il, parts);
}

}  // namespace ggufscope::gpu
