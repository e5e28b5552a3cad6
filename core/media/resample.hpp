// Resampling of audio with a windowed sinc filter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace ggufscope {

inline constexpr uint32_t kMinRate = 2000, kMaxRate = 768000;  ///< samples per second; below, no speech is left
/// Error: kInvalidArgument for a rate outside kMinRate .. kMaxRate.
[[nodiscard]] Result<void> check_rate(uint32_t rate);

/// Resamples from from_rate to to_rate and returns ceil(n * to_rate / from_rate) samples; the first sample keeps its
/// time. The filter is a sinc with 32 zero crossings on each side under a Kaiser window (beta 9.6), with its cutoff at
/// 0.945 of the lower Nyquist frequency. It is flat within 0.001 dB up to 0.9 of that frequency, and aliases are below
/// -90 dB. Samples before the begin and after the end count as silence. Errors: those of check_rate;
/// kOutOfMemory.
[[nodiscard]] Result<std::vector<float>> resample(std::span<const float> samples, uint32_t from_rate, uint32_t to_rate);

}  // namespace ggufscope
