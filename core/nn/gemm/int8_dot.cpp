// Tests what the CPU's relaxed int8 dot product computes.
#include "nn/gemm/int8_dot.hpp"

#include "base/simd.hpp"

namespace ggufscope {
namespace {

#if defined(__wasm_relaxed_simd__)
// Four times -128 * b, where all bits of b are 1. The result is 4 * 128 if b is int8, and 4 * -128 * 255 if it is
// uint8.
Int8Dot probe() {
  volatile int8_t a = -128, b = -1;  // volatile, so that the compiler cannot evaluate the product
  switch (wasm_i32x4_extract_lane(relaxed_dot_i32(wasm_i8x16_splat(a), wasm_i8x16_splat(b), wasm_i32x4_splat(0)), 0)) {
    case 4 * 128:
      return Int8Dot::kSigned;
    case 4 * -128 * 255:
      return Int8Dot::kUnsigned;
    default:
      return Int8Dot::kSaturating;
  }
}
Int8Dot g_int8_dot = probe();
bool probe_int8x2() {
  volatile int8_t a = -8, b = -1;
  return wasm_i16x8_extract_lane(relaxed_dot_i16(wasm_i8x16_splat(a), wasm_i8x16_splat(b)), 0) == 2 * -8 * 255;
}
const bool g_int8x2_is_unsigned = probe_int8x2();
#else
#if defined(__wasm_simd128__)
Int8Dot g_int8_dot = Int8Dot::kNone;
#else
Int8Dot g_int8_dot = Int8Dot::kSigned;
#endif
constexpr bool g_int8x2_is_unsigned = false;
#endif

}  // namespace

Int8Dot int8_dot() { return g_int8_dot; }

bool int8x2_is_unsigned() { return g_int8x2_is_unsigned; }

bool int8_products_are_correct(int seed) {
  int8_t a[16], b[16];
  for (int i = 0; i < 16; ++i) {
    a[i] = static_cast<int8_t>(i * 37 * seed - 128);
    b[i] = static_cast<int8_t>((i * 29 * seed) & 127);
  }
  const v128_t va = wasm_v128_load(a), vb = wasm_v128_load(b);
  for (int round = 0; round < 1000; ++round) {  // enough rounds for both of the engine's compilers to be used
    int32_t four[4];
    int16_t two[8];
    wasm_v128_store(four, relaxed_dot_i32(va, vb, wasm_i32x4_splat(round)));
    wasm_v128_store(two, relaxed_dot_i16(va, vb));
    for (int lane = 0; lane < 4; ++lane) {
      const int low = a[4 * lane] * b[4 * lane] + a[4 * lane + 1] * b[4 * lane + 1];
      const int high = a[4 * lane + 2] * b[4 * lane + 2] + a[4 * lane + 3] * b[4 * lane + 3];
      if (two[2 * lane] != low || two[2 * lane + 1] != high || four[lane] != round + low + high) return false;
    }
  }
  return true;
}

void override_int8_dot(Int8Dot dot) { g_int8_dot = dot; }

}  // namespace ggufscope
