// The table of token mixers, and those that are too small for a file of their own.
#include "model/mixer.hpp"
#include "model/mixers/attention.hpp"
#include "model/mixers/mamba.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

namespace {

void plan_attention_mamba2(const LayerPlan& plan, LayerWeights& weights) {
  AttentionMamba2Weights& w = weights.mixer.create<AttentionMamba2Weights>();
  plan_attention(plan, w.attention);
  plan_mamba2(plan, w.mamba);
}

void run_attention_mamba2(Pass& pass, size_t il, const float* x, float* y) {
  const AttentionMamba2Weights& w = pass.mixer<AttentionMamba2Weights>(il);
  const size_t n = pass.n_tokens * pass.h().n_embd;
  const ArenaScope scope(pass.state.arena);
  float* other = pass.take(pass.n_tokens, pass.h().n_embd);
  run_attention(pass, il, w.attention, x, y);
  run_mamba2(pass, il, w.mamba, x, other);
  if (pass.counting()) return;
  vec::add(y, other, n);
}

void plan_output_only(const LayerPlan& plan, LayerWeights& weights) {
  plan.planner.linear(weights.mixer.create<Linear>(), plan.name("attn_output"), plan.h.n_embd, plan.h.n_embd);
}

void run_output_only(Pass& pass, size_t il, const float* x, float* y) {
  if (!pass.counting()) apply(pass.pool, pass.mixer<Linear>(il), x, pass.n_tokens, y);
}

constexpr const Mixer* kMixers[] = {
#define GGUFSCOPE_MIXER(kind, row) &row,
#include "model/mixers/mixers.inc"
#undef GGUFSCOPE_MIXER
};

}  // namespace

const Mixer kNoMixer{};
const Mixer kAttentionMamba2Mixer{
    .plan = plan_attention_mamba2, .run = run_attention_mamba2, .state = mamba2_state, .cache = key_value_heads};
const Mixer kOutputOnlyMixer{.plan = plan_output_only, .run = run_output_only};

const Mixer& find_mixer(MixerKind kind) { return *kMixers[static_cast<size_t>(kind)]; }

void read_mixers(Keys& keys, const Architecture& architecture, Hparams& h) {
  for (const Mixer* mixer : kMixers)
    if (mixer->read != nullptr) mixer->read(keys, architecture, h);
}

}  // namespace ggufscope
