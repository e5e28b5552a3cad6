// Reads the image encoder's keys.
#include "vision/parameters.hpp"

#include <algorithm>

#include "gguf/access.hpp"
#include "vision/projector.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxSide = 8192;  // limit for fixed image sizes, in pixels

void read_colors(Keys& keys, const char* key, std::array<float, 3>& out) {
  const auto values = get_floats(keys.gguf(), key);
  if (!values || values->size() < 3)
    return keys.refuse(ErrorCode::kNotFound, std::string(key) + " is no three numbers");
  std::copy_n(values->begin(), 3, out.begin());
}

void read_activation(Keys& keys, VisionParameters& p) {
  bool gelu = false, silu = false;
  keys.boolean(".clip.use_gelu", gelu);
  keys.boolean(".clip.use_silu", silu);
  if (gelu && silu) keys.refuse(ErrorCode::kInvalidArgument, "clip.use_gelu and clip.use_silu exclude each other");
  p.activation = gelu ? Activation::kGelu : silu ? Activation::kSilu : Activation::kGeluQuick;
}

void read_candidates(Keys& keys, VisionParameters& p) {
  const auto pins = get_integers(keys.gguf(), "clip.vision.image_grid_pinpoints");
  if (!pins) return;
  for (size_t i = 0; i < pins->size(); i += 2) {
    const int64_t width = (*pins)[i], height = i + 1 < pins->size() ? (*pins)[i + 1] : 0;
    if (width < p.image.image_size || height < p.image.image_size || width > kMaxSide || height > kMaxSide)
      return keys.refuse(ErrorCode::kOutOfRange, "clip.vision.image_grid_pinpoints holds a size that is no whole tile");
    p.image.candidates.push_back({static_cast<uint32_t>(width), static_cast<uint32_t>(height)});
  }
}

// Files without layers have these keys too, but their values are not used.
void read_layers(Keys& keys, const ProjectorRow& row, VisionParameters& p) {
  if (row.no_layers) {
    p.n_head = p.n_head_kv = 1;
    for (const char* name : {"attention.head_count", "block_count"})
      if (!keys.has(name)) keys.refuse(ErrorCode::kNotFound, "clip.vision." + std::string(name) + " is missing");
    return;
  }
  keys.required("attention.head_count", p.n_head);
  keys.required("block_count", p.n_layer, 1024);
  p.n_head_kv = p.n_head;
  keys.u32("attention.head_count_kv", p.n_head_kv);
  if (keys.failed()) return;
  p.d_head = p.n_embd / p.n_head;
  if (uint32_t d = 0; keys.u32("attention.head_dim", d, 4096) && d != 0) p.d_head = d;
  if (p.d_head == 0 || p.d_head % 2 != 0 || p.n_head_kv == 0 || p.n_head % p.n_head_kv != 0)
    keys.refuse(ErrorCode::kOutOfRange, "clip.vision.attention.head_count is " + std::to_string(p.n_head) +
                                            ", which does not share out " + std::to_string(p.n_embd));
}

// Sets which layers run and which of their inputs are kept as features.
void read_features(Keys& keys, const ProjectorRow& row, VisionParameters& p) {
  p.n_run = row.penultimate ? p.n_layer - 1 : p.n_layer;
  const auto layers = get_integers(keys.gguf(), "clip.vision.feature_layer");
  if (!layers || !row.penultimate) return;
  for (const int64_t layer : *layers) {
    if (layer < -1 || layer > static_cast<int64_t>(p.n_layer))
      return keys.refuse(ErrorCode::kOutOfRange, "clip.vision.feature_layer holds " + std::to_string(layer) +
                                                     ", and there are " + std::to_string(p.n_layer) + " layers");
    if (layer >= 0) p.features.push_back(static_cast<uint32_t>(layer));
  }
  std::sort(p.features.begin(), p.features.end());
  p.features.erase(std::unique(p.features.begin(), p.features.end()), p.features.end());
  if (!p.features.empty()) p.n_run = p.features.back();
}

void check_parameters(Keys& keys, VisionParameters& p) {
  if (p.merge == 0 || p.merge > 64)
    keys.refuse(ErrorCode::kOutOfRange, "patches cannot be merged " + std::to_string(p.merge) + " to a side");
  if (p.image.fit.max_pixels != 0 && p.image.fit.max_pixels < p.image.fit.min_pixels)
    keys.refuse(ErrorCode::kOutOfRange, "clip.vision.image_max_pixels is less than image_min_pixels");
  if (keys.failed()) return;
  const ImageRule& image = p.image;
  const bool fixed = image.split != ImageSplit::kFitted && image.split != ImageSplit::kRatioGrid;
  if (fixed && image.image_size < image.patch)
    keys.refuse(ErrorCode::kOutOfRange, "clip.vision.image_size is less than a patch");
  for (const float d : p.deviation)
    if (d == 0) keys.refuse(ErrorCode::kOutOfRange, "clip.vision.image_std holds a 0");
}

}  // namespace

Result<VisionParameters> read_vision_parameters(const Gguf& gguf, const ProjectorRow& row) {
  Keys keys(gguf, "clip.vision");
  VisionParameters p;
  p.norm = row.norm;
  p.markers = &row.markers;
  keys.required("embedding_length", p.n_embd);
  read_layers(keys, row, p);
  if (!keys.f32("attention.layer_norm_epsilon", p.eps))
    keys.refuse(ErrorCode::kNotFound, "clip.vision.attention.layer_norm_epsilon is missing");
  keys.u32("image_size", p.image.image_size, kMaxSide);
  keys.required("patch_size", p.image.patch, 1024);
  read_colors(keys, "clip.vision.image_mean", p.mean);
  read_colors(keys, "clip.vision.image_std", p.deviation);
  read_activation(keys, p);
  if (!keys.failed()) read_candidates(keys, p);
  if (!keys.failed()) read_features(keys, row, p);
  if (!keys.failed()) row.read(p, keys);
  check_parameters(keys, p);
  if (keys.failed()) return std::unexpected(keys.error());
  p.image.merge = p.merge;
  p.image.fit.align = p.image.patch * p.merge;
  return p;
}

}  // namespace ggufscope
