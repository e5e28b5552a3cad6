// Plans and runs the attention to the encoder's output.
#include "model/mixers/cross_attention.hpp"

#include "model/mixers/attention.hpp"

namespace ggufscope {

void plan_cross_attention(const LayerPlan& plan, LayerWeights& weights) {
  CrossAttentionWeights& w = weights.cross.create<CrossAttentionWeights>();
  Planner& p = plan.planner;
  const LayerParameters& layer = plan.layer;
  const uint64_t n_embd = plan.h.n_embd, n_k = uint64_t{layer.n_head_kv} * layer.d_k,
                 n_v = uint64_t{layer.n_head_kv} * layer.d_v;
  p.affine(w.norm, plan.name("cross_attn_norm"), n_embd);
  p.linear(w.q, plan.name("cross_attn_q"), n_embd, uint64_t{layer.n_head} * layer.d_k);
  p.linear(w.k, plan.name("cross_attn_k"), n_embd, n_k);
  p.linear(w.v, plan.name("cross_attn_v"), n_embd, n_v);
  p.linear(w.out, plan.name("cross_attn_o"), uint64_t{layer.n_head} * layer.d_v, n_embd);
  // Some converters write a table that T5 does not use.
  p.vector(w.relative_bias, plan.name("cross_attn_rel_b.weight"), uint64_t{layer.n_head} * plan.h.n_relative_buckets,
           Need::kOptional);
}

void plan_decoder_scales(Planner& planner, size_t il, LayerWeights& weights) {
  const std::string prefix = "blk." + std::to_string(il) + ".";
  AttentionWeights& w = weights.mixer.get<AttentionWeights>();
  for (const auto& [linear, name] : {std::pair(&w.q, "attn_q"), std::pair(&w.k, "attn_k"), std::pair(&w.v, "attn_v"),
                                     std::pair(&w.out, "attn_output")})
    planner.vector(linear->scale, prefix + name + ".scale", 1, Need::kOptional);
}

void run_cross_attention(Pass& pass, size_t il, const float* x, float* y) {
  const LayerParameters& layer = pass.layer(il);
  const CrossAttentionWeights& w = pass.weights(il).cross.get<CrossAttentionWeights>();
  State& state = pass.state;
  const size_t n = pass.n_tokens;
  const ArenaScope scope(pass.state.arena);
  float* q = pass.take(n, layer.n_head, layer.d_k);
  float* mixed = pass.take(n, layer.n_head, layer.d_v);
  if (pass.counting()) return;
  apply(pass.pool, w.q, x, n, q);
  const CellRun all{0, static_cast<uint32_t>(state.n_encoded)};
  const std::vector<std::span<const CellRun>> visible(n, std::span(&all, 1));
  AttentionOptions options;
  options.scale = pass.h().attention_scale.value_or(1.0f);
  attention(pass.pool, {layer.n_head, layer.n_head_kv, layer.d_k, layer.d_v}, options, state.cross(il), q, n, visible,
            pass.positions.data(), state.cell_positions.data(), reinterpret_cast<float*>(state.thread_scratch.data()),
            state.thread_scratch_floats, mixed);
  apply(pass.pool, w.out, mixed, n, y);
}

}  // namespace ggufscope
