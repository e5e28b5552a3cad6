// Pixels before an encoder sees them: sizes, resampling, padding, cutting. All of it in 8 bits, as llama.cpp's libmtmd
// does it, so that the encoder receives the same numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"

namespace ggufscope {

using Color = std::array<uint8_t, 3>;

struct ImageSize {
  uint32_t width = 0, height = 0;
  [[nodiscard]] bool operator==(const ImageSize&) const = default;
  [[nodiscard]] uint64_t n_pixels() const { return uint64_t{width} * height; }
};

/// Borrowed pixels [height, width, 3]: red, green, blue.
struct ImageView {
  ImageSize size;
  const uint8_t* rgb = nullptr;
};

struct Image {
  ImageSize size;
  std::vector<uint8_t> rgb;  // [height, width, 3]
  [[nodiscard]] ImageView view() const { return {size, rgb.data()}; }
};

inline constexpr uint64_t kMaxImagePixels = uint64_t{1} << 26;  ///< of an image that is given
inline constexpr uint32_t kMaxAspectRatio = 200;                ///< of its sides

/// kOutOfRange for an image without pixels, with more than kMaxImagePixels, or longer than kMaxAspectRatio times its
/// width.
[[nodiscard]] Result<void> check_image_size(ImageSize size);

/// Support in pixels: 1, 2, 3. Cubic: Catmull-Rom, a = -1/2.
enum class ResampleFilter : uint8_t { kBilinear, kBicubic, kLanczos };

/// kNone stretches. kCeil keeps the aspect ratio: both sides times one factor, rounded up, in the middle of a colored
/// ground.
enum class ImagePadding : uint8_t { kNone, kCeil };

/// Separable resampling as Pillow's: the filter as wide as the coarser of both grids, weights of 22 fractional bits,
/// the width first. `to` has pixels.
[[nodiscard]] Image resample(const ImageView& from, ImageSize to, ResampleFilter filter);
[[nodiscard]] Image resize(const ImageView& from, ImageSize to, ResampleFilter filter, ImagePadding padding,
                           Color ground);
/// size at (x, y), which lies inside.
[[nodiscard]] Image crop(const ImageView& from, uint32_t x, uint32_t y, ImageSize size);

/// What a size is fitted to; 0: no such bound.
struct SizeRule {
  uint32_t align = 1;         ///< both sides are multiples of it
  uint64_t min_pixels = 0;    ///< below: the image grows
  uint64_t max_pixels = 0;    ///< above: it shrinks
  uint32_t longest_edge = 0;  ///< the longer side grows or shrinks to it before both are aligned upwards
};
/// The size that keeps the aspect ratio as nearly as the rule lets it ("smart resize" of Qwen2-VL).
[[nodiscard]] ImageSize fit_size(ImageSize size, const SizeRule& rule);

}  // namespace ggufscope
