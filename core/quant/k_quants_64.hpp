// K-quants with super-blocks of 64 elements, from builds of 2023 and early 2024 (LLAMA_QKK_64). The type ids are the
// same, so only the tensors' sizes reveal them.
#pragma once

#include "quant/registry.hpp"

namespace ggufscope {

struct SmallBlockKernels {
  uint32_t type;
  DequantizeFn dequantize;  ///< converts n_blocks blocks of small_block_bytes(type) bytes to 64 floats each
};

/// nullptr for types without this variant.
[[nodiscard]] const SmallBlockKernels* find_small_block_kernels(uint32_t type);

}  // namespace ggufscope
