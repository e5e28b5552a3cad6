// One pass of tokens through a model.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "model/probe.hpp"
#include "model/state.hpp"

namespace ggufscope {

/// Tokens to compute, in order, of one or more sequences. Positions must continue each sequence.
struct Batch {
  std::span<const int32_t> tokens;
  std::span<const int32_t> positions;    ///< empty: continue each sequence
  std::span<const int32_t> sequences;    ///< empty: all 0
  std::span<const uint8_t> output_mask;  ///< 1 returns this token's output; empty: all tokens
  /// [n_tokens, model.n_input()]: used instead of the tokens' embeddings, for example for an image. The ids are then
  /// ignored. For a draft model that reads hidden states, the state before each token, in addition to the ids.
  std::span<const float> inputs = {};
  /// [n_tokens, 3] for multi-axis rotation: time, row and column of each token. Tokens with the same time attend to
  /// each other row by row. With positions, too, these are the times that count in the cache: axes are on a canvas.
  std::span<const int32_t> axes = {};
  bool both_ways = false;  ///< all tokens of the batch attend to each other; at most n_batch tokens
  /// Layers (0 to n_layer) whose inputs [n_embd] are written to seen [n_tokens, watched.size(), n_embd]; n_layer: what
  /// leaves the last layer. Only for models with one residual stream.
  std::span<const uint32_t> watched = {};
  float* seen = nullptr;
  /// Only n_layer is watched, for an MTP head: seen is [n_tokens, model.n_last_state()].
  bool all_streams = false;
  /// The state of the target of a draft model that reads its cache. Its context must not be larger than the draft's.
  State* target = nullptr;
  bool embeddings = false;  ///< return the normalized activations [n_embd] instead of logits
  Probe* probe = nullptr;
};

/// True if the layers exchange one vector for each token, and not several streams: layers can be watched and ablated.
[[nodiscard]] bool has_one_stream(const Model& model);

/// Floats in one output row of a batch.
[[nodiscard]] size_t output_floats(const Model& model, bool embeddings);

/// Computes a batch of any length, options().n_batch tokens at a time. out [number of tokens in the output mask,
/// output_floats]. cancel, if given, is checked before every layer (recurrent models: before every n_batch tokens).
/// Errors: kOutOfRange for bad ids, positions or sequences; kOutOfMemory if the cache has too few free cells, or if the
/// first call cannot allocate scratch memory; kInvalidArgument if the batch's arrays differ in length, if encode was
/// not called, or if cancelled. After an error, tokens that were not completed are not in the state.
[[nodiscard]] Result<void> forward(const Model& model, State& state, Pool& pool, const Batch& batch, float* out,
                                   const std::atomic<bool>* cancel = nullptr);

/// Encoder-decoder models: computes the keys and values that the decoder attends to. Errors: kUnsupported for other
/// models; kOutOfRange for bad ids or more than options().n_batch tokens; kOutOfMemory as for forward.
[[nodiscard]] Result<void> encode(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens,
                                  float* out);

/// Combines the inputs of a target's layers, seen [n_tokens, n_features], to a draft model's states [n_tokens,
/// n_input]. Overwrites seen.
void fuse_states(const Model& draft, Pool& pool, std::span<float> seen, float* states);

/// The same after the draft model's own pass: x [n_tokens, n_embd], what left its last layer, becomes the states of
/// tokens that the target has not computed.
void next_states(const Model& draft, Pool& pool, std::span<const float> x, float* states);

/// The states of an MTP head: x [n_tokens, n_embd], what left a last layer. `by`: the head or its target, whose x it
/// is.
void norm_mtp_states(const Model& head, const Model& by, Pool& pool, std::span<const float> x, float* states);

// For encode and the architectures with several residual streams.
struct Pass;
void embed(const Pass& pass, std::span<const int32_t> tokens, float* x, float* scratch);
struct Activations {
  float* x;        // [n_tokens, n_embd] the residual stream
  float* normed;   // the input of a part of the layer
  float* mixed;    // output of attention
  float* forward;  // output of the feed-forward network
  float* input;    // x at the start of the layer
};
[[nodiscard]] Activations take_activations(Pass& pass);
/// keep, if not empty: the rows of x that are needed after this layer, ascending. The others are dropped as early as
/// possible, and pass.n_tokens becomes keep.size(). Returns false if all rows are still there.
bool run_layer(Pass& pass, size_t il, const Activations& a, std::span<const uint32_t> keep = {});

/// Runs the decoder's code in a pass that only counts scratch memory.
void count_forward(Pass& pass);
/// Runs the encoder of an encoder-decoder model, and stores the keys and values of its output for the decoder.
void run_encoder(Pass& pass, std::span<const int32_t> tokens, float* out);

}  // namespace ggufscope
