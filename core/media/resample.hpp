// Changing the sampling rate of a sound by a windowed sinc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace ggufscope {

/// samples at from_rate -> ceil(n * to_rate / from_rate) samples at to_rate, the first at the same time. Each is a sum
/// of samples around it, weighted by a sinc with 32 zeros on either side under a Kaiser window (beta 9.6), cut off at
/// 0.945 of the lower rate's half. Flat within 0.001 dB to 0.9 of it; what would alias is below -90 dB. Beyond both
/// ends there is silence. kInvalidArgument for rates outside 1 .. 768000 Hz; kOutOfMemory.
[[nodiscard]] Result<std::vector<float>> resample(std::span<const float> samples, uint32_t from_rate, uint32_t to_rate);

}  // namespace ggufscope
