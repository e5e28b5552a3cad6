// Big-endian tensor data: which parts of a block are numbers of more than one byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ggufscope {

/// count numbers of width bytes each, from offset on.
struct BlockField {
  uint16_t offset;
  uint16_t width;
  uint16_t count;
};

/// The multi-byte fields of a block, in the order of their offsets. A field is as wide as ggml's code reads or writes
/// it (the sign words of IQ2_XXS and IQ3_XXS and the fifth bits of Q5_0 are 32 bits): what ggml makes on a big-endian
/// machine. Empty for types of bytes alone and for types that cannot be computed.
/// small: of a super-block of 64 elements (types that have none: empty).
[[nodiscard]] std::span<const BlockField> block_fields(uint32_t type, bool small = false);

/// Turns n_blocks blocks of the type from one byte order into the other, in place.
void swap_block_bytes(uint32_t type, uint8_t* blocks, size_t n_blocks, bool small = false);

}  // namespace ggufscope
