// The gated delta net of Qwen3-Next and Qwen3.5: a short convolution over q, k and v, then the gated delta rule.
//
// ssm.* keys: state_size is the key head size, group_count the key heads, time_step_rank the value heads.
#include "model/mixers/delta_net.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/mixers/mamba.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

struct DeltaSizes {
  uint64_t d_key, d_value, n_key_heads, n_heads, conv;
};

DeltaSizes sizes_of(const MambaSizes& ssm) {
  return {ssm.d_state, ssm.d_inner / std::max(ssm.dt_rank, 1u), ssm.n_group, ssm.dt_rank,
          uint64_t{ssm.d_inner} + 2 * uint64_t{ssm.n_group} * ssm.d_state};
}

void plan_delta_net(const LayerPlan& plan, LayerWeights& weights) {
  DeltaNetWeights& w = weights.mixer.create<DeltaNetWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const MambaSizes& ssm = h.part<MambaSizes>();
  if (ssm.d_conv == 0 || ssm.d_state == 0 || ssm.n_group == 0 || ssm.dt_rank == 0 || ssm.d_inner % ssm.dt_rank != 0 ||
      ssm.dt_rank % ssm.n_group != 0 || ssm.d_inner / ssm.dt_rank != ssm.d_state)
    return p.refuse(ErrorCode::kOutOfRange, "the ssm.* keys are missing, 0 or do not divide");
  const DeltaSizes s = sizes_of(ssm);
  if (p.has(plan.name("ssm_in.weight"))) {
    p.linear(w.in, plan.name("ssm_in"), h.n_embd, s.conv + ssm.d_inner);
  } else {
    p.linear(w.qkv, plan.name("attn_qkv"), h.n_embd, s.conv);
    p.linear(w.gate, plan.name("attn_gate"), h.n_embd, ssm.d_inner);
  }
  if (p.has(plan.name("ssm_ba.weight"))) {
    p.linear(w.beta_alpha, plan.name("ssm_ba"), h.n_embd, 2 * s.n_heads);
  } else {
    p.linear(w.beta, plan.name("ssm_beta"), h.n_embd, s.n_heads);
    p.linear(w.alpha, plan.name("ssm_alpha"), h.n_embd, s.n_heads);
  }
  p.vector(w.conv, plan.name("ssm_conv1d.weight"), s.conv * ssm.d_conv, Need::kRequired);
  p.vector(w.dt_bias, plan.name("ssm_dt.bias"), s.n_heads, Need::kRequired);
  p.vector(w.a, plan.name("ssm_a"), s.n_heads, Need::kRequired);
  p.affine(w.norm, plan.name("ssm_norm"), s.d_value);
  p.linear(w.out, plan.name("ssm_out"), ssm.d_inner, h.n_embd);
}

}  // namespace

uint64_t delta_net_state(const Hparams& h) {
  const MambaSizes& ssm = h.part<MambaSizes>();
  const DeltaSizes s = sizes_of(ssm);
  return s.conv * (ssm.d_conv - 1) + s.n_heads * s.d_key * s.d_value;
}

namespace {

// Activations of one layer.
struct DeltaBuffers {
  float* fused;         // [n_tokens, n_key_heads, q k v z], for files with ssm_in
  float *qkv, *conv;    // [n_tokens, q n_key_heads d_key | k the same | v d_inner]
  float* ba;            // [n_tokens, n_key_heads, beta repeat | alpha repeat]
  float *beta, *decay;  // [n_tokens, n_heads]
  float *q, *k;         // [n_tokens, n_heads, d_key]
  float *z, *v, *out;   // [n_tokens, n_heads, d_value]
};

DeltaBuffers take_buffers(Pass& pass, const DeltaSizes& s, uint64_t d_inner) {
  const uint64_t n = pass.n_tokens;
  const auto take = [&](auto... shape) { return pass.take(n, shape...); };
  DeltaBuffers b{};
  b.fused = take(s.conv + d_inner);
  b.qkv = take(s.conv);
  b.conv = take(s.conv);
  b.z = take(d_inner);
  b.ba = take(2, s.n_heads);
  b.beta = take(s.n_heads);
  b.decay = take(s.n_heads);
  b.q = take(s.n_heads, s.d_key);
  b.k = take(s.n_heads, s.d_key);
  b.v = take(d_inner);
  b.out = take(d_inner);
  return b;
}

// Queries, keys, values and the output's gate z.
void project_qkvz(Pass& pass, const DeltaNetWeights& w, const float* x, const DeltaBuffers& b) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const size_t n = pass.n_tokens, d_key = ssm.d_state, n_key_heads = ssm.n_group, d_inner = ssm.d_inner;
  if (!w.in) {
    apply(pass.pool, w.qkv, x, n, b.qkv);
    apply(pass.pool, w.gate, x, n, b.z);
    return;
  }
  apply(pass.pool, w.in, x, n, b.fused);
  const size_t n_conv = d_inner + 2 * n_key_heads * d_key, n_in = n_conv + d_inner;
  const size_t d_group = d_inner / n_key_heads, n_group = 2 * d_key + 2 * d_group;
  for (size_t t = 0; t < n; ++t)
    for (size_t g = 0; g < n_key_heads; ++g) {
      const float* from = b.fused + t * n_in + g * n_group;
      float* to = b.qkv + t * n_conv;
      std::copy_n(from, d_key, to + g * d_key);
      std::copy_n(from + d_key, d_key, to + (n_key_heads + g) * d_key);
      std::copy_n(from + 2 * d_key, d_group, to + 2 * n_key_heads * d_key + g * d_group);
      std::copy_n(from + 2 * d_key + d_group, d_group, b.z + t * d_inner + g * d_group);
    }
}

// beta: how much of the state's value a token replaces; decay: the logarithm of the state's factor.
void project_beta_and_decay(Pass& pass, const DeltaNetWeights& w, const float* x, const DeltaBuffers& b) {
  const size_t n = pass.n_tokens, n_heads = pass.h().part<MambaSizes>().dt_rank,
               n_key_heads = pass.h().part<MambaSizes>().n_group;
  const size_t repeat = n_heads / n_key_heads;
  if (w.beta_alpha) {
    apply(pass.pool, w.beta_alpha, x, n, b.ba);
    for (size_t i = 0; i < n * n_key_heads; ++i)
      for (size_t r = 0; r < repeat; ++r) {
        b.beta[i * repeat + r] = b.ba[2 * i * repeat + r];
        b.decay[i * repeat + r] = b.ba[(2 * i + 1) * repeat + r];
      }
  } else {
    apply(pass.pool, w.beta, x, n, b.beta);
    apply(pass.pool, w.alpha, x, n, b.decay);
  }
  activate(Activation::kSigmoid, b.beta, n * n_heads);
  for (size_t i = 0; i < n * n_heads; ++i)
    b.decay[i] = softplus(b.decay[i] + w.dt_bias.data()[i % n_heads]) * w.a.data()[i % n_heads];
}

// Splits the convolution's output. Each key head serves `repeat` value heads: adjacent ones in Qwen3-Next, every
// n_key_heads-th in Qwen3.5.
void split_heads(const Pass& pass, const DeltaNetWeights& w, const DeltaBuffers& b) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const size_t d_key = ssm.d_state, n_key_heads = ssm.n_group, n_heads = ssm.dt_rank, d_inner = ssm.d_inner;
  const size_t n_conv = d_inner + 2 * n_key_heads * d_key, repeat = n_heads / n_key_heads;
  const bool neighbours = static_cast<bool>(w.beta_alpha);
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    float* row = b.conv + t * n_conv;
    for (size_t i = 0; i < 2 * n_key_heads; ++i) l2_normalize(row + i * d_key, d_key, h.norm_eps);
    for (size_t head = 0; head < n_heads; ++head) {
      const size_t key_head = neighbours ? head / repeat : head % n_key_heads;
      std::copy_n(row + key_head * d_key, d_key, b.q + (t * n_heads + head) * d_key);
      std::copy_n(row + (n_key_heads + key_head) * d_key, d_key, b.k + (t * n_heads + head) * d_key);
    }
    std::copy_n(row + 2 * n_key_heads * d_key, d_inner, b.v + t * d_inner);
  }
  vec::scale(b.q, 1.0f / std::sqrt(static_cast<float>(d_key)), pass.n_tokens * n_heads * d_key);
}

void run_delta_net(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const DeltaNetWeights& w = pass.mixer<DeltaNetWeights>(il);
  const DeltaSizes s = sizes_of(ssm);
  const size_t n = pass.n_tokens, d_inner = ssm.d_inner, n_heads = ssm.dt_rank, n_conv = static_cast<size_t>(s.conv);
  const size_t d_value = static_cast<size_t>(s.d_value);
  const ArenaScope scope(pass.state.arena);
  const DeltaBuffers b = take_buffers(pass, s, d_inner);
  if (pass.counting()) return;
  project_qkvz(pass, w, x, b);
  project_beta_and_decay(pass, w, x, b);
  causal_convolution(pass.pool, b.qkv, n_conv, n_conv, w.conv.data(), ssm.d_conv, nullptr, pass.states(il, 0), b.conv);
  activate(Activation::kSilu, b.conv, n * n_conv);
  split_heads(pass, w, b);
  gated_delta_rule(pass.pool, n_heads, ssm.d_state, d_value, b.q, b.k, b.v, b.decay, b.beta,
                   pass.states(il, n_conv * (ssm.d_conv - 1)), b.out);
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.norm, b.out, n * n_heads, d_value, b.out);
  const bool sigmoid = h.part<DeltaNetSizes>().sigmoid_gate;
  activate_gated(sigmoid ? Activation::kSigmoid : Activation::kSilu, b.z, b.out, n * d_inner, b.out);
  apply(pass.pool, w.out, b.out, n, y);
}

}  // namespace

const Mixer kDeltaNetMixer{.plan = plan_delta_net, .run = run_delta_net, .state = delta_net_state};

}  // namespace ggufscope
