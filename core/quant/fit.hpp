// The scale searches of the reference quantizers: each finds integer levels and a scale that together come closest to
// some floats, by weighted least squares over a few candidates. The order of the float operations is ggml's
// (ggml-quants.c), since the bytes must be.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

/// Groups whose largest magnitude is below this are all zero.
inline constexpr float kTinyGroup = 1e-15f;

/// Round to nearest, ties to even, for |value| < 2^22; a definite integer for anything else.
[[nodiscard]] int nearest_int(float value);

/// Toward zero, as x86 converts: a value that does not fit becomes the smallest int.
[[nodiscard]] inline int truncate_to_int(float value) {
  return value > -2147483648.0f && value < 2147483648.0f ? static_cast<int>(value) : INT32_MIN;
}

/// Round to nearest, ties away from zero.
[[nodiscard]] inline int round_to_int(float value) { return truncate_to_int(std::round(value)); }

[[nodiscard]] inline int clamp_int(int value, int low, int high) {
  return value > high ? high : value < low ? low : value;
}

/// The element of the largest magnitude; 0 of none.
[[nodiscard]] float largest_by_magnitude(const float* x, size_t n);

/// weights[i] = importance[i] * sqrt(sigma2 + x[i]^2).
void importance_weights(const float* x, const float* importance, float sigma2, float* weights, size_t n);

[[nodiscard]] float sum_of_squares(const float* x, size_t n);

/// x ~ scale * (level - n_max), levels 0..2 * n_max - 1. weights: nullptr for x^2. Returns the scale.
float fit_symmetric(size_t n, int n_max, const float* x, int8_t* levels, const float* weights);

/// The same for the 3-bit type: weights x^2 and levels improved one by one.
float fit_symmetric_stepwise(size_t n, int n_max, const float* x, int8_t* levels);

struct AffineFit {
  float scale;
  float min;  ///< not negative: the minimum that is subtracted
};

struct AffineSearch {
  float from, step;  ///< candidates: (from + step * i + n_max) / range
  int steps;
  bool absolute;  ///< absolute errors in place of squares
};

/// x ~ scale * level - min, levels 0..n_max. n <= 32.
AffineFit fit_affine(size_t n, int n_max, const float* x, const float* weights, uint8_t* levels,
                     const AffineSearch& search);

/// x ~ scale * level, levels 0..n_max, x not negative. Returns the scale.
float fit_positive(size_t n, int n_max, const float* x, uint8_t* levels, const float* weights);

}  // namespace ggufscope
