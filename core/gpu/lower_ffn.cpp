// Feed-forward networks: gate and up in one product, down in another.
#include "gpu/lower.hpp"

namespace ggufscope::gpu {
namespace {

bool is_gated(const FfnWeights& w) { return w.gate || w.up.n_out != w.down.n_in; }

// Activations that the kernels know, in both forms.
void check_activation(Builder& b, bool gated) {
  switch (b.h.activation) {
    case Activation::kSilu:
    case Activation::kGelu:
    case Activation::kRelu:
    case Activation::kReluSquared:
    case Activation::kGeluQuick:
    case Activation::kGeluErf:
    case Activation::kSigmoid:
      return;
    case Activation::kXielu:
    case Activation::kTanh:
      if (gated) break;
      return;
    case Activation::kSwigluOai:
    case Activation::kSitu:
      if (!gated) break;
      return;
    case Activation::kGeluHalf:
      break;
  }
  b.refuse("an activation function has no kernel");
}

}  // namespace

Target activation_target(Builder& b, size_t il, bool gated, float limit) {
  check_activation(b, gated);
  Target to;
  to.epilogue = gated ? Epilogue::kGate : Epilogue::kActivate;
  to.activation = b.h.activation;
  if (to.activation == Activation::kXielu) {
    const XieluParameters& x = b.layer(il).xielu;
    to.gate = {x.alpha_n, x.alpha_p, x.beta, x.eps};
  } else if (to.activation == Activation::kSitu) {
    to.gate = {b.h.situ.beta, b.h.situ.linear_beta, 0, 0};
  }
  if (gated) to.limit = limit;
  if (to.limit != 0 && b.h.clamp_before_activation) to.flags |= kClampFirst;
  return to;
}

std::array<MatrixParameters, 2> halves_of(const MatrixParameters& m, uint64_t n_ff) {
  std::array<MatrixParameters, 2> halves{m, m};
  halves[0].n_rows = halves[1].n_rows = halves[1].first_row = static_cast<uint32_t>(n_ff);
  if (m.bias_at != kAbsent) halves[1].bias_at += static_cast<uint32_t>(n_ff);
  return halves;
}

Place lower_inner(Flow& flow, size_t il, const FfnWeights& w, const Affine* norm, Activations into) {
  Builder& b = flow.b;
  const size_t n_ff = w.down.n_in;
  const bool gated = is_gated(w);
  Target to = activation_target(b, il, gated, b.layer(il).clamp_dense);
  if (w.act_scales && !gated) to.divide_at = b.vector(w.act_scales);
  to.buffer = b.activation(into, n_ff);
  const Source from = flow.stream_by(norm);
  MatrixList rows;
  rows.add(w.gate);
  rows.add(w.up);
  const MatrixGroup& group = b.group(rows);
  if (b.refused()) return to.buffer;
  if (w.gate || !gated) {
    flow.product(from, group, to);
  } else {  // gate and up are one matrix
    const auto halves = halves_of(group.matrices[0], n_ff);
    flow.product(from, group, halves, to);
  }
  return to.buffer;
}

void lower_ffn(Flow& flow, size_t il, const Affine* norm) {
  Builder& b = flow.b;
  const LayerWeights& layer = b.layer_weights(il);
  const FfnWeights& w = layer.ffn;
  if (layer.moe != nullptr) {
    if (!b.arch.router_reads_layer_input) lower_router(flow, il, norm);
    return lower_experts(flow, il, norm);
  }
  const Place inner = lower_inner(flow, il, w, norm);
  if (b.refused()) return;
  flow.finish_part({inner, if_any(w.sub_norm), w.down.n_in}, w.down, layer.ffn_post_norm, b.h.residual_scale);
}

}  // namespace ggufscope::gpu
