// EAGLE-3: a draft model that reads the hidden states of its target.
#pragma once

#include "model/mixers/attention.hpp"

namespace ggufscope {

/// A draft model that reads hidden states of its target: this one or an MTP head.
struct DraftSizes {
  uint32_t n_features = 0;  ///< numbers that it reads of each token; 0: the model is none
  bool is_mtp_head = false;
  uint32_t n_target_embd = 0;
  std::array<uint32_t, 3> target_layers{};
  bool norm_before_residual = false;  ///< the residual stream begins with the normalized state
  bool norm_before_fc = false;
};

/// The matrix that combines the target's states, and the output.
void plan_draft_ends(Planner& planner, const Hparams& h, Weights& weights);
/// Logits [n_rows, n_vocab] of a draft model that knows only some of the tokens; the others get the lowest float.
void draft_logits(Pool& pool, const Weights& w, const float* rows, size_t n_rows, size_t n_vocab, float* out);

}  // namespace ggufscope
