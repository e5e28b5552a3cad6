// Image preprocessing before an encoder: sizes, resampling, padding, cropping. All of it works on 8-bit pixels, as
// llama.cpp's libmtmd does, so that the encoder receives the same numbers.
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

/// A view of RGB pixels [height, width, 3].
struct ImageView {
  ImageSize size;
  const uint8_t* rgb = nullptr;
};

struct Image {
  ImageSize size;
  std::vector<uint8_t> rgb;  // [height, width, 3]
  [[nodiscard]] ImageView view() const { return {size, rgb.data()}; }
};

inline constexpr uint64_t kMaxImagePixels = uint64_t{1} << 26;  ///< limit for input images

/// Error: kOutOfRange for an image without pixels or with more than kMaxImagePixels pixels.
[[nodiscard]] Result<void> check_image_size(ImageSize size);

/// The filters' supports are 1, 2 and 3 pixels. Bicubic is Catmull-Rom (a = -1/2).
enum class ResampleFilter : uint8_t { kBilinear, kBicubic, kLanczos };

/// kNone stretches the image. kCeil keeps the aspect ratio: both sides are scaled by one factor and rounded up, and the
/// image is centered on a colored background.
enum class ImagePadding : uint8_t { kNone, kCeil };

/// Separable resampling, like Pillow's: horizontal first, weights with 22 fractional bits; when it shrinks, the filter
/// is widened to the output's pixel distance. `to` must not be empty.
[[nodiscard]] Image resample(const ImageView& from, ImageSize to, ResampleFilter filter);
/// Upper limit of the bytes that resample() and resize() allocate, the result included.
[[nodiscard]] uint64_t resize_bytes(ImageSize from, ImageSize to, ResampleFilter filter);
[[nodiscard]] Image resize(const ImageView& from, ImageSize to, ResampleFilter filter, ImagePadding padding,
                           Color ground);
/// Copies the rectangle of the given size at (x, y), which must lie inside the image.
[[nodiscard]] Image crop(const ImageView& from, uint32_t x, uint32_t y, ImageSize size);

/// Limits that fit_size() applies; 0: no limit.
struct SizeRule {
  uint32_t align = 1;         ///< both sides become multiples of it
  uint64_t min_pixels = 0;    ///< a smaller image is enlarged
  uint64_t max_pixels = 0;    ///< a larger image is shrunk
  uint32_t longest_edge = 0;  ///< the longer side is scaled to this before both sides are rounded up to `align`
  bool in_steps = false;  ///< a larger image is shrunk by 1/50 of its sides at a time; a smaller one is not enlarged
};
/// The size within the limits that keeps the aspect ratio as closely as possible ("smart resize" of Qwen2-VL).
[[nodiscard]] ImageSize fit_size(ImageSize size, const SizeRule& rule);

}  // namespace ggufscope
