// Images whose parts and separators are one run of tokens, placed on one grid (MiniCPM-V 4.7).
#pragma once

#include <cstdint>
#include <vector>

#include "media/tiles.hpp"
#include "vision/vision_model.hpp"

namespace ggufscope {

/// The place of a token on an image's canvas: the grid of all its tiles, over which the overview's tokens are spread.
struct CanvasPlace {
  int32_t step = 0;              ///< number of the part or separator among all: its time
  int32_t row = -1, column = 0;  ///< row -1: a separator, which is not on the canvas
};

/// A part of an image, or a separator: a row of v.tok_embd_sep.
struct CanvasItem {
  int32_t part = -1;  ///< -1: a separator; otherwise a tile (row by row), then the overview
  uint32_t separator = 0;
};

/// The rows of v.tok_embd_sep: </image>, <slice>, </slice> and a line break.
inline constexpr uint32_t kSeparators = 4;

/// The overview, then all tiles row by row, with the separators after and around them.
[[nodiscard]] std::vector<CanvasItem> canvas_items(const ImageLayout& layout);

/// The place of each token of all items.
[[nodiscard]] std::vector<CanvasPlace> canvas_places(const std::vector<CanvasItem>& items, const ImageLayout& layout,
                                                     TokenGrid overview, TokenGrid tile);

}  // namespace ggufscope
