// The K-quants of builds of 2023 and early 2024 whose super-blocks had 64 elements (LLAMA_QKK_64). Files say nothing of
// it: the type ids are the same, only the sizes of the tensors tell.
#pragma once

#include "quant/registry.hpp"

namespace ggufscope {

struct SmallBlockKernels {
  uint32_t type;
  uint32_t block_bytes;  ///< of 64 elements
  DequantizeFn dequantize;
};

/// nullptr for types without such a variant.
[[nodiscard]] const SmallBlockKernels* find_small_block_kernels(uint32_t type);

}  // namespace ggufscope
