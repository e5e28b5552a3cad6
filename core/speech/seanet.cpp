// Runs a codec's convolutions over a part of a sound.
#include "speech/seanet.hpp"

#include <cstring>

#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxFactor = 1 << 16;

// elu(x) = x, or e^x - 1 below 0.
void elu_rows(Stream& s, const float* x, size_t n, size_t width, float* y) {
  if (s.counting()) return;
  each_token(s.pool, Operation::kGate, n, [&](size_t t) {
    const float* from = x + t * width;
    float* to = y + t * width;
    const v128_t zero = wasm_f32x4_splat(0), one = wasm_f32x4_splat(1);
    size_t i = 0;
    for (; i + 4 <= width; i += 4) {
      const v128_t v = wasm_v128_load(from + i);
      const v128_t below = wasm_f32x4_sub(vec::exp4(v), one);
      wasm_v128_store(to + i, wasm_v128_bitselect(below, v, wasm_f32x4_lt(v, zero)));
    }
    for (; i < width; ++i) to[i] = from[i] < 0 ? vec::exp1(from[i]) - 1 : from[i];
  });
}

void run_residual(Stream& s, const SeanetStage& w, float* x, size_t n) {
  const ArenaScope scope(s.arena);
  const size_t width = w.first.n_in, narrow = w.second.n_in;
  float* activated = s.arena.take(n, width);
  float* hidden = s.arena.take(n, narrow);
  elu_rows(s, x, n, width, activated);
  convolve(s, w.first, activated, n, hidden);
  elu_rows(s, hidden, n, narrow, hidden);
  convolve(s, w.second, hidden, n, activated);
  if (!s.counting()) add_rows(s.pool, x, activated, n, width);
}

void plan_residual(SpeechPlan& plan, SeanetStage& w, const std::string& name, uint64_t n) {
  const uint64_t narrow = plan.convolution(w.first, name + "res_conv1", n);
  const uint64_t n_out = plan.convolution(w.second, name + "res_conv2", narrow);
  if (!plan.planner.failed() && n_out != n)
    plan.planner.refuse(ErrorCode::kBadShape, "tensor " + name + "res_conv2.weight gives " + std::to_string(n_out) +
                                                  " channels, which are added to " + std::to_string(n));
}

}  // namespace

uint64_t Seanet::plan(SpeechPlan& plan, const std::string& prefix, uint64_t n_in) {
  Planner& p = plan.planner;
  uint64_t n = plan.convolution(in, prefix + "conv_in", n_in);
  size_t n_stages = 0;
  while (p.has(prefix + "blk." + std::to_string(n_stages) + ".scale_conv.weight")) ++n_stages;
  stages.resize(n_stages);
  for (size_t i = 0; i < n_stages && !p.failed(); ++i) {
    SeanetStage& w = stages[i];
    const std::string name = prefix + "blk." + std::to_string(i) + ".";
    if (!decodes) plan_residual(plan, w, name, n);
    n = decodes ? plan.convolution(w.up, name + "scale_conv", n) : plan.convolution(w.down, name + "scale_conv", n, 0);
    if (decodes) plan_residual(plan, w, name, n);
    factor *= decodes ? w.up.stride : w.down.stride;
    if (factor > kMaxFactor || factor == 0)
      p.refuse(ErrorCode::kBadShape, "the kernels of " + prefix + "blk.* give too many samples for a frame");
  }
  return plan.convolution(out, prefix + "conv_out", n);
}

void decode_seanet(Stream& s, const Seanet& w, const float* frames, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  size_t width = w.in.by.n_out;
  float* x = s.arena.take(n, width);
  convolve(s, w.in, frames, n, x);
  for (const SeanetStage& stage : w.stages) {
    elu_rows(s, x, n, width, x);
    float* longer = s.arena.take(n, stage.up.stride, stage.up.n_out);
    convolve_transposed(s, stage.up, x, n, longer);
    x = longer;
    n *= stage.up.stride;
    width = stage.up.n_out;
    run_residual(s, stage, x, n);
  }
  elu_rows(s, x, n, width, x);
  convolve(s, w.out, x, n, y);
}

void encode_seanet(Stream& s, const Seanet& w, const float* samples, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  n *= w.factor;
  size_t width = w.in.by.n_out;
  float* x = s.arena.take(n, width);
  convolve(s, w.in, samples, n, x);
  for (const SeanetStage& stage : w.stages) {
    run_residual(s, stage, x, n);
    elu_rows(s, x, n, width, x);
    width = stage.down.by.n_out;
    float* shorter = s.arena.take(n / stage.down.stride, width);
    convolve(s, stage.down, x, n, shorter);
    x = shorter;
    n /= stage.down.stride;
  }
  elu_rows(s, x, n, width, x);
  convolve(s, w.out, x, n, y);
}

}  // namespace ggufscope
