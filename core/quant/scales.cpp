// Reads the scales of blocks.
#include "quant/scales.hpp"

#include <algorithm>
#include <span>

namespace ggufscope {
namespace {

constexpr BlockScales kScales[] = {
#define GGUFSCOPE_SCALES(id, offset, count, kind, minimums) {TypeId::id, offset, count, ScaleKind::kind, minimums},
#include "types/types.inc"
};

constexpr BlockScales kSmallScales[] = {
#define GGUFSCOPE_SMALL_SCALES(id, offset, count, kind, minimums) \
  {TypeId::id, offset, count, ScaleKind::kind, minimums},
#include "types/types.inc"
};

}  // namespace

const BlockScales* find_scales(uint32_t type, bool small) {
  const auto rows = small ? std::span<const BlockScales>(kSmallScales) : std::span<const BlockScales>(kScales);
  const auto row = std::ranges::find(rows, static_cast<TypeId>(type), &BlockScales::type);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace ggufscope
