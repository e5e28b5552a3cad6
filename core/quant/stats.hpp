// Statistics of a tensor from its floats in pieces of any size, without ever holding the whole.
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
  [[nodiscard]] double deviation() const;  ///< of the population
};

/// Counts over [-2^exponent, 2^exponent) in 2 * kHalf equal bins. When a value does not fit, the range doubles and
/// pairs of bins are joined, so the result does not depend on the order.
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

/// LineStats of columns, side by side, so that a piece of a row adds to them by vectors.
struct ColumnStats {
  std::vector<float> absolute_maximum;
  std::vector<double> sum_of_squares;
  std::vector<uint64_t> n_not_finite;
};

struct TensorStats {
  uint64_t count = 0, zeros = 0, nans = 0, infinities = 0;
  float min = 0, max = 0;       ///< of the finite values; 0 without any
  Moments moments;              ///< of the finite values
  Histogram histogram;          ///< of the finite values
  uint64_t row_length;          ///< ne0; columns are positions in a row
  std::vector<LineStats> rows;  ///< of the finite values; empty beyond kMaxLines
  ColumnStats columns;          ///< the same

  static constexpr uint64_t kMaxLines = uint64_t{1} << 22;

  explicit TensorStats(uint64_t row_length_in, uint64_t n_rows);
  /// The next n floats in the order of the file.
  void add(const float* values, size_t n);

  [[nodiscard]] size_t n_columns() const { return columns.absolute_maximum.size(); }
  [[nodiscard]] LineStats column(size_t i) const;

 private:
  void add_finite(const float* values, size_t n, size_t column, Moments& moments_here, LineStats& line);
  void add_any(const float* values, size_t n, size_t column, Moments& moments_here, LineStats& line);
};

/// How far one tensor is from another, over pairs of finite values.
struct Comparison {
  uint64_t count = 0, not_finite = 0;
  double squares_of_difference = 0, squares_of_reference = 0, squares_of_other = 0, products = 0;
  double maximum = 0;

  void add(const float* reference, const float* other, size_t n);
};

/// The scales that a type stores with its blocks (d, not the small integer scales below it).
struct ScaleStats {
  uint64_t count = 0, zeros = 0, subnormal = 0, not_finite = 0;
  float min = 0, max = 0;  ///< of the finite ones
  Moments moments;

  /// False for a type whose blocks have no scale. small: super-blocks of 64 elements.
  bool add(uint32_t type, const uint8_t* blocks, size_t n_blocks, bool small = false);
};

}  // namespace ggufscope
