// Helpers that the micro-kernels share: accumulators, loads and stores of rows of y, and measures that keep LLVM and V8
// from changing the loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"
#include "nn/gemm/activation_quant.hpp"
#include "nn/gemm/format.hpp"

// Loops over several tokens must stay loops. If LLVM unrolls them, it sorts the products by token into long dependency
// chains, and the weights no longer fit the registers.
#if defined(__clang__)
#define UNROLL(count) _Pragma(STRING(clang loop unroll_count(count)))
#define STRING(text) #text
#else
#define UNROLL(count)
#endif

namespace ggufscope {

/// Separate zeros for each accumulator: if several accumulators start with the same value, V8 spills all but one.
alignas(16) inline constexpr int32_t kZeros[8 * kTileTokens] = {};
inline v128_t zero_at(size_t i) { return *reinterpret_cast<const volatile v128_t*>(kZeros + 4 * i); }

/// Loads n (at most eight) rows of y, or stores them.
inline void load_rows(const float* y, size_t n, v128_t* rows) {
  float all[kGroupRows] = {};
  if (n < kGroupRows) std::memcpy(all, y, n * sizeof(float)), y = all;
  rows[0] = wasm_v128_load(y);
  rows[1] = wasm_v128_load(y + 4);
}

inline void store_rows(const v128_t* rows, size_t n, float* y) {
  float all[kGroupRows];
  float* to = n == kGroupRows ? y : all;
  wasm_v128_store(to, rows[0]);
  wasm_v128_store(to + 4, rows[1]);
  if (n < kGroupRows) std::memcpy(y, all, n * sizeof(float));
}

/// acc[g][t] = int16 dot product of group g's rows with token t, in int32 lanes, one for each row. w[g] and x[t] point
/// to pairs of codes and advance until w[0] is `end`.
template <int T, int G>
inline void dot_int16_pairs(const uint8_t** w, const uint8_t* end, const uint8_t** x, v128_t (*acc)[T][2]) {
  for (int i = 0; i < G * T; ++i)
    for (int h = 0; h < 2; ++h) acc[i / T][i % T][h] = zero_at(static_cast<size_t>(2 * i + h));
  UNROLL(1)
  do {
    v128_t pairs[T];
    for (int t = 0; t < T; ++t) pairs[t] = wasm_v128_load32_splat(x[t]);
    for (int g = 0; g < G; ++g) {
      const v128_t rows[2] = {wasm_v128_load(w[g]), wasm_v128_load(w[g] + 16)};
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < 2; ++h)
          acc[g][t][h] = wasm_i32x4_add(acc[g][t][h], wasm_i32x4_dot_i16x8(rows[h], pairs[t]));
      w[g] = opaque(w[g] + 32);
    }
    for (int t = 0; t < T; ++t) x[t] = opaque(x[t] + 4 * T);
  } while (w[0] != end);
}

}  // namespace ggufscope
