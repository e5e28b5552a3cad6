// Four-bit floats (E2M1) with small float scales. In each scaled group, the low nibbles come before the high ones.
//
//   MXFP4  e:E8M0 qs[16]          32 elements: 2^(e - 127) * E2M1
//   NVFP4  scales[4]:UE4M3 qs[32] 4 x 16 elements, eight bytes each: scale * E2M1
#include <array>

#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

void put_e2m1(float* dst, float half_scale, const uint8_t* qs, size_t n_bytes) {
  for (size_t j = 0; j < n_bytes; ++j) {
    dst[j] = static_cast<float>(kE2m1Doubled[qs[j] & 15]) * half_scale;
    dst[j + n_bytes] = static_cast<float>(kE2m1Doubled[qs[j] >> 4]) * half_scale;
  }
}

}  // namespace

void reference_mxfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 17, dst += 32) put_e2m1(dst, half_e8m0(src[0]), src + 1, 16);
}

void reference_nvfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 36)
    for (size_t s = 0; s < 4; ++s, dst += 16) put_e2m1(dst, half_ue4m3(src[s]), src + 4 + 8 * s, 8);
}

namespace {

/// The sixteen E2M1 values times one scale. They have few significant bits, so the upper two bytes of each float
/// suffice.
struct ScaledValues {
  uint8_t lower[16], upper[16];
};

/// A table of scaled values for each possible scale byte, filled on first use. It replaces the multiplication.
template <float (*half)(uint8_t)>
const ScaledValues* scaled_values() {
  static const auto tables = [] {
    std::array<ScaledValues, 256> all;
    for (size_t scale = 0; scale < 256; ++scale) {
      for (size_t i = 0; i < 16; ++i) {
        const float value = static_cast<float>(kE2m1Doubled[i]) * half(static_cast<uint8_t>(scale));
        const uint32_t bits = std::bit_cast<uint32_t>(value);
        all[scale].lower[i] = static_cast<uint8_t>(bits >> 16);
        all[scale].upper[i] = static_cast<uint8_t>(bits >> 24);
      }
    }
    return all;
  }();
  return tables.data();
}

struct ScaledValueLanes {
  const v128_t zero = loop_constant(wasm_i32x4_splat(0));

  /// dst[0..16) = the values at the given indices (0..15).
  void put(float* dst, const ScaledValues& values, v128_t indices) const {
    const v128_t lower = wasm_i8x16_swizzle(wasm_v128_load(values.lower), indices);
    const v128_t upper = wasm_i8x16_swizzle(wasm_v128_load(values.upper), indices);
    each_upper(zero, lower, upper, [&](int k, v128_t v) { wasm_v128_store(dst + k, v); });
  }
};

}  // namespace

void dequantize_mxfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ScaledValueLanes lanes;
  const ScaledValues* scaled = scaled_values<half_e8m0>();
  for (size_t i = 0; i < n_blocks; ++i, src += 17, dst += 32) {
    const ScaledValues& values = scaled[src[0]];
    const v128_t qs = wasm_v128_load(src + 1);
    lanes.put(dst, values, nibbles.low(qs));
    lanes.put(dst + 16, values, nibbles.high(qs));
  }
}

void dequantize_nvfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ScaledValueLanes lanes;
  const ScaledValues* scaled = scaled_values<half_ue4m3>();
  for (size_t i = 0; i < n_blocks; ++i, src += 36) {
    for (size_t pair = 0; pair < 2; ++pair, dst += 32) {
      const v128_t qs = wasm_v128_load(src + 4 + 16 * pair), low = nibbles.low(qs), high = nibbles.high(qs);
      const v128_t first = wasm_i64x2_shuffle(low, high, 0, 2), second = wasm_i64x2_shuffle(low, high, 1, 3);
      lanes.put(dst, scaled[src[2 * pair]], first);
      lanes.put(dst + 16, scaled[src[2 * pair + 1]], second);
    }
  }
}

}  // namespace ggufscope
