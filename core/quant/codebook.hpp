// The IQ codebooks as the quantizers need them: a map from the levels of a group to the codebook entry, or to the
// nearest entries if the codebook does not have the levels. Built on first use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quant/iq_grids.hpp"

namespace ggufscope {

struct Codebook {
  IqGrid grid;
  uint32_t bits;                     ///< in each level; 2: groups of 8 elements, 3: groups of 4
  std::vector<int32_t> entry_of;     ///< indexed by code: the entry, or -1 minus the position of its list in neighbours
  std::vector<uint16_t> neighbours;  ///< lists: a length, then entries sorted by distance and number

  [[nodiscard]] uint32_t level(size_t entry, size_t k) const {
    return (static_cast<uint32_t>(grid.codes[entry]) >> (bits * k)) & ((1u << bits) - 1);
  }
  /// The entries nearest to a code that is not in the codebook.
  [[nodiscard]] std::span<const uint16_t> around(uint32_t code) const {
    const uint16_t* list = neighbours.data() + (-1 - entry_of[code]);
    return {list + 1, list[0]};
  }
};

[[nodiscard]] const Codebook& iq1_codebook();
[[nodiscard]] const Codebook& iq2_xxs_codebook();
[[nodiscard]] const Codebook& iq2_xs_codebook();
[[nodiscard]] const Codebook& iq2_s_codebook();
[[nodiscard]] const Codebook& iq3_xxs_codebook();
[[nodiscard]] const Codebook& iq3_s_codebook();

}  // namespace ggufscope
