// Activation quantization: x = a * q with one scale a for each block. A dot product with integer codes is then an
// integer dot product.
//
// A tile is T tokens (1 .. kTileTokens), one block after the other. A block of K elements is
//   codes    int8      [K / 4][T][4]
//            int16     [K / 32][2][8][T][2]   even elements of 32, then odd ones
//            nibbles   [K / 32][2][32]        one token: the high nibbles of 32 elements, then the low ones
//            bfp16     [K / 2][T][2]
//   scales   float [T]
//   sums     of the codes, for offsets and minimums of weights: int32 [T]; in super-blocks int16 of every 16 elements
//            [K / 32][T][2], then of every 32 [K / 64][T][2]; unused by bfp16
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class ActivationLayout : uint8_t {
  kInt8,     ///< -127..127
  kInt16,    ///< the same codes, each in an int16
  kNibbles,  ///< the same codes as two signed nibbles, code = 16 * high + low; for decode (one token)
  kPrefill,  ///< like kInt16, for weights that prefill.cpp widens to int16, too
  kBfp16,    ///< block floating point: up to 15 bits and a sign
};

/// The largest kBfp16 code, and the largest sum of 16 of them: such a sum times a weight code of 2^14, rounded, fits
/// int32.
inline constexpr float kBfp16Max = 32766, kBfp16MaxSum = 131055;

/// Candidates for the code of a block's largest activation. Each gives a different scale; the one with the smallest
/// squared error is used. The error is 14 % smaller than with 127 alone.
inline constexpr std::array<int, 4> kMaxCodes{127, 126, 125, 124};
namespace detail {
template <class To, class Fn>
constexpr std::array<To, kMaxCodes.size()> for_max_codes(const Fn& fn) {
  std::array<To, kMaxCodes.size()> out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(fn(kMaxCodes[i]));
  return out;
}
}  // namespace detail
/// Activations are first scaled to int16 so that the largest becomes this. Multiplied by a factor / 2^15 they are codes
/// in units of 1/256.
inline constexpr float kMaxInt16 = 32767;
/// Blocks with a smaller largest activation become 0, because the inverse of their scale would overflow.
inline constexpr float kMinActivation = 1e-34f;
inline constexpr auto kMaxCodeFactors =
    detail::for_max_codes<int16_t>([](int n) { return (n * 256 * 32768 + 16383) / 32767; });
inline constexpr auto kMaxCodeInverses =
    detail::for_max_codes<float>([](int n) { return 1.0f / static_cast<float>(n); });
/// Squared errors are in units of each candidate's scale; these factors make them comparable.
inline constexpr auto kErrorWeights =
    detail::for_max_codes<float>([](int n) { return 1.0f / static_cast<float>(n * n); });

/// Elements that share an activation scale in a super-block: half of it. One scale for all 256, as in llama.cpp, is
/// less precise.
inline constexpr uint16_t kSuperHalf = 128;

/// How activations are quantized: the elements that share a scale, and the layout of the codes.
struct ActivationQuant {
  uint16_t block;  ///< kSuperHalf, with int16 sums of every 16 and 32 elements; otherwise 32 or 16, with one int32 sum
  ActivationLayout layout;
  bool operator==(const ActivationQuant&) const = default;
};
inline constexpr size_t kTileTokens = 4;  ///< NR: tokens that a micro-kernel multiplies

// Sizes and offsets of a block's parts, in bytes for each token.
constexpr size_t sums_16_bytes(size_t block) { return block / 8; }  // the int16 sums of every 16 elements come first
constexpr size_t sums_bytes(ActivationQuant quant) {
  return quant.block == kSuperHalf ? sums_16_bytes(quant.block) + quant.block / 16u : 4;
}
constexpr size_t code_bytes(ActivationQuant quant) { return quant.layout == ActivationLayout::kInt8 ? 1 : 2; }
constexpr size_t token_block_bytes(ActivationQuant quant) {
  return quant.block * code_bytes(quant) + sizeof(float) + sums_bytes(quant);
}

/// The offset of the codes from element k on. Layouts with two halves (even and odd elements, high and low nibbles)
/// have the second half second_half_at() bytes after the first.
constexpr size_t activation_at(ActivationLayout layout, size_t k) {
  if (layout == ActivationLayout::kBfp16) return 2 * k;
  return layout == ActivationLayout::kInt8 ? k : k / 32 * 64 + k % 32;
}
constexpr size_t second_half_at(size_t block) { return block < 32 ? block : 32; }

/// The offset in a tile of n_tokens of the elements from `first` on, which must be a multiple of the block.
[[nodiscard]] constexpr size_t activation_offset(ActivationQuant quant, size_t first, size_t n_tokens) {
  return first / quant.block * token_block_bytes(quant) * n_tokens;
}
/// Bytes of a tile of kTileTokens tokens. Tiles with fewer tokens take the same space.
[[nodiscard]] constexpr size_t activation_tile_bytes(ActivationQuant quant, size_t n_in) {
  return activation_offset(quant, n_in, kTileTokens);
}
/// Quantizes n_tokens (1 .. kTileTokens) rows of x, which are x_stride floats apart, to one tile. n_in must be a
/// multiple of the block.
void quantize_tile(ActivationQuant quant, const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile);

}  // namespace ggufscope
