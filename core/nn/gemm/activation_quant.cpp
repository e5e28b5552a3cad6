// Quantizes activations to int8 and to block floating point.
#include "nn/gemm/activation_quant.hpp"

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

// The scale of a kBfp16 block, chosen so that codes fit int16 and a dot product of 16 of them fits int32.
float bfp16_scale(const float* row, float largest) {
  float max_sum = 0;
  for (size_t half = 0; half < 32; half += 16) {
    v128_t sum = wasm_f32x4_splat(0);
    for (size_t k = half; k < half + 16; k += 4) sum = wasm_f32x4_add(sum, wasm_f32x4_abs(wasm_v128_load(row + k)));
    max_sum = std::max(max_sum, vec::sum4(sum));
  }
  return std::max(largest / kBfp16Max, max_sum / kBfp16MaxSum);
}

// Stores each of the four 32-bit lanes, `step` bytes apart.
inline void store_lanes(v128_t fours, uint8_t* to, size_t step) {
  wasm_v128_store32_lane(to, fours, 0);
  wasm_v128_store32_lane(to + step, fours, 1);
  wasm_v128_store32_lane(to + 2 * step, fours, 2);
  wasm_v128_store32_lane(to + 3 * step, fours, 3);
}

// 1.5 * 2^23: added to a small number, it leaves the nearest integer, ties to even, in the low bits.
constexpr float kRoundingMagic = 0x1.8p23f;

// Converts eight activations, times inverse, to int16. NaN and infinity give arbitrary codes, but their block's scale
// is NaN or infinity, and so is every product.
inline v128_t to_int16(const float* x, v128_t inverse, v128_t magic) {
  const auto integers = [&](const float* four) {
    return wasm_i32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(four), inverse), magic), magic);
  };
  return wasm_i16x8_narrow_i32x4(integers(x), integers(x + 4));
}

template <size_t N>
inline float largest_of(const float* x) {
  v128_t max = wasm_i32x4_splat(0);
  for (size_t k = 0; k < N; k += 4) max = vec::max_magnitude(max, wasm_v128_load(x + k));
  return vec::largest_magnitude(max);
}

// The index into kMaxCodes with the smallest error. squares: four partial sums of squared errors for each.
inline size_t best_max_code(const v128_t* squares) {
  static_assert(std::size(kMaxCodes) == 4);
  const v128_t errors =
      wasm_f32x4_mul(wasm_f32x4_convert_i32x4(vec::integer_sums4(squares)), wasm_v128_load(kErrorWeights.data()));
  // The index is put into the error's two lowest bits, so that one minimum finds both without unpredictable branches.
  v128_t min = wasm_v128_or(wasm_v128_and(errors, wasm_i32x4_splat(~3)), wasm_i32x4_make(0, 1, 2, 3));
  min = wasm_i32x4_min(min, wasm_i32x4_shuffle(min, min, 2, 3, 0, 1));
  min = wasm_i32x4_min(min, wasm_i32x4_shuffle(min, min, 1, 0, 3, 2));
  return static_cast<size_t>(wasm_i32x4_extract_lane(min, 0) & 3);
}

// Stores 16 codes of a token, eight as int16 in each vector.
template <size_t Block, ActivationLayout Layout>
[[gnu::always_inline]] inline void store_codes(const v128_t* codes, uint8_t* to, size_t n_tokens) {
  const size_t step = n_tokens * 4;
  if constexpr (Layout == ActivationLayout::kInt8) {
    store_lanes(wasm_i8x16_narrow_i16x8(codes[0], codes[1]), to, step);
  } else if constexpr (Layout == ActivationLayout::kNibbles) {
    v128_t high[2], low[2];
    for (size_t i = 0; i < 2; ++i) {
      high[i] = wasm_i16x8_shr(wasm_i16x8_add(codes[i], wasm_i16x8_splat(8)), 4);
      low[i] = wasm_i16x8_sub(codes[i], wasm_i16x8_shl(high[i], 4));
    }
    wasm_v128_store(to, wasm_i8x16_narrow_i16x8(high[0], high[1]));
    wasm_v128_store(to + second_half_at(Block), wasm_i8x16_narrow_i16x8(low[0], low[1]));
  } else {
    store_lanes(wasm_i16x8_shuffle(codes[0], codes[1], 0, 2, 4, 6, 8, 10, 12, 14), to, step);
    store_lanes(wasm_i16x8_shuffle(codes[0], codes[1], 1, 3, 5, 7, 9, 11, 13, 15),
                to + second_half_at(Block) * n_tokens, step);
  }
}

// Stores the sums of token t's codes: of each 16 and 32 of them in super-blocks, of the whole block in others. sums:
// for each 16 codes, four int32 that add up to their sum.
template <size_t Block>
[[gnu::always_inline]] inline void store_code_sums(const v128_t* sums, uint8_t* code_sums, size_t n_tokens, size_t t,
                                                   v128_t ones) {
  if constexpr (Block == kSuperHalf) {
    uint8_t* const of_32 = code_sums + sums_16_bytes(Block) * n_tokens;
    for (size_t s = 0; s < Block / 16; s += 4) {
      const v128_t four = vec::integer_sums4(sums + s), narrow = wasm_i16x8_narrow_i32x4(four, four);
      const v128_t two = wasm_i32x4_dot_i16x8(narrow, ones);
      uint8_t* const of_16 = code_sums + (s / 2 * n_tokens + t) * 4;
      wasm_v128_store32_lane(of_16, narrow, 0);
      wasm_v128_store32_lane(of_16 + n_tokens * 4, narrow, 1);
      wasm_v128_store32_lane(of_32 + (s / 4 * n_tokens + t) * 4, wasm_i16x8_narrow_i32x4(two, two), 0);
    }
  } else {
    v128_t sum = sums[0];
    for (size_t s = 1; s < Block / 16; ++s) sum = wasm_i32x4_add(sum, sums[s]);
    const int32_t total = sum_lanes(sum);
    std::memcpy(code_sums + 4 * t, &total, sizeof total);
  }
}

template <size_t Block, ActivationLayout Layout>
[[gnu::noinline]] void quantize_blocks(const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  constexpr ActivationQuant kQuant{Block, Layout};
  const v128_t magic = loop_constant(wasm_f32x4_splat(kRoundingMagic)), ones = loop_constant(wasm_i16x8_splat(1));
  const v128_t half = loop_constant(wasm_i16x8_splat(128));
  v128_t factors[4];
  for (size_t i = 0; i < 4; ++i) factors[i] = loop_constant(wasm_i16x8_splat(kMaxCodeFactors[i]));
  for (size_t block = 0; block < n_in / Block; ++block, tile += token_block_bytes(kQuant) * n_tokens) {
    uint8_t* scales = tile + Block * code_bytes(kQuant) * n_tokens;
    uint8_t* code_sums = scales + sizeof(float) * n_tokens;
    for (size_t t = 0; t < n_tokens; ++t) {
      const float* row = x + t * x_stride + block * Block;
      const float largest = largest_of<Block>(row);
      const v128_t inverse = wasm_f32x4_splat(kMaxInt16 / std::max(largest, kMinActivation));
      v128_t values[Block / 8], squares[4];
      for (v128_t& each : squares) each = wasm_i32x4_splat(0);
      for (size_t k = 0; k < Block; k += 8) {
        const v128_t value = values[k / 8] = to_int16(row + k, inverse, magic);
        for (size_t i = 0; i < 4; ++i) {
          const v128_t error = wasm_i16x8_shr(wasm_i16x8_shl(relaxed_q15mulr(value, factors[i]), 8), 8);
          squares[i] = wasm_i32x4_add(squares[i], wasm_i32x4_dot_i16x8(error, error));
        }
      }
      const size_t best = best_max_code(squares);
      const v128_t factor = wasm_v128_load16_splat(&kMaxCodeFactors[best]);
      const float scale = largest * kMaxCodeInverses[best];
      std::memcpy(scales + 4 * t, &scale, sizeof scale);
      v128_t sums[Block / 16];
      for (size_t k = 0; k < Block; k += 16) {
        v128_t codes[2];
        for (size_t i = 0; i < 2; ++i)
          codes[i] = wasm_i16x8_shr(wasm_i16x8_add(relaxed_q15mulr(values[k / 8 + i], factor), half), 8);
        store_codes<Block, Layout>(codes, tile + activation_at(Layout, k) * n_tokens + t * 4, n_tokens);
        sums[k / 16] = wasm_i32x4_dot_i16x8(wasm_i16x8_add(codes[0], codes[1]), ones);
      }
      store_code_sums<Block>(sums, code_sums, n_tokens, t, ones);
    }
  }
}

[[gnu::noinline]] void quantize_bfp16(const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile) {
  constexpr ActivationQuant kQuant{32, ActivationLayout::kBfp16};
  const v128_t magic = loop_constant(wasm_f32x4_splat(kRoundingMagic));
  for (size_t block = 0; block < n_in / 32; ++block, tile += token_block_bytes(kQuant) * n_tokens) {
    uint8_t* scales = tile + 32 * code_bytes(kQuant) * n_tokens;
    for (size_t t = 0; t < n_tokens; ++t) {
      const float* row = x + t * x_stride + block * 32;
      const float scale = bfp16_scale(row, largest_of<32>(row));
      std::memcpy(scales + 4 * t, &scale, sizeof scale);
      const v128_t inverse = wasm_f32x4_splat(1.0f / std::max(scale, kMinActivation));
      for (size_t k = 0; k < 32; k += 8)
        store_lanes(to_int16(row + k, inverse, magic),
                    tile + activation_at(ActivationLayout::kBfp16, k) * n_tokens + t * 4, n_tokens * 4);
    }
  }
}

}  // namespace

void quantize_tile(ActivationQuant quant, const float* x, size_t x_stride, size_t n_tokens, size_t n_in,
                   uint8_t* tile) {
  if (quant.layout == ActivationLayout::kBfp16) return quantize_bfp16(x, x_stride, n_tokens, n_in, tile);
  const auto quantize = [&]<size_t Block>() {
    (quant.layout == ActivationLayout::kInt8 ? quantize_blocks<Block, ActivationLayout::kInt8>
     : quant.layout == ActivationLayout::kNibbles
         ? quantize_blocks<Block, ActivationLayout::kNibbles>
         : quantize_blocks<Block, ActivationLayout::kInt16>)(x, x_stride, n_tokens, n_in, tile);
  };
  switch (quant.block) {
    case 16:
      return quantize.template operator()<16>();
    case 32:
      return quantize.template operator()<32>();
    default:
      return quantize.template operator()<kSuperHalf>();
  }
}

}  // namespace ggufscope
