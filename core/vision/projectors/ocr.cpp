// dots.ocr, PaddleOCR and LightOnOCR.
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

void plan_patch_norm(VisionPlan& plan, float eps) {
  plan.planner.affine(plan.w.adapter.norm, "mm.input_norm", plan.n_features(), Need::kRequired, Need::kRequired);
  plan.w.adapter.eps = eps;
}

}  // namespace

void read_dots_ocr(VisionParameters& p, Keys& keys) {
  keys.required("projector.scale_factor", p.merge);
  require_pixel_bounds(p, keys);
  fit_image(p, ResampleFilter::kBicubic);
}
void plan_dots_ocr(VisionPlan& plan) {
  plan.planner.affine(plan.w.norm_after, "mm.post_norm", plan.p.n_embd, Need::kRequired);
  plan_patch_norm(plan, 1e-6f);
  plan.w.adapter.activation = Activation::kGeluErf;
  plan.adapter(plan.w.adapter, "mm.0", "mm.2", plan.n_merged());
}

void read_paddleocr(VisionParameters& p, Keys& keys) {
  p.merge = 2;
  require_pixel_bounds(p, keys);
  fit_image(p, ResampleFilter::kBicubic);
}
void plan_paddleocr(VisionPlan& plan) {
  plan_patch_norm(plan, kTorchEps);
  plan.w.adapter.activation = plan.p.activation;
  plan.adapter(plan.w.adapter, "mm.1", "mm.2", plan.n_merged());
}

void read_lightonocr(VisionParameters& p, Keys& keys) {
  keys.u32("spatial_merge_size", p.merge);
  p.image.fit.longest_edge = p.image.image_size;
  keys.u32("preproc_image_size", p.image.fit.longest_edge, 1u << 16);
  if (p.image.fit.longest_edge == 0)
    keys.refuse(ErrorCode::kNotFound, "clip.vision.preproc_image_size is missing, and image_size is 0");
  fit_image(p, ResampleFilter::kBicubic);
}

}  // namespace ggufscope
