// Qwen2-VL, Qwen2.5-VL and Qwen3-VL, and their relatives Ling 3.0 VL, EXAONE 4.5, MiMo-V2.5 and Youtu-VL.
#include <algorithm>

#include "gguf/access.hpp"
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

// Attention in windows but for every pattern-th layer.
void use_windows(VisionParameters& p, uint32_t pattern) {
  constexpr uint32_t kWindowPixels = 112;
  p.window = std::max(kWindowPixels / p.image.patch / std::max(p.merge, 1u), 1u) * p.merge;
  for (uint32_t il = 0; il < p.n_layer; ++il) p.sees_all.push_back((il + 1) % pattern == 0);
}

}  // namespace

void read_qwen2vl(VisionParameters& p, Keys& keys) {
  p.merge = 2;
  keys.u32("spatial_merge_size", p.merge);
  limit_tokens(p, 8, 4096);
  read_pixel_bounds(p, keys);
  fit_image(p, ResampleFilter::kBicubic);
}
void read_qwen25vl(VisionParameters& p, Keys& keys) {
  read_qwen2vl(p, keys);
  uint32_t pattern = 0;
  keys.required("n_wa_pattern", pattern);
  if (!keys.failed()) use_windows(p, pattern);
}
void plan_qwen2vl(VisionPlan& plan) { plan.adapter(plan.w.adapter, "mm.0", "mm.2", plan.n_merged()); }
void plan_ling3vl(VisionPlan& plan) {
  plan.planner.affine(plan.w.adapter.norm, "mm.input_norm", plan.n_features(), Need::kRequired, Need::kRequired);
  plan.w.adapter.eps = plan.p.eps;
  plan_qwen2vl(plan);
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

void read_exaone(VisionParameters& p, Keys& keys) {
  read_qwen2vl(p, keys);
  require_pixel_bounds(p, keys);
  keys.required("attention.head_count_kv", p.n_head_kv);
  uint32_t pattern = 0;
  keys.u32("n_wa_pattern", pattern);
  if (!keys.failed() && pattern != 0) use_windows(p, pattern);
}

void read_mimovl(VisionParameters& p, Keys& keys) {
  read_qwen2vl(p, keys);
  require_pixel_bounds(p, keys);
  keys.required("attention.head_count_kv", p.n_head_kv);
  keys.required("window_size", p.band, 4096);
  const auto modes = get_integers(keys.gguf(), "clip.vision.wa_pattern_mode");
  if (!modes || modes->size() != p.n_layer)
    return keys.refuse(ErrorCode::kBadCount, "clip.vision.wa_pattern_mode does not have a number for each layer");
  for (const int64_t mode : *modes) {
    p.sees_all.push_back(mode == -1);
    p.by_columns.push_back(mode == 1);
  }
}
void plan_mimovl(VisionPlan& plan) {
  const uint64_t n_hidden = plan.rows_of("mm.0.weight");
  plan.planner.matrix(plan.w.adapter.first, "mm.0", plan.n_merged(), n_hidden);
  plan.n_out = plan.rows_of("mm.2.weight");
  plan.planner.matrix(plan.w.adapter.second, "mm.2", n_hidden, plan.n_out);
  for (uint32_t il = 0; il < plan.p.n_layer; ++il)
    if (!plan.p.sees_all[il] && !plan.w.layers[il].sinks)
      plan.planner.refuse(ErrorCode::kNotFound, "tensor v.blk." + std::to_string(il) + ".attn_sinks is missing");
}

void read_youtuvl(VisionParameters& p, Keys& keys) {
  p.merge = 2;
  keys.u32("spatial_merge_size", p.merge);
  if (p.merge != 2) return keys.refuse(ErrorCode::kUnsupported, "clip.vision.spatial_merge_size is not 2");
  uint32_t window = 0;
  keys.required("window_size", window, 4096);
  const auto layers = get_integers(keys.gguf(), "clip.vision.wa_layer_indexes");
  if (!layers) return keys.refuse(ErrorCode::kNotFound, "clip.vision.wa_layer_indexes is missing");
  limit_tokens(p, 1, 62500);
  fit_image(p, ResampleFilter::kBilinear);
  p.image.whole.padding = ImagePadding::kNone;
  p.image.fit.in_steps = true;
  if (layers->empty()) return;
  p.window = std::max(window / p.image.patch / p.merge, 1u) * p.merge;
  for (uint32_t il = 0; il < p.n_layer; ++il)
    p.sees_all.push_back(std::ranges::find(*layers, int64_t{il}) != layers->end());
}
void plan_youtuvl(VisionPlan& plan) {
  plan.planner.affine(plan.w.adapter.norm, "mm.input_norm", plan.n_features());
  plan.w.adapter.norm_kind = NormKind::kRms;
  plan.w.adapter.eps = 1e-6f;
  plan_qwen2vl(plan);
}

}  // namespace ggufscope
