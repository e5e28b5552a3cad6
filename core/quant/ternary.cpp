// Ternary: super-blocks of 256 values in {-1, 0, 1} times d.
//
//   TQ1_0  qs[48] qh[4] d:f16   five trits a byte: 32 bytes hold 5 x 32, 16 bytes 5 x 16, 4 bytes of qh 4 x 4
//   TQ2_0  qs[64] d:f16         of 128 elements, the j-th 32 are bits 2j of 32 bytes; d * (q - 1)
//
// A byte of TQ1_0 is ceil(n * 256 / 243) for the base-3 number n, first trit highest: times 3^k modulo 256, the k-th
// trit is the integer part of three times the fraction.
#include "quant/block.hpp"
#include "quant/kernels.hpp"

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

}  // namespace ggufscope
