// The GEMM micro-kernel: eight rows times up to four tokens or, for decode (GEMV), several memory streams of eight rows
// times one token. dot.hpp has the dot products of a block. Included only by dispatch.cpp.
#pragma once

#include <algorithm>

#include "base/simd.hpp"
#include "nn/gemm/accumulators.hpp"
#include "nn/gemm/dispatch.hpp"
#include "nn/gemm/dot.hpp"
#include "nn/gemm/format.hpp"
#include "nn/vec.hpp"

// The steps of the micro-kernel are separate functions for readability, but always inlined.
#define STEP [[gnu::always_inline]] inline

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
      // int16 accumulators, two for each row; the correction goes into the low one.
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

// corrections[t], int32 lanes: sums of the activations of half a super-block times the minimums.
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

// The scales d or e of eight rows. Binary16 scales come out 2^102 times too small. Half of the exponent is corrected in
// each block's scales (kCorrectsWeights, kCorrectsActivations), the other half once in the accumulators, so that
// neither overflows.
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

// Constants of the micro-kernel for T tokens times G row groups.
template <KernelSpec S, int T, int G = 1>
struct Shape {
  static constexpr size_t kBlock = kLayout<S>.block();
  static constexpr size_t kBlockBytes = kLayout<S>.block_bytes();
  static constexpr size_t kPart = S.super ? kSuperHalf : kBlock;  // elements of a block with one activation scale
  static constexpr size_t kParts = kBlock / kPart;
  static constexpr ActivationQuant kQuant{kPart, activation_layout(S.dot)};
  static constexpr size_t kCodeBytes = kPart * code_bytes(kQuant) * T;  // of a part's activations
  static constexpr size_t kScaleBytes = sizeof(float) * T;              // of their scales, which the sums follow
  static constexpr size_t kPartBytes = token_block_bytes(kQuant) * T;   // all together
  static constexpr bool kStoresE = S.correction == Correction::kStored;
  // kHalfCorrection is applied to the activations' scales for one token, or to the weights' for several, whichever are
  // fewer.
  static constexpr bool kCorrectsActivations = S.half_scales && T == 1, kCorrectsWeights = S.half_scales && T > 1;
  // The final factors for accumulators of rows 0..3 and 4..7. They are powers of two, so that panels add up exactly to
  // the result of a whole row.
  static constexpr float kLow = S.half_scales ? kHalfCorrection : 1, kFinal[2] = {kLow, kLow / kHighFactor<S>};
  // True if row groups share the loads of activations.
  static constexpr bool kSharesActivations = S.dot == DotKind::kBfp16 || (T == 1 && kInterleavesGroups<S>);
  // True if accumulators go through memory before they are scaled. Otherwise V8 would store them in every iteration of
  // the loop.
  static constexpr bool kSpills = !S.super && S.table && S.sub == 32 && T > 2;
  // True if memory streams alternate every few cache lines (four streams, for Intel's memory system) instead of in long
  // runs (two streams, for AMD's prefetchers).
  static constexpr bool kShortInterleave = T == 1 && G == kMemoryStreams[0];
};

// The operands of a call: the addresses of G row groups, `step` groups apart, and of the tile.
struct Operands {
  const uint8_t* weights;
  size_t step_bytes, step_rows;
  const uint8_t* activations;
  float* y;
  size_t y_stride, n_rows;

  [[nodiscard]] const uint8_t* group(int g) const { return weights + static_cast<size_t>(g) * step_bytes; }
  [[nodiscard]] size_t rows(int g) const { return std::min(n_rows - static_cast<size_t>(g) * step_rows, kGroupRows); }
  [[nodiscard]] float* out(int g, int t) const {
    return y + static_cast<size_t>(t) * y_stride + static_cast<size_t>(g) * step_rows;
  }
};

template <KernelSpec S>
STEP void load_constants(const PackedFormat& f, Constants& c) {
  c.half_correction = loop_constant(wasm_f32x4_splat(kHalfCorrection));
  c.low_bits = loop_constant(wasm_i16x8_splat(S.bits == 4 && !S.table ? 15 : 255));
  c.table = S.table ? wasm_v128_load(f.table) : wasm_i8x16_splat(0);
  for (int high = 0; high < 2; ++high)
    for (int h = 0; h < 2; ++h) {
      const int factor = -f.offset * (h == 1 && S.dot == DotKind::kInt8x4Packed ? 17 : 1);
      c.minus_offset[high][h] = loop_constant(wasm_i32x4_splat((factor & 0xffff) << (16 * high)));
    }
}

// Step 1, init: float accumulators start with 0, or with the result of earlier panels.
template <KernelSpec S, int T, int G>
STEP void init(const Operands& o, Beta beta, v128_t (*acc)[T][2]) {
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t) {
      acc[g][t][0] = acc[g][t][1] = wasm_f32x4_splat(0);
      if (beta == Beta::kZero) continue;
      load_rows(o.out(g, t), o.rows(g), acc[g][t]);
      for (int h = 0; h < 2; ++h)
        acc[g][t][h] = wasm_f32x4_mul(acc[g][t][h], wasm_f32x4_splat((1 / Shape<S, T>::kFinal[h])));
    }
}

// Step 2, accumulate, K-quants: sub-blocks [first, first + n) of half a super-block are added to dots. It is not
// always_inline, because LLVM must find the shared loads of activations before it is inlined.
template <KernelSpec S, int T>
inline void accumulate_sub_blocks(const uint8_t* block, size_t half, size_t first, size_t n, const uint8_t* a,
                                  const Constants& c, v128_t (*dots)[2]) {
  const uint8_t* sums = a + Shape<S, T>::kCodeBytes + Shape<S, T>::kScaleBytes;
  for (size_t s = first; s < first + n; ++s) accumulate_sub_block<S, T>(block, half, s, a, sums, c, dots);
}

// Step 2, accumulate, flat types: the dot product of a block, as floats unless kSpills.
template <KernelSpec S, int T>
STEP void accumulate_block(const uint8_t* block, const uint8_t* a, const Constants& c, v128_t (*dots)[2]) {
  init_accumulators<S, T>(a + Shape<S, T>::kCodeBytes + Shape<S, T>::kScaleBytes, 0, c, dots);
  dot<S, T, S.sub>(block + kLayout<S>.codes_at(), a, c, dots);
  if constexpr (!Shape<S, T>::kSpills) accumulators_to_float<S, T>(c, dots);
}

// The weights' scales d and e of a block.
template <KernelSpec S, int T>
STEP void load_block_scales(const uint8_t* block, const Constants& c, v128_t* d, v128_t* e) {
  load_scales<S>(block, c, d);
  if constexpr (Shape<S, T>::kStoresE) {
    load_scales<S>(block + kLayout<S>.e_at(), c, e);
    if constexpr (kHighFactor<S> != 1) e[1] = wasm_f32x4_mul(e[1], wasm_f32x4_splat(kHighFactor<S>));
  }
  if constexpr (Shape<S, T>::kCorrectsWeights) {
    for (int h = 0; h < 2; ++h) {
      d[h] = wasm_f32x4_mul(d[h], c.half_correction);
      if constexpr (Shape<S, T>::kStoresE) e[h] = wasm_f32x4_mul(e[h], c.half_correction);
    }
  }
}

// Step 3, scale: acc += a_scale * (d * dots + e * corrections) for one part of a block.
template <KernelSpec S, int T>
STEP void scale(const uint8_t* block, size_t part, const uint8_t* a, const Constants& c, v128_t (*dots)[2],
                v128_t (*acc)[2]) {
  using Sh = Shape<S, T>;
  const uint8_t* scales = a + Sh::kCodeBytes;
  const uint8_t* sums = scales + Sh::kScaleBytes;
  v128_t corrections[T][2], spilled[T][2], d[2], e[2];
  if constexpr (Sh::kSpills) {
    v128_t* const to = in_memory<T>(&spilled[0][0]);
    for (int i = 0; i < 2 * T; ++i) to[i] = dots[i / 2][i % 2];
    dots = spilled;
  }
  if constexpr (Sh::kStoresE && S.super) min_corrections<S, T>(block, part, sums, corrections);
  if constexpr (Sh::kStoresE && !S.super)
    for (int t = 0; t < T; ++t) corrections[t][0] = corrections[t][1] = wasm_v128_load32_splat(sums + 4 * t);
  load_block_scales<S, T>(block, c, d, e);
  v128_t* const own = in_memory<T>(&acc[0][0]);
  for (int t = 0; t < T; ++t) {
    v128_t a_scale = f32_splat_at(scales + 4 * t);
    if constexpr (Sh::kCorrectsActivations) a_scale = wasm_f32x4_mul(a_scale, c.half_correction);
    for (int h = 0; h < 2; ++h) {
      v128_t product = dots[t][h];
      if constexpr (Sh::kSpills) product = wasm_f32x4_sub(product, c.bias_bits);
      v128_t sum = wasm_f32x4_mul(d[h], product);
      if constexpr (Sh::kStoresE) sum = relaxed_madd(e[h], wasm_f32x4_convert_i32x4(corrections[t][h]), sum);
      own[2 * t + h] = relaxed_madd(sum, a_scale, own[2 * t + h]);
    }
  }
}

// Step 4, store: y = acc, with the powers of two removed.
template <KernelSpec S, int T, int G>
STEP void store(const Operands& o, v128_t (*acc)[T][2]) {
  for (int g = 0; g < G; ++g)
    for (int t = 0; t < T; ++t) {
      for (int h = 0; h < 2; ++h)
        acc[g][t][h] = wasm_f32x4_mul(acc[g][t][h], wasm_f32x4_splat((Shape<S, T>::kFinal[h])));
      store_rows(acc[g][t], o.rows(g), o.out(g, t));
    }
}

// Decode with two streams, K-quants of 4 bits: one block of one stream after the other.
template <KernelSpec S, int T, int G>
STEP void block_in_runs(const Operands& o, const Constants& c, v128_t (*acc)[T][2]) {
  using Sh = Shape<S, T, G>;
  UNROLL_STREAMS
  for (int g = 0; g < G; ++g) {
    UNROLL(1)  // it would be unrolled otherwise, which spills (kGemvUnroll)
    for (size_t part = 0; part < Sh::kParts; ++part) {
      const uint8_t* a = o.activations + part * Sh::kPartBytes;
      v128_t dots[T][2] = {{wasm_f32x4_splat(0), wasm_f32x4_splat(0)}};
      UNROLL(1)
      for (size_t s = 0; s < Sh::kPart / S.sub; ++s) accumulate_sub_blocks<S, T>(o.group(g), part, s, 1, a, c, dots);
      scale<S, T>(o.group(g), part, a, c, dots, acc[g]);
    }
  }
}

// A block of all row groups, one part after the other.
template <KernelSpec S, int T, int G>
STEP void block_interleaved(const Operands& o, const Constants& c, v128_t (*dots)[T][2], v128_t (*acc)[T][2]) {
  using Sh = Shape<S, T, G>;
  UNROLL(1)
  for (size_t part = 0; part < Sh::kParts; ++part) {
    const uint8_t* a = o.activations + part * Sh::kPartBytes;
    if constexpr (S.super) {
      for (int i = 0; i < G * T; ++i) dots[i / T][i % T][0] = dots[i / T][i % T][1] = wasm_f32x4_splat(0);
      constexpr size_t kTurn = Sh::kShortInterleave ? 8 / S.bits : T == 1 && S.sub == 16 ? Sh::kPart / S.sub : 1;
      UNROLL(1)
      for (size_t s = 0; s < Sh::kPart / S.sub; s += kTurn) {
        UNROLL_STREAMS
        for (int g = 0; g < G; ++g) accumulate_sub_blocks<S, T>(o.group(g), part, s, kTurn, a, c, dots[g]);
      }
    }
    if constexpr (S.dot == DotKind::kBfp16) dot_bfp16<T, G>(o.weights + kLayout<S>.codes_at(), o.step_bytes, a, dots);
    if constexpr (T == 1 && kInterleavesGroups<S>)
      dot_interleaved<S, G>(o.weights + kLayout<S>.codes_at(), o.step_bytes, a, a + Sh::kCodeBytes + Sh::kScaleBytes, c,
                            dots);
    UNROLL_STREAMS
    for (int g = 0; g < G; ++g) {
      if constexpr (!S.super && !Sh::kSharesActivations) accumulate_block<S, T>(o.group(g), a, c, dots[g]);
      scale<S, T>(o.group(g), part, a, c, dots[g], acc[g]);
    }
  }
}

// Decode with four streams, flat types of 4 bits: two blocks of each stream, one after the other.
template <KernelSpec S, int T, int G>
STEP void two_blocks(const Operands& o, const Constants& c, v128_t (*acc)[T][2]) {
  using Sh = Shape<S, T, G>;
  UNROLL_STREAMS
  for (int g = 0; g < G; ++g) {
    v128_t dots[2][T][2];
    accumulate_block<S, T>(o.group(g), o.activations, c, dots[0]);
    scale<S, T>(o.group(g), 0, o.activations, c, dots[0], acc[g]);
    accumulate_block<S, T>(o.group(g) + Sh::kBlockBytes, o.activations + Sh::kPartBytes, c, dots[1]);
    scale<S, T>(o.group(g) + Sh::kBlockBytes, 0, o.activations + Sh::kPartBytes, c, dots[1], acc[g]);
  }
}

// The micro-kernel: G row groups, `step` groups apart, times a tile of T tokens, with n_in elements. Memory serves
// several streams faster than one if each has its own pages.
template <KernelSpec S, int T, int G>
void microkernel(const PackedFormat& f, const uint8_t* weights, size_t step, size_t n_in, const uint8_t* activations,
                 Beta beta, float* y, size_t y_stride, size_t n_rows) {
  using Sh = Shape<S, T, G>;
  Operands o{weights, step * (n_in / Sh::kBlock * Sh::kBlockBytes), step * kGroupRows, activations, y, y_stride,
             n_rows};
  const auto advance = [&](size_t n) {
    o.weights += n * Sh::kBlockBytes;
    o.activations += n * Sh::kParts * Sh::kPartBytes;
  };
  Constants c;
  load_constants<S>(f, c);
  v128_t acc[G][T][2];
  init<S, T, G>(o, beta, acc);
  size_t n_blocks = n_in / Sh::kBlock;
  if constexpr (Sh::kShortInterleave && !S.super && S.bits == 4 && !Sh::kStoresE && !Sh::kSharesActivations)
    for (; n_blocks > 1; n_blocks -= 2, advance(2)) two_blocks<S, T, G>(o, c, acc);
  for (; n_blocks > 0; --n_blocks, advance(1)) {
    if constexpr (T == 1 && S.super && S.bits == 4 && !Sh::kShortInterleave)
      block_in_runs<S, T, G>(o, c, acc);
    else {
      v128_t dots[G][T][2];
      block_interleaved<S, T, G>(o, c, dots, acc);
    }
  }
  store<S, T, G>(o, acc);
}

}  // namespace
}  // namespace ggufscope
