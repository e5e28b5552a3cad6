// Latent attention (DeepSeek-V2): a key is computed from a latent vector and a rotated part that all heads share. With
// attn_k_b and attn_v_b the cache holds these, once for all heads, and queries and outputs are computed to fit them.
#include "gpu/lower.hpp"
#include "model/mixers/attention.hpp"
#include "model/mixers/latent_attention.hpp"

namespace ggufscope::gpu {
namespace {

void check(Builder& b, size_t il, const LatentAttentionWeights& w, const LatentShape& s) {
  refuse_selection(b, il);
  if (w.gate || w.k_norm) b.refuse("latent attention has a gate, or a norm of the rotated part");
  if (b.h.parallel) b.refuse("latent attention and a feed-forward network are parallel");
  const uint64_t d_k = s.absorbed ? s.latent + s.n_rot : s.d_k, d_v = s.absorbed ? s.latent : s.d_v;
  if (d_k % 4 != 0 || d_v % 4 != 0 || s.n_rot % 4 != 0 || s.d_k % 4 != 0 || d_k > 1024 || d_v > 1024)
    refuse_head_sizes(b, d_k, d_v);
  refuse_quantized_cache(b);
}

Heads heads_of(Builder& b, size_t il, const LatentAttentionWeights& w, const LatentShape& s) {
  const Hparams& h = b.h;
  const LayerParameters& layer = b.layer(il);
  const auto narrow = [](uint64_t n) { return static_cast<uint32_t>(n); };
  Heads heads;
  HeadsParameters& p = heads.p;
  Variant& v = heads.variant;
  v.d_k = static_cast<uint16_t>(s.absorbed ? s.latent + s.n_rot : s.d_k);
  v.d_v = static_cast<uint16_t>(s.absorbed ? s.latent : s.d_v);
  p.n_head = layer.n_head;
  p.n_head_kv = s.absorbed ? 1 : layer.n_head;
  v.cache_keys = b.options.cache_types.keys;
  v.cache_values = s.absorbed ? v.cache_keys : b.options.cache_types.values;
  v.rope = layer.use_rope ? h.rope_kind : RopeKind::kNone;
  v.flags = kStores | kLatent | (s.absorbed ? kSharedValues | kKeyNorm : uint32_t{0});
  if (layer.windowed) v.flags |= kWindowed;
  if (h.attention_soft_cap != 0) v.flags |= kSoftCap, p.soft_cap = h.attention_soft_cap;
  if (h.temperature_scale != 0) v.flags |= kTemperature;
  if (w.sinks) v.flags |= kSinks, p.sinks_at = b.vector(w.sinks);
  p.n_cells = narrow(b.cells(il));
  p.n_rot = layer.n_rot;
  p.rot_at = v.d_k - p.n_rot;
  p.scale = attention_options(h, static_cast<size_t>(s.d_k)).scale;
  p.head_eps = p.eps = h.norm_eps;
  p.query_stride = v.d_k;
  if (s.absorbed) {
    p.key_weight = b.vector(w.kv_a_norm.weight);
    heads.n_qkv = narrow(s.n_head) * v.d_k;
  } else {
    p.key_at = narrow(s.n_head * s.d_k);
    p.value_at = narrow(p.key_at + s.d_nope);
    p.key_stride = p.value_stride = narrow(s.d_nope + s.d_v);
    heads.n_qkv = p.key_at + narrow(s.n_head) * p.key_stride;
  }
  p.n_qkv = narrow(heads.n_qkv);
  heads.n_out = narrow(s.n_head) * v.d_v;
  return heads;
}

}  // namespace

void lower_latent(Flow& flow, size_t il, const Affine* norm, bool drops) {
  Builder& b = flow.b;
  const LayerWeights& layer = b.layer_weights(il);
  const LatentAttentionWeights& w = layer.mixer.get<LatentAttentionWeights>();
  const LatentShape s = latent_shape(b.h, b.layer(il));
  check(b, il, w, s);
  if (b.refused()) return;
  Heads heads = heads_of(b, il, w, s);
  const auto n_head = static_cast<uint32_t>(s.n_head), d_k = static_cast<uint32_t>(s.d_k),
             d_v = static_cast<uint32_t>(s.d_v), latent = static_cast<uint32_t>(s.latent);
  Source stream = flow.stream_by(norm);
  // A row of the first product: queries or what they are computed from, the latent vector, the rotated part.
  const bool q_first = !w.q_a && s.absorbed;
  const size_t n_first = w.q_a ? w.q_a.n_out : q_first ? w.q.n_out : 0;
  const size_t n_low = n_first + latent + static_cast<size_t>(s.n_rot);
  const Place low = b.activation(Activations::kMixed, n_low);
  const Place queries = b.activation(Activations::kQkv, std::max(heads.n_qkv, size_t{n_head} * d_k));
  const Place absorbed = s.absorbed ? b.activation(Activations::kConvolved, heads.n_qkv) : queries;
  MatrixList rows;
  stream.once = n_first != 0;
  if (stream.once) rows.add(w.q_a ? w.q_a : w.q);
  rows.add(w.kv_a);
  Target to;
  to.buffer = low;
  flow.product(stream, b.group(rows), to);
  to.buffer = queries;
  to.row_floats = s.absorbed ? n_head * d_k : static_cast<uint32_t>(heads.n_qkv);
  if (w.q_a) {
    flow.product({low, &w.q_a_norm, n_first, n_low}, w.q_b, to);
  } else if (!q_first) {
    flow.product(stream, w.q, to);
  }
  heads.low = low;
  heads.p.low_stride = static_cast<uint32_t>(n_low);
  const auto d_nope = static_cast<uint32_t>(s.d_nope);
  if (s.absorbed) {
    heads.p.low_at = static_cast<uint32_t>(n_first);
    flow.each_head({q_first ? low : queries, nullptr, d_nope, q_first ? n_low : to.row_floats}, w.k_b,
                   {.n = n_head,
                    .head_in = d_k,
                    .head_out = heads.p.query_stride,
                    .n_copied = static_cast<uint32_t>(s.n_rot),
                    .n_out = static_cast<uint32_t>(heads.n_qkv)},
                   absorbed);
  } else {
    heads.p.low_at = static_cast<uint32_t>(n_first + latent - d_nope);
    flow.product({low, &w.kv_a_norm, latent, n_low, n_first}, w.kv_b, to, heads.p.key_at);
  }
  if (b.refused()) return;
  Place out = Place::kNone;
  if (s.absorbed) {
    HeadProduct each{.n = n_head, .head_in = latent, .head_out = d_v, .n_out = n_head * d_v};
    Place attended = b.activation(Activations::kAttended, heads.n_out);
    if (flow.prefill()) {
      attend_in_rows(flow, il, heads, absorbed, attended, drops);
    } else {
      attended = attend_in_splits(flow, il, heads, absorbed);
      each.combines = &heads;
    }
    out = b.activation(Activations::kScanned, each.n_out);
    flow.each_head({attended, nullptr, latent, heads.n_out}, w.v_b, each, out);
  } else {
    out = attend(flow, il, heads, queries, drops);
  }
  flow.finish_part({out, nullptr, size_t{n_head} * d_v}, w.out, layer.attn_post_norm, b.h.residual_scale);
}

}  // namespace ggufscope::gpu
