// Helpers of projectors: merging patches, norms, clamped products.
#include "vision/projector_input.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/arena.hpp"
#include "model/rows.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

void ProjectorInput::merge_patches(float* to, uint32_t side) const {
  if (side == 0) side = p.merge;
  if (arena.counting()) return;
  for (uint32_t y = 0; y < grid.rows; ++y)
    for (uint32_t x = 0; x < grid.columns; ++x)
      for (uint32_t dy = 0; dy < side; ++dy)
        for (uint32_t dx = 0; dx < side; ++dx, to += n_features) {
          const uint32_t row = y * side + dy, column = x * side + dx;
          if (row < rows && column < columns) {
            std::memcpy(to, encoded + size_t{place_of[row * columns + column]} * n_features,
                        n_features * sizeof(float));
          } else {
            std::fill_n(to, n_features, 0.0f);
          }
        }
}

void ProjectorInput::pool_patches(float* to) const {
  const size_t n = size_t{p.merge} * p.merge;
  const size_t mark = arena.mark();
  float* merged = arena.take(size_t{grid.columns} * grid.rows * n * n_features);
  merge_patches(merged);
  for (size_t t = 0; t < size_t{grid.columns} * grid.rows && !arena.counting(); ++t) {
    float* mean = to + t * n_features;
    std::memcpy(mean, merged + t * n * n_features, n_features * sizeof(float));
    for (size_t i = 1; i < n; ++i) vec::add(mean, merged + (t * n + i) * n_features, n_features);
    vec::scale(mean, 1.0f / static_cast<float>(n), n_features);
  }
  arena.release(mark);
}

void ProjectorInput::normalize(const Affine& by, float* x, size_t n_rows, size_t n, NormKind kind, float eps) const {
  normalize_rows(pool, eps, kind, by, x, n_rows, n, x);
}

void ProjectorInput::adapt(const ProjectorAdapter& adapter, const float* x, size_t n_rows, float* to) const {
  const size_t mark = arena.mark(), n_hidden = adapter.first.n_out;
  float* hidden = adapter.second ? arena.take(n_rows * n_hidden) : to;
  apply(pool, adapter.first, x, n_rows, hidden);
  if (adapter.norm_between) normalize(adapter.norm_between, hidden, n_rows, n_hidden, NormKind::kLayer, adapter.eps);
  each_token(pool, Operation::kGate, n_rows,
             [&](size_t t) { activate_rounded(adapter.activation, hidden + t * n_hidden, n_hidden); });
  if (adapter.second) apply(pool, adapter.second, hidden, n_rows, to);
  if (adapter.norm_after)
    normalize(adapter.norm_after, to, n_rows, adapter.second ? adapter.second.n_out : n_hidden, NormKind::kLayer,
              p.eps);
  arena.release(mark);
}

namespace {

void limit(const Vector& min, const Vector& max, float* x, size_t n) {
  const float low = min ? *min.data() : -std::numeric_limits<float>::max();
  const float high = max ? *max.data() : std::numeric_limits<float>::max();
  for (size_t i = 0; i < n; ++i) x[i] = std::max(std::min(x[i], high), low);
}

}  // namespace

void apply_limited(Pool& pool, Arena& arena, const VisionWeights& w, std::initializer_list<Projection> projections,
                   const float* x, size_t n_rows) {
  if (w.limits.empty()) return apply(pool, projections, x, n_rows);
  for (const auto& [linear, y] : projections) {
    const auto found = std::ranges::find(w.limits, linear, &LinearLimits::linear);
    if (found == w.limits.end()) {
      apply(pool, *linear, x, n_rows, y);
      continue;
    }
    const size_t mark = arena.mark();
    float* limited = arena.take(n_rows * linear->n_in);
    if (!arena.counting()) {
      std::memcpy(limited, x, n_rows * linear->n_in * sizeof(float));
      limit(found->in_min, found->in_max, limited, n_rows * linear->n_in);
      apply(pool, *linear, limited, n_rows, y);
      limit(found->out_min, found->out_max, y, n_rows * linear->n_out);
    }
    arena.release(mark);
  }
}

AttentionShape resampler_shape(size_t n_out) {
  constexpr size_t kHead = 128;
  return {n_out / kHead, n_out / kHead, kHead, kHead};
}

void activate_rounded(Activation activation, float* x, size_t n) {
  if (activation != Activation::kGelu && activation != Activation::kGeluQuick) return activate(activation, x, n);
  constexpr size_t kPart = 256;
  constexpr float kIdentity = 10;  // at and above this, ggml's GELU returns its argument
  for (size_t first = 0; first < n; first += kPart) {
    const size_t count = std::min(kPart, n - first);
    float* part = x + first;
    float kept[kPart];
    std::memcpy(kept, part, count * sizeof(float));
    round_to_halves(part, count);
    activate(activation, part, count);
    round_to_halves(part, count);
    for (size_t i = 0; i < count && activation == Activation::kGelu; ++i)
      if (kept[i] >= kIdentity) part[i] = kept[i];
  }
}

}  // namespace ggufscope
