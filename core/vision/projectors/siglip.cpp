// Projectors behind a plain encoder: LLaVA, Gemma 3, Idefics 3, LFM2, InternVL, Nemotron, Janus-Pro, Phi-4,
// Command A Vision.
#include <algorithm>

#include "vision/projectors/rows.hpp"

namespace ggufscope {

// LLaVA 1.5 pads the image to one square; 1.6 uses tiles.
void read_mlp(VisionParameters& p, Keys&) {
  p.image.whole.ground = {122, 116, 104};
  p.image.overview.padding = ImagePadding::kNone;
  if (!p.image.candidates.empty()) p.image.split = ImageSplit::kCandidates;
}
void plan_mlp(VisionPlan& plan) {
  Planner& planner = plan.planner;
  const bool normed = planner.has("mm.3.weight");  // as in Yi-VL
  plan.adapter(plan.w.adapter, "mm.0", normed ? "mm.3" : "mm.2", plan.n_features(),
               normed ? Need::kRequired : Need::kOptional);
  if (!normed) return;
  plan.w.adapter.eps = plan.p.eps;
  planner.affine(plan.w.adapter.norm_between, "mm.1", plan.w.adapter.first.n_out);
  planner.affine(plan.w.adapter.norm_after, "mm.4", plan.n_out);
}
void project_mlp(ProjectorInput& j) { j.adapt(j.w.adapter, first_patch(j), j.grid.n_tokens, j.out); }

void read_gemma3(VisionParameters& p, Keys& keys) {
  p.merge = 4;
  keys.u32("projector.scale_factor", p.merge);
  p.image.whole.filter = ResampleFilter::kBilinear;
}
void plan_gemma3(VisionPlan& plan) {
  plan.planner.affine(plan.w.adapter.norm, "mm.soft_emb_norm", plan.p.n_embd);
  plan.n_out = plan.rows_of("mm.input_projection.weight", 0);
  plan.planner.vector(plan.w.transposed, "mm.input_projection.weight", plan.p.n_embd * plan.n_out);
}
void project_gemma3(ProjectorInput& j) {
  float* pooled = j.arena.take(j.grid.n_tokens * j.n_features);
  j.pool_patches(pooled);
  j.normalize(j.w.adapter.norm, pooled, j.grid.n_tokens, j.n_features, NormKind::kRms, j.p.eps);
  matmul(j.pool, j.w.transposed_matrix, pooled, j.grid.n_tokens, j.out);
}

void read_idefics3(VisionParameters& p, Keys& keys) {
  keys.u32("projector.scale_factor", p.merge);
  keys.u32("preproc_image_size", p.image.fit.longest_edge, 1u << 16);
  p.image.split = ImageSplit::kLongestEdge;
  p.image.overview.padding = ImagePadding::kNone;
  // Without a longest edge, as in files older than the key, libmtmd keeps the aspect ratio in tiles.
  if (p.image.fit.longest_edge != 0)
    p.image.tiled = p.image.overview = {ResampleFilter::kLanczos, ImagePadding::kNone, {}};
}
void plan_idefics3(VisionPlan& plan) {
  plan.n_out = plan.rows_of("mm.model.fc.weight");
  plan.planner.matrix(plan.w.merger, "mm.model.fc", plan.n_merged(), plan.n_out);
}
void project_idefics3(ProjectorInput& j) {
  float* merged = j.arena.take(j.grid.n_tokens * j.w.merger.n_in);
  j.merge_patches(merged);
  apply(j.pool, j.w.merger, merged, j.grid.n_tokens, j.out);
}

void read_lfm2(VisionParameters& p, Keys& keys) {
  keys.u32("projector.scale_factor", p.merge);
  limit_tokens(p, 64, 256);
  p.image.split = ImageSplit::kRatioGrid;
  ResampleFilter filter = ResampleFilter::kBilinear;
  if (std::string_view name; keys.text("image_resize_algo", name)) {
    if (name == "bicubic") filter = ResampleFilter::kBicubic;
    if (name == "lanczos") filter = ResampleFilter::kLanczos;
  }
  p.image.tiled = {filter, ImagePadding::kCeil, {}};
  p.image.overview = {filter, ImagePadding::kNone, {}};
}
void plan_lfm2(VisionPlan& plan) {
  const uint64_t n_in = plan.n_merged();
  plan.planner.affine(plan.w.adapter.norm, "mm.input_norm", n_in, Need::kOptional);
  plan.adapter(plan.w.adapter, "mm.1", "mm.2", n_in);
}

void read_internvl(VisionParameters& p, Keys& keys) {
  uint32_t min = 1, max = 12;
  keys.u32("projector.scale_factor", p.merge);
  keys.u32("preproc_min_tiles", min, 64);
  keys.u32("preproc_max_tiles", max, 64);
  if (min == 0 || min > max)
    return keys.refuse(ErrorCode::kOutOfRange, "clip.vision.preproc_min_tiles is out of range");
  const uint32_t side = p.image.image_size;
  for (uint32_t a = min; a <= max; ++a)
    for (uint32_t b = std::max((min + a - 1) / a, min); b <= max / a; ++b)
      p.image.candidates.push_back({a * side, b * side});
  p.image.split = ImageSplit::kCandidates;
  p.image.overview.padding = ImagePadding::kNone;
  if (p.n_embd == 3200 && p.n_layer == 45) p.norm = NormKind::kRms;  // the encoder with 6 billion parameters
}
void plan_internvl(VisionPlan& plan) {
  const uint64_t n_in = plan.n_merged();
  plan.planner.affine(plan.w.adapter.norm, "mm.model.mlp.0", n_in);
  plan.adapter(plan.w.adapter, "mm.model.mlp.1", "mm.model.mlp.3", n_in);
}

void read_nemotron(VisionParameters& p, Keys& keys) { keys.u32("projector.scale_factor", p.merge); }
// The encoder's activation is the exact GELU, whatever clip.use_gelu says.
void read_nemotron_omni(VisionParameters& p, Keys& keys) {
  keys.required("projector.scale_factor", p.merge);
  p.activation = Activation::kGeluErf;
  require_pixel_bounds(p, keys);
  fit_image(p, ResampleFilter::kBicubic);
  p.image.whole.padding = ImagePadding::kNone;
}
void plan_nemotron(VisionPlan& plan) {
  ProjectorAdapter& adapter = plan.w.adapter;
  adapter.norm_kind = NormKind::kRms;
  adapter.eps = 1e-6f;
  adapter.activation = Activation::kReluSquared;
  plan.planner.affine(adapter.norm, "mm.model.mlp.0", plan.n_merged());
  plan.adapter(adapter, "mm.model.mlp.1", "mm.model.mlp.3", plan.n_merged());
}

void read_janus(VisionParameters& p, Keys&) {
  p.image.whole.ground = {127, 127, 127};
  p.image.overview.padding = ImagePadding::kNone;
  if (!p.image.candidates.empty()) p.image.split = ImageSplit::kCandidates;
}
void plan_janus(VisionPlan& plan) {
  plan.w.adapter.activation = plan.p.activation;
  plan.adapter(plan.w.adapter, "mm.0", "mm.1", plan.n_features());
}

void read_phi4(VisionParameters& p, Keys& keys) {
  require_pixel_bounds(p, keys);
  fit_image(p, ResampleFilter::kBilinear);
}

void read_cohere2v(VisionParameters& p, Keys& keys) {
  keys.required("projector.scale_factor", p.merge);
  keys.required("preproc_max_tiles", p.image.max_tiles, 256);
  p.image.split = ImageSplit::kCanvas;
  p.image.tiled.padding = p.image.overview.padding = ImagePadding::kNone;
}
void plan_cohere2v(VisionPlan& plan) {
  ProjectorAdapter& adapter = plan.w.adapter;
  const uint64_t n_hidden = plan.rows_of("mm.1.weight") / 2;
  plan.planner.linear(adapter.first, "mm.1", plan.n_merged(), 2 * n_hidden);
  plan.n_out = plan.rows_of("mm.2.weight");
  plan.planner.linear(adapter.second, "mm.2", n_hidden, plan.n_out);
}
void project_cohere2v(ProjectorInput& j) {
  const ProjectorAdapter& a = j.w.adapter;
  const size_t n = j.grid.n_tokens, n_hidden = a.second.n_in;
  float* merged = j.arena.take(n * a.first.n_in);
  float* both = j.arena.take(n * a.first.n_out);
  float* gated = j.arena.take(n * n_hidden);
  j.merge_patches(merged);
  apply(j.pool, a.first, merged, n, both);
  each_token(j.pool, Operation::kGate, n, [&](size_t t) {
    const float* up = both + t * 2 * n_hidden;
    activate_gated(Activation::kSilu, up + n_hidden, up, n_hidden, gated + t * n_hidden);
  });
  apply(j.pool, a.second, gated, n, j.out);
}

}  // namespace ggufscope
