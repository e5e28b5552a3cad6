// Pixtral and its relatives.
#include <cstring>

#include "vision/projectors/rows.hpp"

namespace ggufscope {

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
  j.adapt(j.w.adapter, merged, n_grid, rows);
  const size_t row = j.grid.columns * j.n_out;
  for (size_t y = 0; y < j.grid.rows && !j.arena.counting(); ++y) {
    float* to = j.out + y * (row + (j.w.row_break ? j.n_out : 0));
    std::memcpy(to, rows + y * row, row * sizeof(float));
    if (j.w.row_break && y + 1 < j.grid.rows) std::memcpy(to + row, j.w.row_break.data(), j.n_out * sizeof(float));
  }
}

}  // namespace ggufscope
