// What several projectors share.
#include "vision/projectors/rows.hpp"

namespace ggufscope {

void limit_tokens(VisionParameters& p, uint64_t min, uint64_t max) {
  const uint64_t area = uint64_t{p.image.patch} * p.image.patch * p.merge * p.merge;
  p.image.fit.min_pixels = min * area;
  p.image.fit.max_pixels = max * area;
}

void read_pixel_bounds(VisionParameters& p, Keys& keys) {
  uint32_t min = 0, max = 0;
  if (keys.u32("image_min_pixels", min, INT32_MAX) && min != 0) p.image.fit.min_pixels = min;
  if (keys.u32("image_max_pixels", max, INT32_MAX) && max != 0) p.image.fit.max_pixels = max;
}

void require_pixel_bounds(VisionParameters& p, Keys& keys) {
  uint32_t min = 0, max = 0;
  keys.required("image_min_pixels", min, INT32_MAX);
  keys.required("image_max_pixels", max, INT32_MAX);
  p.image.fit.min_pixels = min;
  p.image.fit.max_pixels = max;
}

void fit_image(VisionParameters& p, ResampleFilter filter) {
  p.image.split = ImageSplit::kFitted;
  p.image.whole = {filter, ImagePadding::kCeil, {}};
}

void require_whole_tokens(const VisionParameters& p, Keys& keys) {
  if (p.merge == 0 || p.image.image_size / p.image.patch % p.merge != 0)
    keys.refuse(ErrorCode::kOutOfRange, "clip.vision.image_size is not a multiple of a token");
}

const float* first_patch(const ProjectorInput& j) { return j.encoded + (j.w.class_token ? j.n_features : 0); }

void project_merged(ProjectorInput& j) {
  float* merged = j.arena.take(j.grid.n_tokens * j.w.adapter.first.n_in);
  j.merge_patches(merged);
  const ProjectorAdapter& a = j.w.adapter;
  const size_t n = a.norm ? a.norm.weight.n : 1;
  if (a.norm) j.normalize(a.norm, merged, j.grid.n_tokens * a.first.n_in / n, n, a.norm_kind, a.eps);
  j.adapt(j.w.adapter, merged, j.grid.n_tokens, j.out);
}

void channels_first(const float* merged, size_t n_tokens, size_t n_places, size_t n_embd, float* to) {
  if (to == nullptr) return;  // memory is counted
  for (size_t t = 0; t < n_tokens; ++t)
    for (size_t place = 0; place < n_places; ++place)
      for (size_t i = 0; i < n_embd; ++i)
        to[(t * n_embd + i) * n_places + place] = merged[(t * n_places + place) * n_embd + i];
}

}  // namespace ggufscope
