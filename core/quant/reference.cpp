// The table of scalar reference kernels, which the SIMD kernels are tested against.
#include "quant/kernels.hpp"

namespace ggufscope {

DequantizeFn find_reference(uint32_t type) {
  switch (static_cast<TypeId>(type)) {
#define GGUFSCOPE_QUANT(id, name, kernel, quantizer) \
  case TypeId::id:                                   \
    return reference_##name;
#include "types/types.inc"
  }
  return nullptr;
}

}  // namespace ggufscope
