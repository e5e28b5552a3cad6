#include "quant/stats.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

enum class ScaleKind : uint8_t { kF16, kF32, kE8m0, kUe4m3, kIq1m };

struct ScaleRow {
  TypeId type;
  uint16_t offset;
  uint16_t count;
  ScaleKind kind;
};

// clang-format off
constexpr ScaleRow kScales[] = {
    {TypeId::kQ4_0, 0, 1, ScaleKind::kF16},     {TypeId::kQ4_1, 0, 1, ScaleKind::kF16},
    {TypeId::kQ5_0, 0, 1, ScaleKind::kF16},     {TypeId::kQ5_1, 0, 1, ScaleKind::kF16},
    {TypeId::kQ8_0, 0, 1, ScaleKind::kF16},     {TypeId::kQ8_1, 0, 1, ScaleKind::kF16},
    {TypeId::kQ2_K, 80, 1, ScaleKind::kF16},    {TypeId::kQ3_K, 108, 1, ScaleKind::kF16},
    {TypeId::kQ4_K, 0, 1, ScaleKind::kF16},     {TypeId::kQ5_K, 0, 1, ScaleKind::kF16},
    {TypeId::kQ6_K, 208, 1, ScaleKind::kF16},   {TypeId::kQ8_K, 0, 1, ScaleKind::kF32},
    {TypeId::kIQ1_S, 0, 1, ScaleKind::kF16},    {TypeId::kIQ1_M, 48, 1, ScaleKind::kIq1m},
    {TypeId::kIQ2_XXS, 0, 1, ScaleKind::kF16},  {TypeId::kIQ2_XS, 0, 1, ScaleKind::kF16},
    {TypeId::kIQ2_S, 0, 1, ScaleKind::kF16},    {TypeId::kIQ3_XXS, 0, 1, ScaleKind::kF16},
    {TypeId::kIQ3_S, 0, 1, ScaleKind::kF16},    {TypeId::kIQ4_NL, 0, 1, ScaleKind::kF16},
    {TypeId::kIQ4_XS, 0, 1, ScaleKind::kF16},   {TypeId::kTQ1_0, 52, 1, ScaleKind::kF16},
    {TypeId::kTQ2_0, 64, 1, ScaleKind::kF16},   {TypeId::kMXFP4, 0, 1, ScaleKind::kE8m0},
    {TypeId::kNVFP4, 0, 4, ScaleKind::kUe4m3},  {TypeId::kQ1_0, 0, 1, ScaleKind::kF16},
    {TypeId::kQ2_0, 0, 1, ScaleKind::kF16},
};

constexpr ScaleRow kSmallScales[] = {
    {TypeId::kQ2_K, 20, 1, ScaleKind::kF16},    {TypeId::kQ3_K, 26, 1, ScaleKind::kF16},
    {TypeId::kQ4_K, 0, 1, ScaleKind::kF16},     {TypeId::kQ5_K, 0, 1, ScaleKind::kF16},
    {TypeId::kQ6_K, 52, 1, ScaleKind::kF16},    {TypeId::kQ8_K, 0, 1, ScaleKind::kF32},
};
// clang-format on

float scale_at(const uint8_t* p, ScaleKind kind) {
  switch (kind) {
    case ScaleKind::kF16:
      return load_f16(p);
    case ScaleKind::kF32:
      return load<float>(p);
    case ScaleKind::kE8m0:
      return 2 * half_e8m0(*p);
    case ScaleKind::kUe4m3:
      return 2 * half_ue4m3(*p);
    case ScaleKind::kIq1m: {
      uint32_t bits = 0;
      for (size_t k = 0; k < 4; ++k) bits |= static_cast<uint32_t>(load<uint16_t>(p + 2 * k)) >> 12 << (4 * k);
      return f16_to_f32(static_cast<uint16_t>(bits));
    }
  }
  return 0;
}

void widen(float value, bool first, float& min, float& max) {
  min = first || value < min ? value : min;
  max = first || value > max ? value : max;
}

}  // namespace

void Moments::merge(const Moments& other) {
  if (other.count == 0) return;
  const double n = static_cast<double>(count), m = static_cast<double>(other.count), difference = other.mean - mean;
  count += other.count;
  mean += difference * (m / (n + m));
  squares += other.squares + difference * difference * (n * m / (n + m));
}

double Moments::deviation() const { return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count)); }

void Histogram::add(float finite) {
  const double value = static_cast<double>(finite);
  if (std::fabs(value) >= limit) {
    int needed;
    std::frexp(value, &needed);  // |value| < 2^needed
    const int shift = std::min(needed - exponent, 10);
    uint64_t merged[2 * kHalf] = {};
    for (int i = 0; i < 2 * kHalf; ++i) merged[((i - kHalf) >> shift) + kHalf] += counts[i];
    std::copy(std::begin(merged), std::end(merged), counts);
    exponent = needed;
    limit = std::ldexp(1.0, needed);
    bins_per_one = std::ldexp(static_cast<double>(kHalf), -needed);
  }
  ++counts[static_cast<int>(std::floor(value * bins_per_one)) + kHalf];
}

TensorStats::TensorStats(uint64_t row_length_in, uint64_t n_rows) : row_length(std::max<uint64_t>(row_length_in, 1)) {
  if (n_rows <= kMaxLines) rows.resize(static_cast<size_t>(n_rows));
  if (row_length <= kMaxLines) columns.resize(static_cast<size_t>(row_length));
}

void TensorStats::add(const float* values, size_t n) {
  while (n > 0) {
    // A piece of one row at a time: two passes over it, then merged.
    const uint64_t row = count / row_length, column = count % row_length;
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(n, row_length - column));
    Moments moments_here;
    LineStats line;
    double sum = 0;
    for (size_t i = 0; i < piece; ++i) {
      const float value = values[i];
      if (std::isnan(value)) {
        ++nans;
        continue;
      }
      if (std::isinf(value)) {
        ++infinities;
        continue;
      }
      zeros += value == 0;
      widen(value, moments.count + moments_here.count == 0, min, max);
      ++moments_here.count;
      sum += static_cast<double>(value);
      const double square = static_cast<double>(value) * static_cast<double>(value);
      line.absolute_maximum = std::max(line.absolute_maximum, std::fabs(value));
      line.sum_of_squares += square;
      histogram.add(value);
      if (!columns.empty()) {
        LineStats& in_column = columns[static_cast<size_t>(column) + i];
        in_column.absolute_maximum = std::max(in_column.absolute_maximum, std::fabs(value));
        in_column.sum_of_squares += square;
        ++in_column.count;
      }
    }
    if (moments_here.count > 0) {
      moments_here.mean = sum / static_cast<double>(moments_here.count);
      for (size_t i = 0; i < piece; ++i) {
        const double deviation = static_cast<double>(values[i]) - moments_here.mean;
        if (std::isfinite(values[i])) moments_here.squares += deviation * deviation;
      }
      moments.merge(moments_here);
    }
    if (row < rows.size()) {
      LineStats& whole = rows[static_cast<size_t>(row)];
      whole.absolute_maximum = std::max(whole.absolute_maximum, line.absolute_maximum);
      whole.sum_of_squares += line.sum_of_squares;
      whole.count += moments_here.count;
    }
    count += piece;
    values += piece;
    n -= piece;
  }
}

void Comparison::add(const float* reference, const float* other, size_t n) {
  count += n;
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(reference[i]) || !std::isfinite(other[i])) {
      ++not_finite;
      continue;
    }
    const double a = static_cast<double>(reference[i]), b = static_cast<double>(other[i]);
    squares_of_difference += (a - b) * (a - b);
    squares_of_reference += a * a;
    squares_of_other += b * b;
    products += a * b;
    maximum = std::max(maximum, std::fabs(a - b));
  }
}

bool ScaleStats::add(uint32_t type, const uint8_t* blocks, size_t n_blocks, bool small) {
  const auto rows = small ? std::span<const ScaleRow>(kSmallScales) : std::span<const ScaleRow>(kScales);
  const auto row = std::ranges::find(rows, static_cast<TypeId>(type), &ScaleRow::type);
  if (row == rows.end()) return false;
  const size_t step = row->kind == ScaleKind::kUe4m3 ? 1 : 0,
               bytes = small ? small_block_bytes(type) : find_type(type)->block_bytes;
  for (size_t i = 0; i < n_blocks; ++i, blocks += bytes) {
    for (size_t k = 0; k < row->count; ++k) {
      const float scale = scale_at(blocks + row->offset + k * step, row->kind);
      ++count;
      if (!std::isfinite(scale)) {
        ++not_finite;
        continue;
      }
      zeros += scale == 0;
      const float smallest_normal = row->kind == ScaleKind::kF16 || row->kind == ScaleKind::kIq1m ? 0x1p-14f
                                    : row->kind == ScaleKind::kUe4m3                              ? 0x1p-6f
                                                                                                  : 0x1p-126f;
      subnormal += scale != 0 && std::fabs(scale) < smallest_normal;
      widen(scale, moments.count == 0, min, max);
      moments.merge({1, static_cast<double>(scale), 0});
    }
  }
  return true;
}

}  // namespace ggufscope
