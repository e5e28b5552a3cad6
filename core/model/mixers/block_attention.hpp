// Attention to the best blocks of positions (MiniMax-M3).
#pragma once

#include "model/mixers/indexer.hpp"

namespace ggufscope {

void plan_block_indexer(const LayerPlan& plan, IndexerWeights& w);
/// Like attend, for a layer whose index heads read x [n_tokens, n_embd].
void attend_blocks(Pass& pass, size_t il, const IndexerWeights& w, const AttentionOptions& options, const float* x,
                   const float* q, const float* k, const float* v, float* out);

}  // namespace ggufscope
