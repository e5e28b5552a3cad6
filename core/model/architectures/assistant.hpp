// Assistants: draft models without keys and values of their own. See assistant.cpp.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

void plan_assistant_ends(Planner& planner, const Hparams& h, Weights& weights);
/// x [n_tokens, n_embd]: the input of the layers.
void join_assistant_inputs(Pass& pass, std::span<const int32_t> tokens, float* x);
/// What an assistant reads of its target: seen [n_tokens, n_embd of the target], what left the last layer, -> states.
void read_states(const Model& target, Pool& pool, std::span<const float> seen, float* states);
/// The states of tokens that the target has not computed, of x [n_tokens, n_embd], what left the assistant's layers.
void project_states(const Model& assistant, Pool& pool, std::span<const float> x, float* states);
/// Lets the assistant's layers read those of the target. Returns false if it was made for another model.
[[nodiscard]] bool share_cache(const Model& target, Hparams& assistant);

}  // namespace ggufscope
