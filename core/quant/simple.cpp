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

constexpr size_t kPerTurn = 32;  // elements a turn of the loop: its own cost is that of several vectors

v128_t sign_bits() { return wasm_i32x4_splat(static_cast<int32_t>(0x80000000u)); }

/// widen(16-bit elements in the upper halves of four lanes) -> four floats, for all whole turns.
template <class Widen>
void each_upper_half(const uint8_t* src, float* dst, size_t n, Widen widen) {
  for (size_t i = 0; i + kPerTurn <= n; i += kPerTurn) {
    for (size_t k = i; k < i + kPerTurn; k += 8) {
      const v128_t h = wasm_v128_load(src + 2 * k);
      wasm_v128_store(dst + k, widen(wasm_i32x4_shl(wasm_u32x4_extend_low_u16x8(h), 16)));
      wasm_v128_store(dst + k + 4, widen(wasm_i32x4_shl(wasm_u32x4_extend_high_u16x8(h), 16)));
    }
  }
}

}  // namespace

void dequantize_f16(const uint8_t* src, float* dst, size_t n) {
  const v128_t magnitude_bits = loop_constant(wasm_i32x4_splat(0x0fffe000)), sign_bit = loop_constant(sign_bits());
  const v128_t bias = loop_constant(wasm_i32x4_splat(112 << 23)), one_more = loop_constant(wasm_i32x4_splat(1 << 23));
  const v128_t smallest = loop_constant(wasm_f32x4_splat(0x1p-14f));
  const v128_t normal_from = loop_constant(wasm_i32x4_splat(0x0400 << 13));
  const v128_t finite_to = loop_constant(wasm_i32x4_splat(0x7bff << 13));
  const v128_t exponent = loop_constant(wasm_i32x4_splat(0x7f800000));
  // h: the binary16 in the upper half of each lane. Subnormals by a subtraction that is exact and meets none itself.
  const auto widen = [&](v128_t h) {
    const v128_t magnitude = wasm_v128_and(wasm_u32x4_shr(h, 3), magnitude_bits);
    const v128_t normal = wasm_i32x4_add(magnitude, bias);
    const v128_t small = wasm_f32x4_sub(wasm_i32x4_add(normal, one_more), smallest);
    const v128_t finite = wasm_v128_bitselect(small, normal, wasm_i32x4_lt(magnitude, normal_from));
    const v128_t not_finite = wasm_v128_and(wasm_i32x4_gt(magnitude, finite_to), exponent);
    return wasm_v128_or(wasm_v128_or(finite, not_finite), wasm_v128_and(h, sign_bit));
  };
  each_upper_half(src, dst, n, widen);
  const size_t done = n / kPerTurn * kPerTurn;
  reference_f16(src + 2 * done, dst + done, n - done);
}

void dequantize_f64(const uint8_t* src, float* dst, size_t n) {
  const auto demote = [&](size_t at) { return wasm_f32x4_demote_f64x2_zero(wasm_v128_load(src + 8 * at)); };
  const size_t done = n / 8 * 8;
  for (size_t i = 0; i < done; i += 8) {
    wasm_v128_store(dst + i, wasm_i64x2_shuffle(demote(i), demote(i + 2), 0, 2));
    wasm_v128_store(dst + i + 4, wasm_i64x2_shuffle(demote(i + 4), demote(i + 6), 0, 2));
  }
  reference_f64(src + 8 * done, dst + done, n - done);
}

}  // namespace ggufscope
