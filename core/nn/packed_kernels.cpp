// Products of packed weights with quantized activations. See packed.hpp for the layouts.
//
// Narrow kernels multiply unsigned 7-bit codes with i8 activations two at a time into i16 (4 bits: sums of a sub-block
// fit, 8 * 2 * 15 * 127 < 32768) or four at a time into i32 (8 bits). Wide ones widen both to i16 and sum in i32: for
// codes with a sign, and for builds without relaxed SIMD, where there is no product of bytes.
#include <bit>
#include <cstring>

#include "base/simd.hpp"
#include "nn/packed.hpp"

namespace ggufscope {
namespace {

#if defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)
constexpr bool kNarrow = false;
#else
constexpr bool kNarrow = true;
#endif

struct Shape {
  bool super;
  int bits, sub;
  Correction correction;
  bool table, wide;
};

// Where the parts of a block of a tile of T tokens are.
constexpr size_t sums_bytes(ActivationKind kind) { return kind.super ? 48 : 4; }
constexpr size_t block_size(ActivationKind kind) { return kind.super ? 256 : 32; }
constexpr size_t code_bytes(ActivationKind kind) { return kind.wide ? 2 : 1; }
constexpr size_t token_block_bytes(ActivationKind kind) {
  return block_size(kind) * code_bytes(kind) + sizeof(float) + sums_bytes(kind);
}

inline v128_t f32_splat_at(const uint8_t* p) { return wasm_v128_load32_splat(p); }

// i32 lanes: one sum a row, of rows 0..3 (half 0) or 4..7 (half 1), over `Groups` groups of four elements.
template <Shape S, int T, int Groups>
inline void dot_wide(const uint8_t* codes, const uint8_t* a, v128_t table, int half, v128_t* sums) {
  v128_t low[T], high[T];
  for (int t = 0; t < T; ++t) low[t] = high[t] = wasm_i32x4_splat(0);
  for (int g = 0; g < Groups; ++g) {
    v128_t w;
    if constexpr (S.bits == 4) {
      w = wasm_v128_load(codes + 16 * g);
      w = wasm_v128_and(half == 0 ? w : wasm_u16x8_shr(w, 4), wasm_i8x16_splat(15));
      if constexpr (S.table) w = wasm_i8x16_swizzle(table, w);
    } else {
      w = wasm_v128_load(codes + 32 * g + 16 * half);
    }
    const v128_t w_low = wasm_i16x8_extend_low_i8x16(w), w_high = wasm_i16x8_extend_high_i8x16(w);
    for (int t = 0; t < T; ++t) {
      const v128_t x = wasm_v128_load64_splat(a + (g * T + t) * 8);
      low[t] = wasm_i32x4_add(low[t], wasm_i32x4_dot_i16x8(w_low, x));
      high[t] = wasm_i32x4_add(high[t], wasm_i32x4_dot_i16x8(w_high, x));
    }
  }
  for (int t = 0; t < T; ++t)
    sums[t] = wasm_i32x4_add(wasm_i32x4_shuffle(low[t], high[t], 0, 2, 4, 6),
                             wasm_i32x4_shuffle(low[t], high[t], 1, 3, 5, 7));
}

// 4 bits: i16 lanes, two a row (pairs to be added), rows 0..3 in first and 4..7 in second.
template <Shape S, int T, int Groups>
inline void dot_narrow_4(const uint8_t* codes, const uint8_t* a, v128_t table, v128_t* first, v128_t* second) {
  const v128_t mask = wasm_i8x16_splat(15);
  for (int t = 0; t < T; ++t) first[t] = second[t] = wasm_i16x8_splat(0);
  for (int g = 0; g < Groups; ++g) {
    const v128_t q = wasm_v128_load(codes + 16 * g);
    v128_t w0 = wasm_v128_and(q, mask), w1 = wasm_v128_and(wasm_u16x8_shr(q, 4), mask);
    if constexpr (S.table) {
      w0 = wasm_i8x16_swizzle(table, w0);
      w1 = wasm_i8x16_swizzle(table, w1);
    }
    for (int t = 0; t < T; ++t) {
      const v128_t x = wasm_v128_load32_splat(a + (g * T + t) * 4);
      first[t] = wasm_i16x8_add(first[t], relaxed_dot_i16(x, w0));
      second[t] = wasm_i16x8_add(second[t], relaxed_dot_i16(x, w1));
    }
  }
}

// i32 sums of a sub-block of Sub elements: one lane a row.
template <Shape S, int T, int Sub>
inline void dot_i32(const uint8_t* codes, const uint8_t* a, v128_t table, v128_t* first, v128_t* second) {
  for (int t = 0; t < T; ++t) first[t] = second[t] = wasm_i32x4_splat(0);
  if constexpr (S.wide) {
    dot_wide<S, T, Sub / 4>(codes, a, table, 0, first);
    dot_wide<S, T, Sub / 4>(codes, a, table, 1, second);
  } else if constexpr (S.bits == 8) {
    for (int g = 0; g < Sub / 4; ++g) {
      const v128_t w0 = wasm_v128_load(codes + 32 * g), w1 = wasm_v128_load(codes + 32 * g + 16);
      for (int t = 0; t < T; ++t) {
        const v128_t x = wasm_v128_load32_splat(a + (g * T + t) * 4);
        first[t] = relaxed_dot_i32(x, w0, first[t]);
        second[t] = relaxed_dot_i32(x, w1, second[t]);
      }
    }
  } else {
    // Codes of a table reach 24: a sum of 32 of them would not fit.
    constexpr int kStep = S.table ? 16 : Sub;
    for (int k = 0; k < Sub; k += kStep) {
      v128_t c0[T], c1[T];
      dot_narrow_4<S, T, kStep / 4>(codes + 4 * k, a + k * T, table, c0, c1);
      for (int t = 0; t < T; ++t) {
        first[t] = wasm_i32x4_add(first[t], wasm_i32x4_extadd_pairwise_i16x8(c0[t]));
        second[t] = wasm_i32x4_add(second[t], wasm_i32x4_extadd_pairwise_i16x8(c1[t]));
      }
    }
  }
}

// products[t], corrections[t]: i32 lanes of a super-block.
template <Shape S, int T>
inline void super_block(const PackedFormat& f, const uint8_t* p, const uint8_t* a, const uint8_t* sums, v128_t table,
                        v128_t (*products)[2], v128_t (*corrections)[2]) {
  constexpr int kSubs = 256 / S.sub, kActivation = S.wide ? 2 : 1;
  const uint8_t* codes = p + f.codes_at();
  const uint8_t* scales = p + f.scales_at();
  for (int t = 0; t < T; ++t)
    products[t][0] = products[t][1] = corrections[t][0] = corrections[t][1] = wasm_i32x4_splat(0);
  for (int s = 0; s < kSubs; ++s) {
    const v128_t scale = wasm_v128_load(scales + 16 * s);  // each row's twice
    const v128_t scale0 = wasm_i16x8_extend_low_i8x16(scale), scale1 = wasm_i16x8_extend_high_i8x16(scale);
    const uint8_t* sub_codes = codes + s * S.sub * S.bits;
    const uint8_t* sub_a = a + s * S.sub * T * kActivation;
    v128_t c0[T], c1[T];
    if constexpr (!S.wide && S.bits == 4 && !S.table) {
      dot_narrow_4<S, T, S.sub / 4>(sub_codes, sub_a, table, c0, c1);
      for (int t = 0; t < T; ++t) {
        products[t][0] = wasm_i32x4_add(products[t][0], wasm_i32x4_dot_i16x8(c0[t], scale0));
        products[t][1] = wasm_i32x4_add(products[t][1], wasm_i32x4_dot_i16x8(c1[t], scale1));
      }
    } else {
      dot_i32<S, T, S.sub>(sub_codes, sub_a, table, c0, c1);
      const v128_t s0 = wasm_i32x4_shr(scale0, 16), s1 = wasm_i32x4_shr(scale1, 16);
      for (int t = 0; t < T; ++t) {
        products[t][0] = wasm_i32x4_add(products[t][0], wasm_i32x4_mul(c0[t], s0));
        products[t][1] = wasm_i32x4_add(products[t][1], wasm_i32x4_mul(c1[t], s1));
      }
    }
  }
  if constexpr (S.correction != Correction::kNone) {
    const uint8_t* mins = p + f.mins_at();
    const uint8_t* pairs = S.sub == 16 ? sums : sums + 32 * T;
    for (int s = 0; s < kSubs / 2; ++s) {
      const v128_t min = wasm_v128_load(mins + 16 * s);
      const v128_t min0 = wasm_i16x8_extend_low_i8x16(min), min1 = wasm_i16x8_extend_high_i8x16(min);
      for (int t = 0; t < T; ++t) {
        const v128_t x = wasm_v128_load32_splat(pairs + (s * T + t) * 4);
        corrections[t][0] = wasm_i32x4_add(corrections[t][0], wasm_i32x4_dot_i16x8(min0, x));
        corrections[t][1] = wasm_i32x4_add(corrections[t][1], wasm_i32x4_dot_i16x8(min1, x));
      }
    }
  }
}

template <Shape S, int T>
void multiply(const PackedFormat& f, const uint8_t* p, size_t n_in, const uint8_t* a, float* y, size_t y_stride,
              size_t n_rows) {
  constexpr ActivationKind kKind{S.super, S.wide};
  constexpr size_t kBlock = block_size(kKind);
  constexpr bool kStoresE = S.correction == Correction::kStored || (S.super && S.correction != Correction::kNone);
  const v128_t table = S.table ? wasm_v128_load(f.table) : wasm_i8x16_splat(0);
  const size_t bytes = f.block_bytes();
  v128_t sums[T][2];
  for (int t = 0; t < T; ++t) sums[t][0] = sums[t][1] = wasm_f32x4_splat(0);
  for (size_t block = 0; block < n_in / kBlock; ++block, p += bytes, a += token_block_bytes(kKind) * T) {
    const uint8_t* scales = a + kBlock * code_bytes(kKind) * T;
    const uint8_t* totals = scales + sizeof(float) * T;
    v128_t products[T][2], corrections[T][2];
    if constexpr (S.super) {
      super_block<S, T>(f, p, a, totals, table, products, corrections);
    } else {
      v128_t c0[T], c1[T];
      dot_i32<S, T, 32>(p + f.codes_at(), a, table, c0, c1);
      for (int t = 0; t < T; ++t) {
        products[t][0] = c0[t];
        products[t][1] = c1[t];
        if constexpr (S.correction != Correction::kNone) {
          const v128_t total = wasm_v128_load32_splat(totals + 4 * t);
          if constexpr (S.correction == Correction::kOffset) {
            const v128_t offset = wasm_i32x4_mul(total, wasm_i32x4_splat(f.offset));
            products[t][0] = wasm_i32x4_sub(products[t][0], offset);
            products[t][1] = wasm_i32x4_sub(products[t][1], offset);
          } else {
            corrections[t][0] = corrections[t][1] = total;
          }
        }
      }
    }
    for (int h = 0; h < 2; ++h) {
      const v128_t d = wasm_v128_load(p + 16 * h);
      for (int t = 0; t < T; ++t) {
        v128_t part = wasm_f32x4_mul(d, wasm_f32x4_convert_i32x4(products[t][h]));
        if constexpr (kStoresE)
          part = relaxed_madd(wasm_v128_load(p + 32 + 16 * h), wasm_f32x4_convert_i32x4(corrections[t][h]), part);
        sums[t][h] = relaxed_madd(part, f32_splat_at(scales + 4 * t), sums[t][h]);
      }
    }
  }
  for (int t = 0; t < T; ++t) {
    float* out = y + static_cast<size_t>(t) * y_stride;
    if (n_rows == kGroupRows) {
      wasm_v128_store(out, sums[t][0]);
      wasm_v128_store(out + 4, sums[t][1]);
    } else {
      float all[kGroupRows];
      wasm_v128_store(all, sums[t][0]);
      wasm_v128_store(all + 4, sums[t][1]);
      std::memcpy(out, all, n_rows * sizeof(float));
    }
  }
}

template <Shape S>
void multiply_tokens(const PackedFormat& f, const uint8_t* group, size_t n_in, const uint8_t* tile, size_t n_tokens,
                     float* y, size_t y_stride, size_t n_rows) {
  switch (n_tokens) {
    case 1:
      return multiply<S, 1>(f, group, n_in, tile, y, y_stride, n_rows);
    case 2:
      return multiply<S, 2>(f, group, n_in, tile, y, y_stride, n_rows);
    case 3:
      return multiply<S, 3>(f, group, n_in, tile, y, y_stride, n_rows);
    default:
      return multiply<S, 4>(f, group, n_in, tile, y, y_stride, n_rows);
  }
}

// T tokens of one block: codes [K / 4][T][4], scales [T], sums.
template <bool Super, bool Wide>
void quantize_blocks(const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  constexpr ActivationKind kKind{Super, Wide};
  constexpr size_t kBlock = block_size(kKind);
  for (size_t block = 0; block < n_in / kBlock; ++block, tile += token_block_bytes(kKind) * n_tokens) {
    uint8_t* scales = tile + kBlock * code_bytes(kKind) * n_tokens;
    uint8_t* totals = scales + sizeof(float) * n_tokens;
    for (size_t t = 0; t < n_tokens; ++t) {
      const float* row = x + t * x_stride + block * kBlock;
      v128_t most = wasm_f32x4_splat(0);
      for (size_t k = 0; k < kBlock; k += 4) most = wasm_f32x4_max(most, wasm_f32x4_abs(wasm_v128_load(row + k)));
      most = wasm_f32x4_max(most, wasm_i32x4_shuffle(most, most, 2, 3, 0, 1));
      const float largest =
          wasm_f32x4_extract_lane(wasm_f32x4_max(most, wasm_i32x4_shuffle(most, most, 1, 0, 3, 2)), 0);
      const float scale = largest / 127.0f;
      std::memcpy(scales + 4 * t, &scale, sizeof scale);
      const v128_t inverse = wasm_f32x4_splat(scale > 0 ? 1.0f / scale : 0.0f);
      v128_t sum = wasm_i32x4_splat(0);
      for (size_t k = 0; k < kBlock; k += 16) {
        v128_t q[4];
        for (size_t i = 0; i < 4; ++i) {
          q[i] = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(row + k + 4 * i), inverse));
          // Beyond the codes is only what is no number; then the scale is none either, and so are the products.
          const v128_t fits = wasm_f32x4_le(wasm_f32x4_abs(q[i]), wasm_f32x4_splat(127.0f));
          q[i] = wasm_i32x4_trunc_sat_f32x4(wasm_v128_and(q[i], fits));
          uint8_t* to = tile + ((k / 4 + i) * n_tokens + t) * 4 * code_bytes(kKind);
          const v128_t narrow = wasm_i16x8_narrow_i32x4(q[i], q[i]);
          if constexpr (Wide) {
            wasm_v128_store64_lane(to, narrow, 0);
          } else {
            wasm_v128_store32_lane(to, wasm_i8x16_narrow_i16x8(narrow, narrow), 0);
          }
        }
        const v128_t of_16 = wasm_i32x4_add(wasm_i32x4_add(q[0], q[1]), wasm_i32x4_add(q[2], q[3]));
        if constexpr (Super) {
          const int total = wasm_i32x4_extract_lane(of_16, 0) + wasm_i32x4_extract_lane(of_16, 1) +
                            wasm_i32x4_extract_lane(of_16, 2) + wasm_i32x4_extract_lane(of_16, 3);
          const size_t s = k / 16;
          const int16_t of_16s = static_cast<int16_t>(total);
          std::memcpy(totals + ((s / 2) * n_tokens + t) * 4 + 2 * (s % 2), &of_16s, 2);
          uint8_t* at_32 = totals + 32 * n_tokens + ((s / 4) * n_tokens + t) * 4 + 2 * (s / 2 % 2);
          int16_t of_32s = 0;
          if (s % 2 == 1) std::memcpy(&of_32s, at_32, 2);
          of_32s = static_cast<int16_t>(of_32s + of_16s);
          std::memcpy(at_32, &of_32s, 2);
        } else {
          sum = wasm_i32x4_add(sum, of_16);
        }
      }
      if constexpr (!Super) {
        const int32_t total = wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) +
                              wasm_i32x4_extract_lane(sum, 2) + wasm_i32x4_extract_lane(sum, 3);
        std::memcpy(totals + 4 * t, &total, sizeof total);
      }
    }
  }
}

}  // namespace

ActivationKind activation_kind(const PackedFormat& f) { return {f.super, f.wide || !kNarrow}; }

size_t activation_tile_bytes(ActivationKind kind, size_t n_in) {
  return n_in / block_size(kind) * token_block_bytes(kind) * kTile;
}

void quantize_tile(ActivationKind kind, const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  if (kind.super) {
    if (kind.wide)
      quantize_blocks<true, true>(x, x_stride, n_tokens, n_in, tile);
    else
      quantize_blocks<true, false>(x, x_stride, n_tokens, n_in, tile);
  } else {
    if (kind.wide)
      quantize_blocks<false, true>(x, x_stride, n_tokens, n_in, tile);
    else
      quantize_blocks<false, false>(x, x_stride, n_tokens, n_in, tile);
  }
}

void multiply_group(const PackedFormat& f, const uint8_t* group, size_t n_in, const uint8_t* tile, size_t n_tokens,
                    float* y, size_t y_stride, size_t n_rows) {
  // Every shape that a format has, once: the row is compared with it, so that a missing one cannot go unnoticed.
#define SHAPE(super_, bits_, sub_, correction_, table_, wide_)                                              \
  if (f.super == super_ && f.bits == bits_ && f.sub == sub_ && f.correction == Correction::correction_ &&   \
      (f.table != nullptr) == table_ && f.wide == wide_)                                                    \
    return multiply_tokens<Shape{super_, bits_, sub_, Correction::correction_, table_, wide_ || !kNarrow}>( \
        f, group, n_in, tile, n_tokens, y, y_stride, n_rows);
  SHAPE(false, 4, 32, kOffset, false, false)  // Q4_0
  SHAPE(false, 4, 32, kStored, false, false)  // Q4_1
  SHAPE(false, 8, 32, kOffset, false, false)  // Q5_0
  SHAPE(false, 8, 32, kStored, false, false)  // Q5_1
  SHAPE(false, 8, 32, kNone, false, true)     // Q8_0
  SHAPE(false, 4, 32, kNone, true, true)      // IQ4_NL
  SHAPE(false, 4, 32, kOffset, true, false)   // MXFP4
  SHAPE(true, 4, 16, kStored, false, false)   // Q2_K
  SHAPE(true, 4, 16, kOffset, false, false)   // Q3_K
  SHAPE(true, 4, 32, kStored, false, false)   // Q4_K
  SHAPE(true, 8, 32, kStored, false, false)   // Q5_K
  SHAPE(true, 8, 16, kOffset, false, false)   // Q6_K
  SHAPE(true, 4, 32, kNone, true, true)       // IQ4_XS
#undef SHAPE
  __builtin_trap();
}

}  // namespace ggufscope
