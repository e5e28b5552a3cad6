// The K-quants of builds of 2023 and early 2024 whose super-blocks had 64 elements (LLAMA_QKK_64). The type ids are the
// same, so only the sizes of the tensors show it.
#pragma once

#include "quant/registry.hpp"

namespace ggufscope {

struct SmallBlockKernels {
  uint32_t type;
  DequantizeFn dequantize;  ///< n_blocks blocks of small_block_bytes(type) bytes to 64 floats each
};

/// nullptr for types without such a variant.
[[nodiscard]] const SmallBlockKernels* find_small_block_kernels(uint32_t type);

}  // namespace ggufscope
