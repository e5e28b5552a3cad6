// The machine's limits for all threads of a pool: multiplications and bytes read a second. Kernels are compared with
// them.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

struct Peaks {
  double bytes, words, floats;  ///< multiply-accumulates a second: int8, int16, float32
  double near, far;             ///< bytes read a second: from the L2 cache, from DRAM
};

/// At least this many bytes are read to measure DRAM. Some CPUs' last-level caches hold more.
inline constexpr uint64_t kMinFarBytes = 128 << 20;

/// The best of many short runs of each, since other work only makes a run slower; about a second in all. far_bytes:
/// what one pass reads from DRAM, if there is room for it. kOutOfMemory where there is none for kMinFarBytes.
[[nodiscard]] Result<Peaks> measure_peaks(Pool& pool, uint64_t far_bytes);

}  // namespace ggufscope
