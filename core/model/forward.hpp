// One pass of tokens through a model.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "model/state.hpp"

namespace ggufscope {

/// Tokens to compute, in order, of one or more sequences. The positions of a sequence must continue after its last one.
struct Batch {
  std::span<const int32_t> tokens;
  std::span<const int32_t> positions;  ///< empty: each sequence continues
  std::span<const int32_t> sequences;  ///< empty: all 0
  std::span<const uint8_t> wanted;     ///< 1: this token's output is returned; empty: every token's
  /// [n_tokens, model.n_input()] in place of the tokens' embeddings, as of an image; tokens are then of no account.
  std::span<const float> inputs = {};
  /// [n_tokens, 3] with multi-axis rotation: time, row, column of each token. Their times may be the same, then they
  /// see each other row by row. positions must be empty.
  std::span<const int32_t> axes = {};
  bool both_ways = false;   ///< all tokens of the batch see each other; at most n_batch of them
  bool embeddings = false;  ///< outputs are the normalized activations [n_embd], not logits
};

/// Floats of one output row of a batch.
[[nodiscard]] size_t output_floats(const Model& model, bool embeddings);

/// Computes a batch of any length, options().n_batch tokens at a time. out [n_wanted, output_floats].
/// cancel, if given, is checked before every layer (recurrent models: before every n_batch tokens).
/// Errors: kOutOfRange for ids, positions and sequences; kOutOfMemory where the cache has too few free cells;
/// kInvalidArgument when cancelled. After an error the tokens that were not finished are not in the state.
[[nodiscard]] Result<void> forward(const Model& model, State& state, Pool& pool, const Batch& batch, float* out,
                                   const std::atomic<bool>* cancel = nullptr);

/// Encoder-decoder models: what the decoder will attend to.
[[nodiscard]] Result<void> encode(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens,
                                  float* out);

/// Floats of scratch for n tokens.
[[nodiscard]] uint64_t forward_floats(const Model& model, uint64_t n_tokens);

}  // namespace ggufscope
