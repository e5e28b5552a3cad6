// Activations quantized for products with packed weights (packed.hpp): x = a * q with one scale a of a block.
//
// A tile is T tokens (1 .. kTile) of one block after the other:
//   codes    bytes   [K / 4][T][4]
//            words   [K / 32][2][8][T][2]   even elements of 32, then odd ones
//            halves  [K / 32][2][32]        of one token: the upper ones of 32, then the lower ones
//            fine    [K / 2][T][2]
//   scales   float [T]
//   sums     of the codes: int32 [T]; of parts of super-blocks int16 of 16s [K / 32][T][2], then of 32s [K / 64][T][2];
//            of fine ones room that is not used
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class ActivationCodes : uint8_t {
  kBytes,   ///< -127..127
  kWords,   ///< the same as words
  kHalves,  ///< the same in halves of a byte, of one token
  kPrompt,  ///< the same as kWords, for weights that become words as well (multiply_prompt)
  kFine,    ///< words
};
/// What fine codes reach, and 16 of them together: times 2^14 that leaves room for their rounding in 32 bits.
inline constexpr float kFineMost = 32766, kFineSum = 131055;

/// What the code of the largest activation of a block may be. Each rounds the others in its own way, and the one with
/// the least squared error is taken, which has a seventh less of it than 127 always.
inline constexpr std::array<int, 4> kMostCodes{127, 126, 125, 124};
namespace detail {
template <class To, class Of>
constexpr std::array<To, kMostCodes.size()> of_most_codes(const Of& of) {
  std::array<To, kMostCodes.size()> out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(of(kMostCodes[i]));
  return out;
}
}  // namespace detail
/// Activations are words first, the largest this one; times a factor / 2^15 they are codes in 256ths.
inline constexpr float kMostWord = 32767;
/// Blocks of smaller ones are about 0: the inverse of their scale is no number.
inline constexpr float kLeastActivation = 1e-34f;
inline constexpr auto kMostFactors =
    detail::of_most_codes<int16_t>([](int n) { return (n * 256 * 32768 + 16383) / 32767; });
inline constexpr auto kMostInverses = detail::of_most_codes<float>([](int n) { return 1.0f / static_cast<float>(n); });
/// What makes errors in steps of each scale comparable.
inline constexpr auto kErrorWeights =
    detail::of_most_codes<float>([](int n) { return 1.0f / static_cast<float>(n * n); });

/// Elements of a super-block whose activations share a scale: with all 256 they had the noise that llama.cpp's have.
inline constexpr uint16_t kSuperPart = 128;

/// How activations must be quantized for a format. Tiles of kTile tokens are interleaved by four bytes.
struct ActivationKind {
  uint16_t block;  ///< elements of one scale: kSuperPart, with i16 sums of 16s and 32s; 32 or 16, with an i32 sum
  ActivationCodes codes;
  bool operator==(const ActivationKind&) const = default;
};
inline constexpr size_t kTile = 4;

// Where the parts of a block of a tile of T tokens are.
constexpr size_t totals_16_bytes(size_t block) { return block / 8; }  // pairs of i16 sums of 16s come first
constexpr size_t sums_bytes(ActivationKind kind) {
  return kind.block == kSuperPart ? totals_16_bytes(kind.block) + kind.block / 16u : 4;
}
constexpr size_t code_bytes(ActivationKind kind) { return kind.codes == ActivationCodes::kBytes ? 1 : 2; }
constexpr size_t token_block_bytes(ActivationKind kind) {
  return kind.block * code_bytes(kind) + sizeof(float) + sums_bytes(kind);
}

// Where the codes from element k on are, in bytes of one token. Wide ones as words: those of even elements, and those
// of odd ones second_at behind them; or as halves: the upper ones, and second_at behind them the lower ones.
// Fine ones follow each other.
constexpr size_t activation_at(ActivationCodes codes, size_t k) {
  if (codes == ActivationCodes::kFine) return 2 * k;
  return codes == ActivationCodes::kBytes ? k : k / 32 * 64 + k % 32;
}
constexpr size_t second_at(size_t block) { return block < 32 ? block : 32; }

/// Where a tile of n_tokens has the elements from `first` on, of which whole blocks come before.
[[nodiscard]] constexpr size_t activation_offset(ActivationKind kind, size_t first, size_t n_tokens) {
  return first / kind.block * token_block_bytes(kind) * n_tokens;
}
/// Bytes of a tile of kTile tokens: fewer tokens take the same room.
[[nodiscard]] constexpr size_t activation_tile_bytes(ActivationKind kind, size_t n_in) {
  return activation_offset(kind, n_in, kTile);
}
/// n_tokens (1 .. kTile) rows of x, which are x_stride floats apart, to one tile. n_in is a multiple of the block.
void quantize_tile(ActivationKind kind, const float* x, size_t x_stride, size_t n_tokens, size_t n_in, uint8_t* tile);

}  // namespace ggufscope
