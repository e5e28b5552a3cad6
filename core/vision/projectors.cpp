// One row for each projector, in the order of the encoders they share. Projectors that libmtmd has but that cannot be
// run here come last.
#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "nn/vec.hpp"
#include "vision/projector_input.hpp"

namespace ggufscope {
namespace {

constexpr float kTorchEps = 1e-5f;  // LayerNorm's epsilon where the projector's source does not set one

// Sets the pixel limits from limits in tokens.
void limit_tokens(VisionParameters& p, uint64_t least, uint64_t most) {
  const uint64_t area = uint64_t{p.image.patch} * p.image.patch * p.merge * p.merge;
  p.image.fit.min_pixels = least * area;
  p.image.fit.max_pixels = most * area;
}

void read_pixel_bounds(VisionParameters& p, Keys& keys) {
  uint32_t least = 0, most = 0;
  if (keys.u32("image_min_pixels", least, 1u << 26) && least != 0) p.image.fit.min_pixels = least;
  if (keys.u32("image_max_pixels", most, 1u << 26) && most != 0) p.image.fit.max_pixels = most;
}

void fit_image(VisionParameters& p, ResampleFilter filter) {
  p.image.split = ImageSplit::kFitted;
  p.image.whole = {filter, ImagePadding::kCeil, {}};
}

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
  planner.affine(plan.w.adapter.norm_between, "mm.1", plan.w.adapter.first.n_out);
  planner.affine(plan.w.adapter.norm_after, "mm.4", plan.n_out);
}
void project_mlp(ProjectorInput& j) {
  // libmtmd puts the class token last but leaves out the first row. This function does the same.
  const float* first = j.encoded + (j.w.class_token ? j.n_features : 0);
  j.adapt(j.w.adapter, first, j.grid.n_tokens, Activation::kGelu, j.out);
}

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
  p.image.tiled = p.image.overview = {ResampleFilter::kLanczos, ImagePadding::kNone, {}};
}
void plan_idefics3(VisionPlan& plan) {
  plan.n_out = plan.rows_of("mm.model.fc.weight");
  plan.planner.matrix(plan.w.merger, "mm.model.fc", plan.n_features() * plan.p.merge * plan.p.merge, plan.n_out);
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
  const uint64_t n_in = plan.n_features() * plan.p.merge * plan.p.merge;
  plan.planner.affine(plan.w.adapter.norm, "mm.input_norm", n_in, Need::kOptional);
  plan.adapter(plan.w.adapter, "mm.1", "mm.2", n_in);
}
void project_merged(ProjectorInput& j) {
  float* merged = j.arena.take(j.grid.n_tokens * j.w.adapter.first.n_in);
  j.merge_patches(merged);
  if (j.w.adapter.norm)
    j.normalize(j.w.adapter.norm, merged, j.grid.n_tokens, j.w.adapter.first.n_in, NormKind::kLayer, kTorchEps);
  j.adapt(j.w.adapter, merged, j.grid.n_tokens, Activation::kGelu, j.out);
}

void read_internvl(VisionParameters& p, Keys& keys) {
  uint32_t least = 1, most = 12;
  keys.u32("projector.scale_factor", p.merge);
  keys.u32("preproc_min_tiles", least, 64);
  keys.u32("preproc_max_tiles", most, 64);
  if (least == 0 || least > most)
    return keys.refuse(ErrorCode::kOutOfRange, "clip.vision.preproc_min_tiles is out of range");
  const uint32_t side = p.image.image_size;
  for (uint32_t a = least; a <= most; ++a)
    for (uint32_t b = std::max((least + a - 1) / a, least); b <= most / a; ++b)
      p.image.candidates.push_back({a * side, b * side});
  p.image.split = ImageSplit::kCandidates;
  p.image.overview.padding = ImagePadding::kNone;
  if (p.n_embd == 3200 && p.n_layer == 45) p.norm = NormKind::kRms;  // the encoder with 6 billion parameters
}
void plan_internvl(VisionPlan& plan) {
  const uint64_t n_in = plan.n_features() * plan.p.merge * plan.p.merge;
  plan.planner.affine(plan.w.adapter.norm, "mm.model.mlp.0", n_in);
  plan.adapter(plan.w.adapter, "mm.model.mlp.1", "mm.model.mlp.3", n_in);
}

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

void read_pixtral(VisionParameters& p, Keys& keys) {
  keys.u32("spatial_merge_size", p.merge);
  limit_tokens(p, 8, 1024);
  fit_image(p, ResampleFilter::kBicubic);
}
void plan_pixtral(VisionPlan& plan) {
  Planner& planner = plan.planner;
  uint64_t n_in = plan.p.n_embd;
  if (planner.has("mm.patch_merger.weight")) {
    const uint64_t n_merged = plan.rows_of("mm.patch_merger.weight");
    planner.affine(plan.w.adapter.norm, "mm.input_norm", n_in);
    planner.matrix(plan.w.merger, "mm.patch_merger", n_in * plan.p.merge * plan.p.merge, n_merged);
    n_in = n_merged;
  }
  plan.adapter(plan.w.adapter, "mm.1", "mm.2", n_in);
  if (plan.row.breaks_rows) planner.vector(plan.w.row_break, "v.token_embd.img_break", plan.n_out);
}
// Transposes merged [n_tokens, merge * merge, n_embd] to [n_tokens, n_embd, merge * merge], the layout of a convolution
// kernel.
void channels_first(const float* merged, size_t n_tokens, size_t n_places, size_t n_embd, float* to) {
  for (size_t t = 0; t < n_tokens; ++t)
    for (size_t place = 0; place < n_places; ++place)
      for (size_t i = 0; i < n_embd; ++i)
        to[(t * n_embd + i) * n_places + place] = merged[(t * n_places + place) * n_embd + i];
}
void project_pixtral(ProjectorInput& j) {
  const size_t n_grid = size_t{j.grid.columns} * j.grid.rows, n_places = size_t{j.p.merge} * j.p.merge;
  float* merged = j.arena.take(n_grid * n_places * j.n_features);
  j.merge_patches(merged);
  if (j.w.merger) {
    float* turned = j.arena.take(n_grid * j.w.merger.n_in);
    j.normalize(j.w.adapter.norm, merged, n_grid * n_places, j.n_features, NormKind::kRms, j.p.eps);
    channels_first(merged, n_grid, n_places, j.n_features, turned);
    apply(j.pool, j.w.merger, turned, n_grid, merged);
  }
  float* rows = j.arena.take(n_grid * j.n_out);
  j.adapt(j.w.adapter, merged, n_grid, Activation::kGelu, rows);
  const size_t row = j.grid.columns * j.n_out;
  for (size_t y = 0; y < j.grid.rows; ++y) {
    float* to = j.out + y * (row + (j.w.row_break ? j.n_out : 0));
    std::memcpy(to, rows + y * row, row * sizeof(float));
    if (j.w.row_break && y + 1 < j.grid.rows) std::memcpy(to + row, j.w.row_break.data(), j.n_out * sizeof(float));
  }
}

constexpr ImageMarkers kQwen{.begin = "<|vision_start|>", .end = "<|vision_end|>"};

const ProjectorRow kRows[] = {
    {.name = "mlp",
     .read = read_mlp,
     .plan = plan_mlp,
     .project = project_mlp,
     .positions = PatchPositions::kRows,
     .may_swap_ffn = true,
     .penultimate = true},
    {.name = "gemma3",
     .read = read_gemma3,
     .plan = plan_gemma3,
     .project = project_gemma3,
     .positions = PatchPositions::kRows,
     .may_swap_ffn = true,
     .non_causal = true,
     .markers = {.begin = "<start_of_image>", .end = "<end_of_image>"}},
    {.name = "idefics3",
     .read = read_idefics3,
     .plan = plan_idefics3,
     .project = project_idefics3,
     .positions = PatchPositions::kRows,
     .may_swap_ffn = true,
     .markers = {.tile = "<fake_token_around_image><row_%r_col_%c>",
                 .row_end = {"\n"},
                 .overview_begin = {"\n\n", "<fake_token_around_image>", "<global-img>"},
                 .overview_end = {"<fake_token_around_image>"}}},
    {.name = "lfm2",
     .read = read_lfm2,
     .plan = plan_lfm2,
     .project = project_merged,
     .positions = PatchPositions::kInterpolated,
     .markers = {.begin = "<|image_start|>",
                 .end = "<|image_end|>",
                 .tile = "<|img_row_%r_col_%c|>",
                 .overview_begin = {"<|img_thumbnail|>"},
                 .cut_only = true}},
    {.name = "internvl",
     .read = read_internvl,
     .plan = plan_internvl,
     .project = project_merged,
     .positions = PatchPositions::kRows,
     .class_token = true,
     .markers = {.begin = "<img>", .end = "</img>"}},
    {.name = "qwen2vl_merger",
     .read = read_qwen2vl,
     .plan = plan_qwen2vl,
     .project = project_merged,
     .rope = PatchRope::kHalves,
     .two_kernels = true,
     .may_swap_ffn = true,
     .grid_positions = true,
     .markers = kQwen},
    {.name = "qwen2.5vl_merger",
     .read = read_qwen25vl,
     .plan = plan_qwen2vl,
     .project = project_merged,
     .norm = NormKind::kRms,
     .rope = PatchRope::kHalves,
     .two_kernels = true,
     .may_swap_ffn = true,
     .grid_positions = true,
     .markers = kQwen},
    {.name = "qwen3vl_merger",
     .read = read_qwen2vl,
     .plan = plan_qwen3vl,
     .project = project_merged,
     .positions = PatchPositions::kInterpolatedCorners,
     .rope = PatchRope::kHalves,
     .two_kernels = true,
     .grid_positions = true,
     .markers = kQwen},
    {.name = "pixtral",
     .read = read_pixtral,
     .plan = plan_pixtral,
     .project = project_pixtral,
     .norm = NormKind::kRms,
     .rope = PatchRope::kAdjacent,
     .breaks_rows = true,
     .markers = {.end = "[IMG_END]"}},
    {.name = "adapter"},
    {.name = "cogvlm"},
    {.name = "cohere2v"},
    {.name = "d1omni_v"},
    {.name = "deepseek4v"},
    {.name = "deepseekocr"},
    {.name = "deepseekocr2"},
    {.name = "dots3note_v"},
    {.name = "dots_ocr"},
    {.name = "etet"},
    {.name = "exaone4_5"},
    {.name = "gemma3nv"},
    {.name = "gemma4uv"},
    {.name = "gemma4v"},
    {.name = "glm4v"},
    {.name = "glm5v"},
    {.name = "granite4_vision"},
    {.name = "hunyuanocr"},
    {.name = "hunyuanvl"},
    {.name = "janus_pro"},
    {.name = "kimik25"},
    {.name = "kimivl"},
    {.name = "ldp"},
    {.name = "ldpv2"},
    {.name = "lightonocr"},
    {.name = "ling3vl"},
    {.name = "llama4"},
    {.name = "mimovl"},
    {.name = "minicpmv4_6"},
    {.name = "minimax_m3"},
    {.name = "muse-glimmer"},
    {.name = "nemotron_v2_vl"},
    {.name = "paddleocr"},
    {.name = "phi4"},
    {.name = "resampler"},
    {.name = "step3vl"},
    {.name = "yasa2"},
    {.name = "youtuvl"},
};

}  // namespace

std::span<const ProjectorRow> all_projectors() { return kRows; }

Result<const ProjectorRow*> find_projector(std::string_view name) {
  std::string runs;
  bool known = false;
  for (const ProjectorRow& row : kRows) {
    if (row.name == name && row.project != nullptr) return &row;
    known = known || row.name == name;
    if (row.project != nullptr) runs += (runs.empty() ? "" : ", ") + std::string(row.name);
  }
  return fail(
      ErrorCode::kUnsupported,
      sentence({"projector ", Quoted{name}, known ? " cannot be run yet" : " is not known", "; these can: ", runs}));
}

TokenGrid token_grid(const ProjectorRow& row, const VisionParameters& p, uint32_t columns, uint32_t rows) {
  TokenGrid grid{(columns + p.merge - 1) / p.merge, (rows + p.merge - 1) / p.merge, 0};
  if (row.penultimate) grid = {columns, rows, 0};
  grid.n_tokens = grid.columns * grid.rows;
  if (row.breaks_rows) grid.n_tokens += grid.rows - 1;
  return grid;
}

}  // namespace ggufscope
