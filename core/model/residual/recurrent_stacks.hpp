// HRM-Text: two stacks of layers that run alternately over the same tokens.
#pragma once

#include "model/forward.hpp"
#include "model/mixer.hpp"

namespace ggufscope {

struct StackModelWeights {
  Vector low_init;  // [n_embd]: the low state of every token before the first pass
};

/// The states that the stacks pass to each other, [n_tokens, n_embd] each.
struct StackStates {
  float* high = nullptr;
  float* low = nullptr;
};

void plan_stacks(Planner& planner, const Hparams& h, Weights& weights);
/// The states before the first layer; x: embeddings.
StackStates take_stack_states(Pass& pass, const float* x);
/// Sets x to the input of a stack if layer il is its first.
void enter_stack(const Pass& pass, size_t il, const StackStates& states, float* x);
/// Normalizes x and stores it as the stack's state if layer il is its last.
void leave_stack(const Pass& pass, size_t il, const StackStates& states, float* x);

}  // namespace ggufscope
