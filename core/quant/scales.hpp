// Where a type's blocks store their scales: d, and m or dmin if present, but not the small integer scales.
#pragma once

#include <cstddef>
#include <cstdint>

#include "types/types.hpp"

namespace ggufscope {

enum class ScaleKind : uint8_t {
  kF16,
  kF32,
  kE8m0,
  kUe4m3,
  kIq1m,  ///< an F16 that is split into the top four bits of four uint16
};

struct BlockScales {
  TypeId type;
  uint16_t offset;
  uint16_t count;  ///< number of consecutive scales
  ScaleKind kind;
  uint16_t minimums = 0;  ///< number of minimums after the scales, of the same kind
};

/// nullptr for a type whose blocks have no scale. small: super-blocks of 64 elements.
[[nodiscard]] const BlockScales* find_scales(uint32_t type, bool small = false);

}  // namespace ggufscope
