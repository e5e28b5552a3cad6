// Manifold-constrained hyper-connections (DeepSeek-V4, 2026): several residual streams. A part of a layer reads a
// weighted sum of them. Its output is added to each stream with a weight, and a nearly doubly stochastic matrix
// (Sinkhorn) mixes the streams. All weights are computed from the streams by one product.
#include "model/residual/hyper_connections.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/ffn.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

void plan_connection(Planner& p, const Hparams& h, HyperWeights& w, const std::string& name, uint64_t n_out,
                     uint64_t n_scales) {
  p.matrix(w.mix, name + "_fn", uint64_t{h.part<HyperSizes>().n} * h.n_embd, n_out);
  p.vector(w.base, name + "_base.weight", n_out);
  p.vector(w.scale, name + "_scale.weight", n_scales);
}

// Normalizes comb [n from, n to] of one token: softmax over `to`, then columns and rows are divided by their sums
// repeatedly.
void balance(const HyperSizes& s, float* comb) {
  const size_t n = s.n;
  for (size_t from = 0; from < n; ++from) {
    softmax(comb + from * n, n);
    for (size_t to = 0; to < n; ++to) comb[from * n + to] += s.eps;
  }
  const auto divide = [&](size_t line, size_t step, size_t apart) {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += comb[line * apart + i * step];
    for (size_t i = 0; i < n; ++i) comb[line * apart + i * step] /= sum + s.eps;
  };
  for (uint32_t i = 0; i < s.iterations || i == 0; ++i) {
    for (size_t from = 0; from < n && i > 0; ++from) divide(from, 1, n);
    for (size_t to = 0; to < n; ++to) divide(to, n, 1);
  }
}

}  // namespace

void plan_hyper_ends(Planner& planner, const Hparams& h, Weights& weights) {
  if (h.part<HyperSizes>().mean_output) return;
  plan_connection(planner, h, weights.residual.create<HyperWeights>(), "output_hc", h.part<HyperSizes>().n, 1);
}

void plan_hyper(const LayerPlan& plan, LayerWeights& weights) {
  HyperLayerWeights& w = weights.residual.create<HyperLayerWeights>();
  const HyperSizes& s = plan.h.part<HyperSizes>();
  plan_connection(plan.planner, plan.h, w.attention, plan.name("hc_attn"), s.n_weights(), s.independent ? 2 : 3);
  plan_connection(plan.planner, plan.h, w.ffn, plan.name("hc_ffn"), s.n_weights(), s.independent ? 2 : 3);
}

namespace {

// Computes the weights [n_tokens, w.base.n] from the streams. read [n_tokens, n_embd]: the streams' sum weighted by the
// first n of them.
void read_streams(Pass& pass, const HyperWeights& w, const HyperStreams& s, float* read) {
  const Hparams& h = pass.h();
  const HyperSizes& sizes = h.part<HyperSizes>();
  const size_t n = sizes.n, n_embd = h.n_embd, row = n * n_embd, n_mix = w.base.n;
  each_token(pass.pool, Operation::kNorm, pass.n_tokens, [&](size_t t) {
    normalize(NormKind::kRms, s.x + t * row, nullptr, nullptr, row, h.norm_eps, s.other + t * row);
  });
  apply(pass.pool, w.mix, s.other, pass.n_tokens, s.weights);
  each_token(pass.pool, Operation::kAdd, pass.n_tokens, [&](size_t t) {
    float* m = s.weights + t * n_mix;
    const auto affine = [&](size_t i, size_t which) { return m[i] * w.scale.data()[which] + w.base.data()[i]; };
    for (size_t i = 0; i < n; ++i) m[i] = sigmoid(affine(i, 0)) + sizes.eps;
    for (size_t i = n; i < std::min(2 * n, n_mix); ++i)
      m[i] = sizes.magnitude * sigmoid(affine(i, 1)) + (sizes.independent ? sizes.eps : 0);
    for (size_t i = 2 * n; i < n_mix; ++i) m[i] = affine(i, 2);
    if (n_mix > 2 * n) balance(sizes, m + 2 * n);
    std::memset(read + t * n_embd, 0, n_embd * sizeof(float));
    for (size_t i = 0; i < n; ++i) vec::add_scaled(read + t * n_embd, m[i], s.x + t * row + i * n_embd, n_embd);
  });
}

void write_streams(Pass& pass, HyperStreams& s, const float* given) {
  const HyperSizes& sizes = pass.h().part<HyperSizes>();
  const size_t n = sizes.n, n_embd = pass.h().n_embd, row = n * n_embd;
  each_token(pass.pool, Operation::kAdd, pass.n_tokens, [&](size_t t) {
    const float* m = s.weights + t * sizes.n_weights();
    for (size_t to = 0; to < n && sizes.independent; ++to)
      vec::add_scaled(s.x + t * row + to * n_embd, m[n + to], given + t * n_embd, n_embd);
    if (sizes.independent) return;
    std::memset(s.other + t * row, 0, row * sizeof(float));
    for (size_t to = 0; to < n; ++to) {
      float* out = s.other + t * row + to * n_embd;
      vec::add_scaled(out, m[n + to], given + t * n_embd, n_embd);
      for (size_t from = 0; from < n; ++from)
        vec::add_scaled(out, m[(2 + from) * n + to], s.x + t * row + from * n_embd, n_embd);
    }
  });
  if (!sizes.independent) std::swap(s.x, s.other);
}

}  // namespace

HyperStreams split_hyper_streams(Pass& pass, const float* x) {
  const size_t n = pass.h().part<HyperSizes>().n, n_embd = pass.h().n_embd, n_tokens = pass.n_tokens;
  HyperStreams s{pass.take(n_tokens, n, n_embd), pass.take(n_tokens, n, n_embd),
                 pass.take(n_tokens, pass.h().part<HyperSizes>().n_weights())};
  if (pass.counting()) return s;
  for (size_t i = 0; i < n_tokens * n; ++i) std::memcpy(s.x + i * n_embd, x + i / n * n_embd, n_embd * sizeof(float));
  return s;
}

void run_hyper_layer(Pass& pass, size_t il, HyperStreams& s, const Activations& a) {
  const Hparams& h = pass.h();
  const LayerWeights& w = pass.weights(il);
  const HyperLayerWeights& connections = w.residual.get<HyperLayerWeights>();
  const size_t n = pass.n_tokens;
  read_streams(pass, connections.attention, s, a.input);
  normalize_rows(pass.pool, h.norm_eps, h.norm, w.attn_norm, a.input, n, h.n_embd, a.normed);
  find_mixer(pass.layer(il).mixer).run(pass, il, a.normed, a.mixed);
  write_streams(pass, s, a.mixed);
  read_streams(pass, connections.ffn, s, a.input);
  normalize_rows(pass.pool, h.norm_eps, h.norm, w.ffn_norm, a.input, n, h.n_embd, a.normed);
  run_ffn(pass, il, a.normed, a.input, a.forward);
  write_streams(pass, s, a.forward);
}

void merge_hyper_streams(Pass& pass, const HyperStreams& s, float* x) {
  const size_t n = pass.h().part<HyperSizes>().n, n_embd = pass.h().n_embd;
  if (pass.h().part<HyperSizes>().mean_output)
    return each_token(pass.pool, Operation::kAdd, pass.n_tokens, [&](size_t t) {
      std::memset(x + t * n_embd, 0, n_embd * sizeof(float));
      for (size_t i = 0; i < n; ++i)
        vec::add_scaled(x + t * n_embd, 1.0f / static_cast<float>(n), s.x + (t * n + i) * n_embd, n_embd);
    });
  read_streams(pass, pass.model.weights().residual.get<HyperWeights>(), s, x);
}

}  // namespace ggufscope
