// What the machine allows, by all threads of a pool: the limits that kernels are measured against.
#pragma once

#include "base/error.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

struct Peaks {
  double bytes, words, floats;  ///< multiplications with an addition a second, of such numbers
  double near, far;             ///< bytes a second: read from the second cache, and from memory
};

/// The best of many short runs of each, as other work only ever takes away: about a second in all. kOutOfMemory where
/// there are no 128 MB for it.
[[nodiscard]] Result<Peaks> measure_peaks(Pool& pool);

}  // namespace ggufscope
