// Determines what the CPU's relaxed int8 dot product computes, by running it once.
//
// i32x4.relaxed_dot_i8x16_i7x16_add(a, b, c) is defined for b in 0..127. For other values engines use the CPU's own
// instruction, and the results differ:
//   kSigned      b is int8                        ARM's SDOT, AVX-VNNI-INT8
//   kUnsigned    b is uint8, the sum is exact     AVX-VNNI's VPDPBUSD
//   kSaturating  pairs are summed to a saturating int16    VPMADDUBSW: x86 without AVX-VNNI
#pragma once

#include <cstdint>

namespace ggufscope {

enum class Int8Dot : uint8_t {
  kNone,        ///< a build without relaxed SIMD
  kSaturating,  ///< exact only for b in 0..127
  kSigned,
  kUnsigned,
};
[[nodiscard]] Int8Dot int8_dot();
/// True if i16x8.relaxed_dot_i8x16_i7x16 takes b as uint8.
[[nodiscard]] bool int8x2_is_unsigned();
/// Tests whether this build computes int8 products correctly for b in 0..127: Node 20's baseline compiler computes one
/// of them wrongly. seed: any number. It is a parameter so that wasm-opt cannot evaluate the products at build time.
[[nodiscard]] bool int8_products_are_correct(int seed);
/// For tests: selects formats and kernels as on a CPU with this dot product. kSaturating is correct on every CPU that
/// has one.
void override_int8_dot(Int8Dot dot);

}  // namespace ggufscope
