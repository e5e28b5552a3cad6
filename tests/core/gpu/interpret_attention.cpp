// The attention kernels of the interpreter.
#include <algorithm>
#include <cmath>

#include "base/half.hpp"
#include "interpret_call.hpp"

namespace ggufscope::test {

using namespace gpu;

// A query or key head of a token after its norm and rotation: out [d_k].
void PlanInterpreter::prepare_head(Call& c, uint32_t t, uint32_t head, bool is_key, float* out) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  const float* row = c.real(1) + size_t{t} * p.n_qkv;
  const float* vectors = c.real(2);
  const bool latent = is_key && c.has(kLatent);
  const uint32_t d = c.v.d_k, n_heads = is_key ? p.n_head_kv : p.n_head;
  const auto at = [&](uint32_t h) { return is_key ? p.key_at + h * p.key_stride : p.query_at + h * p.query_stride; };
  std::vector<float> x(row + at(head), row + at(head) + d);
  for (uint32_t i = c.has(kSharedValues) ? 0 : p.rot_at; latent && i < d; ++i)
    x[i] = c.real(7)[size_t{t} * p.low_stride + p.low_at + i];
  const StepToken token = c.token_at(t);
  // A norm over all heads reads the row as the product left it, so it cannot follow the rotation.
  const auto norm = [&] {
    if (!c.has(is_key ? kKeyNorm : kQueryNorm)) return;
    const uint32_t weight = is_key ? p.key_weight : p.query_weight, bias = is_key ? p.key_bias : p.query_bias;
    if (latent) {
      std::vector<float> part(x.begin(), x.begin() + static_cast<ptrdiff_t>(p.rot_at));
      normalize_row(false, part, vectors, weight, bias, p.head_eps);
      std::ranges::copy(part, x.begin());
    } else if (c.has(kWholeNorm)) {
      std::vector<float> all;
      for (uint32_t h = 0; h < n_heads; ++h) all.insert(all.end(), row + at(h), row + at(h) + d);
      normalize_row(c.has(kLayerNorm), all, vectors, weight, bias, p.head_eps);
      std::copy_n(all.data() + size_t{head} * d, d, x.begin());
    } else {
      const uint32_t own = c.has(kNormByHead) ? head * d : 0;
      normalize_row(c.has(kLayerNorm), x, vectors, weight != kAbsent ? weight + own : kAbsent,
                    bias != kAbsent ? bias + own : kAbsent, p.head_eps);
    }
  };
  const auto scale = [&] {
    for (float& v : x) v *= !is_key && c.has(kQueryScale) ? vectors[p.query_scale_at + head] : 1.0f;
  };
  const float* angles =
      reinterpret_cast<const float*>(c.record) + c.step.angles_at[c.which()] + size_t{t} * 2 * c.step.half[c.which()];
  const auto rotate = [&] {
    for (uint32_t i = 0; c.v.rope != RopeKind::kNone && i < p.n_rot / 2; ++i) {
      const uint32_t quarter = p.n_rot / 4;
      uint32_t first = i, apart = p.n_rot / 2;
      if (c.v.rope == RopeKind::kAdjacent) first = 2 * i, apart = 1;
      if (c.v.rope == RopeKind::kQuarters) first = i < quarter ? i : i + quarter, apart = quarter;
      float& a = x[p.rot_at + first];
      float& b = x[p.rot_at + first + apart];
      const float cosine = angles[2 * i], sine = angles[2 * i + 1], u = a;
      a = u * cosine - b * sine;
      b = u * sine + b * cosine;
    }
  };
  if (c.has(kNormAfterRope)) rotate();
  norm();
  scale();
  if (!c.has(kNormAfterRope)) rotate();
  for (float& v : x) v *= !is_key && c.has(kTemperature) ? token.temperature : 1.0f;
  std::ranges::copy(x, out);
}

float PlanInterpreter::cached(const Call& c, bool keys, uint32_t head, uint32_t cell, uint32_t i) {
  const bool decode = c.v.kernel == Kernel::kAttendSplits;
  keys = keys || c.has(kSharedValues);
  const size_t binding = c.v.kernel == Kernel::kWeighCells ? 3 : keys ? (decode ? 4 : 5) : (decode ? 5 : 6);
  const uint32_t d = keys ? c.v.d_k : c.v.d_v;
  const size_t at = (size_t{head} * c.parameters<HeadsParameters>().n_cells + cell) * d + i;
  if ((keys ? c.v.cache_keys : c.v.cache_values) == CacheType::kF32) return c.real(binding)[at];
  return f16_to_f32(static_cast<uint16_t>(c.word(binding)[at / 2] >> (16 * (at % 2))));
}

void PlanInterpreter::store(Call& c, bool keys, uint32_t head, uint32_t cell, uint32_t i, float x) {
  const size_t binding = keys ? 4 : 5;
  const uint32_t d = keys ? c.v.d_k : c.v.d_v;
  const size_t at = (size_t{head} * c.parameters<HeadsParameters>().n_cells + cell) * d + i;
  if ((keys ? c.v.cache_keys : c.v.cache_values) == CacheType::kF32) {
    c.real(binding)[at] = x;
    return;
  }
  uint32_t& word = c.word(binding)[at / 2];
  const uint32_t shift = 16 * (at % 2), half = f32_to_f16(std::clamp(x, -65504.0f, 65504.0f));
  word = (word & ~(0xffffu << shift)) | half << shift;
}

void PlanInterpreter::store_cell(Call& c, uint32_t t, uint32_t head) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  const uint32_t cell = c.token_at(t).cell[c.which()];
  std::vector<float> key(c.v.d_k);
  prepare_head(c, t, head, true, key.data());
  for (uint32_t i = 0; i < c.v.d_k; ++i) store(c, true, head, cell, i, key[i]);
  if (c.has(kSharedValues)) return;
  const float* row = c.real(1) + size_t{t} * p.n_qkv + p.value_at + head * p.value_stride;
  std::vector<float> value(row, row + c.v.d_v);
  if (c.has(kNormValues)) normalize_row(false, value, nullptr, kAbsent, kAbsent, p.eps);
  for (uint32_t i = 0; i < c.v.d_v; ++i) store(c, false, head, cell, i, value[i]);
}

namespace {

constexpr float kNoScore = -3e38f;

}  // namespace

PlanInterpreter::Softmax PlanInterpreter::attend(Call& c, uint32_t t, uint32_t head, const float* q, uint32_t begin,
                                                 uint32_t end) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  const StepToken token = c.token_at(t);
  const uint32_t kv = head / (p.n_head / p.n_head_kv);
  Softmax s{std::vector<double>(c.v.d_v), kNoScore, 0};
  std::vector<float> scores;
  std::vector<uint32_t> cells;
  for (uint32_t r = 0; r < token.n_runs[c.which()]; ++r) {
    const StepRun run = c.run_at(token.first_run[c.which()] + r);
    for (uint32_t cell = std::max(run.begin, begin); cell < std::min(run.end, end); ++cell) {
      double dot = 0;
      for (uint32_t i = 0; i < c.v.d_k; ++i)
        dot += static_cast<double>(q[i]) * static_cast<double>(cached(c, true, kv, cell, i));
      float score = static_cast<float>(dot) * p.scale;
      if (c.has(kSoftCap)) score = p.soft_cap * std::tanh(score / p.soft_cap);
      const int32_t position = run.position + static_cast<int32_t>(cell - run.begin);
      const float* vectors = c.real(c.v.kernel == Kernel::kAttendSplits ? 2 : 3);
      if (c.has(kAlibi)) score -= vectors[p.slopes_at + head] * static_cast<float>(std::abs(token.position - position));
      if (c.has(kRelative)) {
        const auto most = static_cast<int32_t>(p.max_distance);
        const int32_t away = std::clamp(position - token.position, -most, most);
        const auto bucket = static_cast<uint32_t>(vectors[p.buckets_at + static_cast<uint32_t>(away + most)]);
        score += vectors[p.biases_at + bucket * p.n_head + head];
      }
      scores.push_back(score);
      cells.push_back(cell);
      s.max = std::max(s.max, score);
    }
  }
  for (size_t k = 0; k < cells.size(); ++k) {
    const double e = std::exp(static_cast<double>(scores[k] - s.max));
    s.sum += e;
    for (uint32_t i = 0; i < c.v.d_v; ++i) s.values[i] += e * static_cast<double>(cached(c, false, kv, cells[k], i));
  }
  return s;
}

void PlanInterpreter::attend_splits(Call& c) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  const uint32_t n_splits = c.step.n_splits[c.which()], n_cells = c.step.split_cells[c.which()];
  const uint32_t heads_per_kv = p.n_head / p.n_head_kv;
  std::vector<float> q(c.v.d_k);
  for (uint32_t kv = 0; kv < p.n_head_kv; ++kv)
    for (uint32_t split = 0; split < n_splits; ++split) {
      const uint32_t begin = split * n_cells, end = begin + n_cells;
      for (uint32_t t = 0; t < c.step.n_tokens && c.has(kStores); ++t) {
        const uint32_t cell = c.token_at(t).cell[c.which()];
        if (cell >= begin && cell < end) store_cell(c, t, kv);
      }
      for (uint32_t t = 0; t < c.step.n_tokens; ++t)
        for (uint32_t head = kv * heads_per_kv; head < (kv + 1) * heads_per_kv; ++head) {
          prepare_head(c, t, head, false, q.data());
          const Softmax s = attend(c, t, head, q.data(), begin, end);
          float* out = c.real(6) + ((size_t{t} * p.n_head + head) * n_splits + split) * (c.v.d_v + 2u);
          for (uint32_t i = 0; i < c.v.d_v; ++i) out[i] = static_cast<float>(s.values[i]);
          out[c.v.d_v] = s.max;
          out[c.v.d_v + 1] = static_cast<float>(s.sum);
        }
    }
}

// A sink is one more score, without a value.
void PlanInterpreter::add_sink(Softmax& s, float sink) {
  const float top = std::max(sink, s.max);
  const double factor = std::exp(static_cast<double>(s.max - top));
  for (double& v : s.values) v *= factor;
  s.sum = s.sum * factor + std::exp(static_cast<double>(sink - top));
  s.max = top;
}

// Divides by the sum, with the sink, and applies the gate: out [d_v].
void PlanInterpreter::end_head(Call& c, uint32_t t, uint32_t head, Softmax s, size_t qkv, size_t vectors, float* out) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  if (c.has(kSinks)) add_sink(s, c.real(vectors)[p.sinks_at + head]);
  const float* gates = c.real(qkv) + size_t{t} * p.n_qkv + p.gate_at + head * p.gate_stride;
  for (uint32_t i = 0; i < c.v.d_v; ++i) {
    out[i] = static_cast<float>(s.values[i] / s.sum);
    if (!c.has(kHeadGate)) continue;
    const float g = gates[c.has(kGateOfHead) ? 0 : i];
    out[i] *= c.has(kSoftplusGate) ? (g > 20 ? g : std::log1p(std::exp(g))) : 1.0f / (1.0f + std::exp(-g));
  }
}

// The softmax over all splits of a head.
PlanInterpreter::Softmax PlanInterpreter::combined(const float* parts, uint32_t n_splits, uint32_t d) {
  Softmax s{std::vector<double>(d), kNoScore, 0};
  for (uint32_t k = 0; k < n_splits; ++k) s.max = std::max(s.max, parts[k * (d + 2) + d]);
  for (uint32_t k = 0; k < n_splits; ++k) {
    const float* part = parts + k * (d + 2);
    const double e = std::exp(static_cast<double>(part[d] - s.max));
    s.sum += e * static_cast<double>(part[d + 1]);
    for (uint32_t i = 0; i < d; ++i) s.values[i] += e * static_cast<double>(part[i]);
  }
  return s;
}

void PlanInterpreter::head_product(Call& c) {
  const RowsParameters p = c.parameters<RowsParameters>();
  const MatrixParameters m = c.matrix(0);
  const uint32_t n_splits = c.step.n_splits[c.which()];
  std::vector<float> weights, x(p.n_in);
  for (uint32_t row = 0; row < c.n_rows(); ++row)
    for (uint32_t head = 0; head < p.n_used; ++head) {
      const float* from = c.real(2) + size_t{row} * p.x_stride + p.x_at + size_t{head} * p.head_in;
      float* to = c.real(5) + size_t{row} * p.n_out + size_t{head} * p.head_out;
      if (c.has(kCombines)) {
        const float* parts = c.real(2) + (size_t{row} * p.n_used + head) * n_splits * (p.n_in + 2);
        Softmax s = combined(parts, n_splits, p.n_in);
        if (c.has(kSinks)) add_sink(s, c.real(3)[p.sinks_at + head]);
        for (uint32_t i = 0; i < p.n_in; ++i) x[i] = static_cast<float>(s.values[i] / s.sum);
      } else {
        x.assign(from, from + p.n_in);
      }
      for (uint32_t r = 0; r < m.n_rows; ++r) {
        row_of(c, 0, r, weights, true, head);
        double d = 0;
        for (uint32_t i = 0; i < p.n_in; ++i) d += static_cast<double>(weights[i]) * static_cast<double>(x[i]);
        to[r] = scaled(c, 0, r, head, d, 3);
      }
      for (uint32_t i = 0; i < p.n_copied; ++i) to[m.n_rows + i] = from[p.n_in + i];
    }
}

void PlanInterpreter::attend_combine(Call& c) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  const uint32_t n_splits = c.step.n_splits[c.which()];
  for (uint32_t t = 0; t < c.step.n_tokens; ++t)
    for (uint32_t head = 0; head < p.n_head; ++head) {
      const float* parts = c.real(4) + (size_t{t} * p.n_head + head) * n_splits * (c.v.d_v + 2u);
      end_head(c, t, head, combined(parts, n_splits, c.v.d_v), 1, 2,
               c.real(5) + (size_t{t} * p.n_head + head) * c.v.d_v);
    }
}

void PlanInterpreter::prepare_heads(Call& c) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  for (uint32_t t = 0; t < c.step.n_tokens; ++t) {
    for (uint32_t head = 0; head < p.n_head; ++head)
      prepare_head(c, t, head, false, c.real(6) + (size_t{t} * p.n_head + head) * c.v.d_k);
    for (uint32_t kv = 0; kv < p.n_head_kv && c.has(kStores); ++kv) store_cell(c, t, kv);
  }
}

void PlanInterpreter::attend_rows(Call& c) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  for (uint32_t row = 0; row < c.n_rows(); ++row)
    for (uint32_t head = 0; head < p.n_head; ++head) {
      const uint32_t t = c.token(row);
      const float* q = c.real(1) + (size_t{t} * p.n_head + head) * c.v.d_k;
      const Softmax s = attend(c, t, head, q, 0, UINT32_MAX);
      end_head(c, t, head, s, 2, 3, c.real(7) + (size_t{row} * p.n_head + head) * c.v.d_v);
    }
}

void PlanInterpreter::weigh_cells(Call& c) {
  const HeadsParameters p = c.parameters<HeadsParameters>();
  for (uint32_t row = 0; row < c.step.n_outputs; ++row) {
    const uint32_t t = c.token(row);
    const StepRun run = c.run_at(c.token_at(t).first_run[c.which()]);
    const float* q = c.real(1) + (size_t{t} * p.n_head + p.first_head) * c.v.d_k;
    float* y = c.real(4) + size_t{p.y_at + row} * p.n_cells;
    double top = -1e300, sum = 0;
    std::vector<double> scores(run.end);
    for (uint32_t cell = run.begin; cell < run.end; ++cell) {
      for (uint32_t i = 0; i < c.v.d_k; ++i)
        scores[cell] += static_cast<double>(q[i]) * static_cast<double>(cached(c, true, p.first_head, cell, i));
      scores[cell] *= static_cast<double>(p.scale);
      top = std::max(top, scores[cell]);
    }
    for (uint32_t cell = run.begin; cell < run.end; ++cell) sum += std::exp(scores[cell] - top);
    for (uint32_t cell = run.begin; cell < run.end; ++cell)
      y[cell] = static_cast<float>(std::exp(scores[cell] - top) / sum);
  }
}

}  // namespace ggufscope::test
