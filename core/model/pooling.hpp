// Converts the embeddings of a text's tokens to one vector, or to the output of a classification head.
//
//   none  [n_tokens, n]: dense(x_t)            mean  dense(mean of x_t)
//   cls   dense(x_first)                       last  dense(x_last)
//   rank  softmax?(out norm(act(dense' x)) + b): x is the first token's embedding, the last one's or the mean,
//         depending on the architecture; each part only if the file has its tensors (cls, cls.norm, cls.output)
//
// dense: dense_2 and dense_3 of sentence transformers, if the architecture has them.
#pragma once

#include <cstddef>

#include "model/model.hpp"

namespace ggufscope {

/// kUnspecified: the file's pooling, or kMean if the file has none.
enum class Pooling : uint8_t { kNone, kMean, kCls, kLast, kRank, kUnspecified };

/// The pooling that kUnspecified means for the model.
[[nodiscard]] Pooling pooling_of(const Model& model);

/// Floats in one pooled vector, or for kNone in one token's; 0 for kRank without a head.
[[nodiscard]] size_t pooled_floats(const Model& model, Pooling pooling);

/// Pools embeddings [n_tokens, n_embd] of one sequence to out [pooled_floats], or for kNone to [n_tokens,
/// pooled_floats]. Not normalized. Error: kUnsupported for kRank if the model has no classification head.
[[nodiscard]] Result<void> pool_embeddings(const Model& model, Pool& pool, Pooling pooling, const float* embeddings,
                                           size_t n_tokens, float* out);

/// Plans the tensors that pooling reads: cls, cls.norm, cls.output, dense_2, dense_3.
void plan_pooling(Planner& planner, const Architecture& a, const Hparams& h, PoolingWeights& w);

}  // namespace ggufscope
