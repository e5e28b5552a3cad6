// Counts, sums and sorts values into a histogram, chunk by chunk.
#include "quant/stats.hpp"

#include <algorithm>
#include <cmath>

#include "base/simd.hpp"
#include "quant/block.hpp"
#include "quant/scales.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

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

/// Doubles the range until the value fits.
void Histogram::make_room(double value) {
  if (std::fabs(value) < limit) return;
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

void Histogram::add(float finite) {
  const double value = static_cast<double>(finite);
  make_room(value);
  ++counts[static_cast<int>(std::floor(value * bins_per_one)) + kHalf];
}

void Histogram::add(const float* finite, size_t n, float absolute_maximum) {
  make_room(static_cast<double>(absolute_maximum));
  size_t i = 0;
  // If it is a power of two from 1 to 2^100, the product of floats is exact.
  if (bins_per_one >= 1 && bins_per_one <= 0x1p100) {
    // Neighbouring values are often in the same bin, so four counters alternate to avoid waiting for the previous
    // addition.
    uint32_t four[4][2 * kHalf] = {};
    const v128_t scale = wasm_f32x4_splat(static_cast<float>(bins_per_one)), half = wasm_i32x4_splat(kHalf);
    const size_t max = std::min<size_t>(n, UINT32_MAX);
    for (; i + 4 <= max; i += 4) {
      const v128_t bins = wasm_i32x4_add(
          wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_floor(wasm_f32x4_mul(wasm_v128_load(finite + i), scale))), half);
      ++four[0][wasm_i32x4_extract_lane(bins, 0)];
      ++four[1][wasm_i32x4_extract_lane(bins, 1)];
      ++four[2][wasm_i32x4_extract_lane(bins, 2)];
      ++four[3][wasm_i32x4_extract_lane(bins, 3)];
    }
    for (int bin = 0; bin < 2 * kHalf; ++bin)
      counts[bin] += uint64_t{four[0][bin]} + four[1][bin] + four[2][bin] + four[3][bin];
  }
  for (; i < n; ++i) ++counts[static_cast<int>(std::floor(static_cast<double>(finite[i]) * bins_per_one)) + kHalf];
}

namespace {

bool all_finite(const float* values, size_t n) {
  const v128_t exponent = wasm_i32x4_splat(0x7f800000);
  v128_t odd = wasm_i32x4_splat(0);
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    odd = wasm_v128_or(odd, wasm_i32x4_eq(wasm_v128_and(wasm_v128_load(values + i), exponent), exponent));
  bool finite = !wasm_v128_any_true(odd);
  for (; i < n; ++i) finite = finite && std::isfinite(values[i]);
  return finite;
}

double sum_of(v128_t f64x2) { return wasm_f64x2_extract_lane(f64x2, 0) + wasm_f64x2_extract_lane(f64x2, 1); }

/// Converts the first two or the last two of four floats to doubles.
v128_t low_doubles(v128_t floats) { return wasm_f64x2_promote_low_f32x4(floats); }
v128_t high_doubles(v128_t floats) {
  return wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(floats, floats, 2, 3, 2, 3));
}

float minimum_of(v128_t floats, float at_most) {
  float lanes[4];
  wasm_v128_store(lanes, floats);
  for (const float lane : lanes) at_most = std::min(at_most, lane);
  return at_most;
}

float maximum_of(v128_t floats, float at_least) {
  float lanes[4];
  wasm_v128_store(lanes, floats);
  for (const float lane : lanes) at_least = std::max(at_least, lane);
  return at_least;
}

/// The sum of squared deviations from the mean.
double squared_deviations(const float* values, size_t n, double mean) {
  const v128_t means = wasm_f64x2_splat(mean);
  v128_t sums[2] = {wasm_f64x2_splat(0), wasm_f64x2_splat(0)};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v128_t v = wasm_v128_load(values + i);
    const v128_t d[2] = {wasm_f64x2_sub(low_doubles(v), means), wasm_f64x2_sub(high_doubles(v), means)};
    for (size_t k = 0; k < 2; ++k) sums[k] = wasm_f64x2_add(sums[k], wasm_f64x2_mul(d[k], d[k]));
  }
  double sum = sum_of(wasm_f64x2_add(sums[0], sums[1]));
  for (; i < n; ++i) {
    const double deviation = static_cast<double>(values[i]) - mean;
    sum += deviation * deviation;
  }
  return sum;
}

}  // namespace

TensorStats::TensorStats(uint64_t row_length_in, uint64_t n_rows) : row_length(std::max<uint64_t>(row_length_in, 1)) {
  if (n_rows <= kMaxLines) rows.resize(static_cast<size_t>(n_rows));
  if (row_length > kMaxLines) return;
  columns.absolute_maximum.resize(static_cast<size_t>(row_length));
  columns.sum_of_squares.resize(static_cast<size_t>(row_length));
  columns.n_not_finite.resize(static_cast<size_t>(row_length));
}

LineStats TensorStats::column(size_t i) const {
  const uint64_t seen = count / row_length + (i < count % row_length ? 1 : 0);
  return {columns.absolute_maximum[i], columns.sum_of_squares[i], seen - columns.n_not_finite[i]};
}

void TensorStats::add(const float* values, size_t n) {
  while (n > 0) {
    // One row at a time: two passes over it, then the results are merged.
    const uint64_t row = count / row_length, column = count % row_length;
    const size_t chunk = static_cast<size_t>(std::min<uint64_t>(n, row_length - column));
    Moments moments_here;
    LineStats line;
    const auto add_chunk = all_finite(values, chunk) ? &TensorStats::add_finite : &TensorStats::add_any;
    (this->*add_chunk)(values, chunk, static_cast<size_t>(column), moments_here, line);
    moments.merge(moments_here);
    if (row < rows.size()) {
      LineStats& whole = rows[static_cast<size_t>(row)];
      whole.absolute_maximum = std::max(whole.absolute_maximum, line.absolute_maximum);
      whole.sum_of_squares += line.sum_of_squares;
      whole.count += moments_here.count;
    }
    count += chunk;
    values += chunk;
    n -= chunk;
  }
}

void TensorStats::add_finite(const float* values, size_t n, size_t column, Moments& moments_here, LineStats& line) {
  const bool first = moments.count == 0, with_columns = n_columns() != 0;
  float* column_maximum = with_columns ? columns.absolute_maximum.data() + column : nullptr;
  double* column_squares = with_columns ? columns.sum_of_squares.data() + column : nullptr;
  v128_t minima = wasm_f32x4_splat(values[0]), maxima = minima, largest = wasm_f32x4_splat(0), none = largest;
  v128_t sums[2] = {none, none}, squares[2] = {none, none};
  const v128_t zero = none;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v128_t v = wasm_v128_load(values + i), magnitude = wasm_f32x4_abs(v);
    minima = wasm_f32x4_pmin(minima, v);
    maxima = wasm_f32x4_pmax(maxima, v);
    largest = wasm_f32x4_pmax(largest, magnitude);
    none = wasm_i32x4_sub(none, wasm_f32x4_eq(v, zero));
    const v128_t d[2] = {low_doubles(v), high_doubles(v)};
    for (size_t k = 0; k < 2; ++k) {
      const v128_t square = wasm_f64x2_mul(d[k], d[k]);
      sums[k] = wasm_f64x2_add(sums[k], d[k]);
      squares[k] = wasm_f64x2_add(squares[k], square);
      if (with_columns) {
        double* at = column_squares + i + 2 * k;
        wasm_v128_store(at, wasm_f64x2_add(wasm_v128_load(at), square));
      }
    }
    if (with_columns) {
      float* at = column_maximum + i;
      wasm_v128_store(at, wasm_f32x4_pmax(wasm_v128_load(at), magnitude));
    }
  }
  uint32_t zeros_by_lane[4];
  wasm_v128_store(zeros_by_lane, none);
  for (const uint32_t lane : zeros_by_lane) zeros += lane;
  float low = minimum_of(minima, values[0]), high = maximum_of(maxima, values[0]);
  line.absolute_maximum = maximum_of(largest, line.absolute_maximum);
  double sum = sum_of(wasm_f64x2_add(sums[0], sums[1]));
  line.sum_of_squares = sum_of(wasm_f64x2_add(squares[0], squares[1]));
  for (; i < n; ++i) {
    const double value = static_cast<double>(values[i]);
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
    line.absolute_maximum = std::max(line.absolute_maximum, std::fabs(values[i]));
    zeros += values[i] == 0;
    sum += value;
    line.sum_of_squares += value * value;
    if (with_columns) {
      column_maximum[i] = std::max(column_maximum[i], std::fabs(values[i]));
      column_squares[i] += value * value;
    }
  }
  widen(low, first, min, max);
  widen(high, false, min, max);
  histogram.add(values, n, line.absolute_maximum);

  moments_here.count = n;
  moments_here.mean = sum / static_cast<double>(n);
  moments_here.squares = squared_deviations(values, n, moments_here.mean);
}

void TensorStats::add_any(const float* values, size_t n, size_t column, Moments& moments_here, LineStats& line) {
  const bool with_columns = n_columns() != 0;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const float value = values[i];
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? nans : infinities);
      if (with_columns) ++columns.n_not_finite[column + i];
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
    if (with_columns) {
      float& column_maximum = columns.absolute_maximum[column + i];
      column_maximum = std::max(column_maximum, std::fabs(value));
      columns.sum_of_squares[column + i] += square;
    }
  }
  if (moments_here.count == 0) return;
  moments_here.mean = sum / static_cast<double>(moments_here.count);
  for (size_t i = 0; i < n; ++i) {
    const double deviation = static_cast<double>(values[i]) - moments_here.mean;
    if (std::isfinite(values[i])) moments_here.squares += deviation * deviation;
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
  const BlockScales* row = find_scales(type, small);
  if (row == nullptr) return false;
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
