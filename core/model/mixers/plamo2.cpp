// PLaMo-2's token mixer (Preferred Networks 2025): Mamba's projections around a scan with one decay for each head, as
// in Mamba-2. Each head's gate precedes its input. B, C and dt are normalized.
#include <algorithm>

#include "model/mixers/mamba.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void plan_plamo2(const LayerPlan& plan, LayerWeights& weights) {
  MambaWeights& w = weights.mixer.create<MambaWeights>();
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const MambaSizes& ssm = h.part<MambaSizes>();
  if (ssm.d_conv == 0 || ssm.d_inner == 0 || ssm.d_state == 0 || ssm.dt_rank == 0 || ssm.d_inner % ssm.dt_rank != 0)
    return p.refuse(ErrorCode::kOutOfRange, "the ssm.* keys of " + plan.prefix + " are missing, 0 or do not divide");
  const TensorEntry* dt = p.find(plan.name("ssm_dt.weight"));
  if (dt == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor " + plan.name("ssm_dt.weight") + " is missing");
  const uint64_t low = std::min<uint64_t>(dt->shape[0], Keys::kMaxCount);
  p.linear(w.in, plan.name("ssm_in"), h.n_embd, 2 * uint64_t{ssm.d_inner});
  p.vector(w.conv, plan.name("ssm_conv1d.weight"), uint64_t{ssm.d_inner} * ssm.d_conv, Need::kRequired);
  p.linear(w.x, plan.name("ssm_x"), ssm.d_inner, low + 2 * ssm.d_state);
  p.linear(w.dt, plan.name("ssm_dt"), low, ssm.dt_rank);
  p.vector(w.a, plan.name("ssm_a"), ssm.dt_rank, Need::kRequired);
  p.vector(w.d, plan.name("ssm_d"), ssm.dt_rank, Need::kRequired);
  p.affine(w.b_norm, plan.name("ssm_b_norm"), ssm.d_state);
  p.affine(w.c_norm, plan.name("ssm_c_norm"), ssm.d_state);
  p.affine(w.dt_norm, plan.name("ssm_dt_norm"), low);
  p.linear(w.out, plan.name("ssm_out"), ssm.d_inner, h.n_embd);
}

void run_plamo2(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const MambaSizes& ssm = h.part<MambaSizes>();
  const MambaWeights& w = pass.mixer<MambaWeights>(il);
  const size_t n = pass.n_tokens, d = ssm.d_inner, n_state = ssm.d_state, n_heads = ssm.dt_rank, d_head = d / n_heads;
  const size_t low = w.dt.n_in, n_bcdt = w.x.n_out;
  const ArenaScope scope(pass.state.arena);
  float* zx = pass.take(n, 2, d);      // [n_tokens, n_heads, gate d_head | input d_head]
  float* z = pass.take(n, d);          // [n_tokens, n_heads, d_head]
  float* input = pass.take(n, d);      // the same
  float* conv = pass.take(n, d);       // the same
  float* bcdt = pass.take(n, n_bcdt);  // [n_tokens, B d_state | C d_state | low]
  float* dt_low = pass.take(n, low);   // [n_tokens, low]
  float* dt = pass.take(n, n_heads);   // [n_tokens, n_heads]
  float* scan = pass.take(n, d);       // [n_tokens, n_heads, d_head]
  if (pass.counting()) return;
  apply(pass.pool, w.in, x, n, zx);
  for (size_t i = 0; i < n * n_heads; ++i) {
    std::copy_n(zx + 2 * i * d_head, d_head, z + i * d_head);
    std::copy_n(zx + (2 * i + 1) * d_head, d_head, input + i * d_head);
  }
  causal_convolution(pass.pool, input, d, d, w.conv.data(), ssm.d_conv, nullptr, pass.states(il, 0), conv);
  activate(Activation::kSilu, conv, n * d);
  apply(pass.pool, w.x, conv, n, bcdt);
  for (size_t t = 0; t < n; ++t) {
    float* row = bcdt + t * n_bcdt;
    normalize(NormKind::kRms, row, w.b_norm.weight.data(), nullptr, n_state, h.norm_eps, row);
    normalize(NormKind::kRms, row + n_state, w.c_norm.weight.data(), nullptr, n_state, h.norm_eps, row + n_state);
    normalize(NormKind::kRms, row + 2 * n_state, w.dt_norm.weight.data(), nullptr, low, h.norm_eps, dt_low + t * low);
  }
  apply(pass.pool, w.dt, dt_low, n, dt);
  const ScanShape shape{n_heads, d_head, 1, n_state, true};
  const ScanInputs in{conv, d, dt, n_heads, bcdt, bcdt + n_state, n_bcdt};
  selective_scan(pass.pool, shape, in, w.a.data(), w.d.data(), pass.states(il, d * (ssm.d_conv - 1)), scan);
  activate_gated(Activation::kSilu, z, scan, n * d, scan);
  apply(pass.pool, w.out, scan, n, y);
}

}  // namespace

const Mixer kPlamo2Mixer{.plan = plan_plamo2, .run = run_plamo2, .state = mamba_state};

}  // namespace ggufscope
