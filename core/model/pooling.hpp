// From the embeddings of a text's tokens to one vector, or to the output of a classification head.
//
//   none  [n_tokens, n]: dense(x_t)            mean  dense(mean of x_t)
//   cls   dense(x_first)                       last  dense(x_last)
//   rank  softmax?(out norm(act(dense' x)) + b): x is the first token's, the last one's or the mean, as the
//   architecture
//         has it; each part only where the file has its tensors (cls, cls.norm, cls.output)
//
// dense: dense_2 and dense_3 of sentence transformers, where the architecture has them.
#pragma once

#include <cstddef>

#include "model/model.hpp"

namespace ggufscope {

/// kUnspecified: the file's, or kMean where it names none.
enum class Pooling : uint8_t { kNone, kMean, kCls, kLast, kRank, kUnspecified };

/// What kUnspecified stands for.
[[nodiscard]] Pooling pooling_of(const Model& model);

/// Floats of one pooled vector, or of one token's with kNone; 0: kRank without a head.
[[nodiscard]] size_t pooled_floats(const Model& model, Pooling pooling);

/// Embeddings [n_tokens, n_embd] of one sequence to out [pooled_floats], with kNone [n_tokens, pooled_floats]. Not
/// normalized. kUnsupported: kRank of a model that has no classification head.
[[nodiscard]] Result<void> pool_embeddings(const Model& model, Pool& pool, Pooling pooling, const float* embeddings,
                                           size_t n_tokens, float* out);

/// Plans the tensors that pooling reads: cls, cls.norm, cls.output, dense_2, dense_3.
void plan_pooling(Planner& planner, const Architecture& a, const Hparams& h, PoolingWeights& w);

}  // namespace ggufscope
