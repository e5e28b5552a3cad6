// What the machine makes of relaxed products of bytes, found out by multiplying.
#pragma once

#include <cstdint>

namespace ggufscope {

/// What products of an activation's byte and a code's byte are for codes beyond 0..127.
enum class ByteProducts : uint8_t { kNone, kSaturated, kSigned, kUnsigned };
/// kNone: a build without relaxed SIMD.
[[nodiscard]] ByteProducts byte_products();
/// Whether a product of pairs takes the code's byte for a number without a sign.
[[nodiscard]] bool pairs_lack_sign();
/// For tests: formats and kernels as where products are such ones. kSaturated is right wherever there are any.
void pretend_byte_products(ByteProducts products);

}  // namespace ggufscope
