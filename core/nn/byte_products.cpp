#include "nn/byte_products.hpp"

#include "base/simd.hpp"

namespace ggufscope {
namespace {

#if defined(__wasm_relaxed_simd__)
// -128 times a byte of ones, four times: what a machine takes that byte for is its own affair.
ByteProducts probe() {
  volatile int8_t a = -128, b = -1;  // no compiler knows
  switch (wasm_i32x4_extract_lane(relaxed_dot_i32(wasm_i8x16_splat(a), wasm_i8x16_splat(b), wasm_i32x4_splat(0)), 0)) {
    case 4 * 128:
      return ByteProducts::kSigned;
    case 4 * -128 * 255:
      return ByteProducts::kUnsigned;
    default:
      return ByteProducts::kSaturated;
  }
}
ByteProducts g_products = probe();
bool probe_pairs() {
  volatile int8_t a = -8, b = -1;
  return wasm_i16x8_extract_lane(relaxed_dot_i16(wasm_i8x16_splat(a), wasm_i8x16_splat(b)), 0) == 2 * -8 * 255;
}
const bool g_pairs_lack_sign = probe_pairs();
#else
#if defined(__wasm_simd128__)
ByteProducts g_products = ByteProducts::kNone;
#else
ByteProducts g_products = ByteProducts::kSigned;
#endif
constexpr bool g_pairs_lack_sign = false;
#endif

}  // namespace

ByteProducts byte_products() { return g_products; }

bool pairs_lack_sign() { return g_pairs_lack_sign; }

void pretend_byte_products(ByteProducts products) { g_products = products; }

}  // namespace ggufscope
