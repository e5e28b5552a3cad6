// Mamba (Gu & Dao 2023) and Mamba-2 (Dao & Gu 2024) as token mixers.
#include "model/mixers/mamba.hpp"

#include <algorithm>

#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void read_ssm(Keys& keys, const Architecture&, Hparams& h) {
  MambaSizes& ssm = h.parts.edit<MambaSizes>();
  keys.u32("ssm.conv_kernel", ssm.d_conv, 1u << 10);
  keys.u32("ssm.inner_size", ssm.d_inner);
  keys.u32("ssm.state_size", ssm.d_state, 1u << 16);
  keys.u32("ssm.time_step_rank", ssm.dt_rank);
  keys.u32("ssm.group_count", ssm.n_group, 1u << 16);
  keys.boolean("ssm.dt_b_c_rms", ssm.norms);
}

// Checks that all counts of the ssm.* keys are positive and divide each other without remainder.
bool check_ssm(const LayerPlan& plan, bool grouped) {
  const MambaSizes& ssm = plan.h.part<MambaSizes>();
  const bool fine = ssm.d_conv > 0 && ssm.d_inner > 0 && ssm.d_state > 0 && ssm.dt_rank > 0 &&
                    (!grouped || (ssm.n_group > 0 && ssm.d_inner % ssm.dt_rank == 0 && ssm.d_inner % ssm.n_group == 0 &&
                                  ssm.dt_rank % ssm.n_group == 0));
  if (!fine)
    plan.planner.refuse(ErrorCode::kOutOfRange,
                        "the ssm.* keys of " + plan.prefix + " are missing, 0 or do not divide");
  return fine;
}

uint64_t conv_channels2(const MambaSizes& ssm) {
  return uint64_t{ssm.d_inner} + 2 * uint64_t{ssm.n_group} * ssm.d_state;
}

void plan_mamba(const LayerPlan& plan, LayerWeights& weights) {
  if (!check_ssm(plan, false)) return;
  MambaWeights& w = weights.mixer.create<MambaWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const MambaSizes& ssm = h.part<MambaSizes>();
  const uint64_t n = ssm.d_inner;
  p.linear(w.in, plan.name("ssm_in"), h.n_embd, 2 * n);
  p.vector(w.conv, plan.name("ssm_conv1d.weight"), n * ssm.d_conv, Need::kRequired);
  p.vector(w.conv_bias, plan.name("ssm_conv1d.bias"), n, Need::kRequired);
  p.linear(w.x, plan.name("ssm_x"), n, uint64_t{ssm.dt_rank} + 2 * ssm.d_state);
  p.linear(w.dt, plan.name("ssm_dt"), ssm.dt_rank, n);
  p.vector(w.a, plan.name("ssm_a"), n * ssm.d_state, Need::kRequired);
  p.vector(w.d, plan.name("ssm_d"), n, Need::kRequired);
  p.linear(w.out, plan.name("ssm_out"), n, h.n_embd);
  p.affine(w.dt_norm, plan.name("ssm_dt_norm"), ssm.dt_rank, Need::kOptional);
  p.affine(w.b_norm, plan.name("ssm_b_norm"), ssm.d_state, Need::kOptional);
  p.affine(w.c_norm, plan.name("ssm_c_norm"), ssm.d_state, Need::kOptional);
  if (ssm.norms) w.dt_norm.present = w.b_norm.present = w.c_norm.present = true;
}

}  // namespace

uint64_t mamba_state(const Hparams& h) {
  const MambaSizes& ssm = h.part<MambaSizes>();
  return uint64_t{ssm.d_inner} * (ssm.d_conv - 1 + uint64_t{ssm.d_state});
}

namespace {

void run_mamba(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const MambaWeights& w = pass.mixer<MambaWeights>(il);
  const size_t n = pass.n_tokens, d = ssm.d_inner, n_state = ssm.d_state, rank = ssm.dt_rank,
               n_xdb = rank + 2 * n_state;
  const ArenaScope scope(pass.state.arena);
  float* xz = pass.take(n, 2, d);    // [n_tokens, 2, d_inner] input and gate
  float* conv = pass.take(n, d);     // [n_tokens, d_inner]
  float* xdb = pass.take(n, n_xdb);  // [n_tokens, dt_rank + 2 d_state]
  float* low = pass.take(n, rank);   // [n_tokens, dt_rank]
  float* dt = pass.take(n, d);       // [n_tokens, d_inner]
  float* scan = pass.take(n, d);     // [n_tokens, d_inner]
  if (pass.counting()) return;
  apply(pass.pool, w.in, x, n, xz);
  causal_convolution(pass.pool, xz, 2 * d, d, w.conv.data(), ssm.d_conv, w.conv_bias.data(), pass.states(il, 0), conv);
  activate(Activation::kSilu, conv, n * d);
  apply(pass.pool, w.x, conv, n, xdb);
  for (size_t t = 0; t < n; ++t) {
    float* row = xdb + t * n_xdb;
    const auto norm = [&](const Affine& by, float* p, size_t count) {
      if (by) normalize(NormKind::kRms, p, by.weight.data(), nullptr, count, h.norm_eps, p);
    };
    norm(w.dt_norm, row, rank);
    norm(w.b_norm, row + rank, n_state);
    norm(w.c_norm, row + rank + n_state, n_state);
    std::copy_n(row, rank, low + t * rank);
  }
  apply(pass.pool, w.dt, low, n, dt);
  const ScanShape shape{d, 1, 1, n_state, false};
  const ScanInputs in{conv, d, dt, d, xdb + rank, xdb + rank + n_state, n_xdb};
  selective_scan(pass.pool, shape, in, w.a.data(), w.d.data(), pass.states(il, d * (ssm.d_conv - 1)), scan);
  for (size_t t = 0; t < n; ++t) activate_gated(Activation::kSilu, xz + (2 * t + 1) * d, scan + t * d, d, scan + t * d);
  apply(pass.pool, w.out, scan, n, y);
}

}  // namespace

void plan_mamba2(const LayerPlan& plan, MambaWeights& w) {
  if (!check_ssm(plan, true)) return;
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const MambaSizes& ssm = h.part<MambaSizes>();
  const uint64_t n_conv = conv_channels2(ssm);
  p.linear(w.in, plan.name("ssm_in"), h.n_embd, ssm.d_inner + n_conv + ssm.dt_rank);
  p.vector(w.conv, plan.name("ssm_conv1d.weight"), n_conv * ssm.d_conv, Need::kRequired);
  p.vector(w.conv_bias, plan.name("ssm_conv1d.bias"), n_conv, Need::kOptional);
  p.vector(w.dt_bias, plan.name("ssm_dt.bias"), ssm.dt_rank, Need::kRequired);
  p.vector(w.a, plan.name("ssm_a"), ssm.dt_rank, Need::kRequired);
  p.vector(w.d, plan.name("ssm_d"), ssm.dt_rank, Need::kRequired);
  p.affine(w.norm, plan.name("ssm_norm"), ssm.d_inner, Need::kOptional);
  p.linear(w.out, plan.name("ssm_out"), ssm.d_inner, h.n_embd);
}

uint64_t mamba2_state(const Hparams& h) {
  const MambaSizes& ssm = h.part<MambaSizes>();
  return conv_channels2(ssm) * (ssm.d_conv - 1) + uint64_t{ssm.d_inner} * ssm.d_state;
}

void run_mamba2(Pass& pass, size_t il, const MambaWeights& w, const float* x, float* y) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const size_t n = pass.n_tokens, d = ssm.d_inner, n_heads = ssm.dt_rank, n_group = ssm.n_group;
  const size_t n_conv = static_cast<size_t>(conv_channels2(ssm)), n_in = d + n_conv + n_heads;
  const ArenaScope scope(pass.state.arena);
  float* zxbcdt = pass.take(n, n_in);  // [n_tokens, gate d | x d, B, C n_conv | dt n_heads]
  float* xbc = pass.take(n, n_conv);   // [n_tokens, x d | B n_group d_state | C n_group d_state]
  float* scan = pass.take(n, d);       // [n_tokens, d_inner]
  if (pass.counting()) return;
  apply(pass.pool, w.in, x, n, zxbcdt);
  for (size_t t = 0; t < n; ++t) vec::add(zxbcdt + t * n_in + d + n_conv, w.dt_bias.data(), n_heads);
  causal_convolution(pass.pool, zxbcdt + d, n_in, n_conv, w.conv.data(), ssm.d_conv, w.conv_bias.data(),
                     pass.states(il, 0), xbc);
  activate(Activation::kSilu, xbc, n * n_conv);
  const ScanShape shape{n_heads, d / n_heads, n_group, ssm.d_state, true};
  const ScanInputs in{xbc, n_conv, zxbcdt + d + n_conv, n_in, xbc + d, xbc + d + n_group * ssm.d_state, n_conv};
  selective_scan(pass.pool, shape, in, w.a.data(), w.d.data(), pass.states(il, n_conv * (ssm.d_conv - 1)), scan);
  for (size_t t = 0; t < n; ++t) activate_gated(Activation::kSilu, zxbcdt + t * n_in, scan + t * d, d, scan + t * d);
  if (w.norm)
    for (size_t i = 0; i < n * n_group; ++i) {
      const size_t size = d / n_group;
      normalize(NormKind::kRms, scan + i * size, w.norm.weight.data() + i % n_group * size, nullptr, size, h.norm_eps,
                scan + i * size);
    }
  apply(pass.pool, w.out, scan, n, y);
}

const Mixer kMambaMixer{.read = read_ssm, .plan = plan_mamba, .run = run_mamba, .state = mamba_state};
const Mixer kMamba2Mixer{.plan = [](const LayerPlan& plan,
                                    LayerWeights& weights) { plan_mamba2(plan, weights.mixer.create<MambaWeights>()); },
                         .run = [](Pass& pass, size_t il, const float* x,
                                   float* y) { run_mamba2(pass, il, pass.mixer<MambaWeights>(il), x, y); },
                         .state = mamba2_state};

}  // namespace ggufscope
