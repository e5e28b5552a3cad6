// Computes the frequencies and angles of rotary embeddings.
#include "nn/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ggufscope {

RopeTable make_rope_table(const RopeParameters& p, std::span<const float> factors) {
  RopeTable table;
  table.inverse_frequency.resize(p.n_rot / 2);
  table.magnitude = p.attn_factor;
  // YaRN: dimensions that rotate more than beta_fast times within the original context keep their frequency. Those
  // below beta_slow rotations are interpolated, and between them there is a linear ramp.
  double low = 0, high = 0;
  if (p.ext_factor != 0) {
    const auto dimension = [&](double turns) {
      return p.n_rot * std::log(p.n_ctx_original / (turns * 2 * std::numbers::pi)) /
             (2 * std::log(static_cast<double>(p.freq_base)));
    };
    low = std::max(0.0, std::floor(dimension(p.beta_fast)));
    high = std::min(p.n_rot - 1.0, std::ceil(dimension(p.beta_slow)));
    table.magnitude *= static_cast<float>(1.0 + 0.1 * std::log(1.0 / p.freq_scale));
  }
  for (size_t i = 0; i < table.inverse_frequency.size(); ++i) {
    const double factor = i < factors.size() ? static_cast<double>(factors[i]) : 1.0;
    const double original =
        std::pow(static_cast<double>(p.freq_base), -2.0 * static_cast<double>(i) / p.n_rot) / factor;
    const double scaled = p.freq_scale * original;
    const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
    const double keep = p.ext_factor * (1.0 - ramp);
    table.inverse_frequency[i] = p.ext_factor == 0 ? scaled : scaled * (1.0 - keep) + original * keep;
  }
  return table;
}

namespace {

template <class Position>
void angles(const RopeTable& table, const Position& position, float* cosines, float* sines) {
  for (size_t i = 0; i < table.inverse_frequency.size(); ++i) {
    const double angle = position(i) * table.inverse_frequency[i];
    cosines[i] = static_cast<float>(std::cos(angle)) * table.magnitude;
    sines[i] = static_cast<float>(std::sin(angle)) * table.magnitude;
  }
}

}  // namespace

void rope_angles(const RopeTable& table, int32_t position, float* cosines, float* sines) {
  angles(
      table, [&](size_t) { return position; }, cosines, sines);
}

void rope_angles(const RopeTable& table, const int32_t* positions, float* cosines, float* sines) {
  angles(
      table, [&](size_t i) { return positions[table.axis[i]]; }, cosines, sines);
}

void rope(RopeKind kind, float* x, size_t n_heads, size_t stride, size_t n_rot, const float* cosines,
          const float* sines) {
  if (kind == RopeKind::kQuarters) {
    rope(RopeKind::kHalves, x, n_heads, stride, n_rot / 2, cosines, sines);
    return rope(RopeKind::kHalves, x + n_rot / 2, n_heads, stride, n_rot / 2, cosines + n_rot / 4, sines + n_rot / 4);
  }
  const size_t half = n_rot / 2;
  const size_t step = kind == RopeKind::kAdjacent ? 2 : 1;
  const size_t apart = kind == RopeKind::kAdjacent ? 1 : half;
  for (size_t head = 0; head < n_heads; ++head) {
    float* a = x + head * stride;
    float* b = a + apart;
    for (size_t i = 0; i < half; ++i) {
      const float x0 = a[i * step], x1 = b[i * step];
      a[i * step] = x0 * cosines[i] - x1 * sines[i];
      b[i * step] = x0 * sines[i] + x1 * cosines[i];
    }
  }
}

}  // namespace ggufscope
