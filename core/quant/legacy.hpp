// Kernels of the block layouts of 2023 (legacy_types() in types/types.hpp). They are scalar, because such files are
// only inspected or converted, not run.
#pragma once

#include <optional>

#include "quant/registry.hpp"

namespace ggufscope {

[[nodiscard]] std::span<const QuantKernels> legacy_kernels();

/// Today's type with the same quantized values; f32 scales become f16. Nothing for types with blocks of 16 (Q4_2, Q4_3)
/// and for types that are not legacy types.
[[nodiscard]] std::optional<uint32_t> modern_type(uint32_t type);

/// Converts n_blocks blocks of a legacy type to blocks of its modern_type.
void modernize(uint32_t type, const uint8_t* src, uint8_t* dst, size_t n_blocks);

}  // namespace ggufscope
