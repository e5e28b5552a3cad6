// Adjustments of architectures that llama.cpp 0.7.0 added.
#include <algorithm>
#include <string>

#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/decision/decision.hpp"
#include "model/mixers/value_experts.hpp"

namespace ggufscope {
namespace {

// Of architectures whose files must say which layers have windows.
void require_windows(const Hparams& h, Keys& keys) {
  for (const std::string_view name : {"attention.sliding_window", "attention.sliding_window_pattern"})
    if (!keys.has(name)) keys.refuse(ErrorCode::kNotFound, std::string(name) + " is missing");
  if (h.window == 0) keys.refuse(ErrorCode::kOutOfRange, "attention.sliding_window is 0");
}

}  // namespace

void maple(Hparams& h, Keys& keys) {
  require_windows(h, keys);
  rope_in_windowed_only(h);
  h.clamp_before_activation = true;
  const bool by_key = keys.has("swiglu_clamp_exp");
  if (by_key) read_clamps(h, keys);
  for (LayerParameters& layer : h.layers) {
    if (!by_key) layer.clamp_experts = 7.0f;
    layer.clamp_dense = 0;
  }
}

void maion_coder(Hparams& h, Keys& keys) {
  require_windows(h, keys);
  one_base_where_windowed(h, keys);
}

void spark2_5(Hparams& h, Keys& keys) { require_windows(h, keys); }

void hrm_text(Hparams& h, Keys& keys) {
  keys.required("hrm.layers_per_stack", h.stacks.n_layer, 4096);
  keys.required("hrm.h_cycles", h.stacks.h_cycles, 4096);
  keys.required("hrm.l_cycles", h.stacks.l_cycles, 4096);
  if (keys.failed()) return;
  const uint64_t n = uint64_t{h.stacks.n_layer} * h.stacks.h_cycles * (uint64_t{h.stacks.l_cycles} + 1);
  if (n != h.n_layer)
    keys.refuse(ErrorCode::kOutOfRange,
                "block_count is " + std::to_string(h.n_layer) + ", the passes of both stacks are " + std::to_string(n));
}

void k2_horizon(Hparams& h, Keys& keys) {
  uint32_t n = 0;
  keys.u32("attention.group_norm_groups", n);
  h.norm_groups = std::max(n, 1u);
  if (h.n_embd % h.norm_groups != 0)
    keys.refuse(ErrorCode::kOutOfRange, "attention.group_norm_groups does not divide embedding_length");
  if (h.part<ValueExpertSizes>().n == 0 || h.n_expert == 0) return;
  if (h.gating != Gating::kSoftmax && h.gating != Gating::kSigmoid)
    keys.refuse(ErrorCode::kUnsupported, "value experts have no router with this expert_gating_func");
  uint32_t n_dense = 0;
  keys.u32("leading_dense_block_count", n_dense);
  for (uint32_t il = n_dense; il < h.n_layer; ++il) h.layers[il].mixer = MixerKind::kValueExperts;
}

void gemma_embedding2(Hparams& h, Keys& keys) {
  h.attention_scale = 1.0f;
  keys.required("embedding_length_per_layer_input", h.n_embd_per_layer);
  h.n_embd_out = h.n_embd;
  keys.u32("embedding_length_out", h.n_embd_out);
  if (h.n_embd_out == 0) keys.refuse(ErrorCode::kOutOfRange, "embedding_length_out is 0");
}

// Decision models of kind kev have a matrix for embeddings: queries and keys of options.
void qwen35(Hparams& h, Keys& keys) {
  delta_net(h, keys);
  if (find_tensor(keys.gguf(), "cls.output.weight") != nullptr) keys.required("embedding_length_out", h.n_embd_out);
}

// The bodies of both are decoders, although they generate nothing.
void clef(Hparams& h, Keys& keys) {
  constexpr uint32_t kMaxBlocks = 4096;
  h.causal = true;
  delta_net(h, keys);
  DecisionSizes& sizes = h.parts.edit<DecisionSizes>();
  sizes.head = DecisionHead::kJoint;
  keys.u32("decision.routing_block_count", sizes.n_routing, kMaxBlocks);
  keys.u32("decision.block_count", sizes.n_blocks, kMaxBlocks);
  keys.required("decision.head_count", sizes.n_head);
  read_head_epsilon(sizes, keys);
}

void vllm_decision2(Hparams& h, Keys& keys) {
  h.causal = true;
  DecisionSizes& sizes = h.parts.edit<DecisionSizes>();
  sizes.head = DecisionHead::kEndpoints;
  read_head_epsilon(sizes, keys);
}

}  // namespace ggufscope
