// The kernels in scalar C++, except those of attention and of recurrent layers.
#include <algorithm>
#include <cmath>

#include "base/half.hpp"
#include "interpret_call.hpp"
#include "nn/norm.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope::test {

using namespace gpu;

PlanInterpreter::PlanInterpreter(const Plan& plan) : plan_(&plan) {
  for (const PlanBuffer& buffer : plan.buffers) {
    buffers_.emplace_back(static_cast<size_t>(buffer.bytes / 4));
    marks_.emplace_back(buffer.store == Store::kWeights ? static_cast<size_t>(buffer.bytes) : 0);
  }
  buffers_[plan.parameter_buffer] = plan.parameters;
  for (const PlanConstant& constant : plan.constants)
    std::memcpy(buffers_[constant.buffer].data() + constant.offset / 4, constant.values.data(),
                constant.values.size() * 4);
}

void PlanInterpreter::grow(const Plan& plan) {
  if (plan.buffers.size() != buffers_.size()) fault_ = "a plan has other buffers";
  for (size_t i = 0; i < buffers_.size() && fault_.empty(); ++i) {
    const auto n = static_cast<size_t>(plan.buffers[i].bytes / 4);
    if (plan.buffers[i].store == Store::kWeights && n != buffers_[i].size()) fault_ = "a plan has other weights";
    buffers_[i].resize(n);
  }
  buffers_[plan.parameter_buffer] = plan.parameters;
  plan_ = &plan;
}

void PlanInterpreter::write(const BufferWrite& write) {
  if (write.offset % 4 != 0 || write.bytes.size() % 4 != 0 ||
      write.offset + write.bytes.size() > buffers_[write.buffer].size() * 4) {
    fault_ = "a write is not aligned or beyond its buffer";
    return;
  }
  std::memcpy(buffers_[write.buffer].data() + write.offset / 4, write.bytes.data(), write.bytes.size());
}

void PlanInterpreter::set_step(std::span<const uint32_t> step) {
  if (step.size() > buffers_[plan_->step].size()) {
    fault_ = "the step record is longer than its buffer";
    return;
  }
  std::ranges::copy(step, buffers_[plan_->step].begin());
}

void PlanInterpreter::set_floats(uint32_t buffer, std::span<const float> values) {
  if (values.empty()) return;
  if (values.size() > buffers_[buffer].size()) {
    fault_ = "rows are longer than their buffer";
    return;
  }
  std::memcpy(buffers_[buffer].data(), values.data(), values.size_bytes());
}

uint64_t PlanInterpreter::bytes_marked() const {
  uint64_t n = 0;
  for (const auto& marks : marks_) n += static_cast<uint64_t>(std::ranges::count(marks, 1));
  return n;
}

void PlanInterpreter::clear_marks() {
  bytes_read_ = 0;
  for (auto& marks : marks_) std::ranges::fill(marks, uint8_t{0});
}

// What a WebGPU device would refuse.
void PlanInterpreter::check(const PlanDispatch& d, const Variant& v) {
  const auto say = [&](const char* what) {
    if (fault_.empty()) fault_ = std::string(kernel_rows()[static_cast<size_t>(v.kernel)].name) + ": " + what;
  };
  size_t n_storage = 0;
  for (const BindingRow& row : binding_rows()) {
    if (row.kernel != v.kernel) continue;
    const PlanBinding& b = d.bindings[row.index];
    if (b.buffer == kAbsent) continue;
    ++n_storage;
    if (b.offset % 256 != 0 || b.bytes == 0 || b.offset + b.bytes > plan_->buffers[b.buffer].bytes)
      say("a binding is not aligned or beyond its buffer");
    for (const BindingRow& other : binding_rows()) {
      const PlanBinding& o = d.bindings[other.index];
      if (other.kernel == v.kernel && o.buffer == b.buffer && other.access != row.access)
        say("a buffer is bound to read and to write");
    }
  }
  if (n_storage > 7) say("more than 7 storage bindings");
}

void PlanInterpreter::run(std::span<const PlanDispatch> list) {
  for (const PlanDispatch& d : list) {
    const Variant& v = plan_->variants[d.variant];
    check(d, v);
    Call c{.d = d, .v = v, .words = plan_->parameters.data() + d.parameters / 4, .self = *this};
    c.record = buffers_[plan_->step].data();
    std::memcpy(static_cast<void*>(&c.step), c.record, sizeof(c.step));
    switch (v.kernel) {
      case Kernel::kEmbed:
        embed(c);
        break;
      case Kernel::kNormRows:
        norm_rows(c);
        break;
      case Kernel::kMatVec:
      case Kernel::kMatMul:
        product(c);
        break;
      case Kernel::kAttendSplits:
        attend_splits(c);
        break;
      case Kernel::kAttendCombine:
        attend_combine(c);
        break;
      case Kernel::kPrepareHeads:
        prepare_heads(c);
        break;
      case Kernel::kAttendRows:
        attend_rows(c);
        break;
      case Kernel::kWeighCells:
        weigh_cells(c);
        break;
      case Kernel::kChooseExperts:
        choose_experts(c);
        break;
      case Kernel::kExpertIn:
        expert_in(c);
        break;
      case Kernel::kExpertOut:
        expert_out(c);
        break;
      case Kernel::kHeadProduct:
        head_product(c);
        break;
      case Kernel::kConvolve:
        convolve(c);
        break;
      case Kernel::kScan:
        scan(c);
        break;
      case Kernel::kDeltaRule:
        delta_rule(c);
        break;
      case Kernel::kShift:
        shift(c);
        break;
      case Kernel::kWkv:
        wkv(c);
        break;
      case Kernel::kArgmax:
        argmax(c);
        break;
    }
  }
}

// Row `row` of a matrix as floats: its blocks put together again from their streams.
void PlanInterpreter::row_of(Call& c, size_t i, uint64_t row, std::vector<float>& out, bool counts, uint32_t expert) {
  const MatrixParameters m = c.matrix(i);
  const uint32_t type_id = c.v.types[i];
  const TypeGeometry& type = *find_type(type_id);
  const StreamsRow& streams = *find_streams(type_id);
  const RowsParameters p = c.parameters<RowsParameters>();
  const size_t n_in = c.v.kernel == Kernel::kExpertOut && i != 0 ? p.head_in : p.n_in;
  const size_t n_blocks = n_in / type.block_size;
  std::vector<uint8_t> blocks(n_blocks * type.block_bytes);
  const PlanBinding& binding = c.d.bindings[1];
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(buffers_[binding.buffer].data());
  const auto gather = [&](const Stream& stream, uint32_t at) {
    uint64_t from = binding.offset + uint64_t{at} * 4 +
                    (uint64_t{expert} * m.expert_rows + m.first_row + row) * n_blocks * stream.bytes();
    for (size_t b = 0; b < n_blocks; ++b)
      for (const BlockRange& range : stream.ranges) {
        std::memcpy(blocks.data() + b * type.block_bytes + range.offset, bytes + from, range.bytes);
        if (counts) std::memset(marks_[binding.buffer].data() + from, 1, range.bytes);
        if (counts) bytes_read_ += range.bytes;
        from += range.bytes;
      }
  };
  gather(streams.quants, m.quants_at);
  gather(streams.middles, m.middles_at);
  gather(streams.scales, m.scales_at);
  out.resize(n_in);
  find_reference(type_id)(blocks.data(), out.data(), n_blocks);
}

namespace {

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

float activated(Activation activation, float x, const RowsParameters& p) {
  switch (activation) {
    case Activation::kSilu:
      return x * sigmoid(x);
    case Activation::kGelu:
      return x * sigmoid(2 * 0.79788456080286535588f * x * (1 + 0.044715f * x * x));
    case Activation::kGeluQuick:
      return x * sigmoid(1.702f * x);
    case Activation::kGeluErf:
      return 0.5f * x * (1 + std::erf(x * 0.70710678118654752f));
    case Activation::kRelu:
      return std::max(x, 0.0f);
    case Activation::kReluSquared:
      return x > 0 ? x * x : 0;
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kXielu:
      return x > 0 ? p.gate_b * x * x + p.gate_c * x
                   : (std::expm1(std::fmin(x, p.gate_d)) - x) * p.gate_a + p.gate_c * x;
    case Activation::kGeluHalf:
    case Activation::kSwigluOai:
    case Activation::kSitu:
      return NAN;
  }
  return NAN;
}

float rounded(float x) { return f16_to_f32(f32_to_f16(x)); }

float activated(Activation activation, float x, const RowsParameters& p, bool rounds_gelu) {
  if (!rounds_gelu || (activation != Activation::kGelu && activation != Activation::kGeluQuick))
    return activated(activation, x, p);
  return activation == Activation::kGelu && x >= 10 ? x : rounded(activated(activation, rounded(x), p));
}

float gated(const Variant& v, float gate, float up, const RowsParameters& p, bool rounds_gelu) {
  if (v.activation == Activation::kSwigluOai) {
    const float g = std::min(gate, 7.0f);
    return g * sigmoid(1.702f * g) * (std::clamp(up, -7.0f, 7.0f) + 1);
  }
  if (v.activation == Activation::kSitu)
    return p.gate_a * std::tanh(gate / p.gate_a) * sigmoid(gate) *
           (p.gate_b > 0 ? p.gate_b * std::tanh(up / p.gate_b) : up);
  if ((v.flags & kClamp) == 0) return activated(v.activation, gate, p, rounds_gelu) * up;
  if ((v.flags & kClampFirst) != 0) gate = std::min(gate, p.limit);
  return std::min(activated(v.activation, gate, p), p.limit) * std::clamp(up, -p.limit, p.limit);
}

}  // namespace

void PlanInterpreter::embed(Call& c) {
  const RowsParameters p = c.parameters<RowsParameters>();
  const float* vectors = c.real(2);
  std::vector<float> v, position;
  for (uint32_t t = 0; t < c.step.n_tokens; ++t) {
    const StepToken token = c.token_at(t);
    const uint32_t id = (token.id & kChosen) != 0 ? c.word(4)[token.id & 0xffff] : token.id;
    if (id < p.first_id || id - p.first_id >= c.matrix(0).n_rows) continue;
    row_of(c, 0, id - p.first_id, v, false);
    for (float& x : v) x *= p.out_factor;
    for (size_t i = 0; i < v.size() && c.has(kTokenType); ++i) v[i] += vectors[p.token_type_at + i];
    if (c.has(kPositions)) row_of(c, 1, static_cast<uint32_t>(token.position), position, false);
    for (size_t i = 0; i < v.size() && c.has(kPositions); ++i) v[i] += position[i];
    if (c.has(kNorm)) normalize_row(c.has(kLayerNorm), v, vectors, p.norm_weight, p.norm_bias, p.eps);
    std::ranges::copy(v, c.real(5) + size_t{t} * p.n_in);
  }
}

// The bindings of a row's prologue, which norm_rows and mat_vec number differently.
void PlanInterpreter::prologue(Call& c, uint32_t row, std::vector<float>& v, bool writes) {
  const bool rows = c.v.kernel == Kernel::kNormRows;  // or an expert's: no sum there
  const size_t x = rows ? 1 : 2, part = rows ? 2 : 3, sum = rows ? 6 : 7;
  const size_t vectors = c.v.kernel == Kernel::kMatVec ? 4 : 3;
  const RowsParameters p = c.parameters<RowsParameters>();
  const size_t at = size_t{c.has(kFromTokens) ? c.token(row) : row} * p.n_in;
  const size_t first = c.has(kFromTokens) ? at : size_t{row} * p.x_stride + p.x_at;
  v.assign(c.real(x) + first, c.real(x) + first + p.n_in);
  if (c.has(kSum)) {
    std::vector<float> f(c.real(part) + at, c.real(part) + at + p.n_in);
    const auto post = [&](std::vector<float>& to) {
      normalize_row(c.has(kLayerNorm), to, c.real(vectors), p.post_weight, p.post_bias, p.post_eps);
    };
    if (c.has(kPartNorm)) post(f);
    for (size_t i = 0; i < v.size(); ++i) v[i] += p.factor * f[i];
    for (float& e : v) e *= c.has(kScaleSum) ? c.real(vectors)[p.sinks_at] : 1.0f;
    if (c.has(kSumNorm)) post(v);
    if (writes) std::ranges::copy(v, c.real(sum) + at);
  }
  const uint32_t part_at = rows && c.v.kernel == Kernel::kNormRows ? row % p.n_matrices * p.n_in : 0;
  const uint32_t weight = p.norm_weight != kAbsent ? p.norm_weight + part_at : kAbsent;
  if (c.has(kNorm)) normalize_row(c.has(kLayerNorm), v, c.real(vectors), weight, p.norm_bias, p.eps);
}

void PlanInterpreter::norm_rows(Call& c) {
  const RowsParameters p = c.parameters<RowsParameters>();
  std::vector<float> v;
  for (uint32_t row = 0; row < c.n_rows() * p.n_matrices; ++row) {
    prologue(c, row, v, true);
    std::ranges::copy(v, c.real(5) + row * v.size());
  }
}

// The scale and bias of a matrix.
float PlanInterpreter::scaled(Call& c, size_t i, uint32_t row, uint32_t expert, double product, size_t vectors) {
  const MatrixParameters m = c.matrix(i);
  const float y = static_cast<float>(product);
  const float scale = m.scale_at != kAbsent ? c.real(vectors)[m.scale_at + expert] : 1.0f;
  const float bias = m.bias_at != kAbsent ? c.real(vectors)[m.bias_at + expert * m.expert_rows + row] : 0.0f;
  return c.has(kBiasFirst) ? (y + bias) * scale : y * scale + bias;
}

void PlanInterpreter::product(Call& c) {
  const bool vec = c.v.kernel == Kernel::kMatVec;
  const RowsParameters p = c.parameters<RowsParameters>();
  const size_t vectors = vec ? 4 : 3, to = vec ? 6 : 5;
  if (vec && c.n_rows() > kMaxColumns) fault_ = "mat_vec with too many rows";
  std::vector<std::vector<float>> v(c.n_rows());
  for (uint32_t row = 0; row < c.n_rows(); ++row) {
    if (vec) {
      prologue(c, row, v[row], true);
    } else {
      const float* x = c.real(2) + size_t{row} * p.x_stride + p.x_at;
      v[row].assign(x, x + p.n_in);
      if (c.has(kNorm)) normalize_row(false, v[row], c.real(vectors), p.norm_weight, p.norm_bias, p.eps);
    }
    const size_t factors = size_t{row} * p.factor_stride + p.factor_at;
    for (size_t i = 0; c.has(kFactorInput) && i < v[row].size(); ++i) v[row][i] *= c.real(vec ? 3 : 6)[factors + i];
  }
  std::vector<float> weights;
  const auto output = [&](size_t i, uint32_t r, uint32_t row) {
    double d = 0;
    const bool limited = !vec && c.has(kLimits) && c.matrix(i).limits_at != kAbsent;
    const float* limits = limited ? c.real(vectors) + c.matrix(i).limits_at : nullptr;
    for (size_t k = 0; k < p.n_in; ++k) {
      const float x = limited ? std::clamp(v[row][k], limits[0], limits[1]) : v[row][k];
      d += static_cast<double>(weights[k]) * static_cast<double>(x);
    }
    float y = scaled(c, i, r, 0, d, vectors);
    if (limited) y = std::clamp(y, limits[2], limits[3]);
    y *= p.out_factor;
    if (c.has(kSoftCap)) y = p.soft_cap * std::tanh(y / p.soft_cap);
    if (c.has(kRowFactor))
      y *= c.real(vec ? 3 : 6)[row * p.factor_stride + p.factor_at + p.factor_step * (c.matrix(i).out_at + r)];
    if (c.has(kClamp) && c.v.epilogue != Epilogue::kGate) y = std::clamp(y, -p.limit, p.limit);
    return y;
  };
  const auto place = [&](uint32_t row, uint32_t out) -> float& {
    return c.real(to)[size_t{c.has(kToTokens) ? c.token(row) : row} * p.n_out + out];
  };
  if (c.n_rows() == 0) return;
  const bool gates = c.v.epilogue == Epilogue::kGate;
  for (size_t i = 0; i < (gates ? 1 : p.n_matrices); ++i) {
    const MatrixParameters m = c.matrix(i);
    for (uint32_t r = 0; r < m.n_rows; ++r) {
      row_of(c, i, r, weights, true);
      std::vector<float> y(c.n_rows());
      for (uint32_t row = 0; row < c.n_rows(); ++row) y[row] = output(i, r, row);
      if (gates) row_of(c, 1, r, weights, true);
      for (uint32_t row = 0; row < c.n_rows(); ++row) {
        float& out = place(row, m.out_at + r);
        switch (c.v.epilogue) {
          case Epilogue::kStore:
            out = y[row];
            break;
          case Epilogue::kAdd:
            out += y[row];
            break;
          case Epilogue::kGate:
            out = gated(c.v, y[row], output(1, r, row), p, rounds_gelu);
            break;
          case Epilogue::kActivate:
            out = activated(c.v.activation, y[row], p, rounds_gelu);
            if (c.has(kDivide)) out /= c.real(vectors)[p.divide_at + m.out_at + r];
            break;
        }
      }
    }
  }
}

void PlanInterpreter::argmax(Call& c) {
  const uint32_t n = c.parameters<RowsParameters>().n_out;
  for (uint32_t row = 0; row < c.n_rows(); ++row) {
    const float* logits = c.real(1) + size_t{row} * n;
    uint32_t best = gpu::kAbsent;
    for (uint32_t i = 0; i < n; ++i)
      if (logits[i] > (best == gpu::kAbsent ? -3.4e38f : logits[best])) best = i;
    c.word(3)[row] = best;
  }
}

void PlanInterpreter::choose_experts(Call& c) {
  const ChoiceParameters p = c.parameters<ChoiceParameters>();
  for (uint32_t row = 0; row < c.n_rows(); ++row) {
    const float* logits = c.real(1) + size_t{row} * p.n_logits;
    std::vector<float> values(logits, logits + p.n_expert);
    if (c.v.gating == Gating::kSoftmax) softmax(values.data(), p.n_expert);
    for (float& x : values) {
      if (c.v.gating == Gating::kSigmoid) x = sigmoid(x);
      if (c.v.gating == Gating::kSqrtSoftplus) x = std::sqrt(softplus(x));
    }
    std::vector<float> scores = values;
    if (c.has(kSelectByLogits)) scores.assign(logits, logits + p.n_expert);
    for (uint32_t e = 0; e < p.n_expert && c.has(kSelectionBias); ++e) scores[e] += c.real(2)[p.bias_at + e];
    if (p.n_groups > 1) {
      const uint32_t size = p.n_expert / p.n_groups;
      std::vector<std::pair<float, uint32_t>> groups;
      for (uint32_t g = 0; g < p.n_groups; ++g) {
        std::vector<float> best(scores.data() + size_t{g} * size, scores.data() + size_t{g + 1} * size);
        std::ranges::sort(best, std::greater<>());
        groups.push_back({-(best[0] + (size > 1 ? best[1] : 0)), g});
      }
      std::ranges::sort(groups);
      for (uint32_t i = p.n_group_used; i < p.n_groups; ++i)
        std::fill_n(scores.data() + size_t{groups[i].second} * size, size, -INFINITY);
    }
    uint32_t* ids = c.word(3) + size_t{row} * (2 * p.n_used + 1);
    float* weights = reinterpret_cast<float*>(ids + p.n_used);
    for (uint32_t i = 0; i < p.n_used; ++i) {
      ids[i] = static_cast<uint32_t>(std::ranges::max_element(scores) - scores.begin());
      weights[i] = values[ids[i]];
      scores[ids[i]] = -INFINITY;
    }
    if (c.v.gating == Gating::kSoftmaxOfChosen) softmax(weights, p.n_used);
    float sum = 0;
    for (uint32_t i = 0; i < p.n_used; ++i) sum += weights[i];
    for (uint32_t i = 0; i < p.n_used; ++i)
      weights[i] *= p.weights_scale * (c.has(kNormalizeWeights) ? 1 / std::max(sum, 6.103515625e-5f) : 1);
    weights[p.n_used] = c.has(kSharedGate) ? sigmoid(logits[p.n_expert]) : 1;
  }
}

void PlanInterpreter::expert_in(Call& c) {
  const RowsParameters p = c.parameters<RowsParameters>();
  const bool gates = c.v.epilogue == Epilogue::kGate;
  std::vector<float> v, weights;
  for (uint32_t row = 0; row < c.n_rows(); ++row) {
    prologue(c, row, v, false);
    for (uint32_t k = 0; k < p.n_used + (c.has(kSharedExpert) ? 1 : 0); ++k) {
      const uint32_t* ids = c.word(5) + size_t{row} * (2 * p.n_used + 1);
      const bool chosen = k < p.n_used, weighs = chosen && c.has(kWeighInput);
      const uint32_t expert = chosen ? ids[k] : 0;
      const double weight = weighs ? static_cast<double>(reinterpret_cast<const float*>(ids)[p.n_used + k]) : 1;
      const size_t first = chosen ? 0 : gates ? 2 : 1;
      const auto output = [&](size_t i, uint32_t r) {
        row_of(c, i, r, weights, true, expert);
        double d = 0;
        for (size_t e = 0; e < p.n_in; ++e) d += static_cast<double>(weights[e]) * static_cast<double>(v[e]);
        return scaled(c, i, r, expert, d * weight, 3);
      };
      for (uint32_t r = 0; r < c.matrix(first).n_rows; ++r) {
        const float y = output(first, r);
        c.real(6)[size_t{row} * p.head_out + size_t{k} * p.n_out + r] =
            gates ? gated(c.v, y, output(first + 1, r), p, false) : activated(c.v.activation, y, p);
      }
    }
  }
}

void PlanInterpreter::expert_out(Call& c) {
  const RowsParameters p = c.parameters<RowsParameters>();
  std::vector<float> weights;
  for (uint32_t row = 0; row < c.n_rows(); ++row) {
    const uint32_t* ids = c.word(5) + size_t{row} * (2 * p.n_used + 1);
    for (uint32_t r = 0; r < p.n_out; ++r) {
      double sum = 0;
      for (uint32_t k = 0; k < p.n_used + (c.has(kSharedExpert) ? 1 : 0); ++k) {
        const bool chosen = k < p.n_used;
        const size_t i = chosen ? 0 : 1;
        const uint32_t expert = chosen ? ids[k] : 0;
        row_of(c, i, r, weights, true, expert);
        const float* x = c.real(2) + size_t{row} * p.x_stride + size_t{k} * p.n_in;
        double d = 0;
        for (size_t e = 0; e < weights.size(); ++e) d += static_cast<double>(weights[e]) * static_cast<double>(x[e]);
        const bool weighed = chosen && c.has(kWeighInput);
        const float weight = weighed ? 1 : reinterpret_cast<const float*>(ids)[p.n_used + k];
        sum += static_cast<double>(scaled(c, i, r, expert, d, 3)) * static_cast<double>(weight);
      }
      float& out = c.real(6)[size_t{c.token(row)} * p.n_out + r];
      out = static_cast<float>(sum) * p.out_factor + (c.v.epilogue == Epilogue::kAdd ? out : 0);
    }
  }
}

}  // namespace ggufscope::test
