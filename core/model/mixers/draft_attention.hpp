// Draft models that read hidden states of their target: what they have in common, and EAGLE-3's attention.
#pragma once

#include <vector>

#include "model/mixers/attention.hpp"

namespace ggufscope {

enum class DraftKind : uint8_t {
  kNone,       ///< the model reads no hidden states
  kEagle,      ///< a layer that reads the states of three of the target's layers: draft_attention.cpp
  kMtpHead,    ///< a further layer of the target: architectures/mtp_head.cpp
  kAssistant,  ///< layers that read the target's cache: architectures/assistant.cpp
  kBlock,      ///< proposes a block of tokens in one pass: mixers/block_draft.cpp
};

/// What a draft model that reads hidden states of its target needs beside the common hyper-parameters.
struct DraftSizes {
  DraftKind kind = DraftKind::kNone;
  uint32_t n_features = 0;  ///< numbers of the target that it reads of each token
  uint32_t n_state = 0;     ///< numbers that it makes of them: an input of a token
  uint32_t n_target_embd = 0;
  std::vector<uint32_t> target_layers;  ///< whose inputs are read
  bool norm_before_residual = false;    ///< the residual stream begins with the normalized state
  bool norm_before_fc = false;
  bool centres_output = false;  ///< the norm before the output is a layer norm, unlike the others
  float output_eps = 0;         ///< of that norm
  // Of kBlock:
  uint32_t block = 0;         ///< tokens of a block
  uint32_t mask = 0;          ///< the token of the positions to predict
  bool causal = false;        ///< inside a block
  bool from_anchor = false;   ///< the first token of a block predicts the next one; else each mask predicts its own
  uint32_t n_taps = 0;        ///< width of the convolutions around attention and feed-forward; 0: none
  uint32_t n_group = 0;       ///< elements that share a dynamic weight
  uint32_t n_candidates = 0;  ///< of a position, among which a selector chooses; 0: no selector
  uint32_t selector_rank = 0;
};

/// Without embeddings of its own, a draft model has the vocabulary of the file, until it has a target.
void count_draft_vocabulary(Hparams& h, Keys& keys);
/// The matrix that combines the target's states, and the output.
void plan_draft_ends(Planner& planner, const Hparams& h, Weights& weights);
/// Logits [n_rows, n_vocab] of a draft model that knows only some of the tokens; the others get the lowest float.
void draft_logits(Pool& pool, const Weights& w, const float* rows, size_t n_rows, size_t n_vocab, float* out);

}  // namespace ggufscope
