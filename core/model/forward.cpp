// The shared decoder. A layer is
//
//   x += post(mix(pre(x)));  x += post(ffn(pre(x)))          serial, the usual form
//   x += mix(pre(x)) + ffn(pre'(x))                          parallel: GPT-J, GPT-NeoX, Falcon, Phi-2, Command-R
//   x = post(x + mix(x));  x = post(x + ffn(x))              encoders of 2018 such as BERT
//
// where mix is attention or a recurrence (mixers.cpp) and ffn is a dense network or experts (ffn.cpp).
#include "model/forward.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "model/architectures/assistant.hpp"
#include "model/architectures/mtp_head.hpp"
#include "model/decision/decision.hpp"
#include "model/ffn.hpp"
#include "model/kv_cells.hpp"
#include "model/logits.hpp"
#include "model/mixers/attention.hpp"
#include "model/mixers/block_draft.hpp"
#include "model/mixers/cross_attention.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/mixers/granite_switch.hpp"
#include "model/mixers/rwkv.hpp"
#include "model/residual/altup.hpp"
#include "model/residual/hyper_connections.hpp"
#include "model/residual/low_rank_connections.hpp"
#include "model/residual/recurrent_stacks.hpp"
#include "model/residual/residual_attention.hpp"
#include "model/wavtokenizer.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

void embed(const Pass& pass, std::span<const int32_t> tokens, float* x, float* scratch) {
  const Weights& w = pass.model.weights();
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, n_embd = h.n_embd;
  if (pass.inputs.empty()) {
    look_up(pass.pool, pass.model.token_embedding(), tokens, x);
  } else {
    for (size_t t = 0; t < n; ++t)
      std::memcpy(x + t * n_embd, pass.inputs.data() + t * pass.model.n_input(), n_embd * sizeof(float));
  }
  // For models that scale embeddings by sqrt(n_embd), projector outputs are scaled already.
  const bool scaled = !pass.inputs.empty() && pass.model.architecture().embedding_scale_sqrt;
  if (h.embedding_scale != 1 && !scaled) vec::scale(x, h.embedding_scale, n * n_embd);
  if (w.token_type)
    for (size_t t = 0; t < n; ++t) vec::add(x + t * n_embd, w.token_type.data(), n_embd);
  if (w.position_embedding) {
    get_rows(w.position_embedding.matrix, pass.positions, scratch);
    vec::add(x, scratch, n * n_embd);
  }
  if (w.embedding_norm) normalize_rows(pass.pool, h.norm_eps, h.norm, w.embedding_norm, x, n, n_embd, x);
}

namespace {

// Normalizes the rows, or copies them if there is no norm.
void norm_or_copy(const Pass& pass, const Affine& by, const float* from, float* to, float eps = 0) {
  const Hparams& h = pass.h();
  if (by) {
    normalize_tokens(pass.pool, h, by, from, pass.n_tokens, to, eps);
  } else if (from != to) {
    std::memcpy(to, from, pass.n_tokens * h.n_embd * sizeof(float));
  }
}

// Scales the output of a part. In MiniMax-01 it scales the part's input, which then replaces x.
void scale_residual(const Pass& pass, const Activations& a, float* output) {
  const size_t size = pass.n_tokens * pass.h().n_embd;
  const bool normed = pass.model.architecture().residual_is_normed;
  if (normed) std::memcpy(a.x, a.normed, size * sizeof(float));
  if (pass.h().residual_scale != 1) vec::scale(normed ? a.x : output, pass.h().residual_scale, size);
}

// Attention or a recurrence. In parallel layers its output waits in a.mixed.
void run_mixer(Pass& pass, size_t il, const Activations& a) {
  const Architecture& arch = pass.model.architecture();
  const Hparams& h = pass.h();
  const LayerWeights& w = pass.weights(il);
  const float* read = a.normed;
  if (h.parallel && w.attn_norm_2) norm_or_copy(pass, w.attn_norm_2, a.x, a.forward), read = a.forward;
  find_mixer(pass.layer(il).mixer).run(pass, il, read, a.mixed);
  if (w.attn_post_norm && !arch.norm_after_residual)
    norm_or_copy(pass, w.attn_post_norm, a.mixed, a.mixed, h.post_norm_eps);
  scale_residual(pass, a, a.mixed);
  if (h.part<DraftSizes>().norm_before_residual) std::memcpy(a.x, a.normed, pass.n_tokens * h.n_embd * sizeof(float));
  if (!h.parallel) add_rows(pass.pool, a.x, a.mixed, pass.n_tokens, h.n_embd);
  if (!arch.norm_after_residual) return;
  norm_or_copy(pass, w.attn_post_norm, a.x, a.x);
  if (w.attn_norm_2) {  // jina adds the layer's input again
    vec::add(a.x, a.input, pass.n_tokens * h.n_embd);
    norm_or_copy(pass, w.attn_norm_2, a.x, a.x);
  }
}

// Keeps only the given tokens.
void drop_rows(Pass& pass, const Activations& a, std::span<const uint32_t> keep) {
  const size_t n_embd = pass.h().n_embd;
  for (size_t i = 0; i < keep.size(); ++i)
    for (float* rows : {a.x, a.input})
      if (keep[i] != i) std::memcpy(rows + i * n_embd, rows + keep[i] * n_embd, n_embd * sizeof(float));
  pass.n_tokens = keep.size();
}

void run_feed_forward(Pass& pass, size_t il, bool mixes, const Activations& a) {
  const Architecture& arch = pass.model.architecture();
  const Hparams& h = pass.h();
  const LayerWeights& w = pass.weights(il);
  if (h.parallel) {
    if (w.ffn_norm) norm_or_copy(pass, w.ffn_norm, a.x, a.normed);
  } else if (w.ffn_norm || mixes) {
    // Chameleon's norm reads only the attention's output.
    norm_or_copy(pass, w.ffn_norm, h.norms_follow ? a.mixed : a.x, a.normed);
  }
  if (w.channel_mix) {
    run_channel_mix(pass, il, a.normed, a.forward);
  } else if (h.part<DraftSizes>().n_taps != 0) {
    run_convolved_ffn(pass, il, a.normed, a.input, a.forward);
  } else {
    run_ffn(pass, il, a.normed, a.input, a.forward);
  }
  if (w.ffn_post_norm && !arch.norm_after_residual)
    norm_or_copy(pass, w.ffn_post_norm, a.forward, a.forward, h.post_norm_eps);
  scale_residual(pass, a, a.forward);
  if (h.parallel) add_rows(pass.pool, a.x, a.mixed, pass.n_tokens, h.n_embd);
  add_rows(pass.pool, a.x, a.forward, pass.n_tokens, h.n_embd);
  if (arch.norm_after_residual) norm_or_copy(pass, w.ffn_post_norm, a.x, a.x);
}

// The scratch memory of a layer's parts, which take it one after another.
void count_layer(Pass& pass, size_t il) {
  const LayerWeights& w = pass.weights(il);
  if (const Mixer& mixer = find_mixer(pass.layer(il).mixer); mixer.run != nullptr)
    mixer.run(pass, il, nullptr, nullptr);
  if (w.cross && !pass.encoding) run_cross_attention(pass, il, nullptr, nullptr);
  if (w.channel_mix) {
    run_channel_mix(pass, il, nullptr, nullptr);
  } else if (pass.h().part<DraftSizes>().n_taps != 0) {
    run_convolved_ffn(pass, il, nullptr, nullptr, nullptr);
  } else if (has_ffn(w)) {
    run_ffn(pass, il, nullptr, nullptr, nullptr);
  }
}

}  // namespace

Activations take_activations(Pass& pass) {
  Activations a{};
  for (float** buffer : {&a.x, &a.normed, &a.mixed, &a.forward, &a.input})
    *buffer = pass.take(pass.n_tokens, pass.h().n_embd);
  return a;
}

bool run_layer(Pass& pass, size_t il, const Activations& a, std::span<const uint32_t> keep) {
  if (pass.counting()) return count_layer(pass, il), false;
  const Architecture& arch = pass.model.architecture();
  const Hparams& h = pass.h();
  const LayerWeights& w = pass.weights(il);
  if (arch.norm_after_residual || arch.router_reads_layer_input || arch.experts_read_layer_input)
    std::memcpy(a.input, a.x, pass.n_tokens * h.n_embd * sizeof(float));

  norm_or_copy(pass, w.attn_norm, a.x, a.normed);
  const bool mixes = pass.layer(il).mixer != MixerKind::kNone;
  if (mixes) run_mixer(pass, il, a);
  if (w.cross && !pass.encoding) {
    norm_or_copy(pass, w.cross.get<CrossAttentionWeights>().norm, a.x, a.normed);
    run_cross_attention(pass, il, a.normed, a.mixed);
    vec::add(a.x, a.mixed, pass.n_tokens * h.n_embd);
  }

  const bool channel_mix = static_cast<bool>(w.channel_mix);
  const bool drops = !keep.empty() && mixes && !h.parallel && !channel_mix && !h.norms_follow && pass.slots.empty();
  if (drops) drop_rows(pass, a, keep);
  if (has_ffn(w) || channel_mix) run_feed_forward(pass, il, mixes, a);
  if (h.part<RwkvSizes>().rescale_every != 0 && (il + 1) % h.part<RwkvSizes>().rescale_every == 0)
    vec::scale(a.x, 0.5f, pass.n_tokens * h.n_embd);
  return drops;
}

bool has_one_stream(const Model& model) {
  const Hparams& h = model.hparams();
  return !model.architecture().altup && h.part<HyperSizes>().n == 0 && h.part<BankSizes>().block == 0 &&
         h.part<LowRankSizes>().n == 0;
}

namespace {

// Writes the rows of x at `outputs` (all remaining rows if `dropped`): normalized, then as logits or as they are.
void write_outputs(Pass& pass, const Batch& batch, std::span<const uint32_t> outputs, bool dropped, const float* x,
                   float* rows, float*& out) {
  const Model& model = pass.model;
  const Hparams& h = pass.h();
  const Weights& w = model.weights();
  const size_t n_embd = h.n_embd;
  const size_t n = outputs.size();
  if (n == 0) return;
  for (size_t i = 0; i < n; ++i)
    std::memcpy(rows + i * n_embd, x + (dropped ? i : outputs[i]) * n_embd, n_embd * sizeof(float));
  if (w.output_norm) normalize_output(pass.pool, h, w.output_norm, rows, n, rows);
  if (batch.embeddings || model.is_encoder()) {
    if (w.embedding_output) {
      apply(pass.pool, w.embedding_output, rows, n, out);
    } else {
      std::memcpy(out, rows, n * n_embd * sizeof(float));
    }
    out += n * model.n_embedding();
    return;
  }
  write_logits(model, pass.pool, rows, n, out);
  out += n * h.n_vocab;
}

// The scores of a typed decision head, which reads the states of all tokens.
void write_scores(Pass& pass, std::span<const uint32_t> outputs, const Activations& a, float*& out) {
  const size_t n = pass.n_tokens, n_out = pass.model.n_embedding();
  const ArenaScope scope(pass.state.arena);
  float* scores = pass.take(n, n_out);
  if (!pass.counting()) norm_or_copy(pass, pass.model.weights().output_norm, a.x, a.normed);
  run_typed_head(pass, a.normed, scores);
  if (pass.counting()) return;
  for (const uint32_t t : outputs) {
    std::memcpy(out, scores + t * n_out, n_out * sizeof(float));
    out += n_out;
  }
}

// Adds a control vector's direction to the output of a layer.
void steer(const Pass& pass, size_t il, float* x, size_t n_rows) {
  const float* direction = pass.model.steering(il);
  for (size_t t = 0; t < n_rows && direction != nullptr; ++t)
    vec::add(x + t * pass.h().n_embd, direction, pass.h().n_embd);
}

bool cancelled(const std::atomic<bool>* cancel) { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }

// The cosines and sines of the tokens' positions, [n_tokens, n_rot / 2].
void compute_rope_angles(Pass& pass) {
  for (size_t which = 0; which < (pass.h().window != 0 ? 2 : 1); ++which) {
    const RopeTable& table = pass.state.rope_tables[which];
    const size_t half = (which == 0 ? pass.h().rope : pass.h().rope_windowed).n_rot / 2;
    float* cosines = pass.take(pass.n_tokens, half);
    float* sines = pass.take(pass.n_tokens, half);
    if (pass.counting()) continue;
    for (size_t t = 0; t < pass.n_tokens; ++t) {
      if (pass.axes.empty()) {
        rope_angles(table, pass.positions[t], cosines + t * half, sines + t * half);
      } else {
        rope_angles(table, pass.axes.data() + 3 * t, cosines + t * half, sines + t * half);
      }
    }
    pass.cosines[which] = cosines;
    pass.sines[which] = sines;
  }
}

// The streams of architectures that keep more than one residual stream. Each architecture has at most one kind.
struct Streams {
  HyperStreams hyper;
  LowRankStreams low_rank;
  Bank bank;
  float* altup = nullptr;
  StackStates stacks;
  /// Those of a hidden state that has several (n_state_streams).
  [[nodiscard]] float* of_state() const { return low_rank.x != nullptr ? low_rank.x : hyper.x; }
};

Streams split_streams(Pass& pass, const float* x) {
  const Hparams& h = pass.h();
  Streams s;
  if (pass.model.architecture().altup) {
    s.altup = pass.take(pass.n_tokens, n_altup_streams(pass.model.weights()), h.n_embd);
    split_altup_streams(pass, x, s.altup);
  }
  if (h.part<HyperSizes>().n != 0) s.hyper = split_hyper_streams(pass, x);
  if (h.part<LowRankSizes>().n != 0) s.low_rank = split_low_rank_streams(pass, x);
  if (h.part<DraftSizes>().kind == DraftKind::kMtpHead && n_state_streams(h) > 1) join_mtp_inputs(pass, s.of_state());
  if (h.part<BankSizes>().block != 0) s.bank = take_bank(pass);
  if (h.stacks.n_layer != 0) s.stacks = take_stack_states(pass, x);
  return s;
}

// Returns false, without computing the layer, if x is the only stream.
bool run_streams_layer(Pass& pass, size_t il, Streams& s, const float* per_layer, const Activations& a) {
  const size_t n = pass.n_tokens;
  // After the layer, x has n_rows rows.
  const auto watch_output = [&](float* x, size_t n_rows) {
    steer(pass, il, x, n_rows);
    pass.state.watch_numbers(static_cast<int32_t>(il), x, n_rows * pass.h().n_embd);
  };
  if (s.hyper.x != nullptr) {
    run_hyper_layer(pass, il, s.hyper, a);
    watch_output(s.hyper.x, n * pass.h().part<HyperSizes>().n);
  } else if (s.low_rank.x != nullptr) {
    run_low_rank_layer(pass, il, s.low_rank, a);
    watch_output(s.low_rank.x, n * pass.h().part<LowRankSizes>().n);
  } else if (s.bank.streams != nullptr) {
    run_banking_layer(pass, il, s.bank, a);
    watch_output(a.x, n);
  } else if (s.altup != nullptr) {
    run_altup_layer(pass, il, s.altup, per_layer, a);
    watch_output(s.altup, n * n_altup_streams(pass.model.weights()));
  } else {
    return false;
  }
  return true;
}

// What some architectures add to a layer's output or scale it by. kept: the tokens of the rows of x; empty: all.
void finish_layer(Pass& pass, size_t il, const float* per_layer, std::span<const uint32_t> kept, const Activations& a) {
  const auto row = [&](size_t t) { return kept.empty() ? t : size_t{kept[t]}; };
  const Model& model = pass.model;
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, n_embd = h.n_embd;
  if (per_layer != nullptr) {
    per_layer_output(pass, il, per_layer, a.x, a.forward);
    vec::add(a.x, a.forward, n * n_embd);
  }
  if (!pass.inputs.empty() && il < h.n_deep_layer)
    for (size_t t = 0; t < n; ++t)
      vec::add(a.x + t * n_embd, pass.inputs.data() + row(t) * model.n_input() + (il + 1) * n_embd, n_embd);
  if (const Vector& scale = pass.weights(il).output_scale; scale && model.architecture().adds_embedding) {
    for (size_t t = 0; t < n; ++t)
      vec::add_scaled(a.x + t * n_embd, scale.data()[0], pass.first_value + row(t) * n_embd, n_embd);
  } else if (scale) {
    vec::scale(a.x, scale.data()[0], n * n_embd);
  }
  steer(pass, il, a.x, n);
  if (h.norm_between_loops && (il + 1) % (h.n_layer / h.n_loops) == 0 && il + 1 < h.n_layer)
    normalize_tokens(pass.pool, h, model.weights().output_norm, a.x, n, a.x);
}

// Records x, the input of layer il (or, after the layers, what left the last one), if the batch asks for it.
void watch(const Pass& pass, const Batch& batch, size_t first, size_t il, const float* x) {
  const size_t n_embd = batch.all_streams ? pass.model.n_last_state() : pass.h().n_embd;
  const size_t n_watched = batch.watched.size();
  for (size_t i = 0; i < n_watched; ++i)
    for (size_t t = 0; t < pass.n_tokens && batch.watched[i] == il; ++t)
      std::memcpy(batch.seen + ((first + t) * n_watched + i) * n_embd, x + t * n_embd, n_embd * sizeof(float));
}

// x of architectures with several residual streams.
void merge_streams(Pass& pass, Streams& streams, Activations& a) {
  if (streams.altup != nullptr) merge_altup_streams(pass, streams.altup, a.x, a.forward);
  if (streams.hyper.x != nullptr) merge_hyper_streams(pass, streams.hyper, a.x);
  if (streams.low_rank.x != nullptr) merge_low_rank_streams(pass, streams.low_rank, a.x);
  if (streams.bank.streams == nullptr) return;
  mix_bank_output(pass, streams.bank, a.x, a.forward);
  a.x = a.forward;
}

// Embeddings of a model whose streams are weighed together only for logits: the streams themselves.
void write_wide_embeddings(const Pass& pass, std::span<const uint32_t> outputs, const LowRankStreams& streams,
                           float*& out) {
  const size_t n = pass.model.n_embedding();
  for (const uint32_t t : outputs) {
    std::memcpy(out, streams.x + t * n, n * sizeof(float));
    out += n;
  }
}

// The indices of the tokens that the output mask selects, of n from `first` on.
std::vector<uint32_t> outputs_of(const Batch& batch, size_t first, size_t n) {
  std::vector<uint32_t> outputs;
  for (size_t t = 0; t < n; ++t)
    if (batch.output_mask.empty() || batch.output_mask[first + t] != 0) outputs.push_back(static_cast<uint32_t>(t));
  return outputs;
}

// The input of the layers, and the embeddings that some of them read again.
void take_inputs(Pass& pass, std::span<const int32_t> tokens, const Activations& a) {
  const Hparams& h = pass.h();
  const DraftKind draft = h.part<DraftSizes>().kind;
  if (draft == DraftKind::kAssistant) return join_assistant_inputs(pass, tokens, a.x);
  if (h.part<SwitchSizes>().activate.empty()) {
    embed(pass, tokens, a.x, a.normed);
  } else {
    embed(pass, switch_tokens(pass, tokens), a.x, a.normed);
  }
  if (pass.model.architecture().adds_embedding)
    std::memcpy(pass.first_value, a.x, pass.n_tokens * h.n_embd * sizeof(float));
  if (draft == DraftKind::kEagle || draft == DraftKind::kMtpHead)
    look_up(pass.pool, pass.model.token_embedding(), tokens, pass.first_value);
  if (draft == DraftKind::kMtpHead && n_state_streams(h) == 1) join_mtp_inputs(pass, a.x);
}

Result<void> forward_tokens(Pass& pass, const Batch& batch, size_t first, float*& out,
                            const std::atomic<bool>* cancel) {
  const Model& model = pass.model;
  const Hparams& h = model.hparams();
  const size_t n = pass.n_tokens, size = n * h.n_embd;
  const std::span<const int32_t> tokens = batch.tokens.subspan(first, n);
  if (pass.pool.profile() != nullptr) pass.pool.profile()->begin_pass(n);
  const Timed timed(pass.pool.profile(), Operation::kPass);

  pass.state.arena.release(0);
  const std::vector<uint32_t> outputs = outputs_of(batch, first, n);
  if (h.part<CodecSizes>().n != 0) {
    const Result<void> done = run_codec(pass, tokens, outputs, out);
    out += outputs.size() * h.n_embd;
    return done;
  }
  Activations a = take_activations(pass);
  compute_rope_angles(pass);
  pass.first_value = pass.take(n, h.n_embd);
  if (h.part<DraftSizes>().kind == DraftKind::kBlock && !pass.inputs.empty())
    return cache_states(pass, pass.inputs.data()), Result<void>{};
  take_inputs(pass, tokens, a);
  const float* per_layer = h.n_embd_per_layer != 0 ? per_layer_inputs(pass, tokens, a.x) : nullptr;
  const bool recurrent = model.is_recurrent();
  const bool scores = h.part<DecisionSizes>().head == DecisionHead::kTyped;
  const bool drops = outputs.size() < n && per_layer == nullptr && !scores && pass.probe == nullptr &&
                     std::ranges::find(batch.watched, h.n_layer) == batch.watched.end();
  bool dropped = false;
  pass.state.watch_numbers(-1, a.x, size);
  Streams streams = split_streams(pass, a.x);
  std::vector<float> unchanged;  // x before an ablated layer
  for (size_t il = 0; il < h.n_layer; ++il) {
    if (!recurrent && cancelled(cancel)) return fail(ErrorCode::kInvalidArgument, "cancelled");
    if (run_streams_layer(pass, il, streams, per_layer, a)) continue;
    if (streams.stacks.low != nullptr) enter_stack(pass, il, streams.stacks, a.x);
    watch(pass, batch, first, il, a.x);
    const bool ablated = pass.probe != nullptr && pass.probe->ablates_layer(il);
    if (ablated) unchanged.assign(a.x, a.x + size);
    const bool last = il + 1 == h.n_layer && drops;
    dropped = run_layer(pass, il, a, last ? std::span<const uint32_t>(outputs) : std::span<const uint32_t>());
    finish_layer(pass, il, per_layer, dropped ? std::span<const uint32_t>(outputs) : std::span<const uint32_t>(), a);
    if (ablated) std::ranges::copy(unchanged, a.x);
    if (streams.stacks.low != nullptr) leave_stack(pass, il, streams.stacks, a.x);
    pass.state.watch_numbers(static_cast<int32_t>(il), a.x, pass.n_tokens * h.n_embd);
  }
  merge_streams(pass, streams, a);
  watch(pass, batch, first, h.n_layer, batch.all_streams && n_state_streams(h) > 1 ? streams.of_state() : a.x);
  if (scores) {
    write_scores(pass, outputs, a, out);
  } else if (batch.embeddings && streams.low_rank.x != nullptr) {
    write_wide_embeddings(pass, outputs, streams.low_rank, out);
  } else {
    write_outputs(pass, batch, outputs, dropped, a.x, a.normed, out);
  }
  pass.n_tokens = n;
  return {};
}

}  // namespace

size_t output_floats(const Model& model, bool embeddings) {
  return embeddings ? model.n_embedding() : model.n_output();
}

void count_forward(Pass& pass) {
  const Hparams& h = pass.h();
  if (h.part<CodecSizes>().n != 0) return void(run_codec(pass, {}, {}, nullptr));
  const Activations a = take_activations(pass);
  compute_rope_angles(pass);
  pass.first_value = pass.take(pass.n_tokens, h.n_embd);
  if (h.part<DraftSizes>().kind == DraftKind::kMtpHead) join_mtp_inputs(pass, nullptr);
  if (h.part<DraftSizes>().kind == DraftKind::kAssistant) join_assistant_inputs(pass, {}, nullptr);
  const float* per_layer = h.n_embd_per_layer != 0 ? per_layer_inputs(pass, {}, nullptr) : nullptr;
  const Streams streams = split_streams(pass, nullptr);
  if (h.part<BankSizes>().block != 0) count_bank(pass, streams.bank);
  if (h.part<LowRankSizes>().n != 0) count_low_rank(pass);
  for (size_t il = 0; il < h.n_layer; ++il) {
    if (pass.model.architecture().altup) {
      run_altup_layer(pass, il, nullptr, per_layer, a);
    } else {
      run_layer(pass, il, a);
      if (h.n_embd_per_layer != 0) per_layer_output(pass, il, per_layer, nullptr, nullptr);
    }
  }
  float* no_output = nullptr;
  if (h.part<DecisionSizes>().head == DecisionHead::kTyped) write_scores(pass, {}, a, no_output);
}

Result<void> forward(const Model& model, State& state, Pool& pool, const Batch& batch, float* out,
                     const std::atomic<bool>* cancel) {
  if (const Result<void> ok = check_batch(model, state, batch); !ok) return ok;
  if (model.has_encoder() && state.n_encoded == 0)
    return fail(ErrorCode::kInvalidArgument, "nothing was encoded for the decoder to attend to");
  if (const Result<void> reserved = state.reserve_scratch(); !reserved) return reserved;
  for (size_t first = 0; first < batch.tokens.size();) {
    if (cancelled(cancel)) return fail(ErrorCode::kInvalidArgument, "cancelled");
    const size_t n = std::min<size_t>(batch.tokens.size() - first, state.options().n_batch);
    Result<Pass> pass = place_batch(model, state, pool, batch, first, n);
    if (!pass) return std::unexpected(pass.error());
    const Result<void> computed = forward_tokens(*pass, batch, first, out, cancel);
    commit_batch(*pass, computed.has_value());
    if (!computed) return computed;
    first += n;
  }
  return {};
}

}  // namespace ggufscope
