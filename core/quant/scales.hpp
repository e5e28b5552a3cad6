// Where the blocks of a type keep their scales: d, and m or dmin beside it, not the small integers below them.
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
  kIq1m,  ///< an F16, four bits of it on top of each of four uint16
};

struct BlockScales {
  TypeId type;
  uint16_t offset;
  uint16_t count;  ///< scales, one behind the other
  ScaleKind kind;
  uint16_t minimums = 0;  ///< behind the scales, of the same kind
};

/// nullptr for a type whose blocks have no scale. small: super-blocks of 64 elements.
[[nodiscard]] const BlockScales* find_scales(uint32_t type, bool small = false);

}  // namespace ggufscope
