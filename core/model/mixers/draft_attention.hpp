// EAGLE-3: a draft model that reads the hidden states of its target.
#pragma once

#include "model/mixers/attention.hpp"

namespace ggufscope {

/// The matrix that combines the target's states, and the output.
void plan_draft_ends(Planner& planner, const Hparams& h, Weights& weights);
/// Logits [n_rows, n_vocab] of a draft model that knows only some of the tokens; the others get the lowest float.
void draft_logits(Pool& pool, const Weights& w, const float* rows, size_t n_rows, size_t n_vocab, float* out);

}  // namespace ggufscope
