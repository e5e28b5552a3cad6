// Whether computed values are numbers.
#pragma once

#include <span>

namespace ggufscope {

/// True if no value is infinite or NaN.
[[nodiscard]] inline bool all_finite(std::span<const float> values) {
  float sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= values.size(); i += 4)
    for (size_t k = 0; k < 4; ++k) sums[k] += values[i + k] * 0.0f;  // NaN unless the value is finite
  for (; i < values.size(); ++i) sums[0] += values[i] * 0.0f;
  return sums[0] + sums[1] + sums[2] + sums[3] == 0.0f;
}

/// True if no value is NaN.
[[nodiscard]] inline bool none_is_nan(std::span<const float> values) {
  int n = 0;
  for (const float value : values) n += static_cast<int>(value != value);
  return n == 0;
}

}  // namespace ggufscope
