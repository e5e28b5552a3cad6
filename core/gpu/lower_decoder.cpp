// Lowers a decoder that reads the rows of an encoder, together with this encoder.
#include <algorithm>

#include "base/sentence.hpp"
#include "gpu/decoder.hpp"
#include "gpu/lower.hpp"
#include "gpu/step.hpp"

namespace ggufscope::gpu {
namespace {

const Affine kNoNorm;

// Layers of the lowered model: those of the encoder, then each of the decoder for its cache of tokens, then each again
// for its cache of rows.
size_t of_tokens(const EncoderView& encoder, size_t il) { return encoder.layers.size() + il; }
size_t of_rows(const EncoderView& encoder, const DecoderView& decoder, size_t il) {
  return encoder.layers.size() + decoder.layers.size() + il;
}

Hparams hparams_of(const EncoderView& encoder, const DecoderView& decoder) {
  Hparams h = hparams_of(encoder);
  h.n_vocab = decoder.n_vocab;
  LayerParameters layer;
  layer.n_head = layer.n_head_kv = decoder.n_head;
  layer.d_k = layer.d_v = decoder.n_embd / decoder.n_head;
  for (size_t i = 0; i < 2 * decoder.layers.size(); ++i) {
    layer.kv_layer = static_cast<uint32_t>(h.layers.size());
    h.layers.push_back(layer);
  }
  h.n_layer = static_cast<uint32_t>(h.layers.size());
  return h;
}

// The weights that the watched heads of a layer give to rows.
void weigh_rows(Flow& flow, const DecoderView& view, size_t il, size_t layer, Place queries) {
  Builder& b = flow.b;
  for (size_t i = 0; i < view.heads.size(); ++i) {
    if (view.heads[i].first != il) continue;
    HeadsParameters p = Heads(b, layer, 0).p;
    p.first_head = view.heads[i].second;
    p.y_at = static_cast<uint32_t>(i * b.plan.n_output_rows);
    Variant v;
    v.kernel = Kernel::kWeighCells;
    v.d_k = static_cast<uint16_t>(p.query_stride);
    v.cache_keys = view.cache;
    v.flags = kWindowed | kOutputRows;
    flow.dispatch(v, p, 1, queries, b.keys(layer), Place(b.plan.weights));
  }
}

void lower_layer(Flow& flow, const EncoderView& encoder, const DecoderView& view, size_t il) {
  Builder& b = flow.b;
  const DecoderLayer& w = view.layers[il];
  const size_t tokens = of_tokens(encoder, il), rows = of_rows(encoder, view, il);
  flow.set_layer(static_cast<uint32_t>(tokens));
  MatrixList qkv;
  for (const Linear* linear : {w.q, w.k, w.v}) qkv.add(*linear);
  lower_heads(flow, tokens, kStores, w.norm_1, qkv, *w.out);
  lower_heads(flow, rows, kWindowed, w.norm_2, MatrixList(*w.cross_q), *w.cross_out);
  if (b.refused()) return;
  if (flow.prefill()) weigh_rows(flow, view, il, rows, b.activation(Activations::kQueries, view.n_embd));
  const size_t n_ff = w.down->n_in;
  Target inner = activation_target(b, tokens, false, 0);
  inner.buffer = b.activation(Activations::kInner, n_ff);
  flow.product(flow.stream_by(w.norm_3), b.group(*w.up), inner);
  flow.finish_part({inner.buffer, nullptr, n_ff}, *w.down, kNoNorm, Target{});
}

void lower_embedding(Flow& flow, const DecoderView& view) {
  Builder& b = flow.b;
  if (b.n_part_rows(*view.table) < view.table->n_out) return b.refuse("a table of embeddings is larger than a binding");
  MatrixList rows(*view.table);
  rows.add_table(*view.positions);
  const MatrixGroup& group = b.group(rows);
  if (b.refused()) return;
  RowsParameters p;
  p.out_factor = 1;
  p.norm_weight = p.norm_bias = p.token_type_at = kAbsent;
  flow.embed(group, kPositions, p, flow.stream());
}

void lower_logits(Flow& flow, const DecoderView& view, std::vector<PlanDispatch>& list) {
  Builder& b = flow.b;
  flow.set_layer(kAbsent);
  flow.drop_rows();
  flow.use_list(list);
  const MatrixGroup& group = b.group(*view.table);
  Target to;
  to.buffer = Place(b.plan.logits);
  to.row_floats = view.n_vocab;
  flow.product(flow.stream_by(view.output_norm), group, group.all().first(1), to);
}

void place_outputs(Builder& b, const DecoderView& view, const DeviceLimits& limits) {
  Plan& plan = b.plan;
  const uint64_t max_bytes = std::min(limits.max_binding_bytes, limits.max_buffer_bytes);
  const uint64_t row_bytes = uint64_t{view.n_vocab} * 4;
  plan.n_output_rows = static_cast<uint32_t>(std::min<uint64_t>({view.n_ctx, kMaxOutputRows, max_bytes / row_bytes}));
  if (plan.n_output_rows < kMaxColumns) b.refuse("the logits of some tokens are larger than a binding");
  plan.logits = b.buffer(Store::kOutput, plan.n_output_rows * row_bytes);
  const uint64_t weights = uint64_t{plan.n_output_rows} * view.heads.size() * b.rooms.back().cells * 4;
  if (weights > max_bytes) b.refuse("the weights of attention are larger than a binding");
  plan.weights = b.buffer(Store::kOutput, std::max<uint64_t>(weights, 16));
}

}  // namespace

void lower_heads(Flow& flow, size_t layer, uint32_t flags, const Affine* norm, const MatrixList& rows,
                 const Linear& out) {
  Builder& b = flow.b;
  const Heads heads(b, layer, flags);
  Target to;
  to.buffer = b.activation(Activations::kQkv, heads.n_qkv);
  flow.product(flow.stream_by(norm), b.group(rows), to);
  flow.finish_part({attend(flow, layer, heads, to.buffer, false), nullptr, heads.n_out}, out, kNoNorm, Target{});
}

void store_rows(Flow& flow, size_t layer, const Linear& keys, const Linear& values) {
  Builder& b = flow.b;
  MatrixList rows(keys);
  rows.add(values);
  Heads heads(b, layer, kStores);
  HeadsParameters& p = heads.p;
  for (uint32_t* at : {&p.value_at, &p.n_qkv}) *at -= p.key_at;
  p.n_head = p.key_at = 0;
  Target to;
  to.buffer = b.activation(Activations::kQkv, p.n_qkv);
  flow.product({Place(b.plan.embedded), nullptr, b.h.n_embd}, b.group(rows), to);
  heads.variant.kernel = Kernel::kPrepareHeads;
  flow.dispatch(heads.variant, p, p.n_head_kv, to.buffer, b.keys(layer), b.values(layer),
                b.activation(Activations::kQueries, heads.n_out), Place::kNone);
}

Result<Plan> lower_encoder_decoder(const EncoderView& encoder, const DecoderView& view, uint32_t n_rows,
                                   const DeviceLimits& limits) {
  const Hparams h = hparams_of(encoder, view);
  const Architecture arch;
  const uint32_t n_batch = std::max(n_rows, view.n_ctx);
  const StateOptions options{.n_ctx = n_batch, .n_batch = n_batch};
  Builder b(h, arch, encoder.requests, options, limits);
  const CacheTypes types{view.cache, view.cache};
  b.rooms = {{{of_tokens(encoder, 0), n_batch},
              {of_rows(encoder, view, 0), view.n_cells, types},
              {h.layers.size(), n_rows, types}}};
  if (view.n_embd != encoder.n_embd) b.refuse("rows of the encoder and of the decoder have different lengths");
  if (view.n_embd / view.n_head % 4 != 0) b.refuse_heads(view.n_embd / view.n_head);
  place_outputs(b, view, limits);
  lower_encoder_layers(b, encoder);
  Flow cross(b, b.plan.embeddings, true), prefill(b, b.plan.prefill, true), decode(b, b.plan.decode, false);
  for (size_t il = 0; il < view.layers.size() && !b.refused(); ++il) {
    cross.set_layer(static_cast<uint32_t>(of_tokens(encoder, il)));
    store_rows(cross, of_rows(encoder, view, il), *view.layers[il].cross_k, *view.layers[il].cross_v);
  }
  for (Flow* flow : {&decode, &prefill}) {
    if (!b.refused()) lower_embedding(*flow, view);
    for (size_t il = 0; il < view.layers.size() && !b.refused(); ++il) lower_layer(*flow, encoder, view, il);
    if (!b.refused()) lower_logits(*flow, view, flow->prefill() ? b.plan.prefill_logits : b.plan.decode_logits);
  }
  return b.finish();
}

Result<std::vector<uint32_t>> decoder_record(const Plan& plan, std::span<const PlacedToken> tokens,
                                             std::span<const uint32_t> outputs, uint32_t n_rows) {
  StepHeader header;
  std::vector<StepToken> records(tokens.size());
  std::vector<StepRun> runs{{0, n_rows, 0}};
  uint32_t n_used = 0;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const PlacedToken& token = tokens[t];
    StepToken& record = records[t];
    record.id = token.id;
    record.position = static_cast<int32_t>(token.position);
    record.cell[0] = token.cell;
    record.first_run[0] = static_cast<uint32_t>(runs.size());
    record.n_runs[0] = static_cast<uint32_t>(token.visible.size());
    record.n_runs[1] = 1;
    for (const CellRun& run : token.visible) {
      runs.push_back({run.begin, run.end, 0});
      n_used = std::max(n_used, run.end);
    }
  }
  set_splits(header, 0, n_used);
  set_splits(header, 1, n_rows);
  return checked(plan, record_of(header, records, outputs, runs), tokens.size());
}

}  // namespace ggufscope::gpu
