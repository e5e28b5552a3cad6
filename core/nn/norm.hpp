// Normalizations of one row, and softmax.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class NormKind : uint8_t { kRms, kLayer };

/// kRms:   y = x / sqrt(mean(x^2) + eps) * weight + bias
/// kLayer: y = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias
/// weight and bias [n] or nullptr (1 and 0). y may be x.
void normalize(NormKind kind, const float* x, const float* weight, const float* bias, size_t n, float eps, float* y);

/// x / sqrt(sum(x^2) + eps), in place.
void l2_normalize(float* x, size_t n, float eps);

/// x = e^(x - max) / sum of e^(x - max), in place. `extra`, if not null, is one more logit that is counted in the sum
/// but not returned (the attention sinks of gpt-oss).
void softmax(float* x, size_t n, const float* extra = nullptr);

}  // namespace ggufscope
