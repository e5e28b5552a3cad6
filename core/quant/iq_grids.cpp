#include "quant/iq_grids.hpp"

namespace ggufscope {
namespace {

#include "quant/iq_grids.inc"

template <size_t kEntries, size_t kElements>
struct Expanded {
  uint16_t codes[kEntries];
  alignas(8) uint8_t values[kEntries * kElements];
  IqGrid grid;

  template <size_t kBytes, size_t kLevels>
  Expanded(const uint8_t (&gaps)[kBytes], const int8_t (&levels)[kLevels]) : grid{codes, values} {
    constexpr uint32_t kBits = 8 / kElements + 1;  // 2 bits for 8 elements, 3 for 4
    uint32_t next = 0;
    size_t at = 0;
    for (size_t i = 0; i < kEntries; ++i) {
      uint32_t gap = 0;
      for (uint32_t shift = 0;; shift += 7) {
        const uint8_t byte = gaps[at++];
        gap |= (byte & 127u) << shift;
        if (byte < 128) break;
      }
      const uint32_t code = next + gap;
      next = code + 1;
      codes[i] = static_cast<uint16_t>(code);
      for (uint32_t k = 0; k < kElements; ++k)
        values[i * kElements + k] = static_cast<uint8_t>(levels[(code >> (kBits * k)) & (kLevels - 1)]);
    }
  }
};

constexpr int8_t kIq1Levels[4] = {-1, 0, 1, 0};
constexpr int8_t kIq2Levels[4] = {8, 25, 43, 0};
constexpr int8_t kIq3XxsLevels[8] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr int8_t kIq3SLevels[8] = {1, 3, 5, 7, 9, 11, 13, 15};

}  // namespace

const IqGrid& iq1_grid() {
  static const Expanded<2048, 8> expanded(kIq1Gaps, kIq1Levels);
  return expanded.grid;
}
const IqGrid& iq2_xxs_grid() {
  static const Expanded<256, 8> expanded(kIq2XxsGaps, kIq2Levels);
  return expanded.grid;
}
const IqGrid& iq2_xs_grid() {
  static const Expanded<512, 8> expanded(kIq2XsGaps, kIq2Levels);
  return expanded.grid;
}
const IqGrid& iq2_s_grid() {
  static const Expanded<1024, 8> expanded(kIq2SGaps, kIq2Levels);
  return expanded.grid;
}
const IqGrid& iq3_xxs_grid() {
  static const Expanded<256, 4> expanded(kIq3XxsGaps, kIq3XxsLevels);
  return expanded.grid;
}
const IqGrid& iq3_s_grid() {
  static const Expanded<512, 4> expanded(kIq3SGaps, kIq3SLevels);
  return expanded.grid;
}

}  // namespace ggufscope
