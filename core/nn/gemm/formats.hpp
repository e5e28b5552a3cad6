// The table of formats: one row for each type, or several if the CPU's int8 dot product matters. format.hpp describes
// the columns. Included only by formats.cpp and dispatch.cpp.
#pragma once

#include <array>
#include <cstddef>

#include "nn/gemm/unpack.hpp"
#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {

// The values of the codes of IQ2 and IQ3_XXS: the codebooks' magnitudes with signs, the negative ones first.
inline constexpr int8_t kIq2Values[16] = {-43, -25, -8, 8, 25, 43};
inline constexpr int8_t kIq3Values[16] = {-62, -52, -44, -36, -28, -20, -12, -4, 4, 12, 20, 28, 36, 44, 52, 62};

// Adds a bias to a table, so that its values are unsigned.
constexpr std::array<int8_t, 16> biased(const int8_t (&values)[16], int by) {
  std::array<int8_t, 16> table{};
  for (size_t i = 0; i < 16; ++i) table[i] = static_cast<int8_t>(static_cast<uint8_t>(values[i] + by));
  return table;
}
inline constexpr auto kIq4Biased = biased(kIq4Values, 128), kIq2Biased = biased(kIq2Values, 128),
                      kIq3Biased = biased(kIq3Values, 128);
// The smallest possible bias, so that values are CodeType::kU7.
inline constexpr auto kIq2Biased43 = biased(kIq2Values, 43), kE2m1Biased = biased(kE2m1Doubled, 12);

constexpr bool is_table(const int8_t*) { return true; }
constexpr bool is_table(std::nullptr_t) { return false; }

inline constexpr PackedFormat kFormats[] = {
#define GGUFSCOPE_PACKED(type, super, bits, half_scales, sub, correction, offset, table, code_type, unpack) \
  {static_cast<uint32_t>(TypeId::type),                                                                     \
   super,                                                                                                   \
   bits,                                                                                                    \
   half_scales,                                                                                             \
   sub,                                                                                                     \
   Correction::correction,                                                                                  \
   offset,                                                                                                  \
   table,                                                                                                   \
   CodeType::code_type,                                                                                     \
   unpack_##unpack,                                                                                         \
   is_table(table)},
#include "types/types.inc"
};

inline constexpr auto kWideFormats = [] {
  std::array<PackedFormat, std::size(kFormats)> wide{};
  for (size_t i = 0; i < wide.size(); ++i) {
    wide[i] = kFormats[i];
    wide[i].half_scales = false;
  }
  return wide;
}();

}  // namespace ggufscope
