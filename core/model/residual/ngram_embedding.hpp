// Embeddings of hashed n-grams, which one layer adds to the residual streams (Qwen 4).
#pragma once

#include <cstdint>
#include <vector>

#include "model/mixer.hpp"

namespace ggufscope {

/// The ple.* keys.
struct NgramSizes {
  uint32_t n = 0;                 ///< tokens of the longest n-gram; 0: the model has no such embeddings
  uint32_t n_heads_per_gram = 0;  ///< rows of the table that an n-gram of one length selects
  uint32_t d_head = 0;            ///< elements of a row
  uint32_t n_kernel = 0;          ///< inputs of the convolution, n tokens apart
  uint32_t layer = 0;
  int32_t end_token = 0;                     ///< no n-gram reaches before it
  int32_t media_token = 0;                   ///< stands for a token that an input replaces
  uint64_t n_rows = 0;                       ///< of the table
  std::vector<uint64_t> multipliers;         // [n]
  std::vector<uint32_t> offsets, n_rows_of;  // [n_heads]: the rows of the table that a head selects from
  [[nodiscard]] size_t n_heads() const { return offsets.size(); }
  /// Tokens before a token that the convolution reads.
  [[nodiscard]] size_t n_history() const { return size_t{n_kernel - 1} * n; }
};

struct NgramWeights {
  Linear key;                              // [n_heads, d_head] -> [n_streams, n_embd]
  Linear value;                            // [n_heads, d_head] -> [n_embd]
  Vector key_norm, query_norm, conv_norm;  // [n_streams, n_embd]
  Vector conv;                             // [n_streams, n_embd, n_kernel]
};

/// Reads the keys, if the file has them. Every error is kOutOfRange, kNotFound or kUnsupported.
void read_ngrams(Hparams& h, Keys& keys);
void plan_ngram_table(Planner& planner, const Hparams& h, Weights& weights);
void plan_ngrams(const LayerPlan& plan, LayerWeights& weights);
/// Floats of state for each sequence, after the state of the layer's mixer: the last tokens, and the convolution's
/// inputs.
[[nodiscard]] uint64_t ngram_state(const Hparams& h, size_t il);
/// Adds the layer's n-gram embeddings to the streams [n_tokens, n_streams, n_embd].
void add_ngrams(Pass& pass, size_t il, float* streams);

}  // namespace ggufscope
