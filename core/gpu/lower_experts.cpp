// Mixtures of experts: router, choice, two products with the chosen experts; a shared expert or a dense network beside
// them. The experts' numbers stay on the GPU.
#include <algorithm>

#include "gpu/lower.hpp"

namespace ggufscope::gpu {
namespace {

const LayerWeights& weights_of(const Builder& b, size_t il) { return b.model().weights().layers[b.h.block_of(il)]; }

void check(Builder& b, const LayerWeights& layer) {
  const MoeWeights& w = *layer.moe;
  if (w.latent_down) b.refuse("experts read a projection of the stream");
  if (w.chunks) b.refuse("neighbouring experts share smaller ones");
  if (!w.by_token.empty()) b.refuse("tokens determine their experts");
  if (b.h.shared_expert_scale != 1) b.refuse("the sum of experts is scaled");
  if (b.h.n_expert > kMaxExperts)
    b.refuse("layers have " + std::to_string(b.h.n_expert) + " experts, more than " + std::to_string(kMaxExperts));
  if (b.h.n_expert_used == 0 || b.h.n_expert_used > b.h.n_expert) b.refuse("a token has no experts");
}

uint32_t choice_words(const Builder& b) { return 2 * b.h.n_expert_used + 1; }

uint64_t n_logits(const Builder& b, const MoeWeights& w) { return b.h.n_expert + (w.shared_gate ? 1u : 0u); }

void choose(Flow& flow, const MoeWeights& w, PlanBinding choices) {
  Builder& b = flow.b;
  const Hparams& h = b.h;
  Variant v;
  v.kernel = Kernel::kChooseExperts;
  v.gating = h.gating;
  v.flags = flow.rows();
  ChoiceParameters p;
  p.n_expert = h.n_expert;
  p.n_used = h.n_expert_used;
  p.n_groups = std::max(h.n_expert_groups, 1u);
  p.n_group_used = h.n_group_used;
  p.n_logits = static_cast<uint32_t>(n_logits(b, w));
  p.bias_at = b.vector(w.selection_bias);
  p.weights_scale = h.expert_weights_scale != 0 ? h.expert_weights_scale : 1;
  if (p.bias_at != kAbsent) v.flags |= kSelectionBias;
  if (b.arch.choose_by_logits) v.flags |= kSelectByLogits;
  if (h.normalize_expert_weights) v.flags |= kNormalizeWeights;
  if (w.shared_gate) v.flags |= kSharedGate;
  flow.dispatch(v, words_of(p), {b.activation(Activations::kRouter, p.n_logits), b.vectors(), choices},
                {GridSize{0, 1, 0, 1}, GridSize{}});
}

PlanBinding lower_chosen(Flow& flow, size_t il, const ExpertWeights& w, const Affine* norm, PlanBinding choices) {
  Builder& b = flow.b;
  const uint32_t used = b.h.n_expert_used;
  const bool gated = w.gate || w.gate_up;
  Target to = activation_target(b, il, gated, b.h.layers[il].clamp_experts);
  if (b.arch.weigh_before_experts) to.flags |= kWeighInput;
  to.buffer = b.activation(Activations::kInner, uint64_t{used} * w.down.n_in);
  const Source from{true, {}, norm, b.h.n_embd};
  if (w.gate_up) {
    const MatrixRows rows[] = {{.stack = &w.gate_up}};
    const MatrixGroup& group = b.group(rows);
    if (b.refused()) return to.buffer;
    flow.experts_in(from, group, halves_of(group.matrices[0], w.down.n_in), to, choices, used);
  } else {
    std::vector<MatrixRows> rows;
    for (const LinearStack* stack : {&w.gate, &w.up})
      if (*stack) rows.push_back({.stack = stack});
    const MatrixGroup& group = b.group(rows);
    flow.experts_in(from, group, group.matrices, to, choices, used);
  }
  return to.buffer;
}

}  // namespace

void lower_router(Flow& flow, size_t il, const Affine* norm) {
  Builder& b = flow.b;
  const MoeWeights& w = *weights_of(b, il).moe;
  check(b, weights_of(b, il));
  if (b.refused()) return;
  std::vector<MatrixRows> rows{{&w.router}};
  if (w.shared_gate) rows.push_back({&w.shared_gate});
  Target to;
  to.buffer = b.activation(Activations::kRouter, n_logits(b, w));
  flow.product({true, {}, norm, b.h.n_embd}, b.group(rows), to);
}

void lower_experts(Flow& flow, size_t il, const Affine* norm) {
  Builder& b = flow.b;
  const Hparams& h = b.h;
  const LayerWeights& layer = weights_of(b, il);
  const MoeWeights& w = *layer.moe;
  const bool dense = static_cast<bool>(layer.ffn.down);
  const float scale = dense ? h.dense_and_experts_scale : 1;
  // What is added later is scaled then; the sum of experts and dense network at once.
  const float factor = scale * (layer.ffn_post_norm ? 1 : h.residual_scale);
  const PlanBinding choices = b.activation(Activations::kChoices, choice_words(b));
  const FfnWeights& beside = dense ? layer.ffn : w.shared;
  if (dense && w.shared.down) return b.refuse("layers have a shared expert and a dense network");
  choose(flow, w, choices);
  const PlanBinding inner = lower_chosen(flow, il, w.experts, norm, choices);
  // It reads the stream before the experts' output is added.
  PlanBinding inner_beside{};
  if (beside.down) inner_beside = lower_inner(flow, il, beside, norm, Activations::kBeside);
  if (b.refused()) return;
  const MatrixRows down[] = {{.stack = &w.experts.down}};
  flow.experts_out(inner, b.group(down), layer.ffn_post_norm, factor,
                   b.arch.weigh_before_experts ? uint32_t{kWeighInput} : 0, choices, h.n_expert_used);
  if (beside.down) {
    Target to;
    if (w.shared_gate) {
      to.factors = choices;
      to.factor_at = 2 * h.n_expert_used;
      to.factor_stride = choice_words(b);
    }
    const Affine* sub_norm = beside.sub_norm ? &beside.sub_norm : nullptr;
    flow.add_to_part({false, inner_beside, sub_norm, beside.down.n_in}, beside.down, layer.ffn_post_norm, factor, to);
  }
  flow.add_later(layer.ffn_post_norm, h.residual_scale);
}

}  // namespace ggufscope::gpu
