// Products of packed weights with quantized activations. See packed.hpp for the layouts.
//
// Ways to multiply, all of them exact, so that results do not depend on which:
//   kQuads  four products of bytes into i32: one instruction with AVX-VNNI and on ARM, five on other x86
//   kPairs  two products of bytes into i16, as many of them as fit (kPairElements)
//   kWhole  kQuads of bytes that hold two codes of 4 bits, where machines take them without a sign
//   kHalves one token's kWords: halves of 4 bits of an activation by kPairs, where the code's byte has no sign there
//   kWords  codes widened to i16, sums in i32: for whole bytes where the machine has no product for them, and in
//           builds without relaxed SIMD, where there is no product of bytes; of prompts in prompt_products.cpp
//   kFine   codes that are words
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/simd.hpp"
#include "nn/packed.hpp"
#include "nn/packed_rows.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// Whether there is a product of bytes; whether it may take one operand's for numbers without a sign.
#if defined(__wasm_relaxed_simd__)
constexpr bool kNarrow = true, kMayLackSign = true;
#elif defined(__wasm_simd128__)
constexpr bool kNarrow = false, kMayLackSign = false;
#else
constexpr bool kNarrow = true, kMayLackSign = false;
#endif

enum class Way : uint8_t { kQuads, kPairs, kWhole, kHalves, kWords, kFine };

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
// Whether a product of pairs takes the code's byte for a number without a sign.
bool probe_pairs() {
  volatile int8_t a = -8, b = -1;
  return wasm_i16x8_extract_lane(relaxed_dot_i16(wasm_i8x16_splat(a), wasm_i8x16_splat(b)), 0) == 2 * -8 * 255;
}
const bool g_pairs_lack_sign = probe_pairs();
#elif defined(__wasm_simd128__)
ByteProducts g_products = ByteProducts::kNone;
#else
ByteProducts g_products = ByteProducts::kSigned;
#endif
#if !defined(__wasm_relaxed_simd__)
constexpr bool g_pairs_lack_sign = false;
#endif

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

// Where the parts of a block of a tile of T tokens are.
constexpr size_t totals_16_bytes(size_t block) { return block / 8; }  // pairs of i16 sums of 16s come first
constexpr size_t sums_bytes(ActivationKind kind) {
  return kind.block == kSuperPart ? totals_16_bytes(kind.block) + kind.block / 16u : 4;
}
constexpr size_t code_bytes(ActivationKind kind) { return kind.codes == ActivationCodes::kBytes ? 1 : 2; }
constexpr size_t token_block_bytes(ActivationKind kind) {
  return kind.block * code_bytes(kind) + sizeof(float) + sums_bytes(kind);
}

// Where the codes from element k on are, in bytes of one token. Wide ones as words: those of even elements, and those
// of odd ones second_at behind them; or as halves: the upper ones, and second_at behind them the lower ones.
// Fine ones follow each other.
constexpr size_t activation_at(ActivationCodes codes, size_t k) {
  if (codes == ActivationCodes::kFine) return 2 * k;
  return codes == ActivationCodes::kBytes ? k : k / 32 * 64 + k % 32;
}
constexpr size_t second_at(size_t block) { return block < 32 ? block : 32; }

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
  // have been (kTogether): they are read once more.
  const v128_t upper = S.table && (T > 1 || S.way == Way::kWords) ? wasm_v128_load(opaque(codes)) : q;
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
    for (int i = 0; i < G * T; ++i)
      for (int h = 0; h < 2; ++h) sums[i / T][i % T][h] = zero_at(static_cast<size_t>(2 * i + h));
    const uint8_t* const end = own[0] + 256;
    UNROLL(1)
    do {
      v128_t pairs[T];
      for (int t = 0; t < T; ++t) pairs[t] = wasm_v128_load32_splat(x[t]);
      for (int g = 0; g < G; ++g) {
        const v128_t w[2] = {wasm_v128_load(own[g]), wasm_v128_load(own[g] + 16)};
        for (int t = 0; t < T; ++t)
          for (int h = 0; h < 2; ++h)
            sums[g][t][h] = wasm_i32x4_add(sums[g][t][h], wasm_i32x4_dot_i16x8(w[h], pairs[t]));
        own[g] = opaque(own[g] + 32);
      }
      for (const uint8_t*& p : x) p = opaque(p + 4 * T);
    } while (own[0] != end);
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

// products[t]: floats of a block, those of rows 4..7 kHigh<S> times what they are.
template <Shape S, int T>
inline void flat_block(const uint8_t* codes, const uint8_t* a, const uint8_t* totals, const Constants& c,
                       v128_t (*products)[2]) {
  begin<S, T>(totals, 0, c, products);
  dot<S, T, S.sub>(codes, a, c, products);
  end<S, T>(c, products);
}

// Whether one token's groups share what is made of its activations, and memory is read by all of them in turns of a
// line: Zen 3 answers that faster than turns of a block.
template <Shape S>
constexpr bool kSideBySide = !S.super && (S.way == Way::kHalves || (S.way == Way::kPairs && S.bits == 4 && !S.table));

// The same of one token and a block of each of G groups, which lie step_bytes apart: as many at a time as the registers
// hold.
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

// The same of sub-block s of a part of a super-block (p), added. Its product with its scale is below 2^24, so that it
// is exact as a float.
template <Shape S, int T>
inline void sub_block(const uint8_t* p, size_t part, size_t s, const uint8_t* a, const uint8_t* sums,
                      const Constants& c, v128_t (*products)[2]) {
  const size_t of_block = part * (kSuperPart / S.sub) + s;
  const v128_t scale = wasm_i16x8_load8x8(p + kLayout<S>.scales_at() + 8 * of_block);
  const uint8_t* codes = p + kLayout<S>.codes_at() + of_block * S.sub * S.bits;
  const uint8_t* sub_a = a + activation_at(activation_codes(S.way), s * S.sub) * T;
  const uint8_t* totals = (S.sub == 16 ? sums : sums + totals_16_bytes(kSuperPart) * T) + s / 2 * T * 4;
  v128_t dots[T][2];
  v128_t* const own = in_memory<T>(&products[0][0]);
  if constexpr (S.way == Way::kPairs && S.bits == 4 && !S.table) {
    const v128_t scale_pairs[2] = {wasm_i16x8_shuffle(scale, scale, 0, 0, 1, 1, 2, 2, 3, 3),
                                   wasm_i16x8_shuffle(scale, scale, 4, 4, 5, 5, 6, 6, 7, 7)};
    if constexpr (S.correction == Correction::kOffset) {
      // Sums of 16 bits, the correction in the lower ones.
      const v128_t lower = wasm_i32x4_splat(0xffff);
      for (int t = 0; t < T; ++t) {
        const v128_t total = wasm_v128_load32_splat(totals + 4 * t);
        dots[t][0] = dots[t][1] = wasm_v128_and(wasm_i32x4_dot_i16x8(total, c.minus_offset[s % 2][0]), lower);
      }
    } else {
      for (int t = 0; t < T; ++t) dots[t][0] = dots[t][1] = wasm_i16x8_splat(0);
    }
    dot_pairs<S, T, S.sub / 4>(codes, sub_a, c, dots);
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h)
        own[2 * t + h] =
            wasm_f32x4_add(own[2 * t + h], wasm_f32x4_convert_i32x4(wasm_i32x4_dot_i16x8(dots[t][h], scale_pairs[h])));
  } else {
    begin<S, T>(totals, s % 2, c, dots);
    dot<S, T, S.sub>(codes, sub_a, c, dots);
    end<S, T>(c, dots);
    const v128_t scale_floats[2] = {wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(scale)),
                                    wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(scale))};
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) own[2 * t + h] = relaxed_madd(dots[t][h], scale_floats[h], own[2 * t + h]);
  }
}

// corrections[t]: i32 lanes, the sums of a part's activations times the minima.
template <Shape S, int T>
inline void super_corrections(const uint8_t* p, size_t part, const uint8_t* sums, v128_t (*corrections)[2]) {
  constexpr int kPairs = kSuperPart / S.sub / 2;
  const uint8_t* mins = p + kLayout<S>.mins_at() + part * kPairs * 16;
  const uint8_t* totals = S.sub == 16 ? sums : sums + totals_16_bytes(kSuperPart) * T;
  for (int t = 0; t < T; ++t) corrections[t][0] = corrections[t][1] = wasm_i32x4_splat(0);
  UNROLL(T == 1 ? kPairs : 1)
  for (int s = 0; s < kPairs; ++s) {
    const v128_t min = wasm_v128_load(mins + 16 * s);
    const v128_t min0 = wasm_i16x8_extend_low_i8x16(min), min1 = wasm_i16x8_extend_high_i8x16(min);
    for (int t = 0; t < T; ++t) {
      const v128_t x = wasm_v128_load32_splat(totals + (s * T + t) * 4);
      corrections[t][0] = wasm_i32x4_add(corrections[t][0], wasm_i32x4_dot_i16x8(min0, x));
      corrections[t][1] = wasm_i32x4_add(corrections[t][1], wasm_i32x4_dot_i16x8(min1, x));
    }
  }
}

// Scales d or e (at) of eight rows. Half ones are 2^51 * 2^51 times too small: one half is made up for in
// a block's scales (kWeightsLack, kScalesLack) and one in the sums, so that neither leaves the range.
template <Shape S>
inline void load_scales(const uint8_t* at, const Constants& c, v128_t* out) {
  if constexpr (S.half_scales) {
    vec::load_small_f16x8(at, c.half, out);
  } else {
    out[0] = wasm_v128_load(at);
    out[1] = wasm_v128_load(at + 16);
  }
}
constexpr float kHalfLack = 0x1p51f;  // the square root of what raised binary16 lacks: 2^112 / 2^10

// T tokens times G groups, which lie `step` groups apart: memory answers several readers faster than one, where each
// has pages of its own.
template <Shape S, int T, int G>
void multiply(const PackedFormat& f, const uint8_t* p, size_t step, size_t n_in, const uint8_t* a, Sums before,
              float* y, size_t y_stride, size_t n_rows) {
  constexpr size_t kBlock = kLayout<S>.block(), kPart = S.super ? kSuperPart : kBlock;
  constexpr ActivationKind kKind{kPart, activation_codes(S.way)};
  constexpr size_t a_bytes = token_block_bytes(kKind) * T;  // of a part
  constexpr bool kStoresE = S.correction == Correction::kStored;
  // The activations' scales of one token, those of the weights for several: whichever are fewer.
  constexpr bool kScalesLack = S.half_scales && T == 1, kWeightsLack = S.half_scales && T > 1;
  const v128_t lack = loop_constant(wasm_f32x4_splat(kHalfLack));
  Constants c;
  c.low_bits = loop_constant(wasm_i16x8_splat(S.bits == 4 && !S.table ? 15 : 255));
  c.table = S.table ? wasm_v128_load(f.table) : wasm_i8x16_splat(0);
  for (int upper = 0; upper < 2; ++upper)
    for (int h = 0; h < 2; ++h) {
      const int factor = -f.offset * (h == 1 && S.way == Way::kWhole ? 17 : 1);
      c.minus_offset[upper][h] = loop_constant(wasm_i32x4_splat((factor & 0xffff) << (16 * upper)));
    }
  constexpr size_t bytes = kLayout<S>.block_bytes();
  const size_t step_bytes = step * (n_in / kBlock * bytes), step_rows = step * kGroupRows;
  // What the sums of rows 0..3 and of rows 4..7 lack: powers of two, so that panels add up to what one row would.
  constexpr float kLow = S.half_scales ? kHalfLack : 1, kLack[2] = {kLow, kLow / kHigh<S>};
  const auto rows_of = [&](int g) { return std::min(n_rows - static_cast<size_t>(g) * step_rows, kGroupRows); };
  const auto y_of = [&](int g, int t) {
    return y + static_cast<size_t>(t) * y_stride + static_cast<size_t>(g) * step_rows;
  };
  v128_t sums[G][T][2];
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t) {
      sums[g][t][0] = sums[g][t][1] = wasm_f32x4_splat(0);
      if (before == Sums::kNone) continue;
      load_rows(y_of(g, t), rows_of(g), sums[g][t]);
      for (int h = 0; h < 2; ++h) sums[g][t][h] = wasm_f32x4_mul(sums[g][t][h], wasm_f32x4_splat(1 / kLack[h]));
    }
  // Whether groups share what is made of the activations.
  constexpr bool kShares = S.way == Way::kFine || (T == 1 && kSideBySide<S>);
  // What `products` and the rest of a part of group g add to its sums.
  const auto finish = [&](int g, size_t part, const uint8_t* own_a, v128_t(*products)[2]) {
    const uint8_t* own = p + static_cast<size_t>(g) * step_bytes;
    const uint8_t* scales = own_a + kPart * code_bytes(kKind) * T;
    const uint8_t* totals = scales + sizeof(float) * T;
    v128_t corrections[T][2];
    if constexpr (S.super) {
      if constexpr (kStoresE) super_corrections<S, T>(own, part, totals, corrections);
    } else {
      if constexpr (!kShares) flat_block<S, T>(own + kLayout<S>.codes_at(), own_a, totals, c, products);
      if constexpr (kStoresE)
        for (int t = 0; t < T; ++t) corrections[t][0] = corrections[t][1] = wasm_v128_load32_splat(totals + 4 * t);
    }
    v128_t d[2], e[2];
    load_scales<S>(own, c, d);
    if constexpr (kStoresE) {
      load_scales<S>(own + kLayout<S>.e_at(), c, e);
      if constexpr (kHigh<S> != 1) e[1] = wasm_f32x4_mul(e[1], wasm_f32x4_splat(kHigh<S>));
    }
    if constexpr (kWeightsLack) {
      for (int h = 0; h < 2; ++h) {
        d[h] = wasm_f32x4_mul(d[h], lack);
        if constexpr (kStoresE) e[h] = wasm_f32x4_mul(e[h], lack);
      }
    }
    v128_t* const own_sums = in_memory<T>(&sums[g][0][0]);
    for (int t = 0; t < T; ++t) {
      v128_t a_scale = f32_splat_at(scales + 4 * t);
      if constexpr (kScalesLack) a_scale = wasm_f32x4_mul(a_scale, lack);
      for (int h = 0; h < 2; ++h) {
        v128_t sum = wasm_f32x4_mul(d[h], products[t][h]);
        if constexpr (kStoresE) sum = relaxed_madd(e[h], wasm_f32x4_convert_i32x4(corrections[t][h]), sum);
        own_sums[2 * t + h] = relaxed_madd(sum, a_scale, own_sums[2 * t + h]);
      }
    }
  };
  // Sub-blocks [first, first + n) of a part, added to products.
  const auto sub_blocks = [&](int g, size_t part, size_t first, size_t n, const uint8_t* own_a, v128_t(*products)[2]) {
    const uint8_t* totals = own_a + (kPart * code_bytes(kKind) + sizeof(float)) * T;
    for (size_t s = first; s < first + n; ++s)
      sub_block<S, T>(p + static_cast<size_t>(g) * step_bytes, part, s, own_a, totals, c, products);
  };
  constexpr size_t kParts = kBlock / kPart;
  for (size_t block = 0; block < n_in / kBlock; ++block, p += bytes, a += kParts * a_bytes) {
    // Groups take turns at up to 1 KB, so that memory answers all of them.
    if constexpr (T == 1 && S.super && S.bits == 4) {
      UNROLL_READERS
      for (int g = 0; g < G; ++g) {
        UNROLL(1)  // short enough to be unrolled otherwise, with values on the stack (kTogether)
        for (size_t part = 0; part < kParts; ++part) {
          v128_t products[T][2] = {{wasm_f32x4_splat(0), wasm_f32x4_splat(0)}};
          UNROLL(1)
          for (size_t s = 0; s < kPart / S.sub; ++s) sub_blocks(g, part, s, 1, a + part * a_bytes, products);
          finish(g, part, a + part * a_bytes, products);
        }
      }
    } else {
      UNROLL(1)
      for (size_t part = 0; part < kParts; ++part) {
        const uint8_t* own_a = a + part * a_bytes;
        v128_t products[G][T][2];
        if constexpr (S.super) {
          for (auto& group : products)
            for (auto& token : group) token[0] = token[1] = wasm_f32x4_splat(0);
          constexpr size_t kTurn = T == 1 && S.sub == 16 ? kPart / S.sub : 1;
          UNROLL(1)
          for (size_t s = 0; s < kPart / S.sub; s += kTurn) {
            UNROLL_READERS
            for (int g = 0; g < G; ++g) sub_blocks(g, part, s, kTurn, own_a, products[g]);
          }
        }
        if constexpr (S.way == Way::kFine) fine_blocks<T, G>(p + kLayout<S>.codes_at(), step_bytes, a, products);
        if constexpr (T == 1 && kSideBySide<S>)
          side_by_side<S, G>(p + kLayout<S>.codes_at(), step_bytes, a, a + kPart * code_bytes(kKind) + sizeof(float), c,
                             products);
        UNROLL_READERS
        for (int g = 0; g < G; ++g) finish(g, part, own_a, products[g]);
      }
    }
  }
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t) {
      for (int h = 0; h < 2; ++h) sums[g][t][h] = wasm_f32x4_mul(sums[g][t][h], wasm_f32x4_splat(kLack[h]));
      store_rows(sums[g][t], rows_of(g), y_of(g, t));
    }
}

// Called by pointer: inlined, all kernels would be one function, which engines are slow to optimize, and poor at it.
using Kernel = void (*)(const PackedFormat& f, const uint8_t* group, size_t step, size_t n_in, const uint8_t* tile,
                        Sums before, float* y, size_t y_stride, size_t n_rows);
struct Kernels {
  Kernel tokens[kTile];  // 1, 2 .. of them
  // Of one token that is all there is.
  Kernel alone;
  Kernel readers[std::size(kReaders)];
};
template <Shape S, Shape OfOne = S>
constexpr Kernels kKernels{{multiply<S, 1, 1>, multiply<S, 2, 1>, multiply<S, 3, 1>, multiply<S, 4, 1>},
                           multiply<OfOne, 1, 1>,
                           {multiply<OfOne, 1, kReaders[0]>, multiply<OfOne, 1, kReaders[1]>}};

size_t g_readers = 0;  // of kReaders

Way way_of(const PackedFormat& f) {
  if (f.range == Codes::kWords) return Way::kFine;
  switch (g_products) {
    case ByteProducts::kSigned:
      return Way::kQuads;
    case ByteProducts::kUnsigned:
      return f.range == Codes::kSmall && f.bits == 4 && f.table == nullptr ? Way::kWhole : Way::kQuads;
    case ByteProducts::kSaturated:
      return f.range == Codes::kSmall ? Way::kPairs : Way::kWords;
    case ByteProducts::kNone:
      break;
  }
  return Way::kWords;
}

template <bool Super, int Bits, bool Half, int Sub, Correction C, bool Table>
const Kernels& kernels_of(Way way) {
  constexpr bool kHasSign = C == Correction::kNone;  // its codes
  constexpr bool kReaches255 = C == Correction::kOffset && Sub == 32 && (Bits == 8 || Table);
  if constexpr (kNarrow) {
    if constexpr (kMayLackSign && Bits == 4 && !Table)
      if (way == Way::kWhole) return kKernels<Shape{Super, Bits, Half, Sub, C, Table, Way::kWhole}>;
    if constexpr (!kHasSign)
      if (way == Way::kPairs) return kKernels<Shape{Super, Bits, Half, Sub, C, Table, Way::kPairs}>;
    if (way == Way::kQuads) return kKernels<Shape{Super, Bits, Half, Sub, C, Table, Way::kQuads}>;
  }
  if constexpr (kMayLackSign && kReaches255)
    if (g_pairs_lack_sign)
      return kKernels<Shape{Super, Bits, Half, Sub, C, Table, Way::kWords},
                      Shape{Super, Bits, Half, Sub, C, Table, Way::kHalves}>;
  if constexpr (kNarrow ? kReaches255 : !kHasSign)
    return kKernels<Shape{Super, Bits, Half, Sub, C, Table, Way::kWords}>;
  __builtin_trap();
}

// Every shape that a format has, once: the row is compared with it, so that a missing one cannot go unnoticed.
const Kernels& find_kernels_of(const PackedFormat& f, Way way) {
  if (way == Way::kFine)  // F16, and BF16 or F16 with float scales
    return f.half_scales ? kKernels<Shape{false, 16, true, 16, Correction::kNone, false, Way::kFine}>
                         : kKernels<Shape{false, 16, false, 16, Correction::kNone, false, Way::kFine}>;
#define SHAPE(super_, bits_, half_, sub_, correction_, table_)                           \
  if (f.super == super_ && f.bits == bits_ && f.half_scales == half_ && f.sub == sub_ && \
      f.correction == Correction::correction_ && (f.table != nullptr) == table_)         \
    return kernels_of<super_, bits_, half_, sub_, Correction::correction_, table_>(way);
  SHAPE(false, 4, true, 32, kOffset, false)  // Q4_0
  SHAPE(false, 4, true, 32, kStored, false)  // Q4_1
  SHAPE(false, 8, true, 32, kStored, false)  // Q5_1
  SHAPE(false, 8, true, 32, kOffset, false)  // Q5_0, Q8_0
  SHAPE(false, 8, true, 32, kNone, false)    // Q8_0
  SHAPE(false, 4, true, 32, kNone, true)     // IQ4_NL
  SHAPE(false, 4, true, 32, kOffset, true)   // IQ4_NL
  // Float scales.
  SHAPE(false, 4, false, 32, kOffset, false)  // Q4_0
  SHAPE(false, 4, false, 32, kStored, false)  // Q4_1
  SHAPE(false, 8, false, 32, kOffset, false)  // Q5_0, Q8_0
  SHAPE(false, 8, false, 32, kStored, false)  // Q5_1
  SHAPE(false, 8, false, 32, kNone, false)    // Q8_0
  SHAPE(false, 4, false, 32, kNone, true)     // IQ4_NL
  SHAPE(false, 4, false, 32, kOffset, true)   // MXFP4, IQ4_NL
  SHAPE(false, 4, false, 16, kOffset, true)   // NVFP4
  SHAPE(true, 4, false, 16, kStored, false)   // Q2_K, IQ1_M
  SHAPE(true, 4, false, 16, kOffset, false)   // Q3_K
  SHAPE(true, 4, false, 16, kOffset, true)    // IQ2_XS, IQ2_S
  SHAPE(true, 4, false, 32, kStored, false)   // Q4_K, IQ1_S, IQ3_S
  SHAPE(true, 8, false, 32, kStored, false)   // Q5_K
  SHAPE(true, 8, false, 16, kOffset, false)   // Q6_K
  SHAPE(true, 4, false, 32, kNone, true)      // IQ4_XS, IQ2_XXS, IQ3_XXS
  SHAPE(true, 4, false, 32, kOffset, true)    // the same
#undef SHAPE
  __builtin_trap();
}

inline int32_t sum_lanes(v128_t v) {
  v = wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
  return wasm_i32x4_extract_lane(wasm_i32x4_add(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2)), 0);
}

// What leaves room for sums of 16 products, and for words.
float fine_scale(const float* row, float largest) {
  float most = 0;
  for (size_t half = 0; half < 32; half += 16) {
    v128_t sum = wasm_f32x4_splat(0);
    for (size_t k = half; k < half + 16; k += 4) sum = wasm_f32x4_add(sum, wasm_f32x4_abs(wasm_v128_load(row + k)));
    most = std::max(most, vec::sum4(sum));
  }
  return std::max(largest / kFineMost, most / kFineSum);
}

// Four bytes of each of four groups of elements, step bytes apart.
inline void store_fours(v128_t fours, uint8_t* to, size_t step) {
  wasm_v128_store32_lane(to, fours, 0);
  wasm_v128_store32_lane(to + step, fours, 1);
  wasm_v128_store32_lane(to + 2 * step, fours, 2);
  wasm_v128_store32_lane(to + 3 * step, fours, 3);
}

// A tile is T tokens of one block after the other: codes [K / 4][T][4], or as words [K / 32][2][8][T][2], of one token
// where it can be as halves [K / 32][2][32], scales [T], sums. Fine ones: codes [K / 2][T][2].

// 1.5 * 2^23: added to a small number, it leaves the nearest integer, ties to even, in the low bits.
constexpr float kMagic = 0x1.8p23f;

// Eight activations times inverse, as words. What is no number becomes any code: its scale is none either, and so are
// the products.
inline v128_t as_words(const float* x, v128_t inverse, v128_t magic) {
  const auto integers = [&](const float* four) {
    return wasm_i32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(four), inverse), magic), magic);
  };
  return wasm_i16x8_narrow_i32x4(integers(x), integers(x + 4));
}

template <size_t N>
inline float largest_of(const float* x) {
  v128_t most = wasm_i32x4_splat(0);
  for (size_t k = 0; k < N; k += 4) most = vec::max_magnitude(most, wasm_v128_load(x + k));
  return vec::largest_magnitude(most);
}

// Which of kMostCodes has the least error, given four partial sums of squares of each.
inline size_t least_error(const v128_t* squares) {
  static_assert(std::size(kMostCodes) == 4);
  const v128_t errors =
      wasm_f32x4_mul(wasm_f32x4_convert_i32x4(vec::integer_sums4(squares)), wasm_v128_load(kErrorWeights.data()));
  // The number in the last bits: no branches, which no processor could predict.
  v128_t least = wasm_v128_or(wasm_v128_and(errors, wasm_i32x4_splat(~3)), wasm_i32x4_make(0, 1, 2, 3));
  least = wasm_i32x4_min(least, wasm_i32x4_shuffle(least, least, 2, 3, 0, 1));
  least = wasm_i32x4_min(least, wasm_i32x4_shuffle(least, least, 1, 0, 3, 2));
  return static_cast<size_t>(wasm_i32x4_extract_lane(least, 0) & 3);
}

template <size_t Block, ActivationCodes Kind>
[[gnu::noinline]] void quantize_blocks(const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  constexpr ActivationKind kKind{Block, Kind};
  constexpr bool kSuper = Block == kSuperPart;
  const v128_t magic = loop_constant(wasm_f32x4_splat(kMagic)), ones = loop_constant(wasm_i16x8_splat(1));
  const v128_t half = loop_constant(wasm_i16x8_splat(128));
  v128_t factors[4];
  for (size_t i = 0; i < 4; ++i) factors[i] = loop_constant(wasm_i16x8_splat(kMostFactors[i]));
  for (size_t block = 0; block < n_in / Block; ++block, tile += token_block_bytes(kKind) * n_tokens) {
    uint8_t* scales = tile + Block * code_bytes(kKind) * n_tokens;
    uint8_t* totals = scales + sizeof(float) * n_tokens;
    for (size_t t = 0; t < n_tokens; ++t) {
      const float* row = x + t * x_stride + block * Block;
      const float largest = largest_of<Block>(row);
      const v128_t inverse = wasm_f32x4_splat(kMostWord / std::max(largest, kLeastActivation));
      v128_t values[Block / 8], squares[4];
      for (v128_t& each : squares) each = wasm_i32x4_splat(0);
      for (size_t k = 0; k < Block; k += 8) {
        const v128_t value = values[k / 8] = as_words(row + k, inverse, magic);
        for (size_t i = 0; i < 4; ++i) {
          const v128_t error = wasm_i16x8_shr(wasm_i16x8_shl(relaxed_q15mulr(value, factors[i]), 8), 8);
          squares[i] = wasm_i32x4_add(squares[i], wasm_i32x4_dot_i16x8(error, error));
        }
      }
      const size_t least = least_error(squares);
      const v128_t factor = wasm_v128_load16_splat(&kMostFactors[least]);
      const float scale = largest * kMostInverses[least];
      std::memcpy(scales + 4 * t, &scale, sizeof scale);
      v128_t sums[Block / 16];
      for (size_t k = 0; k < Block; k += 16) {
        v128_t words[2];
        for (size_t i = 0; i < 2; ++i)
          words[i] = wasm_i16x8_shr(wasm_i16x8_add(relaxed_q15mulr(values[k / 8 + i], factor), half), 8);
        const size_t step = n_tokens * 4;
        uint8_t* to = tile + activation_at(Kind, k) * n_tokens + t * 4;
        if constexpr (Kind == ActivationCodes::kBytes) {
          store_fours(wasm_i8x16_narrow_i16x8(words[0], words[1]), to, step);
        } else if constexpr (Kind == ActivationCodes::kHalves) {
          v128_t upper[2], lower[2];
          for (size_t i = 0; i < 2; ++i) {
            upper[i] = wasm_i16x8_shr(wasm_i16x8_add(words[i], wasm_i16x8_splat(8)), 4);
            lower[i] = wasm_i16x8_sub(words[i], wasm_i16x8_shl(upper[i], 4));
          }
          wasm_v128_store(to, wasm_i8x16_narrow_i16x8(upper[0], upper[1]));
          wasm_v128_store(to + second_at(Block), wasm_i8x16_narrow_i16x8(lower[0], lower[1]));
        } else {
          store_fours(wasm_i16x8_shuffle(words[0], words[1], 0, 2, 4, 6, 8, 10, 12, 14), to, step);
          store_fours(wasm_i16x8_shuffle(words[0], words[1], 1, 3, 5, 7, 9, 11, 13, 15),
                      to + second_at(Block) * n_tokens, step);
        }
        sums[k / 16] = wasm_i32x4_dot_i16x8(wasm_i16x8_add(words[0], words[1]), ones);
      }
      if constexpr (kSuper) {
        uint8_t* const of_32 = totals + totals_16_bytes(Block) * n_tokens;
        for (size_t s = 0; s < Block / 16; s += 4) {
          const v128_t four = vec::integer_sums4(sums + s), words = wasm_i16x8_narrow_i32x4(four, four);
          const v128_t two = wasm_i32x4_dot_i16x8(words, ones);
          uint8_t* const of_16 = totals + (s / 2 * n_tokens + t) * 4;
          wasm_v128_store32_lane(of_16, words, 0);
          wasm_v128_store32_lane(of_16 + n_tokens * 4, words, 1);
          wasm_v128_store32_lane(of_32 + (s / 4 * n_tokens + t) * 4, wasm_i16x8_narrow_i32x4(two, two), 0);
        }
      } else {
        v128_t sum = sums[0];
        for (size_t s = 1; s < Block / 16; ++s) sum = wasm_i32x4_add(sum, sums[s]);
        const int32_t total = sum_lanes(sum);
        std::memcpy(totals + 4 * t, &total, sizeof total);
      }
    }
  }
}

[[gnu::noinline]] void quantize_fine(const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  constexpr ActivationKind kKind{32, ActivationCodes::kFine};
  const v128_t magic = loop_constant(wasm_f32x4_splat(kMagic));
  for (size_t block = 0; block < n_in / 32; ++block, tile += token_block_bytes(kKind) * n_tokens) {
    uint8_t* scales = tile + 32 * code_bytes(kKind) * n_tokens;
    for (size_t t = 0; t < n_tokens; ++t) {
      const float* row = x + t * x_stride + block * 32;
      const float scale = fine_scale(row, largest_of<32>(row));
      std::memcpy(scales + 4 * t, &scale, sizeof scale);
      const v128_t inverse = wasm_f32x4_splat(1.0f / std::max(scale, kLeastActivation));
      for (size_t k = 0; k < 32; k += 8)
        store_fours(as_words(row + k, inverse, magic),
                    tile + activation_at(ActivationCodes::kFine, k) * n_tokens + t * 4, n_tokens * 4);
    }
  }
}

}  // namespace

ByteProducts byte_products() { return g_products; }

void pretend_byte_products(ByteProducts products) { g_products = products; }

ActivationKind activation_kind(const PackedFormat& f, size_t n_tokens) {
  const Way way = way_of(f);
  ActivationCodes codes = activation_codes(way);
  // Of pairs of codes of super-blocks' tables, or Q6_K's, too few fit 16 bits (kPairElements).
  const bool few_pairs = way == Way::kPairs && f.super && (f.table != nullptr || (f.bits == 8 && f.sub == 16));
  if (n_tokens >= kPromptTokens && !f.stores_e() && (way == Way::kWords || few_pairs)) codes = ActivationCodes::kPrompt;
  if (n_tokens == 1 && g_pairs_lack_sign && way == Way::kWords) codes = ActivationCodes::kHalves;
  return {f.super ? kSuperPart : static_cast<uint16_t>(f.block()), codes};
}

size_t activation_offset(ActivationKind kind, size_t first, size_t n_tokens) {
  return first / kind.block * token_block_bytes(kind) * n_tokens;
}

size_t activation_tile_bytes(ActivationKind kind, size_t n_in) { return activation_offset(kind, n_in, kTile); }

void quantize_tile(ActivationKind kind, const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  if (kind.codes == ActivationCodes::kFine) return quantize_fine(x, x_stride, n_tokens, n_in, tile);
  const auto quantize = [&]<size_t Block>() {
    (kind.codes == ActivationCodes::kBytes ? quantize_blocks<Block, ActivationCodes::kBytes>
     : kind.codes == ActivationCodes::kHalves
         ? quantize_blocks<Block, ActivationCodes::kHalves>
         : quantize_blocks<Block, ActivationCodes::kWords>)(x, x_stride, n_tokens, n_in, tile);
  };
  switch (kind.block) {
    case 16:
      return quantize.template operator()<16>();
    case 32:
      return quantize.template operator()<32>();
    default:
      return quantize.template operator()<kSuperPart>();
  }
}

void use_readers(size_t which) { g_readers = which; }

size_t readers_in_use() { return g_readers; }

void multiply_groups(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                     ActivationKind kind, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                     size_t y_stride, size_t n_rows) {
  if (kind.codes == ActivationCodes::kPrompt)
    return multiply_prompt(f, groups, n_groups, panel, kind, tiles, tile_bytes, n_tokens, y, y_stride, n_rows);
  const Kernels& kernels = find_kernels_of(f, way_of(f));
  const Sums before = panel.first == 0 ? Sums::kNone : Sums::kOfPanelsBefore;
  const size_t group_bytes = packed_group_bytes(f, panel.n);
  const bool alone = n_tokens == 1 && kind == activation_kind(f, 1);
  const size_t readers = kReaders[g_readers], step = alone ? n_groups / readers : 0;
  for (size_t group = 0; group < n_groups; ++group) {
    if (group == step) group = step * readers;
    if (group == n_groups) break;
    const size_t row = group * kGroupRows;
    // A prompt's tiles pass over one group that the nearest cache holds.
    for (size_t t = 0; t < n_tokens; t += kTile) {
      const size_t n = std::min(kTile, n_tokens - t);
      const Kernel kernel = group < step ? kernels.readers[g_readers] : alone ? kernels.alone : kernels.tokens[n - 1];
      kernel(f, groups + group * group_bytes, step, panel.n,
             tiles + t / kTile * tile_bytes + activation_offset(kind, panel.first, n), before, y + t * y_stride + row,
             y_stride, n_rows - row);
    }
  }
}

}  // namespace ggufscope
