// Resizes, pads and crops images.
#include "media/image.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/sentence.hpp"

namespace ggufscope {
namespace {

constexpr int kWeightBits = 32 - 8 - 2;  // with these weights, a sum of products with 8-bit pixels fits an int32

double support_of(ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::kBilinear:
      return 1;
    case ResampleFilter::kBicubic:
      return 2;
    default:
      return 3;
  }
}

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double weight_at(ResampleFilter filter, double x) {
  if (filter == ResampleFilter::kLanczos) return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  x = std::fabs(x);
  if (filter == ResampleFilter::kBilinear) return x < 1 ? 1 - x : 0;
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// Weights for one axis: output i is the weighted sum of inputs first[i] to first[i] + count[i] (exclusive).
struct AxisWeights {
  size_t width = 0;  // length of a row of weights
  std::vector<uint32_t> first, count;
  std::vector<int32_t> weights;  // [n_out, width]
};

// How many weights each output has, at most.
uint64_t weights_width(uint32_t n_in, uint32_t n_out, ResampleFilter filter) {
  const double scale = static_cast<double>(n_in) / n_out;
  return static_cast<uint64_t>(std::ceil(support_of(filter) * std::max(scale, 1.0))) * 2 + 1;
}

AxisWeights axis_weights(uint32_t n_in, uint32_t n_out, ResampleFilter filter) {
  const double scale = static_cast<double>(n_in) / n_out, widened = std::max(scale, 1.0);
  const double support = support_of(filter) * widened, step = 1 / widened;
  AxisWeights axis;
  axis.width = static_cast<size_t>(weights_width(n_in, n_out, filter));
  axis.first.resize(n_out);
  axis.count.resize(n_out);
  axis.weights.resize(n_out * axis.width);
  std::vector<double> row(axis.width);
  for (uint32_t i = 0; i < n_out; ++i) {
    const double center = (i + 0.5) * scale;
    const auto first = static_cast<uint32_t>(std::max(0.0, std::trunc(center - support + 0.5)));
    const auto last = static_cast<uint32_t>(std::min(std::trunc(center + support + 0.5), static_cast<double>(n_in)));
    double sum = 0;
    for (uint32_t k = 0; k < last - first; ++k) sum += row[k] = weight_at(filter, (k + first - center + 0.5) * step);
    for (uint32_t k = 0; k < last - first; ++k) {
      const double fixed = (sum != 0 ? row[k] / sum : row[k]) * (1 << kWeightBits);
      axis.weights[i * axis.width + k] = static_cast<int32_t>(fixed + (fixed < 0 ? -0.5 : 0.5));
    }
    axis.first[i] = first;
    axis.count[i] = last - first;
  }
  return axis;
}

uint8_t clip8(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

// Computes output i of one line, [n_out, 3], from pixels that are `stride` bytes apart.
void resample_line(const uint8_t* from, size_t stride, const AxisWeights& axis, uint32_t i, uint8_t* to) {
  const int32_t* weights = axis.weights.data() + i * axis.width;
  int32_t sums[3] = {1 << (kWeightBits - 1), 1 << (kWeightBits - 1), 1 << (kWeightBits - 1)};
  const uint8_t* p = from + axis.first[i] * stride;
  for (uint32_t k = 0; k < axis.count[i]; ++k, p += stride)
    for (size_t c = 0; c < 3; ++c) sums[c] += p[c] * weights[k];
  for (size_t c = 0; c < 3; ++c) to[c] = clip8(sums[c]);
}

Image blank(ImageSize size, Color color) {
  Image image{size, std::vector<uint8_t>(static_cast<size_t>(size.n_pixels()) * 3)};
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = color[i % 3];
  return image;
}

// Converts a float to an integer as libmtmd does.
uint32_t to_count(double x) { return static_cast<uint32_t>(std::clamp(x, 0.0, 4e9)); }

}  // namespace

Result<void> check_image_size(ImageSize size) {
  const auto name = [&] { return "an image of " + std::to_string(size.width) + " x " + std::to_string(size.height); };
  if (size.n_pixels() == 0) return fail(ErrorCode::kOutOfRange, name() + " pixels has none");
  if (size.n_pixels() > kMaxImagePixels)
    return fail(ErrorCode::kOutOfRange,
                name() + " pixels has more than the " + std::to_string(kMaxImagePixels) + " that are taken");
  return {};
}

uint64_t resize_bytes(ImageSize from, ImageSize to, ResampleFilter filter) {
  const auto axis = [&](uint32_t n_in, uint32_t n_out) {
    return (weights_width(n_in, n_out, filter) + 2) * n_out * sizeof(int32_t) +
           weights_width(n_in, n_out, filter) * sizeof(double);
  };
  // The pixels after one axis, after both, and on the background.
  return axis(from.width, to.width) + axis(from.height, to.height) + 3 * uint64_t{to.width} * from.height +
         2 * 3 * to.n_pixels();
}

Image resample(const ImageView& from, ImageSize to, ResampleFilter filter) {
  ImageView now = from;
  Image wide, out;
  if (to.width != from.size.width) {
    const AxisWeights axis = axis_weights(from.size.width, to.width, filter);
    wide = blank({to.width, from.size.height}, {});
    for (size_t y = 0; y < from.size.height; ++y)
      for (uint32_t x = 0; x < to.width; ++x)
        resample_line(from.rgb + y * from.size.width * 3, 3, axis, x, wide.rgb.data() + (y * to.width + x) * 3);
    now = wide.view();
  }
  if (to.height == now.size.height) {
    if (now.rgb == wide.rgb.data()) return wide;
    return {from.size, std::vector<uint8_t>(from.rgb, from.rgb + from.size.n_pixels() * 3)};
  }
  const AxisWeights axis = axis_weights(now.size.height, to.height, filter);
  out = blank(to, {});
  for (uint32_t y = 0; y < to.height; ++y)
    for (size_t x = 0; x < to.width; ++x)
      resample_line(now.rgb + x * 3, size_t{to.width} * 3, axis, y, out.rgb.data() + (y * size_t{to.width} + x) * 3);
  return out;
}

Image resize(const ImageView& from, ImageSize to, ResampleFilter filter, ImagePadding padding, Color ground) {
  if (padding == ImagePadding::kNone || from.size == to) return resample(from, to, filter);
  const auto width = static_cast<float>(from.size.width), height = static_cast<float>(from.size.height);
  const float scale = std::min(static_cast<float>(to.width) / width, static_cast<float>(to.height) / height);
  const ImageSize inner{std::min(to_count(std::ceil(width * scale)), to.width),
                        std::min(to_count(std::ceil(height * scale)), to.height)};
  const Image scaled = resample(from, inner, filter);
  Image out = blank(to, ground);
  const size_t left = (to.width - inner.width) / 2, top = (to.height - inner.height) / 2;
  for (size_t y = 0; y < inner.height; ++y)
    std::memcpy(out.rgb.data() + ((y + top) * to.width + left) * 3, scaled.rgb.data() + y * inner.width * 3,
                size_t{inner.width} * 3);
  return out;
}

Image crop(const ImageView& from, uint32_t x, uint32_t y, ImageSize size) {
  Image out = blank(size, {});
  for (size_t row = 0; row < size.height; ++row)
    std::memcpy(out.rgb.data() + row * size.width * 3, from.rgb + ((y + row) * from.size.width + x) * 3,
                size_t{size.width} * 3);
  return out;
}

ImageSize fit_size(ImageSize size, const SizeRule& rule) {
  const auto align = static_cast<float>(rule.align);
  const auto up = [&](float x) { return to_count(std::ceil(x / align)) * rule.align; };
  const auto down = [&](float x) { return std::max(to_count(std::floor(x / align)) * rule.align, rule.align); };
  const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
  ImageSize out;
  if (rule.in_steps) {
    for (float scale = 1.0f; scale > 0.0f; scale -= 0.02f) {
      out = {std::max(up(width * scale), rule.align), std::max(up(height * scale), rule.align)};
      if (out.n_pixels() <= rule.max_pixels) break;
    }
    return out;
  }
  if (rule.longest_edge != 0) {
    const auto edge = static_cast<float>(rule.longest_edge);
    const float scale = std::min(edge / width, edge / height);
    out = {up(width * scale), up(height * scale)};
  } else {
    out = {std::max(to_count(std::round(width / align)) * rule.align, rule.align),
           std::max(to_count(std::round(height / align)) * rule.align, rule.align)};
  }
  if (rule.max_pixels != 0 && out.n_pixels() > rule.max_pixels) {
    const float shrink = std::sqrt(height * width / static_cast<float>(rule.max_pixels));
    out = {down(width / shrink), down(height / shrink)};
  } else if (rule.min_pixels != 0 && out.n_pixels() < rule.min_pixels) {
    const float grow = std::sqrt(static_cast<float>(rule.min_pixels) / (height * width));
    out = {up(width * grow), up(height * grow)};
  }
  return out;
}

}  // namespace ggufscope
