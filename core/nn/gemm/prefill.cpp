// Prefill for formats without a suitable int8 dot product on this CPU. The codes of some row groups are multiplied by
// their sub-blocks' scales and widened to int16 once for all tokens. Then every tile uses them in int16 dot products.
#include <algorithm>

#include "base/simd.hpp"
#include "nn/gemm/accumulators.hpp"
#include "nn/gemm/dispatch.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr size_t kDepth = 1024;  // elements in a chunk, so that its int16 codes and a tile's activations fit L1

// Codes of eight rows, pair by pair in the order of ActivationLayout::kInt16, and a scale d for each block of
// activations.
struct WidenedRows {
  alignas(16) int16_t codes[kDepth / 2][2][8];
  alignas(16) float scales[kDepth / 16][kGroupRows];
};

// Widens n elements, four at a time: the first and third become one pair of int16, the second and fourth another.
template <int Bits, bool Table, bool Scaled>
void widen_codes(const PackedFormat& f, const uint8_t* codes, size_t n, const uint8_t* scales, int16_t (*to)[2][8]) {
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

// Widens the codes for one block of activations: n elements of a group's block p, starting at element `first`.
void widen_codes(const PackedFormat& f, const uint8_t* p, size_t first, size_t n, int16_t (*to)[2][8], float* d) {
  if (f.half_scales) {
    v128_t rows[2];
    vec::load_finite_f16x8(p, vec::HalfConstants(), rows);
    for (size_t h = 0; h < 2; ++h)
      wasm_v128_store(d + 4 * h, wasm_f32x4_mul(rows[h], wasm_f32x4_splat(1 / kHalfScaleFactor)));
  } else {
    std::copy_n(reinterpret_cast<const float*>(p), kGroupRows, d);
  }
  const auto widen = f.super ? (f.bits == 8          ? widen_codes<8, false, true>
                                : f.table != nullptr ? widen_codes<4, true, true>
                                                     : widen_codes<4, false, true>)
                             : (f.bits == 8          ? widen_codes<8, false, false>
                                : f.table != nullptr ? widen_codes<4, true, false>
                                                     : widen_codes<4, false, false>);
  widen(f, p + f.codes_at() + first * f.bits, n, p + f.scales_at() + first / f.sub * 8, to);
}

// The micro-kernel of eight rows and T tokens: n elements in blocks of activations.
template <int T>
void prefill_microkernel(const WidenedRows& rows, size_t n, size_t block, const uint8_t* tile, size_t tile_step,
                         Beta beta, float* y, size_t y_stride, size_t n_rows) {
  v128_t acc[T][2];
  for (int t = 0; t < T; ++t) {
    acc[t][0] = acc[t][1] = wasm_f32x4_splat(0);
    if (beta == Beta::kOne) load_rows(y + static_cast<size_t>(t) * y_stride, n_rows, acc[t]);
  }
  const auto* w = reinterpret_cast<const uint8_t*>(rows.codes);
  const float* d = rows.scales[0];
  for (size_t first = 0; first < n; first += block, tile += tile_step, d += kGroupRows) {
    const uint8_t* x[T];
    for (int t = 0; t < T; ++t) x[t] = tile + 4 * t;
    v128_t products[1][T][2];
    dot_int16_pairs<T, 1>(&w, w + block * kGroupRows * sizeof(int16_t), x, products);
    const uint8_t* scales = tile + block * sizeof(int16_t) * T;
    for (int t = 0; t < T; ++t) {
      const v128_t scale = wasm_v128_load32_splat(scales + 4 * t);
      for (int h = 0; h < 2; ++h) {
        const v128_t product = wasm_f32x4_mul(wasm_v128_load(d + 4 * h), wasm_f32x4_convert_i32x4(products[0][t][h]));
        acc[t][h] = relaxed_madd(product, scale, acc[t][h]);
      }
    }
  }
  for (int t = 0; t < T; ++t) store_rows(acc[t], n_rows, y + static_cast<size_t>(t) * y_stride);
}

// Called by pointer, so that each remains a separate function (dispatch.cpp).
constexpr decltype(&prefill_microkernel<1>) kPrefillMicrokernels[kTileTokens] = {
    prefill_microkernel<1>, prefill_microkernel<2>, prefill_microkernel<3>, prefill_microkernel<4>};

}  // namespace

void gemm_prefill(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                  ActivationQuant quant, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                  size_t y_stride, size_t n_rows) {
  WidenedRows widened;
  for (size_t group = 0; group < n_groups; ++group) {
    const uint8_t* p = groups + group * packed_group_bytes(f, panel.n);
    const size_t row = group * kGroupRows, rows = std::min(kGroupRows, n_rows - row);
    for (size_t first = 0; first < panel.n; first += kDepth) {
      const size_t n = std::min(kDepth, panel.n - first);
      for (size_t k = 0; k < n; k += quant.block)
        widen_codes(f, p + packed_group_bytes(f, first + k), (first + k) % f.block(), quant.block,
                    widened.codes + k / 2, widened.scales[k / quant.block]);
      const Beta beta = panel.first + first == 0 ? Beta::kZero : Beta::kOne;
      for (size_t t = 0; t < n_tokens; t += kTileTokens) {
        const size_t n_here = std::min(kTileTokens, n_tokens - t);
        kPrefillMicrokernels[n_here - 1](
            widened, n, quant.block,
            tiles + t / kTileTokens * tile_bytes + activation_offset(quant, panel.first + first, n_here),
            activation_offset(quant, quant.block, n_here), beta, y + t * y_stride + row, y_stride, rows);
      }
    }
  }
}

}  // namespace ggufscope
