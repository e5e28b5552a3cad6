// The gated delta net of Qwen3-Next and Qwen3.5: a short convolution over q, k and v, then the gated delta rule.
//
// ssm.* keys: state_size is the key head size, group_count the key heads, time_step_rank the value heads.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/mixer.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

struct DeltaSizes {
  uint64_t d_key, d_value, n_key_heads, n_heads, conv;
};

DeltaSizes sizes_of(const Hparams& h) {
  return {h.d_state, h.d_inner / std::max(h.dt_rank, 1u), h.n_group, h.dt_rank,
          uint64_t{h.d_inner} + 2 * uint64_t{h.n_group} * h.d_state};
}

}  // namespace

void plan_delta_net(const LayerPlan& plan, LayerWeights& weights) {
  SsmWeights& w = weights.ssm;
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  if (h.d_conv == 0 || h.d_state == 0 || h.n_group == 0 || h.dt_rank == 0 || h.d_inner % h.dt_rank != 0 ||
      h.dt_rank % h.n_group != 0 || h.d_inner / h.dt_rank != h.d_state)
    return p.refuse(ErrorCode::kOutOfRange, "the ssm.* keys are missing, 0 or do not divide");
  const DeltaSizes s = sizes_of(h);
  if (p.has(plan.name("ssm_in.weight"))) {
    p.linear(w.in, plan.name("ssm_in"), h.n_embd, s.conv + h.d_inner);
  } else {
    p.linear(w.qkv, plan.name("attn_qkv"), h.n_embd, s.conv);
    p.linear(w.gate, plan.name("attn_gate"), h.n_embd, h.d_inner);
  }
  if (p.has(plan.name("ssm_ba.weight"))) {
    p.linear(w.beta_alpha, plan.name("ssm_ba"), h.n_embd, 2 * s.n_heads);
  } else {
    p.linear(w.beta, plan.name("ssm_beta"), h.n_embd, s.n_heads);
    p.linear(w.alpha, plan.name("ssm_alpha"), h.n_embd, s.n_heads);
  }
  p.vector(w.conv, plan.name("ssm_conv1d.weight"), s.conv * h.d_conv, Need::kRequired);
  p.vector(w.dt_bias, plan.name("ssm_dt.bias"), s.n_heads, Need::kRequired);
  p.vector(w.a, plan.name("ssm_a"), s.n_heads, Need::kRequired);
  p.affine(w.norm, plan.name("ssm_norm"), s.d_value);
  p.linear(w.out, plan.name("ssm_out"), h.d_inner, h.n_embd);
}

uint64_t delta_net_floats(const Hparams& h, const LayerParameters&, const LayerWeights&, uint64_t n) {
  const DeltaSizes s = sizes_of(h);
  return arena_floats(n * (s.conv + h.d_inner), n * s.conv, n * s.conv, n * h.d_inner, n * 2 * s.n_heads, n * s.n_heads,
                      n * s.n_heads, n * s.n_heads * s.d_key, n * s.n_heads * s.d_key, n * h.d_inner, n * h.d_inner);
}

uint64_t delta_net_state(const Hparams& h) {
  const DeltaSizes s = sizes_of(h);
  return s.conv * (h.d_conv - 1) + s.n_heads * s.d_key * s.d_value;
}

void run_delta_net(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const SsmWeights& w = pass.weights(il).ssm;
  const size_t n = pass.n_tokens, d_key = h.d_state, n_key_heads = h.n_group, n_heads = h.dt_rank, d_inner = h.d_inner;
  const size_t d_value = d_inner / n_heads, repeat = n_heads / n_key_heads;
  const size_t n_conv = d_inner + 2 * n_key_heads * d_key, n_in = n_conv + d_inner;
  const size_t mark = pass.state.arena.mark();
  float* fused = pass.take(n * n_in);  // [n_tokens, n_key_heads, q k v z], for files with ssm_in
  float* qkv = pass.take(n * n_conv);  // [n_tokens, q n_key_heads d_key | k the same | v d_inner]
  float* conv = pass.take(n * n_conv);
  float* z = pass.take(n * d_inner);  // [n_tokens, n_heads, d_value]
  float* ba = pass.take(n * 2 * n_heads);
  float* beta = pass.take(n * n_heads);
  float* decay = pass.take(n * n_heads);
  float* q = pass.take(n * n_heads * d_key);  // [n_tokens, n_heads, d_key]
  float* k = pass.take(n * n_heads * d_key);
  float* v = pass.take(n * d_inner);  // [n_tokens, n_heads, d_value]
  float* out = pass.take(n * d_inner);

  if (w.in) {
    apply(pass.pool, w.in, x, n, fused);
    const size_t d_group = d_value * repeat, n_group = 2 * d_key + 2 * d_group;
    for (size_t t = 0; t < n; ++t)
      for (size_t g = 0; g < n_key_heads; ++g) {
        const float* from = fused + t * n_in + g * n_group;
        float* to = qkv + t * n_conv;
        std::copy_n(from, d_key, to + g * d_key);
        std::copy_n(from + d_key, d_key, to + (n_key_heads + g) * d_key);
        std::copy_n(from + 2 * d_key, d_group, to + 2 * n_key_heads * d_key + g * d_group);
        std::copy_n(from + 2 * d_key + d_group, d_group, z + t * d_inner + g * d_group);
      }
  } else {
    apply(pass.pool, w.qkv, x, n, qkv);
    apply(pass.pool, w.gate, x, n, z);
  }
  if (w.beta_alpha) {
    apply(pass.pool, w.beta_alpha, x, n, ba);  // [n_tokens, n_key_heads, beta repeat | alpha repeat]
    for (size_t i = 0; i < n * n_key_heads; ++i)
      for (size_t r = 0; r < repeat; ++r) {
        beta[i * repeat + r] = ba[2 * i * repeat + r];
        decay[i * repeat + r] = ba[(2 * i + 1) * repeat + r];
      }
  } else {
    apply(pass.pool, w.beta, x, n, beta);
    apply(pass.pool, w.alpha, x, n, decay);
  }
  activate(Activation::kSigmoid, beta, n * n_heads);
  for (size_t i = 0; i < n * n_heads; ++i)
    decay[i] = softplus(decay[i] + w.dt_bias.data()[i % n_heads]) * w.a.data()[i % n_heads];

  causal_convolution(pass.pool, qkv, n_conv, n_conv, w.conv.data(), h.d_conv, nullptr, pass.states(il, 0), conv);
  activate(Activation::kSilu, conv, n * n_conv);
  // Each key head serves `repeat` value heads: adjacent ones in Qwen3-Next, every n_key_heads-th in Qwen3.5.
  const bool neighbours = static_cast<bool>(w.beta_alpha);
  const float query_scale = 1.0f / std::sqrt(static_cast<float>(d_key));
  for (size_t t = 0; t < n; ++t) {
    float* row = conv + t * n_conv;
    for (size_t i = 0; i < 2 * n_key_heads; ++i) l2_normalize(row + i * d_key, d_key, h.norm_eps);
    for (size_t head = 0; head < n_heads; ++head) {
      const size_t key_head = neighbours ? head / repeat : head % n_key_heads;
      std::copy_n(row + key_head * d_key, d_key, q + (t * n_heads + head) * d_key);
      std::copy_n(row + (n_key_heads + key_head) * d_key, d_key, k + (t * n_heads + head) * d_key);
    }
    std::copy_n(row + 2 * n_key_heads * d_key, d_inner, v + t * d_inner);
  }
  vec::scale(q, query_scale, n * n_heads * d_key);
  gated_delta_rule(pass.pool, n_heads, d_key, d_value, q, k, v, decay, beta, pass.states(il, n_conv * (h.d_conv - 1)),
                   out);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.norm, out, n * n_heads, d_value, out);
  activate_gated(Activation::kSilu, z, out, n * d_inner, out);
  apply(pass.pool, w.out, out, n, y);
  pass.state.arena.release(mark);
}

}  // namespace ggufscope
