// The packed layout of weights: 8 rows interleaved, integer codes with their scales next to them.
//
// A weight of row r, element k is
//   flat types   w = d * (code - offset)  or  d * code + e                  d, e for each block of 32 (NVFP4: 16)
//   K-quants     w = d * scale * (code - offset)  or  d * scale * code + e * min
//   (super)      d, e for each super-block of 256; scale, min for each sub-block of 16 or 32
//   F16, BF16    w = d * code                         d, a power of two, for each block of 32
// Codes have 4 bits (directly, or through a table of 16), 8 bits or 16 bits (int16). Activations are quantized to x = a
// * q with one scale a for each block (activation_quant.hpp), so that dot products over a block are integers.
//
// F16 and BF16 are block floating point: one exponent for each block of 32, and int16 mantissas of 14 bits and a sign.
// F16 (11 bits) is exact down to an eighth of the block's largest value, BF16 (8 bits) down to a 64th. Below that, the
// error is at most half of 2^-14 of the largest value.
//
// A type with signed codes has several rows in the table of formats. The CPU's int8 dot product (CodeType) determines
// which one is used.
//
// A row group is 8 rows: BLIS's micro-panel with MR = 8. A block of a group has K = 16, 32 or 256 elements and S = K /
// sub sub-blocks:
//   float d[8]; float e[8] if the format has it (super: -dmin); with half_scales both as binary16, times 2^10
//   super: int8 scale[S][8], and int8 mins[S / 2][8][2], for pairs of sub-blocks, if the format has them
//   4 bits: uint8 codes[K / 4][16]: byte 4 * (r % 4) + k % 4, rows 0..3 in the low nibble, rows 4..7 in the high one
//   8 bits: uint8 codes[K / 4][2][16]: rows 0..3, then rows 4..7
//   int16:  int16 codes[K / 2][2][8], in the same way: element 2 * (r % 4) + k % 2
// A matrix with scales outside binary16's range keeps float scales (wide_format).
//
// Rows of more than kPanelDepth elements are packed in consecutive panels (BLIS's KC). Each panel has that many
// elements of all rows: [panel][group][block]. A panel's activations stay in L1 while all groups are processed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"

namespace ggufscope {

inline constexpr size_t kGroupRows = 8;  ///< MR
template <class Size>
[[nodiscard]] constexpr Size groups_of(Size n_rows) {
  return (n_rows + kGroupRows - 1) / kGroupRows;
}

inline constexpr size_t kPanelDepth = 2048;  ///< KC: elements at most

/// Binary16 scales are stored multiplied by this. That is exact and avoids subnormal values, which are slow to
/// multiply.
inline constexpr float kHalfScaleFactor = 0x1p10f;
inline constexpr uint16_t kHalfScaleLimit = 0x5400;  ///< the bits of 64: scales below it stay in range

/// The term that corrects for the codes' offset or adds the minimum.
enum class Correction : uint8_t { kNone, kOffset, kStored };

/// The range of the codes after the table. Together with the CPU it determines the dot product (dispatch.cpp).
enum class CodeType : uint8_t {
  kU4,   ///< 0..15, two in a byte without a table
  kU5,   ///< 0..31
  kU6,   ///< 0..63
  kU7,   ///< 0..127
  kI8,   ///< -128..127
  kU8,   ///< 0..255
  kI16,  ///< -2^14..2^14
};

/// One unpacked block of one row: codes [K], d, e, and for super types the scale and minimum of each sub-block.
struct UnpackedBlock {
  uint8_t codes[256];  ///< 128 of CodeType::kI16, little-endian
  float d, e;
  int8_t scale[16], min[16];
};
/// src: a block of the file, which may contain several unpacked blocks; part: which of them.
using UnpackFn = void(const uint8_t* src, size_t part, UnpackedBlock& out);

struct PackedFormat {
  uint32_t type;
  bool super;
  uint8_t bits;  ///< 4, 8 or 16
  bool half_scales;
  uint8_t sub;  ///< elements in a sub-block: 32 or 16; for flat types the block, for kI16 half of it (an int32 sum can
                ///< hold no more)
  Correction correction;
  uint8_t offset;
  const int8_t* table;  ///< nullptr: codes stand for themselves
  CodeType code_type;
  UnpackFn* unpack;
  bool has_table;  ///< separate, because GCC with sanitizers cannot compare the pointer in a constant expression

  [[nodiscard]] constexpr size_t block() const { return super ? 256 : bits == 16 ? 2 * sub : sub; }
  [[nodiscard]] constexpr size_t n_subs() const { return block() / sub; }
  [[nodiscard]] constexpr bool stores_e() const { return correction == Correction::kStored; }
  [[nodiscard]] constexpr size_t e_at() const { return half_scales ? 16 : 32; }
  [[nodiscard]] constexpr size_t scales_at() const { return e_at() * (stores_e() ? 2 : 1); }
  [[nodiscard]] constexpr size_t mins_at() const { return scales_at() + (super ? 8 * n_subs() : 0); }
  [[nodiscard]] constexpr size_t codes_at() const { return mins_at() + (super && stores_e() ? 8 * n_subs() : 0); }
  [[nodiscard]] constexpr size_t block_bytes() const { return codes_at() + block() * bits; }
};

/// The format of a type on this CPU, or nullptr if it has none.
[[nodiscard]] const PackedFormat* find_packed_format(uint32_t type);
/// Formats of all CPUs.
[[nodiscard]] std::span<const PackedFormat> all_packed_formats();

/// The same format with float scales instead of half_scales, or the format itself if it has no half_scales.
[[nodiscard]] const PackedFormat& wide_format(const PackedFormat& f);

/// Bytes of a group of rows of n_in elements, or of a panel's n_in elements of such a group.
[[nodiscard]] inline size_t packed_group_bytes(const PackedFormat& f, size_t n_in) {
  return n_in / f.block() * f.block_bytes();
}

struct Panel {
  size_t first, n;  ///< elements of a row
  size_t at;        ///< bytes
};
/// Calls body(panel) for each panel of n_groups groups of rows of n_in elements. Panels consist of whole blocks and
/// have about the same size.
template <class Body>
void for_each_panel(const PackedFormat& f, size_t n_in, size_t n_groups, const Body& body) {
  const size_t n_panels = (n_in + kPanelDepth - 1) / kPanelDepth;
  const size_t depth = ((n_in + n_panels - 1) / n_panels + 255) / 256 * 256;
  for (size_t first = 0; first < n_in; first += depth)
    body(Panel{first, std::min(depth, n_in - first), n_groups * packed_group_bytes(f, first)});
}

/// Code k of a row of a group's block, after the format's table. codes: the block's codes.
[[nodiscard]] int code_of(const PackedFormat& f, const uint8_t* codes, size_t row, size_t k);
/// The scale d or e of a row of a group's block. at: the start of the scales of that kind.
[[nodiscard]] float scale_of(const PackedFormat& f, const uint8_t* at, size_t row);

/// Packs n_in elements of n_rows rows of the file, which are src_stride bytes apart, as rows from `first` on of a
/// group. The group's other rows do not change. Packing all eight at once is several times as fast as one at a time.
void pack_rows(const PackedFormat& f, const uint8_t* src, size_t src_stride, size_t n_in, uint8_t* group, size_t first,
               size_t n_rows);
/// True if the scales of n_blocks blocks of the file fit the format's range.
[[nodiscard]] bool scales_fit(const PackedFormat& f, const uint8_t* src, size_t n_blocks);
/// Converts a group with half_scales to wide_format.
void widen_group(const PackedFormat& f, const uint8_t* group, size_t n_in, uint8_t* wide);
/// Converts one row of a group to floats. The result equals the file type's dequantization, except for F16 and BF16,
/// which are rounded to the block's exponent.
void dequantize_row(const PackedFormat& f, const uint8_t* group, size_t n_in, size_t row_in_group, float* out);

}  // namespace ggufscope
