// Statistics of a tensor, computed from chunks of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ggufscope {

/// Running mean and sum of squared deviations (Chan, Golub, LeVeque 1979), in double precision.
struct Moments {
  uint64_t count = 0;
  double mean = 0, squares = 0;

  void merge(const Moments& other);
  [[nodiscard]] double deviation() const;  ///< population standard deviation
};

/// Counts over [-2^exponent, 2^exponent) in 2 * kHalf equal bins. If a value does not fit, the range doubles and pairs
/// of bins are merged, so the result does not depend on the order.
struct Histogram {
  static constexpr int kHalf = 128;
  int exponent = -150;
  double limit = 0x1p-150, bins_per_one = 0x1p157;
  uint64_t counts[2 * kHalf] = {};

  void add(float finite);
  void add(const float* finite, size_t n, float absolute_maximum);

 private:
  void make_room(double value);
};

struct LineStats {
  float absolute_maximum = 0;
  double sum_of_squares = 0;
  uint64_t count = 0;
};

/// LineStats of all columns, as separate arrays, so that a chunk of a row is added with SIMD.
struct ColumnStats {
  std::vector<float> absolute_maximum;
  std::vector<double> sum_of_squares;
  std::vector<uint64_t> n_not_finite;
};

struct TensorStats {
  uint64_t count = 0, zeros = 0, nans = 0, infinities = 0;
  float min = 0, max = 0;       ///< of the finite values; 0 if there are none
  Moments moments;              ///< of the finite values
  Histogram histogram;          ///< of the finite values
  uint64_t row_length;          ///< ne0; the column is the position in the row
  std::vector<LineStats> rows;  ///< of the finite values; empty above kMaxLines
  ColumnStats columns;          ///< like rows

  static constexpr uint64_t kMaxLines = uint64_t{1} << 22;

  explicit TensorStats(uint64_t row_length_in, uint64_t n_rows);
  /// Adds the next n floats in file order.
  void add(const float* values, size_t n);

  [[nodiscard]] size_t n_columns() const { return columns.absolute_maximum.size(); }
  [[nodiscard]] LineStats column(size_t i) const;

 private:
  void add_finite(const float* values, size_t n, size_t column, Moments& moments_here, LineStats& line);
  void add_any(const float* values, size_t n, size_t column, Moments& moments_here, LineStats& line);
};

/// The difference between two tensors, over pairs of finite values.
struct Comparison {
  uint64_t count = 0, not_finite = 0;
  double squares_of_difference = 0, squares_of_reference = 0, squares_of_other = 0, products = 0;
  double maximum = 0;

  void add(const float* reference, const float* other, size_t n);
};

/// Statistics of the scales that a type stores in its blocks (d, not the small integer scales).
struct ScaleStats {
  uint64_t count = 0, zeros = 0, subnormal = 0, not_finite = 0;
  float min = 0, max = 0;  ///< of the finite scales
  Moments moments;

  /// Returns false for a type whose blocks have no scale. small: super-blocks of 64 elements.
  bool add(uint32_t type, const uint8_t* blocks, size_t n_blocks, bool small = false);
};

}  // namespace ggufscope
