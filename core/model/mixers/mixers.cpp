#include <algorithm>

#include "model/mixer.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// Falcon-H1: attention and Mamba-2 read the same input, and their outputs are added.
void plan_attention_mamba2(const LayerPlan& plan, LayerWeights& weights) {
  plan_attention(plan, weights);
  plan_mamba2(plan, weights);
}

uint64_t attention_mamba2_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& w, uint64_t n) {
  return arena_floats(n * h.n_embd) + std::max(attention_floats(h, layer, w, n), mamba2_floats(h, layer, w, n));
}

void run_attention_mamba2(Pass& pass, size_t il, const float* x, float* y) {
  const size_t n = pass.n_tokens * pass.h().n_embd, mark = pass.state.arena.mark();
  float* other = pass.take(n);
  run_attention(pass, il, x, y);
  run_mamba2(pass, il, x, other);
  vec::add(y, other, n);
  pass.state.arena.release(mark);
}

void plan_output_only(const LayerPlan& plan, LayerWeights& weights) {
  plan.planner.linear(weights.attention.out, plan.name("attn_output"), plan.h.n_embd, plan.h.n_embd);
}

void run_output_only(Pass& pass, size_t il, const float* x, float* y) {
  apply(pass.pool, pass.weights(il).attention.out, x, pass.n_tokens, y);
}

// clang-format off
constexpr Mixer kMixers[] = {
    {MixerKind::kNone, nullptr, nullptr, nullptr, nullptr},
    {MixerKind::kAttention, plan_attention, attention_floats, nullptr, run_attention},
    {MixerKind::kLatentAttention, plan_latent_attention, latent_attention_floats, nullptr, run_latent_attention},
    {MixerKind::kMamba, plan_mamba, mamba_floats, mamba_state, run_mamba},
    {MixerKind::kMamba2, plan_mamba2, mamba2_floats, mamba2_state, run_mamba2},
    {MixerKind::kAttentionMamba2, plan_attention_mamba2, attention_mamba2_floats, mamba2_state, run_attention_mamba2},
    {MixerKind::kPlamo2, plan_plamo2, plamo2_floats, mamba_state, run_plamo2},
    {MixerKind::kSwitchedAttention, plan_switched_attention, switched_attention_floats, nullptr, run_switched_attention},
    {MixerKind::kCompressedAttention, plan_compressed_attention, compressed_attention_floats, nullptr, run_compressed_attention},
    {MixerKind::kDraftAttention, plan_draft_attention, draft_attention_floats, nullptr, run_draft_attention},
    {MixerKind::kOutputOnly, plan_output_only, nullptr, nullptr, run_output_only},
    {MixerKind::kShortConvolution, plan_short_convolution, short_convolution_floats, short_convolution_state, run_short_convolution},
    {MixerKind::kDeltaNet, plan_delta_net, delta_net_floats, delta_net_state, run_delta_net},
    {MixerKind::kKimiDelta, plan_kimi_delta, kimi_delta_floats, kimi_delta_state, run_kimi_delta},
    {MixerKind::kLightning, plan_lightning, lightning_floats, lightning_state, run_lightning},
    {MixerKind::kRwkv4, plan_rwkv, rwkv_floats, rwkv_state, run_rwkv},
    {MixerKind::kRwkv5, plan_rwkv, rwkv_floats, rwkv_state, run_rwkv},
    {MixerKind::kRwkv6, plan_rwkv, rwkv_floats, rwkv_state, run_rwkv},
    {MixerKind::kRwkv6Qwen, plan_rwkv, rwkv_floats, rwkv_state, run_rwkv},
    {MixerKind::kRwkv7, plan_rwkv, rwkv_floats, rwkv_state, run_rwkv},
};
// clang-format on

}  // namespace

const Mixer& find_mixer(MixerKind kind) {
  for (const Mixer& mixer : kMixers)
    if (mixer.kind == kind) return mixer;
  return kMixers[0];
}

CacheShape cache_shape(const Hparams& h, const LayerParameters& layer) {
  if (!uses_cache(layer.mixer)) return {};
  if (layer.mixer == MixerKind::kLatentAttention && h.latent.d_k != 0)
    return {1, size_t{latent_of(h, layer).rank} + layer.n_rot, 0};
  if (layer.mixer == MixerKind::kCompressedAttention) return {1, layer.d_k, 0};
  // Expanded latent attention has keys for every head; the file's number of key heads is ignored.
  return {layer.mixer == MixerKind::kLatentAttention ? layer.n_head : layer.n_head_kv, layer.d_k, layer.d_v};
}

std::array<FurtherRow, kFurtherRows> further_rows(const Hparams& h, const LayerParameters& layer) {
  if (layer.mixer == MixerKind::kCompressedAttention) return compressed_rows(h, layer);
  std::array<FurtherRow, kFurtherRows> rows;
  if (layer.has_indexer) rows[0] = {h.indexer.d_k, false};
  if (!h.switches.activate.empty() && &layer == h.layers.data()) rows[0] = {1, false};  // the token's adapter slot
  return rows;
}

States Pass::states(size_t il, size_t offset) {
  for (size_t t = 0; t < n_tokens; ++t)
    state.token_states[t] = state.recurrent(il, static_cast<uint32_t>(sequences[t])) + offset;
  return {state.token_states.data(), n_tokens};
}

void normalize_rows(Pool& pool, float eps, NormKind kind, const Affine& norm, const float* x, size_t n_rows, size_t n,
                    float* y) {
  each_token(pool, Operation::kNorm, n_rows,
             [&](size_t r) { normalize(kind, x + r * n, norm.weight.data(), norm.bias.data(), n, eps, y + r * n); });
}

void add_rows(Pool& pool, float* x, const float* y, size_t n_rows, size_t n) {
  each_token(pool, Operation::kAdd, n_rows, [&](size_t r) { vec::add(x + r * n, y + r * n, n); });
}

}  // namespace ggufscope
