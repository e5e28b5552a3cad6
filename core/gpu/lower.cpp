// Lowers a model: embedding, layers, output. What it does not know it refuses, and the model runs on the CPU.
#include "gpu/lower.hpp"

#include <algorithm>
#include <cmath>

#include "model/ffn.hpp"
#include "model/mixers/cross_attention.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/mixers/granite_switch.hpp"
#include "model/mixers/rwkv.hpp"
#include "model/residual/altup.hpp"
#include "model/residual/hyper_connections.hpp"
#include "model/residual/low_rank_connections.hpp"
#include "model/residual/residual_attention.hpp"
#include "model/wavtokenizer.hpp"

namespace ggufscope::gpu {
namespace {

// What no kernel computes, of the model as a whole.
const char* reason_against(const Model& model) {
  const Hparams& h = model.hparams();
  const Architecture& a = model.architecture();
  if (h.part<CodecSizes>().n != 0) return "it is the decoder of a codec";
  if (h.part<DraftSizes>().n_features != 0) return "it is a draft model that reads hidden states";
  if (model.has_decision_head()) return "it has a decision head";
  if (a.altup || h.part<HyperSizes>().n != 0 || h.part<LowRankSizes>().n != 0 || h.part<BankSizes>().block != 0)
    return "it has several residual streams";
  if (h.stacks.n_layer != 0) return "two stacks of layers run alternately";
  if (h.norm_groups != 1) return "rows are normalized in parts";
  if (h.n_embd_per_layer != 0 && !model.weights().per_layer_embedding) return "layers have inputs of their own";
  if (!h.part<SwitchSizes>().activate.empty()) return "it switches adapters by tokens";
  if (a.adds_embedding || a.residual_is_normed) return "layers add something else than their parts' outputs";
  if (h.norms_follow) return "norms of parts follow them without the residual stream";
  if (h.n_loops > 1 && h.norm_between_loops) return "the stream is normalized between runs of the layers";
  if (h.n_silent != 0) return "some tokens are never generated";
  if (h.logit_soft_cap && *h.logit_soft_cap == 0) return "the soft cap of logits is 0";
  if (h.part<DraftSizes>().norm_before_residual || a.experts_read_layer_input) return "parts read the layer's input";
  for (size_t il = 0; il < h.n_layer; ++il)
    if (model.steering(il) != nullptr) return "a control vector is active";
  return nullptr;
}

const char* reason_against_layer(const Hparams& h, const LayerParameters& layer, const LayerWeights& w) {
  if (w.residual) return "layers have further parts";
  if (h.parallel && layer.mixer != MixerKind::kAttention && layer.mixer != MixerKind::kNone)
    return "a recurrent mixer and a feed-forward network are parallel";
  if (h.parallel && (w.attn_post_norm || w.ffn_post_norm)) return "parallel parts have norms after them";
  return nullptr;
}

// x += what a layer computes of the stream and its own input.
void add_layer_input(Flow& flow, size_t il) {
  Builder& b = flow.b;
  const PerLayerWeights& w = b.layer_weights(il).per_layer.get<PerLayerWeights>();
  const uint32_t d = b.h.n_embd_per_layer;
  Target to;
  to.epilogue = Epilogue::kActivate;
  to.activation = Activation::kGelu;
  to.buffer = b.activation(Activations::kInner, d);
  flow.product(flow.stream_by(nullptr), b.group(w.gate), to);
  Source gated{to.buffer, nullptr, d};
  gated.factors = b.activation(Activations::kLayerInputs, uint64_t{d} * b.h.n_layer);
  gated.factor_at = static_cast<uint32_t>(il) * d;
  gated.factor_stride = d * b.h.n_layer;
  flow.finish_part(gated, w.proj, w.norm, Target{});
}

void lower_layer(Flow& flow, size_t il, bool last) {
  Builder& b = flow.b;
  const Hparams& h = b.h;
  const LayerWeights& w = b.layer_weights(il);
  const LayerParameters& layer = b.layer(il);
  if (const char* reason = reason_against_layer(h, layer, w); reason != nullptr) return b.refuse(reason);
  flow.set_layer(static_cast<uint32_t>(il));
  const bool mixes = layer.mixer != MixerKind::kNone;
  const Affine* before = if_any(w.attn_norm);
  const bool routes_first = w.moe != nullptr && b.arch.router_reads_layer_input;
  if (routes_first) lower_router(flow, il, nullptr);
  if (mixes && !h.parallel) {
    if (layer.mixer == MixerKind::kAttention) {
      lower_attention(flow, il, before, last && !routes_first);
    } else if (layer.mixer == MixerKind::kLatentAttention) {
      lower_latent(flow, il, before, last && !routes_first);
    } else {
      lower_recurrent(flow, il, before);
      if (last && !w.channel_mix) flow.drop_rows();
    }
    if (b.refused()) return;
    if (b.arch.norm_after_residual && w.attn_norm_2) {
      if (!flow.prefill()) return b.refuse("a layer's input is added again");
      flow.add_input_again(w.attn_norm_2);
    }
  }
  if (w.cross) {
    const CrossAttentionWeights& cross = w.cross.get<CrossAttentionWeights>();
    lower_heads(flow, layer_of_rows(h, il), kWindowed, &cross.norm, MatrixList(cross.q), cross.out);
  }
  const bool has = has_ffn(w);
  const Affine* before_ffn = w.ffn_norm ? &w.ffn_norm : mixes && !h.parallel ? nullptr : before;
  if (h.parallel && mixes) {
    // Both parts read the stream before either adds to it: gate and up first.
    lower_parallel(flow, il, w.attn_norm_2 ? &w.attn_norm_2 : before, has ? before_ffn : nullptr);
  } else if (has) {
    lower_ffn(flow, il, before_ffn);
  } else if (w.channel_mix) {
    lower_channel_mix(flow, il, before_ffn);
  }
  if (w.per_layer && !b.refused()) add_layer_input(flow, il);
  if (il < b.plan.deep.size() && !b.refused()) flow.add_rows(Place(b.plan.deep[il]));
  if (w.output_scale && !b.refused()) flow.scale_stream(w.output_scale);
  if (const uint32_t every = h.part<RwkvSizes>().rescale_every; every != 0 && (il + 1) % every == 0)
    flow.halve_stream();
}

// Rows of a matrix, and another matrix behind them.
MatrixList part_of(const Linear& linear, uint64_t first, uint64_t n, const Linear* behind = nullptr) {
  MatrixList list;
  list.add(linear, first, std::min<uint64_t>(n, linear.n_out - first));
  if (behind != nullptr) list.add(*behind);
  return list;
}

void lower_embedding(Flow& flow) {
  Builder& b = flow.b;
  const Weights& w = b.model().weights();
  const Linear& table = b.model().token_embedding();
  const uint64_t n = b.n_part_rows(table);
  if (n < table.n_out && w.position_embedding) return b.refuse("a table of embeddings is larger than a binding");
  for (uint64_t first = 0; first < table.n_out; first += n) {
    const MatrixGroup& group = b.group(part_of(table, first, n, &w.position_embedding));
    if (b.refused()) return;
    RowsParameters p;
    p.out_factor = b.h.embedding_scale;
    p.first_id = static_cast<uint32_t>(first);
    p.eps = b.h.norm_eps;
    p.token_type_at = b.vector(w.token_type);
    uint32_t flags = p.token_type_at != kAbsent ? uint32_t{kTokenType} : 0;
    if (w.position_embedding) flags |= kPositions;
    if (w.embedding_norm) flags |= kNorm | layer_norm(b.h.norm);
    p.norm_weight = b.vector(w.embedding_norm.weight);
    p.norm_bias = b.vector(w.embedding_norm.bias);
    flow.embed(group, flags, p, flow.stream());
  }
}

// What layers read of each token beside the stream (Gemma 4), for all layers at once:
// (scale * row of the table + norm(product of the embedding)) / sqrt(2): a norm of the parts that are added.
void lower_layer_inputs(Flow& flow) {
  Builder& b = flow.b;
  const Weights& w = b.model().weights();
  const uint32_t d = b.h.n_embd_per_layer, n = d * b.h.n_layer;
  const float half = std::sqrt(0.5f);
  const Place table = b.activation(Activations::kInner, n), product = b.activation(Activations::kQkv, n);
  const uint64_t n_rows = b.n_part_rows(w.per_layer_embedding);
  for (uint64_t first = 0; first < w.per_layer_embedding.n_out; first += n_rows) {
    const MatrixGroup& group = b.group(part_of(w.per_layer_embedding, first, n_rows));
    if (b.refused()) return;
    RowsParameters p;
    p.out_factor = std::sqrt(static_cast<float>(d)) * half;
    p.first_id = static_cast<uint32_t>(first);
    p.norm_weight = p.norm_bias = p.token_type_at = kAbsent;
    flow.embed(group, 0, p, table);
  }
  const MatrixGroup& group = b.group(w.per_layer_model_proj);
  if (b.refused()) return;
  Target to;
  to.factor = 1.0f / std::sqrt(static_cast<float>(b.h.n_embd));
  to.buffer = product;
  flow.product(flow.stream_by(nullptr), group, to);
  RowsParameters p;
  p.n_in = p.n_out = p.x_stride = d;
  p.n_matrices = b.h.n_layer;
  p.factor = half;
  p.post_weight = b.vector(w.per_layer_proj_norm.weight);
  p.post_bias = p.norm_weight = p.norm_bias = kAbsent;
  p.post_eps = b.h.norm_eps;
  Variant v;
  v.kernel = Kernel::kNormRows;
  v.flags = kSum | kPartNorm;
  const Place normed = b.activation(Activations::kMixed, n);
  flow.dispatch(v, p, b.h.n_layer, table, product, normed, b.activation(Activations::kLayerInputs, n));
}

void lower_logits(Flow& flow) {
  Builder& b = flow.b;
  const Weights& w = b.model().weights();
  const Linear& output = b.model().output();
  const uint32_t bias = b.vector(w.output_bias);
  const uint64_t n = b.n_part_rows(output);
  for (uint64_t first = 0; first < output.n_out; first += n) {
    const MatrixGroup& group = b.group(part_of(output, first, n));
    if (b.refused()) return;
    MatrixParameters m = group.matrices[0];
    m.out_at = static_cast<uint32_t>(first);
    if (bias != kAbsent) m.bias_at = bias + m.out_at;
    Target to;
    to.buffer = Place(b.plan.logits);
    to.factor = b.h.logit_scale;
    to.soft_cap = b.h.logit_soft_cap.value_or(0);
    to.row_floats = b.h.n_vocab;
    flow.product(flow.stream_by(if_any(w.output_norm)), group, {&m, 1}, to);
  }
}

// Whether rows may stand for tokens: all that is computed of a token before the first layer is its row.
bool takes_rows(const Model& model) {
  const Weights& w = model.weights();
  return !w.token_type && !w.position_embedding && !w.embedding_norm;
}

// As many rows of logits as a binding has room for.
void place_outputs(Builder& b, uint64_t max_bytes) {
  Plan& plan = b.plan;
  plan.n_output_rows = plan.n_batch;
  plan.embedded = b.buffer(Store::kOutput, uint64_t{plan.n_batch} * b.model().n_embedding() * 4);
  if (b.model().is_encoder()) return;
  const uint64_t row_bytes = uint64_t{b.h.n_vocab} * 4;
  plan.n_output_rows = static_cast<uint32_t>(std::min<uint64_t>({plan.n_batch, kMaxOutputRows, max_bytes / row_bytes}));
  if (plan.n_output_rows == 0) b.refuse("the logits of one token are larger than a binding");
  plan.logits = b.buffer(Store::kOutput, plan.n_output_rows * row_bytes);
}

void lower_choice(Builder& b) {
  std::vector<PlanDispatch>& list = b.plan.choose;
  Flow flow(b, list, false);
  RowsParameters p;
  p.n_out = b.h.n_vocab;
  Variant v;
  v.kernel = Kernel::kArgmax;
  v.flags = kOutputRows;
  flow.dispatch(v, p, 1, Place(b.plan.logits), Place(b.plan.chosen));
}

void lower_embeddings(Flow& flow) {
  Builder& b = flow.b;
  const Weights& w = b.model().weights();
  const Place embedded = Place(b.plan.embedded);
  if (!w.embedding_output) return flow.normalize_to(w.output_norm, embedded);
  Target to;
  to.buffer = embedded;
  flow.product(flow.stream_by(if_any(w.output_norm)), b.group(w.embedding_output), to);
}

void lower_outputs(Flow& flow, std::vector<PlanDispatch>& logits) {
  Builder& b = flow.b;
  flow.set_layer(kAbsent);
  flow.drop_rows();
  if (flow.prefill() && !b.model().has_encoder()) {
    Flow embeds = flow;
    embeds.use_list(b.plan.embeddings);
    lower_embeddings(embeds);
  }
  if (b.model().is_encoder()) return;
  flow.use_list(logits);
  lower_logits(flow);
}

// What a pass that encodes computes.
void lower_text_encoder(Builder& b) {
  Flow flow(b, b.plan.embeddings, true);
  lower_embedding(flow);
  for (size_t il = b.h.n_layer; il < layer_of_rows(b.h, 0) && !b.refused(); ++il) lower_layer(flow, il, false);
  if (b.refused()) return;
  flow.normalize_to(b.model().weights().encoder_norm, Place(b.plan.embedded));
  for (size_t il = 0; il < b.h.n_layer; ++il) {
    const CrossAttentionWeights& w = b.layer_weights(il).cross.get<CrossAttentionWeights>();
    flow.set_layer(static_cast<uint32_t>(il));
    store_rows(flow, layer_of_rows(b.h, il), w.k, w.v);
  }
}

}  // namespace

void lower_parallel(Flow& flow, size_t il, const Affine* norm, const Affine* ffn_norm) {
  Builder& b = flow.b;
  const LayerWeights& w = b.layer_weights(il);
  if (w.moe != nullptr) return b.refuse("experts and attention are parallel");
  Place inner = Place::kNone;
  const bool has = static_cast<bool>(w.ffn.down);
  AttentionParts parts = begin_attention(flow, il, norm, false);
  if (has) inner = lower_inner(flow, il, w.ffn, ffn_norm);
  if (b.refused()) return;
  finish_attention(flow, il, parts);
  if (has)
    flow.finish_part({inner, if_any(w.ffn.sub_norm), w.ffn.down.n_in}, w.ffn.down, w.ffn_post_norm, b.h.residual_scale);
}

Result<Plan> lower(const Model& model, const StateOptions& options, const DeviceLimits& limits) {
  Builder b(model.hparams(), model.architecture(), model.plan(), options, limits, &model);
  if (const char* reason = reason_against(model); reason != nullptr) b.refuse(reason);
  Plan& plan = b.plan;
  place_outputs(b, std::min(limits.max_binding_bytes, limits.max_buffer_bytes));
  for (size_t il = 0; il < b.h.n_deep_layer; ++il)
    plan.deep.push_back(b.buffer(Store::kActivation, uint64_t{plan.n_batch} * b.h.n_embd * 4));
  if (model.has_encoder()) {
    const uint64_t n_cells = b.cells(0);
    b.rooms = {{{b.h.n_layer, n_cells, options.cache_types}, {SIZE_MAX, n_cells}}};
    plan.encodes = true;
    lower_text_encoder(b);
  }
  const bool decodes = !model.is_encoder() && b.h.causal;
  Flow prefill(b, plan.prefill, true), decode(b, plan.decode, false);
  for (Flow* flow : {&decode, &prefill}) {
    if (flow == &decode && !decodes) continue;
    lower_embedding(*flow);
    if (flow == &prefill && takes_rows(model)) {
      plan.stream = static_cast<uint32_t>(flow->stream());
      plan.n_embed = static_cast<uint32_t>(plan.prefill.size());
    }
    // Layers read their inputs, and what an encoder returned, by token: no row is dropped before them.
    const bool by_token = b.h.n_embd_per_layer != 0 || model.has_encoder();
    if (b.h.n_embd_per_layer != 0 && !b.refused()) lower_layer_inputs(*flow);
    for (size_t il = 0; il < b.h.n_layer && !b.refused(); ++il)
      lower_layer(*flow, il, il + 1 == b.h.n_layer && flow->prefill() && !by_token);
    if (!b.refused()) lower_outputs(*flow, flow->prefill() ? plan.prefill_logits : plan.decode_logits);
  }
  if (b.refused()) return std::unexpected(b.error());
  if (decodes && !decode.agrees(prefill)) b.refuse("the lists for few and for many tokens end differently");
  if (!model.is_encoder()) lower_choice(b);
  // The core itself reads these.
  const Weights& w = model.weights();
  for (uint32_t i = 0; i < model.plan().size(); ++i) {
    const TensorRequest& r = model.plan()[i];
    const auto is = [&](const Vector& v) { return r.vector == &v; };
    const PoolingWeights& p = w.pooling;
    const auto of = [&](const Linear& l) { return r.linear == &l || is(l.bias) || is(l.scale); };
    if (is(w.rope_factors) || is(w.rope_factors_long) || is(w.rope_factors_short) || of(p.dense_2) || of(p.dense_3) ||
        of(p.cls) || of(p.cls_output) || is(p.cls_norm.weight) || is(p.cls_norm.bias))
      plan.host_requests.push_back(i);
  }
  return b.finish();
}

}  // namespace ggufscope::gpu
