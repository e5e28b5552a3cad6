// Types without blocks: the element itself, converted to float.
#include <cstring>

#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

template <class T>
void convert(const uint8_t* src, float* dst, size_t n) {
  for (size_t i = 0; i < n; ++i) dst[i] = static_cast<float>(load<T>(src + i * sizeof(T)));
}

}  // namespace

void reference_f32(const uint8_t* src, float* dst, size_t n) {
  if (n != 0) std::memcpy(dst, src, n * sizeof(float));
}
void reference_f16(const uint8_t* src, float* dst, size_t n) {
  for (size_t i = 0; i < n; ++i) dst[i] = load_f16(src + 2 * i);
}
void reference_bf16(const uint8_t* src, float* dst, size_t n) {
  for (size_t i = 0; i < n; ++i) dst[i] = bf16_to_f32(load<uint16_t>(src + 2 * i));
}
void reference_f64(const uint8_t* src, float* dst, size_t n) { convert<double>(src, dst, n); }
void reference_i8(const uint8_t* src, float* dst, size_t n) { convert<int8_t>(src, dst, n); }
void reference_i16(const uint8_t* src, float* dst, size_t n) { convert<int16_t>(src, dst, n); }
void reference_i32(const uint8_t* src, float* dst, size_t n) { convert<int32_t>(src, dst, n); }
void reference_i64(const uint8_t* src, float* dst, size_t n) { convert<int64_t>(src, dst, n); }

namespace {

/// Four binary16 in u32 lanes -> binary32. Subnormals by a subtraction that is exact and makes no subnormal operand.
v128_t f16x4(v128_t h) {
  const v128_t magnitude = wasm_v128_and(h, wasm_i32x4_splat(0x7fff));
  const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(h, magnitude), 16);
  const v128_t shifted = wasm_i32x4_shl(magnitude, 13);
  const v128_t normal = wasm_i32x4_add(shifted, wasm_i32x4_splat(112 << 23));
  const v128_t small = wasm_f32x4_sub(wasm_i32x4_add(shifted, wasm_i32x4_splat(113 << 23)), wasm_f32x4_splat(0x1p-14f));
  const v128_t is_small = wasm_i32x4_lt(magnitude, wasm_i32x4_splat(0x400));
  const v128_t not_finite = wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x7bff));
  const v128_t full_exponent = wasm_v128_and(not_finite, wasm_i32x4_splat(0x7f800000));
  return wasm_v128_or(wasm_v128_or(wasm_v128_bitselect(small, normal, is_small), full_exponent), sign);
}

}  // namespace

void dequantize_f16(const uint8_t* src, float* dst, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const v128_t h = wasm_v128_load(src + 2 * i);
    wasm_v128_store(dst + i, f16x4(wasm_u32x4_extend_low_u16x8(h)));
    wasm_v128_store(dst + i + 4, f16x4(wasm_u32x4_extend_high_u16x8(h)));
  }
  reference_f16(src + 2 * i, dst + i, n - i);
}

void dequantize_bf16(const uint8_t* src, float* dst, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const v128_t h = wasm_v128_load(src + 2 * i);
    wasm_v128_store(dst + i, wasm_i32x4_shl(wasm_u32x4_extend_low_u16x8(h), 16));
    wasm_v128_store(dst + i + 4, wasm_i32x4_shl(wasm_u32x4_extend_high_u16x8(h), 16));
  }
  reference_bf16(src + 2 * i, dst + i, n - i);
}

void dequantize_i8(const uint8_t* src, float* dst, size_t n) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    each_4(wasm_v128_load(src + i), [&](int k, v128_t v) { wasm_v128_store(dst + i + k, v); });
  reference_i8(src + i, dst + i, n - i);
}

void dequantize_i16(const uint8_t* src, float* dst, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const v128_t q = wasm_v128_load(src + 2 * i);
    wasm_v128_store(dst + i, floats_of(wasm_i32x4_extend_low_i16x8(q)));
    wasm_v128_store(dst + i + 4, floats_of(wasm_i32x4_extend_high_i16x8(q)));
  }
  reference_i16(src + 2 * i, dst + i, n - i);
}

}  // namespace ggufscope
