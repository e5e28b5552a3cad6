// Quantizers of IQ2 and IQ3 (layouts in iq2.cpp and iq3.cpp). For each sub-block, a few scales around the one that
// suits the largest magnitude are tried. The best is the one whose nearest codebook entries correlate best with the
// magnitudes. Groups that were not in the codebook are then fitted again with the best scale. Level l has the magnitude
// scale * (2 l + 1).
#include <algorithm>
#include <cfloat>

#include "quant/codebook.hpp"
#include "quant/quantize.hpp"

namespace ggufscope {
namespace {

enum class Refit { kGroupsOffGrid, kAllIfAnyOff, kAlways };

struct Search {
  int steps;   ///< candidates are -steps..steps
  float step;  ///< distance between candidates, in units of half levels of the largest magnitude
  Refit refit;
};

/// A sub-block of up to 32 magnitudes, in groups of 8 (IQ2) or 4 (IQ3).
struct SubBlock {
  const Codebook& book;
  size_t n;
  float x[32];  ///< magnitudes; one may be negative, which makes the number of minus signs even
  float weights[32];
  float roots[32];  ///< square roots of the weights, which weight the distances
  uint8_t levels[32];

  [[nodiscard]] size_t group() const { return book.bits == 2 ? 8 : 4; }
  [[nodiscard]] int max_level() const { return book.bits == 2 ? 2 : 7; }

  /// Sets the levels of group k for the scale. Returns true if the codebook has them; otherwise the levels are those of
  /// the nearest entry.
  bool fit_group(size_t k, float inverse_scale, float scale, uint8_t* out) const {
    const size_t first = k * group();
    uint32_t code = 0;
    for (size_t i = 0; i < group(); ++i) {
      const int l = clamp_int(nearest_int(0.5f * (inverse_scale * x[first + i] - 1)), 0, max_level());
      out[first + i] = static_cast<uint8_t>(l);
      code |= static_cast<uint32_t>(l) << (book.bits * i);
    }
    if (book.entry_of[code] >= 0) return true;
    const std::span<const uint16_t> around = book.around(code);
    size_t nearest = around[0];
    float min = FLT_MAX;
    for (const uint16_t entry : around) {
      float distance = 0;
      for (size_t i = 0; i < group(); ++i) {
        const float difference = scale * static_cast<float>(2 * book.level(entry, i) + 1) - x[first + i];
        distance += roots[first + i] * difference * difference;
      }
      if (distance < min) {
        min = distance;
        nearest = entry;
      }
    }
    for (size_t i = 0; i < group(); ++i) out[first + i] = static_cast<uint8_t>(book.level(nearest, i));
    return false;
  }

  struct Sums {
    float qx, q2;
  };
  [[nodiscard]] Sums correlate(const uint8_t* candidate) const {
    Sums sums{0, 0};
    for (size_t i = 0; i < n; ++i) {
      const float q = static_cast<float>(2 * candidate[i] + 1);
      sums.qx += weights[i] * x[i] * q;
      sums.q2 += weights[i] * q * q;
    }
    return sums;
  }

  /// Finds the best scale. Afterwards `levels` are those of codebook entries. largest: the value of the highest level.
  float fit(float scale, float largest, const Search& search) {
    const size_t n_groups = n / group();
    const float extreme = static_cast<float>(2 * max_level() + 1);
    uint8_t candidate[32];
    bool on_grid[8], candidate_on_grid[8];
    // Until a candidate wins, ggml assumes that IQ3_S groups are not in the codebook and those of the others are.
    for (size_t k = 0; k < n_groups; ++k) on_grid[k] = search.refit != Refit::kAllIfAnyOff;
    float best = 0;
    for (int step = -search.steps; step <= search.steps; ++step) {
      const float inverse = (extreme + static_cast<float>(step) * search.step) / largest, this_scale = 1 / inverse;
      for (size_t k = 0; k < n_groups; ++k) candidate_on_grid[k] = fit_group(k, inverse, this_scale, candidate);
      const Sums sums = correlate(candidate);
      if (sums.q2 > 0 && sums.qx * sums.qx > best * sums.q2) {
        scale = sums.qx / sums.q2;
        best = scale * sums.qx;
        std::copy(candidate, candidate + n, levels);
        std::copy(candidate_on_grid, candidate_on_grid + n_groups, on_grid);
      }
    }
    const bool any_off = std::find(on_grid, on_grid + n_groups, false) != on_grid + n_groups;
    if ((any_off || search.refit == Refit::kAlways) && scale > 0) {
      const float inverse = 1 / scale;
      for (size_t k = 0; k < n_groups; ++k)
        if (search.refit != Refit::kGroupsOffGrid || !on_grid[k]) fit_group(k, inverse, scale, levels);
      const Sums sums = correlate(levels);
      if (sums.q2 > 0) scale = sums.qx / sums.q2;
    }
    return scale;
  }

  /// The codebook entry of group k; 0 if bad input (NaN) left levels that are not in the codebook.
  [[nodiscard]] uint32_t entry(size_t k) const {
    uint32_t code = 0;
    for (size_t i = 0; i < group(); ++i)
      code |= static_cast<uint32_t>(std::min<int>(levels[k * group() + i], max_level())) << (book.bits * i);
    return static_cast<uint32_t>(std::max(book.entry_of[code], 0));
  }
};

/// Splits eight elements into magnitudes and signs. even: make the number of minus signs even, at the least cost.
uint32_t split_signs(const float* from, const float* weights, float* magnitudes, bool even) {
  uint32_t signs = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const bool minus = !(from[i] >= 0);
    magnitudes[i] = minus ? -from[i] : from[i];
    signs |= static_cast<uint32_t>(minus) << i;
  }
  if (even && __builtin_popcount(signs) % 2 != 0) {
    uint32_t cheapest = 0;
    float min = weights[0] * from[0] * from[0];
    for (uint32_t i = 1; i < 8; ++i) {
      const float cost = weights[i] * from[i] * from[i];
      if (cost < min) {
        min = cost;
        cheapest = i;
      }
    }
    magnitudes[cheapest] = -magnitudes[cheapest];
    signs ^= 1u << cheapest;
  }
  return signs;
}

/// Weights without importance: x^2, or x^2 plus a quarter of twice the mean square.
enum class Unweighted { kSquares, kSquaresPlus };

struct Family {
  const Codebook& (*book)();
  size_t sub_block;  ///< elements that share a scale
  bool even_signs;
  float variance;  ///< multiplied by the mean square
  Unweighted unweighted;
  float tiny;           ///< sub-blocks with a smaller largest magnitude become zero
  bool start_positive;  ///< IQ2_XXS: the first scale comes from fit_positive instead of the largest magnitude
  Search search;
  float stretch;  ///< an empirical correction of the stored scale
};

/// A fitted super-block: entries, signs and four-bit scales.
struct Fitted {
  float d;
  uint32_t entries[64];
  uint32_t signs[32];  ///< for each 8 elements
  uint32_t scales[16];
  bool empty;
  bool is_zero[16];  ///< for each sub-block
};

Fitted fit_super_block(const Family& family, const float* x, const float* importance) {
  Fitted out{};
  float scales[16] = {};
  const float sigma2 = family.variance * sum_of_squares(x, 256) / 256;
  const size_t n = family.sub_block, n_sub = 256 / n;
  SubBlock block{family.book(), n, {}, {}, {}, {}};
  const size_t n_groups = n / block.group();
  float max_scale = 0;
  for (size_t ib = 0; ib < n_sub; ++ib) {
    const float* xb = x + n * ib;
    if (importance != nullptr) {
      importance_weights(xb, importance + n * ib, sigma2, block.weights, n);
    } else {
      const float base = family.unweighted == Unweighted::kSquaresPlus ? 0.25f * sigma2 : 0.0f;
      for (size_t i = 0; i < n; ++i) block.weights[i] = base + xb[i] * xb[i];
    }
    for (size_t i = 0; i < n; ++i) block.roots[i] = std::sqrt(block.weights[i]);
    uint32_t* signs = out.signs + ib * n / 8;
    for (size_t k = 0; k < n / 8; ++k)
      signs[k] = split_signs(xb + 8 * k, block.weights + 8 * k, block.x + 8 * k, family.even_signs);
    std::fill(block.levels, block.levels + 32, uint8_t{0});
    float max = block.x[0];
    for (size_t i = 1; i < n; ++i) max = max > block.x[i] ? max : block.x[i];
    // A zero sub-block keeps entry 0, no signs and scale 0.
    bool zero = family.tiny == 0 ? max == 0 : max < family.tiny;
    float scale = 0, largest = max;
    if (!zero) {
      const int n_levels = block.max_level() + 1;
      if (family.start_positive) {
        scale = fit_positive(n, n_levels + 1, block.x, block.levels, block.weights);
        largest = scale * static_cast<float>(n_levels);
        zero = largest <= 0;
      } else {
        scale = max / static_cast<float>(2 * n_levels - 1);
      }
    }
    if (zero) {
      std::fill(signs, signs + n / 8, 0u);
      out.is_zero[ib] = true;
      continue;
    }
    scale = block.fit(scale, largest, family.search);
    if (scale < 0) {
      scale = -scale;
      for (size_t k = 0; k < n / 8; ++k) signs[k] = ~signs[k];
    }
    for (size_t k = 0; k < n_groups; ++k) out.entries[ib * n_groups + k] = block.entry(k);
    scales[ib] = scale;
    max_scale = max_scale > scale ? max_scale : scale;
  }
  out.empty = max_scale == 0;
  if (out.empty) return out;
  out.d = max_scale / 31;
  const float inverse = 1 / out.d;
  for (size_t ib = 0; ib < n_sub; ++ib)
    out.scales[ib] = static_cast<uint32_t>(clamp_int(nearest_int(0.5f * (inverse * scales[ib] - 1)), 0, 15));
  out.d *= family.stretch;
  return out;
}

// clang-format off
constexpr Family kIq2Xxs{iq2_xxs_codebook, 32, true,  1, Unweighted::kSquares,     kTinyGroup, true,  {6,  0.1f, Refit::kAlways},        1.0f};
constexpr Family kIq2Xs {iq2_xs_codebook,  16, true,  1, Unweighted::kSquares,     kTinyGroup, false, {9,  0.1f, Refit::kGroupsOffGrid}, 1.0f};
constexpr Family kIq2S  {iq2_s_codebook,   16, false, 2, Unweighted::kSquaresPlus, 1e-8f,      false, {9,  0.1f, Refit::kGroupsOffGrid}, 0.9875f};
constexpr Family kIq3Xxs{iq3_xxs_codebook, 32, true,  2, Unweighted::kSquares,     1e-8f,      false, {15, 0.2f, Refit::kGroupsOffGrid}, 1.0125f};
constexpr Family kIq3S  {iq3_s_codebook,   32, false, 2, Unweighted::kSquares,     0,          false, {9,  0.2f, Refit::kAllIfAnyOff},   1.033f};
// clang-format on

uint8_t or_byte(uint8_t byte, uint32_t bits) { return static_cast<uint8_t>(byte | bits); }

}  // namespace

void quantize_iq2_xxs(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 66>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float* weights) {
    const Fitted fitted = fit_super_block(kIq2Xxs, x, weights);
    std::memset(y, 0, 66);
    if (fitted.empty) return;
    store_f16(y, fitted.d);
    for (size_t ib = 0; ib < 8; ++ib) {
      uint32_t rest = fitted.scales[ib] << 28;
      for (size_t k = 0; k < 4; ++k) {
        y[2 + 8 * ib + k] = static_cast<uint8_t>(fitted.entries[4 * ib + k]);
        rest |= (fitted.signs[4 * ib + k] & 127u) << (7 * k);
      }
      store<uint32_t>(y + 6 + 8 * ib, rest);
    }
  });
}

void quantize_iq2_xs(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 74>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float* weights) {
    const Fitted fitted = fit_super_block(kIq2Xs, x, weights);
    std::memset(y, 0, 74);
    if (fitted.empty) return;
    store_f16(y, fitted.d);
    for (size_t l = 0; l < 32; ++l)
      store<uint16_t>(y + 2 + 2 * l, static_cast<uint16_t>(fitted.entries[l] | (fitted.signs[l] & 127u) << 9));
    for (size_t j = 0; j < 16; ++j) y[66 + j / 2] = or_byte(y[66 + j / 2], fitted.scales[j] << (4 * (j % 2)));
  });
}

void quantize_iq2_s(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 82>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float* weights) {
    const Fitted fitted = fit_super_block(kIq2S, x, weights);
    std::memset(y, 0, 82);
    for (size_t l = 0; l < 32; ++l) {
      y[2 + l] = static_cast<uint8_t>(fitted.entries[l]);
      y[34 + l] = static_cast<uint8_t>(fitted.signs[l]);
      y[66 + l / 4] = or_byte(y[66 + l / 4], fitted.entries[l] >> 8 << (2 * (l % 4)));
    }
    if (fitted.empty) return;
    store_f16(y, fitted.d);
    for (size_t j = 0; j < 16; ++j) y[74 + j / 2] = or_byte(y[74 + j / 2], fitted.scales[j] << (4 * (j % 2)));
  });
}

void quantize_iq3_xxs(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 98>(src, dst, n_blocks, importance, row_blocks, [](const float* x, uint8_t* y, const float* weights) {
    const Fitted fitted = fit_super_block(kIq3Xxs, x, weights);
    std::memset(y, 0, 98);
    if (fitted.empty) return;
    store_f16(y, fitted.d);
    for (size_t l = 0; l < 64; ++l) y[2 + l] = static_cast<uint8_t>(fitted.entries[l]);
    for (size_t ib = 0; ib < 8; ++ib) {
      uint32_t rest = fitted.scales[ib] << 28;
      for (size_t k = 0; k < 4; ++k) rest |= (fitted.signs[4 * ib + k] & 127u) << (7 * k);
      store<uint32_t>(y + 66 + 4 * ib, rest);
    }
  });
}

void quantize_iq3_s(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 110>(src, dst, n_blocks, importance, row_blocks,
                       [](const float* x, uint8_t* y, const float* weights) {
                         const Fitted fitted = fit_super_block(kIq3S, x, weights);
                         std::memset(y, 0, 110);
                         // ggml does not advance its pointers to low index bits and signs for a zero sub-block, so
                         // those of the next sub-block take its place.
                         uint8_t *qs = y + 2, *signs = y + 74;
                         for (size_t ib = 0; ib < 8; ++ib) {
                           if (fitted.is_zero[ib]) continue;
                           for (size_t k = 0; k < 8; ++k) {
                             *qs++ = static_cast<uint8_t>(fitted.entries[8 * ib + k]);
                             y[66 + ib] = or_byte(y[66 + ib], fitted.entries[8 * ib + k] >> 8 << k);
                           }
                           for (size_t k = 0; k < 4; ++k) *signs++ = static_cast<uint8_t>(fitted.signs[4 * ib + k]);
                         }
                         if (fitted.empty) return;
                         store_f16(y, fitted.d);
                         for (size_t j = 0; j < 8; ++j)
                           y[106 + j / 2] = or_byte(y[106 + j / 2], fitted.scales[j] << (4 * (j % 2)));
                       });
}

}  // namespace ggufscope
