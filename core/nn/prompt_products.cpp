// Products of prompts where the machine has no product of bytes for a type's codes, or of few of them at a time: the
// codes of a group become words once for all tokens, less their offset and, in super-blocks, times their sub-block's
// scale, so that no token unpacks them and sums need a scale only where their activations have another one. The results
// are those of packed_kernels.cpp (in super-blocks as long as sums are below 2^24, where floats stop to be exact).
#include <algorithm>

#include "base/simd.hpp"
#include "nn/packed.hpp"
#include "nn/packed_rows.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr size_t kPart = 1024;  // elements whose words the nearest cache holds beside a tile's

// Of some blocks of activations: codes in their order (ActivationCodes::kWords), eight rows of each pair, and scales d.
struct Words {
  alignas(16) int16_t codes[kPart / 2][2][8];
  alignas(16) float scales[kPart / 16][kGroupRows];
};

// Of n elements, four by four: the first and third of four become a pair of words, the second and fourth another.
template <int Bits, bool Table, bool Scaled>
void make_words(const PackedFormat& f, const uint8_t* codes, size_t n, const uint8_t* scales, int16_t (*to)[2][8]) {
  const v128_t low_nibbles = loop_constant(wasm_i8x16_splat(15)), low_bytes = loop_constant(wasm_i16x8_splat(255));
  const v128_t offset = loop_constant(wasm_i16x8_splat(f.correction == Correction::kOffset ? f.offset : 0));
  const v128_t table = Table ? wasm_v128_load(f.table) : wasm_i8x16_splat(0);
  const size_t unit = std::min<size_t>(n, 32);  // even elements come first, then odd ones
  v128_t scale[2];
  for (size_t k = 0; k < n; k += 4) {
    if (Scaled && k % f.sub == 0) {
      const v128_t eight = wasm_i16x8_load8x8(scales + k / f.sub * 8);
      scale[0] = wasm_i16x8_shuffle(eight, eight, 0, 0, 1, 1, 2, 2, 3, 3);
      scale[1] = wasm_i16x8_shuffle(eight, eight, 4, 4, 5, 5, 6, 6, 7, 7);
    }
    v128_t bytes[2] = {wasm_v128_load(codes + Bits * k)};
    if constexpr (Bits == 4) {
      bytes[1] = wasm_v128_and(wasm_u16x8_shr(bytes[0], 4), low_nibbles);
      bytes[0] = wasm_v128_and(bytes[0], low_nibbles);
      if constexpr (Table)
        for (v128_t& each : bytes) each = relaxed_lookup(table, each);
    } else {
      bytes[1] = wasm_v128_load(codes + Bits * k + 16);
    }
    int16_t(*const at)[2][8] = to + k / unit * (unit / 2) + k % unit / 4;
    for (size_t h = 0; h < 2; ++h) {
      v128_t even = wasm_i16x8_sub(wasm_v128_and(bytes[h], low_bytes), offset);
      v128_t odd = wasm_i16x8_sub(wasm_u16x8_shr(bytes[h], 8), offset);
      if constexpr (Scaled) even = wasm_i16x8_mul(even, scale[h]), odd = wasm_i16x8_mul(odd, scale[h]);
      wasm_v128_store(at[0][h], even);
      wasm_v128_store(at[unit / 4][h], odd);
    }
  }
}

// One block of activations of n elements: of a group's block p, from its element `first` on.
void make_words(const PackedFormat& f, const uint8_t* p, size_t first, size_t n, int16_t (*to)[2][8], float* d) {
  if (f.half_scales) {
    v128_t rows[2];
    vec::load_finite_f16x8(p, vec::HalfConstants(), rows);
    for (size_t h = 0; h < 2; ++h) wasm_v128_store(d + 4 * h, wasm_f32x4_mul(rows[h], wasm_f32x4_splat(1 / kRaised)));
  } else {
    std::copy_n(reinterpret_cast<const float*>(p), kGroupRows, d);
  }
  const auto make = f.super ? (f.bits == 8          ? make_words<8, false, true>
                               : f.table != nullptr ? make_words<4, true, true>
                                                    : make_words<4, false, true>)
                            : (f.bits == 8          ? make_words<8, false, false>
                               : f.table != nullptr ? make_words<4, true, false>
                                                    : make_words<4, false, false>);
  make(f, p + f.codes_at() + first * f.bits, n, p + f.scales_at() + first / f.sub * 8, to);
}

// Eight rows and T tokens, n elements in blocks.
template <int T>
void multiply_words(const Words& words, size_t n, size_t block, const uint8_t* tile, size_t tile_step, Sums before,
                    float* y, size_t y_stride, size_t n_rows) {
  v128_t sums[T][2];
  for (int t = 0; t < T; ++t) {
    sums[t][0] = sums[t][1] = wasm_f32x4_splat(0);
    if (before == Sums::kOfPanelsBefore) load_rows(y + static_cast<size_t>(t) * y_stride, n_rows, sums[t]);
  }
  const auto* w = reinterpret_cast<const uint8_t*>(words.codes);
  const float* d = words.scales[0];
  for (size_t first = 0; first < n; first += block, tile += tile_step, d += kGroupRows) {
    const uint8_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = tile + 4 * t;
    v128_t products[1][T][2];
    dot_word_pairs<T, 1>(&w, w + block * kGroupRows * sizeof(int16_t), x, products);
    const uint8_t* scales = tile + block * sizeof(int16_t) * T;
    for (int t = 0; t < T; ++t) {
      const v128_t scale = wasm_v128_load32_splat(scales + 4 * t);
      for (int h = 0; h < 2; ++h) {
        const v128_t product = wasm_f32x4_mul(wasm_v128_load(d + 4 * h), wasm_f32x4_convert_i32x4(products[0][t][h]));
        sums[t][h] = relaxed_madd(product, scale, sums[t][h]);
      }
    }
  }
  for (int t = 0; t < T; ++t) store_rows(sums[t], n_rows, y + static_cast<size_t>(t) * y_stride);
}

// Called by pointer, so that each stays a function of its own (packed_kernels.cpp).
constexpr decltype(&multiply_words<1>) kMultiplyWords[kTile] = {multiply_words<1>, multiply_words<2>, multiply_words<3>,
                                                                multiply_words<4>};

}  // namespace

void multiply_prompt(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                     ActivationKind kind, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                     size_t y_stride, size_t n_rows) {
  Words words;
  for (size_t group = 0; group < n_groups; ++group) {
    const uint8_t* p = groups + group * packed_group_bytes(f, panel.n);
    const size_t row = group * kGroupRows, rows = std::min(kGroupRows, n_rows - row);
    for (size_t first = 0; first < panel.n; first += kPart) {
      const size_t n = std::min(kPart, panel.n - first);
      for (size_t k = 0; k < n; k += kind.block)
        make_words(f, p + packed_group_bytes(f, first + k), (first + k) % f.block(), kind.block, words.codes + k / 2,
                   words.scales[k / kind.block]);
      const Sums before = panel.first + first == 0 ? Sums::kNone : Sums::kOfPanelsBefore;
      for (size_t t = 0; t < n_tokens; t += kTile) {
        const size_t n_here = std::min(kTile, n_tokens - t);
        kMultiplyWords[n_here - 1](
            words, n, kind.block, tiles + t / kTile * tile_bytes + activation_offset(kind, panel.first + first, n_here),
            activation_offset(kind, kind.block, n_here), before, y + t * y_stride + row, y_stride, rows);
      }
    }
  }
}

}  // namespace ggufscope
