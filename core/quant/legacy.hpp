// Kernels of the block layouts of 2023 (legacy_types() in types/types.hpp). They are scalar: such files are looked at,
// not run.
#pragma once

#include <optional>

#include "quant/registry.hpp"

namespace ggufscope {

[[nodiscard]] std::span<const QuantKernels> legacy_kernels();

/// The type of today with the same quants, and scales of 16 bits where the old ones have 32. Types of blocks of 16
/// (Q4_2, Q4_3) and all that are no legacy types have none.
[[nodiscard]] std::optional<uint32_t> modern_type(uint32_t type);

/// n_blocks blocks of a legacy type as blocks of its modern_type.
void modernize(uint32_t type, const uint8_t* src, uint8_t* dst, size_t n_blocks);

}  // namespace ggufscope
