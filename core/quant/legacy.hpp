// Kernels of the block layouts of 2023 (legacy_types() in types/types.hpp). They are scalar: such files are inspected
// or converted, not run.
#pragma once

#include <optional>

#include "quant/registry.hpp"

namespace ggufscope {

[[nodiscard]] std::span<const QuantKernels> legacy_kernels();

/// Today's type with the same codes, and 16-bit scales where the old ones have 32 bits. Types with blocks of 16 (Q4_2,
/// Q4_3) and types that are not legacy types have none.
[[nodiscard]] std::optional<uint32_t> modern_type(uint32_t type);

/// n_blocks blocks of a legacy type as blocks of its modern_type.
void modernize(uint32_t type, const uint8_t* src, uint8_t* dst, size_t n_blocks);

}  // namespace ggufscope
