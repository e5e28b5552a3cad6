// From an image to the images that an encoder reads: one of a fixed or a fitted size, or tiles and an overview of them.
// The rules are those of libmtmd's preprocessors (tools/mtmd/mtmd-image.cpp), which follow the models' own.
#pragma once

#include <optional>
#include <vector>

#include "media/image.hpp"

namespace ggufscope {

enum class ImageSplit : uint8_t {
  kSquare,       ///< image_size on both sides
  kFitted,       ///< fit_size: one image whose sides are multiples of patches
  kFittedSteps,  ///< the largest of scales 1, 0.98, 0.96... whose patches are not too many (Youtu-VL)
  kCandidates,   ///< tiles of image_size out of the best of several sizes (LLaVA 1.6, InternVL, Llama 4)
  kGrid,         ///< up to 9 tiles in the grid that is nearest to the aspect ratio (LLaVA-UHD, MiniCPM-V)
  kLongestEdge,  ///< tiles of image_size, and their overview, out of the image at its longest edge (Idefics 3)
  kRatioGrid,    ///< tiles of kRatioTile where the image is large, in the grid nearest to the aspect ratio (LFM2)
};

struct Resizing {
  ResampleFilter filter = ResampleFilter::kBicubic;
  ImagePadding padding = ImagePadding::kCeil;
  Color ground{};
};

struct ImageRule {
  ImageSplit split = ImageSplit::kSquare;
  uint32_t image_size = 0;
  uint32_t patch = 1;  ///< pixels of a patch's side
  uint32_t merge = 1;  ///< patches of a token's side
  SizeRule fit;        ///< its align is patch * merge
  std::vector<ImageSize> candidates;
  Resizing whole;     ///< of an image that is not cut
  Resizing tiled;     ///< of one that is
  Resizing overview;  ///< of the overview beside tiles
};

/// What is encoded of one image. At least one of both has something.
struct ImageParts {
  std::vector<Image> tiles;  ///< row by row
  uint32_t columns = 0, rows = 0;
  std::optional<Image> overview;
  [[nodiscard]] size_t size() const { return tiles.size() + (overview ? 1 : 0); }
};

inline constexpr uint32_t kRatioTile = 512;

/// Errors of check_image_size; kUnsupported where the rule gives an image without a patch.
[[nodiscard]] Result<ImageParts> split_image(const ImageView& image, const ImageRule& rule);

}  // namespace ggufscope
