// The scale searches of the reference quantizers. Each finds integer levels and a scale that approximate some floats
// best, by weighted least squares over a few candidates. The order of the float operations is ggml's (ggml-quants.c),
// because the output must have the same bytes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

/// A group whose largest magnitude is below this becomes zero.
inline constexpr float kTinyGroup = 1e-15f;

/// Rounds to nearest, ties to even, for |value| < 2^22. Other values give a defined but meaningless integer.
[[nodiscard]] int nearest_int(float value);

/// Truncates like x86: a value that does not fit becomes the smallest int.
[[nodiscard]] inline int truncate_to_int(float value) {
  return value > -2147483648.0f && value < 2147483648.0f ? static_cast<int>(value) : INT32_MIN;
}

/// Rounds to nearest, ties away from zero.
[[nodiscard]] inline int round_to_int(float value) { return truncate_to_int(std::round(value)); }

[[nodiscard]] inline int clamp_int(int value, int low, int high) {
  return value > high ? high : value < low ? low : value;
}

/// The element with the largest magnitude, or 0 if n is 0.
[[nodiscard]] float largest_by_magnitude(const float* x, size_t n);

/// weights[i] = importance[i] * sqrt(sigma2 + x[i]^2).
void importance_weights(const float* x, const float* importance, float sigma2, float* weights, size_t n);

[[nodiscard]] float sum_of_squares(const float* x, size_t n);

/// Fits x ~ scale * (level - n_max) with levels 0..2 * n_max - 1 and returns the scale. weights: nullptr for x^2.
float fit_symmetric(size_t n, int n_max, const float* x, int8_t* levels, const float* weights);

/// The same for the 3-bit type: the weights are x^2, and levels are improved one at a time.
float fit_symmetric_stepwise(size_t n, int n_max, const float* x, int8_t* levels);

struct AffineFit {
  float scale;
  float min;  ///< the minimum that is subtracted, not negative
};

struct AffineSearch {
  float from, step;  ///< candidate i is (from + step * i + n_max) / range
  int steps;
  bool absolute;  ///< minimize absolute errors instead of squares
};

/// Fits x ~ scale * level - min with levels 0..n_max. n <= 32.
AffineFit fit_affine(size_t n, int n_max, const float* x, const float* weights, uint8_t* levels,
                     const AffineSearch& search);

/// Fits x ~ scale * level with levels 0..n_max, for x that are not negative. Returns the scale.
float fit_positive(size_t n, int n_max, const float* x, uint8_t* levels, const float* weights);

}  // namespace ggufscope
