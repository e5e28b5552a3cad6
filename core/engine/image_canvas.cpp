// The order of an image's parts and separators, and where their tokens are on the canvas.
#include "engine/image_canvas.hpp"

namespace ggufscope {
namespace {

// Token i of n, spread over n_canvas places from the first to the last. Halves go to the even neighbour.
int32_t spread(uint32_t i, uint32_t n, uint32_t n_canvas) {
  if (n < 2) return 0;
  const uint64_t at = uint64_t{i} * (n_canvas - 1), step = n - 1, below = at / step, twice = 2 * (at % step);
  return static_cast<int32_t>(below + (twice > step || (twice == step && below % 2 == 1) ? 1 : 0));
}

}  // namespace

std::vector<CanvasItem> canvas_items(const ImageLayout& layout) {
  enum : uint32_t { kImageEnd, kSliceBegin, kSliceEnd, kRowEnd };
  const auto n_tiles = static_cast<int32_t>(layout.n_tiles());
  std::vector<CanvasItem> items = {{n_tiles, 0}, {-1, kImageEnd}};
  for (int32_t tile = 0; tile < n_tiles; ++tile) {
    if (tile != 0 && tile % static_cast<int32_t>(layout.columns) == 0) items.push_back({-1, kRowEnd});
    items.push_back({-1, kSliceBegin});
    items.push_back({tile, 0});
    items.push_back({-1, kSliceEnd});
  }
  return items;
}

std::vector<CanvasPlace> canvas_places(const std::vector<CanvasItem>& items, const ImageLayout& layout,
                                       TokenGrid overview, TokenGrid tile) {
  const auto n_tiles = static_cast<int32_t>(layout.n_tiles());
  const uint32_t columns = n_tiles == 0 ? overview.columns : layout.columns * tile.columns;
  const uint32_t rows = n_tiles == 0 ? overview.rows : layout.rows * tile.rows;
  std::vector<CanvasPlace> places;
  for (int32_t step = 0; step < static_cast<int32_t>(items.size()); ++step) {
    const int32_t part = items[static_cast<size_t>(step)].part;
    if (part < 0) {
      places.push_back({step});
      continue;
    }
    const TokenGrid grid = part == n_tiles ? overview : tile;
    for (uint32_t row = 0; row < grid.rows; ++row)
      for (uint32_t column = 0; column < grid.columns; ++column) {
        if (part == n_tiles) {
          places.push_back({step, spread(row, grid.rows, rows), spread(column, grid.columns, columns)});
          continue;
        }
        const auto number = static_cast<uint32_t>(part);
        places.push_back({step, static_cast<int32_t>(number / layout.columns * tile.rows + row),
                          static_cast<int32_t>(number % layout.columns * tile.columns + column)});
      }
  }
  return places;
}

}  // namespace ggufscope
