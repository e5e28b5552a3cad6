// Products of packed weights with quantized activations: what a kernel does with the products of a block
// (packed_dots.hpp), and which kernel a format takes on this machine. See packed.hpp for the layouts.
#include <algorithm>

#include "base/simd.hpp"
#include "nn/byte_products.hpp"
#include "nn/packed.hpp"
#include "nn/packed_dots.hpp"
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
  // Sums of codes that go through memory before anything else is made of them: V8 stores each turn of their loop what
  // it will need the register of after it.
  constexpr bool kKeeps = !S.super && S.table && S.sub == 32 && T > 2;
  // What `products` and the rest of a part of group g's block `own` add to its sums.
  const auto finish = [&](int g, const uint8_t* own, size_t part, const uint8_t* own_a, v128_t(*products)[2]) {
    const uint8_t* scales = own_a + kPart * code_bytes(kKind) * T;
    const uint8_t* totals = scales + sizeof(float) * T;
    v128_t corrections[T][2], kept[T][2];
    if constexpr (S.super) {
      if constexpr (kStoresE) super_corrections<S, T>(own, part, totals, corrections);
    } else {
      if constexpr (!kShares) {
        begin<S, T>(totals, 0, c, products);
        dot<S, T, S.sub>(own + kLayout<S>.codes_at(), own_a, c, products);
        if constexpr (!kKeeps) end<S, T>(c, products);
      }
      if constexpr (kKeeps) {
        v128_t* const to = in_memory<T>(&kept[0][0]);
        for (int i = 0; i < 2 * T; ++i) to[i] = products[i / 2][i % 2];
        products = kept;
      }
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
        v128_t product = products[t][h];
        if constexpr (kKeeps) product = wasm_f32x4_sub(product, c.bias_bits);
        v128_t sum = wasm_f32x4_mul(d[h], product);
        if constexpr (kStoresE) sum = relaxed_madd(e[h], wasm_f32x4_convert_i32x4(corrections[t][h]), sum);
        own_sums[2 * t + h] = relaxed_madd(sum, a_scale, own_sums[2 * t + h]);
      }
    }
  };
  const auto block_of = [&](int g) { return p + static_cast<size_t>(g) * step_bytes; };
  // Sub-blocks [first, first + n) of a part, added to products.
  const auto sub_blocks = [&](int g, size_t part, size_t first, size_t n, const uint8_t* own_a, v128_t(*products)[2]) {
    const uint8_t* totals = own_a + (kPart * code_bytes(kKind) + sizeof(float)) * T;
    for (size_t s = first; s < first + n; ++s) sub_block<S, T>(block_of(g), part, s, own_a, totals, c, products);
  };
  // Groups take turns, so that memory answers all of them: many readers at two to five lines (Intel's memory), few of
  // them at up to 1 KB of super-blocks (AMD's prefetchers).
  constexpr bool kShortTurns = T == 1 && G == kReaders[0];
  constexpr size_t kParts = kBlock / kPart;
  size_t n_blocks = n_in / kBlock;
  if constexpr (kShortTurns && !S.super && S.bits == 4 && !kStoresE && !kShares) {
    for (; n_blocks > 1; n_blocks -= 2, p += 2 * bytes, a += 2 * a_bytes) {
      UNROLL_READERS
      for (int g = 0; g < G; ++g) {
        v128_t products[2][T][2];
        finish(g, block_of(g), 0, a, products[0]);
        finish(g, block_of(g) + bytes, 0, a + a_bytes, products[1]);
      }
    }
  }
  for (; n_blocks > 0; --n_blocks, p += bytes, a += kParts * a_bytes) {
    if constexpr (T == 1 && S.super && S.bits == 4 && !kShortTurns) {
      UNROLL_READERS
      for (int g = 0; g < G; ++g) {
        UNROLL(1)  // short enough to be unrolled otherwise, with values on the stack (kTogether)
        for (size_t part = 0; part < kParts; ++part) {
          v128_t products[T][2] = {{wasm_f32x4_splat(0), wasm_f32x4_splat(0)}};
          UNROLL(1)
          for (size_t s = 0; s < kPart / S.sub; ++s) sub_blocks(g, part, s, 1, a + part * a_bytes, products);
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
          constexpr size_t kTurn = kShortTurns ? 8 / S.bits : T == 1 && S.sub == 16 ? kPart / S.sub : 1;
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
        for (int g = 0; g < G; ++g) finish(g, block_of(g), part, own_a, products[g]);
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
  switch (byte_products()) {
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
    if (pairs_lack_sign())
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
}  // namespace

ActivationKind activation_kind(const PackedFormat& f, size_t n_tokens) {
  const Way way = way_of(f);
  ActivationCodes codes = activation_codes(way);
  // Of pairs of codes of super-blocks' tables, or Q6_K's, too few fit 16 bits (kPairElements).
  const bool few_pairs = way == Way::kPairs && f.super && (f.table != nullptr || (f.bits == 8 && f.sub == 16));
  if (n_tokens >= kPromptTokens && !f.stores_e() && (way == Way::kWords || few_pairs)) codes = ActivationCodes::kPrompt;
  if (n_tokens == 1 && pairs_lack_sign() && way == Way::kWords) codes = ActivationCodes::kHalves;
  return {f.super ? kSuperPart : static_cast<uint16_t>(f.block()), codes};
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
