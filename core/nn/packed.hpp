// Weights repacked for speed: 8 rows interleaved, integer codes, activations of 8 bits; for weights that are floats of
// 16 bits, codes of 15 bits and activations of up to 16.
//
// A weight of row r, element k is   flat types   w = d * (code - offset)  or  d * code + e        d, e a block of 32,
//                                                of NVFP4 of 16
//                                   super types  w = d * scale * (code - offset)  or  d * scale * code + e * min
//                                                d, e a super-block of 256; scale, min a sub-block of 16 or 32
//                                   of floats    w = d * code                         d, a power of two, a block of 32
// codes are 4 bits (straight, or through a table of 16), 8 bits or words. Activations are x = a * q with one scale a of
// a block (of half a super-block), so that sums of products stay integers over it: q in -127..127, or for words of as
// many bits as leave room for sums of half a block, at most 15 besides the sign.
//
// Floats as block floating point: the largest of a block has 14 bits besides its sign, so that F16 (11 of them) is
// exact down to an eighth of the largest, BF16 (8) to a 64th, and below by half of the largest's 2^-14.
//
// A type whose codes have a sign has several rows, for what machines can multiply by an activation's byte (Codes).
//
// A group is 8 rows. Layout of a block of a group, K = 16, 32 or 256 elements, S = K / sub sub-blocks:
//   float d[8]; float e[8] where stored (super types: -dmin); with half_scales both as binary16, 2^10 times as large
//   super: int8 scale[S][8], and int8 mins[S / 2][8][2], pairs of sub-blocks, where stored
//   4 bits: uint8 codes[K / 4][16]: byte 4 * (r % 4) + k % 4, rows 0..3 in the low nibble, rows 4..7 in the high one
//   8 bits: uint8 codes[K / 4][2][16]: rows 0..3, then rows 4..7
//   words: int16 codes[K / 2][2][8], in the same way: word 2 * (r % 4) + k % 2
// A matrix with scales that binary16 cannot hold so keeps floats (wide_format).
//
// Rows of more than kPanel elements are packed in panels, one after the other, each with so many elements of all rows:
// [panel][group][block]. Activations of one panel stay in the nearest cache while all groups pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "nn/activation_codes.hpp"

namespace ggufscope {

inline constexpr size_t kGroupRows = 8;
template <class Size>
[[nodiscard]] constexpr Size groups_of(Size n_rows) {
  return (n_rows + kGroupRows - 1) / kGroupRows;
}

inline constexpr size_t kPanel = 2048;  ///< elements at most

/// Binary16 numbers are kept this many times as large: exact, and no subnormal numbers, which processors are slow to
/// multiply.
inline constexpr float kRaised = 0x1p10f;
inline constexpr uint16_t kRaisedLimit = 0x5400;  ///< the bits of 64: what is below stays within the range

/// What is added to the product of the codes to make up for an offset or a minimum.
enum class Correction : uint8_t { kNone, kOffset, kStored };

/// What codes reach, and with that what can multiply them.
enum class Codes : uint8_t {
  kSmall,     ///< 0..127: relaxed products of bytes, on every machine
  kSigned,    ///< -128..127: relaxed products of bytes, where the machine takes both with a sign
  kUnsigned,  ///< 0..255: where it takes codes without one and no sum saturates; elsewhere widened to i16
  kWords,     ///< -2^14..2^14: products of words, which every machine has
};

struct PackedFormat {
  uint32_t type;
  bool super;
  uint8_t bits;  ///< 4, 8 or 16
  bool half_scales;
  uint8_t sub;  ///< elements a sub-block: 32 or 16; of a flat type the block, of words half of one (what a sum holds)
  Correction correction;
  uint8_t offset;
  const int8_t* table;  ///< nullptr: codes stand for themselves
  Codes range;
  /// One block of one row: codes [K], d, e, and for super types scale and min of each sub-block.
  struct Block {
    uint8_t codes[256];  ///< of words int16, little-endian
    float d, e;
    int8_t scale[16], min[16];
  };
  /// src: a block of the file, which may be several of these; part: which of them.
  void (*explode)(const uint8_t* src, size_t part, Block& out);

  [[nodiscard]] constexpr size_t block() const { return super ? 256 : bits == 16 ? 2 * sub : sub; }
  [[nodiscard]] constexpr size_t n_subs() const { return block() / sub; }
  [[nodiscard]] constexpr bool stores_e() const { return correction == Correction::kStored; }
  [[nodiscard]] constexpr size_t e_at() const { return half_scales ? 16 : 32; }
  [[nodiscard]] constexpr size_t scales_at() const { return e_at() * (stores_e() ? 2 : 1); }
  [[nodiscard]] constexpr size_t mins_at() const { return scales_at() + (super ? 8 * n_subs() : 0); }
  [[nodiscard]] constexpr size_t codes_at() const { return mins_at() + (super && stores_e() ? 8 * n_subs() : 0); }
  [[nodiscard]] constexpr size_t block_bytes() const { return codes_at() + block() * bits; }
};

/// The format of a type on this machine; nullptr for a type without a fast path.
[[nodiscard]] const PackedFormat* find_packed_format(uint32_t type);
/// Those of other machines as well.
[[nodiscard]] std::span<const PackedFormat> all_packed_formats();

/// The same with floats for half_scales: the format itself where it has none.
[[nodiscard]] const PackedFormat& wide_format(const PackedFormat& f);

/// Bytes of a group of rows of n_in elements, or of a panel's n_in elements of them.
[[nodiscard]] inline size_t packed_group_bytes(const PackedFormat& f, size_t n_in) {
  return n_in / f.block() * f.block_bytes();
}

struct Panel {
  size_t first, n;  ///< elements of a row
  size_t at;        ///< bytes
};
/// body(panel) for each panel of n_groups groups of rows of n_in elements: of about one size, and of whole blocks.
template <class Body>
void each_panel(const PackedFormat& f, size_t n_in, size_t n_groups, const Body& body) {
  const size_t n_panels = (n_in + kPanel - 1) / kPanel;
  const size_t most = ((n_in + n_panels - 1) / n_panels + 255) / 256 * 256;
  for (size_t first = 0; first < n_in; first += most)
    body(Panel{first, std::min(most, n_in - first), n_groups * packed_group_bytes(f, first)});
}

/// n_in elements of n_rows rows of the file, which are src_stride bytes apart, as rows first .. of a group, whose other
/// rows are left as they are. All eight at once are several times as fast as one at a time.
void pack_rows(const PackedFormat& f, const uint8_t* src, size_t src_stride, size_t n_in, uint8_t* group, size_t first,
               size_t n_rows);
/// Whether the scales of n_blocks blocks of the file can be kept as the format has them.
[[nodiscard]] bool scales_fit(const PackedFormat& f, const uint8_t* src, size_t n_blocks);
/// A group with half_scales as wide_format has it.
void widen_group(const PackedFormat& f, const uint8_t* group, size_t n_in, uint8_t* wide);
/// One row of a group as floats, the same as the file's type dequantizes to but for small ones among words.
void unpack_row(const PackedFormat& f, const uint8_t* group, size_t n_in, size_t row_in_group, float* out);

inline constexpr size_t kPromptTokens = 12;  ///< from so many on it pays to make words of weights first

/// For a product with n_tokens tokens.
[[nodiscard]] ActivationKind activation_kind(const PackedFormat& f, size_t n_tokens);

/// How many groups of rows one token's products read side by side: four in turns of a few lines, or two in long ones.
/// Which is faster is a machine's own affair (where its memory is slow to answer four, where its prefetchers follow few
/// readers two); the results are the same.
inline constexpr size_t kReaders[] = {4, 2};
/// Index into kReaders; 0 at first.
void use_readers(size_t which);
[[nodiscard]] size_t readers_in_use();

/// What y holds before a product: nothing, or the sums of the panels before this one.
enum class Sums : uint8_t { kNone, kOfPanelsBefore };

/// y[t * y_stride + r] for the rows of n_groups groups and n_tokens tokens, whose tiles of one kind are tile_bytes
/// apart; n_rows of them are written. groups: from the panel's first of them on.
void multiply_groups(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                     ActivationKind kind, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                     size_t y_stride, size_t n_rows);
/// The same of kPromptTokens tokens and more, of types without a stored minimum, with tiles of kPrompt.
void multiply_prompt(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                     ActivationKind kind, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                     size_t y_stride, size_t n_rows);

/// The same of one group and the tokens of one tile in scalar code, written to be read: bit for bit equal where
/// multiplications and additions are not fused.
void multiply_group_reference(const PackedFormat& f, const uint8_t* group, size_t n_in, const float* x, size_t x_stride,
                              size_t n_tokens, Sums before, float* y, size_t y_stride, size_t n_rows);

}  // namespace ggufscope
