// GLM-4V and CogVLM: a matrix with a norm and an activation, then a gated network.
#include <cstring>

#include "nn/vec.hpp"
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

void plan_gated(VisionPlan& plan, uint64_t n_in, const std::string& norm) {
  ProjectorAdapter& adapter = plan.w.adapter;
  const uint64_t n = plan.rows_of("mm.model.fc.weight"), n_hidden = plan.rows_of("mm.up.weight");
  plan.planner.matrix(adapter.first, "mm.model.fc", n_in, n);
  plan.planner.affine(adapter.norm_between, norm, n);
  plan.planner.linear(plan.w.up, "mm.up", n, n_hidden);
  plan.planner.linear(plan.w.gate, "mm.gate", n, n_hidden);
  plan.n_out = plan.rows_of("mm.down.weight");
  plan.planner.linear(plan.w.down, "mm.down", n_hidden, plan.n_out);
}

void project_gated(ProjectorInput& j, const float* x, size_t n, Activation activation, float* to) {
  const size_t n_hidden = j.w.up.n_out;
  float* adapted = j.arena.take(n * j.w.adapter.first.n_out);
  float* up = j.arena.take(n * n_hidden);
  float* gate = j.arena.take(n * n_hidden);
  j.adapt(j.w.adapter, x, n, adapted);
  apply(j.pool, {{&j.w.up, up}, {&j.w.gate, gate}}, adapted, n);
  each_token(j.pool, Operation::kGate, n, [&](size_t t) {
    activate_rounded(activation, gate + t * n_hidden, n_hidden);
    vec::multiply(up + t * n_hidden, gate + t * n_hidden, n_hidden);
  });
  apply(j.pool, j.w.down, up, n, to);
}

}  // namespace

void read_glm4v(VisionParameters& p, Keys& keys) {
  p.merge = 2;
  keys.u32("spatial_merge_size", p.merge);
  limit_tokens(p, 8, 4096);
  fit_image(p, ResampleFilter::kBicubic);
}
void plan_glm4v(VisionPlan& plan) {
  Planner& planner = plan.planner;
  planner.affine(plan.w.norm_patches, "v.norm_embd", plan.p.n_embd, Need::kOptional);
  const uint64_t n = plan.rows_of("mm.patch_merger.weight", 3);
  planner.flattened(plan.w.merger, "mm.patch_merger.weight", plan.n_merged(), n);
  planner.vector(plan.w.merger.bias, "mm.patch_merger.bias", n);
  plan.w.adapter.activation = Activation::kGeluErf;
  plan_gated(plan, n, "mm.post_norm");
}
void project_glm4v(ProjectorInput& j) {
  const size_t n = j.grid.n_tokens, n_places = size_t{j.p.merge} * j.p.merge;
  float* merged = j.arena.take(n * j.w.merger.n_in);
  float* turned = j.arena.take(n * j.w.merger.n_in);
  float* tokens = j.arena.take(n * j.w.merger.n_out);
  j.merge_patches(merged);
  channels_first(merged, n, n_places, j.n_features, turned);
  apply(j.pool, j.w.merger, turned, n, tokens);
  project_gated(j, tokens, n, j.p.activation, j.out);
}

void plan_cogvlm(VisionPlan& plan) {
  plan_gated(plan, plan.p.n_embd, "mm.post_fc_norm");
  plan.planner.vector(plan.w.begin, "v.boi", plan.n_out);
  plan.planner.vector(plan.w.end, "v.eoi", plan.n_out);
}
void project_cogvlm(ProjectorInput& j) {
  const size_t n = j.grid.n_tokens - 2, bytes = j.n_out * sizeof(float);
  project_gated(j, j.encoded, n, Activation::kSilu, j.out + j.n_out);
  if (j.arena.counting()) return;
  std::memcpy(j.out, j.w.begin.data(), bytes);
  std::memcpy(j.out + (n + 1) * j.n_out, j.w.end.data(), bytes);
}

}  // namespace ggufscope
