// Mixture of value experts: v = sum over the selected experts k of weight_k SiLU(W_k x). The router's function and the
// treatment of its weights are those of the feed-forward experts.
#include "model/mixers/value_experts.hpp"

#include <algorithm>
#include <cstring>

#include "model/ffn.hpp"
#include "model/mixers/attention.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

void plan_value_experts(const LayerPlan& plan, ValueExpertWeights& w, uint64_t n_v) {
  Planner& p = plan.planner;
  const ValueExpertSizes& sizes = plan.h.part<ValueExpertSizes>();
  p.flattened(w.router, plan.name("attn_v_gate.weight"), plan.h.n_embd, sizes.n);
  p.vector(w.bias, plan.name("attn_v_gate.bias"), sizes.n, Need::kOptional);
  p.bare_stack(w.experts, plan.name("attn_v_exps.weight"), plan.h.n_embd, n_v, sizes.n);
}

void run_value_experts(Pass& pass, const ValueExpertWeights& w, const float* x, float* v) {
  const ValueExpertSizes& sizes = pass.h().part<ValueExpertSizes>();
  const size_t n = pass.n_tokens, n_embd = w.experts.n_in, n_v = w.experts.n_out, used = sizes.n_used;
  const ArenaScope scope(pass.state.arena);
  float* logits = pass.take(n, sizes.n);
  float* scores = pass.take(sizes.n);
  int32_t* ids = reinterpret_cast<int32_t*>(pass.take(n, used));
  float* weights = pass.take(n, used);
  float* gathered = pass.take(n, n_embd);                        // the tokens of one expert
  float* values = pass.take(n, n_v);                             // the same
  uint32_t* tokens = reinterpret_cast<uint32_t*>(pass.take(n));  // index in ids and weights
  if (pass.counting()) return;
  apply(pass.pool, w.router, x, n, logits);
  for (size_t t = 0; t < n; ++t)
    choose_experts(pass.h(), sizes.n, used, w.bias.data(), logits + t * sizes.n, scores, ids + t * used,
                   weights + t * used);
  std::memset(v, 0, n * n_v * sizeof(float));
  for (size_t e = 0; e < sizes.n; ++e) {
    size_t m = 0;
    for (size_t i = 0; i < n * used; ++i) {
      if (ids[i] != static_cast<int32_t>(e)) continue;
      std::memcpy(gathered + m * n_embd, x + i / used * n_embd, n_embd * sizeof(float));
      tokens[m++] = static_cast<uint32_t>(i);
    }
    if (m == 0) continue;
    apply(pass.pool, w.experts, e, gathered, m, values);
    activate(Activation::kSilu, values, m * n_v);
    for (size_t r = 0; r < m; ++r)
      vec::add_scaled(v + tokens[r] / used * n_v, weights[tokens[r]], values + r * n_v, n_v);
  }
}

// A kind of its own, although its code is attention's: what does not know value experts must not take it for attention.
const Mixer kValueExpertsMixer{
    .read =
        [](Keys& keys, const Architecture&, Hparams& h) {
          constexpr uint32_t kMaxExperts = 4096;
          uint32_t n = 0, n_used = 0;
          keys.u32("attention.value_expert_count", n, kMaxExperts);
          keys.u32("attention.value_expert_used_count", n_used, kMaxExperts);
          if (n == 0) return;
          if (n_used == 0 || n_used > n)
            keys.refuse(ErrorCode::kOutOfRange, "attention.value_expert_used_count does not fit the number of experts");
          h.parts.edit<ValueExpertSizes>() = {n, n_used};
        },
    .plan = [](const LayerPlan& plan,
               LayerWeights& weights) { plan_attention(plan, weights.mixer.create<AttentionWeights>()); },
    .run = [](Pass& pass, size_t il, const float* x,
              float* y) { run_attention(pass, il, pass.mixer<AttentionWeights>(il), x, y); },
    .cache = key_value_heads};

}  // namespace ggufscope
