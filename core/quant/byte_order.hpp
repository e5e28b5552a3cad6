// Big-endian tensor data: which parts of a block are multi-byte numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ggufscope {

/// `count` numbers of `width` bytes each, starting at `offset`.
struct BlockField {
  uint16_t offset;
  uint16_t width;
  uint16_t count;
};

/// The multi-byte fields of a block, sorted by offset. Their widths are those with which ggml's code accesses them on a
/// big-endian machine: the sign words of IQ2_XXS and IQ3_XXS and the fifth bits of Q5_0 have 32 bits. Empty for types
/// that consist of single bytes and for types without kernels. small: super-blocks of 64 elements (empty for types that
/// have none).
[[nodiscard]] std::span<const BlockField> block_fields(uint32_t type, bool small = false);

/// Converts n_blocks blocks of the type between byte orders, in place.
void swap_block_bytes(uint32_t type, uint8_t* blocks, size_t n_blocks, bool small = false);

}  // namespace ggufscope
