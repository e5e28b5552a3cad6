// The short convolution of LFM2: y = out(c * conv(b * x)), where b, c and x are projections of the input. In a
// bidirectional model, the kernel covers neighbours on both sides, and there is no state.
#include "model/mixers/short_convolution.hpp"

#include <algorithm>

#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// y[t, c] = sum over k of weight[c, k] * x[t + k - n_kernel / 2, c], over the tokens of t's sequence in the batch.
void centered_convolution(std::span<const int32_t> sequences, const float* x, size_t n_channels, const float* weight,
                          size_t n_kernel, float* y) {
  const size_t n = sequences.size();
  std::vector<bool> done(n, false);
  std::vector<size_t> tokens;  // of one sequence
  for (size_t first = 0; first < n; ++first) {
    if (done[first]) continue;
    tokens.clear();
    for (size_t t = first; t < n; ++t)
      if (sequences[t] == sequences[first]) tokens.push_back(t), done[t] = true;
    for (size_t i = 0; i < tokens.size(); ++i) {
      float* out = y + tokens[i] * n_channels;
      std::fill_n(out, n_channels, 0.0f);
      for (size_t k = 0; k < n_kernel; ++k) {
        const size_t from = i + k - n_kernel / 2;  // wraps below 0, past the end
        if (from >= tokens.size()) continue;
        for (size_t c = 0; c < n_channels; ++c) out[c] += weight[c * n_kernel + k] * x[tokens[from] * n_channels + c];
      }
    }
  }
}

void plan_short_convolution(const LayerPlan& plan, LayerWeights& weights) {
  ShortConvolutionWeights& w = weights.mixer.create<ShortConvolutionWeights>();
  const uint64_t n = plan.h.n_embd;
  if (plan.h.part<ShortConvolutionSizes>().length < 2)
    return plan.planner.refuse(ErrorCode::kOutOfRange, "shortconv.l_cache is missing or below 2");
  if (!plan.h.causal && plan.h.part<ShortConvolutionSizes>().length != 3)
    return plan.planner.refuse(ErrorCode::kUnsupported,
                               "attention.causal is false and shortconv.l_cache is " +
                                   std::to_string(plan.h.part<ShortConvolutionSizes>().length) +
                                   ": llama.cpp defines such a model for 3 only");
  plan.planner.linear(w.in, plan.name("shortconv.in_proj"), n, 3 * n);
  plan.planner.linear(w.out, plan.name("shortconv.out_proj"), n, n);
  plan.planner.vector(w.conv, plan.name("shortconv.conv.weight"), n * plan.h.part<ShortConvolutionSizes>().length,
                      Need::kRequired);
}

}  // namespace

uint64_t short_convolution_state(const Hparams& h) {
  return uint64_t{h.n_embd} * (h.part<ShortConvolutionSizes>().length - 1);
}

namespace {

void run_short_convolution(Pass& pass, size_t il, const float* x, float* y) {
  const ShortConvolutionWeights& w = pass.mixer<ShortConvolutionWeights>(il);
  const size_t n = pass.n_tokens, d = pass.h().n_embd;
  const ArenaScope scope(pass.state.arena);
  float* bcx = pass.take(n, 3, d);  // [n_tokens, 3, n_embd]
  float* bx = pass.take(n, d);      // [n_tokens, n_embd]
  float* conv = pass.take(n, d);    // [n_tokens, n_embd]
  if (pass.counting()) return;
  apply(pass.pool, w.in, x, n, bcx);
  for (size_t t = 0; t < n; ++t)
    for (size_t i = 0; i < d; ++i) bx[t * d + i] = bcx[t * 3 * d + i] * bcx[t * 3 * d + 2 * d + i];
  if (!pass.h().causal) {
    centered_convolution(pass.sequences, bx, d, w.conv.data(), pass.h().part<ShortConvolutionSizes>().length, conv);
  } else {
    causal_convolution(pass.pool, bx, d, d, w.conv.data(), pass.h().part<ShortConvolutionSizes>().length, nullptr,
                       pass.states(il, 0), conv);
  }
  for (size_t t = 0; t < n; ++t) vec::multiply(conv + t * d, bcx + t * 3 * d + d, d);
  apply(pass.pool, w.out, conv, n, y);
}

}  // namespace

const Mixer kShortConvolutionMixer{
    .read = [](Keys& keys, const Architecture&,
               Hparams& h) { keys.u32("shortconv.l_cache", h.parts.edit<ShortConvolutionSizes>().length, 1u << 10); },
    .plan = plan_short_convolution,
    .run = run_short_convolution,
    .state = short_convolution_state};

}  // namespace ggufscope
