// Mixtures of experts: router, choice, two products with the chosen experts; a shared expert or a dense network beside
// them. The experts' numbers stay on the GPU.
#include <algorithm>

#include "gpu/lower.hpp"

namespace ggufscope::gpu {
namespace {

const LayerWeights& weights_of(const Builder& b, size_t il) { return b.layer_weights(il); }

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

void choose(Flow& flow, const MoeWeights& w, Place choices) {
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
  flow.dispatch(v, p, 1, b.activation(Activations::kRouter, p.n_logits), choices);
}

// A shared expert, or a dense network, beside the chosen experts. If it joins them, its matrices are in their groups:
// the list for few tokens computes it in the same dispatches, and prefill in tiled products.
struct Beside {
  const FfnWeights* w = nullptr;  // nullptr: there is none
  bool joins = false;
  [[nodiscard]] size_t n_joined() const { return joins ? w->down.n_in : 0; }
};

bool may_join(Flow& flow, size_t il, const FfnWeights& w, const ExpertWeights& experts) {
  Builder& b = flow.b;
  const LayerParameters& layer = b.layer(il);
  const bool gated = w.gate || w.up.n_out != w.down.n_in;
  if (gated != static_cast<bool>(experts.gate || experts.gate_up) || layer.clamp_experts != layer.clamp_dense)
    return false;
  if (w.sub_norm || w.act_scales || flow.halves_stream()) return false;
  for (const Linear* linear : {&w.gate, &w.up, &w.down})
    if (linear->bias_first && linear->bias && linear->scale) return false;
  MatrixList in, out(experts.down);
  for (const LinearStack* stack : {&experts.gate_up, &experts.gate, &experts.up}) in.add(*stack);
  for (const Linear* linear : {&w.gate, &w.up}) in.add(*linear);
  out.add(w.down);
  return b.can_bind(in) && b.can_bind(out);
}

// One matrix, or gate and up, in `to`; these may be halves of one.
std::span<MatrixParameters> gate_and_up(std::span<const MatrixParameters> matrices, bool gated, uint64_t n_ff,
                                        std::array<MatrixParameters, 2>& to) {
  const bool halved = gated && matrices.size() == 1;
  if (halved) {
    to = halves_of(matrices[0], n_ff);
  } else {
    std::ranges::copy(matrices, to.begin());
  }
  return std::span(to).first(halved ? 2 : matrices.size());
}

// Computes what the experts have between their two products.
Place lower_chosen(Flow& flow, size_t il, const ExpertWeights& w, const Beside& beside, const Affine* norm,
                   Place choices) {
  Builder& b = flow.b;
  const uint64_t used = b.h.n_expert_used, n_chosen = used * w.down.n_in;
  const bool gated = w.gate || w.gate_up;
  Target to = activation_target(b, il, gated, b.layer(il).clamp_experts);
  if (b.arch.weigh_before_experts) to.flags |= kWeighInput;
  to.buffer = b.activation(Activations::kInner, n_chosen + beside.n_joined());
  const Source from = flow.stream_by(norm);
  MatrixList rows;
  for (const LinearStack* stack : {&w.gate_up, &w.gate, &w.up}) rows.add(*stack);
  const size_t n_stacks = rows.size();
  if (beside.joins) rows.add(beside.w->gate), rows.add(beside.w->up);
  const MatrixGroup& group = b.group(rows);
  if (b.refused()) return to.buffer;
  const std::span<const MatrixParameters> all = group.all();
  std::array<MatrixParameters, 2> of_chosen, of_shared;
  const auto chosen = gate_and_up(all.first(n_stacks), gated, w.down.n_in, of_chosen);
  const auto shared = gate_and_up(all.subspan(n_stacks), gated, beside.n_joined(), of_shared);
  ExpertMatrices experts{group, chosen, shared, choices, b.h.n_expert_used, n_chosen + beside.n_joined()};
  if (flow.prefill()) experts.shared = {};
  flow.experts_in(from, experts, to);
  if (!flow.prefill() || !beside.joins) return to.buffer;
  for (MatrixParameters& m : shared) m.out_at = static_cast<uint32_t>(n_chosen);
  to.flags &= ~uint32_t{kWeighInput};
  to.row_floats = static_cast<uint32_t>(experts.row_floats);
  flow.product(from, group, shared, to);
  return to.buffer;
}

}  // namespace

void lower_router(Flow& flow, size_t il, const Affine* norm) {
  Builder& b = flow.b;
  const MoeWeights& w = *weights_of(b, il).moe;
  check(b, weights_of(b, il));
  if (b.refused()) return;
  MatrixList rows(w.router);
  rows.add(w.shared_gate);
  Target to;
  to.buffer = b.activation(Activations::kRouter, n_logits(b, w));
  flow.product(flow.stream_by(norm), b.group(rows), to);
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
  const Place choices = b.activation(Activations::kChoices, choice_words(b));
  if (dense && w.shared.down) return b.refuse("layers have a shared expert and a dense network");
  const FfnWeights& other = dense ? layer.ffn : w.shared;
  const Beside beside{other.down ? &other : nullptr, other.down && may_join(flow, il, other, w.experts)};
  choose(flow, w, choices);
  const Place inner = lower_chosen(flow, il, w.experts, beside, norm, choices);
  const size_t n_chosen = size_t{h.n_expert_used} * w.experts.down.n_in, n_inner = n_chosen + beside.n_joined();
  Source of_beside{inner, nullptr, beside.n_joined(), n_inner, n_chosen};
  // It reads the stream before the experts' output is added.
  if (beside.w != nullptr && !beside.joins)
    of_beside = {lower_inner(flow, il, other, norm, Activations::kBeside), if_any(other.sub_norm), other.down.n_in};
  if (b.refused()) return;
  MatrixList down(w.experts.down);
  if (beside.joins) down.add(other.down);
  const MatrixGroup& group = b.group(down);
  if (b.refused()) return;
  const std::span<const MatrixParameters> all = group.all();
  const bool together = beside.joins && !flow.prefill();
  const auto shared = all.subspan(1, together ? 1 : 0);
  flow.experts_out(inner, {group, all.first(1), shared, choices, h.n_expert_used, n_inner}, layer.ffn_post_norm, factor,
                   b.arch.weigh_before_experts ? uint32_t{kWeighInput} : 0);
  if (beside.w != nullptr && !together) {
    Target to;
    if (w.shared_gate) {
      to.factors = choices;
      to.factor_at = 2 * h.n_expert_used;
      to.factor_stride = choice_words(b);
    }
    if (beside.joins) {
      flow.add_to_part(of_beside, group, all.subspan(1), layer.ffn_post_norm, factor, to);
    } else {
      flow.add_to_part(of_beside, other.down, layer.ffn_post_norm, factor, to);
    }
  }
  flow.add_later(layer.ffn_post_norm, h.residual_scale);
}

}  // namespace ggufscope::gpu
