// The machine's limits, by all threads of a pool, which kernels are measured against: multiplications and reads a
// second.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

struct Peaks {
  double bytes, words, floats;  ///< multiply-accumulates a second: int8, int16, float32
  double near, far;             ///< bytes read a second: from the L2 cache, from DRAM
};

/// The fewest bytes that are read as from DRAM. Some CPUs' last-level caches hold more than this.
inline constexpr uint64_t kMinFarBytes = 128 << 20;

/// The best of many short runs of each, since other work only makes a run slower; about a second in all. far_bytes:
/// what one pass reads from DRAM, if there is room for it. kOutOfMemory where there is none for kMinFarBytes.
[[nodiscard]] Result<Peaks> measure_peaks(Pool& pool, uint64_t far_bytes);

}  // namespace ggufscope
