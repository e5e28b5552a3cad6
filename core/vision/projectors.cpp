// One row for each projector, in the order of the encoders they share. Projectors that libmtmd has but that cannot be
// run here come last.
#include "base/sentence.hpp"
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

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
