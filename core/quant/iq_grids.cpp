// Unpacks the codebooks of the IQ types.
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
    constexpr uint32_t kBits = 8 / kElements + 1;  // 2 bits for groups of 8 elements, 3 for groups of 4
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

// Initialized at program start, not on first use: several threads may use them first, and this wasm build has no
// thread-safe initialization of local statics.
const Expanded<2048, 8> kIq1(kIq1Gaps, kIq1Levels);
const Expanded<256, 8> kIq2Xxs(kIq2XxsGaps, kIq2Levels);
const Expanded<512, 8> kIq2Xs(kIq2XsGaps, kIq2Levels);
const Expanded<1024, 8> kIq2S(kIq2SGaps, kIq2Levels);
const Expanded<256, 4> kIq3Xxs(kIq3XxsGaps, kIq3XxsLevels);
const Expanded<512, 4> kIq3S(kIq3SGaps, kIq3SLevels);

const struct Eighths {
  alignas(8) int8_t values[2048 * 8];
  Eighths() {
    for (size_t i = 0; i < sizeof values; ++i) values[i] = static_cast<int8_t>(8 * static_cast<int8_t>(kIq1.values[i]));
  }
} kIq1Eighths;

}  // namespace

const IqGrid& iq1_grid() { return kIq1.grid; }
const IqGrid& iq2_xxs_grid() { return kIq2Xxs.grid; }
const IqGrid& iq2_xs_grid() { return kIq2Xs.grid; }
const IqGrid& iq2_s_grid() { return kIq2S.grid; }
const IqGrid& iq3_xxs_grid() { return kIq3Xxs.grid; }
const IqGrid& iq3_s_grid() { return kIq3S.grid; }
const int8_t* iq1_eighths() { return kIq1Eighths.values; }

}  // namespace ggufscope
