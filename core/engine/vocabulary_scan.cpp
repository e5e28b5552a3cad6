// Passes over the logits of a whole vocabulary, in SIMD.
#include "engine/vocabulary_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/simd.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kUnbounded = std::numeric_limits<float>::infinity();
constexpr size_t kBins = 2048;  // histogram of distances up to 32; the last bin also has all larger ones
constexpr float kBinsPerUnit = 64.0f;
constexpr size_t kPart = 4096;  // floats that are added in float precision

// The largest value; NaN is ignored.
float largest(std::span<const float> x) {
  v128_t lanes = wasm_f32x4_splat(-kUnbounded);
  size_t i = 0;
  for (; i + 4 <= x.size(); i += 4) lanes = wasm_f32x4_pmax(lanes, wasm_v128_load(x.data() + i));
  float max = vec::max4(lanes);
  for (; i < x.size(); ++i) max = x[i] > max ? x[i] : max;
  return max;
}

}  // namespace

bool VocabularyScan::read(std::span<const float> logits) {
  logits_ = logits;
  max_ = largest(logits);
  if (!(max_ > -kUnbounded && max_ < kUnbounded)) return false;
  exps_.resize((logits.size() + 3) / 4 * 4);
  sum_ = weighted_ = 0;
  const v128_t max = wasm_f32x4_splat(max_), lowest = wasm_f32x4_splat(-kUnbounded);
  for (size_t begin = 0; begin < logits.size(); begin += kPart) {
    const size_t end = std::min(begin + kPart, logits.size());
    v128_t sums = wasm_f32x4_splat(0), weighted = sums;
    for (size_t i = begin; i < end; i += 4) {
      float last[4] = {-kUnbounded, -kUnbounded, -kUnbounded, -kUnbounded};
      if (i + 4 > end)
        std::copy(logits.begin() + static_cast<ptrdiff_t>(i), logits.begin() + static_cast<ptrdiff_t>(end), last);
      const v128_t x = wasm_v128_load(i + 4 > end ? last : logits.data() + i), real = wasm_f32x4_gt(x, lowest);
      const v128_t below = wasm_v128_and(wasm_f32x4_sub(x, max), real);
      const v128_t e = wasm_v128_and(vec::exp4(below), real);
      wasm_v128_store(exps_.data() + i, e);
      sums = wasm_f32x4_add(sums, e);
      weighted = wasm_f32x4_add(weighted, wasm_f32x4_mul(below, e));
    }
    sum_ += static_cast<double>(vec::sum4(sums));
    weighted_ += static_cast<double>(vec::sum4(weighted));
  }
  return true;
}

double VocabularyScan::log_sum() const { return std::log(sum_); }

Candidate VocabularyScan::candidate(size_t id) const {
  return {static_cast<int32_t>(id), logits_[id], static_cast<float>(static_cast<double>(exps_[id]) / sum_)};
}

void VocabularyScan::collect_above(float min, std::vector<Candidate>& out) const {
  out.clear();
  const v128_t bound = wasm_f32x4_splat(min);
  const float* const x = logits_.data();
  for (size_t i = 0; i < logits_.size();) {
    const auto from = [&](size_t k) { return wasm_f32x4_ge(wasm_v128_load(x + i + k), bound); };
    if (i + 16 <= logits_.size() &&
        !wasm_v128_any_true(wasm_v128_or(wasm_v128_or(from(0), from(4)), wasm_v128_or(from(8), from(12))))) {
      i += 16;
      continue;
    }
    for (const size_t end = std::min(i + 16, logits_.size()); i < end; ++i)
      if (x[i] >= min) out.push_back(candidate(i));
  }
}

// The bin in which the sum of probabilities reaches p, and the sum before it. Fills bins_ and bin_of_.
size_t VocabularyScan::crossing_bin(float center, double p, double& before) {
  bins_.assign(kBins, 0);
  bin_of_.resize(exps_.size());
  const v128_t at = wasm_f32x4_splat(center), scale = wasm_f32x4_splat(kBinsPerUnit);
  const v128_t last = wasm_f32x4_splat(static_cast<float>(kBins - 1));
  const size_t n = logits_.size();
  for (size_t i = 0; i < n; i += 4) {
    uint32_t bins[4];
    float few[4] = {};
    if (i + 4 > n) std::copy(logits_.begin() + static_cast<ptrdiff_t>(i), logits_.end(), few);
    const v128_t x = wasm_v128_load(i + 4 > n ? few : logits_.data() + i);
    const v128_t distance = wasm_f32x4_abs(wasm_f32x4_sub(x, at));
    wasm_v128_store(bins, wasm_u32x4_trunc_sat_f32x4(wasm_f32x4_pmin(last, wasm_f32x4_mul(distance, scale))));
    for (size_t k = 0; k < 4 && i + k < n; ++k) {
      bin_of_[i + k] = static_cast<uint16_t>(bins[k]);
      bins_[bins[k]] += static_cast<double>(exps_[i + k]);
    }
  }
  before = 0;
  size_t bin = 0;
  // Stops slightly early, because the sums are rounded. The caller continues with the next bin if necessary.
  while (bin + 1 < kBins && before + bins_[bin] < p * (1 - 1e-6) * sum_) before += bins_[bin++];
  return bin;
}

// Tokens of bins [first, last].
void VocabularyScan::collect_bins(size_t first, size_t last, std::vector<Candidate>& out) const {
  const v128_t min = wasm_i16x8_splat(static_cast<int16_t>(first)), max = wasm_i16x8_splat(static_cast<int16_t>(last));
  const auto has = [&](const uint16_t* bins) {
    const v128_t b = wasm_v128_load(bins);
    return wasm_v128_and(wasm_i16x8_ge(b, min), wasm_i16x8_le(b, max));
  };
  for (size_t i = 0; i < logits_.size();) {
    const size_t end = std::min(i + 16, logits_.size());
    if (end - i == 16 && !wasm_v128_any_true(wasm_v128_or(has(&bin_of_[i]), has(&bin_of_[i + 8])))) {
      i = end;
      continue;
    }
    for (; i < end; ++i)
      if (bin_of_[i] >= first && bin_of_[i] <= last && exps_[i] > 0) out.push_back(candidate(i));
  }
}

void VocabularyScan::collect_nearest(double center, double p, bool enough, std::vector<Candidate>& out) {
  out.clear();
  double before = 0;
  size_t bin = crossing_bin(static_cast<float>(center), p, before);
  if (bin > 0) collect_bins(0, bin - 1, out);
  const auto distance = [center](const Candidate& c) { return std::abs(static_cast<double>(c.logit) - center); };
  double mass = before / sum_;
  std::vector<Candidate> band;
  for (; bin < kBins; ++bin) {
    if (bins_[bin] <= 0) continue;
    band.clear();
    collect_bins(bin, bin, band);
    std::stable_sort(band.begin(), band.end(),
                     [&](const Candidate& a, const Candidate& b) { return distance(a) < distance(b); });
    for (const Candidate& c : band) {
      out.push_back(c);
      mass += static_cast<double>(c.p);
      if (enough ? mass >= p : mass > p) return;
    }
  }
}

}  // namespace ggufscope
