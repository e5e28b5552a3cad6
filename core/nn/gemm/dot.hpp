// Dot products of a block: codes of eight rows times quantized activations of T tokens, in each DotKind.
//
// All kinds are exact integer arithmetic, so the result does not depend on the kind:
//   kInt8x4        int32 += four int8 products: one instruction with AVX-VNNI and on ARM, five on other x86 CPUs
//   kInt8x2        int16 += two int8 products: one instruction everywhere; int16 overflows after kInt8x2Elements
//   kInt8x2Wide    kInt8x2 whose sums are widened to int32 immediately, for codes too large to be added in int16
//   kInt8x4Packed  kInt8x4 on bytes that contain two 4-bit codes, if the CPU takes them as uint8
//   kInt8x2Split   kInt8x2 with each activation split into two nibbles: decode with uint8 codes, if the CPU takes
//                  them as uint8 but saturates kInt8x4
//   kInt16         codes widened to int16, int32 += two int16 products: for uint8 codes on other CPUs, and for every
//                  type in builds without relaxed SIMD; prefill.cpp does the same with codes widened once for all
//                  tokens
//   kBfp16         codes that are int16 in memory (F16, BF16)
//
// This file is part of dispatch.cpp, which alone includes it, because functions with internal linkage are inlined into
// their callers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "base/simd.hpp"
#include "nn/gemm/accumulators.hpp"
#include "nn/gemm/format.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

enum class DotKind : uint8_t { kInt8x4, kInt8x2, kInt8x2Wide, kInt8x4Packed, kInt8x2Split, kInt16, kBfp16 };

/// The compile-time parameters of a micro-kernel: the columns of PackedFormat that affect its code, and the dot
/// product.
struct KernelSpec {
  bool super;
  uint8_t bits;
  bool half_scales;
  uint8_t sub;
  Correction correction;
  bool table;
  DotKind dot;
};

// Offsets of a block's parts in such a format.
template <KernelSpec S>
constexpr PackedFormat kLayout{0, S.super, S.bits,        S.half_scales, S.sub,  S.correction,
                               0, nullptr, CodeType::kU7, nullptr,       S.table};

constexpr ActivationLayout activation_layout(DotKind dot) {
  if (dot == DotKind::kBfp16) return ActivationLayout::kBfp16;
  if (dot == DotKind::kInt8x2Split) return ActivationLayout::kNibbles;
  return dot == DotKind::kInt16 ? ActivationLayout::kInt16 : ActivationLayout::kInt8;
}

inline v128_t f32_splat_at(const uint8_t* p) { return wasm_v128_load32_splat(p); }

// Converts int32 to float without a conversion instruction: adding an integer below 2^22 to the bits of 1.5 * 2^23
// gives the bits of the sum as a float. One subtraction remains, and CPUs have more ports for it than for conversions.
constexpr int32_t kBiasBits = std::bit_cast<int32_t>(0x1.8p23f);
alignas(16) constexpr auto kBiases = [] {
  std::array<int32_t, 8 * kTileTokens> biases{};
  biases.fill(kBiasBits);
  return biases;
}();

// Constants that a loop over blocks keeps in registers.
struct Constants {
  v128_t half_correction;  // kHalfCorrection
  v128_t low_nibbles = loop_constant(wasm_i8x16_splat(15));
  v128_t low_bits;  // of int16 lanes: the mask of the first code
  v128_t ones = loop_constant(wasm_i16x8_splat(1));
  v128_t sixteens = loop_constant(wasm_i16x8_splat(16));
  vec::HalfConstants half;
  v128_t bias_bits = loop_constant(wasm_i32x4_splat(kBiasBits));
  v128_t table;
  // -offset in the low [0] or the high [1] int16 of each lane, to pick one of two int16 sums of activations; [..][1]
  // for rows 4..7, which kInt8x4Packed multiplies together with rows 0..3.
  v128_t minus_offset[2][2];
};

// 32 codes of 4 bits: rows 0..3 and rows 4..7.
template <KernelSpec S, int T>
inline void unpack_nibbles(const uint8_t* codes, const Constants& c, v128_t& w0, v128_t& w1) {
  const v128_t q = wasm_v128_load(codes);
  w0 = wasm_v128_and(q, c.low_nibbles);
  // With a table there are not enough registers to keep codes and activations for rows 4..7 while rows 0..3 are
  // multiplied (kGemvUnroll). They are loaded again, through a pointer that V8 cannot recognize as the same.
  constexpr ptrdiff_t kBack = S.super ? 0 : 16;
  const v128_t high =
      S.table && (T > 1 || S.dot == DotKind::kInt16) ? wasm_v128_load(opaque(codes - kBack) + kBack) : q;
  w1 = wasm_v128_and(wasm_u16x8_shr(high, 4), c.low_nibbles);
  if constexpr (S.table) {
    w0 = relaxed_lookup(c.table, w0);
    w1 = relaxed_lookup(c.table, w1);
  }
}

template <KernelSpec S>
constexpr int kBytesOf4Codes = S.bits == 4 ? 16 : 32;  // four elements of eight rows

template <KernelSpec S, int T>
inline void load_codes(const uint8_t* codes, const Constants& c, v128_t& w0, v128_t& w1) {
  if constexpr (S.dot == DotKind::kInt8x4Packed) {
    // The dot product of whole bytes is that of rows 0..3 plus 16 times that of rows 4..7, so no unpacking is needed.
    w1 = wasm_v128_load(codes);
    w0 = wasm_v128_and(w1, c.low_nibbles);
  } else if constexpr (S.bits == 4) {
    unpack_nibbles<S, T>(codes, c, w0, w1);
  } else {
    w0 = wasm_v128_load(codes);
    w1 = wasm_v128_load(codes + 16);
  }
}

// Each memory stream has its own load instruction, because AMD's prefetchers (Zen 5) are indexed by the instruction's
// address and lose track if one instruction serves several streams.
#if defined(__clang__)
#define UNROLL_STREAMS _Pragma("clang loop unroll(full)")
#else
#define UNROLL_STREAMS
#endif

// Calls step(codes, x, at, i) for each of `Fours` groups of four elements, `Unroll` of them in each iteration. x[t]:
// token t's activations, splat; at: the address of the first token's. V8's splat loads take no offset, so each token
// has its own pointer.
template <int T, int Fours, int Unroll, int CodeBytes, class Step>
inline void for_each_4(const uint8_t* codes, const uint8_t* a, const Step& step) {
  const uint8_t* x[T];
  for (int t = 0; t < T; ++t) x[t] = a + 4 * t;
  const auto iteration = [&] {
    UNROLL(Unroll)
    for (int g = 0; g < Unroll; ++g) {
      v128_t fours[T];
      for (int t = 0; t < T; ++t) fours[t] = wasm_v128_load32_splat(x[t] + 4 * T * g);
      step(codes + CodeBytes * g, fours, x[0] + 4 * T * g, g);
    }
  };
  if constexpr (Unroll == Fours) {
    iteration();
  } else {
    // Each pointer is its own induction variable. Otherwise LLVM would keep one counter and compute every address from
    // it.
    const uint8_t* const end = codes + CodeBytes * Fours;
    for (const uint8_t*& own : x) own = opaque(own);
    do {
      iteration();
      codes = opaque(codes + CodeBytes * Unroll);
      for (const uint8_t*& own : x) own = opaque(own + 4 * T * Unroll);
    } while (codes != end);
  }
}

// Decode: groups of four elements an iteration. Fully unrolled, V8 runs out of registers and spills activations and
// accumulators to stack frames that are aligned to 8 bytes: a spilled v128 may cross a cache line, which costs a Zen 5
// up to half of its speed. K-quants with 8-bit codes (and int8x2 with 8 bits) stay unrolled: in a loop, Zen's
// prefetchers lose track of the few cache lines that they read at a time.
constexpr int kGemvUnroll = 2;

// In all of these functions, acc[t][h] are the accumulators of token t and rows 0..3 (h = 0) or 4..7 (h = 1). The
// products of `Fours` groups of four elements are added to them.

// int32 lanes, one for each row. The first and third of four elements are the low bytes of int16 lanes, the second and
// fourth the high bytes. They are processed in two passes, because both do not fit the registers.
template <KernelSpec S, int T, int Fours>
inline void dot_int16(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*acc)[2]) {
  for (size_t odd = 0; odd < 2; ++odd) {
    for_each_4<T, Fours, T == 1 ? 4 : 1, kBytesOf4Codes<S>>(
        codes, a + odd * second_half_at(kLayout<S>.block()) * T,
        [&](const uint8_t* four, const v128_t* x, const uint8_t*, int) {
          v128_t w[2];
          if constexpr (S.bits == 4 && !S.table) {
            const v128_t q = wasm_v128_load(four);
            w[0] = wasm_v128_and(odd ? wasm_u16x8_shr(q, 8) : q, c.low_bits);
            w[1] = odd ? wasm_u16x8_shr(q, 12) : wasm_v128_and(wasm_u16x8_shr(q, 4), c.low_bits);
          } else {
            load_codes<S, T>(four, c, w[0], w[1]);
            for (v128_t& wide : w) wide = odd ? wasm_u16x8_shr(wide, 8) : wasm_v128_and(wide, c.low_bits);
          }
          for (int t = 0; t < T; ++t)
            for (int h = 0; h < 2; ++h) acc[t][h] = wasm_i32x4_add(acc[t][h], wasm_i32x4_dot_i16x8(w[h], x[t]));
        });
  }
}

// int16 lanes, two for each row, which are summed later.
template <KernelSpec S, int T, int Fours>
inline void dot_int8x2(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*acc)[2]) {
  constexpr int kUnroll = T > 1 ? 1 : S.bits == 8 ? Fours : kGemvUnroll;
  const auto step = [&](const uint8_t* four, const v128_t* x, const uint8_t* at, int) {
    v128_t w0, w1;
    load_codes<S, T>(four, c, w0, w1);
    // Loaded again, for the same reason as in unpack_nibbles().
    const uint8_t* const again = opaque(at);
    for (int t = 0; t < T; ++t) {
      const v128_t x1 = S.table && T > 1 ? wasm_v128_load32_splat(again + 4 * t) : x[t];
      const v128_t p0 = relaxed_dot_i16(x[t], w0), p1 = relaxed_dot_i16(x1, w1);
      acc[t][0] = wasm_i16x8_add(acc[t][0], p0);
      acc[t][1] = wasm_i16x8_add(acc[t][1], p1);
    }
  };
  for_each_4<T, Fours, kUnroll, kBytesOf4Codes<S>>(codes, a, step);
}

// Decode with N interleaved row groups that share the loads of activations: calls step(n, codes, x, y) for each of
// `Fours` groups of four elements and each row group n. x: the activations; y: those second_half_at() bytes later.
template <KernelSpec S, int Fours, int N, class Step>
inline void for_each_4_of_groups(const uint8_t* const* codes, const uint8_t* a, const Step& step) {
  const uint8_t* own[N];
  std::copy_n(codes, N, own);
  const uint8_t* const end = a + 4 * Fours;
  UNROLL(1)
  do {
    const v128_t x = wasm_v128_load32_splat(a), y = wasm_v128_load32_splat(a + second_half_at(kLayout<S>.block()));
    for (int n = 0; n < N; ++n) {
      step(n, own[n], x, y);
      own[n] = opaque(own[n] + kBytesOf4Codes<S>);
    }
    a = opaque(a + 4);
  } while (a != end);
}

// N row groups, int32 lanes, one for each row. A high nibble is -8..8 and a low one -8..7, so 32 products with 255 fit
// int16.
template <KernelSpec S, int Fours, int N>
inline void dot_int8x2_split(const uint8_t* const* codes, const uint8_t* a, const Constants& c, v128_t (*acc)[1][2]) {
  static_assert(Fours <= 8);
  v128_t high[N][2], low[N][2];
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h) high[n][h] = low[n][h] = wasm_i16x8_splat(0);
  for_each_4_of_groups<S, Fours, N>(codes, a, [&](int n, const uint8_t* four, v128_t x, v128_t y) {
    v128_t w[2];
    load_codes<S, 1>(four, c, w[0], w[1]);
    for (int h = 0; h < 2; ++h) {
      high[n][h] = wasm_i16x8_add(high[n][h], relaxed_dot_i16(x, w[h]));
      low[n][h] = wasm_i16x8_add(low[n][h], relaxed_dot_i16(y, w[h]));
    }
  });
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h)
      acc[n][0][h] = wasm_i32x4_add(acc[n][0][h], wasm_i32x4_add(wasm_i32x4_dot_i16x8(high[n][h], c.sixteens),
                                                                 wasm_i32x4_dot_i16x8(low[n][h], c.ones)));
}

// The same for kInt8x2, where all products of a block fit int16.
template <KernelSpec S, int Fours, int N>
inline void dot_int8x2_groups(const uint8_t* const* codes, const uint8_t* a, const Constants& c, v128_t (*acc)[1][2]) {
  v128_t pairs[N][2];
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h) pairs[n][h] = wasm_i16x8_splat(0);
  for_each_4_of_groups<S, Fours, N>(codes, a, [&](int n, const uint8_t* four, v128_t x, v128_t) {
    v128_t w[2];
    load_codes<S, 1>(four, c, w[0], w[1]);
    for (int h = 0; h < 2; ++h) pairs[n][h] = wasm_i16x8_add(pairs[n][h], relaxed_dot_i16(x, w[h]));
  });
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h) acc[n][0][h] = wasm_i32x4_add(acc[n][0][h], wasm_i32x4_dot_i16x8(pairs[n][h], c.ones));
}

// Four int8 products. On x86 without AVX-VNNI the one instruction becomes five, which build a vector of ones each time;
// kInt8x2Wide avoids that.
template <KernelSpec S>
inline v128_t add_int8x4(v128_t x, v128_t w, v128_t acc, const Constants& c) {
  if constexpr (S.dot == DotKind::kInt8x2Wide)
    return wasm_i32x4_add(acc, wasm_i32x4_dot_i16x8(relaxed_dot_i16(x, w), c.ones));
  return relaxed_dot_i32(x, w, acc);
}

// The number of dependency chains for each accumulator. With one token and one chain, each product would wait for the
// one before.
template <int T>
constexpr int kAccumulatorChains = T == 1 ? 2 : 1;

// int32 lanes, one for each row.
template <KernelSpec S, int T, int Fours>
inline void dot_int8x4(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*acc)[2]) {
  v128_t others[T][2];
  for (int t = 0; t < T; ++t) others[t][0] = others[t][1] = wasm_i32x4_splat(0);
  constexpr int kUnroll = T > 1 ? 1 : S.super && S.bits == 8 ? Fours : kGemvUnroll;
  const auto step = [&](const uint8_t* four, const v128_t* x, const uint8_t*, int g) {
    v128_t w0, w1;
    load_codes<S, T>(four, c, w0, w1);
    v128_t(*to)[2] = g % kAccumulatorChains<T> == 0 ? acc : others;
    for (int t = 0; t < T; ++t) {
      to[t][0] = add_int8x4<S>(x[t], w0, to[t][0], c);
      to[t][1] = add_int8x4<S>(x[t], w1, to[t][1], c);
    }
  };
  for_each_4<T, Fours, kUnroll, kBytesOf4Codes<S>>(codes, a, step);
  if constexpr (kAccumulatorChains<T> == 2)
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) acc[t][h] = wasm_i32x4_add(acc[t][h], others[t][h]);
}

// Number of elements whose products with activations fit int16: codes are below 16 (kU4), 32 (kU5) or 64 (kU6, Q6_K).
template <KernelSpec S>
constexpr int kInt8x2Elements = S.bits == 4 && !S.table      ? 32
                                : S.bits == 8 && S.sub == 16 ? 8
                                                             : 16;

// The dot product of a sub-block of Sub elements in int32 lanes. With kInt8x4Packed, acc[t][1] is the dot product of
// whole bytes.
template <KernelSpec S, int T, int Sub>
inline void dot(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*acc)[2]) {
  if constexpr (S.dot == DotKind::kInt16) {
    dot_int16<S, T, Sub / 4>(codes, a, c, acc);
  } else if constexpr (S.dot == DotKind::kInt8x2Split) {
    dot_int8x2_split<S, Sub / 4, 1>(&codes, a, c, reinterpret_cast<v128_t(*)[1][2]>(acc));
  } else if constexpr (S.dot == DotKind::kInt8x4 || S.dot == DotKind::kInt8x4Packed || S.dot == DotKind::kInt8x2Wide) {
    dot_int8x4<S, T, Sub / 4>(codes, a, c, acc);
  } else {
    constexpr int kStep = std::min(kInt8x2Elements<S>, Sub);
    for (int k = 0; k < Sub; k += kStep) {
      v128_t pairs[T][2];
      for (int t = 0; t < T; ++t) pairs[t][0] = pairs[t][1] = wasm_i16x8_splat(0);
      dot_int8x2<S, T, kStep / 4>(codes + S.bits * k, a + k * T, c, pairs);
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < 2; ++h) acc[t][h] = wasm_i32x4_add(acc[t][h], wasm_i32x4_dot_i16x8(pairs[t][h], c.ones));
    }
  }
}

// The factor by which the accumulators of rows 4..7 are too large.
template <KernelSpec S>
constexpr float kHighFactor = S.dot == DotKind::kInt8x4Packed ? 16.0f : 1.0f;

// Initializes accumulators with the bias minus offset * sum of the activations. Sums of 32 codes fit int16, so an int16
// dot product with (offset, 0) selects and multiplies one of two sums, which is cheaper than an int32 product. sums:
// those of T tokens, in the low (high = 0) or high int16 of 32 bits.
template <KernelSpec S, int T>
inline void init_accumulators(const uint8_t* sums, size_t high, const Constants& c, v128_t (*acc)[2]) {
  if constexpr (S.correction != Correction::kOffset) {
    // Each accumulator is loaded from its own address: if several start with the same value, V8 spills all but one.
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) acc[t][h] = *reinterpret_cast<const volatile v128_t*>(kBiases.data() + 8 * t + 4 * h);
  } else {
    const auto corrected = [&](v128_t sum, int h) {
      return wasm_i32x4_add(c.bias_bits, wasm_i32x4_dot_i16x8(sum, c.minus_offset[high][h]));
    };
    if constexpr (T == 4) {
      const v128_t all = wasm_v128_load(sums);
      for (int h = 0; h < 2; ++h) {
        const v128_t each = corrected(all, h);
        acc[0][h] = wasm_i32x4_shuffle(each, each, 0, 0, 0, 0);
        acc[1][h] = wasm_i32x4_shuffle(each, each, 1, 1, 1, 1);
        acc[2][h] = wasm_i32x4_shuffle(each, each, 2, 2, 2, 2);
        acc[3][h] = wasm_i32x4_shuffle(each, each, 3, 3, 3, 3);
      }
    } else {
      for (int t = 0; t < T; ++t) {
        const v128_t sum = wasm_v128_load32_splat(sums + 4 * t);
        for (int h = 0; h < 2; ++h) acc[t][h] = corrected(sum, h);
      }
    }
  }
}

// Converts accumulators to floats, in place.
template <KernelSpec S, int T>
inline void accumulators_to_float(const Constants& c, v128_t (*acc)[2]) {
  for (int t = 0; t < T; ++t) {
    acc[t][1] = wasm_f32x4_sub(acc[t][1], S.dot == DotKind::kInt8x4Packed ? acc[t][0] : c.bias_bits);
    acc[t][0] = wasm_f32x4_sub(acc[t][0], c.bias_bits);
  }
}

// Block floating point: acc[g][t], as floats, for one block of each of G row groups, step_bytes apart, which share the
// loads of activations. Dot products of 16 elements fit int32 (kBfp16MaxSum).
template <int T, int G>
inline void dot_bfp16(const uint8_t* codes, size_t step_bytes, const uint8_t* a, v128_t (*acc)[T][2]) {
  const uint8_t *own[G], *x[T];
  for (int g = 0; g < G; ++g) own[g] = codes + static_cast<size_t>(g) * step_bytes;
  for (int t = 0; t < T; ++t) x[t] = a + 4 * t;
  const auto dot_half = [&](v128_t(*half)[T][2]) {
    dot_int16_pairs<T, G>(own, own[0] + 256, x, half);
    for (int g = 0; g < G; ++g)
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < 2; ++h) half[g][t][h] = wasm_f32x4_convert_i32x4(half[g][t][h]);
  };
  v128_t second[G][T][2];
  dot_half(acc);
  dot_half(second);
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) acc[g][t][h] = wasm_f32x4_add(acc[g][t][h], second[g][t][h]);
}

// With three tokens or more, values that do not fit the registers are kept in wasm memory, where they are aligned
// (kGemvUnroll), instead of V8's stack.
template <int T>
inline v128_t* in_memory(v128_t* values) {
  return T > 2 ? const_cast<v128_t*>(opaque(values)) : values;
}

// True if decode interleaves its row groups line by line and loads activations once for all of them. On Zen 3 this is
// faster than one block at a time.
template <KernelSpec S>
constexpr bool kInterleavesGroups =
    !S.super && (S.dot == DotKind::kInt8x2Split || (S.dot == DotKind::kInt8x2 && S.bits == 4 && !S.table));

// acc[g], as floats, for one block of each of G row groups, step_bytes apart, and one token. Rows 4..7 are
// kHighFactor<S> times too large. As many groups at a time as the registers can hold.
template <KernelSpec S, int G>
inline void dot_interleaved(const uint8_t* codes, size_t step_bytes, const uint8_t* a, const uint8_t* sums,
                            const Constants& c, v128_t (*acc)[1][2]) {
  constexpr int kTogether = std::min(G, 2);
  UNROLL_STREAMS
  for (int g = 0; g < G; g += kTogether) {
    const uint8_t* own[kTogether];
    for (int n = 0; n < kTogether; ++n) {
      own[n] = codes + static_cast<size_t>(g + n) * step_bytes;
      init_accumulators<S, 1>(sums, 0, c, acc[g + n]);
    }
    if constexpr (S.dot == DotKind::kInt8x2Split)
      dot_int8x2_split<S, S.sub / 4, kTogether>(own, a, c, acc + g);
    else
      dot_int8x2_groups<S, S.sub / 4, kTogether>(own, a, c, acc + g);
    for (int n = 0; n < kTogether; ++n) accumulators_to_float<S, 1>(c, acc[g + n]);
  }
}

}  // namespace
}  // namespace ggufscope
