// Lightning attention of MiniMax-01 (2025): linear attention with one decay for each head,
//
//   S = e^-slope S + k v^T;  y = norm(S q) * sigmoid(gate);  q, k and v after SiLU, concatenated for each head.
#include "model/mixers/lightning.hpp"

#include <algorithm>
#include <cmath>

#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

uint64_t row_size(const Hparams& h) { return uint64_t{h.layers[0].n_head} * h.layers[0].d_k; }

void plan_lightning(const LayerPlan& plan, LayerWeights& weights) {
  LightningWeights& w = weights.mixer.create<LightningWeights>();
  Planner& p = plan.planner;
  const uint64_t n_embd = plan.h.n_embd, n = row_size(plan.h);
  if (n == 0 || uint64_t{plan.layer.n_head} * plan.layer.d_k != n || plan.layer.n_head != plan.h.layers[0].n_head)
    return p.refuse(ErrorCode::kOutOfRange,
                    "lightning attention needs the same number of heads, not 0, in every layer");
  p.matrix(w.qkv, plan.name("attn_qkv"), n_embd, 3 * n);
  p.matrix(w.gate, plan.name("attn_gate"), n_embd, n);
  p.affine(w.sub_norm, plan.name("attn_norm_2"), n);
  p.matrix(w.out, plan.name("attn_output"), n, n_embd);
}

uint64_t lightning_state(const Hparams& h) { return row_size(h) * h.layers[0].d_k; }

void run_lightning(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const LightningWeights& w = pass.mixer<LightningWeights>(il);
  const size_t n = pass.n_tokens, d = pass.layer(il).d_k, n_head = pass.layer(il).n_head, n_row = n_head * d;
  const ArenaScope scope(pass.state.arena);
  float* fused = pass.take(n, n_head, 3, d);  // [n_tokens, n_head, 3, d]
  float* q = pass.take(n, n_head, d);         // and the others
  float* k = pass.take(n, n_head, d);
  float* v = pass.take(n, n_head, d);
  float* mixed = pass.take(n, n_head, d);
  float* gate = pass.take(n, n_head, d);
  float* decay = pass.take(n_head, d);  // [n_head, d]
  if (pass.counting()) return;

  apply(pass.pool, {{&w.qkv, fused}, {&w.gate, gate}}, x, n);
  activate(Activation::kSilu, fused, 3 * n * n_row);
  activate(Activation::kSigmoid, gate, n * n_row);
  for (size_t i = 0; i < n * n_head; ++i) {
    std::copy_n(fused + 3 * i * d, d, q + i * d);
    std::copy_n(fused + (3 * i + 1) * d, d, k + i * d);
    std::copy_n(fused + (3 * i + 2) * d, d, v + i * d);
  }
  // The decays follow ALiBi's slopes for n_head heads, and are weaker in later layers.
  const float start = std::exp2(-std::exp2(3.0f - std::log2(static_cast<float>(n_head))));
  const float depth = static_cast<float>(il) / static_cast<float>(std::max(h.n_layer - 1, 1u));
  for (size_t head = 0; head < n_head; ++head) {
    const float slope = start * std::pow(start, static_cast<float>(head)) * (1.0f - depth + 1e-5f);
    std::fill_n(decay + head * d, d, std::exp(-slope));
  }
  wkv6(pass.pool, n_head, d, nullptr, decay, 0, 1.0f, k, v, q, pass.states(il, 0), mixed);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.sub_norm, mixed, n, n_row, mixed);
  vec::multiply(mixed, gate, n * n_row);
  apply(pass.pool, w.out, mixed, n, y);
}

}  // namespace

const Mixer kLightningMixer{.plan = plan_lightning, .run = run_lightning, .state = lightning_state};

}  // namespace ggufscope
