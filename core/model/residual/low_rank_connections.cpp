// Hyper-connections of low rank (Qwen 4, 2026). With n streams s_i, normalized to x_i, a part of a layer reads
//
//   mean over i of x_i sigmoid(gate_i),   gate = up silu(down x / n),
//
// and its output o is added to each stream: s_i += 2 sigmoid(inject_i x / n) o.
#include "model/residual/low_rank_connections.hpp"

#include <cmath>
#include <cstring>

#include "model/ffn.hpp"
#include "model/residual/ngram_embedding.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void plan_low_rank_connection(Planner& p, const Hparams& h, LowRankWeights& w, const std::string& name) {
  const LowRankSizes& s = h.part<LowRankSizes>();
  const uint64_t n = uint64_t{s.n} * h.n_embd;
  p.vector(w.norm, name + "_norm.weight", n);
  p.matrix(w.down, name + "_down", n, s.rank);
  p.matrix(w.up, name + "_up", s.rank, n);
}

// out [n_tokens, n_embd]: what a part reads. Sets s.inject if the weights have such a matrix.
void mix_low_rank(Pass& pass, const LowRankWeights& w, const LowRankStreams& s, float* out) {
  const Hparams& h = pass.h();
  const LowRankSizes& sizes = h.part<LowRankSizes>();
  const size_t n_tokens = pass.n_tokens, n = sizes.n, n_embd = h.n_embd, row = n * n_embd;
  const ArenaScope scope(pass.state.arena);
  float* normed = pass.take(n_tokens, row);
  float* gate = pass.take(n_tokens, row);
  float* low = pass.take(n_tokens, size_t{sizes.rank});
  if (pass.counting()) return;
  each_token(pass.pool, Operation::kNorm, n_tokens, [&](size_t t) {
    for (size_t i = 0; i < n; ++i)
      normalize(NormKind::kRms, s.x + t * row + i * n_embd, w.norm.data() + i * n_embd, nullptr, n_embd, h.norm_eps,
                normed + t * row + i * n_embd);
  });
  const float share = 1.0f / static_cast<float>(n);
  apply(pass.pool, w.down, normed, n_tokens, low);
  vec::scale(low, share, n_tokens * sizes.rank);
  activate(Activation::kSilu, low, n_tokens * sizes.rank);
  apply(pass.pool, w.up, low, n_tokens, gate);
  if (w.inject) apply(pass.pool, w.inject, normed, n_tokens, s.inject);
  each_token(pass.pool, Operation::kAdd, n_tokens, [&](size_t t) {
    float* const weights = gate + t * row;
    activate(Activation::kSigmoid, weights, row);
    vec::multiply(weights, normed + t * row, row);
    float* const sum = out + t * n_embd;
    std::memcpy(sum, weights, n_embd * sizeof(float));
    for (size_t i = 1; i < n; ++i) vec::add(sum, weights + i * n_embd, n_embd);
    vec::scale(sum, share, n_embd);
  });
}

void add_to_low_rank(Pass& pass, const LowRankStreams& s, const float* output) {
  const size_t n = pass.h().part<LowRankSizes>().n, n_embd = pass.h().n_embd;
  each_token(pass.pool, Operation::kAdd, pass.n_tokens, [&](size_t t) {
    for (size_t i = 0; i < n; ++i) {
      const float weight = 2.0f / (1.0f + std::exp(-s.inject[t * n + i] / static_cast<float>(n)));
      vec::add_scaled(s.x + (t * n + i) * n_embd, weight, output + t * n_embd, n_embd);
    }
  });
}

}  // namespace

void plan_low_rank_ends(Planner& planner, const Hparams& h, Weights& weights, const std::string& name) {
  plan_low_rank_connection(planner, h, weights.residual.create<LowRankWeights>(), name);
}

void plan_low_rank(const LayerPlan& plan, LayerWeights& weights) {
  LowRankLayerWeights& w = weights.residual.create<LowRankLayerWeights>();
  const uint64_t n = plan.h.part<LowRankSizes>().n;
  plan_low_rank_connection(plan.planner, plan.h, w.attention, plan.name("hc_attn"));
  plan_low_rank_connection(plan.planner, plan.h, w.ffn, plan.name("hc_ffn"));
  plan.planner.matrix(w.attention.inject, plan.name("hc_attn_inject"), n * plan.h.n_embd, n);
  plan.planner.matrix(w.ffn.inject, plan.name("hc_ffn_inject"), n * plan.h.n_embd, n);
}

LowRankStreams split_low_rank_streams(Pass& pass, const float* x) {
  const size_t n = pass.h().part<LowRankSizes>().n, n_embd = pass.h().n_embd, n_tokens = pass.n_tokens;
  const LowRankStreams s{pass.take(n_tokens, n, n_embd), pass.take(n_tokens, n)};
  if (pass.counting()) return s;
  for (size_t i = 0; i < n_tokens * n; ++i) std::memcpy(s.x + i * n_embd, x + i / n * n_embd, n_embd * sizeof(float));
  return s;
}

void run_low_rank_layer(Pass& pass, size_t il, LowRankStreams& s, const Activations& a) {
  const LowRankLayerWeights& w = pass.weights(il).residual.get<LowRankLayerWeights>();
  if (il == pass.h().part<NgramSizes>().layer && pass.h().part<NgramSizes>().n != 0) add_ngrams(pass, il, s.x);
  mix_low_rank(pass, w.attention, s, a.normed);
  find_mixer(pass.layer(il).mixer).run(pass, il, a.normed, a.mixed);
  add_to_low_rank(pass, s, a.mixed);
  mix_low_rank(pass, w.ffn, s, a.normed);
  run_ffn(pass, il, a.normed, a.input, a.forward);
  add_to_low_rank(pass, s, a.forward);
}

void merge_low_rank_streams(Pass& pass, LowRankStreams& s, float* x) {
  mix_low_rank(pass, pass.model.weights().residual.get<LowRankWeights>(), s, x);
}

void count_low_rank(Pass& pass) {
  mix_low_rank(pass, LowRankWeights{}, LowRankStreams{}, nullptr);
  if (pass.h().part<NgramSizes>().n != 0) add_ngrams(pass, pass.h().part<NgramSizes>().layer, nullptr);
}

}  // namespace ggufscope
