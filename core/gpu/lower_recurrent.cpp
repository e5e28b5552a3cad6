// Recurrent mixers: short convolutions, Mamba, gated delta nets, RWKV (lower_rwkv.cpp). Their states stay on the GPU.
#include "gpu/lower.hpp"
#include "model/mixers/delta_net.hpp"
#include "model/mixers/mamba.hpp"
#include "model/mixers/rwkv.hpp"
#include "model/mixers/short_convolution.hpp"

namespace ggufscope::gpu {
namespace {

// What the last product of a mixer reads, and its matrix.
struct Mixed {
  Source from{};
  const Linear* out = nullptr;
};

// The product of these matrices and the stream, as one row.
Place project(Flow& flow, const Affine* norm, std::initializer_list<const Linear*> matrices, uint64_t n) {
  MatrixList rows;
  for (const Linear* linear : matrices) rows.add(*linear);
  Target to;
  to.buffer = flow.b.activation(Activations::kMixed, n);
  flow.product(flow.stream_by(norm), flow.b.group(rows), to);
  return to.buffer;
}

Variant variant_of(Kernel kernel, uint32_t flags) {
  Variant v;
  v.kernel = kernel;
  v.flags = flags;
  return v;
}

// The convolution of a layer. Of p, weight_at and bias_at are set here.
Place convolve(Flow& flow, size_t il, const Vector& weights, const Vector& bias, Place x, MixParameters p,
               uint32_t flags, Activations into) {
  Builder& b = flow.b;
  const Place y = b.activation(into, p.n);
  p.weight_at = b.vector(weights);
  p.bias_at = b.vector(bias);
  flow.dispatch(variant_of(Kernel::kConvolve, flags), p, p.n, x, b.states(il), y);
  return y;
}

Mixed lower_short_convolution(Flow& flow, size_t il, const ShortConvolutionWeights& w, const Affine* norm) {
  Builder& b = flow.b;
  MixParameters p;
  p.n = b.h.n_embd;
  p.length = b.h.part<ShortConvolutionSizes>().length;
  p.x_stride = 3 * p.n;
  p.b_at = 2 * p.n;
  p.gate_at = p.n;
  p.slot_floats = b.slot(il);
  if (!b.h.causal) b.refuse("convolutions see the tokens on both sides");
  const Place x = project(flow, norm, {&w.in}, p.x_stride);
  const Place y = convolve(flow, il, w.conv, {}, x, p, kGatedInput, Activations::kScanned);
  return {{y, nullptr, p.n}, &w.out};
}

Place scan(Flow& flow, size_t il, const MambaWeights& w, Place x, Place bc, Place gates, MixParameters p,
           uint32_t flags) {
  Builder& b = flow.b;
  const Place y = b.activation(Activations::kScanned, p.n);
  p.a_at = b.vector(w.a);
  p.d_at = b.vector(w.d);
  p.bias_at = b.vector(w.dt_bias);
  p.eps = b.h.norm_eps;
  p.b_norm = b.vector(w.b_norm.weight);
  p.c_norm = b.vector(w.c_norm.weight);
  if (static_cast<bool>(w.b_norm) != static_cast<bool>(w.c_norm)) b.refuse("of B and C of a scan, one is normalized");
  if (w.b_norm) flags |= kNormStates;
  flow.dispatch(variant_of(Kernel::kScan, flags), p, p.n, x, bc, gates, b.states(il), y);
  return y;
}

Mixed lower_mamba(Flow& flow, size_t il, const MambaWeights& w, const Affine* norm) {
  Builder& b = flow.b;
  const MambaSizes& s = b.h.part<MambaSizes>();
  MixParameters p;
  p.n = s.d_inner;
  p.length = s.d_conv;
  p.x_stride = 2 * p.n;
  p.slot_floats = b.slot(il);
  const Place xz = project(flow, norm, {&w.in}, p.x_stride);
  const Place x = convolve(flow, il, w.conv, w.conv_bias, xz, p, 0, Activations::kConvolved);
  const size_t n_xdb = s.dt_rank + 2 * size_t{s.d_state};
  if (n_xdb % 4 != 0) b.refuse("rows of dt, B and C have " + std::to_string(n_xdb) + " elements");
  Target to;
  to.buffer = b.activation(Activations::kInner, n_xdb);
  flow.product({x, nullptr, p.n}, b.group(w.x), to);
  // dt takes the place of x, which the convolution has read.
  Target dt;
  dt.buffer = xz;
  dt.row_floats = p.x_stride;
  flow.product({to.buffer, if_any(w.dt_norm), s.dt_rank, n_xdb}, b.group(w.dt), dt);
  p.d_head = 1;
  p.n_groups = 1;
  p.n_state = s.d_state;
  p.gate_stride = p.x_stride;
  p.gate_at = p.n;
  p.x_stride = p.n;
  p.b_at = s.dt_rank;
  p.c_at = p.b_at + s.d_state;
  p.bc_stride = static_cast<uint32_t>(n_xdb);
  p.state_at = p.n * (s.d_conv - 1);
  return {{scan(flow, il, w, x, to.buffer, xz, p, 0), nullptr, p.n}, &w.out};
}

Mixed lower_mamba2(Flow& flow, size_t il, const MambaWeights& w, const Affine* norm) {
  Builder& b = flow.b;
  const MambaSizes& s = b.h.part<MambaSizes>();
  const uint32_t n_conv = s.d_inner + 2 * s.n_group * s.d_state;
  MixParameters p;
  p.n = n_conv;
  p.length = s.d_conv;
  p.x_at = s.d_inner;
  p.x_stride = p.gate_stride = s.d_inner + n_conv + s.dt_rank;
  p.slot_floats = b.slot(il);
  const Place row = project(flow, norm, {&w.in}, p.x_stride);
  const Place x = convolve(flow, il, w.conv, w.conv_bias, row, p, 0, Activations::kConvolved);
  p.n = s.d_inner;
  p.d_head = s.d_inner / s.dt_rank;
  p.n_groups = s.n_group;
  p.n_state = s.d_state;
  p.x_at = 0;
  p.x_stride = p.bc_stride = n_conv;
  p.b_at = s.d_inner;
  p.c_at = p.b_at + s.n_group * s.d_state;
  p.dt_at = s.d_inner + n_conv;
  p.state_at = n_conv * (s.d_conv - 1);
  Place y = scan(flow, il, w, x, x, row, p, kScalarDecay);
  if (!w.norm || s.n_group == 1) return {{y, if_any(w.norm), p.n}, &w.out};
  if (p.n / s.n_group % 4 != 0) b.refuse("parts of " + std::to_string(p.n / s.n_group) + " elements are normalized");
  flow.normalize_parts(y, w.norm, p.n / s.n_group, s.n_group, x);
  return {{x, nullptr, p.n}, &w.out};
}

Mixed lower_delta_net(Flow& flow, size_t il, const DeltaNetWeights& w, const Affine* norm) {
  Builder& b = flow.b;
  const MambaSizes& s = b.h.part<MambaSizes>();
  const uint32_t n_conv = s.d_inner + 2 * s.n_group * s.d_state, d_value = s.d_inner / s.dt_rank;
  MixParameters p;
  p.n = n_conv;
  p.length = s.d_conv;
  p.n_groups = s.n_group;
  p.n_state = s.d_state;
  p.d_head = s.d_inner / s.n_group;
  p.x_stride = p.gate_stride = n_conv + s.d_inner + 2 * s.dt_rank;
  p.slot_floats = b.slot(il);
  if (d_value > 256 || s.d_state > 256) b.refuse_heads(s.d_state);
  const Place row = project(flow, norm, {&w.in, &w.qkv, &w.gate, &w.beta_alpha, &w.beta, &w.alpha}, p.x_stride);
  const uint32_t interleaved = w.in ? uint32_t{kInterleaved} : 0;
  const Place x = convolve(flow, il, w.conv, {}, row, p, interleaved, Activations::kConvolved);
  p.n = s.dt_rank;
  p.state_at = n_conv * (s.d_conv - 1);
  p.x_stride = n_conv;
  p.gate_at = n_conv;
  p.b_at = n_conv + s.d_inner;
  p.dt_at = p.b_at + (w.beta_alpha ? s.dt_rank / s.n_group : s.dt_rank);
  p.a_at = b.vector(w.a);
  p.bias_at = b.vector(w.dt_bias);
  p.weight_at = b.vector(w.norm.weight);
  p.eps = b.h.norm_eps;
  Variant v = variant_of(Kernel::kDeltaRule, interleaved | (w.beta_alpha ? uint32_t{kNeighbours} : 0));
  v.d_k = static_cast<uint16_t>(s.d_state);
  v.d_v = static_cast<uint16_t>(d_value);
  const Place y = b.activation(Activations::kScanned, s.d_inner);
  flow.dispatch(v, p, p.n, x, row, b.states(il), y);
  return {{y, nullptr, s.d_inner}, &w.out};
}

Mixed lower_mixer(Flow& flow, size_t il, const ModelPart& mixer, const Affine* norm) {
  switch (flow.b.layer(il).mixer) {
    case MixerKind::kShortConvolution:
      return lower_short_convolution(flow, il, mixer.get<ShortConvolutionWeights>(), norm);
    case MixerKind::kMamba:
      return lower_mamba(flow, il, mixer.get<MambaWeights>(), norm);
    case MixerKind::kMamba2:
      return lower_mamba2(flow, il, mixer.get<MambaWeights>(), norm);
    case MixerKind::kAttentionMamba2:
      return lower_mamba2(flow, il, mixer.get<AttentionMamba2Weights>().mamba, norm);
    case MixerKind::kDeltaNet:
      return lower_delta_net(flow, il, mixer.get<DeltaNetWeights>(), norm);
    case MixerKind::kRwkv4:
    case MixerKind::kRwkv5:
    case MixerKind::kRwkv6:
    case MixerKind::kRwkv6Qwen:
    case MixerKind::kRwkv7: {
      const RwkvWeights& w = mixer.get<RwkvWeights>();
      return {{lower_rwkv(flow, il, w, norm), nullptr, flow.b.h.n_embd}, &w.output};
    }
    default:
      flow.b.refuse("layers have a token mixer for which there are no kernels");
      return {};
  }
}

}  // namespace

void lower_recurrent(Flow& flow, size_t il, const Affine* norm) {
  Builder& b = flow.b;
  const LayerWeights& layer = b.layer_weights(il);
  const bool attends = b.layer(il).mixer == MixerKind::kAttentionMamba2;
  // Both read the stream before either adds to it.
  AttentionParts parts;
  if (attends) parts = begin_attention(flow, il, norm, false);
  if (b.refused()) return;
  const Mixed mixed = lower_mixer(flow, il, layer.mixer, norm);
  if (b.refused()) return;
  if (attends && layer.attn_post_norm) return b.refuse("parallel parts have norms after them");
  if (attends) finish_attention(flow, il, parts);
  flow.finish_part(mixed.from, *mixed.out, layer.attn_post_norm, b.h.residual_scale);
}

}  // namespace ggufscope::gpu
