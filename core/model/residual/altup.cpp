// Gemma 3n: several residual streams, of which one is computed and the others are predicted from it (AltUp, Baykal et
// al. 2023), and a low-rank layer parallel to attention (LAuReL, Menghani et al. 2024).
//
//   p_j = x_j + sum_i predict_ij x_i                          prediction of each stream
//   c   = (p_0 + attention(norm(p_0)) + laurel(norm(p_0))) / sqrt(2);  c += ffn(norm(c))
//   x_j = p_j + (1 + correct_j) (c - p_0)                     correction by the computed stream
//   x_j += per-layer input, for j > 0
//
// predict and correct are outputs of a router that reads p_0 and c.
#include "model/residual/altup.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr size_t kSparseLayers = 10;
constexpr float kSparsity =
    1.6448533535003662f;  // the 95th percentile of a normal distribution, in standard deviations

// Keeps only values above the row's mean plus this many standard deviations.
void keep_outliers(float* row, size_t n) {
  float sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) sum += row[i];
  const float mean = sum / static_cast<float>(n);
  for (size_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
  const float cutoff = mean + kSparsity * std::sqrt(squares / static_cast<float>(n - 1));
  for (size_t i = 0; i < n; ++i) row[i] = std::max(row[i] - cutoff, 0.0f);
}

float magnitude(const float* x, size_t n) { return std::sqrt(vec::dot(x, x, n)); }

// Scales the rows of x to the magnitudes of those of `like`.
void match_magnitude(float* x, const float* like, size_t n_rows, size_t n) {
  for (size_t r = 0; r < n_rows; ++r) vec::scale(x + r * n, magnitude(like + r * n, n) / magnitude(x + r * n, n), n);
}

// The router's output for x: [n_tokens, n_streams]. scratch [n_tokens, n_embd].
void modalities(Pass& pass, const AltupWeights& w, const float* x, float* scratch, float* out) {
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens;
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.router_norm, x, n, h.n_embd, scratch);
  vec::scale(scratch, 1.0f / static_cast<float>(h.n_embd), n * h.n_embd);
  apply(pass.pool, w.router, scratch, n, out);
  activate(Activation::kTanh, out, n * w.router.n_out);
}

}  // namespace

void plan_per_layer(const LayerPlan& plan, LayerWeights& weights) {
  PerLayerWeights& w = weights.per_layer.create<PerLayerWeights>();
  plan.planner.linear(w.gate, plan.name("inp_gate"), plan.h.n_embd, plan.h.n_embd_per_layer);
  plan.planner.linear(w.proj, plan.name("proj"), plan.h.n_embd_per_layer, plan.h.n_embd);
  plan.planner.affine(w.norm, plan.name("post_norm"), plan.h.n_embd);
}

const float* per_layer_inputs(Pass& pass, std::span<const int32_t> tokens, const float* x) {
  const Hparams& h = pass.h();
  const Weights& w = pass.model.weights();
  const size_t n = pass.n_tokens, d = h.n_embd_per_layer, row = d * h.n_layer;
  float* out = pass.take(n, h.n_layer, d);
  const ArenaScope scope(pass.state.arena);
  float* scratch = pass.take(n, h.n_layer, d);
  if (pass.counting()) return out;
  if (w.per_layer_embedding) get_rows(w.per_layer_embedding.matrix, tokens, out);
  apply(pass.pool, w.per_layer_model_proj, x, n, scratch);  // [n_tokens, n_layer, d]
  vec::scale(scratch, 1.0f / std::sqrt(static_cast<float>(h.n_embd)), n * row);
  for (size_t i = 0; i < n * h.n_layer; ++i) {
    float* own = scratch + i * d;
    float* to = w.per_layer_embedding ? own : out + i * d;
    normalize(NormKind::kRms, own, w.per_layer_proj_norm.weight.data(), nullptr, d, h.norm_eps, to);
    if (!w.per_layer_embedding) continue;
    for (size_t k = 0; k < d; ++k)
      out[i * d + k] =
          (own[k] + out[i * d + k] * std::sqrt(static_cast<float>(d))) * static_cast<float>(1 / std::sqrt(2.0));
  }
  return out;
}

void per_layer_output(Pass& pass, size_t il, const float* inputs, const float* x, float* out) {
  const Hparams& h = pass.h();
  const PerLayerWeights& w = pass.weights(il).per_layer.get<PerLayerWeights>();
  const size_t n = pass.n_tokens, d = h.n_embd_per_layer;
  const ArenaScope scope(pass.state.arena);
  float* gate = pass.take(n, d);
  if (pass.counting()) return;
  apply(pass.pool, w.gate, x, n, gate);
  activate(Activation::kGelu, gate, n * d);
  for (size_t t = 0; t < n; ++t) vec::multiply(gate + t * d, inputs + (t * h.n_layer + il) * d, d);
  apply(pass.pool, w.proj, gate, n, out);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.norm, out, n, h.n_embd, out);
}

void plan_altup_model(Planner& p, const Hparams& h, Weights& weights) {
  AltupModelWeights& w = weights.residual.create<AltupModelWeights>();
  const TensorEntry* projection = p.find("altup_proj.weight");
  if (projection == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor altup_proj.weight is missing");
  const uint64_t n = std::min<uint64_t>(projection->shape[2], 63);
  p.stack(w.projection, "altup_proj", h.n_embd, h.n_embd, n);
  p.stack(w.unembedding, "altup_unembd_proj", h.n_embd, h.n_embd, n);
}

void plan_altup(const LayerPlan& plan, const Weights& model, LayerWeights& weights) {
  AltupWeights& w = weights.residual.create<AltupWeights>();
  const uint64_t n_streams = n_altup_streams(model);
  Planner& p = plan.planner;
  const uint64_t n_embd = plan.h.n_embd;
  p.linear(w.router, plan.name("altup_router"), n_embd, n_streams);
  p.affine(w.router_norm, plan.name("altup_router_norm"), n_embd);
  p.linear(w.predict, plan.name("altup_predict_coef"), n_streams, n_streams * n_streams);
  p.linear(w.correct, plan.name("altup_correct_coef"), n_streams, n_streams);
  p.vector(w.correct_scale, plan.name("altup_correct_scale.weight"), n_embd, Need::kRequired);
  const TensorEntry* low = p.find(plan.name("laurel_l.weight"));
  if (low == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor " + plan.name("laurel_l.weight") + " is missing");
  const uint64_t rank = std::min<uint64_t>(low->shape[1], Keys::kMaxCount);
  p.linear(w.laurel_left, plan.name("laurel_l"), n_embd, rank);
  p.linear(w.laurel_right, plan.name("laurel_r"), rank, n_embd);
  p.affine(w.laurel_norm, plan.name("laurel_post_norm"), n_embd);
  // Layers that read another layer's cache still have tensors for keys and values.
  if (plan.layer.kv_layer != plan.il)
    for (const char* part : {"attn_k.", "attn_v.", "attn_k_norm."}) p.ignore(plan.name(part));
}

size_t n_altup_streams(const Weights& weights) {
  return weights.residual.get<AltupModelWeights>().projection.matrices.size() + 1;
}

void split_altup_streams(Pass& pass, const float* x, float* streams) {
  if (pass.counting()) return;
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, size = n * n_embd;
  const LinearStack& projection = pass.model.weights().residual.get<AltupModelWeights>().projection;
  std::memcpy(streams, x, size * sizeof(float));
  for (size_t j = 0; j < projection.matrices.size(); ++j) {
    float* stream = streams + (j + 1) * size;
    apply(pass.pool, projection, j, x, n, stream);
    match_magnitude(stream, x, n, n_embd);
  }
}

void merge_altup_streams(Pass& pass, const float* streams, float* x, float* scratch) {
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, size = n * n_embd;
  const LinearStack& projection = pass.model.weights().residual.get<AltupModelWeights>().unembedding;
  std::memcpy(x, streams, size * sizeof(float));
  for (size_t j = 0; j < projection.matrices.size(); ++j) {
    apply(pass.pool, projection, j, streams + (j + 1) * size, n, scratch);
    match_magnitude(scratch, streams, n, n_embd);
    vec::add(x, scratch, size);
  }
  vec::scale(x, 1.0f / static_cast<float>(projection.matrices.size() + 1), size);
}

namespace {

// The streams of one layer.
struct AltupPass {
  size_t il, n_streams;
  float* streams;       // [n_streams, n_tokens, n_embd]
  float* predicted;     // the same
  float* coefficients;  // [n_tokens, n_streams, n_streams]
  float* routed;        // [n_tokens, n_streams]
  Activations a;
};

void normalize_stream(const Pass& pass, const Affine& by, const float* from, float* to) {
  normalize_rows(pass.pool, pass.h().norm_eps, NormKind::kRms, by, from, pass.n_tokens, pass.h().n_embd, to);
}

// Predicts each stream as a sum of all streams.
void predict_streams(Pass& pass, const AltupWeights& w, const AltupPass& p) {
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, size = n * n_embd;
  modalities(pass, w, p.streams, p.a.normed, p.routed);
  apply(pass.pool, w.predict, p.routed, n, p.coefficients);  // [n_tokens, to, from]
  std::memcpy(p.predicted, p.streams, p.n_streams * size * sizeof(float));
  each_token(pass.pool, Operation::kAdd, n, [&](size_t t) {
    for (size_t to = 0; to < p.n_streams; ++to)
      for (size_t from = 0; from < p.n_streams; ++from)
        vec::add_scaled(p.predicted + to * size + t * n_embd,
                        p.coefficients[(t * p.n_streams + to) * p.n_streams + from],
                        p.streams + from * size + t * n_embd, n_embd);
  });
}

// The low-rank layer: out [n_tokens, n_embd] from x.
void run_laurel(Pass& pass, const AltupWeights& w, const float* x, float* out) {
  const ArenaScope scope(pass.state.arena);
  float* low = pass.take(pass.n_tokens, w.laurel_left.n_out);
  if (pass.counting()) return;
  apply(pass.pool, w.laurel_left, x, pass.n_tokens, low);
  apply(pass.pool, w.laurel_right, low, pass.n_tokens, out);
}

// Attention, and beside it LAuReL. Leaves the sum in a.mixed.
void run_laurel_attention(Pass& pass, const LayerWeights& w, const AltupPass& p) {
  const AltupWeights& altup = w.residual.get<AltupWeights>();
  const Activations& a = p.a;
  const size_t size = pass.n_tokens * pass.h().n_embd;
  normalize_stream(pass, w.attn_norm, p.predicted, a.normed);
  run_laurel(pass, altup, a.normed, a.input);
  normalize_stream(pass, altup.laurel_norm, a.input, a.input);
  vec::add(a.input, a.normed, size);
  find_mixer(pass.layer(p.il).mixer).run(pass, p.il, a.normed, a.mixed);
  normalize_stream(pass, w.attn_post_norm, a.mixed, a.mixed);
  vec::add(a.mixed, p.predicted, size);
  vec::add(a.mixed, a.input, size);
  vec::scale(a.mixed, 1.0f / std::sqrt(2.0f), size);
}

// The feed-forward network, whose first layers keep only the largest activations.
void run_sparse_ffn(Pass& pass, const LayerWeights& w, const AltupPass& p) {
  const Activations& a = p.a;
  const size_t n = pass.n_tokens, n_ff = w.ffn.up.n_out;
  const ArenaScope scope(pass.state.arena);
  float* gate = pass.take(n, n_ff);
  float* up = pass.take(n, n_ff);
  if (pass.counting()) return;
  normalize_stream(pass, w.ffn_norm, a.mixed, a.normed);
  apply(pass.pool, {{&w.ffn.up, up}, {&w.ffn.gate, gate}}, a.normed, n);
  each_token(pass.pool, Operation::kGate, n, [&](size_t t) {
    if (p.il < kSparseLayers) keep_outliers(gate + t * n_ff, n_ff);
    activate_gated(pass.h().activation, gate + t * n_ff, up + t * n_ff, n_ff, up + t * n_ff);
  });
  apply(pass.pool, w.ffn.down, up, n, a.forward);
  normalize_stream(pass, w.ffn_post_norm, a.forward, a.forward);
  vec::add(a.mixed, a.forward, n * pass.h().n_embd);
}

// Corrects each prediction by the difference between the first stream's computed value, a.mixed, and its prediction.
void correct_streams(Pass& pass, const AltupWeights& w, const AltupPass& p) {
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, size = n * n_embd;
  modalities(pass, w, p.a.mixed, p.a.normed, p.routed);
  apply(pass.pool, w.correct, p.routed, n, p.coefficients);  // [n_tokens, n_streams]
  vec::add_scaled(p.a.mixed, -1.0f, p.predicted, size);
  std::memcpy(p.streams, p.predicted, p.n_streams * size * sizeof(float));
  each_token(pass.pool, Operation::kAdd, n, [&](size_t t) {
    for (size_t j = 0; j < p.n_streams; ++j)
      vec::add_scaled(p.streams + j * size + t * n_embd, 1.0f + p.coefficients[t * p.n_streams + j],
                      p.a.mixed + t * n_embd, n_embd);
  });
}

}  // namespace

void run_altup_layer(Pass& pass, size_t il, float* streams, const float* per_layer, const Activations& a) {
  const LayerWeights& w = pass.weights(il);
  const AltupWeights& altup = w.residual.get<AltupWeights>();
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, size = n * n_embd, n_streams = altup.router.n_out;
  const ArenaScope scope(pass.state.arena);
  AltupPass p{il, n_streams, streams, nullptr, nullptr, nullptr, a};
  p.predicted = pass.take(n, n_streams, n_embd);
  p.coefficients = pass.take(n, n_streams, n_streams);
  p.routed = pass.take(n, n_streams);
  if (pass.counting()) {
    run_laurel(pass, altup, nullptr, nullptr);
    find_mixer(pass.layer(il).mixer).run(pass, il, nullptr, nullptr);
    run_sparse_ffn(pass, w, p);
    return per_layer_output(pass, il, nullptr, nullptr, nullptr);
  }
  predict_streams(pass, altup, p);
  run_laurel_attention(pass, w, p);
  run_sparse_ffn(pass, w, p);
  correct_streams(pass, altup, p);
  // All streams but the first get the per-layer embedding.
  std::memcpy(a.mixed, streams, size * sizeof(float));
  for (size_t t = 0; t < n; ++t) vec::multiply(a.mixed + t * n_embd, altup.correct_scale.data(), n_embd);
  per_layer_output(pass, il, per_layer, a.mixed, a.forward);
  for (size_t j = 1; j < n_streams; ++j) vec::add(streams + j * size, a.forward, size);
}

}  // namespace ggufscope
