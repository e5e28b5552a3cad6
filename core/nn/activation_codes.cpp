#include "nn/activation_codes.hpp"

#include <algorithm>
#include <cstring>

#include "base/simd.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

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

}  // namespace ggufscope
