// From the residual stream to logits: the norm of a row, and the output matrix with what follows it.
#pragma once

#include "model/model.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

/// Normalizes rows of n_embd elements. eps 0: that of the model.
/// normalize_tokens before the output.
void normalize_output(Pool& pool, const Hparams& h, const Affine& by, const float* from, size_t n_rows, float* to);
void normalize_tokens(Pool& pool, const Hparams& h, const Affine& by, const float* from, size_t n_rows, float* to,
                      float eps = 0);

/// The logits [n, n_vocab] of normalized rows [n, n_embd].
void write_logits(const Model& model, Pool& pool, const float* rows, size_t n, float* out);

/// The logits [n, n_vocab] of what leaves a layer, as if it were the last one: rows [n, n_embd], which are overwritten.
void logits_of_states(const Model& model, Pool& pool, float* rows, size_t n, float* out);

}  // namespace ggufscope
