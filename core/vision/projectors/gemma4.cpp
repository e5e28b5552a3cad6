// Gemma 4: an encoder with a position table for each axis, and the "unified" form that only projects large patches.
// Gemma 3n: a network of convolutions.
#include <cmath>

#include "base/sentence.hpp"
#include "nn/vec.hpp"
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

void read_gemma4(VisionParameters& p, Keys& keys) {
  p.merge = 3;
  keys.u32("projector.scale_factor", p.merge, 64);
  if (p.merge == 0) keys.refuse(ErrorCode::kOutOfRange, "clip.vision.projector.scale_factor is 0");
  limit_tokens(p, 70, 1120);
  fit_image(p, ResampleFilter::kBicubic);
}

// Plans the scalars that limit a matrix's inputs and outputs.
void plan_limits(VisionPlan& plan, const Linear& linear, const std::string& name) {
  if (!linear) return;
  LinearLimits limits{.linear = &linear, .in_min = {}, .in_max = {}, .out_min = {}, .out_max = {}};
  const auto has = [&](const char* part) { return plan.planner.has(name + part); };
  if (!has(".input_min") && !has(".input_max") && !has(".output_min") && !has(".output_max")) return;
  LinearLimits& to = plan.w.limits.emplace_back(std::move(limits));
  plan.planner.vector(to.in_min, name + ".input_min", 1, Need::kOptional);
  plan.planner.vector(to.in_max, name + ".input_max", 1, Need::kOptional);
  plan.planner.vector(to.out_min, name + ".output_min", 1, Need::kOptional);
  plan.planner.vector(to.out_max, name + ".output_max", 1, Need::kOptional);
}

void plan_output(VisionPlan& plan) {
  plan.n_out = plan.rows_of("mm.input_projection.weight");
  plan.planner.matrix(plan.w.merger, "mm.input_projection", plan.p.n_embd, plan.n_out);
}

void project_normed(ProjectorInput& j, float* x, float eps) {
  const size_t n = j.grid.n_tokens;
  j.normalize({.weight = {}, .bias = {}, .present = true}, x, n, j.n_features, NormKind::kRms, eps);
  apply_limited(j.pool, j.arena, j.w, {{&j.w.merger, j.out}}, x, n);
}

}  // namespace

void read_gemma4v(VisionParameters& p, Keys& keys) {
  read_gemma4(p, keys);
  p.rope_base = 100;
  if (p.d_head % 4 != 0)
    keys.refuse(ErrorCode::kOutOfRange, "heads of " + std::to_string(p.d_head) + " elements have no quarters");
}
void plan_gemma4v(VisionPlan& plan) {
  plan_output(plan);
  plan.planner.vector(plan.w.shift, "v.std_bias", plan.p.n_embd, Need::kOptional);
  plan.planner.vector(plan.w.factor, "v.std_scale", plan.p.n_embd, Need::kOptional);
  plan.w.limits.reserve(plan.w.layers.size() * 8 + 1);  // the plan points to them
  for (size_t il = 0; il < plan.w.layers.size(); ++il) {
    const VisionLayer& w = plan.w.layers[il];
    const std::string prefix = "v.blk." + std::to_string(il) + ".";
    plan_limits(plan, w.qkv, prefix + "attn_qkv");
    plan_limits(plan, w.q, prefix + "attn_q");
    plan_limits(plan, w.k, prefix + "attn_k");
    plan_limits(plan, w.v, prefix + "attn_v");
    plan_limits(plan, w.out, prefix + "attn_out");
    plan_limits(plan, w.up, prefix + "ffn_up");
    plan_limits(plan, w.gate, prefix + "ffn_gate");
    plan_limits(plan, w.down, prefix + "ffn_down");
  }
  plan_limits(plan, plan.w.merger, "mm.input_projection");
}
void project_gemma4v(ProjectorInput& j) {
  const size_t n = j.n_features;
  float* pooled = j.arena.take(j.grid.n_tokens * n);
  j.pool_patches(pooled);
  const float scale = std::sqrt(static_cast<float>(n));
  for (size_t t = 0; t < j.grid.n_tokens && !j.arena.counting(); ++t) {
    float* x = pooled + t * n;
    vec::scale(x, scale, n);
    if (!j.w.shift || !j.w.factor) continue;
    vec::add_scaled(x, -1, j.w.shift.data(), n);
    vec::multiply(x, j.w.factor.data(), n);
  }
  project_normed(j, pooled, j.p.eps);
}

void read_gemma4uv(VisionParameters& p, Keys& keys) {
  read_gemma4(p, keys);
  p.image.patch *= p.merge;
  p.merge = 1;
  p.output_eps = p.eps;
  p.eps = kTorchEps;
}
void plan_gemma4uv(VisionPlan& plan) {
  const uint64_t n = plan.p.n_embd, n_pixels = uint64_t{3} * plan.p.image.patch * plan.p.image.patch;
  plan.planner.affine(plan.w.norm_pixels, "v.patch_norm.1", n_pixels, Need::kRequired, Need::kRequired);
  plan.planner.affine(plan.w.norm_patches, "v.patch_norm.2", n, Need::kRequired, Need::kRequired);
  plan.planner.affine(plan.w.norm_before, "v.patch_norm.3", n, Need::kRequired, Need::kRequired);
  plan_output(plan);
}
void project_gemma4uv(ProjectorInput& j) {
  float* x = j.arena.take(j.grid.n_tokens * j.n_features);
  j.merge_patches(x);
  project_normed(j, x, j.p.output_eps);
}

void read_gemma3nv(VisionParameters& p, Keys&) {
  p.image.whole.filter = ResampleFilter::kBilinear;
  p.n_queries = p.image.image_size / p.image.patch;
}

}  // namespace ggufscope
