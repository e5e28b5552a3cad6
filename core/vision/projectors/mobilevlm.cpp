// MobileVLM: two blocks that filter each channel (LDP), and its successor with one filter (LDPv2).
#include <algorithm>
#include <cstring>

#include "nn/vec.hpp"
#include "vision/mobilenet.hpp"
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kKernel = 3;

void plan_kernel(VisionPlan& plan, DepthwiseConvolution& to, const std::string& name) {
  to.n_kernel = kKernel;
  plan.planner.vector(to.weights, name + ".weight", plan.n_out * kKernel * kKernel);
}

float hard_sigmoid(float x) { return std::clamp(x / 6 + 0.5f, 0.0f, 1.0f); }

// x [side, side, n] is rounded to halves; to: [side / stride, side / stride, n]
void run_block(ProjectorInput& j, const GatedChannels& w, float* x, uint32_t side, uint32_t stride, float* to) {
  const size_t mark = j.arena.mark(), n = j.n_out, n_places = size_t{side / stride} * (side / stride);
  float* map = j.arena.take(n_places * n);
  if (j.arena.counting()) return j.arena.release(mark);
  std::vector<float> narrow(w.narrow.n_out), gate(n);
  filter_channels(j.pool, w.kernel, x, side, n, stride, kKernel / 2, map);
  j.normalize(w.norm, map, n_places, n, NormKind::kLayer, j.p.eps);
  std::fill_n(to, n, 0.0f);
  for (size_t t = 0; t < n_places; ++t) {
    for (size_t i = t * n; i < (t + 1) * n; ++i) map[i] *= hard_sigmoid(map[i]);
    vec::add(to, map + t * n, n);
  }
  vec::scale(to, 1.0f / static_cast<float>(n_places), n);
  apply(j.pool, w.narrow, to, 1, narrow.data());
  activate(Activation::kRelu, narrow.data(), w.narrow.n_out);
  apply(j.pool, w.wide, narrow.data(), 1, gate.data());
  for (float& value : gate) value = hard_sigmoid(value);
  for (size_t t = 0; t < n_places; ++t) vec::multiply(map + t * n, gate.data(), n);
  apply(j.pool, w.matrix, map, n_places, to);
  j.normalize(w.norm_after, to, n_places, n, NormKind::kLayer, j.p.eps);
  j.arena.release(mark);
}

}  // namespace

void read_ldp(VisionParameters& p, Keys& keys) {
  read_mlp(p, keys);
  p.merge = 2;
  require_whole_tokens(p, keys);
}
void plan_ldp(VisionPlan& plan) {
  plan.adapter(plan.w.adapter, "mm.model.mlp.1", "mm.model.mlp.3", plan.p.n_embd);
  for (uint32_t i = 0; i < 2; ++i) {
    GatedChannels& w = plan.w.channels[i];
    const std::string name = "mm.model.mb_block." + std::to_string(i + 1) + ".block.";
    const uint64_t n = plan.n_out, n_narrow = plan.rows_of(name + "1.fc1.weight");
    plan_kernel(plan, w.kernel, name + "0.0");
    plan.planner.affine(w.norm, name + "0.1", n, Need::kRequired, Need::kRequired);
    plan.planner.linear(w.narrow, name + "1.fc1", n, n_narrow);
    plan.planner.linear(w.wide, name + "1.fc2", n_narrow, n);
    plan.planner.matrix(w.matrix, name + "2.0", n, n);
    plan.planner.affine(w.norm_after, name + "2.1", n, Need::kRequired, Need::kRequired);
  }
}
void plan_ldpv2(VisionPlan& plan) {
  plan.adapter(plan.w.adapter, "mm.model.mlp.0", "mm.model.mlp.2", plan.p.n_embd);
  plan_kernel(plan, plan.w.channels[0].kernel, "mm.model.peg.0");
  plan.planner.vector(plan.w.channels[0].kernel_bias, "mm.model.peg.0.bias", plan.n_out);
}
void project_ldp(ProjectorInput& j) {
  const size_t n = j.n_out, n_places = size_t{j.columns} * j.columns;
  float* x = j.arena.take(n_places * n);
  float* mixed = j.arena.take(n_places * n);
  j.adapt(j.w.adapter, first_patch(j), n_places, x);
  if (!j.arena.counting()) std::memcpy(mixed, x, n_places * n * sizeof(float));
  float* kept = j.arena.take(n_places * n);
  run_block(j, j.w.channels[0], mixed, j.columns, 1, kept);
  add_rows(j.pool, x, kept, n_places, n);
  run_block(j, j.w.channels[1], x, j.columns, 2, j.out);
}
void project_ldpv2(ProjectorInput& j) {
  const GatedChannels& w = j.w.channels[0];
  const size_t n = j.n_out, n_places = size_t{j.columns} * j.columns, n_tokens = j.grid.n_tokens;
  float* x = j.arena.take(n_places * n);
  float* pooled = j.arena.take(n_tokens * n);
  float* rounded = j.arena.take(n_tokens * n);
  j.adapt(j.w.adapter, first_patch(j), n_places, x);
  ProjectorInput adapted = j;
  adapted.encoded = x;
  adapted.n_features = n;
  adapted.pool_patches(pooled);
  if (j.arena.counting()) return;
  std::memcpy(rounded, pooled, n_tokens * n * sizeof(float));
  filter_channels(j.pool, w.kernel, rounded, j.grid.columns, n, 1, kKernel / 2, j.out);
  for (size_t t = 0; t < n_tokens; ++t) vec::add(j.out + t * n, w.kernel_bias.data(), n);
  vec::add(j.out, pooled, n_tokens * n);
}

}  // namespace ggufscope
