// Kimi-VL and Kimi K2.5.
#include "vision/projectors/rows.hpp"

namespace ggufscope {

void read_kimivl(VisionParameters& p, Keys& keys) {
  keys.u32("projector.scale_factor", p.merge);
  limit_tokens(p, 8, 1024);
  fit_image(p, ResampleFilter::kBicubic);
}
void read_kimik25(VisionParameters& p, Keys& keys) {
  read_kimivl(p, keys);
  limit_tokens(p, 2, 4096);
  uint32_t min = 0, max = 0;
  keys.u32("image_min_pixels", min, INT32_MAX);
  keys.u32("image_max_pixels", max, INT32_MAX);
  if (min == 0 || max == 0) return;
  p.image.fit.min_pixels = min;
  p.image.fit.max_pixels = max;
}
void plan_kimivl(VisionPlan& plan) {
  plan.planner.affine(plan.w.adapter.norm, "mm.input_norm", plan.n_features(), Need::kRequired, Need::kRequired);
  plan.adapter(plan.w.adapter, "mm.1", "mm.2", plan.n_merged());
}
void plan_kimik25(VisionPlan& plan) {
  plan_kimivl(plan);
  plan.w.adapter.eps = plan.p.eps;
}

}  // namespace ggufscope
