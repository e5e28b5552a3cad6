// The GEMM micro-kernel: eight rows times up to four tokens, or (decode, GEMV) several memory streams of eight rows
// times one token. dot.hpp has the dot products of a block. Part of dispatch.cpp, the one file that includes it.
#pragma once

#include <algorithm>

#include "base/simd.hpp"
#include "nn/gemm/accumulators.hpp"
#include "nn/gemm/dispatch.hpp"
#include "nn/gemm/dot.hpp"
#include "nn/gemm/format.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// acc[t] += scale * dot product of sub-block s of half a super-block. The product is below 2^24, exact as a float.
template <KernelSpec S, int T>
inline void accumulate_sub_block(const uint8_t* p, size_t half, size_t s, const uint8_t* a, const uint8_t* sums,
                                 const Constants& c, v128_t (*acc)[2]) {
  const size_t index = half * (kSuperHalf / S.sub) + s;
  const v128_t scale = wasm_i16x8_load8x8(p + kLayout<S>.scales_at() + 8 * index);
  const uint8_t* codes = p + kLayout<S>.codes_at() + index * S.sub * S.bits;
  const uint8_t* sub_a = a + activation_at(activation_layout(S.dot), s * S.sub) * T;
  const uint8_t* pair_sums = (S.sub == 16 ? sums : sums + sums_16_bytes(kSuperHalf) * T) + s / 2 * T * 4;
  v128_t dots[T][2];
  v128_t* const own = in_memory<T>(&acc[0][0]);
  if constexpr (S.dot == DotKind::kInt8x2 && S.bits == 4 && !S.table) {
    const v128_t scale_pairs[2] = {wasm_i16x8_shuffle(scale, scale, 0, 0, 1, 1, 2, 2, 3, 3),
                                   wasm_i16x8_shuffle(scale, scale, 4, 4, 5, 5, 6, 6, 7, 7)};
    if constexpr (S.correction == Correction::kOffset) {
      // int16 accumulators, two a row: the correction goes into the low one.
      const v128_t low_half = wasm_i32x4_splat(0xffff);
      for (int t = 0; t < T; ++t) {
        const v128_t sum = wasm_v128_load32_splat(pair_sums + 4 * t);
        dots[t][0] = dots[t][1] = wasm_v128_and(wasm_i32x4_dot_i16x8(sum, c.minus_offset[s % 2][0]), low_half);
      }
    } else {
      for (int t = 0; t < T; ++t) dots[t][0] = dots[t][1] = wasm_i16x8_splat(0);
    }
    dot_int8x2<S, T, S.sub / 4>(codes, sub_a, c, dots);
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h)
        own[2 * t + h] =
            wasm_f32x4_add(own[2 * t + h], wasm_f32x4_convert_i32x4(wasm_i32x4_dot_i16x8(dots[t][h], scale_pairs[h])));
  } else {
    init_accumulators<S, T>(pair_sums, s % 2, c, dots);
    dot<S, T, S.sub>(codes, sub_a, c, dots);
    accumulators_to_float<S, T>(c, dots);
    const v128_t scale_floats[2] = {wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(scale)),
                                    wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(scale))};
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < 2; ++h) own[2 * t + h] = relaxed_madd(dots[t][h], scale_floats[h], own[2 * t + h]);
  }
}

// corrections[t], int32 lanes: sums of the activations of half a super-block times the minima.
template <KernelSpec S, int T>
inline void min_corrections(const uint8_t* p, size_t half, const uint8_t* sums, v128_t (*corrections)[2]) {
  constexpr int kPairs = kSuperHalf / S.sub / 2;
  const uint8_t* mins = p + kLayout<S>.mins_at() + half * kPairs * 16;
  const uint8_t* pair_sums = S.sub == 16 ? sums : sums + sums_16_bytes(kSuperHalf) * T;
  for (int t = 0; t < T; ++t) corrections[t][0] = corrections[t][1] = wasm_i32x4_splat(0);
  UNROLL(T == 1 ? kPairs : 1)
  for (int s = 0; s < kPairs; ++s) {
    const v128_t min = wasm_v128_load(mins + 16 * s);
    const v128_t min0 = wasm_i16x8_extend_low_i8x16(min), min1 = wasm_i16x8_extend_high_i8x16(min);
    for (int t = 0; t < T; ++t) {
      const v128_t x = wasm_v128_load32_splat(pair_sums + (s * T + t) * 4);
      corrections[t][0] = wasm_i32x4_add(corrections[t][0], wasm_i32x4_dot_i16x8(min0, x));
      corrections[t][1] = wasm_i32x4_add(corrections[t][1], wasm_i32x4_dot_i16x8(min1, x));
    }
  }
}

// Scales d or e of eight rows. Binary16 scales come out 2^102 times too small: half of that is corrected in each
// block's scales (kCorrectsWeights, kCorrectsActivations), half once in the accumulators, so that neither overflows.
template <KernelSpec S>
inline void load_scales(const uint8_t* at, const Constants& c, v128_t* out) {
  if constexpr (S.half_scales) {
    vec::load_small_f16x8(at, c.half, out);
  } else {
    out[0] = wasm_v128_load(at);
    out[1] = wasm_v128_load(at + 16);
  }
}
constexpr float kHalfCorrection = 0x1p51f;  // sqrt(2^112 / kHalfScaleFactor)

// The micro-kernel: G row groups, `step` groups apart, times T tokens. Memory answers several streams faster than one,
// where each has pages of its own.
template <KernelSpec S, int T, int G>
void microkernel(const PackedFormat& f, const uint8_t* p, size_t step, size_t n_in, const uint8_t* a, Beta beta,
                 float* y, size_t y_stride, size_t n_rows) {
  constexpr size_t kBlock = kLayout<S>.block(), kPart = S.super ? kSuperHalf : kBlock;
  constexpr ActivationQuant kQuant{kPart, activation_layout(S.dot)};
  constexpr size_t a_bytes = token_block_bytes(kQuant) * T;  // of a part
  constexpr bool kStoresE = S.correction == Correction::kStored;
  // The activations' scales of one token, those of the weights for several: whichever are fewer.
  constexpr bool kCorrectsActivations = S.half_scales && T == 1, kCorrectsWeights = S.half_scales && T > 1;
  const v128_t correction = loop_constant(wasm_f32x4_splat(kHalfCorrection));
  Constants c;
  c.low_bits = loop_constant(wasm_i16x8_splat(S.bits == 4 && !S.table ? 15 : 255));
  c.table = S.table ? wasm_v128_load(f.table) : wasm_i8x16_splat(0);
  for (int upper = 0; upper < 2; ++upper)
    for (int h = 0; h < 2; ++h) {
      const int factor = -f.offset * (h == 1 && S.dot == DotKind::kInt8x4Packed ? 17 : 1);
      c.minus_offset[upper][h] = loop_constant(wasm_i32x4_splat((factor & 0xffff) << (16 * upper)));
    }
  constexpr size_t bytes = kLayout<S>.block_bytes();
  const size_t step_bytes = step * (n_in / kBlock * bytes), step_rows = step * kGroupRows;
  // What the sums of rows 0..3 and of rows 4..7 lack: powers of two, so that panels add up to what one row would.
  constexpr float kLow = S.half_scales ? kHalfCorrection : 1, kCorrection[2] = {kLow, kLow / kHighFactor<S>};
  const auto rows_of = [&](int g) { return std::min(n_rows - static_cast<size_t>(g) * step_rows, kGroupRows); };
  const auto y_of = [&](int g, int t) {
    return y + static_cast<size_t>(t) * y_stride + static_cast<size_t>(g) * step_rows;
  };
  v128_t sums[G][T][2];
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t) {
      sums[g][t][0] = sums[g][t][1] = wasm_f32x4_splat(0);
      if (beta == Beta::kZero) continue;
      load_rows(y_of(g, t), rows_of(g), sums[g][t]);
      for (int h = 0; h < 2; ++h) sums[g][t][h] = wasm_f32x4_mul(sums[g][t][h], wasm_f32x4_splat(1 / kCorrection[h]));
    }
  // Whether groups share what is made of the activations.
  constexpr bool kSharesActivations = S.dot == DotKind::kBfp16 || (T == 1 && kInterleavesGroups<S>);
  // Beta of codes that go through memory before anything else is made of them: V8 stores each turn of their loop what
  // it will need the register of after it.
  constexpr bool kSpills = !S.super && S.table && S.sub == 32 && T > 2;
  // What `products` and the rest of a part of group g's block `own` add to its sums.
  const auto finish = [&](int g, const uint8_t* own, size_t part, const uint8_t* own_a, v128_t(*products)[2]) {
    const uint8_t* scales = own_a + kPart * code_bytes(kQuant) * T;
    const uint8_t* totals = scales + sizeof(float) * T;
    v128_t corrections[T][2], spilled[T][2];
    if constexpr (S.super) {
      if constexpr (kStoresE) min_corrections<S, T>(own, part, totals, corrections);
    } else {
      if constexpr (!kSharesActivations) {
        init_accumulators<S, T>(totals, 0, c, products);
        dot<S, T, S.sub>(own + kLayout<S>.codes_at(), own_a, c, products);
        if constexpr (!kSpills) accumulators_to_float<S, T>(c, products);
      }
      if constexpr (kSpills) {
        v128_t* const to = in_memory<T>(&spilled[0][0]);
        for (int i = 0; i < 2 * T; ++i) to[i] = products[i / 2][i % 2];
        products = spilled;
      }
      if constexpr (kStoresE)
        for (int t = 0; t < T; ++t) corrections[t][0] = corrections[t][1] = wasm_v128_load32_splat(totals + 4 * t);
    }
    v128_t d[2], e[2];
    load_scales<S>(own, c, d);
    if constexpr (kStoresE) {
      load_scales<S>(own + kLayout<S>.e_at(), c, e);
      if constexpr (kHighFactor<S> != 1) e[1] = wasm_f32x4_mul(e[1], wasm_f32x4_splat(kHighFactor<S>));
    }
    if constexpr (kCorrectsWeights) {
      for (int h = 0; h < 2; ++h) {
        d[h] = wasm_f32x4_mul(d[h], correction);
        if constexpr (kStoresE) e[h] = wasm_f32x4_mul(e[h], correction);
      }
    }
    v128_t* const own_sums = in_memory<T>(&sums[g][0][0]);
    for (int t = 0; t < T; ++t) {
      v128_t a_scale = f32_splat_at(scales + 4 * t);
      if constexpr (kCorrectsActivations) a_scale = wasm_f32x4_mul(a_scale, correction);
      for (int h = 0; h < 2; ++h) {
        v128_t product = products[t][h];
        if constexpr (kSpills) product = wasm_f32x4_sub(product, c.bias_bits);
        v128_t sum = wasm_f32x4_mul(d[h], product);
        if constexpr (kStoresE) sum = relaxed_madd(e[h], wasm_f32x4_convert_i32x4(corrections[t][h]), sum);
        own_sums[2 * t + h] = relaxed_madd(sum, a_scale, own_sums[2 * t + h]);
      }
    }
  };
  const auto block_of = [&](int g) { return p + static_cast<size_t>(g) * step_bytes; };
  // Sub-blocks [first, first + n) of a part, added to products.
  const auto accumulate_sub_blocks = [&](int g, size_t part, size_t first, size_t n, const uint8_t* own_a,
                                         v128_t(*products)[2]) {
    const uint8_t* totals = own_a + (kPart * code_bytes(kQuant) + sizeof(float)) * T;
    for (size_t s = first; s < first + n; ++s)
      accumulate_sub_block<S, T>(block_of(g), part, s, own_a, totals, c, products);
  };
  // Groups take turns, so that memory answers all of them: many readers at two to five lines (Intel's memory), few of
  // them at up to 1 KB of super-blocks (AMD's prefetchers).
  constexpr bool kShortInterleave = T == 1 && G == kMemoryStreams[0];
  constexpr size_t kParts = kBlock / kPart;
  size_t n_blocks = n_in / kBlock;
  if constexpr (kShortInterleave && !S.super && S.bits == 4 && !kStoresE && !kSharesActivations) {
    for (; n_blocks > 1; n_blocks -= 2, p += 2 * bytes, a += 2 * a_bytes) {
      UNROLL_STREAMS
      for (int g = 0; g < G; ++g) {
        v128_t products[2][T][2];
        finish(g, block_of(g), 0, a, products[0]);
        finish(g, block_of(g) + bytes, 0, a + a_bytes, products[1]);
      }
    }
  }
  for (; n_blocks > 0; --n_blocks, p += bytes, a += kParts * a_bytes) {
    if constexpr (T == 1 && S.super && S.bits == 4 && !kShortInterleave) {
      UNROLL_STREAMS
      for (int g = 0; g < G; ++g) {
        UNROLL(1)  // short enough to be unrolled otherwise, with values on the stack (kGemvUnroll)
        for (size_t part = 0; part < kParts; ++part) {
          v128_t products[T][2] = {{wasm_f32x4_splat(0), wasm_f32x4_splat(0)}};
          UNROLL(1)
          for (size_t s = 0; s < kPart / S.sub; ++s) accumulate_sub_blocks(g, part, s, 1, a + part * a_bytes, products);
          finish(g, block_of(g), part, a + part * a_bytes, products);
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
          constexpr size_t kInterleave = kShortInterleave ? 8 / S.bits : T == 1 && S.sub == 16 ? kPart / S.sub : 1;
          UNROLL(1)
          for (size_t s = 0; s < kPart / S.sub; s += kInterleave) {
            UNROLL_STREAMS
            for (int g = 0; g < G; ++g) accumulate_sub_blocks(g, part, s, kInterleave, own_a, products[g]);
          }
        }
        if constexpr (S.dot == DotKind::kBfp16) dot_bfp16<T, G>(p + kLayout<S>.codes_at(), step_bytes, a, products);
        if constexpr (T == 1 && kInterleavesGroups<S>)
          dot_interleaved<S, G>(p + kLayout<S>.codes_at(), step_bytes, a,
                                a + kPart * code_bytes(kQuant) + sizeof(float), c, products);
        UNROLL_STREAMS
        for (int g = 0; g < G; ++g) finish(g, block_of(g), part, own_a, products[g]);
      }
    }
  }
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t) {
      for (int h = 0; h < 2; ++h) sums[g][t][h] = wasm_f32x4_mul(sums[g][t][h], wasm_f32x4_splat(kCorrection[h]));
      store_rows(sums[g][t], rows_of(g), y_of(g, t));
    }
}

}  // namespace
}  // namespace ggufscope
