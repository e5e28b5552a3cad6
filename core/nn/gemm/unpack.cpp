// Unpacking: converts one block of each file type to codes and scales (UnpackedBlock), which pack.cpp interleaves.
#include "nn/gemm/unpack.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/simd.hpp"
#include "nn/vec.hpp"
#include "quant/block.hpp"
#include "quant/iq_grids.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {

namespace {

// (byte >> shift) & mask in each byte.
inline v128_t field(v128_t bytes, size_t shift, uint8_t mask) {
  return wasm_v128_and(wasm_u16x8_shr(bytes, static_cast<uint32_t>(shift)),
                       wasm_i8x16_splat(static_cast<int8_t>(mask)));
}

// The same, shifted to bit `to` and merged into codes.
inline v128_t with_field(v128_t codes, v128_t bytes, size_t shift, uint8_t mask, uint32_t to) {
  return wasm_v128_or(codes, wasm_i16x8_shl(field(bytes, shift, mask), to));
}

void nibbles_32(const uint8_t* qs, uint8_t* codes) {
  const v128_t bytes = wasm_v128_load(qs);
  wasm_v128_store(codes, field(bytes, 0, 15));
  wasm_v128_store(codes + 16, field(bytes, 4, 15));
}

// Adds `value` to each of 32 codes whose bit is set.
void add_bits(const uint8_t* bits, uint8_t value, uint8_t* codes) {
  const v128_t bit = wasm_i8x16_const(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  for (size_t i = 0; i < 2; ++i) {
    const v128_t bytes = wasm_i64x2_shuffle(wasm_i8x16_splat(static_cast<int8_t>(bits[2 * i])),
                                            wasm_i8x16_splat(static_cast<int8_t>(bits[2 * i + 1])), 0, 2);
    const v128_t set = wasm_i8x16_eq(wasm_v128_and(bytes, bit), bit);
    wasm_v128_store(codes + 16 * i, wasm_v128_or(wasm_v128_load(codes + 16 * i),
                                                 wasm_v128_and(set, wasm_i8x16_splat(static_cast<int8_t>(value)))));
  }
}

}  // namespace

void unpack_q4_0(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  nibbles_32(src + 2, b.codes);
}

void unpack_q4_1(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  b.e = load_f16(src + 2);
  nibbles_32(src + 4, b.codes);
}

void unpack_q5_0(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  nibbles_32(src + 6, b.codes);
  add_bits(src + 2, 16, b.codes);
}

void unpack_q5_1(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  b.e = load_f16(src + 2);
  nibbles_32(src + 8, b.codes);
  add_bits(src + 4, 16, b.codes);
}

void unpack_q8_0(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  std::memcpy(b.codes, src + 2, 32);
}

void unpack_q8_0_biased(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  for (size_t i = 0; i < 32; i += 16)
    wasm_v128_store(b.codes + i, wasm_v128_xor(wasm_v128_load(src + 2 + i), wasm_i8x16_splat(INT8_MIN)));
}

void unpack_mxfp4(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = half_e8m0(src[0]);
  nibbles_32(src + 1, b.codes);
}

void unpack_q2_k(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src + 80);
  b.e = -load_f16(src + 82);
  for (size_t j = 0; j < 16; ++j) {
    b.scale[j] = static_cast<int8_t>(src[j] & 15);
    b.min[j] = static_cast<int8_t>(src[j] >> 4);
    const v128_t qs = wasm_v128_load(src + 16 + 32 * (j / 8) + 16 * (j % 2));
    wasm_v128_store(b.codes + 16 * j, field(qs, 2 * (j / 2 % 4), 3));
  }
}

void unpack_q3_k(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src + 108);
  const uint8_t* packed = src + 96;
  for (size_t j = 0; j < 16; ++j) {
    const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
    const int high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
    b.scale[j] = static_cast<int8_t>((low | high << 4) - 32);
    const v128_t qs = wasm_v128_load(src + 32 + 32 * (j / 8) + 16 * (j % 2));
    const v128_t high_bits = wasm_v128_load(src + 16 * (j % 2));
    wasm_v128_store(b.codes + 16 * j, with_field(field(qs, 2 * (j / 2 % 4), 3), high_bits, j / 2, 1, 2));
  }
}

namespace {

void scales_k4(const uint8_t* src, UnpackedBlock& b) {
  b.d = load_f16(src);
  b.e = -load_f16(src + 2);
  for (size_t j = 0; j < 8; ++j) {
    const ScaleMin sm = scale_min_k4(j, src + 4);
    b.scale[j] = static_cast<int8_t>(sm.scale);
    b.min[j] = static_cast<int8_t>(sm.min);
  }
}

void nibbles_k4(const uint8_t* qs, uint8_t* codes) {
  for (size_t i = 0; i < 256; i += 16)
    wasm_v128_store(codes + i, field(wasm_v128_load(qs + 32 * (i / 64) + i % 32), i / 32 % 2 * 4, 15));
}

}  // namespace

void unpack_q4_k(const uint8_t* src, size_t, UnpackedBlock& b) {
  scales_k4(src, b);
  nibbles_k4(src + 16, b.codes);
}

void unpack_q5_k(const uint8_t* src, size_t, UnpackedBlock& b) {
  scales_k4(src, b);
  nibbles_k4(src + 48, b.codes);
  for (size_t i = 0; i < 256; i += 16)
    wasm_v128_store(b.codes + i,
                    with_field(wasm_v128_load(b.codes + i), wasm_v128_load(src + 16 + i % 32), i / 32, 1, 4));
}

void unpack_q6_k(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src + 208);
  std::memcpy(b.scale, src + 192, 16);
  for (size_t i = 0; i < 256; i += 16) {
    const size_t half = i / 128, quarter = i % 128 / 32, l = i % 32;
    const v128_t low = wasm_v128_load(src + 64 * half + 32 * (quarter % 2) + l);
    const v128_t high = wasm_v128_load(src + 128 + 32 * half + l);
    wasm_v128_store(b.codes + i, with_field(field(low, 4 * (quarter / 2), 15), high, 2 * quarter, 3, 4));
  }
}

void unpack_iq4_xs(const uint8_t* src, size_t, UnpackedBlock& b) {
  b.d = load_f16(src);
  const uint32_t high = load<uint16_t>(src + 2);
  for (size_t j = 0; j < 8; ++j) {
    const uint32_t low = (src[4 + j / 2] >> (4 * (j % 2))) & 15u;
    b.scale[j] = static_cast<int8_t>(static_cast<int>(low | ((high >> (2 * j)) & 3u) << 4) - 32);
    nibbles_32(src + 8 + 16 * j, b.codes + 32 * j);
  }
}

// Ternary: codes 0..2, offset 1.
void unpack_tq1_0(const uint8_t* src, size_t part, UnpackedBlock& b) {
  b.d = load_f16(src + 52);
  const auto trits = [&](const uint8_t* bytes, size_t n_bytes, size_t k, uint8_t* codes) {
    for (size_t j = 0; j < n_bytes; ++j) codes[j] = trit(bytes[j], k);
  };
  if (part < 5) return trits(src, 32, part, b.codes);
  trits(src + 32, 16, 2 * part - 10, b.codes);
  if (part < 7) return trits(src + 32, 16, 2 * part - 9, b.codes + 16);
  for (size_t k = 0; k < 4; ++k) trits(src + 48, 4, k, b.codes + 16 + 4 * k);
}

void unpack_tq2_0(const uint8_t* src, size_t part, UnpackedBlock& b) {
  b.d = load_f16(src + 64);
  for (size_t i = 0; i < 32; i += 16)
    wasm_v128_store(b.codes + i, field(wasm_v128_load(src + 32 * (part / 4) + i), 2 * (part % 4), 3));
}

void unpack_q1_0(const uint8_t* src, size_t part, UnpackedBlock& b) {
  b.d = load_f16(src);
  std::memset(b.codes, 0, 32);
  add_bits(src + 2 + 4 * part, 2, b.codes);
}

void unpack_q2_0(const uint8_t* src, size_t part, UnpackedBlock& b) {
  b.d = load_f16(src);
  for (size_t i = 0; i < 32; ++i) b.codes[i] = static_cast<uint8_t>(src[2 + 8 * part + i / 4] >> (2 * (i % 4)) & 3);
}

// NVFP4 has a scale for each 16 elements.
void unpack_nvfp4(const uint8_t* src, size_t part, UnpackedBlock& b) {
  b.d = half_ue4m3(src[part]);
  const v128_t qs = wasm_v128_load64_zero(src + 4 + 8 * part);
  wasm_v128_store(b.codes, wasm_i64x2_shuffle(field(qs, 0, 15), field(qs, 4, 15), 0, 2));
}

namespace {

// Codes of signed magnitudes n = 0, 1 ..: first + n, or first - 1 - n where the sign mask is set.
v128_t with_signs(v128_t n, v128_t mask, int8_t first) {
  return wasm_i8x16_add(wasm_v128_xor(n, mask), wasm_i8x16_splat(first));
}

// Odd values -max, -max + 2, ..., max (IQ1's eighths, IQ3_S), written as 2 * code - max: d * scale * 2 * code - d *
// scale * max.
void odd_values(float d, int max, UnpackedBlock& b) {
  b.d = 2 * d;
  b.e = -d * static_cast<float>(max);
}

void odd_scale(uint32_t scale, size_t s, UnpackedBlock& b) {
  b.scale[s] = b.min[s] = static_cast<int8_t>(2 * scale + 1);
}

// Sixteen codes for two codebook entries, shifted up or down by an eighth.
void codes_iq1(const int8_t* first, const int8_t* second, v128_t ups, uint8_t* codes) {
  const v128_t biased = wasm_i8x16_add(load_pair(first, second), wasm_i8x16_splat(8));
  wasm_v128_store(codes, wasm_i8x16_add(field(biased, 1, 15), ups));
}

}  // namespace

void unpack_iq1_s(const uint8_t* src, size_t, UnpackedBlock& b) {
  const int8_t* grid = iq1_eighths();
  odd_values(load_f16(src) * 0.125f, 9, b);
  for (size_t s = 0; s < 8; ++s) {
    const uint32_t qh = load<uint16_t>(src + 34 + 2 * s);
    const uint8_t* qs = src + 2 + 4 * s;
    odd_scale(qh >> 12 & 7u, s, b);
    const v128_t ups = wasm_i8x16_splat((qh & 0x8000u) != 0 ? 0 : 1);
    codes_iq1(grid + 8 * (qs[0] | (qh & 7u) << 8), grid + 8 * (qs[1] | (qh >> 3 & 7u) << 8), ups, b.codes + 32 * s);
    codes_iq1(grid + 8 * (qs[2] | (qh >> 6 & 7u) << 8), grid + 8 * (qs[3] | (qh >> 9 & 7u) << 8), ups,
              b.codes + 32 * s + 16);
  }
}

void unpack_iq1_m(const uint8_t* src, size_t, UnpackedBlock& b) {
  const int8_t* grid = iq1_eighths();
  alignas(8) static constexpr uint64_t kUps[2] = {0x0101010101010101u, 0};
  uint32_t bits = 0;
  for (uint32_t k = 0; k < 4; ++k) bits |= (load<uint16_t>(src + 48 + 2 * k) >> 12 & 15u) << (4 * k);
  odd_values(f16_to_f32(static_cast<uint16_t>(bits)) * 0.125f, 9, b);
  for (size_t s = 0; s < 16; ++s) {
    const uint8_t* qs = src + 2 * s;
    const uint32_t qh = src[32 + s];
    odd_scale(static_cast<uint32_t>(load<uint16_t>(src + 48 + 2 * (s / 4))) >> (3 * (s % 4)) & 7u, s, b);
    codes_iq1(grid + 8 * (qs[0] | (qh & 7u) << 8), grid + 8 * (qs[1] | (qh & 0x70u) << 4),
              load_pair(&kUps[qh >> 3 & 1u], &kUps[qh >> 7]), b.codes + 16 * s);
  }
}

namespace {

// Sixteen codes for two codebook entries.
void codes_iq2(const uint8_t* first, const uint8_t* second, v128_t signs, uint8_t* codes) {
  wasm_v128_store(codes, with_signs(field(load_pair(first, second), 4, 15), signs, 3));  // 8, 25, 43
}

}  // namespace

// Scales are (2 * scale + 1) / 8.
void unpack_iq2_xxs(const uint8_t* src, size_t, UnpackedBlock& b) {
  const uint8_t* grid = iq2_xxs_grid().values;
  const ByteMasks& masks = byte_masks();
  b.d = load_f16(src) * 0.125f;
  for (size_t s = 0; s < 16; ++s) {
    const uint8_t* at = src + 2 + 8 * (s / 2);
    const uint8_t* qs = at + 2 * (s % 2);
    const uint32_t rest = load<uint32_t>(at + 4), signs = rest >> (14 * (s % 2));
    b.scale[s / 2] = static_cast<int8_t>(2 * (rest >> 28) + 1);
    codes_iq2(grid + 8 * qs[0], grid + 8 * qs[1],
              load_pair(&masks.of_even_7[signs & 127u], &masks.of_even_7[signs >> 7 & 127u]), b.codes + 16 * s);
  }
}

namespace {

int8_t iq2_scale(const uint8_t* scales, size_t s) {
  return static_cast<int8_t>(2 * (scales[s / 2] >> (4 * (s % 2)) & 15) + 1);
}

}  // namespace

void unpack_iq2_xs(const uint8_t* src, size_t, UnpackedBlock& b) {
  const uint8_t* grid = iq2_xs_grid().values;
  const ByteMasks& masks = byte_masks();
  b.d = load_f16(src) * 0.125f;
  for (size_t s = 0; s < 16; ++s) {
    const uint32_t q = load<uint32_t>(src + 2 + 4 * s);
    b.scale[s] = iq2_scale(src + 66, s);
    codes_iq2(grid + 8 * (q & 511u), grid + 8 * (q >> 16 & 511u),
              load_pair(&masks.of_even_7[q >> 9 & 127u], &masks.of_even_7[q >> 25]), b.codes + 16 * s);
  }
}

void unpack_iq2_s(const uint8_t* src, size_t, UnpackedBlock& b) {
  const uint8_t* grid = iq2_s_grid().values;
  const ByteMasks& masks = byte_masks();
  b.d = load_f16(src) * 0.125f;
  for (size_t s = 0; s < 16; ++s) {
    const uint8_t* qs = src + 2 + 2 * s;
    const uint32_t high = static_cast<uint32_t>(src[66 + s / 2]) >> (4 * (s % 2));
    b.scale[s] = iq2_scale(src + 74, s);
    codes_iq2(grid + 8 * (qs[0] | (high & 3u) << 8), grid + 8 * (qs[1] | (high & 12u) << 6),
              bits_to_bytes(masks, load<uint16_t>(src + 34 + 2 * s)), b.codes + 16 * s);
  }
}

namespace {

// Loads four codebook entries.
v128_t load_four(const uint8_t* grid, uint32_t i, uint32_t j, uint32_t k, uint32_t l) {
  const v128_t two = wasm_v128_load32_lane(grid + 4 * j, wasm_v128_load32_zero(grid + 4 * i), 1);
  return wasm_v128_load32_lane(grid + 4 * l, wasm_v128_load32_lane(grid + 4 * k, two, 2), 3);
}

}  // namespace

// Scales are (2 * scale + 1) / 4.
void unpack_iq3_xxs(const uint8_t* src, size_t, UnpackedBlock& b) {
  const uint8_t* grid = iq3_xxs_grid().values;
  const ByteMasks& masks = byte_masks();
  b.d = load_f16(src) * 0.25f;
  for (size_t s = 0; s < 16; ++s) {
    const uint8_t* qs = src + 2 + 4 * s;
    const uint32_t rest = load<uint32_t>(src + 66 + 4 * (s / 2)), signs = rest >> (14 * (s % 2));
    b.scale[s / 2] = static_cast<int8_t>(2 * (rest >> 28) + 1);
    const v128_t magnitudes = load_four(grid, qs[0], qs[1], qs[2], qs[3]);  // 4, 12, 20, 28, 36, 44, 52, 62
    wasm_v128_store(b.codes + 16 * s,
                    with_signs(field(magnitudes, 3, 7),
                               load_pair(&masks.of_even_7[signs & 127u], &masks.of_even_7[signs >> 7 & 127u]), 8));
  }
}

void unpack_iq3_s(const uint8_t* src, size_t, UnpackedBlock& b) {
  const uint8_t* grid = iq3_s_grid().values;
  const ByteMasks& masks = byte_masks();
  odd_values(load_f16(src), 15, b);
  for (size_t s = 0; s < 8; ++s) odd_scale(src[106 + s / 2] >> (4 * (s % 2)) & 15u, s, b);
  for (size_t j = 0; j < 16; ++j) {
    const uint8_t* qs = src + 2 + 4 * j;
    const uint32_t high = static_cast<uint32_t>(src[66 + j / 2]) >> (4 * (j % 2));
    const v128_t magnitudes = load_four(grid, qs[0] | (high & 1u) << 8, qs[1] | (high & 2u) << 7,
                                        qs[2] | (high & 4u) << 6, qs[3] | (high & 8u) << 5);
    wasm_v128_store(b.codes + 16 * j,
                    with_signs(field(magnitudes, 1, 7), bits_to_bytes(masks, load<uint16_t>(src + 74 + 2 * j)), 8));
  }
}

namespace {

// Block floating point: converts 32 floats to int16 multiples of 2^-13 times the power of two of the largest, which is
// at least `min`.
void unpack_floats(const v128_t* x, float min, UnpackedBlock& b) {
  v128_t max = wasm_i32x4_splat(0);
  for (size_t i = 0; i < 8; ++i) max = vec::max_magnitude(max, x[i]);
  const uint32_t power = std::bit_cast<uint32_t>(vec::largest_magnitude(max)) & 0x7f800000u;
  const float largest = std::max(std::bit_cast<float>(power), min);
  b.d = power == 0x7f800000u ? std::numeric_limits<float>::quiet_NaN() : largest * 0x1p-13f;
  const v128_t inverse = wasm_f32x4_splat(power == 0x7f800000u ? 0.0f : 1.0f / largest);
  const v128_t up = wasm_f32x4_splat(0x1p13f);
  v128_t codes[8];
  for (size_t i = 0; i < 8; ++i)
    codes[i] = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_f32x4_mul(x[i], inverse), up)));
  for (size_t i = 0; i < 4; ++i)
    wasm_v128_store(b.codes + 16 * i, wasm_i16x8_narrow_i32x4(codes[2 * i], codes[2 * i + 1]));
}

}  // namespace

// Every F16 is a multiple of 2^-24. With a power of two of at least 2^-11, small values stay exact, and d fits
// binary16.
void unpack_f16(const uint8_t* src, size_t, UnpackedBlock& b) {
  v128_t x[8];
  for (size_t i = 0; i < 8; ++i) x[i] = vec::load_f16x4(reinterpret_cast<const uint16_t*>(src) + 4 * i);
  unpack_floats(x, 0x1p-11f, b);
}

void unpack_bf16(const uint8_t* src, size_t, UnpackedBlock& b) {
  v128_t x[8];
  for (size_t i = 0; i < 4; ++i)
    interleave_words(wasm_i32x4_splat(0), wasm_v128_load(src + 16 * i),
                     [&](int k, v128_t lanes) { x[2 * i + static_cast<size_t>(k) / 4] = lanes; });
  unpack_floats(x, 0x1p-112f, b);
}

}  // namespace ggufscope
