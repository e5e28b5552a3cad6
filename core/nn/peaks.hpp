// The machine's peak rates for all threads of a pool: multiplications and bytes read per second. Kernels are compared
// with them.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

struct Peaks {
  double int8, int16, float32;  ///< multiply-accumulates per second
  double l2, dram;              ///< bytes read per second from the L2 cache, from DRAM
};

/// Minimum size of the memory that is read to measure DRAM. Some CPUs' last-level caches are larger.
inline constexpr uint64_t kMinDramBytes = 128 << 20;

/// Takes the best of many short runs, because other work can only slow down a run; about a second in total. dram_bytes:
/// how much one pass reads from DRAM, if that can be allocated. Error: kOutOfMemory if not even kMinDramBytes can.
[[nodiscard]] Result<Peaks> measure_peaks(Pool& pool, uint64_t dram_bytes);

}  // namespace ggufscope
