// How a block of packed weights is multiplied by the codes of activations, in each of the ways that there are. Part of
// packed_kernels.cpp, the one file that includes it: what has a namespace without a name is drawn into its callers.
//
// All ways are exact, so that results do not depend on which:
//   kQuads  four products of bytes into i32: one instruction with AVX-VNNI and on ARM, five on other x86
//   kPairs  two products of bytes into i16, as many of them as fit (kPairElements)
//   kWhole  kQuads of bytes that hold two codes of 4 bits, where machines take them without a sign
//   kHalves one token's kWords: halves of 4 bits of an activation by kPairs, where the code's byte has no sign there
//   kWords  codes widened to i16, sums in i32: for whole bytes where the machine has no product for them, and in
//           builds without relaxed SIMD, where there is no product of bytes; of prompts in prompt_products.cpp
//   kFine   codes that are words
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "base/simd.hpp"
#include "nn/packed.hpp"
#include "nn/packed_rows.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

enum class Way : uint8_t { kQuads, kPairs, kWhole, kHalves, kWords, kFine };

struct Shape {
  bool super;
  uint8_t bits;
  bool half_scales;
  uint8_t sub;
  Correction correction;
  bool table;
  Way way;
};

// Where the parts of a block of such a format are.
template <Shape S>
constexpr PackedFormat kLayout{0, S.super, S.bits,        S.half_scales, S.sub, S.correction,
                               0, nullptr, Codes::kSmall, nullptr};

constexpr ActivationCodes activation_codes(Way way) {
  if (way == Way::kFine) return ActivationCodes::kFine;
  if (way == Way::kHalves) return ActivationCodes::kHalves;
  return way == Way::kWords ? ActivationCodes::kWords : ActivationCodes::kBytes;
}

inline v128_t f32_splat_at(const uint8_t* p) { return wasm_v128_load32_splat(p); }

// An integer below 2^22 added to the bits of 1.5 * 2^23 makes the bits of their sum as floats: a subtraction converts
// it, which processors have more units for than for a conversion.
constexpr int32_t kBiasBits = std::bit_cast<int32_t>(0x1.8p23f);
alignas(16) constexpr auto kBiases = [] {
  std::array<int32_t, 8 * kTile> biases{};
  biases.fill(kBiasBits);
  return biases;
}();

// What a loop over blocks keeps in registers.
struct Constants {
  v128_t low_nibbles = loop_constant(wasm_i8x16_splat(15));
  v128_t low_bits;  // of words: those of the lower code
  v128_t ones = loop_constant(wasm_i16x8_splat(1));
  v128_t sixteens = loop_constant(wasm_i16x8_splat(16));
  vec::HalfConstants half;
  v128_t bias_bits = loop_constant(wasm_i32x4_splat(kBiasBits));
  v128_t table;
  // [1] of the upper one of two sums of 16 bits; [..][1] of rows 4..7, with kWhole of whole bytes.
  v128_t minus_offset[2][2];
};

// 32 codes of 4 bits: rows 0..3 and rows 4..7.
template <Shape S, int T>
inline void unpack_nibbles(const uint8_t* codes, const Constants& c, v128_t& w0, v128_t& w1) {
  const v128_t q = wasm_v128_load(codes);
  w0 = wasm_v128_and(q, c.low_nibbles);
  // Beside a table no register is left for codes and activations of rows 4..7, which are multiplied when rows 0..3
  // have been (kTogether): they are read once more, from what V8 does not see to be the same address.
  constexpr ptrdiff_t kBack = S.super ? 0 : 16;
  const v128_t upper = S.table && (T > 1 || S.way == Way::kWords) ? wasm_v128_load(opaque(codes - kBack) + kBack) : q;
  w1 = wasm_v128_and(wasm_u16x8_shr(upper, 4), c.low_nibbles);
  if constexpr (S.table) {
    w0 = relaxed_lookup(c.table, w0);
    w1 = relaxed_lookup(c.table, w1);
  }
}

template <Shape S>
constexpr int kFourBytes = S.bits == 4 ? 16 : 32;  // of the codes of four elements

template <Shape S, int T>
inline void load_codes(const uint8_t* codes, const Constants& c, v128_t& w0, v128_t& w1) {
  if constexpr (S.way == Way::kWhole) {
    // The product of whole bytes is that of rows 0..3 and 16 times that of rows 4..7, which need not be unpacked.
    w1 = wasm_v128_load(codes);
    w0 = wasm_v128_and(w1, c.low_nibbles);
  } else if constexpr (S.bits == 4) {
    unpack_nibbles<S, T>(codes, c, w0, w1);
  } else {
    w0 = wasm_v128_load(codes);
    w1 = wasm_v128_load(codes + 16);
  }
}

// Loads of an instruction of its own for each reader: AMD's prefetchers (Zen 5) follow instructions, and lose track
// where one instruction takes turns.
#if defined(__clang__)
#define UNROLL_READERS _Pragma("clang loop unroll(full)")
#else
#define UNROLL_READERS
#endif

// step(codes, x, at, i) for each of `Groups` groups of four elements, `Unroll` of them a turn: x[t] is token t's own
// activations of them, at the address of the first token's. Loads of one number into all lanes take no offset in V8.
template <int T, int Groups, int Unroll, int CodeBytes, class Step>
inline void each_four(const uint8_t* codes, const uint8_t* a, const Step& step) {
  const uint8_t* x[T];
  for (int t = 0; t < T; ++t) x[t] = a + 4 * t;
  const auto turn = [&] {
    UNROLL(Unroll)
    for (int g = 0; g < Unroll; ++g) {
      v128_t fours[T];
      for (int t = 0; t < T; ++t) fours[t] = wasm_v128_load32_splat(x[t] + 4 * T * g);
      step(codes + CodeBytes * g, fours, x[0] + 4 * T * g, g);
    }
  };
  if constexpr (Unroll == Groups) {
    turn();
  } else {
    // Each pointer counts by itself: LLVM would make one counter of all, and addresses of it at each step.
    const uint8_t* const end = codes + CodeBytes * Groups;
    for (const uint8_t*& own : x) own = opaque(own);
    do {
      turn();
      codes = opaque(codes + CodeBytes * Unroll);
      for (const uint8_t*& own : x) own = opaque(own + 4 * T * Unroll);
    } while (codes != end);
  }
}

// Groups of four of one token that make a turn. Where all do, V8 runs out of registers and keeps activations and sums
// on the stack, whose frames it aligns to 8 bytes: whether values of 16 cross lines of the cache is then up to all
// callers' frames, and costs a Zen 5 up to half of its speed. Codes of 8 bits of K-quants (and those multiplied by
// pairs) stay unrolled: in a loop, Zen's prefetchers lose track of the few lines of a turn.
constexpr int kTogether = 2;

// In all of these, sums[t][h]: rows 0..3 (h = 0) or 4..7 of token t, over `Groups` groups of four elements.

// i32 lanes, one a row, added to what is there. The first and third of four elements are the lower bytes of words, the
// second and fourth the upper ones: one after the other, as the registers do not hold both.
template <Shape S, int T, int Groups>
inline void dot_words(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*sums)[2]) {
  for (size_t odd = 0; odd < 2; ++odd) {
    each_four<T, Groups, T == 1 ? 4 : 1, kFourBytes<S>>(
        codes, a + odd * second_at(kLayout<S>.block()) * T,
        [&](const uint8_t* four, const v128_t* x, const uint8_t*, int) {
          v128_t w[2];
          if constexpr (S.bits == 4 && !S.table) {
            const v128_t q = wasm_v128_load(four);
            w[0] = wasm_v128_and(odd ? wasm_u16x8_shr(q, 8) : q, c.low_bits);
            w[1] = odd ? wasm_u16x8_shr(q, 12) : wasm_v128_and(wasm_u16x8_shr(q, 4), c.low_bits);
          } else {
            load_codes<S, T>(four, c, w[0], w[1]);
            for (v128_t& words : w) words = odd ? wasm_u16x8_shr(words, 8) : wasm_v128_and(words, c.low_bits);
          }
          for (int t = 0; t < T; ++t)
            for (int h = 0; h < 2; ++h) sums[t][h] = wasm_i32x4_add(sums[t][h], wasm_i32x4_dot_i16x8(w[h], x[t]));
        });
  }
}

// i16 lanes, two a row (pairs to be added), added to what is there.
template <Shape S, int T, int Groups>
inline void dot_pairs(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*sums)[2]) {
  constexpr int kUnroll = T > 1 ? 1 : S.bits == 8 ? Groups : kTogether;
  const auto step = [&](const uint8_t* four, const v128_t* x, const uint8_t* at, int) {
    v128_t w0, w1;
    load_codes<S, T>(four, c, w0, w1);
    // As in unpack_nibbles().
    const uint8_t* const again = opaque(at);
    for (int t = 0; t < T; ++t) {
      const v128_t x1 = S.table && T > 1 ? wasm_v128_load32_splat(again + 4 * t) : x[t];
      const v128_t p0 = relaxed_dot_i16(x[t], w0), p1 = relaxed_dot_i16(x1, w1);
      sums[t][0] = wasm_i16x8_add(sums[t][0], p0);
      sums[t][1] = wasm_i16x8_add(sums[t][1], p1);
    }
  };
  each_four<T, Groups, kUnroll, kFourBytes<S>>(codes, a, step);
}

// step(n, codes, x, y) for each of `Groups` groups of four elements of one token and each n of N groups of rows side by
// side, which share what is made of the activations: x of each four, y of those second_at() behind them.
template <Shape S, int Groups, int N, class Step>
inline void each_four_of(const uint8_t* const* codes, const uint8_t* a, const Step& step) {
  const uint8_t* own[N];
  std::copy_n(codes, N, own);
  const uint8_t* const end = a + 4 * Groups;
  UNROLL(1)
  do {
    const v128_t x = wasm_v128_load32_splat(a), y = wasm_v128_load32_splat(a + second_at(kLayout<S>.block()));
    for (int n = 0; n < N; ++n) {
      step(n, own[n], x, y);
      own[n] = opaque(own[n] + kFourBytes<S>);
    }
    a = opaque(a + 4);
  } while (a != end);
}

// i32 lanes, one a row, of one token and N groups side by side, added to what is there. An upper half is -8..8 and a
// lower one -8..7, so that 32 products with 255 fit 16 bits.
template <Shape S, int Groups, int N>
inline void dot_halves(const uint8_t* const* codes, const uint8_t* a, const Constants& c, v128_t (*sums)[1][2]) {
  static_assert(Groups <= 8);
  v128_t upper[N][2], lower[N][2];
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h) upper[n][h] = lower[n][h] = wasm_i16x8_splat(0);
  each_four_of<S, Groups, N>(codes, a, [&](int n, const uint8_t* four, v128_t x, v128_t y) {
    v128_t w[2];
    load_codes<S, 1>(four, c, w[0], w[1]);
    for (int h = 0; h < 2; ++h) {
      upper[n][h] = wasm_i16x8_add(upper[n][h], relaxed_dot_i16(x, w[h]));
      lower[n][h] = wasm_i16x8_add(lower[n][h], relaxed_dot_i16(y, w[h]));
    }
  });
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h)
      sums[n][0][h] = wasm_i32x4_add(sums[n][0][h], wasm_i32x4_add(wasm_i32x4_dot_i16x8(upper[n][h], c.sixteens),
                                                                   wasm_i32x4_dot_i16x8(lower[n][h], c.ones)));
}

// The same of codes that are multiplied by pairs, all of whose products fit 16 bits.
template <Shape S, int Groups, int N>
inline void dot_pairs_of(const uint8_t* const* codes, const uint8_t* a, const Constants& c, v128_t (*sums)[1][2]) {
  v128_t pairs[N][2];
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h) pairs[n][h] = wasm_i16x8_splat(0);
  each_four_of<S, Groups, N>(codes, a, [&](int n, const uint8_t* four, v128_t x, v128_t) {
    v128_t w[2];
    load_codes<S, 1>(four, c, w[0], w[1]);
    for (int h = 0; h < 2; ++h) pairs[n][h] = wasm_i16x8_add(pairs[n][h], relaxed_dot_i16(x, w[h]));
  });
  for (int n = 0; n < N; ++n)
    for (int h = 0; h < 2; ++h)
      sums[n][0][h] = wasm_i32x4_add(sums[n][0][h], wasm_i32x4_dot_i16x8(pairs[n][h], c.ones));
}

// Of four bytes each. On x86 without AVX-VNNI the one instruction would be five, which make the ones anew.
template <Shape S>
inline v128_t add_products(v128_t x, v128_t w, v128_t sum, const Constants& c) {
  if constexpr (S.way == Way::kPairs) return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(relaxed_dot_i16(x, w), c.ones));
  return relaxed_dot_i32(x, w, sum);
}

// One token alone would wait for each product before the next.
template <int T>
constexpr int kChains = T == 1 ? 2 : 1;

// i32 lanes, one a row, added to what is there.
template <Shape S, int T, int Groups>
inline void dot_quads(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*sums)[2]) {
  v128_t others[T][2];
  for (int t = 0; t < T; ++t) others[t][0] = others[t][1] = wasm_i32x4_splat(0);
  constexpr int kUnroll = T > 1 ? 1 : S.super && S.bits == 8 ? Groups : kTogether;
  const auto step = [&](const uint8_t* four, const v128_t* x, const uint8_t*, int g) {
    v128_t w0, w1;
    load_codes<S, T>(four, c, w0, w1);
    v128_t(*to)[2] = g % kChains<T> == 0 ? sums : others;
    for (int t = 0; t < T; ++t) {
      to[t][0] = add_products<S>(x[t], w0, to[t][0], c);
      to[t][1] = add_products<S>(x[t], w1, to[t][1], c);
    }
  };
  each_four<T, Groups, kUnroll, kFourBytes<S>>(codes, a, step);
  if constexpr (kChains<T> == 2)
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) sums[t][h] = wasm_i32x4_add(sums[t][h], others[t][h]);
}

// Elements whose products with activations fit 16 bits: codes are below 16, 25 (of a table), 32 (Q5) and 64 (Q6_K).
template <Shape S>
constexpr int kPairElements = S.bits == 4 && !S.table      ? 32
                              : S.bits == 8 && S.sub == 16 ? 8
                                                           : 16;

// Of IQ2's codes, up to 86, no two pairs do.
template <Shape S>
constexpr bool kFewPairs = (S.super && S.table && S.sub == 16);

// i32 lanes, one a row, of a sub-block of Sub elements, added to what is there; with kWhole sums[t][1] is of whole
// bytes.
template <Shape S, int T, int Sub>
inline void dot(const uint8_t* codes, const uint8_t* a, const Constants& c, v128_t (*sums)[2]) {
  if constexpr (S.way == Way::kWords) {
    dot_words<S, T, Sub / 4>(codes, a, c, sums);
  } else if constexpr (S.way == Way::kHalves) {
    dot_halves<S, Sub / 4, 1>(&codes, a, c, reinterpret_cast<v128_t(*)[1][2]>(sums));
  } else if constexpr (S.way == Way::kQuads || S.way == Way::kWhole || kFewPairs<S> ||
                       (S.bits == 8 && S.sub == 16 && T > 1)) {
    // Q6_K by pairs too: with several tokens the registers do not hold sums of both widths, and few pairs fit.
    dot_quads<S, T, Sub / 4>(codes, a, c, sums);
  } else {
    constexpr int kStep = std::min(kPairElements<S>, Sub);
    for (int k = 0; k < Sub; k += kStep) {
      v128_t pairs[T][2];
      for (int t = 0; t < T; ++t) pairs[t][0] = pairs[t][1] = wasm_i16x8_splat(0);
      dot_pairs<S, T, kStep / 4>(codes + S.bits * k, a + k * T, c, pairs);
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < 2; ++h) sums[t][h] = wasm_i32x4_add(sums[t][h], wasm_i32x4_dot_i16x8(pairs[t][h], c.ones));
    }
  }
}

// How many times what they are the products of rows 4..7 come out.
template <Shape S>
constexpr float kHigh = S.way == Way::kWhole ? 16.0f : 1.0f;

// What sums begin with: the bias, and minus the offset times the sum of the activations. Sums of 32 of these fit 16
// bits: a product of pairs, the other one with zero, is cheaper than one of 32 bits. totals: of T tokens, in the lower
// (upper = 0) or upper halves of 32 bits.
template <Shape S, int T>
inline void begin(const uint8_t* totals, size_t upper, const Constants& c, v128_t (*sums)[2]) {
  if constexpr (S.correction != Correction::kOffset) {
    // From places of their own: of several sums that begin with one value, V8 leaves all but one on the stack.
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h)
        sums[t][h] = *reinterpret_cast<const volatile v128_t*>(kBiases.data() + 8 * t + 4 * h);
  } else {
    const auto corrected = [&](v128_t total, int h) {
      return wasm_i32x4_add(c.bias_bits, wasm_i32x4_dot_i16x8(total, c.minus_offset[upper][h]));
    };
    if constexpr (T == 4) {
      const v128_t all = wasm_v128_load(totals);
      for (int h = 0; h < 2; ++h) {
        const v128_t each = corrected(all, h);
        sums[0][h] = wasm_i32x4_shuffle(each, each, 0, 0, 0, 0);
        sums[1][h] = wasm_i32x4_shuffle(each, each, 1, 1, 1, 1);
        sums[2][h] = wasm_i32x4_shuffle(each, each, 2, 2, 2, 2);
        sums[3][h] = wasm_i32x4_shuffle(each, each, 3, 3, 3, 3);
      }
    } else {
      for (int t = 0; t < T; ++t) {
        const v128_t total = wasm_v128_load32_splat(totals + 4 * t);
        for (int h = 0; h < 2; ++h) sums[t][h] = corrected(total, h);
      }
    }
  }
}

// The floats that sums have become, in their place.
template <Shape S, int T>
inline void end(const Constants& c, v128_t (*sums)[2]) {
  for (int t = 0; t < T; ++t) {
    sums[t][1] = wasm_f32x4_sub(sums[t][1], S.way == Way::kWhole ? sums[t][0] : c.bias_bits);
    sums[t][0] = wasm_f32x4_sub(sums[t][0], c.bias_bits);
  }
}

// products[g][t]: floats of a block of each of G groups, which lie step_bytes apart and share what is made of the
// activations. Sums of 16 products fit 32 bits (kFineSum).
template <int T, int G>
inline void fine_blocks(const uint8_t* codes, size_t step_bytes, const uint8_t* a, v128_t (*products)[T][2]) {
  const uint8_t *own[G], *x[T];
  for (int g = 0; g < G; ++g) own[g] = codes + static_cast<size_t>(g) * step_bytes;
  for (int t = 0; t < T; ++t) x[t] = a + 4 * t;
  const auto dot_half = [&](v128_t(*sums)[T][2]) {
    dot_word_pairs<T, G>(own, own[0] + 256, x, sums);
    for (int g = 0; g < G; ++g)
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < 2; ++h) sums[g][t][h] = wasm_f32x4_convert_i32x4(sums[g][t][h]);
  };
  v128_t others[G][T][2];
  dot_half(products);
  dot_half(others);
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) products[g][t][h] = wasm_f32x4_add(products[g][t][h], others[g][t][h]);
}

// Values of T tokens that no register is left for where these are three or more, kept in memory of wasm's own, where
// they are aligned (kTogether).
template <int T>
inline v128_t* in_memory(v128_t* values) {
  return T > 2 ? const_cast<v128_t*>(opaque(values)) : values;
}

// Whether one token's groups share what is made of its activations, and memory is read by all of them in turns of a
// line: Zen 3 answers that faster than turns of a block.
template <Shape S>
constexpr bool kSideBySide = !S.super && (S.way == Way::kHalves || (S.way == Way::kPairs && S.bits == 4 && !S.table));

// products[g]: floats of a block, those of rows 4..7 kHigh<S> times what they are, of one token and each of G groups,
// which lie step_bytes apart: as many at a time as the registers hold.
template <Shape S, int G>
inline void side_by_side(const uint8_t* codes, size_t step_bytes, const uint8_t* a, const uint8_t* totals,
                         const Constants& c, v128_t (*products)[1][2]) {
  constexpr int kSide = std::min(G, 2);
  UNROLL_READERS
  for (int g = 0; g < G; g += kSide) {
    const uint8_t* own[kSide];
    for (int n = 0; n < kSide; ++n) {
      own[n] = codes + static_cast<size_t>(g + n) * step_bytes;
      begin<S, 1>(totals, 0, c, products[g + n]);
    }
    if constexpr (S.way == Way::kHalves)
      dot_halves<S, S.sub / 4, kSide>(own, a, c, products + g);
    else
      dot_pairs_of<S, S.sub / 4, kSide>(own, a, c, products + g);
    for (int n = 0; n < kSide; ++n) end<S, 1>(c, products[g + n]);
  }
}

}  // namespace
}  // namespace ggufscope
