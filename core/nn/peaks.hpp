// What the machine allows, by all threads of a pool: the limits that kernels are measured against.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

struct Peaks {
  double bytes, words, floats;  ///< multiplications with an addition a second, of such numbers
  double near, far;             ///< bytes a second: read from the second cache, and from memory
};

/// Bytes at least that are read as from memory. Some machines' last caches hold more: less of them is read faster.
inline constexpr uint64_t kLeastFar = 128 << 20;

/// The best of many short runs of each, as other work only ever takes away: about a second in all. far_bytes: what one
/// pass reads from memory, if there is room for it. kOutOfMemory where there is none for kLeastFar.
[[nodiscard]] Result<Peaks> measure_peaks(Pool& pool, uint64_t far_bytes);

}  // namespace ggufscope
