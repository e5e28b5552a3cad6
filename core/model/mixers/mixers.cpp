// The table of token mixers, and those that are too small for a file of their own.
#include "model/mixer.hpp"
#include "model/mixers/attention.hpp"
#include "model/mixers/mamba.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

namespace {

// Falcon-H1: attention and Mamba-2 read the same input, and their outputs are added.
struct AttentionMamba2Weights {
  AttentionWeights attention;
  MambaWeights mamba;
};

void plan_attention_mamba2(const LayerPlan& plan, LayerWeights& weights) {
  AttentionMamba2Weights& w = weights.mixer.create<AttentionMamba2Weights>();
  plan_attention(plan, w.attention);
  plan_mamba2(plan, w.mamba);
}

uint64_t attention_mamba2_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights&, uint64_t n) {
  return arena_floats(n * h.n_embd) + std::max(attention_floats(h, layer, n), mamba2_floats(h, n));
}

void run_attention_mamba2(Pass& pass, size_t il, const float* x, float* y) {
  const AttentionMamba2Weights& w = pass.mixer<AttentionMamba2Weights>(il);
  const size_t n = pass.n_tokens * pass.h().n_embd, mark = pass.state.arena.mark();
  float* other = pass.take(n);
  run_attention(pass, il, w.attention, x, y);
  run_mamba2(pass, il, w.mamba, x, other);
  vec::add(y, other, n);
  pass.state.arena.release(mark);
}

void plan_output_only(const LayerPlan& plan, LayerWeights& weights) {
  plan.planner.linear(weights.mixer.create<Linear>(), plan.name("attn_output"), plan.h.n_embd, plan.h.n_embd);
}

void run_output_only(Pass& pass, size_t il, const float* x, float* y) {
  apply(pass.pool, pass.mixer<Linear>(il), x, pass.n_tokens, y);
}

constexpr const Mixer* kMixers[] = {
#define GGUFSCOPE_MIXER(kind, row) &row,
#include "model/mixers/mixers.inc"
#undef GGUFSCOPE_MIXER
};

}  // namespace

const Mixer kNoMixer{};
const Mixer kAttentionMamba2Mixer{.plan = plan_attention_mamba2,
                                  .run = run_attention_mamba2,
                                  .scratch = attention_mamba2_floats,
                                  .state = mamba2_state,
                                  .cache = key_value_heads};
const Mixer kOutputOnlyMixer{.plan = plan_output_only, .run = run_output_only};

const Mixer& find_mixer(MixerKind kind) { return *kMixers[static_cast<size_t>(kind)]; }

}  // namespace ggufscope
