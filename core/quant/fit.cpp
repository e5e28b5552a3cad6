// Searches scales and levels for blocks of floats.
#include "quant/fit.hpp"

#include <algorithm>
#include <bit>

namespace ggufscope {
namespace {

float as_float(int value) { return static_cast<float>(value); }

}  // namespace

int nearest_int(float value) {
  // Adding 1.5 * 2^23 shifts the fraction out of the mantissa, which rounds.
  const uint32_t bits = std::bit_cast<uint32_t>(value + 12582912.0f);
  return static_cast<int>(bits & 0x007fffffu) - 0x00400000;
}

float largest_by_magnitude(const float* x, size_t n) {
  float largest = 0, magnitude = 0;
  for (size_t i = 0; i < n; ++i) {
    if (std::fabs(x[i]) > magnitude) {
      magnitude = std::fabs(x[i]);
      largest = x[i];
    }
  }
  return largest;
}

void importance_weights(const float* x, const float* importance, float sigma2, float* weights, size_t n) {
  for (size_t i = 0; i < n; ++i) weights[i] = importance[i] * std::sqrt(sigma2 + x[i] * x[i]);
}

float sum_of_squares(const float* x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

float fit_symmetric(size_t n, int n_max, const float* x, int8_t* levels, const float* weights) {
  const float largest = largest_by_magnitude(x, n);
  if (std::fabs(largest) < kTinyGroup) {
    for (size_t i = 0; i < n; ++i) levels[i] = 0;
    return 0;
  }
  float sum_lx = 0, sum_l2 = 0;
  const auto correlate = [&](float inverse_scale, bool keep) {
    sum_lx = sum_l2 = 0;
    for (size_t i = 0; i < n; ++i) {
      const int l = clamp_int(nearest_int(inverse_scale * x[i]), -n_max, n_max - 1);
      if (keep) levels[i] = static_cast<int8_t>(l + n_max);
      const float w = weights != nullptr ? weights[i] : x[i] * x[i];
      sum_lx += w * x[i] * as_float(l);
      sum_l2 += w * as_float(l) * as_float(l);
    }
  };
  correlate(as_float(-n_max) / largest, true);
  float scale = sum_l2 != 0 ? sum_lx / sum_l2 : 0.0f;
  float best = scale * sum_lx;
  for (int step = -9; step <= 9; ++step) {
    if (step == 0) continue;
    const float inverse_scale = -(as_float(n_max) + 0.1f * as_float(step)) / largest;
    correlate(inverse_scale, false);
    if (sum_l2 > 0 && sum_lx * sum_lx > best * sum_l2) {
      for (size_t i = 0; i < n; ++i)
        levels[i] = static_cast<int8_t>(n_max + clamp_int(nearest_int(inverse_scale * x[i]), -n_max, n_max - 1));
      scale = sum_lx / sum_l2;
      best = scale * sum_lx;
    }
  }
  return scale;
}

float fit_symmetric_stepwise(size_t n, int n_max, const float* x, int8_t* levels) {
  const float largest = largest_by_magnitude(x, n);
  if (std::fabs(largest) < kTinyGroup) {
    for (size_t i = 0; i < n; ++i) levels[i] = 0;
    return 0;
  }
  const float inverse_scale = as_float(-n_max) / largest;
  float sum_lx = 0, sum_l2 = 0;
  for (size_t i = 0; i < n; ++i) {
    const int l = clamp_int(nearest_int(inverse_scale * x[i]), -n_max, n_max - 1);
    levels[i] = static_cast<int8_t>(l);
    const float w = x[i] * x[i];
    sum_lx += w * x[i] * as_float(l);
    sum_l2 += w * as_float(l) * as_float(l);
  }
  for (int turn = 0; turn < 5; ++turn) {
    bool changed = false;
    for (size_t i = 0; i < n; ++i) {
      const float w = x[i] * x[i], l = as_float(levels[i]);
      float lx = sum_lx - w * x[i] * l;
      if (!(lx > 0)) continue;
      float l2 = sum_l2 - w * l * l;
      const int moved = clamp_int(nearest_int(x[i] * l2 / lx), -n_max, n_max - 1);
      if (moved == levels[i]) continue;
      lx += w * x[i] * as_float(moved);
      l2 += w * as_float(moved) * as_float(moved);
      if (l2 > 0 && lx * lx * sum_l2 > sum_lx * sum_lx * l2) {
        levels[i] = static_cast<int8_t>(moved);
        sum_lx = lx;
        sum_l2 = l2;
        changed = true;
      }
    }
    if (!changed) break;
  }
  for (size_t i = 0; i < n; ++i) levels[i] = static_cast<int8_t>(levels[i] + n_max);
  return sum_l2 > 0 ? sum_lx / sum_l2 : 0.0f;
}

AffineFit fit_affine(size_t n, int n_max, const float* x, const float* weights, uint8_t* levels,
                     const AffineSearch& search) {
  float min = x[0], max = x[0], sum_w = weights[0], sum_x = sum_w * x[0];
  for (size_t i = 1; i < n; ++i) {
    if (x[i] < min) min = x[i];
    if (x[i] > max) max = x[i];
    sum_w += weights[i];
    sum_x += weights[i] * x[i];
  }
  if (min > 0) min = 0;
  if (max <= min) {
    for (size_t i = 0; i < n; ++i) levels[i] = 0;
    return {0, -min};
  }
  const auto error_of = [&](const uint8_t* candidate, float scale, float offset) {
    float error = 0;
    for (size_t i = 0; i < n; ++i) {
      const float difference = scale * as_float(candidate[i]) + offset - x[i];
      error += weights[i] * (search.absolute ? std::fabs(difference) : difference * difference);
    }
    return error;
  };
  const auto level_of = [&](float inverse_scale, float value) {
    return clamp_int(nearest_int(inverse_scale * (value - min)), 0, n_max);
  };
  const float inverse = as_float(n_max) / (max - min);
  float scale = 1 / inverse;
  for (size_t i = 0; i < n; ++i) levels[i] = static_cast<uint8_t>(level_of(inverse, x[i]));
  float best = error_of(levels, scale, min);
  uint8_t candidate[32];
  for (int step = 0; step <= search.steps; ++step) {
    const float inverse_scale = (search.from + search.step * as_float(step) + as_float(n_max)) / (max - min);
    float sum_l = 0, sum_l2 = 0, sum_xl = 0;
    for (size_t i = 0; i < n; ++i) {
      const int level = level_of(inverse_scale, x[i]);
      candidate[i] = static_cast<uint8_t>(level);
      const float l = as_float(level);
      sum_l += weights[i] * l;
      sum_l2 += weights[i] * l * l;
      sum_xl += weights[i] * l * x[i];
    }
    const float determinant = sum_w * sum_l2 - sum_l * sum_l;
    if (!(determinant > 0)) continue;
    float this_scale = (sum_w * sum_xl - sum_x * sum_l) / determinant;
    float this_min = (sum_l2 * sum_x - sum_l * sum_xl) / determinant;
    if (this_min > 0) {
      this_min = 0;
      this_scale = sum_xl / sum_l2;
    }
    const float error = error_of(candidate, this_scale, this_min);
    if (error < best) {
      for (size_t i = 0; i < n; ++i) levels[i] = candidate[i];
      best = error;
      scale = this_scale;
      min = this_min;
    }
  }
  return {scale, -min};
}

float fit_positive(size_t n, int n_max, const float* x, uint8_t* levels, const float* weights) {
  float max = 0;
  for (size_t i = 0; i < n; ++i) max = max > x[i] ? max : x[i];
  if (max < kTinyGroup) {
    for (size_t i = 0; i < n; ++i) levels[i] = 0;
    return 0;
  }
  float inverse = as_float(n_max) / max;
  float scale = 1 / inverse, best = 0;
  for (size_t i = 0; i < n; ++i) {
    const float difference = x[i] - scale * as_float(static_cast<uint8_t>(nearest_int(inverse * x[i])));
    best += weights[i] * difference * difference;
  }
  for (int step = -4; step <= 4; ++step) {
    if (step == 0) continue;
    const float this_inverse = (0.1f * as_float(step) + as_float(n_max)) / max, this_scale = 1 / this_inverse;
    float error = 0;
    for (size_t i = 0; i < n; ++i) {
      const int l = std::min(n_max, nearest_int(this_inverse * x[i]));
      const float difference = x[i] - this_scale * as_float(l);
      error += weights[i] * difference * difference;
    }
    if (error < best) {
      best = error;
      inverse = this_inverse;
    }
  }
  float sum_lx = 0, sum_l2 = 0;
  for (size_t i = 0; i < n; ++i) {
    const int l = std::min(n_max, nearest_int(inverse * x[i]));
    levels[i] = static_cast<uint8_t>(l);
    sum_lx += weights[i] * x[i] * as_float(l);
    sum_l2 += weights[i] * as_float(l) * as_float(l);
  }
  for (int turn = 0; turn < 5; ++turn) {
    bool changed = false;
    for (size_t i = 0; i < n; ++i) {
      const float w = weights[i], l = as_float(levels[i]);
      float lx = sum_lx - w * x[i] * l, l2 = sum_l2 - w * l * l;
      if (!(lx > 0 && l2 > 0)) continue;
      const int moved = std::min(n_max, nearest_int(x[i] * l2 / lx));
      if (moved == levels[i]) continue;
      lx += w * x[i] * as_float(moved);
      l2 += w * as_float(moved) * as_float(moved);
      if (lx * lx * sum_l2 > sum_lx * sum_lx * l2) {
        levels[i] = static_cast<uint8_t>(moved);
        sum_lx = lx;
        sum_l2 = l2;
        changed = true;
      }
    }
    if (!changed) break;
  }
  return sum_l2 > 0 ? sum_lx / sum_l2 : 0.0f;
}

}  // namespace ggufscope
