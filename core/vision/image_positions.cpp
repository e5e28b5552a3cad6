// Positions of patches: embeddings that are added, with tables resampled to the grid of patches, and angles of rope.
#include <algorithm>
#include <cmath>

#include "nn/vec.hpp"
#include "vision/image_encoder.hpp"

namespace ggufscope {
namespace {

/// Weights for resampling of one axis.
struct AxisSample {
  size_t first = 0;
  std::vector<float> weights;
};

/// Linear; the corners of both grids coincide.
std::vector<AxisSample> samples_by_corners(size_t n_in, size_t n_out) {
  std::vector<AxisSample> samples(n_out);
  for (size_t i = 0; i < n_out; ++i) {
    const float at =
        n_out > 1 ? static_cast<float>(i) * static_cast<float>(n_in - 1) / static_cast<float>(n_out - 1) : 0;
    const auto first = std::min(static_cast<size_t>(at), n_in - 1);
    const float part = at - static_cast<float>(first);
    samples[i].first = first;
    samples[i].weights.push_back(1 - part);
    if (first + 1 < n_in) samples[i].weights.push_back(part);
  }
  return samples;
}

/// Linear; pixel centers are mapped. With antialiasing, the triangle filter widens when the axis shrinks (as in ggml).
std::vector<AxisSample> samples_by_centers(size_t n_in, size_t n_out, bool antialias) {
  std::vector<AxisSample> samples(n_out);
  const float scale = static_cast<float>(n_out) / static_cast<float>(n_in);
  const float support = antialias ? std::max(1.0f, 1.0f / scale) : 1.0f;
  for (size_t i = 0; i < n_out; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) / scale;
    const auto first = static_cast<size_t>(std::max(center - support + 0.5f, 0.0f));
    const size_t last = std::min(static_cast<size_t>(center + support + 0.5f), n_in);
    samples[i].first = first;
    float sum = 0;
    for (size_t k = first; k < last; ++k) {
      const float weight = std::max(1.0f - std::fabs((static_cast<float>(k) - center + 0.5f) / support), 0.0f);
      samples[i].weights.push_back(weight);
      sum += weight;
    }
    for (float& weight : samples[i].weights) weight /= sum;
  }
  return samples;
}

/// Cubic with a = -3/4 and four taps; taps outside take the nearest row.
std::vector<AxisSample> cubic_samples(size_t n_in, size_t n_out) {
  constexpr float a = -0.75f;
  const auto near = [](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  std::vector<AxisSample> samples(n_out);
  const float scale = static_cast<float>(n_out) / static_cast<float>(n_in);
  const auto last = static_cast<float>(n_in - 1);
  for (size_t i = 0; i < n_out; ++i) {
    const float at = (static_cast<float>(i) + 0.5f) / scale - 0.5f, below = std::floor(at), part = at - below;
    const float taps[] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    samples[i].first = static_cast<size_t>(std::clamp(below - 1, 0.0f, last));
    samples[i].weights.resize(static_cast<size_t>(std::clamp(below + 2, 0.0f, last)) - samples[i].first + 1);
    for (int k = 0; k < 4; ++k)
      samples[i]
          .weights[static_cast<size_t>(std::clamp(below - 1 + static_cast<float>(k), 0.0f, last)) - samples[i].first] +=
          taps[k];
  }
  return samples;
}

constexpr uint32_t kBuckets = 70;  // on each axis, for PatchPositions::kBuckets

}  // namespace

uint64_t ImageEncoder::n_positions(const VisionModel& model, uint32_t columns, uint32_t rows) {
  const auto last = [](uint32_t n) { return kBuckets * (n - 1) / n; };
  switch (model.row().positions) {
    case PatchPositions::kRows:
      return uint64_t{rows} * columns + model.n_registers();
    case PatchPositions::kBuckets:
      return uint64_t{last(rows)} * kBuckets + last(columns) + 1;
    case PatchPositions::kAxes:
      return uint64_t{2} * std::max(rows, columns);
    default:
      return 0;
  }
}

void ImageEncoder::add_positions() {
  const VisionWeights& w = model_.weights();
  const size_t n_embd = model_.parameters().n_embd;
  const PatchPositions kind = model_.row().positions;
  if (!w.positions) return;
  const float* table = w.positions.data();
  if (kind == PatchPositions::kBuckets || kind == PatchPositions::kAxes) {
    const size_t second = w.positions.n / 2;  // the table of rows
    for (size_t t = 0; t < places_.size(); ++t) {
      const auto [row, column] = places_[t];
      const bool axes = kind == PatchPositions::kAxes;
      const uint32_t bucket = kBuckets * row / rows_ * kBuckets + kBuckets * column / columns_;
      vec::add(x_ + t * n_embd, table + (axes ? column : bucket) * n_embd, n_embd);
      if (axes) vec::add(x_ + t * n_embd, table + second + row * n_embd, n_embd);
    }
    return;
  }
  if (kind == PatchPositions::kRows || (w.table.width == columns_ && w.table.height == rows_)) {
    for (size_t t = 0; t < places_.size(); ++t)
      vec::add(x_ + t * n_embd, table + (size_t{places_[t].row} * columns_ + places_[t].column) * n_embd, n_embd);
    if (w.class_token && kind == PatchPositions::kRows)
      vec::add(x_ + places_.size() * n_embd, table + places_.size() * n_embd, n_embd);
    return;
  }
  const auto samples = [kind](size_t n_in, size_t n_out) {
    if (kind == PatchPositions::kInterpolatedCorners) return samples_by_corners(n_in, n_out);
    if (kind == PatchPositions::kInterpolatedCubic) return cubic_samples(n_in, n_out);
    return samples_by_centers(n_in, n_out, kind != PatchPositions::kInterpolatedSharp);
  };
  const std::vector<AxisSample> across = samples(w.table.width, columns_), down = samples(w.table.height, rows_);
  for (size_t t = 0; t < places_.size(); ++t) {
    const AxisSample &y = down[places_[t].row], &x = across[places_[t].column];
    for (size_t dy = 0; dy < y.weights.size(); ++dy)
      for (size_t dx = 0; dx < x.weights.size(); ++dx)
        vec::add_scaled(x_ + t * n_embd, y.weights[dy] * x.weights[dx],
                        table + ((y.first + dy) * w.table.width + x.first + dx) * n_embd, n_embd);
  }
}

void ImageEncoder::make_angles() {
  const VisionParameters& p = model_.parameters();
  const PatchRope kind = model_.row().rope;
  if (kind == PatchRope::kNone || arena_.counting()) return;
  const size_t half = p.d_head / 2, quarter = p.d_head / 4;
  const uint32_t origin = model_.row().first_place;
  cosines_.resize(places_.size() * half);
  sines_.resize(places_.size() * half);
  for (size_t i = 0; i < half; ++i) {
    const bool second = i >= quarter,
               by_column = second != (kind == PatchRope::kColumns || kind == PatchRope::kQuarters);
    const double within = static_cast<double>(second ? i - quarter : i);
    double exponent = -2 * within / static_cast<double>(half);
    if (second && kind == PatchRope::kAdjacent) exponent -= 2.0 / p.d_head;
    const double frequency = std::pow(static_cast<double>(p.rope_base), exponent);
    for (size_t t = 0; t < places_.size(); ++t) {
      const double angle = (origin + (by_column ? places_[t].column : places_[t].row)) * frequency;
      cosines_[t * half + i] = static_cast<float>(std::cos(angle));
      sines_[t * half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

}  // namespace ggufscope
