// Products and norms of a list of dispatches, and what is still to be added to the residual stream.
#include <algorithm>
#include <cstring>

#include "gpu/lower.hpp"

namespace ggufscope::gpu {

void Flow::dispatch(const Variant& variant, std::span<const uint32_t> words,
                    std::initializer_list<PlanBinding> bindings, std::array<GridSize, 2> grid, uint64_t weight_bytes) {
  PlanDispatch d;
  d.variant = b.variant(variant);
  d.parameters = b.parameters(words);
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
  std::swap(stream_, spare_);
  pending_ = {};
  return flags;
}

PlanBinding Flow::normalize(const Source& from) {
  const PlanBinding to = b.activation(Activations::kNormed, from.n);
  if (from.residual && !pending_.exists && normed_.residual && normed_.norm == from.norm) return to;
  const PlanBinding x = from.residual ? stream() : from.buffer, f = part();
  RowsParameters p;
  p.n_in = p.n_out = static_cast<uint32_t>(from.n);
  p.eps = b.h.norm_eps;
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
  dispatch(v, words_of(p),
           {x, sums ? f : PlanBinding{}, b.vectors(), rows_ != 0 ? b.step() : PlanBinding{}, to,
            sums ? stream() : PlanBinding{}},
           {GridSize{0, 1, 0, 1}, GridSize{}});
  normed_ = {from.norm, from.residual};
  return to;
}

void Flow::product(const Source& from, const MatrixGroup& group, std::span<const MatrixParameters> matrices,
                   const Target& to) {
  if (b.refused()) return;
  RowsParameters p;
  Variant v;
  v.epilogue = to.epilogue;
  v.activation = to.activation;
  v.flags = to.flags | rows_;
  PlanBinding x = from.residual ? stream() : from.buffer, f{}, sum{};
  const bool prologue = from.norm != nullptr || (from.residual && (pending_.exists || rows_ != 0));
  if (prefill_ && prologue) {
    x = normalize(from);
  } else {
    if (from.residual) {
      f = part();
      const uint32_t adds = add_pending(p);
      v.flags |= kFromTokens | adds;
      (adds != 0 ? sum : f) = adds != 0 ? stream() : PlanBinding{};
    }
    if (from.norm != nullptr) {
      v.flags |= kNorm | layer_norm(b.h.norm);
      p.eps = b.h.norm_eps;
      p.norm_weight = b.vector(from.norm->weight);
      p.norm_bias = b.vector(from.norm->bias);
    }
  }
  v.kernel = prefill_ ? Kernel::kMatMul : Kernel::kMatVec;
  const bool gates = to.epilogue == Epilogue::kGate;
  const uint32_t per_group = prefill_ ? kTileOutputs : gates ? kMatVecRows / 2 : kMatVecRows;
  p.n_in = static_cast<uint32_t>(group.n_in);
  p.n_matrices = static_cast<uint32_t>(matrices.size());
  p.out_factor = to.factor;
  p.soft_cap = to.soft_cap;
  p.limit = to.limit;
  p.gate_a = to.gate[0], p.gate_b = to.gate[1], p.gate_c = to.gate[2], p.gate_d = to.gate[3];
  p.divide_at = to.divide_at;
  if (to.soft_cap != 0) v.flags |= kSoftCap;
  if (to.limit != 0) v.flags |= kClamp;
  if (to.divide_at != kAbsent) v.flags |= kDivide;
  if (group.bias_first) v.flags |= kBiasFirst;
  std::array<uint32_t, kParameterWords> words{};
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
    m.first_group = gates ? 0 : p.n_groups;
    m.out_at = m.out_at + (gates ? 0 : p.n_out);
    const uint32_t n_groups = (m.n_rows + per_group - 1) / per_group;
    p.n_groups = gates ? n_groups : p.n_groups + n_groups;
    p.n_out = gates ? m.n_rows : p.n_out + m.n_rows;
    std::memcpy(words.data() + kMatrixWord + i * kMatrixWords, &m, sizeof(m));
  }
  if (to.row_floats != 0) p.n_out = to.row_floats;
  std::memcpy(words.data(), &p, sizeof(p));
  const bool reads_vectors = (v.flags & (kNorm | kPartNorm | kSumNorm | kBias | kScale | kDivide)) != 0;
  const PlanBinding vectors = reads_vectors ? b.vectors() : PlanBinding{};
  const PlanBinding step = rows_ != 0 ? b.step() : PlanBinding{};
  if (prefill_) {
    dispatch(v, words, {group.binding, x, vectors, step, to.buffer},
             {GridSize{p.n_groups, 0, 0, 1}, GridSize{0, 1, 0, kTileRows}}, bytes);
  } else {
    dispatch(v, words, {group.binding, x, f, vectors, step, to.buffer, sum},
             {GridSize{p.n_groups, 0, 0, 1}, GridSize{}}, bytes);
  }
  if (to.buffer.buffer == stream().buffer) normed_ = {};
}

void Flow::finish_part(const Source& from, const Linear& linear, const Affine& post, float factor, float value_scale) {
  const MatrixRows rows[] = {{&linear}};
  Target to;
  to.flags = kToTokens;
  if (post) {
    to.buffer = part();
    to.factor = value_scale;
    product(from, b.group(rows), to);
    pending_ = {true, b.arch.norm_after_residual, &post, factor};
    return;
  }
  to.epilogue = Epilogue::kAdd;
  to.buffer = stream();
  to.factor = value_scale * factor;
  product(from, b.group(rows), to);
}

void Flow::normalize_to(const Affine& norm, PlanBinding to) {
  normed_ = {};
  const size_t at = list_->size();
  normalize({true, {}, norm ? &norm : nullptr, b.h.n_embd});
  if (list_->size() > at) list_->back().bindings[5] = to;
  normed_ = {};
}

void Flow::add_input_again(const Affine& norm) {
  // The sum that is due becomes the stream; its input is what the stream was before.
  normalize({true, {}, nullptr, b.h.n_embd});
  std::swap(part_, spare_);
  pending_ = {true, true, &norm, 1};
}

}  // namespace ggufscope::gpu
