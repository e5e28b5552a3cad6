// RWKV, versions 6 and 7: its attention as a scan over a state for each head, and its feed-forward network.
#include "gpu/lower.hpp"
#include "model/mixers/rwkv.hpp"

namespace ggufscope::gpu {
namespace {

// Parts of a row that wkv reads.
enum class Part : uint8_t { kRead, kKey, kValue, kDecay, kGate, kRate, kShare };

// How an activation of a product begins: its matrix's bias, if the file has it apart.
struct Form {
  Epilogue epilogue = Epilogue::kStore;
  Activation activation = Activation::kSilu;
  const Vector* bias = nullptr;
};

constexpr Form activated(Activation activation, const Vector* bias = nullptr) {
  return {Epilogue::kActivate, activation, bias};
}

void lower_product(Flow& flow, const Source& from, const Linear& linear, const Form& form, Place to, size_t at = 0,
                   size_t row_floats = 0) {
  Target target;
  target.epilogue = form.epilogue;
  target.activation = form.activation;
  target.buffer = to;
  target.row_floats = static_cast<uint32_t>(row_floats);
  flow.product(from, linear, target, at, form.bias);
}

// n_mixes mixtures of each row of x with the row of the token before: [n_tokens, n_mixes, n_embd].
Place shift(Flow& flow, size_t il, Place x, const Vector& weights, uint32_t n_mixes, uint32_t state_at,
            Activations into, Place more = Place::kNone) {
  Builder& b = flow.b;
  MixParameters p;
  p.n = b.h.n_embd;
  p.n_groups = n_mixes;
  p.state_at = state_at;
  p.slot_floats = b.slot(il);
  p.weight_at = b.vector(weights);
  Variant v;
  v.kernel = Kernel::kShift;
  if (more != Place::kNone) v.flags |= kMoreShare;
  const Place y = b.activation(into, uint64_t{n_mixes} * p.n);
  flow.dispatch(v, p, p.n, x, more, b.states(il), y);
  return y;
}

Place normalized(Flow& flow, const Affine* norm) {
  const Place to = flow.b.activation(Activations::kNormed, flow.b.h.n_embd);
  const Affine none;
  flow.normalize_to(norm != nullptr ? *norm : none, to);
  return to;
}

// The attention of a layer in the making: its mixtures, and the row that its products fill.
class Attention {
 public:
  Attention(Flow& flow, size_t il, const RwkvWeights& w, uint32_t n_parts)
      : flow_(flow), b_(flow.b), il_(il), w_(w), n_(flow.b.h.n_embd), n_row_(n_parts * n_) {
    row_ = b_.activation(Activations::kQkv, n_row_);
  }

  void set_mixtures(Place mixtures, uint32_t n) { mixtures_ = mixtures, n_mixtures_ = n; }
  void project(uint32_t mixture, const Linear& linear, Part to, const Form& form = {}) {
    lower_product(flow_, {mixtures_, nullptr, n_, n_mixtures_ * n_, mixture * n_}, linear, form, row_,
                  static_cast<size_t>(to) * n_, n_row_);
  }
  // A product with two matrices of a low rank.
  void project(uint32_t mixture, const Linear& down, const Form& between, const Linear& up, Part to,
               const Form& form = {}) {
    const Place inner = b_.activation(Activations::kInner, down.n_out);
    lower_product(flow_, {mixtures_, nullptr, n_, n_mixtures_ * n_, mixture * n_}, down, between, inner);
    lower_product(flow_, {inner, nullptr, down.n_out}, up, form, row_, static_cast<size_t>(to) * n_, n_row_);
  }

  // The recurrence: [n_tokens, n_embd].
  Place recur(uint32_t flags, const Vector& bonus) {
    const uint32_t size = b_.h.part<RwkvSizes>().head_size;
    if (size > 256) b_.refuse_heads(size);
    MixParameters p;
    p.n = static_cast<uint32_t>(n_ / size);
    p.n_groups = static_cast<uint32_t>(w_.key.n_out / size);
    p.x_stride = static_cast<uint32_t>(n_row_);
    p.state_at = static_cast<uint32_t>(2 * n_);
    p.slot_floats = b_.slot(il_);
    p.a_at = b_.vector(w_.k_a);
    p.b_at = b_.vector(w_.k_k);
    p.d_at = b_.vector(bonus);
    p.weight_at = b_.vector(w_.norm.weight);
    p.bias_at = b_.vector(w_.norm.bias);
    p.eps = kRwkvHeadNormEps;
    Variant v;
    v.kernel = Kernel::kWkv;
    v.flags = flags;
    v.d_k = static_cast<uint16_t>(size);
    const Place y = b_.activation(Activations::kScanned, n_);
    const Place first = (flags & kRemoves) != 0 ? b_.activation(Activations::kFirstValues, n_) : Place::kNone;
    flow_.dispatch(v, p, p.n, row_, b_.states(il_), first, y);
    return y;
  }

 private:
  Flow& flow_;
  Builder& b_;
  size_t il_;
  const RwkvWeights& w_;
  size_t n_, n_row_;
  Place row_ = Place::kNone, mixtures_ = Place::kNone;
  uint32_t n_mixtures_ = 0;
};

Place lower_version_6(Flow& flow, size_t il, const RwkvWeights& w, const Affine* norm) {
  Builder& b = flow.b;
  const uint32_t n = b.h.n_embd, rank = static_cast<uint32_t>(w.mix_w2.n_in);
  const bool linear = b.layer(il).mixer == MixerKind::kRwkv6Qwen;
  const Place x = normalized(flow, norm);
  const Place mixed = shift(flow, il, x, w.lerp_x, 1, 0, Activations::kConvolved);
  const Place middle = b.activation(Activations::kInner, 5 * rank);
  lower_product(flow, {mixed, nullptr, n}, w.w1, activated(Activation::kTanh), middle);
  const Place more = b.activation(Activations::kQueries, 5 * n);
  flow.each_head({middle, nullptr, rank, 5 * rank}, w.mix_w2, {.n = 5, .head_in = rank, .head_out = n, .n_out = 5 * n},
                 more);
  Attention attention(flow, il, w, 5);
  attention.set_mixtures(shift(flow, il, x, w.lerp, 5, 0, Activations::kMixed, more), 5);
  attention.project(0, w.decay_w1, activated(Activation::kTanh), w.decay_w2, Part::kDecay,
                    {Epilogue::kStore, {}, &w.decay});
  attention.project(1, w.key, Part::kKey);
  attention.project(2, w.value, Part::kValue);
  attention.project(3, w.receptance, Part::kRead);
  attention.project(4, w.gate, Part::kGate, activated(linear ? Activation::kSigmoid : Activation::kSilu));
  return attention.recur(kGated | (linear ? uint32_t{kScaledKeys} : 0), w.first);
}

Place lower_version_7(Flow& flow, size_t il, const RwkvWeights& w, const Affine* norm) {
  const uint32_t n_mixtures = w.g1 ? 6 : 5;
  Attention attention(flow, il, w, 7);
  const Place x = normalized(flow, norm);
  attention.set_mixtures(shift(flow, il, x, w.lerp, n_mixtures, 0, Activations::kMixed), n_mixtures);
  attention.project(0, w.receptance, Part::kRead);
  attention.project(1, w.w1, activated(Activation::kTanh), w.w2, Part::kDecay, activated(Activation::kSigmoid, &w.w0));
  attention.project(2, w.key, Part::kKey);
  attention.project(3, w.value, Part::kValue);
  if (il != 0) attention.project(3, w.v1, {}, w.v2, Part::kShare, activated(Activation::kSigmoid, &w.v0));
  attention.project(4, w.a1, {}, w.a2, Part::kRate, activated(Activation::kSigmoid, &w.a0));
  if (w.g1) attention.project(5, w.g1, activated(Activation::kSigmoid), w.g2, Part::kGate);
  return attention.recur(kRemoves | (il == 0 ? uint32_t{kFirstValues} : 0) | (w.g1 ? uint32_t{kGated} : 0), w.r_k);
}

}  // namespace

Place lower_rwkv(Flow& flow, size_t il, const RwkvWeights& w, const Affine* norm) {
  switch (flow.b.layer(il).mixer) {
    case MixerKind::kRwkv6:
    case MixerKind::kRwkv6Qwen:
      return lower_version_6(flow, il, w, norm);
    case MixerKind::kRwkv7:
      return lower_version_7(flow, il, w, norm);
    default:
      flow.b.refuse("layers have a token mixer for which there are no kernels");
      return {};
  }
}

void lower_channel_mix(Flow& flow, size_t il, const Affine* norm) {
  Builder& b = flow.b;
  const LayerWeights& layer = b.layer_weights(il);
  const ChannelMixWeights& w = layer.channel_mix.get<ChannelMixWeights>();
  const uint32_t n = b.h.n_embd;
  const Place x = normalized(flow, norm);
  const Place inner = b.activation(Activations::kInner, w.key.n_out);
  const Place keys = shift(flow, il, x, w.lerp_k, 1, n, Activations::kMixed);
  lower_product(flow, {keys, nullptr, n}, w.key, activated(Activation::kReluSquared), inner);
  Target to;
  if (w.receptance) {
    const Place reads = shift(flow, il, x, w.lerp_r, 1, n, Activations::kConvolved);
    to.factors = b.activation(Activations::kScanned, n);
    to.factor_stride = n;
    to.factor_step = 1;
    lower_product(flow, {reads, nullptr, n}, w.receptance, activated(Activation::kSigmoid), to.factors);
  }
  if (layer.ffn_post_norm) return b.refuse("layers have further parts");
  flow.add_to_part({inner, nullptr, w.key.n_out}, w.value, {}, b.h.residual_scale, to);
}

}  // namespace ggufscope::gpu
