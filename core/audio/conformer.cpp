// Runs the blocks of a Conformer.
#include "audio/conformer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/feed_forward.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr double kLongestWave = 10000;

// The number of visible keys of any query.
uint64_t max_keys(const ConformerShape& shape, uint64_t n) {
  if (shape.view != ConformerView::kAll) return std::min<uint64_t>(shape.reach, n);
  return shape.all_limit == 0 || n <= shape.all_limit ? n : 2 * shape.all_reach + 1;
}

void clamp_rows(Pool& pool, const Vector& min, const Vector& max, float* x, size_t n_rows, size_t n) {
  if ((!min && !max) || pool.counting()) return;
  const float low = min ? *min.data() : -HUGE_VALF, high = max ? *max.data() : HUGE_VALF;
  each_token(pool, Operation::kGate, n_rows, [&](size_t t) {
    for (size_t i = 0; i < n; ++i) x[t * n + i] = std::min(std::max(x[t * n + i], low), high);
  });
}

}  // namespace

void ClippedLinear::plan_limits(Planner& planner, const std::string& name) {
  planner.vector(input_min, name + ".input_min", 1, Need::kOptional);
  planner.vector(input_max, name + ".input_max", 1, Need::kOptional);
  planner.vector(output_min, name + ".output_min", 1, Need::kOptional);
  planner.vector(output_max, name + ".output_max", 1, Need::kOptional);
}

size_t Conformer::n_distances(const ConformerShape& shape, uint64_t n) {
  if (shape.n_position == 0) return 0;
  if (shape.view == ConformerView::kRecent) return shape.reach;
  return static_cast<size_t>(sees_all(shape, n) ? 2 * n - 1 : 2 * shape.all_reach + 1);
}

ptrdiff_t Conformer::min_distance() const {
  if (shape_.view == ConformerView::kRecent) return 0;
  return -static_cast<ptrdiff_t>(n_distances(shape_, n_) / 2);
}

uint64_t Conformer::count_buffers(const ConformerShape& shape, uint64_t n) {
  return uint64_t{n_distances(shape, n)} * shape.n_position + 4 * n + uint64_t{shape.n_kernel} * shape.n_embd;
}

void Conformer::start(size_t n) {
  n_ = n;
  if (arena_.counting()) return;
  const size_t n_distances = Conformer::n_distances(shape_, n), width = shape_.n_position, half = width / 2;
  positions_.assign(n_distances * width, 0.0f);
  for (size_t i = 0; i < half; ++i) {
    const double steps = shape_.halves ? double(std::max<size_t>(half, 2) - 1) : double(half);
    const double frequency = std::exp(-std::log(kLongestWave) * double(i) / steps);
    for (size_t at = 0; at < n_distances; ++at) {
      const double angle = double(min_distance() + static_cast<ptrdiff_t>(at)) * frequency;
      float* row = positions_.data() + at * width;
      row[shape_.halves ? i : 2 * i] = static_cast<float>(std::sin(angle));
      row[shape_.halves ? i + half : 2 * i + 1] = static_cast<float>(std::cos(angle));
    }
  }
  visible_.resize(n);
  for (size_t t = 0; t < n; ++t) {
    const size_t reach = shape_.reach, far = shape_.all_reach;
    if (shape_.view == ConformerView::kRecent) {
      visible_[t] = {t + 1 - std::min(t + 1, reach), t + 1};
    } else if (shape_.view == ConformerView::kBlock) {
      visible_[t] = {t / reach * reach, std::min(n, (t / reach + 1) * reach)};
    } else {
      visible_[t] = sees_all(shape_, n) ? KeySpan{0, n} : KeySpan{t - std::min(t, far), std::min(n, t + far + 1)};
    }
  }
}

void Conformer::apply_clipped(Pool& pool, Arena& arena, const ClippedLinear& by, const float* x, size_t n, float* y) {
  const size_t mark = arena.mark(), n_in = by.linear.n_in;
  if (by.input_min || by.input_max) {
    float* clamped = arena.take(n * n_in);
    if (!arena.counting()) std::memcpy(clamped, x, n * n_in * sizeof(float));
    clamp_rows(pool, by.input_min, by.input_max, clamped, n, n_in);
    x = clamped;
  }
  apply(pool, by.linear, x, n, y);
  clamp_rows(pool, by.output_min, by.output_max, y, n, by.linear.n_out);
  arena.release(mark);
}

// Without a norm in the file the rows stay as they are.
void Conformer::normalize(const Affine& by, const float* x, size_t n, float* y) {
  if (by) return normalize_rows(pool_, shape_.eps, shape_.norm, by, x, n, shape_.n_embd, y);
  if (x != y && !arena_.counting()) std::memcpy(y, x, n * shape_.n_embd * sizeof(float));
}

void Conformer::run_layer(size_t il, float* x) {
  const ConformerLayer& w = layers_[il];
  feed_forward(w.first, x);
  attend(w, x);
  if (w.conv_norm) convolve(w, x);
  feed_forward(w.second, x);
  normalize(w.norm, x, n_, x);
}

void Conformer::feed_forward(const ConformerFfn& w, float* x) {
  const size_t n_embd = shape_.n_embd, n_ff = w.up.linear.n_out;
  const auto widen = [&](const float* part, size_t rows, float* normed, float* wide) {
    normalize(w.norm, part, rows, normed);
    apply_clipped(pool_, arena_, w.up, normed, rows, wide);
    each_token(pool_, Operation::kGate, rows, [&](size_t t) { activate(Activation::kSilu, wide + t * n_ff, n_ff); });
  };
  const auto narrow = [&](const float* wide, size_t rows, float* added, float* part) {
    apply_clipped(pool_, arena_, w.down, wide, rows, added);
    if (w.norm_after) normalize(w.norm_after, added, rows, added);
    each_token(pool_, Operation::kGate, rows,
               [&](size_t t) { vec::add_scaled(part + t * n_embd, 0.5f, added + t * n_embd, n_embd); });
  };
  feed_forward_rows(arena_, x, n_, n_embd, n_ff, widen, narrow);
}

void Conformer::attend(const ConformerLayer& w, float* x) {
  const size_t mark = arena_.mark(), d = shape_.d_head, row = shape_.n_head * d;
  float* normed = arena_.take(n_ * std::max<size_t>(shape_.n_embd, row));
  float* q = arena_.take(n_ * std::max<size_t>(shape_.n_embd, row));
  float* k = arena_.take(n_ * row);
  float* v = arena_.take(n_ * row);
  normalize(w.attn_norm, x, n_, normed);
  apply_clipped(pool_, arena_, w.q, normed, n_, q);
  apply_clipped(pool_, arena_, w.k, normed, n_, k);
  apply_clipped(pool_, arena_, w.v, normed, n_, v);
  const auto scale_heads = [&](float* heads, float by, const Vector& by_element) {
    if (by == 1 && !by_element) return;
    each_token(pool_, Operation::kGate, n_, [&](size_t t) {
      vec::scale(heads + t * row, by, row);
      for (size_t h = 0; h < shape_.n_head && by_element; ++h)
        vec::multiply(heads + t * row + h * d, by_element.data(), d);
    });
  };
  scale_heads(q, shape_.q_scale, w.q_scale);
  scale_heads(k, shape_.k_scale, w.k_scale);
  RelativeAttention a{.n_head = shape_.n_head, .d = d, .scale = shape_.score_scale, .cap = shape_.cap};
  a.queries = q, a.keys = k, a.values = v, a.u = w.bias_u.data(), a.v = w.bias_v.data();
  if (w.positions) {
    const size_t n_distances = Conformer::n_distances(shape_, n_);
    float* embedded = arena_.take(n_distances * row);
    apply(pool_, w.positions, positions_.data(), n_distances, embedded);
    a.distances = embedded - min_distance() * static_cast<ptrdiff_t>(row);
    a.distance_stride = static_cast<ptrdiff_t>(row);
    a.head_stride = d;
  } else if (w.distances) {
    a.distances = w.distances.data() + w.distances.n / d / 2 * d;
    a.distance_stride = static_cast<ptrdiff_t>(d);
  }
  const size_t max = static_cast<size_t>(max_keys(shape_, n_));
  const size_t thread_floats = static_cast<size_t>(Arena::round_up(relative_attention_scratch(d, max)));
  float* scratch = arena_.take(thread_floats * pool_.n_threads());
  attend_relative(pool_, a, n_, visible_.data(), scratch, thread_floats, normed);
  apply_clipped(pool_, arena_, w.out, normed, n_, q);
  if (w.attn_norm_after) normalize(w.attn_norm_after, q, n_, q);
  add_rows(pool_, x, q, n_, shape_.n_embd);
  arena_.release(mark);
}

// y [n, n_embd]: the kernel along time, its norm, and SiLU.
void Conformer::apply_kernel(const ConformerLayer& w, const float* x, float* y) {
  const size_t n = shape_.n_embd, n_kernel = shape_.n_kernel;
  const size_t before = shape_.causal ? n_kernel - 1 : n_kernel / 2;
  taps_.resize(n_kernel * n);
  for (size_t c = 0; c < n; ++c)
    for (size_t j = 0; j < n_kernel; ++j) taps_[j * n + c] = w.kernel.data()[c * n_kernel + j];
  each_token(pool_, Operation::kGate, n_, [&](size_t t) {
    float* out = y + t * n;
    std::fill_n(out, n, 0.0f);
    for (size_t j = 0; j < n_kernel; ++j) {
      if (t + j < before || t + j - before >= n_) continue;
      const float *in = x + (t + j - before) * n, *tap = taps_.data() + j * n;
      for (size_t c = 0; c < n; ++c) out[c] += in[c] * tap[c];
    }
    if (w.kernel_bias) vec::add(out, w.kernel_bias.data(), n);
    for (size_t c = 0; c < n && w.kernel_mean; ++c)
      out[c] = (out[c] - w.kernel_mean.data()[c]) / std::sqrt(w.kernel_variance.data()[c]);
    if (w.kernel_norm && !shape_.normalizes_kernel) {
      vec::multiply(out, w.kernel_norm.weight.data(), n);
      if (w.kernel_norm.bias) vec::add(out, w.kernel_norm.bias.data(), n);
    }
  });
  if (w.kernel_norm && shape_.normalizes_kernel) normalize(w.kernel_norm, y, n_, y);
  each_token(pool_, Operation::kGate, n_, [&](size_t t) { activate(Activation::kSilu, y + t * n, n); });
}

void Conformer::convolve(const ConformerLayer& w, float* x) {
  const size_t mark = arena_.mark(), n = shape_.n_embd, max = std::min(n_, kPartRows);
  float* gated = arena_.take(n_ * n);
  float* mixed = arena_.take(n_ * n);
  {
    const size_t inner = arena_.mark();
    float* normed = arena_.take(max * n);
    float* both = arena_.take(max * 2 * n);
    each_part(n_, [&](size_t first, size_t rows) {
      normalize(w.conv_norm, x + first * n, rows, normed);
      apply_clipped(pool_, arena_, w.conv_in, normed, rows, both);
      each_token(pool_, Operation::kGate, rows, [&](size_t t) {
        activate_gated(Activation::kSigmoid, both + (2 * t + 1) * n, both + 2 * t * n, n, gated + (first + t) * n);
      });
    });
    arena_.release(inner);
  }
  if (!arena_.counting()) apply_kernel(w, gated, mixed);
  apply_clipped(pool_, arena_, w.conv_out, mixed, n_, gated);
  add_rows(pool_, x, gated, n_, n);
  arena_.release(mark);
}

}  // namespace ggufscope
