// Splits an image into the images that an encoder reads: one of a fixed or fitted size, or tiles with an overview. The
// rules are those of libmtmd's preprocessors (tools/mtmd/mtmd-image.cpp), which follow the models' own code.
#pragma once

#include <optional>
#include <vector>

#include "media/image.hpp"

namespace ggufscope {

enum class ImageSplit : uint8_t {
  kSquare,       ///< one image with sides of image_size
  kFitted,       ///< one image whose size fit_size() chooses, in multiples of patches
  kCandidates,   ///< tiles of image_size, after resizing to the best of several sizes (LLaVA 1.6, InternVL)
  kLongestEdge,  ///< tiles of image_size with an overview, after scaling the longer side to any longest_edge (Idefics
                 ///< 3)
  kCanvas,       ///< tiles of image_size in the smallest grid that does not shrink the image (Command A Vision)
  kRatioGrid,    ///< large images: tiles of kRatioTile in the grid with the nearest aspect ratio (LFM2)
  kSlices,       ///< large images: up to max_slices tiles that keep the aspect ratio (LLaVA-UHD, MiniCPM-V)
  kSlicesOf4,    ///< the same with sides of whole groups of 4 patches; small images keep theirs too (MiniCPM-V 4.6)
};

struct Resizing {
  ResampleFilter filter = ResampleFilter::kBicubic;
  ImagePadding padding = ImagePadding::kCeil;
  Color ground{};
};

struct ImageRule {
  ImageSplit split = ImageSplit::kSquare;
  uint32_t image_size = 0;
  uint32_t patch = 1;  ///< side of a patch, in pixels
  uint32_t merge = 1;  ///< side of a token, in patches
  SizeRule fit;        ///< fit.align is patch * merge
  std::vector<ImageSize> candidates;
  uint32_t max_slices = 9;  ///< of kSlices
  uint32_t max_tiles = 1;   ///< of kCanvas
  Resizing whole;           ///< for an image that is not cut
  Resizing tiled;           ///< for an image that is cut into tiles
  Resizing overview;        ///< for the overview that accompanies the tiles
};

/// The sizes of an image's parts, known before any pixel is computed.
struct ImageLayout {
  ImageSize overview{};            ///< or the only part
  ImageSize tile{};                ///< of tiles
  uint32_t columns = 0, rows = 0;  ///< of tiles; 0: the image is not cut
  ImageSize refined{};             ///< the image that is cut into tiles
  ImageSize before{};              ///< size to resize the image to first; 0 x 0: none
  bool cuts = false;
  uint64_t n_bytes = 0;  ///< upper limit of the memory that split_image takes, parts included
  [[nodiscard]] uint64_t n_tiles() const { return cuts ? uint64_t{columns} * rows : 0; }
};

/// Errors: those of check_image_size; kUnsupported if the rule gives an image without a patch; kOutOfRange if it gives
/// an image with more than kMaxImagePixels.
[[nodiscard]] Result<ImageLayout> image_layout(ImageSize image, const ImageRule& rule);

/// The parts of one image to encode: tiles, an overview, or both.
struct ImageParts {
  std::vector<Image> tiles;  ///< row by row
  uint32_t columns = 0, rows = 0;
  std::optional<Image> overview;
  [[nodiscard]] size_t size() const { return tiles.size() + (overview ? 1 : 0); }
};

inline constexpr uint32_t kRatioTile = 512;

/// Splits an image by the rule. Errors: those of image_layout.
[[nodiscard]] Result<ImageParts> split_image(const ImageView& image, const ImageRule& rule);

}  // namespace ggufscope
