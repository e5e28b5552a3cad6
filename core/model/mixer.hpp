// The interface between the decoder and the parts of a layer: the tensors and memory that a part declares, and its
// functions.
#pragma once

#include <array>
#include <string>

#include "model/state.hpp"
#include "nn/recurrent.hpp"

namespace ggufscope {

/// One micro-batch while it passes through the layers.
struct Pass {
  const Model& model;
  State& state;
  Pool& pool;
  size_t n_tokens = 0;
  std::span<const int32_t> positions{};  // [n_tokens]
  std::span<const int32_t> sequences{};  // [n_tokens]
  std::span<const int32_t> axes{};       // [n_tokens, 3] or empty
  std::span<const float> inputs{};       // [n_tokens, model.n_input()] or empty
  bool both_ways = false;
  const float* cosines[2] = {};  // [n_tokens, n_rot / 2], for full and for windowed layers
  const float* sines[2] = {};
  const std::vector<LayerWeights>* layers = nullptr;  // nullptr: the model's own
  bool encoding = false;            // true for the encoder of an encoder-decoder model: bidirectional, keeps no cache
  const int32_t* tokens = nullptr;  // [n_tokens]
  // [n_tokens]: the cells that selecting layers attend to, set by the last layer with an indexer
  std::vector<CellRun> chosen_runs{};
  std::vector<std::span<const CellRun>> chosen{};
  std::vector<std::vector<uint32_t>> cells_by_position{};  // for each sequence; UINT32_MAX: none
  std::vector<uint32_t> slots{};                           // [n_tokens]: index of the model's own adapter to use
  // [n_tokens, n_embd], for all layers: RWKV-7's first values, embeddings of Talkie and of draft models
  float* first_value = nullptr;

  [[nodiscard]] const Hparams& h() const { return model.hparams(); }
  [[nodiscard]] const LayerParameters& layer(size_t il) const { return model.hparams().layers[il]; }
  [[nodiscard]] const LayerWeights& weights(size_t il) const {
    return layers != nullptr ? (*layers)[il] : model.weights().layers[il % model.weights().layers.size()];
  }
  [[nodiscard]] float* take(size_t n) { return state.arena.take(n); }
  /// states[t]: the recurrent state of token t's sequence in a layer, starting at float `offset`.
  [[nodiscard]] States states(size_t il, size_t offset);
};

struct LayerPlan {
  Planner& planner;
  const Architecture& architecture;
  const Hparams& h;
  const LayerParameters& layer;
  size_t il = 0;
  std::string prefix;  // "blk.0."
  [[nodiscard]] std::string name(std::string_view part) const { return prefix + std::string(part); }
};

/// Floats of the arena that buffers of these sizes take.
template <class... Sizes>
[[nodiscard]] constexpr uint64_t arena_floats(Sizes... n) {
  return (Arena::round_up(uint64_t{n}) + ... + uint64_t{0});
}

/// One row for each kind of token mixer.
struct Mixer {
  MixerKind kind;
  void (*plan)(const LayerPlan& plan, LayerWeights& weights);
  /// Floats of the arena that n tokens need.
  uint64_t (*scratch)(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights, uint64_t n_tokens);
  /// Floats of state for each sequence; nullptr: none.
  uint64_t (*state)(const Hparams& h);
  /// x [n_tokens, n_embd] -> y [n_tokens, n_embd].
  void (*run)(Pass& pass, size_t il, const float* x, float* y);
};

[[nodiscard]] const Mixer& find_mixer(MixerKind kind);

[[nodiscard]] constexpr bool uses_cache(MixerKind kind) {
  return kind == MixerKind::kAttention || kind == MixerKind::kLatentAttention || kind == MixerKind::kAttentionMamba2 ||
         kind == MixerKind::kSwitchedAttention || kind == MixerKind::kCompressedAttention ||
         kind == MixerKind::kDraftAttention;
}

/// Elements that a cell of a layer's cache holds for each key head. Latent attention caches the vectors that keys are
/// computed from.
struct CacheShape {
  size_t n_head_kv = 0, d_k = 0, d_v = 0;  // d_v 0: values are part of the keys
};
[[nodiscard]] CacheShape cache_shape(const Hparams& h, const LayerParameters& layer);

/// Additional rows that a layer stores for each cell, in addition to keys and values.
struct FurtherRow {
  size_t n = 0;           ///< floats
  bool windowed = false;  ///< only for cells inside the window; stays float32
};
inline constexpr size_t kFurtherRows = 4;
[[nodiscard]] std::array<FurtherRow, kFurtherRows> further_rows(const Hparams& h, const LayerParameters& layer);

[[nodiscard]] inline const LatentSizes& latent_of(const Hparams& h, const LayerParameters& layer) {
  return layer.windowed ? h.latent_windowed : h.latent;
}

// attention.cpp
/// Plans name [n_embd] -> [n_out], or -> [n_head]: one factor for each head.
void plan_output_gate(const LayerPlan& plan, AttentionWeights& w, uint64_t n_out);
/// Multiplies mixed [n_tokens, n_head, d_v] by the activation of gate [n_tokens, w.gate.n_out].
void gate_heads(const Pass& pass, size_t il, const AttentionWeights& w, float* gate, size_t d_v, float* mixed);
void plan_attention(const LayerPlan& plan, LayerWeights& weights);
uint64_t attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                          uint64_t n_tokens);
void run_attention(Pass& pass, size_t il, const float* x, float* y);
/// Options with the scale of the scores: the file's, else 1 / sqrt(d_k).
AttentionOptions attention_options(const Hparams& h, size_t d_k);
/// Attention of prepared heads over the layer's cache: q [n_tokens, n_head, d_k] -> out [n_tokens, n_head, d_v].
/// Overwrites q.
void attend(Pass& pass, size_t il, const AttentionShape& shape, AttentionOptions options, float* q, const float* k,
            const float* v, float* out);
/// The factor by which queries grow with their position (Llama 4, Mistral 3).
float query_temperature(const Hparams& h, int32_t position);
/// Rotates n_rot elements of each head, starting at `offset`, by the layer's angles. kind: the model's, or another.
void rotate(Pass& pass, size_t il, float* x, size_t token_stride, size_t n_heads, size_t head_stride, size_t offset);
void rotate(Pass& pass, size_t il, float* x, size_t token_stride, size_t n_heads, size_t head_stride, size_t offset,
            RopeKind kind);
// t5.cpp
void plan_cross_attention(const LayerPlan& plan, LayerWeights& weights);
/// y = attention of x [n_tokens, n_embd] over the encoder's output in the state.
void run_cross_attention(Pass& pass, size_t il, const float* x, float* y);
// latent_attention.cpp
void plan_latent_attention(const LayerPlan& plan, LayerWeights& weights);
uint64_t latent_attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& w,
                                 uint64_t n_tokens);
void run_latent_attention(Pass& pass, size_t il, const float* x, float* y);
// indexer.cpp
void plan_indexer(const LayerPlan& plan, LayerWeights& weights);
uint64_t indexer_floats(const Hparams& h, uint64_t n_tokens);
/// Sets pass.chosen_runs from x [n_tokens, n_embd] and the compressed queries low [n_tokens, q_lora_rank].
void choose_positions(Pass& pass, size_t il, const float* x, const float* low);
/// The indices of the k best scores, ascending.
void best_of(std::span<const float> scores, size_t k, std::vector<uint32_t>& order);
/// Dot product of x [d] with a cell's key, in a cache with one head. row [d]: scratch.
[[nodiscard]] float cached_dot(const CacheView& cache, size_t cell, size_t d, const float* x, float* row);
/// Cells must be added in ascending order.
inline void add_cell(std::vector<CellRun>& runs, uint32_t cell) {
  if (runs.empty() || runs.back().end != cell) runs.push_back({cell, cell});
  runs.back().end = cell + 1;
}
// block_attention.cpp
void plan_block_indexer(const LayerPlan& plan, LayerWeights& weights);
uint64_t block_attention_floats(const Hparams& h, const LayerParameters& layer, uint64_t n_tokens);
/// Like attend, for a layer whose index heads read x [n_tokens, n_embd].
void attend_blocks(Pass& pass, size_t il, const AttentionOptions& options, const float* x, const float* q,
                   const float* k, const float* v, float* out);
// granite_switch.cpp
/// Sets pass.slots and returns the tokens to embed instead of the control tokens.
std::vector<int32_t> switch_tokens(Pass& pass, std::span<const int32_t> tokens);
void plan_switched_attention(const LayerPlan& plan, LayerWeights& weights);
uint64_t switched_attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                                   uint64_t n_tokens);
void run_switched_attention(Pass& pass, size_t il, const float* x, float* y);
/// Returns 0 for layers without adapters.
uint64_t switched_ffn_floats(const LayerWeights& weights, uint64_t n_tokens);
void run_switched_ffn(Pass& pass, size_t il, const float* x, float* y);
// draft_attention.cpp
void plan_draft_attention(const LayerPlan& plan, LayerWeights& weights);
uint64_t draft_attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& w,
                                uint64_t n_tokens);
/// x: the normalized states. The embeddings of the tokens are in pass.first_value.
void run_draft_attention(Pass& pass, size_t il, const float* x, float* y);
void plan_draft_ends(Planner& planner, const Hparams& h, Weights& weights);
/// Logits [n_rows, n_vocab] of a draft model that knows only some of the tokens; the others get the lowest float.
void draft_logits(Pool& pool, const Weights& w, const float* rows, size_t n_rows, size_t n_vocab, float* out);
// mtp_head.cpp
void plan_mtp_head(Planner& planner, const Architecture& a, const Hparams& h, Weights& weights);
/// x: the normalized hidden states, which become the input of the layer. The embeddings of the tokens are in
/// pass.first_value.
void join_mtp_inputs(Pass& pass, float* x);
// compressed_attention.cpp
void plan_compressed_attention(const LayerPlan& plan, LayerWeights& weights);
uint64_t compressed_attention_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                                     uint64_t n_tokens);
void run_compressed_attention(Pass& pass, size_t il, const float* x, float* y);
[[nodiscard]] std::array<FurtherRow, kFurtherRows> compressed_rows(const Hparams& h, const LayerParameters& layer);
// mamba.cpp
void plan_mamba(const LayerPlan& plan, LayerWeights& weights);
uint64_t mamba_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights, uint64_t n_tokens);
uint64_t mamba_state(const Hparams& h);
void run_mamba(Pass& pass, size_t il, const float* x, float* y);
void plan_mamba2(const LayerPlan& plan, LayerWeights& weights);
uint64_t mamba2_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights, uint64_t n_tokens);
uint64_t mamba2_state(const Hparams& h);
void run_mamba2(Pass& pass, size_t il, const float* x, float* y);
// plamo2.cpp
void plan_plamo2(const LayerPlan& plan, LayerWeights& weights);
uint64_t plamo2_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights, uint64_t n_tokens);
void run_plamo2(Pass& pass, size_t il, const float* x, float* y);
// short_convolution.cpp
void plan_short_convolution(const LayerPlan& plan, LayerWeights& weights);
uint64_t short_convolution_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& w,
                                  uint64_t n_tokens);
uint64_t short_convolution_state(const Hparams& h);
void run_short_convolution(Pass& pass, size_t il, const float* x, float* y);
// delta_net.cpp
void plan_delta_net(const LayerPlan& plan, LayerWeights& weights);
uint64_t delta_net_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                          uint64_t n_tokens);
uint64_t delta_net_state(const Hparams& h);
void run_delta_net(Pass& pass, size_t il, const float* x, float* y);
// kimi_delta.cpp
void plan_kimi_delta(const LayerPlan& plan, LayerWeights& weights);
uint64_t kimi_delta_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                           uint64_t n_tokens);
uint64_t kimi_delta_state(const Hparams& h);
void run_kimi_delta(Pass& pass, size_t il, const float* x, float* y);
// lightning.cpp
void plan_lightning(const LayerPlan& plan, LayerWeights& weights);
uint64_t lightning_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights,
                          uint64_t n_tokens);
uint64_t lightning_state(const Hparams& h);
void run_lightning(Pass& pass, size_t il, const float* x, float* y);
// rwkv.cpp
void plan_rwkv(const LayerPlan& plan, LayerWeights& weights);
uint64_t rwkv_floats(const Hparams& h, const LayerParameters& layer, const LayerWeights& weights, uint64_t n_tokens);
uint64_t rwkv_state(const Hparams& h);
void run_rwkv(Pass& pass, size_t il, const float* x, float* y);
/// RWKV's feed-forward network, which also reads the previous token.
void plan_channel_mix(const LayerPlan& plan, LayerWeights& weights);
uint64_t channel_mix_floats(const Hparams& h, const LayerWeights& weights, uint64_t n_tokens);
void run_channel_mix(Pass& pass, size_t il, const float* x, float* y);

// kv_cells.cpp
/// Finds the cells that each token of the pass attends to.
void find_visible(const Pass& pass, bool windowed, std::vector<CellRun>& runs,
                  std::vector<std::span<const CellRun>>& visible);
/// Takes cells for the tokens, and finds the cells that each of them attends to. Errors: kOutOfMemory.
[[nodiscard]] Result<void> place_in_cache(const Pass& pass);

// forward.cpp
void embed(const Pass& pass, std::span<const int32_t> tokens, float* x, float* scratch);
struct Activations {
  float* x;        // [n_tokens, n_embd] the residual stream
  float* normed;   // the input of a part of the layer
  float* mixed;    // output of attention
  float* forward;  // output of the feed-forward network
  float* input;    // x at the start of the layer
};
/// keep, if not empty: the rows of x that are needed after this layer, ascending. The others are dropped as early as
/// possible, and pass.n_tokens becomes keep.size(). Returns false if all rows are still there.
bool run_layer(Pass& pass, size_t il, const Activations& a, std::span<const uint32_t> keep = {});

// hyper_connections.cpp
struct HyperStreams {
  float* x = nullptr;        // [n_tokens, n, n_embd]
  float* other = nullptr;    // the same
  float* weights = nullptr;  // [n_tokens, n (2 + n)]
};
void plan_hyper_ends(Planner& planner, const Hparams& h, HyperWeights& weights);
void plan_hyper(const LayerPlan& plan, LayerWeights& weights);
uint64_t hyper_floats(const Hparams& h, uint64_t n_tokens);
/// Converts x [n_tokens, n_embd] to streams, and the sum of streams back to x.
HyperStreams begin_streams(Pass& pass, const float* x);
void end_streams(Pass& pass, const HyperStreams& s, float* x);
void run_hyper_layer(Pass& pass, size_t il, HyperStreams& s, const Activations& a);

// residual_attention.cpp
struct Bank {
  float* streams = nullptr;  // [n, n_tokens, n_embd]
  size_t n = 0;
};
/// Floats of the bank, and of scratch memory beyond that of a layer's parts.
uint64_t bank_floats(const Hparams& h, uint64_t n_tokens);
/// out [n_tokens, n_embd]: the mixture of x and the banked streams.
void mix_banked(Pass& pass, const Bank& bank, const Vector& score, const float* x, float* out);
void run_banking_layer(Pass& pass, size_t il, Bank& bank, const Activations& a);

// altup.cpp
/// Gemma 3n and 4: every layer has its own input for each token. Returns [n_tokens, n_layer, n_embd_per_layer], in the
/// arena.
const float* per_layer_inputs(Pass& pass, std::span<const int32_t> tokens, const float* x);
/// out [n_tokens, n_embd]: computed from a layer's own input for each token, and x.
void per_layer_output(Pass& pass, size_t il, const float* inputs, const float* x, float* out);
void plan_altup_model(Planner& planner, const Hparams& h, Weights& weights);
void plan_altup(const LayerPlan& plan, uint64_t n_streams, AltupWeights& weights);
uint64_t altup_floats(const Hparams& h, const Weights& weights, uint64_t n_tokens);
/// Converts x [n_tokens, n_embd] to streams [n_streams, n_tokens, n_embd] and back.
void split_streams(Pass& pass, const float* x, float* streams);
void merge_streams(Pass& pass, const float* streams, float* x, float* scratch);
void run_altup_layer(Pass& pass, size_t il, float* streams, const float* per_layer, const Activations& a);

// wavtokenizer.cpp
void plan_codec(Planner& planner, const Hparams& h, Weights& weights);
uint64_t codec_floats(const Hparams& h, uint64_t n_tokens);
AttentionShape codec_heads(const Hparams& h);
/// Computes the frames of the pass's tokens and writes the wanted ones. Error: kUnsupported for several sequences.
[[nodiscard]] Result<void> run_codec(Pass& pass, std::span<const int32_t> tokens, std::span<const uint32_t> wanted,
                                     float* out);

// ffn.cpp: dense or experts, depending on the layer's tensors; none if it has neither.
void plan_ffn(const LayerPlan& plan, LayerWeights& weights);
[[nodiscard]] bool has_ffn(const LayerWeights& weights);
uint64_t ffn_floats(const Hparams& h, const LayerWeights& weights, uint64_t n_tokens);
/// layer_input: x before attention, which some routers read.
void run_ffn(Pass& pass, size_t il, const float* x, const float* layer_input, float* y);

/// Calls work(t) for every token, in parallel if there are many.
template <class Work>
void each_token(Pool& pool, Operation operation, size_t n_tokens, const Work& work) {
  const Timed timed(pool.profile(), operation);
  pool.parallel_for(n_tokens, 8, [&](size_t first, size_t last, size_t) {
    for (size_t t = first; t < last; ++t) work(t);
  });
}

/// Normalizes the rows of x to y.
void normalize_rows(Pool& pool, float eps, NormKind kind, const Affine& norm, const float* x, size_t n_rows, size_t n,
                    float* y);
/// x += y, rows of n elements.
void add_rows(Pool& pool, float* x, const float* y, size_t n_rows, size_t n);

}  // namespace ggufscope
