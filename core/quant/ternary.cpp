// Ternary: super-blocks of 256 values in {-1, 0, 1} times d.
//
//   TQ1_0  qs[48] qh[4] d:f16   five trits a byte: 32 bytes hold 5 x 32, 16 bytes 5 x 16, 4 bytes of qh 4 x 4
//   TQ2_0  qs[64] d:f16         of 128 elements, the j-th 32 are bits 2j of 32 bytes; d * (q - 1)
//
// A byte of TQ1_0 is ceil(n * 256 / 243) for the base-3 number n, first trit highest: times 3^k modulo 256, the k-th
// trit is the integer part of three times the fraction.
#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

constexpr uint8_t kPowersOf3[5] = {1, 3, 9, 27, 81};

/// Trits 0..n_trits-1 of n_bytes bytes, byte by byte within each trit.
float* put_trits(float* dst, float d, const uint8_t* bytes, size_t n_bytes, size_t n_trits) {
  for (size_t k = 0; k < n_trits; ++k) {
    for (size_t j = 0; j < n_bytes; ++j) {
      const uint8_t fraction = static_cast<uint8_t>(bytes[j] * kPowersOf3[k]);
      *dst++ = static_cast<float>((fraction * 3 >> 8) - 1) * d;
    }
  }
  return dst;
}

}  // namespace

void reference_tq1_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 54) {
    const float d = load_f16(src + 52);
    dst = put_trits(dst, d, src, 32, 5);
    dst = put_trits(dst, d, src + 32, 16, 5);
    dst = put_trits(dst, d, src + 48, 4, 4);
  }
}

void reference_tq2_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 66, dst += kSuperBlock) {
    const float d = load_f16(src + 64);
    for (size_t j = 0; j < kSuperBlock; ++j) {
      const int q = (src[32 * (j / 128) + j % 32] >> (2 * (j / 32 % 4))) & 3;
      dst[j] = static_cast<float>(q - 1) * d;
    }
  }
}

namespace {

/// Sixteen bytes of fractions to their next trits less one: a third of 256 is passed at 86, two thirds at 171.
v128_t trits_less_one(v128_t fractions) {
  const v128_t one_third = wasm_u8x16_ge(fractions, wasm_i8x16_splat(86));
  const v128_t two_thirds = wasm_u8x16_ge(fractions, wasm_i8x16_splat(static_cast<int8_t>(171)));
  return wasm_i8x16_sub(wasm_i8x16_sub(wasm_i8x16_splat(-1), one_third), two_thirds);
}

v128_t times_3(v128_t bytes) { return wasm_i8x16_add(wasm_i8x16_add(bytes, bytes), bytes); }

}  // namespace

void dequantize_tq1_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 54, dst += kSuperBlock) {
    const v128_t d = splat_f16(src + 52);
    v128_t a = wasm_v128_load(src), b = wasm_v128_load(src + 16), c = wasm_v128_load(src + 32);
    for (size_t k = 0; k < 5; ++k) {
      put_scaled(dst + 32 * k, trits_less_one(a), d);
      put_scaled(dst + 32 * k + 16, trits_less_one(b), d);
      put_scaled(dst + 160 + 16 * k, trits_less_one(c), d);
      a = times_3(a);
      b = times_3(b);
      c = times_3(c);
    }
    // The four bytes of qh times 1, 3, 9, 27 side by side.
    const v128_t h0 = wasm_v128_load32_zero(src + 48), h1 = times_3(h0), h2 = times_3(h1), h3 = times_3(h2);
    const v128_t low = wasm_i32x4_shuffle(h0, h1, 0, 4, 0, 4), high = wasm_i32x4_shuffle(h2, h3, 0, 4, 0, 4);
    put_scaled(dst + 240, trits_less_one(wasm_i64x2_shuffle(low, high, 0, 2)), d);
  }
}

void dequantize_tq2_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const v128_t three = wasm_i8x16_splat(3), one = wasm_i8x16_splat(1);
  for (size_t i = 0; i < n_blocks; ++i, src += 66) {
    const v128_t d = splat_f16(src + 64);
    for (size_t half = 0; half < 2; ++half) {
      v128_t a = wasm_v128_load(src + 32 * half), b = wasm_v128_load(src + 32 * half + 16);
      for (size_t k = 0; k < 4; ++k, dst += 32) {
        put_scaled(dst, wasm_i8x16_sub(wasm_v128_and(a, three), one), d);
        put_scaled(dst + 16, wasm_i8x16_sub(wasm_v128_and(b, three), one), d);
        a = wasm_u8x16_shr(a, 2);
        b = wasm_u8x16_shr(b, 2);
      }
    }
  }
}

}  // namespace ggufscope
