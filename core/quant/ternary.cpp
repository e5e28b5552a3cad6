// Ternary: super-blocks of 256 values in {-1, 0, 1} times d.
//
//   TQ1_0  qs[48] qh[4] d:f16   five trits in a byte: 32 bytes hold 5 x 32, 16 bytes 5 x 16, 4 bytes of qh 4 x 4
//   TQ2_0  qs[64] d:f16         of 128 elements, the j-th 32 are bits 2j of 32 bytes; d * (q - 1)
//
// A byte of TQ1_0 is ceil(n * 256 / 243) for a base-3 number n with the first trit most significant. The byte times
// 3^k, modulo 256, is a fraction; three times it has the k-th trit as its integer part.
#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

/// Writes trits 0..n_trits-1 of n_bytes bytes; all bytes for the first trit, then for the second, and so on.
float* put_trits(float* dst, float d, const uint8_t* bytes, size_t n_bytes, size_t n_trits) {
  for (size_t k = 0; k < n_trits; ++k) {
    for (size_t j = 0; j < n_bytes; ++j) *dst++ = static_cast<float>(trit(bytes[j], k) - 1) * d;
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

/// Advances eight fractions (of 256) to their next trits, and writes (trit - 1) * d.
struct TritLanes {
  const v128_t one = loop_constant(wasm_i16x8_splat(1)), three = loop_constant(wasm_i16x8_splat(3));
  const v128_t byte = loop_constant(wasm_i16x8_splat(255));

  v128_t put_8(float* dst, v128_t fractions, v128_t d) const {
    const v128_t thrice = wasm_i16x8_mul(fractions, three);
    const v128_t q = wasm_i16x8_sub(wasm_u16x8_shr(thrice, 8), one);
    wasm_v128_store(dst, wasm_f32x4_mul(floats_of(wasm_i32x4_extend_low_i16x8(q)), d));
    wasm_v128_store(dst + 4, wasm_f32x4_mul(floats_of(wasm_i32x4_extend_high_i16x8(q)), d));
    return wasm_v128_and(thrice, byte);
  }
  /// Writes five trits of sixteen bytes. Consecutive trits are stride floats apart.
  void put_16x5(float* dst, size_t stride, const uint8_t* bytes, v128_t d) const {
    v128_t low = wasm_u16x8_load8x8(bytes), high = wasm_u16x8_load8x8(bytes + 8);
    for (size_t k = 0; k < 5; ++k, dst += stride) {
      low = put_8(dst, low, d);
      high = put_8(dst + 8, high, d);
    }
  }
};

}  // namespace

void dequantize_tq1_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const TritLanes trits;
  for (size_t i = 0; i < n_blocks; ++i, src += 54, dst += kSuperBlock) {
    const v128_t d = splat_f16(src + 52);
    trits.put_16x5(dst, 32, src, d);
    trits.put_16x5(dst + 16, 32, src + 16, d);
    trits.put_16x5(dst + 160, 16, src + 32, d);
    // Four bytes with four trits are left. Lanes 0..3 hold the fractions, lanes 4..7 three times the fractions.
    const v128_t first = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(src + 48));
    const v128_t second = wasm_v128_and(wasm_i16x8_mul(first, trits.three), trits.byte);
    const v128_t both = wasm_i64x2_shuffle(first, second, 0, 2);
    const v128_t nine = wasm_i16x8_mul(both, wasm_i16x8_splat(9));
    trits.put_8(dst + 240, both, d);
    trits.put_8(dst + 248, wasm_v128_and(nine, trits.byte), d);
  }
}

void dequantize_tq2_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const ByteFloats floats(1);
  const v128_t three = loop_constant(wasm_i8x16_splat(3));
  for (size_t i = 0; i < n_blocks; ++i, src += 66) {
    const v128_t d = splat_f16(src + 64);
    for (size_t half = 0; half < 2; ++half) {
      v128_t a = wasm_v128_load(src + 32 * half), b = wasm_v128_load(src + 32 * half + 16);
      for (size_t k = 0; k < 4; ++k, dst += 32) {
        floats.put_scaled(dst, wasm_v128_and(a, three), d);
        floats.put_scaled(dst + 16, wasm_v128_and(b, three), d);
        a = wasm_u16x8_shr(a, 2);
        b = wasm_u16x8_shr(b, 2);
      }
    }
  }
}

}  // namespace ggufscope
