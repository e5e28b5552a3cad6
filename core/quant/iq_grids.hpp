// The codebooks of the IQ types, which are part of the format (ggml-common.h). A code packs the levels of an entry,
// first element lowest: 8 elements of 2 bits (IQ1, IQ2) or 4 of 3 bits (IQ3). The tables are unpacked at program start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ggufscope {

struct IqGrid {
  std::span<const uint16_t> codes;  ///< sorted
  const uint8_t* values;            ///< [codes.size()][8 or 4] magnitudes; for IQ1 int8_t values in -1..1
};

[[nodiscard]] const IqGrid& iq1_grid();  ///< 2048 x 8, also for IQ1_M
/// The IQ1 codebook times 8, because the type's values are multiples of 1/8.
[[nodiscard]] const int8_t* iq1_eighths();
[[nodiscard]] const IqGrid& iq2_xxs_grid();  ///< 256 x 8
[[nodiscard]] const IqGrid& iq2_xs_grid();   ///< 512 x 8
[[nodiscard]] const IqGrid& iq2_s_grid();    ///< 1024 x 8
[[nodiscard]] const IqGrid& iq3_xxs_grid();  ///< 256 x 4
[[nodiscard]] const IqGrid& iq3_s_grid();    ///< 512 x 4

/// Extends 7 stored sign bits to 8: the last makes the number of minus signs even.
[[nodiscard]] constexpr uint32_t even_signs(uint32_t bits7) {
  return bits7 | (static_cast<uint32_t>(__builtin_popcount(bits7)) & 1u) << 7;
}

/// Writes N floats: scale * magnitude, negative where the bit is set.
template <size_t N>
void put_signed(float* dst, float scale, const uint8_t* magnitudes, uint32_t signs) {
  for (size_t k = 0; k < N; ++k) {
    const float value = scale * static_cast<float>(magnitudes[k]);
    dst[k] = ((signs >> k) & 1u) != 0 ? -value : value;
  }
}

}  // namespace ggufscope
