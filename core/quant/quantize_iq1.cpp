// Quantizers of IQ1_S and IQ1_M (layouts in iq1.cpp). The values are -1, 0 and 1, so the best split of a sub-block is
// found by trying all pairs of boundaries in its sorted elements, for each sign of the shift. Then each group of 8
// moves to the nearest codebook entry.
#include <algorithm>
#include <cfloat>

#include "quant/codebook.hpp"
#include "quant/quantize.hpp"

namespace ggufscope {
namespace {

constexpr float kPlus[3] = {-0.875f, 0.125f, 1.125f}, kMinus[3] = {-1.125f, -0.125f, 0.875f};

/// Stable sort; `order` receives the element indices sorted by value.
void sort_by_value(const float* x, size_t n, uint8_t* order) {
  for (size_t j = 0; j < n; ++j) {
    size_t at = j;
    for (; at > 0 && x[order[at - 1]] > x[j]; --at) order[at] = order[at - 1];
    order[at] = static_cast<uint8_t>(j);
  }
}

/// The best split so far. In sorted order, elements have level 0 before `first`, 1 before `second`, and 2 after it.
struct Split {
  float scale = 0, score = -FLT_MAX;
  size_t first = 0, second = 0;
  uint32_t shifts = 0;  ///< one bit for each group with its own sign; 1: minus
  bool found = false;

  void offer(float qx, float q2, size_t i1, size_t i2, uint32_t which) {
    if (!(q2 > 0 && qx * qx > score * q2)) return;
    scale = qx / q2;
    score = scale * qx;
    first = i1;
    second = i2;
    shifts = which;
    found = true;
  }
};

void put_levels(const Split& split, const uint8_t* order, size_t n, bool mirrored, uint8_t* levels) {
  for (size_t j = 0; j < n; ++j) {
    const int level = j < split.first ? 0 : j < split.second ? 1 : 2;
    levels[order[j]] = static_cast<uint8_t>(mirrored ? 2 - level : level);
  }
}

/// The codebook entry for eight levels, or the nearest one; in that case on_grid becomes false.
uint32_t find_entry(const Codebook& book, const uint8_t* levels, const float* x, const float* weights, float scale,
                    const float* values, bool& on_grid) {
  uint32_t code = 0;
  for (uint32_t j = 0; j < 8; ++j) code |= static_cast<uint32_t>(levels[j]) << (2 * j);
  if (book.entry_of[code] >= 0) return static_cast<uint32_t>(book.entry_of[code]);
  on_grid = false;
  const std::span<const uint16_t> around = book.around(code);
  uint32_t nearest = around[0];
  float min = FLT_MAX;
  for (const uint16_t entry : around) {
    float distance = 0;
    for (size_t i = 0; i < 8; ++i) {
      const float difference = scale * values[book.level(entry, i)] - x[i];
      distance += weights[i] * difference * difference;
    }
    if (distance < min) {
      min = distance;
      nearest = entry;
    }
  }
  return nearest;
}

/// Adds the group's weighted products with its entry, multiplied by factor.
void correlate(const Codebook& book, uint32_t entry, const float* values, float factor, const float* x,
               const float* weights, float& sum_qx, float& sum_q2) {
  for (size_t j = 0; j < 8; ++j) {
    const float q = values[book.level(entry, j)] * factor;
    sum_qx += weights[j] * q * x[j];
    sum_q2 += weights[j] * q * q;
  }
}

/// A sub-block as codebook entries, one for each group of 8, and their common scale.
struct CodebookFit {
  float scale = 0;
  uint32_t shifts = 0;  ///< as in Split
  uint32_t entries[4] = {};
};

/// Moves the levels of a split to the codebook. Signs(shifts, k) has the values of group k; kAllMinus: all signs minus.
template <size_t kGroups, uint32_t kAllMinus, const float* (*Signs)(uint32_t, size_t)>
CodebookFit move_to_codebook(const Split& split, const uint8_t* order, const float* x, const float* weights) {
  const Codebook& book = iq1_codebook();
  const bool mirrored = split.scale < 0;
  uint8_t levels[8 * kGroups];
  put_levels(split, order, 8 * kGroups, mirrored, levels);
  CodebookFit out;
  out.scale = mirrored ? -split.scale : split.scale;
  out.shifts = mirrored ? kAllMinus - split.shifts : split.shifts;
  bool on_grid = true;
  for (size_t k = 0; k < kGroups; ++k)
    out.entries[k] =
        find_entry(book, levels + 8 * k, x + 8 * k, weights + 8 * k, out.scale, Signs(out.shifts, k), on_grid);
  if (on_grid) return out;
  float sum_qx = 0, sum_q2 = 0;
  for (size_t k = 0; k < kGroups; ++k)
    correlate(book, out.entries[k], Signs(out.shifts, k), 1, x + 8 * k, weights + 8 * k, sum_qx, sum_q2);
  if (sum_qx > 0 && sum_q2 > 0) out.scale = sum_qx / sum_q2;
  return out;
}

/// The values of IQ1_S, whose sub-blocks have one sign.
const float* common_values(uint32_t shifts, size_t) { return shifts != 0 ? kMinus : kPlus; }

/// The best split of a sub-block of IQ1_S in sorted order.
Split split_32(const float* x, const float* weights, const uint8_t* order) {
  float sum_x[33] = {}, sum_w[33] = {};  // prefix sums
  for (size_t j = 0; j < 32; ++j) {
    sum_x[j + 1] = sum_x[j] + weights[order[j]] * x[order[j]];
    sum_w[j + 1] = sum_w[j] + weights[order[j]];
  }
  Split split;
  for (size_t i1 = 0; i1 <= 32; ++i1) {
    for (size_t i2 = i1; i2 <= 32; ++i2) {
      const float x0 = sum_x[i1] - sum_x[0], x1 = sum_x[i2] - sum_x[i1], x2 = sum_x[32] - sum_x[i2];
      const float w0 = sum_w[i1] - sum_w[0], w1 = sum_w[i2] - sum_w[i1], w2 = sum_w[32] - sum_w[i2];
      for (uint32_t minus = 0; minus < 2; ++minus) {
        const float* v = minus != 0 ? kMinus : kPlus;
        split.offer(x0 * v[0] + x1 * v[1] + x2 * v[2], w0 * v[0] * v[0] + w1 * v[1] * v[1] + w2 * v[2] * v[2], i1, i2,
                    minus);
      }
    }
  }
  return split;
}

void quantize_block_iq1_s(const float* x, uint8_t* y, const float* importance) {
  std::memset(y, 0, 50);
  const float sigma2 = 2 * sum_of_squares(x, 256) / 256;
  float scales[8] = {}, max_scale = 0, weights[32];
  uint32_t qh[8] = {};
  for (size_t ib = 0; ib < 8; ++ib) {
    const float* xb = x + 32 * ib;
    importance_weights(xb, importance + 32 * ib, sigma2, weights, 32);
    if (absolute_maximum(xb, 32) < 1e-12f) continue;
    uint8_t order[32];
    sort_by_value(xb, 32, order);
    const Split split = split_32(xb, weights, order);
    if (!split.found) continue;
    const CodebookFit sub_block = move_to_codebook<4, 1, common_values>(split, order, xb, weights);
    for (size_t k = 0; k < 4; ++k) {
      y[2 + 4 * ib + k] = static_cast<uint8_t>(sub_block.entries[k]);
      qh[ib] |= sub_block.entries[k] >> 8 << (3 * k);
    }
    qh[ib] |= sub_block.shifts != 0 ? 0x8000u : 0u;
    scales[ib] = sub_block.scale;
    max_scale = max_scale > scales[ib] ? max_scale : scales[ib];
  }
  if (max_scale == 0) {
    for (size_t ib = 0; ib < 8; ++ib) store<uint16_t>(y + 34 + 2 * ib, static_cast<uint16_t>(qh[ib] & 0xfffu));
    return;
  }
  const float d = max_scale / 15, inverse = 1 / d;
  store_f16(y, d * 1.125f);
  for (size_t ib = 0; ib < 8; ++ib) {
    const int l = clamp_int(nearest_int(0.5f * (inverse * scales[ib] - 1)), 0, 7);
    store<uint16_t>(y + 34 + 2 * ib, static_cast<uint16_t>(qh[ib] | static_cast<uint32_t>(l) << 12));
  }
}

/// The weights of a sub-block of IQ1_M.
void weigh_16(const float* x, const float* importance, float sigma2, float* weights) {
  if (importance != nullptr) {
    importance_weights(x, importance, sigma2, weights, 16);
  } else {
    for (size_t i = 0; i < 16; ++i) weights[i] = x[i] * x[i];
  }
}

/// The values for half k of a sub-block. Bit 1 of the choice is the sign for the first half, bit 0 for the second.
const float* half_values(uint32_t choice, size_t k) {
  return ((k == 0 ? choice >> 1 : choice) & 1u) != 0 ? kMinus : kPlus;
}

/// The best split of a sub-block of IQ1_M in sorted order.
Split split_16(const float* x, const float* weights, const uint8_t* order) {
  // Prefix sums, separate for each half of the sub-block, because each half has its own sign of the shift.
  float sum_x[2][17] = {}, sum_w[2][17] = {};
  for (size_t j = 0; j < 16; ++j) {
    const size_t i = order[j], half = i / 8;
    for (size_t h = 0; h < 2; ++h) {
      sum_x[h][j + 1] = h == half ? sum_x[h][j] + weights[i] * x[i] : sum_x[h][j];
      sum_w[h][j + 1] = h == half ? sum_w[h][j] + weights[i] : sum_w[h][j];
    }
  }
  Split split;
  for (size_t i1 = 0; i1 <= 16; ++i1) {
    for (size_t i2 = i1; i2 <= 16; ++i2) {
      // The values differ by 1, so three partial sums of products reduce to the total and two prefix sums.
      float qx[2][2], q2[2][2];  // indexed by sign and half
      for (size_t minus = 0; minus < 2; ++minus) {
        const float* v = minus != 0 ? kMinus : kPlus;
        for (size_t h = 0; h < 2; ++h) {
          qx[minus][h] = sum_x[h][16] * v[2] - (sum_x[h][i1] + sum_x[h][i2]);
          q2[minus][h] = sum_w[h][16] * v[2] * v[2] + sum_w[h][i1] * (v[0] * v[0] - v[1] * v[1]) +
                         sum_w[h][i2] * (v[1] * v[1] - v[2] * v[2]);
        }
      }
      for (uint32_t choice = 0; choice < 4; ++choice)
        split.offer(qx[choice >> 1][0] + qx[choice & 1][1], q2[choice >> 1][0] + q2[choice & 1][1], i1, i2, choice);
    }
  }
  return split;
}

/// Stores the scales of the sub-blocks and, in their upper bits, that of the block, fitted to the rounded scales.
void put_scales_iq1_m(const CodebookFit* sub_blocks, float max_scale, const float* x, const float* importance,
                      float sigma2, uint8_t* y) {
  float d = max_scale / 15, sum_qx = 0, sum_q2 = 0, weights[16];
  const float inverse = 1 / d;
  uint32_t words[4] = {};
  for (size_t ib = 0; ib < 16; ++ib) {
    const CodebookFit& sub_block = sub_blocks[ib];
    const int l = clamp_int(nearest_int(0.5f * (inverse * sub_block.scale - 1)), 0, 7);
    words[ib / 4] |= static_cast<uint32_t>(l) << (3 * (ib % 4));
    const float* xb = x + 16 * ib;
    weigh_16(xb, importance == nullptr ? nullptr : importance + 16 * ib, sigma2, weights);
    for (size_t k = 0; k < 2; ++k)
      correlate(iq1_codebook(), sub_block.entries[k], half_values(sub_block.shifts, k), static_cast<float>(2 * l + 1),
                xb + 8 * k, weights + 8 * k, sum_qx, sum_q2);
  }
  if (sum_q2 > 0) d = sum_qx / sum_q2;
  const uint32_t half = f32_to_f16(d * 1.1125f);
  for (size_t k = 0; k < 4; ++k)
    store<uint16_t>(y + 48 + 2 * k, static_cast<uint16_t>(words[k] | (half >> (4 * k) & 15u) << 12));
}

void quantize_block_iq1_m(const float* x, uint8_t* y, const float* importance) {
  std::memset(y, 0, 56);
  const float sigma2 = 2 * sum_of_squares(x, 256) / 256;
  float max_scale = 0, weights[16];
  CodebookFit sub_blocks[16];
  for (size_t ib = 0; ib < 16; ++ib) {
    const float* xb = x + 16 * ib;
    weigh_16(xb, importance == nullptr ? nullptr : importance + 16 * ib, sigma2, weights);
    if (absolute_maximum(xb, 16) < 1e-7f) continue;
    uint8_t order[16];
    sort_by_value(xb, 16, order);
    const Split split = split_16(xb, weights, order);
    if (!split.found) continue;
    sub_blocks[ib] = move_to_codebook<2, 3, half_values>(split, order, xb, weights);
    max_scale = max_scale > sub_blocks[ib].scale ? max_scale : sub_blocks[ib].scale;
  }
  for (size_t ib = 0; ib < 16; ++ib) {
    const auto& [scale, shifts, entries] = sub_blocks[ib];
    y[2 * ib] = static_cast<uint8_t>(entries[0]);
    y[2 * ib + 1] = static_cast<uint8_t>(entries[1]);
    y[32 + ib] = static_cast<uint8_t>(entries[0] >> 8 | entries[1] >> 8 << 4);
    // Without a scale, the signs are not stored.
    if (max_scale != 0) y[32 + ib] = static_cast<uint8_t>(y[32 + ib] | (shifts & 2u) << 2 | (shifts & 1u) << 7);
  }
  if (max_scale != 0) put_scales_iq1_m(sub_blocks, max_scale, x, importance, sigma2, y);
}

}  // namespace

void quantize_iq1_s(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 50>(src, dst, n_blocks, importance, row_blocks, quantize_block_iq1_s);
}
void quantize_iq1_m(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks) {
  each_block<256, 56>(src, dst, n_blocks, importance, row_blocks, quantize_block_iq1_m);
}

}  // namespace ggufscope
