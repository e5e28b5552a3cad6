// Computes the convolutions that shorten a spectrogram, a few frames at a time.
#include "audio/subsampling.hpp"

#include <algorithm>
#include <cstring>

#include "nn/activation.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/halves.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kFloat16Type = 1;  // ggml's type id of F16
constexpr float kStageEps = 1e-6f;

uint64_t elements_of(const TensorEntry* entry) {
  return entry == nullptr ? 0 : entry->shape[0] * entry->shape[1] * entry->shape[2] * entry->shape[3];
}

}  // namespace

void Subsampling::plan(Planner& planner, size_t i, const std::string& name, Need bias) {
  const uint64_t n_in = 9 * channels(i), n_out = n_in == 0 ? 0 : elements_of(planner.find(name + ".weight")) / n_in;
  if (planner.flattened(stages[i].mix, name + ".weight", n_in, n_out))
    planner.vector(stages[i].mix.bias, name + ".bias", n_out, bias);
}

void Subsampling::plan_depthwise(Planner& planner, size_t i, const std::string& depthwise, const std::string& mix,
                                 bool half) {
  const uint64_t n_in = channels(i), n_out = n_in == 0 ? 0 : elements_of(planner.find(mix + ".weight")) / n_in;
  stages[i].half = half;
  planner.vector(stages[i].kernel, depthwise + ".weight", 9 * n_in);
  planner.vector(stages[i].kernel_bias, depthwise + ".bias", n_in);
  if (planner.flattened(stages[i].mix, mix + ".weight", n_in, n_out))
    planner.vector(stages[i].mix.bias, mix + ".bias", n_out);
}

size_t Subsampling::bands(size_t n_stages) const { return frames(shape.n_mel, n_stages); }
size_t Subsampling::channels(size_t n_stages) const { return n_stages == 0 ? 1 : stages[n_stages - 1].mix.n_out; }
size_t Subsampling::frames(size_t n, size_t n_stages) {
  for (size_t i = 0; i < n_stages; ++i) n = (n + 1) / 2;
  return n;
}

struct Subsampling::Input {
  const float* x;
  size_t n;
};

void Subsampling::run(Pool& pool, Arena& arena, const float* x, size_t n, size_t first, size_t last, float* out) const {
  const size_t mark = arena.mark(), n_bands = bands(stages.size()), n_channels = channels(stages.size());
  float* result = shape.bands_fastest ? arena.take((last - first) * n_out()) : out;
  run_stage(pool, arena, {x, n}, stages.size(), first, last, result);
  if (shape.bands_fastest && !arena.counting())
    for (size_t t = 0; t < last - first; ++t)
      for (size_t band = 0; band < n_bands; ++band)
        for (size_t c = 0; c < n_channels; ++c)
          out[t * n_out() + c * n_bands + band] = result[(t * n_bands + band) * n_channels + c];
  arena.release(mark);
}

// Computes frames first to last after so many stages. Only the frames of the earlier stages that these need are in
// memory.
void Subsampling::run_stage(Pool& pool, Arena& arena, const Input& input, size_t n_stages, size_t first, size_t last,
                            float* out) const {
  const SubsamplingStage& stage = stages[n_stages - 1];
  const size_t mark = arena.mark(), n_in = channels(n_stages - 1), n_bands_in = bands(n_stages - 1);
  const size_t n_before = frames(input.n, n_stages - 1), n_bands = bands(n_stages), n_out = channels(n_stages);
  const size_t from = first == 0 ? 0 : 2 * first - 1, to = std::min(n_before, 2 * last);
  const float* before = input.x + from * shape.n_mel;
  if (n_stages > 1) {
    float* made = arena.take((to - from) * n_bands_in * n_in);
    run_stage(pool, arena, input, n_stages - 1, from, to, made);
    before = made;
  }
  const bool depthwise = static_cast<bool>(stage.kernel);
  const size_t n_rows = (last - first) * n_bands, width = stage.mix.n_in;
  float* rows = arena.take(n_rows * width);
  each_token(pool, Operation::kCache, n_rows, [&](size_t at) {
    const size_t t = first + at / n_bands, band = at % n_bands;
    float* row = rows + at * width;
    if (depthwise) std::memcpy(row, stage.kernel_bias.data(), n_in * sizeof(float));
    for (size_t k = 0; k < 9; ++k) {
      const size_t along_frames = shape.frames_fastest ? k % 3 : k / 3, along_bands = k % 3 + k / 3 - along_frames;
      const size_t frame = 2 * t + along_frames, b = 2 * band + along_bands;  // plus 1
      const bool inside = frame >= 1 && frame - 1 < n_before && b >= 1 && b - 1 < n_bands_in;
      const float* x = inside ? before + ((frame - 1 - from) * n_bands_in + b - 1) * n_in : nullptr;
      if (depthwise) {
        for (size_t c = 0; c < n_in && inside; ++c) row[c] += stage.kernel.data()[9 * c + k] * x[c];
      } else {
        for (size_t c = 0; c < n_in; ++c) row[9 * c + k] = inside ? x[c] : 0;
      }
    }
    if (stage.half || stage.mix.matrix.type() == kFloat16Type) round_to_halves(row, width);
  });
  apply(pool, stage.mix, rows, n_rows, out);
  if (stage.norm) normalize_rows(pool, kStageEps, NormKind::kLayer, stage.norm, out, n_rows, n_out, out);
  each_token(pool, Operation::kGate, n_rows, [&](size_t at) {
    if (shape.gelu) return gelu_erf(out + at * n_out, n_out);
    activate(Activation::kRelu, out + at * n_out, n_out);
  });
  arena.release(mark);
}

}  // namespace ggufscope
