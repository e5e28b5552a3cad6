// Helpers for block kernels: unaligned scales, codebooks, and small float formats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/half.hpp"

namespace ggufscope {

/// Loads the binary16 at p as a float.
inline float load_f16(const uint8_t* p) { return f16_to_f32(load<uint16_t>(p)); }

/// Elements in a K-quant super-block.
inline constexpr size_t kSuperBlock = 256;

/// The codebook of IQ4_NL and IQ4_XS.
inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// The E2M1 values of MXFP4 and NVFP4 times two, so that they are integers.
inline constexpr int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Half of an E8M0 scale: 2^(e - 128). Together with kE2m1Doubled this gives the value.
[[nodiscard]] constexpr float half_e8m0(uint8_t e) {
  const uint32_t bits = e < 2 ? 0x00200000u << e : static_cast<uint32_t>(e - 1) << 23;
  return std::bit_cast<float>(bits);
}

/// Half of an unsigned E4M3 (bias 7, no sign). 0x7f and 0 give zero; the top bit is ignored.
[[nodiscard]] constexpr float half_ue4m3(uint8_t x) {
  if (x == 0 || x == 0x7f) return 0.0f;
  const uint32_t exponent = (x >> 3) & 15u, mantissa = x & 7u;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  return std::bit_cast<float>((exponent + 119u) << 23 | mantissa << 20);
}

/// The 6-bit scale and minimum of sub-block j of Q4_K and Q5_K, packed into 12 bytes q. For j < 4 they are bits 0..5 of
/// q[j] and q[j + 4]. Otherwise the low four bits are the nibbles of q[j + 4], and the high two are bits 6..7 of q[j -
/// 4] and q[j].
struct ScaleMin {
  uint8_t scale, min;
};
[[nodiscard]] constexpr ScaleMin scale_min_k4(size_t j, const uint8_t* q) {
  if (j < 4) return {static_cast<uint8_t>(q[j] & 63), static_cast<uint8_t>(q[j + 4] & 63)};
  return {static_cast<uint8_t>((q[j + 4] & 15) | (q[j - 4] >> 6) << 4),
          static_cast<uint8_t>(q[j + 4] >> 4 | (q[j] >> 6) << 4)};
}

/// The k-th of the five trits (0..2) of a TQ1_0 byte. The byte is ceil(n * 256 / 243) for a base-3 number n with the
/// first trit most significant. So the byte times 3^k, modulo 256, is a fraction, and three times that fraction has the
/// trit as its integer part.
[[nodiscard]] constexpr uint8_t trit(uint8_t byte, size_t k) {
  constexpr uint8_t kPowersOf3[5] = {1, 3, 9, 27, 81};
  return static_cast<uint8_t>(static_cast<uint8_t>(byte * kPowersOf3[k]) * 3 >> 8);
}

}  // namespace ggufscope
