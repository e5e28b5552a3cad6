// Kernels of the block layouts of 2023 (legacy_types() in types/types.hpp). They are scalar: such files are looked at,
// not run.
#pragma once

#include "quant/registry.hpp"

namespace ggufscope {

[[nodiscard]] std::span<const QuantKernels> legacy_kernels();

}  // namespace ggufscope
