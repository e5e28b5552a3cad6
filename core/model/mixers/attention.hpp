// Multi-head attention of the shared decoder, and what other kinds of attention share with it.
#pragma once

#include <memory>

#include "model/mixer.hpp"
#include "model/mixers/indexer.hpp"
#include "model/mixers/value_experts.hpp"

namespace ggufscope {

struct AttentionWeights {
  Linear qkv, q, k, v, out, gate;
  Affine q_norm, k_norm, sub_norm;
  bool gated_query = false;                           // q produces a query and a gate for each head
  bool norms_by_head = false;                         // q_norm [n_head, d_k]: separate weights for each head
  Vector sinks;                                       // [n_head]
  Vector q_scale;                                     // [n_head], applied after an unweighted norm
  Vector relative_bias;                               // [n_buckets, n_head]
  std::unique_ptr<IndexerWeights> indexer;            // of layers that attend to selected blocks
  std::unique_ptr<ValueExpertWeights> value_experts;  // instead of v
};

void plan_attention(const LayerPlan& plan, AttentionWeights& w);
/// x [n_tokens, the width that the weights read] -> y [n_tokens, n_embd].
void run_attention(Pass& pass, size_t il, const AttentionWeights& w, const float* x, float* y);
/// Stores the keys and values of x [n_tokens, n_embd] in the layer's cache, without attending.
void cache_keys(Pass& pass, size_t il, const AttentionWeights& w, const float* x);
/// The cache of a layer with keys and values for each key head.
CacheShape key_value_heads(const Hparams& h, const LayerParameters& layer);

/// Plans attn_gate [n_embd] -> [n_out], or -> [n_head]: one factor for each head.
void plan_output_gate(const LayerPlan& plan, Linear& gate, uint64_t n_out);
/// Multiplies mixed [n_tokens, n_head, d_v] by the activation of gate [n_tokens, n_gate].
void gate_heads(const Pass& pass, size_t il, float* gate, size_t n_gate, size_t d_v, float* mixed);
/// Options with the scale of the scores: the file's, else 1 / sqrt(d_k).
AttentionOptions attention_options(const Hparams& h, size_t d_k);
/// Sets the relative position biases (T5): the layer's, else those of the first layer.
void add_relative_bias(Pass& pass, size_t il, const AttentionWeights& w, AttentionOptions& options);
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

}  // namespace ggufscope
