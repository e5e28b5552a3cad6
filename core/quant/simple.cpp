// Types without blocks: each element is converted to float.
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

/// Converts eight binary16 to two vectors of four floats. x is the magnitude with its exponent moved to binary32's
/// position, which is correct for normal numbers. A subnormal becomes a value between 2^-15 and 2^-14, where 2 x -
/// 2^-14 is correct. That is less than x only for subnormals.
struct HalfLanes {
  const v128_t sign = loop_constant(wasm_i16x8_splat(static_cast<int16_t>(0x8000)));
  const v128_t magnitude_bits = loop_constant(wasm_i16x8_splat(0x7fff));
  const v128_t largest = loop_constant(wasm_i16x8_splat(0x7bff));
  const v128_t bias = loop_constant(wasm_i16x8_splat(112 << 7));
  const v128_t exponent = loop_constant(wasm_i16x8_splat(0x7f80));
  const v128_t smallest = loop_constant(wasm_f32x4_splat(0x1p-14f));
  const v128_t zero = loop_constant(wasm_i32x4_splat(0));

  void put(float* dst, v128_t h) const {
    const v128_t magnitude = wasm_v128_and(h, magnitude_bits), signs = wasm_v128_and(h, sign);
    const v128_t not_finite = wasm_v128_and(wasm_i16x8_gt(magnitude, largest), exponent);
    const v128_t upper = wasm_v128_or(wasm_i16x8_add(wasm_u16x8_shr(magnitude, 3), bias), not_finite);
    const v128_t lower = wasm_i16x8_shl(magnitude, 13);
    const auto combine = [&](v128_t x, v128_t s) {
      return wasm_v128_or(wasm_f32x4_pmin(x, wasm_f32x4_sub(wasm_f32x4_add(x, x), smallest)), s);
    };
    wasm_v128_store(dst, combine(wasm_i16x8_shuffle(lower, upper, 0, 8, 1, 9, 2, 10, 3, 11),
                                 wasm_i16x8_shuffle(zero, signs, 0, 8, 1, 9, 2, 10, 3, 11)));
    wasm_v128_store(dst + 4, combine(wasm_i16x8_shuffle(lower, upper, 4, 12, 5, 13, 6, 14, 7, 15),
                                     wasm_i16x8_shuffle(zero, signs, 4, 12, 5, 13, 6, 14, 7, 15)));
  }
};

constexpr size_t kPerTurn = 32;  // elements in an iteration; the loop overhead is as large as several vector operations

/// Converts n elements of Bytes bytes: put(to, from) makes Step floats; the reference converts the rest.
template <size_t Bytes, size_t Step = 8, class Put>
inline void by_turns(const uint8_t* src, float* dst, size_t n, DequantizeFn reference, const Put& put) {
  const size_t done = n / kPerTurn * kPerTurn;
  for (size_t i = 0; i < done; i += kPerTurn)
    for (size_t k = i; k < i + kPerTurn; k += Step) put(dst + k, src + Bytes * k);
  reference(src + Bytes * done, dst + done, n - done);
}

}  // namespace

void dequantize_f16(const uint8_t* src, float* dst, size_t n) {
  const HalfLanes halves;
  by_turns<2>(src, dst, n, reference_f16,
              [&](float* to, const uint8_t* from) { halves.put(to, wasm_v128_load(from)); });
}

void dequantize_bf16(const uint8_t* src, float* dst, size_t n) {
  const v128_t zero = loop_constant(wasm_i32x4_splat(0));
  by_turns<2>(src, dst, n, reference_bf16, [&](float* to, const uint8_t* from) {
    const v128_t upper = wasm_v128_load(from);
    wasm_v128_store(to, wasm_i16x8_shuffle(zero, upper, 0, 8, 1, 9, 2, 10, 3, 11));
    wasm_v128_store(to + 4, wasm_i16x8_shuffle(zero, upper, 4, 12, 5, 13, 6, 14, 7, 15));
  });
}

void dequantize_i8(const uint8_t* src, float* dst, size_t n) {
  const SignedByteFloats floats;
  by_turns<1, 16>(src, dst, n, reference_i8,
                  [&](float* to, const uint8_t* from) { floats.put(to, wasm_v128_load(from)); });
}

void dequantize_i16(const uint8_t* src, float* dst, size_t n) {
  by_turns<2>(src, dst, n, reference_i16, [](float* to, const uint8_t* from) {
    wasm_v128_store(to, floats_of(wasm_i32x4_load16x4(from)));
    wasm_v128_store(to + 4, floats_of(wasm_i32x4_load16x4(from + 8)));
  });
}

void dequantize_i32(const uint8_t* src, float* dst, size_t n) {
  by_turns<4>(src, dst, n, reference_i32, [](float* to, const uint8_t* from) {
    wasm_v128_store(to, floats_of(wasm_v128_load(from)));
    wasm_v128_store(to + 4, floats_of(wasm_v128_load(from + 16)));
  });
}

/// 64-bit integers that fit 32 bits, such as indices in model files, are converted by lanes; others one at a time.
void dequantize_i64(const uint8_t* src, float* dst, size_t n) {
  const size_t done = n / 16 * 16;
  for (size_t i = 0; i < done; i += 16) {
    v128_t low[4], wide = wasm_i32x4_splat(0);
    for (size_t k = 0; k < 4; ++k) {
      const v128_t a = wasm_v128_load(src + 8 * (i + 4 * k)), b = wasm_v128_load(src + 8 * (i + 4 * k) + 16);
      low[k] = wasm_i32x4_shuffle(a, b, 0, 2, 4, 6);
      const v128_t high = wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
      wide = wasm_v128_or(wide, wasm_v128_xor(high, wasm_i32x4_shr(low[k], 31)));
    }
    if (wasm_v128_any_true(wide)) {
      convert<int64_t>(src + 8 * i, dst + i, 16);
      continue;
    }
    for (size_t k = 0; k < 4; ++k) wasm_v128_store(dst + i + 4 * k, floats_of(low[k]));
  }
  convert<int64_t>(src + 8 * done, dst + done, n - done);
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
