// The 16-bit and 8-bit floats of ggml, as exact bit arithmetic (no tables, no host conversion instructions).
#pragma once

#include <bit>
#include <cstdint>

namespace ggufscope {

/// IEEE 754 binary16 -> binary32. Exact; NaN payloads are kept (quiet bit set as the hardware does).
[[nodiscard]] constexpr float f16_to_f32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t magnitude = h & 0x7fffu;
  if (magnitude - 0x400u < 0x7800u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));  // normal
  const uint32_t mantissa = h & 0x3ffu;
  if (magnitude >= 0x7c00u) {
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  // Subnormal: mantissa * 2^-24 is exact in binary32.
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f));
}

/// binary32 -> IEEE 754 binary16, round to nearest, ties to even. NaN becomes a quiet NaN.
[[nodiscard]] constexpr uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or above
  if (magnitude < 0x38800000u) {
    // Subnormal result: adding 0.5 leaves the rounded multiple of 2^-24 in the low mantissa bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

/// bfloat16 -> binary32: the upper half of the bits.
[[nodiscard]] constexpr float bf16_to_f32(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

/// binary32 -> bfloat16, round to nearest, ties to even. NaN stays NaN (quiet).
[[nodiscard]] constexpr uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 64u);
  return static_cast<uint16_t>((bits + (0x7fffu + ((bits >> 16) & 1u))) >> 16);
}

}  // namespace ggufscope
