// Finds blocks that llama.cpp refuses with --check-tensors (ggml_validate_row_data): floats, scales and minimums that
// are NaN or infinite. A float64 counts as infinite if it does not fit a float. The exponent of MXFP4 is NaN if it is
// 0xff. The scales of NVFP4 and integers are always valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class BlockFlaw : uint8_t {
  kNone,
  kNan,
  kInfinity,
  kRefused,  ///< Q8_1: files should not contain it, and every block of it is refused
};

struct InvalidBlocks {
  uint64_t count = 0;
  uint64_t first = 0;  ///< index of the first invalid block
  BlockFlaw flaw = BlockFlaw::kNone;
};

/// Checks n_blocks blocks in the file's byte order. Finds none in a type that ggml does not have. small: super-blocks
/// of 64 elements.
[[nodiscard]] InvalidBlocks find_invalid_blocks(uint32_t type, const uint8_t* blocks, size_t n_blocks,
                                                bool big_endian = false, bool small = false);

}  // namespace ggufscope
