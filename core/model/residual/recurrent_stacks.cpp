// HRM-Text (hierarchical reasoning, Wang et al. 2025): a low and a high stack of layers read each other's output.
//
//   high = embeddings;  low = a learned vector
//   h_cycles times:  l_cycles times low = rms(low stack(high + low)),  then high = rms(high stack(high + low))
//
// The logits are computed from high. Every pass of a stack has its own keys and values, so n_layer counts passes.
#include "model/residual/recurrent_stacks.hpp"

#include <cstring>

#include "nn/vec.hpp"

namespace ggufscope {

void plan_stacks(Planner& planner, const Hparams& h, Weights& weights) {
  planner.vector(weights.residual.create<StackModelWeights>().low_init, "hrm.z_l_init", h.n_embd);
}

StackStates take_stack_states(Pass& pass, const float* x) {
  const size_t n_embd = pass.h().n_embd, size = pass.n_tokens * n_embd;
  const float* low = pass.model.weights().residual.get<StackModelWeights>().low_init.data();
  const StackStates states{pass.take(pass.n_tokens, n_embd), pass.take(pass.n_tokens, n_embd)};
  if (pass.counting()) return states;
  std::memcpy(states.high, x, size * sizeof(float));
  for (size_t t = 0; t < pass.n_tokens; ++t) std::memcpy(states.low + t * n_embd, low, n_embd * sizeof(float));
  return states;
}

void enter_stack(const Pass& pass, size_t il, const StackStates& states, float* x) {
  if (il % pass.h().stacks.n_layer != 0) return;
  const size_t size = pass.n_tokens * pass.h().n_embd;
  std::memcpy(x, states.high, size * sizeof(float));
  vec::add(x, states.low, size);
}

void leave_stack(const Pass& pass, size_t il, const StackStates& states, float* x) {
  const Hparams& h = pass.h();
  if ((il + 1) % h.stacks.n_layer != 0) return;
  normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, {}, x, pass.n_tokens, h.n_embd, x);
  if (il + 1 == h.n_layer) return;  // x may have lost rows
  std::memcpy(h.stacks.is_high(il) ? states.high : states.low, x, pass.n_tokens * h.n_embd * sizeof(float));
}

}  // namespace ggufscope
