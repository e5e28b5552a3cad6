// Builds the neighbour lists of the IQ codebooks.
#include "quant/codebook.hpp"

namespace ggufscope {
namespace {

/// Squared distance between two halves of a code, summed over the levels.
uint8_t half_distance(uint32_t a, uint32_t b, uint32_t bits) {
  const int mask = (1 << bits) - 1;
  int sum = 0;
  for (; (a | b) != 0; a >>= bits, b >>= bits) {
    const int difference = (static_cast<int>(a) & mask) - (static_cast<int>(b) & mask);
    sum += difference * difference;
  }
  return static_cast<uint8_t>(sum);
}

/// n_distances: how many distinct distances a neighbour list covers. Codes consist of levels below n_levels.
Codebook build(const IqGrid& grid, uint32_t bits, uint32_t n_levels, uint32_t n_distances) {
  const uint32_t n_elements = bits == 2 ? 8 : 4, half_bits = bits * n_elements / 2, half_mask = (1u << half_bits) - 1;
  const size_t n_codes = size_t{1} << (2 * half_bits);
  Codebook book{grid, bits, std::vector<int32_t>(n_codes, INT32_MIN), {}};
  for (size_t i = 0; i < grid.codes.size(); ++i) book.entry_of[grid.codes[i]] = static_cast<int32_t>(i);

  const auto is_code = [&](size_t code) {
    for (; code != 0; code >>= bits)
      if ((code & ((1u << bits) - 1)) >= n_levels) return false;
    return true;
  };
  std::vector<uint16_t> distance(grid.codes.size());
  uint8_t low[256], high[256];
  for (size_t code = 0; code < n_codes; ++code) {
    if (book.entry_of[code] >= 0 || !is_code(code)) continue;
    for (uint32_t half = 0; half <= half_mask; ++half) {
      low[half] = half_distance(static_cast<uint32_t>(code) & half_mask, half, bits);
      high[half] = half_distance(static_cast<uint32_t>(code) >> half_bits, half, bits);
    }
    bool seen[256] = {};  // indexed by distance, which is at most 4 * 49
    for (size_t i = 0; i < grid.codes.size(); ++i) {
      const uint32_t other = grid.codes[i];
      distance[i] = static_cast<uint16_t>(low[other & half_mask] + high[other >> half_bits]);
      seen[distance[i]] = true;
    }
    const size_t list = book.neighbours.size();
    book.entry_of[code] = -1 - static_cast<int32_t>(list);
    book.neighbours.push_back(0);
    for (uint32_t d = 0, found = 0; d < 256 && found < n_distances; ++d) {
      if (!seen[d]) continue;
      ++found;
      for (size_t i = 0; i < distance.size(); ++i)
        if (distance[i] == d) book.neighbours.push_back(static_cast<uint16_t>(i));
    }
    book.neighbours[list] = static_cast<uint16_t>(book.neighbours.size() - list - 1);
  }
  return book;
}

}  // namespace

const Codebook& iq1_codebook() {
  static const Codebook book = build(iq1_grid(), 2, 3, 3);
  return book;
}
const Codebook& iq2_xxs_codebook() {
  static const Codebook book = build(iq2_xxs_grid(), 2, 3, 2);
  return book;
}
const Codebook& iq2_xs_codebook() {
  static const Codebook book = build(iq2_xs_grid(), 2, 3, 2);
  return book;
}
const Codebook& iq2_s_codebook() {
  static const Codebook book = build(iq2_s_grid(), 2, 3, 1);
  return book;
}
const Codebook& iq3_xxs_codebook() {
  static const Codebook book = build(iq3_xxs_grid(), 3, 8, 2);
  return book;
}
const Codebook& iq3_s_codebook() {
  static const Codebook book = build(iq3_s_grid(), 3, 8, 3);
  return book;
}

}  // namespace ggufscope
