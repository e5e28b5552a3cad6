// Lowers the layers of an encoder, and writes the step records of its passes.
#include <algorithm>

#include "gpu/encoder.hpp"
#include "gpu/lower.hpp"
#include "gpu/step.hpp"

namespace ggufscope::gpu {
namespace {

template <class T>
bool has(const T* part) {
  return part != nullptr && static_cast<bool>(*part);
}

uint32_t head_norm(Builder& b, const Affine* norm, uint32_t d, uint32_t flag, uint32_t& weight, uint32_t& bias) {
  if (!has(norm)) return 0;
  weight = b.vector(norm->weight);
  bias = b.vector(norm->bias);
  return flag | layer_norm(b.h.norm) | (norm->weight.n != d ? uint32_t{kWholeNorm} : 0);
}

Heads heads_of(Builder& b, const EncoderView& view, size_t il) {
  const EncoderLayer& w = view.layers[il];
  Heads heads(b, il, kStores);
  HeadsParameters& p = heads.p;
  p.n_rot = view.rope == RopeKind::kNone ? 0 : view.d_head;
  p.head_eps = p.eps = view.eps;
  Variant& v = heads.variant;
  v.rope = view.rope;
  const uint32_t queries = head_norm(b, w.q_norm, view.d_head, kQueryNorm, p.query_weight, p.query_bias);
  const uint32_t keys = head_norm(b, w.k_norm, view.d_head, kKeyNorm, p.key_weight, p.key_bias);
  if (queries != 0 && keys != 0 && ((queries ^ keys) & kWholeNorm) != 0)
    b.refuse("queries and keys have norms of different shapes");
  v.flags |=
      queries | keys | (w.windowed ? uint32_t{kWindowed} : 0) | (view.normalizes_values ? uint32_t{kNormValues} : 0);
  if (w.windowed && has(w.sinks)) v.flags |= kSinks, p.sinks_at = b.vector(*w.sinks);
  return heads;
}

// x += post(scale * linear(from))
void finish(Flow& flow, const Source& from, const Linear& linear, const Affine* post, const Vector* scale) {
  static const Affine none;
  Target to;
  if (has(scale)) {
    to.flags = kRowFactor;
    to.factors = flow.b.vectors();
    to.factor_at = flow.b.vector(*scale);
    to.factor_step = 1;
  }
  flow.finish_part(from, linear, post != nullptr ? *post : none, to);
}

void lower_layer(Flow& flow, const EncoderView& view, size_t il) {
  Builder& b = flow.b;
  const EncoderLayer& w = view.layers[il];
  flow.set_layer(static_cast<uint32_t>(il));
  const Heads heads = heads_of(b, view, il);
  MatrixList rows;
  for (const Linear* linear : {w.qkv, w.q, w.k, w.v})
    if (linear != nullptr) rows.add(*linear);
  Target qkv;
  qkv.buffer = b.activation(Activations::kQkv, heads.n_qkv);
  flow.product(flow.stream_by(w.norm_1), b.group(rows), qkv);
  finish(flow, {attend(flow, il, heads, qkv.buffer, false), nullptr, heads.n_out}, *w.out, w.after_attention,
         w.scale_1);

  const size_t n_ff = w.down->n_in;
  Target inner = activation_target(b, il, has(w.gate), 0);
  inner.buffer = b.activation(Activations::kInner, n_ff);
  MatrixList up;
  if (has(w.gate)) up.add(*w.gate);
  up.add(*w.up);
  flow.product(flow.stream_by(w.norm_2), b.group(up), inner);
  finish(flow, {inner.buffer, nullptr, n_ff}, *w.down, w.after_ffn, w.scale_2);
}

}  // namespace

Hparams hparams_of(const EncoderView& view) {
  Hparams h;
  h.n_embd = view.n_embd;
  h.n_layer = static_cast<uint32_t>(view.layers.size());
  h.norm = view.norm;
  h.norm_eps = view.eps;
  h.activation = view.activation;
  h.causal = false;
  h.rope.n_rot = view.d_head;
  if (view.attention_scale != 0) h.attention_scale = view.attention_scale;
  LayerParameters layer;
  layer.n_head = view.n_head;
  layer.n_head_kv = view.n_head_kv;
  layer.d_k = layer.d_v = view.d_head;
  h.layers.assign(h.n_layer, layer);
  return h;
}

void lower_encoder_layers(Builder& b, const EncoderView& view) {
  if (view.d_head % 4 != 0 || view.d_head > 1024) b.refuse_heads(view.d_head);
  b.matrix_limits = &view.limits;
  b.plan.embedded = b.buffer(Store::kOutput, uint64_t{b.plan.n_batch} * view.n_embd * 4);
  const Affine none;
  size_t begin = 0;
  for (const size_t end : view.ends) {
    Flow flow(b, b.plan.embeddings, true);
    b.plan.stream = static_cast<uint32_t>(flow.stream());
    for (size_t il = begin; il < end && !b.refused(); ++il) lower_layer(flow, view, il);
    if (b.refused()) return;
    flow.normalize_to(view.output_norm != nullptr && end == view.ends.back() ? *view.output_norm : none,
                      Place(b.plan.embedded));
    begin = end;
  }
}

Result<Plan> lower_encoder(const EncoderView& view, uint32_t n_rows, const DeviceLimits& limits) {
  const Hparams h = hparams_of(view);
  const Architecture arch;
  const StateOptions options{.n_ctx = n_rows, .n_batch = n_rows};
  Builder b(h, arch, view.requests, options, limits);
  lower_encoder_layers(b, view);
  return b.finish();
}

std::vector<uint32_t> encoder_record(const LayerRun& rows) {
  StepHeader header;
  std::vector<StepToken> tokens(rows.n_rows);
  std::vector<StepRun> runs;
  for (size_t which = 0; which < 2; ++which) {
    const auto& sees = which == 0 ? rows.all : rows.windows;
    header.half[which] = static_cast<uint32_t>(rows.half);
    for (size_t t = 0; t < sees.size(); ++t) {
      StepToken& token = tokens[t];
      token.cell[which] = static_cast<uint32_t>(t);
      // Rows that see the same share their runs.
      const bool same = t > 0 && std::ranges::equal(sees[t], sees[t - 1], [](const CellRun& a, const CellRun& b) {
                          return a.begin == b.begin && a.end == b.end;
                        });
      token.first_run[which] = same ? tokens[t - 1].first_run[which] : static_cast<uint32_t>(runs.size());
      token.n_runs[which] = static_cast<uint32_t>(sees[t].size());
      for (size_t i = 0; !same && i < sees[t].size(); ++i) runs.push_back({sees[t][i].begin, sees[t][i].end, 0});
    }
  }
  std::vector<uint32_t> words = record_of(header, tokens, {}, runs, true);
  for (size_t i = 0; i < rows.n_rows * rows.half; ++i) {
    append_float(words, i < rows.cosines.size() ? rows.cosines[i] : 1.0f);
    append_float(words, i < rows.sines.size() ? rows.sines[i] : 0.0f);
  }
  return words;
}

}  // namespace ggufscope::gpu
