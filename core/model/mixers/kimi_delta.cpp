// Kimi's delta attention (Kimi Linear, 2025): the gated delta rule with a separate decay for each element of a key,
//
//   S = S diag(w);  S += beta (v - S k) k^T;  y = S q,
//
// after short convolutions over q, k and v. Written in terms of the old S, it is RWKV-7's recurrence:
//
//   S = S diag(w) + (beta v) k^T + (S (w k)) (-beta k)^T.
#include "model/mixers/kimi_delta.hpp"

#include <algorithm>
#include <cmath>

#include "model/mixers/mamba.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

uint64_t inner_size(const Hparams& h) { return uint64_t{h.part<KimiDeltaSizes>().d_head} * h.layers[0].n_head; }

void plan_kimi_delta(const LayerPlan& plan, LayerWeights& weights) {
  KimiDeltaWeights& w = weights.mixer.create<KimiDeltaWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const MambaSizes& ssm = h.part<MambaSizes>();
  const uint64_t n_embd = h.n_embd, n_head = plan.layer.n_head, d = h.part<KimiDeltaSizes>().d_head, n = inner_size(h);
  if (d == 0 || n_head == 0 || n_head != h.layers[0].n_head || ssm.d_conv < 2)
    return p.refuse(ErrorCode::kOutOfRange, "kda.head_dim, ssm.conv_kernel or attention.head_count is out of range");
  p.matrix(w.q, plan.name("attn_q"), n_embd, n);
  p.matrix(w.k, plan.name("attn_k"), n_embd, n);
  p.matrix(w.v, plan.name("attn_v"), n_embd, n);
  p.vector(w.conv_q, plan.name("ssm_conv1d_q.weight"), n * ssm.d_conv, Need::kRequired);
  p.vector(w.conv_k, plan.name("ssm_conv1d_k.weight"), n * ssm.d_conv, Need::kRequired);
  p.vector(w.conv_v, plan.name("ssm_conv1d_v.weight"), n * ssm.d_conv, Need::kRequired);
  // Decay and gate have low rank or, without the second matrix, full rank.
  const auto factored = [&](Linear& a, Linear& b, std::string_view first, std::string_view second) {
    const bool two = p.has(plan.name(second) + ".weight");
    p.matrix(a, plan.name(first), n_embd, two ? d : n);
    if (two) p.matrix(b, plan.name(second), d, n);
  };
  factored(w.decay_a, w.decay_b, "ssm_f_a", "ssm_f_b");
  if (p.has(plan.name("attn_gate.weight"))) {
    p.matrix(w.gate_a, plan.name("attn_gate"), n_embd, n);
  } else if (p.has(plan.name("ssm_g.weight"))) {
    p.matrix(w.gate_a, plan.name("ssm_g"), n_embd, n);
  } else {
    factored(w.gate_a, w.gate_b, "ssm_g_a", "ssm_g_b");
  }
  p.matrix(w.beta, plan.name("ssm_beta"), n_embd, n_head);
  p.vector(w.a, plan.name("ssm_a"), n_head, Need::kRequired);
  p.vector(w.dt_bias, plan.name("ssm_dt.bias"), n, Need::kRequired);
  p.affine(w.norm, plan.name("ssm_norm"), d);
  p.matrix(w.out, plan.name("attn_output"), n, n_embd);
}

uint64_t kimi_delta_state(const Hparams& h) {
  const MambaSizes& ssm = h.part<MambaSizes>();
  const uint64_t n = inner_size(h);
  return 3 * n * (ssm.d_conv - 1) + n * h.part<KimiDeltaSizes>().d_head;
}

// Activations of one layer, [n_tokens, n_head, d] each.
struct KimiBuffers {
  float *projected, *q, *k, *v, *decay, *a, *b, *gate;
  float* low;   // [n_tokens, d]
  float* beta;  // [n_tokens, n_head]
};

// Normalizes queries and keys, and brings the delta rule into the form of RWKV-7: w, a, b and v.
void prepare_recurrence(Pass& pass, size_t il, const KimiBuffers& to) {
  const Hparams& h = pass.h();
  const KimiDeltaWeights& w = pass.mixer<KimiDeltaWeights>(il);
  const auto& [projected, q, k, v, decay, a, b, gate, low, beta] = to;
  const KimiDeltaSizes& kda = h.part<KimiDeltaSizes>();
  const size_t n = pass.n_tokens, d = kda.d_head, n_head = pass.layer(il).n_head;
  const float scale = 1.0f / std::sqrt(static_cast<float>(d)), eps = kda.l2_eps != 0 ? kda.l2_eps : h.norm_eps;
  each_token(pass.pool, Operation::kRecurrence, n, [&](size_t t) {
    for (size_t head = 0; head < n_head; ++head) {
      const size_t row = (t * n_head + head) * d;
      const float rate = w.a.data()[head], strength = beta[t * n_head + head];
      l2_normalize(q + row, d, eps);
      l2_normalize(k + row, d, eps);
      for (size_t i = row; i < row + d; ++i) {
        const float raw = decay[i] + w.dt_bias.data()[head * d + i - row];
        decay[i] =
            std::exp(kda.gate_bound != 0 ? kda.gate_bound / (1.0f + std::exp(kda.negated ? rate * raw : -rate * raw))
                                         : rate * softplus(raw));
        q[i] *= scale;
        a[i] = decay[i] * k[i];
        b[i] = -strength * k[i];
        v[i] *= strength;
      }
    }
  });
}

void run_kimi_delta(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const KimiDeltaWeights& w = pass.mixer<KimiDeltaWeights>(il);
  const size_t n = pass.n_tokens, d = h.part<KimiDeltaSizes>().d_head, n_head = pass.layer(il).n_head,
               n_row = n_head * d;
  const ArenaScope scope(pass.state.arena);
  float* projected = pass.take(n, n_head, d);  // all [n_tokens, n_head, d]
  float* q = pass.take(n, n_head, d);
  float* k = pass.take(n, n_head, d);
  float* v = pass.take(n, n_head, d);
  float* decay = pass.take(n, n_head, d);
  float* a = pass.take(n, n_head, d);
  float* b = pass.take(n, n_head, d);
  float* gate = pass.take(n, n_head, d);
  float* low = pass.take(n, d);
  float* beta = pass.take(n, n_head);
  if (pass.counting()) return;

  size_t at = 0;
  const auto convolve = [&](const Linear& projection, const Vector& kernel, float* to) {
    apply(pass.pool, projection, x, n, projected);
    causal_convolution(pass.pool, projected, n_row, n_row, kernel.data(), ssm.d_conv, nullptr, pass.states(il, at), to);
    activate(Activation::kSilu, to, n * n_row);
    at += n_row * (ssm.d_conv - 1);
  };
  convolve(w.q, w.conv_q, q);
  convolve(w.k, w.conv_k, k);
  convolve(w.v, w.conv_v, v);
  const auto factored = [&](const Linear& first, const Linear& second, float* to) {
    apply(pass.pool, first, x, n, second ? low : to);
    if (second) apply(pass.pool, second, low, n, to);
  };
  factored(w.decay_a, w.decay_b, decay);
  factored(w.gate_a, w.gate_b, gate);
  apply(pass.pool, w.beta, x, n, beta);
  activate(Activation::kSigmoid, beta, n * n_head);
  activate(Activation::kSigmoid, gate, n * n_row);

  prepare_recurrence(pass, il, {projected, q, k, v, decay, a, b, gate, low, beta});
  wkv7(pass.pool, n_head, d, q, decay, k, v, a, b, pass.states(il, at), projected);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.norm, projected, n * n_head, d, projected);
  vec::multiply(projected, gate, n * n_row);
  apply(pass.pool, w.out, projected, n, y);
}

}  // namespace

const Mixer kKimiDeltaMixer{.plan = plan_kimi_delta, .run = run_kimi_delta, .state = kimi_delta_state};

}  // namespace ggufscope
