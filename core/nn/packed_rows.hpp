// What kernels of packed weights share: the rows of a group in y, and what makes V8 and LLVM keep loops as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"
#include "nn/packed.hpp"

// Loops with several tokens stay loops: unrolled, LLVM sorts the products by token, each in one long chain, and the
// weights no longer fit the registers.
#if defined(__clang__)
#define UNROLL(count) _Pragma(STRING(clang loop unroll_count(count)))
#define STRING(text) #text
#else
#define UNROLL(count)
#endif

namespace ggufscope {

/// Zeros to begin sums with, each from a place of its own: of several sums that begin with one value, V8 leaves all but
/// one on the stack.
alignas(16) inline constexpr int32_t kZeros[8 * kTile] = {};
inline v128_t zero_at(size_t i) { return *reinterpret_cast<const volatile v128_t*>(kZeros + 4 * i); }

/// n (at most eight) rows of y.
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

/// sums[g][t]: i32 lanes, one a row, of G groups and T tokens whose codes are words, pair by pair until the first
/// group's are at `end`. w: of each group, x: of each token; both go along.
template <int T, int G>
inline void dot_word_pairs(const uint8_t** w, const uint8_t* end, const uint8_t** x, v128_t (*sums)[T][2]) {
  for (int i = 0; i < G * T; ++i)
    for (int h = 0; h < 2; ++h) sums[i / T][i % T][h] = zero_at(static_cast<size_t>(2 * i + h));
  UNROLL(1)
  do {
    v128_t pairs[T];
    for (int t = 0; t < T; ++t) pairs[t] = wasm_v128_load32_splat(x[t]);
    for (int g = 0; g < G; ++g) {
      const v128_t rows[2] = {wasm_v128_load(w[g]), wasm_v128_load(w[g] + 16)};
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < 2; ++h)
          sums[g][t][h] = wasm_i32x4_add(sums[g][t][h], wasm_i32x4_dot_i16x8(rows[h], pairs[t]));
      w[g] = opaque(w[g] + 32);
    }
    for (int t = 0; t < T; ++t) x[t] = opaque(x[t] + 4 * T);
  } while (w[0] != end);
}

}  // namespace ggufscope
