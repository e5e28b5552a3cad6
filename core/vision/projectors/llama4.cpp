// Llama 4.
#include <cstring>

#include "vision/projectors/rows.hpp"

namespace ggufscope {

void read_llama4(VisionParameters& p, Keys& keys) {
  constexpr uint32_t kMaxTiles = 3;  // along a side
  keys.u32("projector.scale_factor", p.merge);
  for (uint32_t x = 1; x <= kMaxTiles; ++x)
    for (uint32_t y = 1; y <= kMaxTiles; ++y)
      if (x * y > 1) p.image.candidates.push_back({x * p.image.image_size, y * p.image.image_size});
  p.image.split = ImageSplit::kCandidates;
  p.image.overview.padding = ImagePadding::kNone;
  require_whole_tokens(p, keys);
}
void plan_llama4(VisionPlan& plan) {
  ProjectorAdapter& adapter = plan.w.adapter;
  const uint64_t n_first = plan.rows_of("mm.model.mlp.1.weight"), n_second = plan.rows_of("mm.model.mlp.2.weight");
  plan.planner.matrix(adapter.first, "mm.model.mlp.1", plan.n_merged(), n_first);
  plan.planner.matrix(adapter.second, "mm.model.mlp.2", n_first, n_second);
  plan.n_out = plan.rows_of("mm.model.fc.weight");
  plan.planner.matrix(plan.w.merger, "mm.model.fc", n_second, plan.n_out);
}
void project_llama4(ProjectorInput& j) {
  // Tokens come column by column.
  const size_t n_in = j.w.adapter.first.n_in, n_second = j.w.adapter.second.n_out, n = j.grid.n_tokens;
  float* merged = j.arena.take(n * n_in);
  float* turned = j.arena.take(n * n_in);
  float* second = j.arena.take(n * n_second);
  j.merge_patches(merged);
  for (size_t t = 0; t < n && !j.arena.counting(); ++t)
    std::memcpy(turned + (t % j.grid.columns * j.grid.rows + t / j.grid.columns) * n_in, merged + t * n_in,
                n_in * sizeof(float));
  j.adapt(j.w.adapter, turned, n, second);
  each_token(j.pool, Operation::kGate, n,
             [&](size_t t) { activate_rounded(j.w.adapter.activation, second + t * n_second, n_second); });
  apply(j.pool, j.w.merger, second, n, j.out);
}

}  // namespace ggufscope
