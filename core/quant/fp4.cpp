// Four-bit floats (E2M1) with small float scales. Low halves first, then high halves, of each scaled group.
//
//   MXFP4  e:E8M0 qs[16]          32 elements: 2^(e - 127) * E2M1
//   NVFP4  scales[4]:UE4M3 qs[32] 4 x 16 elements, eight bytes each: scale * E2M1
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

template <float (*half)(uint8_t)>
struct ScaleTable {
  float halves[256] = {};
  constexpr ScaleTable() {
    for (size_t x = 0; x < 256; ++x) halves[x] = half(static_cast<uint8_t>(x));
  }
};
constexpr ScaleTable<half_e8m0> kE8m0;
constexpr ScaleTable<half_ue4m3> kUe4m3;

}  // namespace

void dequantize_mxfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const TableFloats codebook(kE2m1Doubled);
  for (size_t i = 0; i < n_blocks; ++i, src += 17, dst += 32) {
    const v128_t d = wasm_v128_load32_splat(kE8m0.halves + src[0]), qs = wasm_v128_load(src + 1);
    codebook.put_scaled(dst, nibbles.low(qs), d);
    codebook.put_scaled(dst + 16, nibbles.high(qs), d);
  }
}

void dequantize_nvfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const TableFloats codebook(kE2m1Doubled);
  for (size_t i = 0; i < n_blocks; ++i, src += 36) {
    for (size_t pair = 0; pair < 2; ++pair, dst += 32) {
      const v128_t qs = wasm_v128_load(src + 4 + 16 * pair), low = nibbles.low(qs), high = nibbles.high(qs);
      const v128_t first = wasm_i64x2_shuffle(low, high, 0, 2), second = wasm_i64x2_shuffle(low, high, 1, 3);
      codebook.put_scaled(dst, first, wasm_v128_load32_splat(kUe4m3.halves + src[2 * pair]));
      codebook.put_scaled(dst + 16, second, wasm_v128_load32_splat(kUe4m3.halves + src[2 * pair + 1]));
    }
  }
}

}  // namespace ggufscope
