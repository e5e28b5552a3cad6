// Qwen2-VL, Qwen2.5-VL and Qwen3-VL.
#include <algorithm>

#include "vision/projectors/rows.hpp"

namespace ggufscope {

void read_qwen2vl(VisionParameters& p, Keys& keys) {
  p.merge = 2;
  keys.u32("spatial_merge_size", p.merge);
  limit_tokens(p, 8, 4096);
  read_pixel_bounds(p, keys);
  fit_image(p, ResampleFilter::kBicubic);
}
void read_qwen25vl(VisionParameters& p, Keys& keys) {
  constexpr uint32_t kWindowPixels = 112;
  read_qwen2vl(p, keys);
  uint32_t pattern = 0;
  keys.required("n_wa_pattern", pattern);
  if (keys.failed()) return;
  p.window = std::max(kWindowPixels / p.image.patch / p.merge, 1u) * p.merge;
  for (uint32_t il = 0; il < p.n_layer; ++il) p.sees_all.push_back((il + 1) % pattern == 0);
}
void plan_qwen2vl(VisionPlan& plan) {
  plan.adapter(plan.w.adapter, "mm.0", "mm.2", plan.n_features() * plan.p.merge * plan.p.merge);
}
void plan_qwen3vl(VisionPlan& plan) {
  plan_qwen2vl(plan);
  const uint64_t n_in = plan.n_features() * plan.p.merge * plan.p.merge, n_main = plan.n_out;
  for (uint32_t il = 0; il < plan.p.n_layer; ++il) {
    const std::string name = "v.deepstack." + std::to_string(il);
    if (!plan.planner.has(name + ".fc1.weight")) continue;
    ProjectorAdapter& deep = plan.w.layers[il].deep;
    plan.planner.affine(deep.norm, name + ".norm", n_in);
    const uint64_t n_hidden = plan.rows_of(name + ".fc1.weight");
    plan.planner.linear(deep.first, name + ".fc1", n_in, n_hidden);
    plan.planner.linear(deep.second, name + ".fc2", n_hidden, n_main);
    plan.n_out += n_main;
  }
}

}  // namespace ggufscope
