// DFlash: a draft model that proposes a block of tokens in one pass. See block_draft.cpp.
#pragma once

#include "model/mixers/draft_attention.hpp"

namespace ggufscope {

struct BlockDraftWeights {
  Linear markov_in, markov_out;     // DSpark: [rank] for each token; its logits' bias for the token after it
  Linear predecessors, successors;  // DFlash 2: [rank] for each token
  Linear selector;                  // [n_embd] -> [rank]
};

struct BlockAttentionWeights {
  AttentionWeights attention;
  Linear attention_taps, ffn_taps;  // [n_embd] -> [before or after, n_taps, n_embd / n_group], absent without taps
  Vector attention_base, ffn_base;  // [before or after, n_taps, n_embd]
};

void plan_block_ends(Planner& planner, const Hparams& h, Weights& weights);
/// Stores keys and values of states [n_tokens, n_embd] in all layers.
void cache_states(Pass& pass, const float* states);
/// The feed-forward network between two convolutions.
void run_convolved_ffn(Pass& pass, size_t il, const float* x, const float* layer_input, float* y);
/// True for a table of which only rows are read.
[[nodiscard]] bool is_draft_table(const Weights& weights, const Linear* linear);

/// The tokens that a block proposes after token `last`. logits [n_rows, n_vocab], which are overwritten; hidden
/// [n_rows, n_embd]: what left the layers, also overwritten.
[[nodiscard]] std::vector<int32_t> choose_block(const Model& model, Pool& pool, int32_t last, std::span<float> logits,
                                                std::span<float> hidden);

}  // namespace ggufscope
