// The table of kernels, built from the rows of types.inc.
#include "quant/registry.hpp"

#include "quant/kernels.hpp"
#include "quant/legacy.hpp"

namespace ggufscope {
namespace {

#define GGUFSCOPE_KERNEL_simd(name) dequantize_##name
#define GGUFSCOPE_KERNEL_scalar(name) reference_##name
constexpr QuantKernels kKernels[] = {
#define GGUFSCOPE_QUANT(id, name, kernel, quantizer) \
  {static_cast<uint32_t>(TypeId::id), GGUFSCOPE_KERNEL_##kernel(name)},
#include "types/types.inc"
};

}  // namespace

std::span<const QuantKernels> all_kernels() { return kKernels; }

const QuantKernels* find_kernels(uint32_t type) {
  for (const std::span<const QuantKernels> table : {all_kernels(), legacy_kernels()})
    for (const QuantKernels& kernels : table)
      if (kernels.type == type) return &kernels;
  return nullptr;
}

}  // namespace ggufscope
