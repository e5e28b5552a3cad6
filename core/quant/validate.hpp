// Blocks that llama.cpp refuses with --check-tensors (ggml_validate_row_data): floats,
// scales and minimums that are NaN or infinite. A float64 is infinite where it does not fit a float, the exponent of
// MXFP4 is NaN where it is 0xff; the scales of NVFP4 and integers are always right.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class BlockFlaw : uint8_t {
  kNone,
  kNan,
  kInfinity,
  kRefused,  ///< Q8_1: no file should hold it, and every block of it is refused
};

struct InvalidBlocks {
  uint64_t count = 0;
  uint64_t first = 0;  ///< index of the first one
  BlockFlaw flaw = BlockFlaw::kNone;
};

/// Among n_blocks blocks, in the byte order of the file. None of a type that ggml does not know.
/// small: super-blocks of 64 elements.
[[nodiscard]] InvalidBlocks find_invalid_blocks(uint32_t type, const uint8_t* blocks, size_t n_blocks,
                                                bool big_endian = false, bool small = false);

}  // namespace ggufscope
