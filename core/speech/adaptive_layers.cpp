// Writes down layers as steps, each of which takes a few milliseconds.
#include "speech/adaptive_layers.hpp"

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/sentence.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t kMaxDimension = 1 << 16;
constexpr size_t kStepProducts = size_t{1} << 26;  // multiplications of a step
constexpr size_t kStepFloats = size_t{1} << 21;    // floats that a step reads
constexpr size_t kMaxRows = 512, kSumRows = 256, kLstmRows = 16;
constexpr float kNormEps = 1e-5f;

size_t rows_of_step(size_t products_of_row) {
  return std::clamp<size_t>(kStepProducts / std::max<size_t>(products_of_row, 1), 16, kMaxRows);
}

size_t rows_of_width(size_t width) { return std::max<size_t>(kStepFloats / width, 16); }

// Sums and squares of each channel over a block of rows: sums [2, width].
void sum_block(const float* x, size_t n, size_t width, double* sums) {
  std::fill_n(sums, 2 * width, 0.0);
  for (size_t t = 0; t < n; ++t)
    for (size_t c = 0; c < width; ++c) {
      const double value = double(x[t * width + c]);
      sums[c] += value;
      sums[width + c] += value * value;
    }
}

// What is done with a channel: x * factor + shift, then Snake with its alpha.
struct ChannelScales {
  float *factors, *shifts, *turns, *inverses;  // turns: alpha / pi; inverses: 1 / alpha
};

void finish_scales(const double* sums, size_t n_blocks, size_t n, size_t width, const float* alpha,
                   const ChannelScales& to) {
  for (size_t c = 0; c < width; ++c) {
    double sum = 0, squares = 0;
    for (size_t b = 0; b < n_blocks; ++b) {
      sum += sums[2 * b * width + c];
      squares += sums[(2 * b + 1) * width + c];
    }
    const double mean = sum / double(n), variance = std::max(squares / double(n) - mean * mean, 0.0);
    const double factor = (1 + double(to.factors[c])) / std::sqrt(variance + double(kNormEps));
    to.factors[c] = float(factor);
    to.shifts[c] = float(double(to.shifts[c]) - mean * factor);
    if (alpha == nullptr) continue;
    to.turns[c] = float(double(alpha[c]) / std::numbers::pi);
    to.inverses[c] = 1 / alpha[c];
  }
}

// sin(pi u)^2: u minus the nearest integer is at most a half, where the series of the sine converges fast.
v128_t squared_sine(v128_t u) {
  constexpr float kSeries[] = {-0.00737043094f, 0.0821458866f, -0.599264529f, 2.55016404f, -5.16771278f, 3.14159265f};
  const v128_t r = wasm_f32x4_sub(u, wasm_f32x4_nearest(u)), square = wasm_f32x4_mul(r, r);
  v128_t sum = wasm_f32x4_splat(kSeries[0]);
  for (size_t i = 1; i < 6; ++i) sum = relaxed_madd(sum, square, wasm_f32x4_splat(kSeries[i]));
  const v128_t sine = wasm_f32x4_mul(sum, r);
  return wasm_f32x4_mul(sine, sine);
}

v128_t leaky(v128_t x, float slope) {
  return wasm_v128_bitselect(wasm_f32x4_mul(x, wasm_f32x4_splat(slope)), x, wasm_f32x4_lt(x, wasm_f32x4_splat(0)));
}

void scale_row(const float* x, size_t width, const ChannelScales& by, bool snake, float* y) {
  const auto four = [&](v128_t value, size_t c, auto load) {
    const v128_t v = wasm_f32x4_add(wasm_f32x4_mul(value, load(by.factors + c)), load(by.shifts + c));
    if (!snake) return leaky(v, 0.2f);
    return wasm_f32x4_add(v,
                          wasm_f32x4_mul(squared_sine(wasm_f32x4_mul(v, load(by.turns + c))), load(by.inverses + c)));
  };
  size_t c = 0;
  for (; c + 4 <= width; c += 4)
    wasm_v128_store(y + c, four(wasm_v128_load(x + c), c, [](const float* p) { return wasm_v128_load(p); }));
  for (; c < width; ++c)
    y[c] = wasm_f32x4_extract_lane(four(wasm_f32x4_splat(x[c]), c, [](const float* p) { return wasm_f32x4_splat(*p); }),
                                   0);
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// One row of an LSTM: state [hidden, cell, 4 gates].
void step_lstm(Pool& pool, const BiLstm::Direction& by, size_t n, std::array<const float*, 4> given, float* state,
               float* y) {
  float *hidden = state, *cell = state + n, *gates = state + 2 * n;
  apply(pool,
        {{&by.hidden[0], gates},
         {&by.hidden[1], gates + n},
         {&by.hidden[2], gates + 2 * n},
         {&by.hidden[3], gates + 3 * n}},
        hidden, 1);
  for (size_t i = 0; i < n; ++i) {
    const float in = sigmoid(given[0][i] + gates[i]), forget = sigmoid(given[1][i] + gates[n + i]);
    const float value = std::tanh(given[2][i] + gates[2 * n + i]), out = sigmoid(given[3][i] + gates[3 * n + i]);
    cell[i] = forget * cell[i] + in * value;
    hidden[i] = y[i] = out * std::tanh(cell[i]);
  }
}

void add_direction(StepList& s, const BiLstm& by, bool backward, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const BiLstm::Direction& w = backward ? by.backward : by.forward;
  const size_t width = by.n_hidden, n_in = w.input[0].n_in;
  float* given = s.arena.take(4, n, width);
  float* state = s.arena.take(6, width);
  Pool& pool = s.pool;
  s.add([=] { std::fill_n(state, 6 * width, 0.0f); });
  s.add_parts(n, rows_of_step(4 * n_in * width), [=, &pool, &w](size_t first, size_t rows) {
    float* at = given + first * width;
    const size_t gate = n * width;
    apply(pool,
          {{&w.input[0], at}, {&w.input[1], at + gate}, {&w.input[2], at + 2 * gate}, {&w.input[3], at + 3 * gate}},
          x + first * n_in, rows);
  });
  s.add_parts(n, kLstmRows, [=, &pool, &w](size_t first, size_t rows) {
    for (size_t i = first; i < first + rows; ++i) {
      const size_t t = backward ? n - 1 - i : i;
      const float* at = given + t * width;
      const size_t gate = n * width;
      step_lstm(pool, w, width, {at, at + gate, at + 2 * gate, at + 3 * gate}, state,
                y + 2 * t * width + (backward ? width : 0));
    }
  });
}

// Doubles the rows with one kernel of three for each channel: PyTorch's padding 1 and output_padding 1.
void add_pool(StepList& s, const Vector& kernel, const Vector& bias, size_t width, const float* x, size_t n, float* y) {
  Pool& pool = s.pool;
  const float *w = kernel.data(), *b = bias.data();
  s.add_parts(n, rows_of_width(2 * width), [=, &pool](size_t first, size_t rows) {
    each_token(pool, Operation::kProducts, rows, [&](size_t i) {
      const size_t t = first + i;
      const float *row = x + t * width, *next = t + 1 < n ? row + width : nullptr;
      float* to = y + 2 * t * width;
      for (size_t c = 0; c < width; ++c) {
        to[c] = row[c] * w[3 * c + 1] + b[c];
        to[width + c] = row[c] * w[3 * c + 2] + (next != nullptr ? next[c] * w[3 * c] : 0.0f) + b[c];
      }
    });
  });
}

}  // namespace

uint64_t dimension(Planner& p, const std::string& name, size_t axis) {
  if (p.failed()) return 0;
  const TensorEntry* entry = p.find(name);
  if (entry == nullptr) {
    p.refuse(ErrorCode::kNotFound, "tensor " + name + " is missing");
    return 0;
  }
  const uint64_t size = entry->shape[axis];
  if (size != 0 && size <= kMaxDimension) return size;
  p.refuse(ErrorCode::kBadShape, "tensor " + name + " has an impossible shape");
  return 0;
}

void plan_matrix(Planner& p, Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out) {
  const TensorEntry* entry = p.find(name);
  if (entry != nullptr && !p.failed()) {
    const size_t at = entry->n_dims == 3 && entry->shape[0] == 1 ? 1 : 0;
    if (entry->shape[at] != n_in || entry->shape[at + 1] != n_out)
      return p.refuse(ErrorCode::kBadShape, sentence({"tensor ", name, " is ", entry->shape[at], " x ",
                                                      entry->shape[at + 1], ", not ", n_in, " x ", n_out}));
  }
  p.flattened(to, name, n_in, n_out);
}

void plan_linear(Planner& p, Linear& to, const std::string& name, const std::string& bias, uint64_t n_in,
                 uint64_t n_out) {
  plan_matrix(p, to, name, n_in, n_out);
  p.vector(to.bias, bias, n_out);
}

void CenteredConvolution::plan(SpeechPlan& plan, const std::string& name, const char* separator, uint64_t n_in,
                               size_t pad, size_t stride, size_t dilation) {
  Planner& p = plan.planner;
  const std::string weight = name + separator + "weight";
  const uint64_t n_kernel = dimension(p, weight, 0), n_out = dimension(p, weight, 2);
  if (p.failed()) return;
  if (p.find(weight)->shape[1] != n_in || stride == 0 || dilation == 0 || 2 * pad > kMaxDimension ||
      stride > kMaxDimension || dilation > kMaxDimension || (n_kernel - 1) * dilation > kMaxDimension)
    return p.refuse(ErrorCode::kBadShape, sentence({"tensor ", weight, " has ", p.find(weight)->shape[1],
                                                    " channels, not ", n_in, ", or its keys have impossible values"}));
  taps.n_in = static_cast<size_t>(n_in);
  taps.n_kernel = static_cast<size_t>(n_kernel);
  taps.stride = stride;
  taps.dilation = dilation;
  taps.exact = true;
  padding = pad;
  p.flattened(taps.by, weight, n_kernel * n_in, n_out);
  p.vector(taps.by.bias, name + separator + "bias", n_out);
  plan.convolutions.push_back(&taps);
}

void add_convolution(StepList& s, const CenteredConvolution& by, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const CausalConvolution& taps = by.taps;
  const size_t n_in = taps.n_in, row = taps.n_kernel * n_in, part = rows_of_step(row * by.n_out());
  float* gathered = s.arena.take(part, row);
  Pool& pool = s.pool;
  s.add_parts(by.n_rows(n), part, [=, &pool, &by, &taps](size_t first, size_t rows) {
    each_token(pool, Operation::kCache, rows, [&](size_t t) {
      for (size_t k = 0; k < taps.n_kernel; ++k) {
        float* to = gathered + t * row + k * n_in;
        const size_t at = (first + t) * taps.stride + k * taps.dilation - by.padding;  // wraps around before the first
        if (at < n)
          std::memcpy(to, x + at * n_in, n_in * sizeof(float));
        else
          std::memset(to, 0, n_in * sizeof(float));
      }
    });
    apply(pool, taps.by, gathered, rows, y + first * by.n_out());
  });
}

void add_transposed(StepList& s, const TransposedConvolution& by, size_t padding, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_out = by.n_out, row = by.n_kernel * n_out, part = rows_of_step(row * by.n_in);
  const size_t n_rows = (n - 1) * by.stride + by.n_kernel - 2 * padding;
  float* added = s.arena.take(part, row);
  Pool& pool = s.pool;
  s.add_parts(n_rows, rows_of_width(n_out), [=, &pool, &by](size_t first, size_t rows) {
    each_token(pool, Operation::kCache, rows,
               [&](size_t t) { std::memcpy(y + (first + t) * n_out, by.bias.data(), n_out * sizeof(float)); });
  });
  s.add_parts(n, part, [=, &pool, &by](size_t first, size_t rows) {
    apply(pool, by.by, x + first * by.n_in, rows, added);
    for (size_t t = 0; t < rows; ++t)
      for (size_t k = 0; k < by.n_kernel; ++k) {
        const size_t at = (first + t) * by.stride + k - padding;
        if (at < n_rows) vec::add(y + at * n_out, added + t * row + k * n_out, n_out);
      }
  });
}

void BiLstm::plan(Planner& p, const std::string& prefix, uint64_t n_in) {
  n_hidden = static_cast<size_t>(dimension(p, prefix + ".0.weights.0", 1));
  for (const auto& [to, kind] : {std::pair{&forward, ".0."}, {&backward, ".0.reverse_"}})
    for (size_t gate = 0; gate < 4; ++gate) {
      const std::string name = prefix + kind, in = std::to_string(2 * gate), hidden = std::to_string(2 * gate + 1);
      plan_linear(p, to->input[gate], name + "weights." + in, name + "biases." + in, n_in, n_hidden);
      plan_linear(p, to->hidden[gate], name + "weights." + hidden, name + "biases." + hidden, n_hidden, n_hidden);
    }
}

void add_lstm(StepList& s, const BiLstm& by, const float* x, size_t n, float* y) {
  add_direction(s, by, false, x, n, y);
  add_direction(s, by, true, x, n, y);
}

void AdaptiveNorm::plan(Planner& p, const std::string& name, const std::string& end, uint64_t n_style, uint64_t n) {
  for (const auto& [to, kind] : {std::pair{&gamma, "gamma"}, {&beta, "beta"}}) {
    const std::string full = name + kind + end;
    plan_linear(p, *to, full + "_weight", full + "_bias", n_style, n);
  }
}

void add_adaptive_norm(StepList& s, const AdaptiveNorm& by, const float* style, const float* x, size_t n,
                       const float* alpha, float* y) {
  const ArenaScope scope(s.arena);
  const size_t width = by.gamma.n_out, n_blocks = (n + kSumRows - 1) / kSumRows;
  auto* sums = reinterpret_cast<double*>(s.arena.take(n_blocks, width, 4));
  float* of_channels = s.arena.take(4, width);
  const ChannelScales scales{of_channels, of_channels + width, of_channels + 2 * width, of_channels + 3 * width};
  Pool& pool = s.pool;
  s.add_parts(n_blocks, std::max<size_t>(rows_of_width(width) / kSumRows, 1), [=, &pool](size_t first, size_t count) {
    pool.parallel_for(count, 1, [&](size_t begin, size_t end, size_t) {
      for (size_t b = first + begin; b < first + end; ++b)
        sum_block(x + b * kSumRows * width, std::min(kSumRows, n - b * kSumRows), width, sums + 2 * b * width);
    });
  });
  s.add([=, &pool, &by] {
    apply(pool, {{&by.gamma, scales.factors}, {&by.beta, scales.shifts}}, style, 1);
    finish_scales(sums, n_blocks, n, width, alpha, scales);
  });
  s.add_parts(n, rows_of_width(width), [=, &pool](size_t first, size_t rows) {
    each_token(pool, Operation::kGate, rows, [&](size_t t) {
      scale_row(x + (first + t) * width, width, scales, alpha != nullptr, y + (first + t) * width);
    });
  });
}

void add_adaptive_rows(StepList& s, const AdaptiveNorm& by, const float* style, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t width = by.gamma.n_out;
  float* factors = s.arena.take(width);
  float* shifts = s.arena.take(width);
  Pool& pool = s.pool;
  s.add([=, &pool, &by] {
    apply(pool, {{&by.gamma, factors}, {&by.beta, shifts}}, style, 1);
    for (size_t c = 0; c < width; ++c) factors[c] += 1;
    each_token(pool, Operation::kNorm, n, [&](size_t t) {
      normalize(NormKind::kLayer, x + t * width, factors, shifts, width, kNormEps, y + t * width);
    });
  });
}

void add_leaky(StepList& s, float slope, float* x, size_t n) {
  s.add_parts(n, kStepFloats, [=](size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i)
      if (x[i] < 0) x[i] *= slope;
  });
}

void AdaptiveBlock::plan(SpeechPlan& plan, const std::string& name, uint64_t n_channels, uint64_t n_style) {
  Planner& p = plan.planner;
  n_in = static_cast<size_t>(n_channels);
  norm1.plan(p, name + ".norm1_", "", n_style, n_channels);
  conv1.plan(plan, name + ".conv1", "_", n_channels, 1);
  const uint64_t n = conv1.n_out();
  norm2.plan(p, name + ".norm2_", "", n_style, n);
  conv2.plan(plan, name + ".conv2", "_", n, 1);
  if (p.failed()) return;
  if (conv1.taps.n_kernel != 3 || conv2.taps.n_kernel != 3 || conv2.n_out() != n)
    return p.refuse(ErrorCode::kBadShape, "the convolutions of " + name + " do not fit each other");
  if (p.has(name + ".pool_weight")) {
    p.vector(pool, name + ".pool_weight", 3 * n_channels);
    p.vector(pool_bias, name + ".pool_bias", n_channels);
  }
  if (n != n_channels) plan_matrix(p, shortcut, name + ".conv1x1_weight", n_channels, n);
}

void add_block(StepList& s, const AdaptiveBlock& by, const float* style, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_rows = by.n_rows(n), n_out = by.n_out();
  float* normed = s.arena.take(n, by.n_in);
  float* pooled = by.pool ? s.arena.take(n_rows, by.n_in) : normed;
  float* middle = s.arena.take(n_rows, n_out);
  float* middle_normed = s.arena.take(n_rows, n_out);
  float* direct = by.shortcut ? s.arena.take(n, n_out) : nullptr;
  add_adaptive_norm(s, by.norm1, style, x, n, nullptr, normed);
  if (by.pool) add_pool(s, by.pool, by.pool_bias, by.n_in, normed, n, pooled);
  add_convolution(s, by.conv1, pooled, n_rows, middle);
  add_adaptive_norm(s, by.norm2, style, middle, n_rows, nullptr, middle_normed);
  add_convolution(s, by.conv2, middle_normed, n_rows, y);
  Pool& pool = s.pool;
  if (by.shortcut)
    s.add_parts(n, rows_of_step(by.n_in * n_out), [=, &pool, &by](size_t first, size_t rows) {
      apply(pool, by.shortcut, x + first * by.n_in, rows, direct + first * n_out);
    });
  const float* added = by.shortcut ? direct : x;
  const size_t times = n_rows / n;
  s.add_parts(n_rows, rows_of_width(n_out), [=, &pool](size_t first, size_t rows) {
    each_token(pool, Operation::kAdd, rows, [&](size_t i) {
      float* to = y + (first + i) * n_out;
      vec::add(to, added + (first + i) / times * n_out, n_out);
      vec::scale(to, 0.70710678f, n_out);
    });
  });
}

}  // namespace ggufscope
