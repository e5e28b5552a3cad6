// Chooses the grid of tiles of an image.
#include "media/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ggufscope {
namespace {

Image resize(const ImageView& image, ImageSize to, const Resizing& how) {
  return ggufscope::resize(image, to, how.filter, how.padding, how.ground);
}

// An image that is encoded as one part, apart from the overviews of tiles.
bool splits_apart(const ImageRule& rule) {
  return rule.split == ImageSplit::kSquare || rule.split == ImageSplit::kFitted;
}

ImageLayout uncut(ImageSize size) { return {.overview = size}; }

// The candidate that keeps most of the image's pixels. Among equals, the one with the least padding.
ImageSize best_candidate(ImageSize image, const std::vector<ImageSize>& candidates) {
  ImageSize best{};
  uint64_t max = 0, min_waste = std::numeric_limits<uint64_t>::max();
  for (const ImageSize& candidate : candidates) {
    const float scale = std::min(static_cast<float>(candidate.width) / static_cast<float>(image.width),
                                 static_cast<float>(candidate.height) / static_cast<float>(image.height));
    const ImageSize scaled{static_cast<uint32_t>(static_cast<float>(image.width) * scale),
                           static_cast<uint32_t>(static_cast<float>(image.height) * scale)};
    const uint64_t kept = std::min(scaled.n_pixels(), image.n_pixels());
    const uint64_t waste = candidate.n_pixels() - std::min(kept, candidate.n_pixels());
    if (kept < max || (kept == max && waste >= min_waste)) continue;
    max = kept;
    min_waste = waste;
    best = candidate;
  }
  return best;
}

ImageLayout cut_to_candidates(ImageSize image, const ImageRule& rule) {
  const ImageSize side{rule.image_size, rule.image_size};
  if (image.width <= rule.image_size && image.height <= rule.image_size) return uncut(side);
  const ImageSize refined = best_candidate(image, rule.candidates);
  return {.overview = side,
          .tile = side,
          .columns = refined.width / rule.image_size,
          .rows = refined.height / rule.image_size,
          .refined = refined};
}

ImageLayout cut_into(uint32_t columns, uint32_t rows, uint32_t side, ImageSize before) {
  return {.overview = {side, side},
          .tile = {side, side},
          .columns = columns,
          .rows = rows,
          .refined = {columns * side, rows * side},
          .before = before};
}

// Two steps: scale the longer side to longest_edge with the other side even, then stretch to whole tiles. Without a
// longest edge each side takes the nearest number of tiles.
ImageLayout cut_at_longest_edge(ImageSize image, const ImageRule& rule) {
  const uint32_t edge = rule.fit.longest_edge, side = rule.image_size;
  const auto nearest = [&](uint32_t length) {
    return static_cast<uint32_t>(std::max<uint64_t>((uint64_t{2} * length + side) / (uint64_t{2} * side), 1));
  };
  if (edge == 0) return cut_into(nearest(image.width), nearest(image.height), side, {});
  const auto scaled = [&](uint32_t x, uint32_t longer) {
    const auto shorter = static_cast<uint32_t>(static_cast<double>(edge) * x / longer);
    return std::max(shorter + shorter % 2, 1u);
  };
  const bool wide = image.width >= image.height;
  const ImageSize before{wide ? edge : scaled(image.width, image.height),
                         wide ? scaled(image.height, image.width) : edge};
  const auto n_tiles = [&](uint32_t length) { return static_cast<uint32_t>((uint64_t{length} + side - 1) / side); };
  return cut_into(n_tiles(before.width), n_tiles(before.height), side, before);
}

// LFM2: the grid of 2 to 10 tiles with the nearest aspect ratio. Of two equally near, the larger one if the image fills
// at least half of it.
ImageSize ratio_grid(ImageSize image) {
  constexpr uint32_t kMinTiles = 2, kMaxTiles = 10;
  const float ratio = static_cast<float>(image.width) / static_cast<float>(image.height);
  const auto area = static_cast<float>(image.n_pixels());
  ImageSize best{1, 1};
  float min = std::numeric_limits<float>::max();
  for (uint32_t n = kMinTiles; n <= kMaxTiles; ++n)
    for (uint32_t columns = 1; columns <= n; ++columns) {
      if (n % columns != 0) continue;
      const ImageSize grid{columns, n / columns};
      const float off = std::fabs(ratio - static_cast<float>(grid.width) / static_cast<float>(grid.height));
      if (off < min || (off == min && area > 0.5f * static_cast<float>(kRatioTile * kRatioTile * n)))
        best = grid, min = off;
    }
  return best;
}

// Of the grids of up to max_tiles tiles, the one that enlarges the image least, or else the one that shrinks it least.
// Among equals, the one with the fewest tiles, then the one with the fewest rows.
ImageLayout cut_to_canvas(ImageSize image, const ImageRule& rule) {
  const ImageSize side{rule.image_size, rule.image_size};
  ImageSize grid{1, 1};
  double best = 0;
  for (uint32_t n = 1; n <= rule.max_tiles; ++n)
    for (uint32_t rows = 1; rows <= n; ++rows) {
      if (n % rows != 0) continue;
      const uint32_t columns = n / rows;
      const double scale = std::min(static_cast<double>(rows) * rule.image_size / image.height,
                                    static_cast<double>(columns) * rule.image_size / image.width);
      const bool better = best < 1 ? scale > best : scale >= 1 && scale < best;
      if (better) best = scale, grid = {columns, rows};
    }
  if (grid == ImageSize{1, 1}) return uncut(side);
  return {.overview = side,
          .tile = side,
          .columns = grid.width,
          .rows = grid.height,
          .refined = {grid.width * rule.image_size, grid.height * rule.image_size}};
}

ImageLayout cut_by_ratio(ImageSize image, const ImageRule& rule) {
  const uint32_t align = rule.patch * rule.merge;
  // Rounds halves to even, as Python does.
  const auto aligned = [&](uint32_t x) {
    return std::max(rule.patch, static_cast<uint32_t>(std::nearbyint(static_cast<double>(x) / align)) * align);
  };
  const ImageSize rounded{aligned(image.width), aligned(image.height)};
  const ImageSize overview = fit_size(image, rule.fit);
  if (rounded.n_pixels() <= 2 * rule.fit.max_pixels) return uncut(overview);
  const ImageSize grid = ratio_grid(image);
  return {.overview = overview,
          .tile = {kRatioTile, kRatioTile},
          .columns = grid.width,
          .rows = grid.height,
          .refined = {grid.width * kRatioTile, grid.height * kRatioTile}};
}

// The sides of slices are whole units of `unit` pixels.
uint32_t whole_units(uint32_t length, uint32_t unit, bool halves_to_even) {
  const double n = static_cast<double>(length) / unit;
  return std::max(static_cast<uint32_t>(halves_to_even ? std::nearbyint(n) : std::round(n)) * unit, unit);
}

// The size with about side * side pixels and this aspect ratio. Smaller images keep theirs, unless they are enlarged.
ImageSize slice_size(ImageSize image, uint32_t side, uint32_t unit, bool of_4, bool enlarge) {
  if (enlarge || image.n_pixels() > uint64_t{side} * side) {
    const float ratio = static_cast<float>(image.width) / static_cast<float>(image.height);
    image.height = static_cast<uint32_t>(static_cast<float>(side) / std::sqrt(ratio));
    image.width = static_cast<uint32_t>(static_cast<float>(image.height) * ratio);
  }
  return {whole_units(image.width, unit, of_4), whole_units(image.height, unit, of_4)};
}

// The grid of n - 1, n or n + 1 slices whose aspect ratio is nearest to the image's.
ImageSize slice_grid(ImageSize image, uint32_t n, uint32_t max) {
  const auto ratio = static_cast<float>(
      std::log(static_cast<double>(static_cast<float>(image.width) / static_cast<float>(image.height))));
  ImageSize best{1, 1};
  float min = std::numeric_limits<float>::infinity();
  for (uint32_t count = n - 1; count <= std::min(n + 1, max); ++count)
    for (uint32_t columns = 1; count != 1 && columns <= count; ++columns) {
      if (count % columns != 0) continue;
      const ImageSize grid{columns, count / columns};
      const auto off = static_cast<float>(std::fabs(ratio - std::log(static_cast<double>(grid.width) / grid.height)));
      if (off < min) best = grid, min = off;
    }
  return best;
}

ImageLayout cut_to_slices(ImageSize image, const ImageRule& rule) {
  const bool of_4 = rule.split == ImageSplit::kSlicesOf4;
  const uint32_t side = rule.image_size, unit = of_4 ? 4 * rule.patch : rule.patch;
  const float n =
      static_cast<float>(image.width) * static_cast<float>(image.height) / static_cast<float>(uint64_t{side} * side);
  if (of_4 && n <= 1) return uncut(slice_size(image, side, unit, of_4, true));
  if (image.width <= side && image.height <= side) return uncut({side, side});
  const auto count = static_cast<uint32_t>(std::min(std::ceil(n), static_cast<float>(rule.max_slices)));
  const ImageSize grid = slice_grid(image, count, rule.max_slices);
  const ImageSize share{whole_units(image.width, grid.width, of_4) / grid.width,
                        whole_units(image.height, grid.height, of_4) / grid.height};
  const ImageSize tile = slice_size(share, side, unit, of_4, true);
  return {.overview = slice_size(image, side, unit, of_4, false),
          .tile = tile,
          .columns = grid.width,
          .rows = grid.height,
          .refined = {grid.width * tile.width, grid.height * tile.height}};
}

ImageLayout cut_of(ImageSize image, const ImageRule& rule) {
  switch (rule.split) {
    case ImageSplit::kFitted:
      return uncut(fit_size(image, rule.fit));
    case ImageSplit::kCandidates:
      return cut_to_candidates(image, rule);
    case ImageSplit::kLongestEdge:
      return cut_at_longest_edge(image, rule);
    case ImageSplit::kCanvas:
      return cut_to_canvas(image, rule);
    case ImageSplit::kRatioGrid:
      return cut_by_ratio(image, rule);
    case ImageSplit::kSlices:
    case ImageSplit::kSlicesOf4:
      return cut_to_slices(image, rule);
    default:
      return uncut({rule.image_size, rule.image_size});
  }
}

// Memory of the steps of split_image. Nothing is freed in between.
uint64_t split_bytes(ImageSize image, const ImageRule& rule, const ImageLayout& layout) {
  const Resizing& only = splits_apart(rule) ? rule.whole : rule.overview;
  if (!layout.cuts) return resize_bytes(image, layout.overview, only.filter);
  const bool twice = layout.before.n_pixels() != 0;
  const ImageSize source = twice ? layout.before : image;
  return (twice ? resize_bytes(image, layout.before, rule.tiled.filter) : 0) +
         resize_bytes(source, layout.refined, rule.tiled.filter) + 3 * layout.n_tiles() * layout.tile.n_pixels() +
         layout.n_tiles() * sizeof(Image) +
         resize_bytes(twice ? layout.refined : image, layout.overview, rule.overview.filter);
}

}  // namespace

Result<ImageLayout> image_layout(ImageSize image, const ImageRule& rule) {
  if (const Result<void> good = check_image_size(image); !good) return std::unexpected(good.error());
  ImageLayout layout = cut_of(image, rule);
  const uint32_t side = rule.patch;
  layout.cuts = layout.tile.n_pixels() != 0;
  if (layout.overview.width < side || layout.overview.height < side ||
      (layout.cuts && (layout.tile.width < side || layout.tile.height < side)))
    return fail(ErrorCode::kUnsupported,
                "the projector's keys resize this image to less than one patch of " + std::to_string(side) + " pixels");
  for (const ImageSize size : {layout.overview, layout.refined, layout.before})
    if (size.n_pixels() > kMaxImagePixels)
      return fail(ErrorCode::kOutOfRange, "the projector's keys resize this image to more pixels than are supported");
  layout.n_bytes = split_bytes(image, rule, layout);
  return layout;
}

Result<ImageParts> split_image(const ImageView& image, const ImageRule& rule) {
  const Result<ImageLayout> layout = image_layout(image.size, rule);
  if (!layout) return std::unexpected(layout.error());
  ImageParts parts;
  if (!layout->cuts) {
    parts.overview = resize(image, layout->overview, splits_apart(rule) ? rule.whole : rule.overview);
    return parts;
  }
  Image before;
  if (layout->before.n_pixels() != 0) before = resize(image, layout->before, rule.tiled);
  const ImageView source = before.rgb.empty() ? image : before.view();
  const Image refined = resize(source, layout->refined, rule.tiled);
  parts.columns = layout->columns;
  parts.rows = layout->rows;
  const ImageSize tile = layout->tile;
  for (uint32_t y = 0; y < parts.rows; ++y)
    for (uint32_t x = 0; x < parts.columns; ++x)
      parts.tiles.push_back(crop(refined.view(), x * tile.width, y * tile.height, tile));
  parts.overview = resize(before.rgb.empty() ? image : refined.view(), layout->overview, rule.overview);
  return parts;
}

}  // namespace ggufscope
