// Products and norms of a list of dispatches, and what is still to be added to the residual stream.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "gpu/lower.hpp"

namespace ggufscope::gpu {
namespace {

bool is_attention(Kernel kernel) {
  return kernel == Kernel::kAttendSplits || kernel == Kernel::kAttendCombine || kernel == Kernel::kPrepareHeads ||
         kernel == Kernel::kAttendRows || kernel == Kernel::kWeighCells;
}

bool is_recurrent(Kernel kernel) {
  return kernel == Kernel::kConvolve || kernel == Kernel::kScan || kernel == Kernel::kDeltaRule ||
         kernel == Kernel::kShift || kernel == Kernel::kWkv;
}

}  // namespace

void Flow::dispatch(const Variant& variant, std::span<const uint32_t> words,
                    std::initializer_list<PlanBinding> bindings, std::array<GridSize, 2> grid, uint64_t weight_bytes) {
  PlanDispatch d;
  d.variant = b.variant(variant);
  d.parameters = b.parameters(words);
  uint32_t* const placed = b.plan.parameters.data() + d.parameters / 4;
  if (is_attention(variant.kernel)) {
    placed[offsetof(HeadsParameters, flags) / 4] = variant.flags;
    placed[offsetof(HeadsParameters, rope) / 4] = static_cast<uint32_t>(variant.rope);
  } else if (variant.kernel == Kernel::kChooseExperts) {
    placed[offsetof(ChoiceParameters, flags) / 4] = variant.flags;
  } else if (is_recurrent(variant.kernel)) {
    placed[offsetof(MixParameters, flags) / 4] = variant.flags;
  } else {
    placed[offsetof(RowsParameters, flags) / 4] = variant.flags;
  }
  std::ranges::copy(bindings, d.bindings.begin() + 1);
  d.grid = grid;
  d.layer = layer_;
  d.weight_bytes = weight_bytes;
  list_->push_back(d);
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

PlanBinding Flow::normalize(const Source& from) {
  const PlanBinding to = b.activation(Activations::kNormed, from.n);
  if (from.residual && !pending_.exists && normed_.residual && normed_.norm == from.norm) return to;
  const PlanBinding x = from.residual ? stream() : from.buffer, f = due();
  RowsParameters p;
  p.n_in = p.n_out = static_cast<uint32_t>(from.n);
  p.x_stride = stride_of(from);
  p.x_at = static_cast<uint32_t>(from.at);
  p.n_matrices = 1;
  p.eps = eps_of(from);
  uint32_t flags = rows_ | (from.residual ? kFromTokens | add_pending(p) : uint32_t{0});
  if (from.norm != nullptr) {
    flags |= kNorm | layer_norm(b.h.norm);
    p.norm_weight = b.vector(from.norm->weight);
    p.norm_bias = b.vector(from.norm->bias);
  }
  Variant v;
  v.kernel = Kernel::kNormRows;
  v.flags = flags;
  const bool sums = (flags & kSum) != 0;
  dispatch(v, words_of(p), {x, sums ? f : PlanBinding{}, b.vectors(), b.step(), to, sums ? stream() : PlanBinding{}},
           {GridSize{0, 1, 0, 1}, GridSize{}});
  normed_ = {from.norm, from.residual};
  return to;
}

// Where a product reads from, and the prologue. Prefill: after a dispatch that normalizes.
Flow::Read Flow::read(const Source& from, RowsParameters& p, uint32_t& flags) {
  Read read;
  p.x_stride = stride_of(from);
  p.x_at = static_cast<uint32_t>(from.at);
  read.x = from.residual ? stream() : from.buffer;
  const bool prologue = from.norm != nullptr || (from.residual && (pending_.exists || rows_ != 0));
  if (prefill_ && prologue) {
    read.x = normalize(from);
    p.x_stride = static_cast<uint32_t>(from.n);
    p.x_at = 0;
    return read;
  }
  if (from.residual) {
    const PlanBinding f = due();
    const uint32_t adds = add_pending(p);
    flags |= kFromTokens | adds;
    if (adds != 0) read.part = f, read.sum = stream();
  }
  if (from.norm != nullptr) {
    flags |= kNorm | layer_norm(b.h.norm);
    p.eps = eps_of(from);
    p.norm_weight = b.vector(from.norm->weight);
    p.norm_bias = b.vector(from.norm->bias);
  }
  return read;
}

// Writes the matrices of a product behind its parameters. Returns the bytes of weights.
uint64_t Flow::place_matrices(const MatrixGroup& group, std::span<const MatrixParameters> matrices, uint32_t per_group,
                              Variant& v, RowsParameters& p, std::span<uint32_t> words) {
  const bool gates = v.epilogue == Epilogue::kGate;
  p.n_in = static_cast<uint32_t>(group.n_in);
  p.n_matrices = static_cast<uint32_t>(matrices.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < matrices.size(); ++i) {
    MatrixParameters m = matrices[i];
    // Several may be ranges of one matrix of the group.
    const auto same = [&](const MatrixParameters& other) { return other.quants_at == m.quants_at; };
    const auto k = static_cast<size_t>(std::ranges::find_if(group.matrices, same) - group.matrices.begin());
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
    std::memcpy(words.data() + kMatrixWord + i * kMatrixWords, &m, sizeof(m));
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
  RowsParameters p;
  Variant v;
  v.kernel = prefill_ ? Kernel::kMatMul : Kernel::kMatVec;
  v.flags = rows_;
  set_target(to, v, p);
  const bool multiplies = from.factor_stride != 0;
  if (multiplies) v.flags |= kFactorInput, p.factor_at = from.factor_at, p.factor_stride = from.factor_stride;
  const PlanBinding factors = multiplies ? from.factors : to.factors;
  Read r = read(from, p, v.flags);
  const bool gates = to.epilogue == Epilogue::kGate;
  const uint32_t per_group = prefill_ ? kTileOutputs : gates ? kMatVecRows / 2 : kMatVecRows;
  std::array<uint32_t, kParameterWords> words{};
  const uint64_t bytes = place_matrices(group, matrices, per_group, v, p, words);
  p.n_in = static_cast<uint32_t>(from.n);  // experts and what is beside them may differ in it
  if (to.row_floats != 0) p.n_out = to.row_floats;
  std::memcpy(words.data(), &p, sizeof(p));
  if (prefill_) {
    dispatch(v, words, {group.binding, r.x, b.vectors(), b.step(), to.buffer, factors},
             {GridSize{p.n_groups, 0, 0, 1}, GridSize{0, 1, 0, kTileRows}}, bytes);
  } else {
    if (p.factor_stride != 0) r.part = factors;
    dispatch(v, words, {group.binding, r.x, r.part, b.vectors(), b.step(), to.buffer, r.sum},
             {GridSize{p.n_groups, 0, 0, 1}, GridSize{}}, bytes);
  }
  if (to.buffer.buffer == stream().buffer) normed_ = {};
}

// The shared expert's matrices follow those of the chosen ones. Its workgroups are the first ones of a grid for both.
uint64_t Flow::place_experts(const ExpertMatrices& experts, uint32_t per_group, Variant& v, RowsParameters& p,
                             std::span<uint32_t> words) {
  p.n_used = experts.n_used;
  const uint64_t bytes =
      place_matrices(experts.group, experts.chosen, per_group, v, p, words) / b.h.n_expert * experts.n_used;
  if (experts.shared.empty()) return bytes;
  RowsParameters shared;
  Variant of_shared = v;
  const size_t n = experts.chosen.size();
  std::array<uint32_t, kParameterWords> shared_words{};
  const uint64_t more = place_matrices(experts.group, experts.shared, per_group, of_shared, shared, shared_words);
  std::ranges::copy(std::span(shared_words).subspan(kMatrixWord, experts.shared.size() * kMatrixWords),
                    words.begin() + static_cast<std::ptrdiff_t>(kMatrixWord + n * kMatrixWords));
  std::copy_n(of_shared.types.begin(), experts.shared.size(), v.types.begin() + static_cast<std::ptrdiff_t>(n));
  v.flags |= of_shared.flags | kSharedExpert;
  p.n_matrices += shared.n_matrices;
  p.n_groups = std::max(p.n_groups, shared.n_groups);
  return bytes + more;
}

void Flow::experts_in(const Source& from, const ExpertMatrices& experts, const Target& to) {
  if (b.refused()) return;
  RowsParameters p;
  Variant v;
  v.kernel = Kernel::kExpertIn;
  v.flags = rows_;
  set_target(to, v, p);
  if (pending_.exists) return b.refuse("experts read a sum that no router computed");
  const Read r = read(from, p, v.flags);
  std::array<uint32_t, kParameterWords> words{};
  const bool gates = to.epilogue == Epilogue::kGate;
  const uint64_t bytes = place_experts(experts, gates ? kMatVecRows / 2 : kMatVecRows, v, p, words);
  p.head_out = static_cast<uint32_t>(experts.row_floats);
  std::memcpy(words.data(), &p, sizeof(p));
  const uint32_t per_token = experts.n_used + (experts.shared.empty() ? 0 : 1);
  dispatch(v, words, {experts.group.binding, r.x, b.vectors(), b.step(), experts.choices, to.buffer},
           {GridSize{p.n_groups, 0, 0, 1}, GridSize{0, per_token, 0, 1}}, bytes);
}

void Flow::experts_out(PlanBinding inner, const ExpertMatrices& experts, const Affine& post, float factor,
                       uint32_t flags) {
  if (b.refused()) return;
  RowsParameters p;
  Variant v;
  v.kernel = Kernel::kExpertOut;
  v.flags = rows_ | kToTokens | flags;
  v.epilogue = post ? Epilogue::kStore : Epilogue::kAdd;
  p.out_factor = factor;
  std::array<uint32_t, kParameterWords> words{};
  const uint64_t bytes = place_experts(experts, kMatVecRows, v, p, words);
  p.x_stride = static_cast<uint32_t>(experts.row_floats);
  p.head_in = p.x_stride - experts.n_used * p.n_in;
  std::memcpy(words.data(), &p, sizeof(p));
  dispatch(v, words, {experts.group.binding, inner, b.vectors(), b.step(), experts.choices, post ? part() : stream()},
           {GridSize{p.n_groups, 0, 0, 1}, GridSize{0, 1, 0, 1}}, bytes);
  if (!post) normed_ = {};
}

void Flow::embed(const MatrixGroup& group, Variant v, const RowsParameters& p, PlanBinding to) {
  v.kernel = Kernel::kEmbed;
  std::array<uint32_t, kParameterWords> words{};
  std::ranges::copy(words_of(p), words.begin());
  for (size_t i = 0; i < group.matrices.size(); ++i) {
    v.types[i] = group.types[i];
    std::ranges::copy(words_of(group.matrices[i]),
                      words.begin() + static_cast<std::ptrdiff_t>(kMatrixWord + i * kMatrixWords));
  }
  dispatch(v, words, {group.binding, b.vectors(), b.step(), b.whole(b.plan.chosen), to},
           {GridSize{0, 1, 0, 1}, GridSize{}});
}

void Flow::each_head(const Source& from, const LinearStack& stack, const HeadProduct& heads, PlanBinding to) {
  const MatrixRows rows[] = {{.stack = &stack}};
  const MatrixGroup& group = b.group(rows);
  if (b.refused()) return;
  RowsParameters p;
  Variant v;
  v.kernel = Kernel::kHeadProduct;
  v.flags = rows_;
  std::array<uint32_t, kParameterWords> words{};
  const uint64_t bytes = place_matrices(group, group.matrices, kMatVecRows, v, p, words);
  const auto narrow = [](uint64_t n) { return static_cast<uint32_t>(n); };
  p.n_used = narrow(heads.n);
  p.n_groups *= p.n_used;
  p.x_stride = stride_of(from);
  p.x_at = narrow(from.at);
  p.head_in = narrow(heads.head_in);
  p.head_out = narrow(heads.head_out);
  p.n_copied = narrow(heads.n_copied);
  p.n_out = narrow(heads.n_out);
  if (heads.combines != nullptr) {
    v.flags |= kCombines | (heads.combines->variant.flags & (kWindowed | kSinks));
    p.sinks_at = heads.combines->p.sinks_at;
  }
  std::memcpy(words.data(), &p, sizeof(p));
  dispatch(v, words, {group.binding, from.buffer, b.vectors(), b.step(), to},
           {GridSize{p.n_groups, 0, 0, 1}, GridSize{0, 1, 0, 1}}, bytes);
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
  const MatrixRows rows[] = {{&linear}};
  const MatrixGroup& group = b.group(rows);
  if (!b.refused()) add_to_part(from, group, group.matrices, post, factor, to);
}

void Flow::add_later(const Affine& post, float factor) {
  if (post) pending_ = {true, b.arch.norm_after_residual, &post, factor};
}

void Flow::add_rows(PlanBinding rows) {
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
  const MatrixRows rows[] = {{&linear}};
  to.flags |= kToTokens;
  to.epilogue = post ? Epilogue::kStore : Epilogue::kAdd;
  to.buffer = post ? part() : stream();
  product(from, b.group(rows), to);
  add_later(post, 1);
}

void Flow::normalize_to(const Affine& norm, PlanBinding to) {
  normed_ = {};
  const size_t at = list_->size();
  normalize({true, {}, norm ? &norm : nullptr, b.h.n_embd});
  if (list_->size() > at) list_->back().bindings[5] = to;
  normed_ = {};
}

void Flow::normalize_parts(PlanBinding from, const Affine& norm, uint64_t n, uint64_t n_parts, PlanBinding to) {
  RowsParameters p;
  p.n_in = p.n_out = p.x_stride = static_cast<uint32_t>(n);
  p.n_matrices = static_cast<uint32_t>(n_parts);
  p.eps = b.h.norm_eps;
  p.norm_weight = b.vector(norm.weight);
  p.norm_bias = kAbsent;
  Variant v;
  v.kernel = Kernel::kNormRows;
  v.flags = rows_ | kNorm;
  dispatch(v, words_of(p), {from, PlanBinding{}, b.vectors(), b.step(), to, PlanBinding{}},
           {GridSize{0, static_cast<uint32_t>(n_parts), 0, 1}, GridSize{}});
}

void Flow::add_input_again(const Affine& norm) {
  // The sum that is due becomes the stream; its input is what the stream was before.
  normalize({true, {}, nullptr, b.h.n_embd});
  std::swap(part_, spare_);
  pending_ = {true, true, &norm, 1};
}

}  // namespace ggufscope::gpu
