// Products and norms of a list of dispatches, and what is still to be added to the residual stream.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "gpu/lower.hpp"

namespace ggufscope::gpu {
namespace {

// The workgroups of a kernel: in x `n` of a dispatch, or as many a row, or one for so many channels; in y one, or a
// row's or so many rows', or a split's. And the parameters that it takes.
enum class Across : uint8_t { kGroups, kRows, kChannels };
enum class Down : uint8_t { kOne, kRows, kTiles, kTokens, kSplits };
enum class Takes : uint8_t { kRows, kHeads, kChoice, kMix };
struct KernelForm {
  Kernel kernel;
  Across across;
  Down down;
  Takes takes = Takes::kRows;
};
constexpr KernelForm kForms[] = {
    {Kernel::kEmbed, Across::kRows, Down::kOne},
    {Kernel::kNormRows, Across::kRows, Down::kOne},
    {Kernel::kMatVec, Across::kGroups, Down::kOne},
    {Kernel::kMatMul, Across::kGroups, Down::kTiles},
    {Kernel::kChooseExperts, Across::kRows, Down::kOne, Takes::kChoice},
    {Kernel::kExpertIn, Across::kGroups, Down::kRows},
    {Kernel::kExpertOut, Across::kGroups, Down::kRows},
    {Kernel::kHeadProduct, Across::kGroups, Down::kRows},
    {Kernel::kAttendSplits, Across::kGroups, Down::kSplits, Takes::kHeads},
    {Kernel::kAttendCombine, Across::kGroups, Down::kRows, Takes::kHeads},
    {Kernel::kPrepareHeads, Across::kGroups, Down::kRows, Takes::kHeads},
    {Kernel::kAttendRows, Across::kGroups, Down::kTokens, Takes::kHeads},
    {Kernel::kWeighCells, Across::kRows, Down::kOne, Takes::kHeads},
    {Kernel::kConvolve, Across::kChannels, Down::kRows, Takes::kMix},
    {Kernel::kScan, Across::kChannels, Down::kOne, Takes::kMix},
    {Kernel::kDeltaRule, Across::kGroups, Down::kOne, Takes::kMix},
    {Kernel::kShift, Across::kChannels, Down::kRows, Takes::kMix},
    {Kernel::kWkv, Across::kGroups, Down::kOne, Takes::kMix},
    {Kernel::kArgmax, Across::kRows, Down::kOne},
};
static_assert([] {
  for (size_t i = 0; i < std::size(kForms); ++i)
    if (kForms[i].kernel != static_cast<Kernel>(i)) return false;
  return true;
}());

// The bindings of a kernel, and which of them are the model's vectors and the step record; 0: none is.
struct CommonBindings {
  uint8_t n = 0, vectors = 0, step = 0;
};
constexpr auto kCommon = [] {
  std::array<CommonBindings, std::size(kForms)> all{};
  const auto set = [&](Kernel kernel, uint8_t index, std::string_view name) {
    CommonBindings& of = all[static_cast<size_t>(kernel)];
    of.n = static_cast<uint8_t>(index + 1);
    if (name == "vectors") of.vectors = index;
    if (name == "step") of.step = index;
  };
#define GGUFSCOPE_BINDING(kernel, index, name, how, element) set(Kernel::kernel, index, #name);
#include "gpu/kernels.inc"
  return all;
}();

constexpr uint8_t kRowsOf[] = {0, 1, kTileRows, kTokensAttended};  // by Down
constexpr uint8_t kFlagsAt[] = {offsetof(RowsParameters, flags) / 4, offsetof(HeadsParameters, flags) / 4,
                                offsetof(ChoiceParameters, flags) / 4, offsetof(MixParameters, flags) / 4};  // by Takes
constexpr uint32_t kChannelsTogether = 64;

}  // namespace

PlanDispatch& Flow::add(const Variant& variant, const uint32_t* words, size_t n_words, uint32_t n,
                        const Place* places) {
  const KernelForm& form = kForms[static_cast<size_t>(variant.kernel)];
  const CommonBindings& common = kCommon[static_cast<size_t>(variant.kernel)];
  PlanDispatch d;
  d.variant = b.variant(variant);
  d.parameters = b.parameters(words, n_words);
  uint32_t* const placed = b.plan.parameters.data() + d.parameters / 4;
  placed[kFlagsAt[static_cast<size_t>(form.takes)]] = variant.flags;
  if (form.takes == Takes::kHeads) placed[offsetof(HeadsParameters, rope) / 4] = static_cast<uint32_t>(variant.rope);
  for (uint8_t i = 1; i < common.n; ++i)
    d.bindings[i] = b.binding(i == common.vectors ? b.vectors() : i == common.step ? b.step() : *places++);
  d.grid[0] = form.across == Across::kRows ? GridSize{0, n, 0, 1}
                                           : GridSize{n, 0, 0, form.across == Across::kGroups ? 1 : kChannelsTogether};
  if (form.down == Down::kSplits) {
    d.grid[1] = {0, 0, 1, 1};
  } else if (form.down != Down::kOne) {
    d.grid[1] = {0, 1, 0, kRowsOf[static_cast<size_t>(form.down)]};
  }
  d.layer = layer_;
  list_->push_back(d);
  return list_->back();
}

// Sets the flags and parameters of the sum that is due, whose result is the stream from then on.
uint32_t Flow::add_pending(RowsParameters& p) {
  if (!pending_.exists) return 0;
  uint32_t flags = kSum;
  p.factor = pending_.factor;
  if (pending_.norm != nullptr) {
    flags |= pending_.sum_norm ? kSumNorm : kPartNorm;
    p.post_weight = b.vector(pending_.norm->weight);
    p.post_bias = b.vector(pending_.norm->bias);
    p.post_eps = !pending_.sum_norm && b.h.post_norm_eps != 0 ? b.h.post_norm_eps : b.h.norm_eps;
  }
  flags |= layer_norm(b.h.norm);
  if (pending_.scale_at != kAbsent) flags |= kScaleSum, p.sinks_at = pending_.scale_at;
  std::swap(stream_, spare_);
  pending_ = {};
  return flags;
}

namespace {

uint32_t stride_of(const Source& from) { return static_cast<uint32_t>(from.stride != 0 ? from.stride : from.n); }

}  // namespace

Source Flow::stream_by(const Affine* norm) const { return {Place::kNone, norm, b.h.n_embd}; }

// Sets the flags and parameters of a norm.
uint32_t Flow::set_norm(const Affine* norm, float eps, RowsParameters& p) {
  if (norm == nullptr) return 0;
  p.eps = eps;
  p.norm_weight = b.vector(norm->weight);
  p.norm_bias = b.vector(norm->bias);
  return kNorm | layer_norm(b.h.norm);
}

Place Flow::normalize(const Source& from) {
  const Place to = b.activation(Activations::kNormed, from.n);
  if (from.residual() && !pending_.exists && normed_.residual && normed_.norm == from.norm) return to;
  const Place x = from.residual() ? stream() : from.buffer, f = due();
  RowsParameters p;
  p.n_in = p.n_out = static_cast<uint32_t>(from.n);
  p.x_stride = stride_of(from);
  p.x_at = static_cast<uint32_t>(from.at);
  p.n_matrices = 1;
  p.eps = eps_of(from);
  Variant v;
  v.kernel = Kernel::kNormRows;
  v.flags = rows_ | (from.residual() ? kFromTokens | add_pending(p) : uint32_t{0});
  v.flags |= set_norm(from.norm, p.eps, p);
  const bool sums = (v.flags & kSum) != 0;
  dispatch(v, p, 1, x, sums ? f : Place::kNone, to, sums ? stream() : Place::kNone);
  normed_ = {from.norm, from.residual()};
  return to;
}

// Where a product reads from, and the prologue. Prefill: after a dispatch that normalizes, unless mat_mul does it.
Flow::Read Flow::read(const Source& from, RowsParameters& p, uint32_t& flags) {
  Read read;
  p.x_stride = stride_of(from);
  p.x_at = static_cast<uint32_t>(from.at);
  read.x = from.residual() ? stream() : from.buffer;
  const bool gathers = from.residual() && (pending_.exists || rows_ != 0);
  const bool shares = from.residual() && !from.once;
  if (prefill_ && (gathers || (from.norm != nullptr && (shares || b.h.norm == NormKind::kLayer || from.norm->bias)))) {
    read.x = normalize(from);
    p.x_stride = static_cast<uint32_t>(from.n);
    p.x_at = 0;
    return read;
  }
  if (from.residual()) {
    const Place f = due();
    const uint32_t adds = add_pending(p);
    flags |= kFromTokens | adds;
    if (adds != 0) read.part = f, read.sum = stream();
  }
  flags |= set_norm(from.norm, eps_of(from), p);
  return read;
}

// Writes the matrices of a product behind its parameters. Returns the bytes of weights.
uint64_t Flow::place_matrices(const MatrixGroup& group, std::span<const MatrixParameters> matrices, uint32_t per_group,
                              Variant& v, RowsParameters& p, MatrixParameters* to) {
  const bool gates = v.epilogue == Epilogue::kGate;
  p.n_in = static_cast<uint32_t>(group.n_in);
  p.n_matrices = static_cast<uint32_t>(matrices.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < matrices.size(); ++i) {
    MatrixParameters& m = to[i];
    m = matrices[i];
    // Several may be ranges of one matrix of the group.
    size_t k = 0;
    while (group.matrices[k].quants_at != m.quants_at) ++k;
    v.types[i] = group.types[k];
    bytes += group.bytes[k] * m.n_rows / group.matrices[k].n_rows;
    if (m.bias_at != kAbsent) v.flags |= kBias;
    if (m.scale_at != kAbsent) v.flags |= kScale;
    if (m.limits_at != kAbsent) v.flags |= kLimits;
    m.first_group = gates ? 0 : p.n_groups;
    m.out_at += gates ? 0 : p.n_out;
    const uint32_t n_groups = (m.n_rows + per_group - 1) / per_group;
    p.n_groups = gates ? n_groups : p.n_groups + n_groups;
    p.n_out = gates ? m.n_rows : p.n_out + m.n_rows;
  }
  if (group.bias_first) v.flags |= kBiasFirst;
  return bytes;
}

namespace {

void set_target(const Target& to, Variant& v, RowsParameters& p) {
  v.epilogue = to.epilogue;
  v.activation = to.activation;
  v.flags |= to.flags;
  p.out_factor = to.factor;
  p.soft_cap = to.soft_cap;
  p.limit = to.limit;
  p.gate_a = to.gate[0], p.gate_b = to.gate[1], p.gate_c = to.gate[2], p.gate_d = to.gate[3];
  p.divide_at = to.divide_at;
  p.factor_at = to.factor_at;
  p.factor_stride = to.factor_stride;
  p.factor_step = to.factor_step;
  if (to.soft_cap != 0) v.flags |= kSoftCap;
  if (to.limit != 0) v.flags |= kClamp;
  if (to.divide_at != kAbsent) v.flags |= kDivide;
  if (to.factor_stride != 0) v.flags |= kRowFactor;
}

}  // namespace

void Flow::product(const Source& from, const MatrixGroup& group, std::span<const MatrixParameters> matrices,
                   const Target& to) {
  if (b.refused()) return;
  ProductParameters p;
  RowsParameters& rows = p.rows;
  Variant v;
  v.kernel = prefill_ ? Kernel::kMatMul : Kernel::kMatVec;
  v.flags = rows_;
  set_target(to, v, rows);
  const bool multiplies = from.factor_stride != 0;
  if (multiplies) v.flags |= kFactorInput, rows.factor_at = from.factor_at, rows.factor_stride = from.factor_stride;
  const Place factors = multiplies ? from.factors : to.factors;
  Read r = read(from, rows, v.flags);
  const bool gates = to.epilogue == Epilogue::kGate;
  const uint32_t per_group = prefill_ ? kTileOutputs : gates ? kMatVecRows / 2 : kMatVecRows;
  const uint64_t bytes = place_matrices(group, matrices, per_group, v, rows, p.matrices.data());
  rows.n_in = static_cast<uint32_t>(from.n);  // experts and what is beside them may differ in it
  if (to.row_floats != 0) rows.n_out = to.row_floats;
  if (!prefill_ && rows.factor_stride != 0) r.part = factors;
  // The bindings of mat_vec end with the sum, those of mat_mul with the factors.
  const Place second = prefill_ ? to.buffer : r.part, third = prefill_ ? factors : to.buffer;
  dispatch(v, p, rows.n_groups, group.place, r.x, second, third, r.sum).weight_bytes = bytes;
  if (to.buffer == stream()) normed_ = {};
}

void Flow::product(const Source& from, const MatrixGroup& group, const Target& to) {
  product(from, group, group.all(), to);
}

void Flow::product(const Source& from, const Linear& linear, const Target& to, size_t at, const Vector* bias) {
  const MatrixGroup& group = b.group(linear);
  if (b.refused()) return;
  MatrixParameters m = group.matrices[0];
  m.out_at = static_cast<uint32_t>(at);
  if (bias != nullptr) m.bias_at = b.vector(*bias);
  product(from, group, {&m, 1}, to);
}

// The shared expert's matrices follow those of the chosen ones. Its workgroups are the first ones of a grid for both.
uint64_t Flow::place_experts(const ExpertMatrices& experts, uint32_t per_group, Variant& v, ProductParameters& p) {
  p.rows.n_used = experts.n_used;
  const uint64_t bytes = place_matrices(experts.group, experts.chosen, per_group, v, p.rows, p.matrices.data()) /
                         b.h.n_expert * experts.n_used;
  if (experts.shared.empty()) return bytes;
  RowsParameters shared;
  Variant of_shared = v;
  const size_t n = experts.chosen.size();
  const uint64_t more =
      place_matrices(experts.group, experts.shared, per_group, of_shared, shared, p.matrices.data() + n);
  std::copy_n(of_shared.types.begin(), experts.shared.size(), v.types.begin() + static_cast<std::ptrdiff_t>(n));
  v.flags |= of_shared.flags | kSharedExpert;
  p.rows.n_matrices += shared.n_matrices;
  p.rows.n_groups = std::max(p.rows.n_groups, shared.n_groups);
  return bytes + more;
}

void Flow::experts_in(const Source& from, const ExpertMatrices& experts, const Target& to) {
  if (b.refused()) return;
  ProductParameters p;
  Variant v;
  v.kernel = Kernel::kExpertIn;
  v.flags = rows_;
  set_target(to, v, p.rows);
  if (pending_.exists) return b.refuse("experts read a sum that no router computed");
  const Read r = read(from, p.rows, v.flags);
  const bool gates = to.epilogue == Epilogue::kGate;
  const uint64_t bytes = place_experts(experts, gates ? kMatVecRows / 2 : kMatVecRows, v, p);
  p.rows.head_out = static_cast<uint32_t>(experts.row_floats);
  PlanDispatch& d = dispatch(v, p, p.rows.n_groups, experts.group.place, r.x, experts.choices, to.buffer);
  d.grid[1].per_row = experts.n_used + (experts.shared.empty() ? 0 : 1);
  d.weight_bytes = bytes;
}

void Flow::experts_out(Place inner, const ExpertMatrices& experts, const Affine& post, float factor, uint32_t flags) {
  if (b.refused()) return;
  ProductParameters p;
  Variant v;
  v.kernel = Kernel::kExpertOut;
  v.flags = rows_ | kToTokens | flags;
  v.epilogue = post ? Epilogue::kStore : Epilogue::kAdd;
  p.rows.out_factor = factor;
  const uint64_t bytes = place_experts(experts, kMatVecRows, v, p);
  p.rows.x_stride = static_cast<uint32_t>(experts.row_floats);
  p.rows.head_in = p.rows.x_stride - experts.n_used * p.rows.n_in;
  dispatch(v, p, p.rows.n_groups, experts.group.place, inner, experts.choices, post ? part() : stream()).weight_bytes =
      bytes;
  if (!post) normed_ = {};
}

void Flow::embed(const MatrixGroup& group, uint32_t flags, RowsParameters rows, Place to) {
  ProductParameters p;
  Variant v;
  v.kernel = Kernel::kEmbed;
  v.flags = flags;
  rows.n_in = rows.n_out = static_cast<uint32_t>(group.n_in);
  rows.n_matrices = static_cast<uint32_t>(group.n);
  p.rows = rows;
  p.matrices = group.matrices;
  std::copy_n(group.types.begin(), group.n, v.types.begin());
  dispatch(v, p, 1, group.place, Place(b.plan.chosen), to);
}

void Flow::each_head(const Source& from, const LinearStack& stack, const HeadProduct& heads, Place to) {
  const MatrixGroup& group = b.group(MatrixList(stack));
  if (b.refused()) return;
  ProductParameters p;
  RowsParameters& rows = p.rows;
  Variant v;
  v.kernel = Kernel::kHeadProduct;
  v.flags = rows_;
  const uint64_t bytes = place_matrices(group, group.all(), kMatVecRows, v, rows, p.matrices.data());
  rows.n_used = heads.n;
  rows.n_groups *= rows.n_used;
  rows.x_stride = stride_of(from);
  rows.x_at = static_cast<uint32_t>(from.at);
  rows.head_in = heads.head_in;
  rows.head_out = heads.head_out;
  rows.n_copied = heads.n_copied;
  rows.n_out = heads.n_out;
  if (heads.combines != nullptr) {
    v.flags |= kCombines | (heads.combines->variant.flags & (kWindowed | kSinks));
    rows.sinks_at = heads.combines->p.sinks_at;
  }
  dispatch(v, p, rows.n_groups, group.place, from.buffer, to).weight_bytes = bytes;
}

void Flow::add_to_part(const Source& from, const MatrixGroup& group, std::span<const MatrixParameters> matrices,
                       const Affine& post, float factor, Target to) {
  to.flags |= kToTokens;
  to.epilogue = Epilogue::kAdd;
  to.buffer = post ? part() : stream();
  to.factor = factor * stream_factor_;
  product(from, group, matrices, to);
}

void Flow::add_to_part(const Source& from, const Linear& linear, const Affine& post, float factor, const Target& to) {
  const MatrixGroup& group = b.group(linear);
  add_to_part(from, group, group.all(), post, factor, to);
}

void Flow::add_later(const Affine& post, float factor) {
  if (post) pending_ = {true, b.arch.norm_after_residual, &post, factor};
}

void Flow::add_rows(Place rows) {
  if (pending_.exists) return b.refuse("rows are added to a normalized part");
  pending_ = {.exists = true, .factor = stream_factor_, .rows = rows};
}

void Flow::scale_stream(const Vector& scale) {
  if (!pending_.exists) return b.refuse("outputs of layers are scaled");
  pending_.scale_at = b.vector(scale);
}

void Flow::finish_part(const Source& from, const Linear& linear, const Affine& post, float factor, float value_scale) {
  Target to;
  to.factor = post ? value_scale : value_scale * factor * stream_factor_;
  finish_part(from, linear, post, to);
  if (post) pending_.factor = factor;
}

void Flow::finish_part(const Source& from, const Linear& linear, const Affine& post, Target to) {
  to.flags |= kToTokens;
  to.epilogue = post ? Epilogue::kStore : Epilogue::kAdd;
  to.buffer = post ? part() : stream();
  product(from, b.group(linear), to);
  add_later(post, 1);
}

void Flow::normalize_to(const Affine& norm, Place to) {
  normed_ = {};
  const size_t at = list_->size();
  normalize(stream_by(if_any(norm)));
  if (list_->size() > at) list_->back().bindings[5] = b.binding(to);
  normed_ = {};
}

void Flow::normalize_parts(Place from, const Affine& norm, uint32_t n, uint32_t n_parts, Place to) {
  RowsParameters p;
  p.n_in = p.n_out = p.x_stride = n;
  p.n_matrices = n_parts;
  p.eps = b.h.norm_eps;
  p.norm_weight = b.vector(norm.weight);
  p.norm_bias = kAbsent;
  Variant v;
  v.kernel = Kernel::kNormRows;
  v.flags = rows_ | kNorm;
  dispatch(v, p, n_parts, from, Place::kNone, to, Place::kNone);
}

void Flow::add_input_again(const Affine& norm) {
  // The sum that is due becomes the stream; its input is what the stream was before.
  normalize(stream_by(nullptr));
  std::swap(part_, spare_);
  pending_ = {true, true, &norm, 1};
}

}  // namespace ggufscope::gpu
