// RWKV (Peng et al. 2023-2025), versions 4 to 7, and hybrid models that use its attention in another architecture.
//
// Every projection reads the token mixed with the previous one: x_i = x + (previous - x) * mu_i. A state holds the last
// inputs of both parts [2, n_embd], then the state of the attention.
#include "model/mixers/rwkv.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// previous[t] = x of the previous token in the same sequence. The state stores the last one.
void shift_tokens(States states, const float* x, size_t n_embd, float* previous) {
  for (size_t t = 0; t < states.size(); ++t) {
    std::memcpy(previous + t * n_embd, states[t], n_embd * sizeof(float));
    std::memcpy(states[t], x + t * n_embd, n_embd * sizeof(float));
  }
}

// Versions 4 and 5 store the weight of the token itself, later ones that of the previous token.
bool stores_own_share(MixerKind kind) { return kind == MixerKind::kRwkv4 || kind == MixerKind::kRwkv5; }

// out = previous + (x - previous) * share
void lerp_own(const float* x, const float* previous, const float* share, size_t n, size_t n_embd, float* out) {
  for (size_t i = 0; i < n * n_embd; ++i) out[i] = previous[i] + (x[i] - previous[i]) * share[i % n_embd];
}

// out = x + (previous - x) * (mu + more), more [n_tokens, n_embd] or nullptr.
void lerp(const float* x, const float* previous, const float* mu, const float* more, size_t n, size_t n_embd,
          float* out) {
  for (size_t i = 0; i < n * n_embd; ++i)
    out[i] = x[i] + (previous[i] - x[i]) * (mu[i % n_embd] + (more != nullptr ? more[i] : 0.0f));
}

// out = up(act(down(x))), the low-rank networks of versions 6 and 7.
void low_rank(Pass& pass, const Linear& down, const Linear& up, const float* x, Activation activation, bool active,
              float* middle, float* out) {
  apply(pass.pool, down, x, pass.n_tokens, middle);
  if (active) activate(activation, middle, pass.n_tokens * down.n_out);
  apply(pass.pool, up, middle, pass.n_tokens, out);
}

void add_rows(float* y, const float* row, size_t n, size_t n_embd) {
  for (size_t t = 0; t < n; ++t) vec::add(y + t * n_embd, row, n_embd);
}

// The values of all channels, expanded into `room` if the file has one for each head.
const float* by_channel(const Vector& values, size_t n_embd, float* room) {
  if (values.n == n_embd) return values.data();
  for (size_t i = 0; i < n_embd; ++i) room[i] = values.data()[i / (n_embd / values.n)];
  return room;
}

size_t kv_width(const Hparams& h, const LayerParameters& layer) {
  return layer.n_head_kv != 0 && layer.mixer == MixerKind::kRwkv6Qwen
             ? size_t{layer.n_head_kv} * h.part<RwkvSizes>().head_size
             : h.n_embd;
}

uint64_t widest_low_rank(const RwkvWeights& w) {
  uint64_t widest = 0;
  for (const Linear* l : {&w.w1, &w.a1, &w.v1, &w.g1, &w.decay_w1}) widest = std::max<uint64_t>(widest, l->n_out);
  return widest;
}

void plan_low_rank(const LayerPlan& plan, Linear& down, Linear& up, std::string_view down_name,
                   std::string_view up_name, Need need) {
  const TensorEntry* entry = plan.planner.find(plan.name(down_name) + ".weight");
  const uint64_t rank = entry != nullptr ? entry->shape[1] : 0;
  plan.planner.linear(down, plan.name(down_name), plan.h.n_embd, rank, need);
  plan.planner.linear(up, plan.name(up_name), rank, plan.h.n_embd, need);
}

void plan_vector(const LayerPlan& plan, Vector& to, std::string_view part, uint64_t count,
                 Need need = Need::kRequired) {
  plan.planner.vector(to, plan.name(part) + ".weight", count, need);
}

void plan_lerp(const LayerPlan& plan, RwkvWeights& w) {
  plan_vector(plan, w.lerp_k, "time_mix_lerp_k", plan.h.n_embd);
  plan_vector(plan, w.lerp_v, "time_mix_lerp_v", plan.h.n_embd);
  plan_vector(plan, w.lerp_r, "time_mix_lerp_r", plan.h.n_embd);
}

void plan_rwkv4(const LayerPlan& plan, RwkvWeights& w) {
  const uint64_t n = plan.h.n_embd;
  plan_lerp(plan, w);
  plan_vector(plan, w.first, "time_mix_first", n);
  plan_vector(plan, w.decay, "time_mix_decay", n);
}

void plan_rwkv5(const LayerPlan& plan, RwkvWeights& w) {
  Planner& p = plan.planner;
  const uint64_t n = plan.h.n_embd, size = plan.h.part<RwkvSizes>().head_size;
  plan_lerp(plan, w);
  // Version 5.1 has one value for each head, and no gate.
  for (const auto& [to, part] : {std::pair(&w.first, "time_mix_first"), std::pair(&w.decay, "time_mix_decay")}) {
    const TensorEntry* entry = p.find(plan.name(part) + ".weight");
    const bool by_head =
        entry != nullptr && size > 1 && entry->shape[0] * entry->shape[1] * entry->shape[2] == n / size;
    plan_vector(plan, *to, part, by_head ? n / size : n);
  }
  p.linear(w.gate, plan.name("time_mix_gate"), n, n, Need::kOptional);
  if (w.gate) plan_vector(plan, w.lerp_g, "time_mix_lerp_g", n);
  p.affine(w.norm, plan.name("time_mix_ln"), n);
}

void plan_rwkv6(const LayerPlan& plan, RwkvWeights& w) {
  Planner& p = plan.planner;
  const uint64_t n = plan.h.n_embd;
  p.linear(w.gate, plan.name("time_mix_gate"), n, n);
  const TensorEntry* mix = p.find(plan.name("time_mix_w2.weight"));
  const uint64_t rank = mix != nullptr ? std::min<uint64_t>(mix->shape[0], 1u << 24) : 0;
  p.linear(w.w1, plan.name("time_mix_w1"), n, 5 * rank);
  p.stack(w.mix_w2, plan.name("time_mix_w2"), rank, n, 5);
  plan_vector(plan, w.lerp_x, "time_mix_lerp_x", n);
  plan_vector(plan, w.lerp, "time_mix_lerp_fused", 5 * n);
  plan_vector(plan, w.decay, "time_mix_decay", n);
  plan_low_rank(plan, w.decay_w1, w.decay_w2, "time_mix_decay_w1", "time_mix_decay_w2", Need::kRequired);
  if (plan.layer.mixer == MixerKind::kRwkv6Qwen) return;
  plan_vector(plan, w.first, "time_mix_first", n);
  p.affine(w.norm, plan.name("time_mix_ln"), n);
}

void plan_rwkv7(const LayerPlan& plan, RwkvWeights& w) {
  const uint64_t n = plan.h.n_embd;
  plan_low_rank(plan, w.w1, w.w2, "time_mix_w1", "time_mix_w2", Need::kRequired);
  plan_low_rank(plan, w.a1, w.a2, "time_mix_a1", "time_mix_a2", Need::kRequired);
  const Need later = plan.il == 0 ? Need::kOptional : Need::kRequired;  // the first layer has nothing to mix with
  plan_low_rank(plan, w.v1, w.v2, "time_mix_v1", "time_mix_v2", later);
  plan_low_rank(plan, w.g1, w.g2, "time_mix_g1", "time_mix_g2", Need::kOptional);
  plan_vector(plan, w.w0, "time_mix_w0", n);
  plan_vector(plan, w.a0, "time_mix_a0", n);
  plan_vector(plan, w.v0, "time_mix_v0", n, later);
  plan_vector(plan, w.lerp, "time_mix_lerp_fused", (w.g1 ? 6 : 5) * n);
  plan_vector(plan, w.k_k, "time_mix_k_k", n);
  plan_vector(plan, w.k_a, "time_mix_k_a", n);
  plan_vector(plan, w.r_k, "time_mix_r_k", n);
  plan.planner.affine(w.norm, plan.name("time_mix_ln"), n, Need::kOptional);
}

void plan_rwkv(const LayerPlan& plan, LayerWeights& weights) {
  RwkvWeights& w = weights.mixer.create<RwkvWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const uint64_t n = h.n_embd, size = h.part<RwkvSizes>().head_size;
  const MixerKind kind = plan.layer.mixer;
  if (kind != MixerKind::kRwkv4 && (size == 0 || n % size != 0))
    return p.refuse(ErrorCode::kOutOfRange,
                    "wkv.head_size " + std::to_string(size) + " does not divide " + std::to_string(n));
  const uint64_t n_kv = kv_width(h, plan.layer);
  if (n_kv == 0 || n % n_kv != 0) return p.refuse(ErrorCode::kOutOfRange, "key heads do not divide the heads");
  p.linear(w.key, plan.name("time_mix_key"), n, n_kv);
  p.linear(w.value, plan.name("time_mix_value"), n, n_kv);
  p.linear(w.receptance, plan.name("time_mix_receptance"), n, n);
  p.linear(w.output, plan.name("time_mix_output"), n, n);
  switch (kind) {
    case MixerKind::kRwkv4:
      return plan_rwkv4(plan, w);
    case MixerKind::kRwkv5:
      return plan_rwkv5(plan, w);
    case MixerKind::kRwkv6:
    case MixerKind::kRwkv6Qwen:
      return plan_rwkv6(plan, w);
    default:
      return plan_rwkv7(plan, w);
  }
}

uint64_t rwkv_state(const Hparams& h) {
  const uint64_t n = h.n_embd;
  return 2 * n + (h.layers[0].mixer == MixerKind::kRwkv4 ? 3 * n : n * h.part<RwkvSizes>().head_size);
}

// Activations of one layer, [n_tokens, n_embd] each.
struct RwkvBuffers {
  const float* x;
  float *previous, *mixed, *r, *k, *v, *g, *decay, *a, *b, *out;
  float *middle, *part;  // [n_tokens, rank]
};

void normalize_heads(const Pass& pass, const RwkvWeights& w, float eps, float* out) {
  const size_t size = pass.h().part<RwkvSizes>().head_size, n_heads = pass.h().n_embd / size;
  for (size_t i = 0; i < pass.n_tokens * n_heads && w.norm; ++i) {
    const size_t at = i % n_heads * size;
    normalize(NormKind::kLayer, out + i * size, w.norm.weight.data() + at,
              w.norm.bias ? w.norm.bias.data() + at : nullptr, size, eps, out + i * size);
  }
}

void run_rwkv_4_5(Pass& pass, size_t il, const RwkvBuffers& to) {
  const RwkvWeights& w = pass.mixer<RwkvWeights>(il);
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, all = n * n_embd;
  const auto project = [&](const Vector& mu, const Linear& by, float* out) {
    lerp_own(to.x, to.previous, mu.data(), n, n_embd, to.mixed);
    apply(pass.pool, by, to.mixed, n, out);
  };
  project(w.lerp_k, w.key, to.k);
  project(w.lerp_v, w.value, to.v);
  project(w.lerp_r, w.receptance, to.r);
  if (pass.layer(il).mixer == MixerKind::kRwkv4) {
    activate(Activation::kSigmoid, to.r, all);
    wkv4(pass.pool, n_embd, w.first.data(), w.decay.data(), to.k, to.v, to.r, pass.states(il, 2 * n_embd), to.out);
    return;
  }
  const size_t size = pass.h().part<RwkvSizes>().head_size;
  if (w.gate) project(w.lerp_g, w.gate, to.g), activate(Activation::kSilu, to.g, all);
  wkv6(pass.pool, n_embd / size, size, by_channel(w.first, n_embd, to.a), by_channel(w.decay, n_embd, to.decay), 0,
       1.0f, to.k, to.v, to.r, pass.states(il, 2 * n_embd), to.out);
  normalize_heads(pass, w, pass.h().part<RwkvSizes>().norm_eps, to.out);
  if (w.gate) vec::multiply(to.out, to.g, all);
}

void run_rwkv_6(Pass& pass, size_t il, const RwkvBuffers& to) {
  const RwkvWeights& w = pass.mixer<RwkvWeights>(il);
  const bool linear = pass.layer(il).mixer == MixerKind::kRwkv6Qwen;
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, all = n * n_embd;
  const size_t size = pass.h().part<RwkvSizes>().head_size, n_heads = n_embd / size;
  const size_t rank = w.mix_w2.n_in, n_kv = w.key.n_out;
  lerp(to.x, to.previous, w.lerp_x.data(), nullptr, n, n_embd, to.mixed);
  apply(pass.pool, w.w1, to.mixed, n, to.middle);  // [n_tokens, 5, rank]
  activate(Activation::kTanh, to.middle, n * 5 * rank);
  // mixed = the input of projection i: w, k, v, r, g
  const auto mix = [&](size_t i) {
    for (size_t t = 0; t < n; ++t)
      std::memcpy(to.part + t * rank, to.middle + (5 * t + i) * rank, rank * sizeof(float));
    apply(pass.pool, w.mix_w2, i, to.part, n, to.b);
    lerp(to.x, to.previous, w.lerp.data() + i * n_embd, to.b, n, n_embd, to.mixed);
  };
  mix(1), apply(pass.pool, w.key, to.mixed, n, to.a);
  mix(2), apply(pass.pool, w.value, to.mixed, n, to.out);
  for (size_t t = 0; t < n; ++t)
    for (size_t head = 0; head < n_heads; ++head) {  // grouped heads are repeated
      const size_t from = t * n_kv + head / (n_embd / n_kv) * size, at = t * n_embd + head * size;
      std::memcpy(to.k + at, to.a + from, size * sizeof(float));
      std::memcpy(to.v + at, to.out + from, size * sizeof(float));
    }
  mix(3), apply(pass.pool, w.receptance, to.mixed, n, to.r);
  mix(4), apply(pass.pool, w.gate, to.mixed, n, to.g);
  activate(linear ? Activation::kSigmoid : Activation::kSilu, to.g, all);
  mix(0);
  low_rank(pass, w.decay_w1, w.decay_w2, to.mixed, Activation::kTanh, true, to.part, to.decay);
  add_rows(to.decay, w.decay.data(), n, n_embd);
  for (size_t i = 0; i < all; ++i) to.decay[i] = std::exp(-std::exp(to.decay[i]));
  if (linear)
    for (size_t i = 0; i < all; ++i) to.k[i] -= to.k[i] * to.decay[i];
  wkv6(pass.pool, n_heads, size, w.first.data(), to.decay, n_embd,
       linear ? 1.0f / std::sqrt(static_cast<float>(size)) : 1.0f, to.k, to.v, to.r, pass.states(il, 2 * n_embd),
       to.out);
  normalize_heads(pass, w, kRwkvHeadNormEps, to.out);
  vec::multiply(to.out, to.g, all);
}

// The first layer stores its values; later ones mix theirs with them.
void mix_values_7(Pass& pass, size_t il, const RwkvBuffers& to) {
  const RwkvWeights& w = pass.mixer<RwkvWeights>(il);
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, all = n * n_embd;
  if (il == 0) {
    std::memcpy(pass.first_value, to.v, all * sizeof(float));
    return;
  }
  low_rank(pass, w.v1, w.v2, to.mixed, Activation::kSigmoid, false, to.middle, to.b);
  add_rows(to.b, w.v0.data(), n, n_embd);
  activate(Activation::kSigmoid, to.b, all);
  for (size_t i = 0; i < all; ++i) to.v[i] += (pass.first_value[i] - to.v[i]) * to.b[i];
}

void run_rwkv_7(Pass& pass, size_t il, const RwkvBuffers& to) {
  const RwkvWeights& w = pass.mixer<RwkvWeights>(il);
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, all = n * n_embd;
  const size_t size = pass.h().part<RwkvSizes>().head_size, n_heads = n_embd / size;
  const auto mix = [&](size_t i) { lerp(to.x, to.previous, w.lerp.data() + i * n_embd, nullptr, n, n_embd, to.mixed); };
  mix(0), apply(pass.pool, w.receptance, to.mixed, n, to.r);
  mix(1), low_rank(pass, w.w1, w.w2, to.mixed, Activation::kTanh, true, to.middle, to.decay);
  add_rows(to.decay, w.w0.data(), n, n_embd);
  for (size_t i = 0; i < all; ++i)
    to.decay[i] = std::exp(-0.606531f * (1.0f / (1.0f + std::exp(-to.decay[i]))));  // e^-0.5
  mix(2), apply(pass.pool, w.key, to.mixed, n, to.k);
  mix(3), apply(pass.pool, w.value, to.mixed, n, to.v);
  mix_values_7(pass, il, to);
  mix(4), low_rank(pass, w.a1, w.a2, to.mixed, Activation::kSigmoid, false, to.middle, to.a);
  add_rows(to.a, w.a0.data(), n, n_embd);
  activate(Activation::kSigmoid, to.a, all);
  if (w.g1) mix(5), low_rank(pass, w.g1, w.g2, to.mixed, Activation::kSigmoid, true, to.middle, to.g);
  // kk: the normalized key that is removed from the state; b = kk a; a = -kk; k_a: how much of k is kept
  float* kk = to.mixed;
  for (size_t i = 0; i < all; ++i) kk[i] = to.k[i] * w.k_k.data()[i % n_embd];
  for (size_t i = 0; i < n * n_heads; ++i) l2_normalize(kk + i * size, size, 1e-12f);
  for (size_t i = 0; i < all; ++i) {
    const float ka = to.k[i] * w.k_a.data()[i % n_embd];
    to.k[i] += to.a[i] * ka - ka;
    to.b[i] = kk[i] * to.a[i];
    to.a[i] = -kk[i];
  }
  wkv7(pass.pool, n_heads, size, to.r, to.decay, to.k, to.v, to.a, to.b, pass.states(il, 2 * n_embd), to.out);
  normalize_heads(pass, w, kRwkvHeadNormEps, to.out);
  for (size_t i = 0; i < n * n_heads; ++i) {
    const size_t at = i * size;
    float bonus = 0;
    for (size_t j = 0; j < size; ++j) bonus += to.k[at + j] * to.r[at + j] * w.r_k.data()[i % n_heads * size + j];
    vec::add_scaled(to.out + at, bonus, to.v + at, size);
  }
  if (w.g1) vec::multiply(to.out, to.g, all);
}

void run_rwkv(Pass& pass, size_t il, const float* x, float* y) {
  const RwkvWeights& w = pass.mixer<RwkvWeights>(il);
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd;
  const ArenaScope scope(pass.state.arena);
  RwkvBuffers to{};
  to.x = x;
  for (float** buffer : {&to.previous, &to.mixed, &to.r, &to.k, &to.v, &to.g, &to.decay, &to.a, &to.b, &to.out})
    *buffer = pass.take(n, n_embd);
  for (float** buffer : {&to.middle, &to.part}) *buffer = pass.take(n, widest_low_rank(w));
  if (pass.counting()) return;
  shift_tokens(pass.states(il, 0), x, n_embd, to.previous);
  switch (pass.layer(il).mixer) {
    case MixerKind::kRwkv4:
    case MixerKind::kRwkv5:
      run_rwkv_4_5(pass, il, to);
      break;
    case MixerKind::kRwkv6:
    case MixerKind::kRwkv6Qwen:
      run_rwkv_6(pass, il, to);
      break;
    default:
      run_rwkv_7(pass, il, to);
  }
  apply(pass.pool, w.output, to.out, n, y);
}

void read_rwkv(Keys& keys, const Architecture& architecture, Hparams& h) {
  RwkvSizes& sizes = h.parts.edit<RwkvSizes>();
  keys.u32("wkv.head_size", sizes.head_size, 1u << 12);
  if (reads_key(architecture, "rescale_every_n_layers")) keys.u32("rescale_every_n_layers", sizes.rescale_every);
}

}  // namespace

const Mixer kRwkvMixer{.read = read_rwkv, .plan = plan_rwkv, .run = run_rwkv, .state = rwkv_state};

void plan_channel_mix(const LayerPlan& plan, LayerWeights& weights) {
  ChannelMixWeights& w = weights.channel_mix.create<ChannelMixWeights>();
  Planner& p = plan.planner;
  const TensorEntry* key = p.find(plan.name("channel_mix_key.weight"));
  const uint64_t n = plan.h.n_embd, n_ff = key != nullptr ? key->shape[1] : 0;
  if (plan.h.n_ff_known && n_ff != plan.layer.n_ff)
    return p.refuse(ErrorCode::kBadShape, "tensor " + plan.name("channel_mix_key.weight") + " has " +
                                              counted(n_ff, "row") + ", feed_forward_length is " +
                                              std::to_string(plan.layer.n_ff));
  p.linear(w.key, plan.name("channel_mix_key"), n, n_ff);
  p.linear(w.value, plan.name("channel_mix_value"), n_ff, n);
  p.linear(w.receptance, plan.name("channel_mix_receptance"), n, n, Need::kOptional);
  p.vector(w.lerp_k, plan.name("channel_mix_lerp_k.weight"), n, Need::kRequired);
  if (w.receptance) p.vector(w.lerp_r, plan.name("channel_mix_lerp_r.weight"), n, Need::kRequired);
}

void run_channel_mix(Pass& pass, size_t il, const float* x, float* y) {
  const ChannelMixWeights& w = pass.weights(il).channel_mix.get<ChannelMixWeights>();
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd, n_ff = w.key.n_out;
  const ArenaScope scope(pass.state.arena);
  float* previous = pass.take(n, n_embd);
  float* mixed = pass.take(n, n_embd);
  float* r = pass.take(n, n_embd);
  float* k = pass.take(n, n_ff);
  if (pass.counting()) return;
  shift_tokens(pass.states(il, n_embd), x, n_embd, previous);
  const auto mix = [&](const Vector& mu) {
    if (stores_own_share(pass.layer(il).mixer)) {
      lerp_own(x, previous, mu.data(), n, n_embd, mixed);
    } else {
      lerp(x, previous, mu.data(), nullptr, n, n_embd, mixed);
    }
  };
  mix(w.lerp_k);
  apply(pass.pool, w.key, mixed, n, k);
  activate(Activation::kReluSquared, k, n * n_ff);
  apply(pass.pool, w.value, k, n, y);
  if (w.receptance) {
    mix(w.lerp_r);
    apply(pass.pool, w.receptance, mixed, n, r);
    activate(Activation::kSigmoid, r, n * n_embd);
    vec::multiply(y, r, n * n_embd);
  }
}

}  // namespace ggufscope
