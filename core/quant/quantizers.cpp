// The table of quantizers, built from the rows of types.inc.
#include "quant/kernels.hpp"

namespace ggufscope {

Quantizer find_quantizer(uint32_t type) {
  switch (static_cast<TypeId>(type)) {
#define GGUFSCOPE_QUANTIZER_none(name) return {nullptr, false};
#define GGUFSCOPE_QUANTIZER_plain(name) return {quantize_##name, false};
#define GGUFSCOPE_QUANTIZER_weighted(name) return {quantize_##name, true};
#define GGUFSCOPE_QUANT(id, name, kernel, quantizer) \
  case TypeId::id:                                   \
    GGUFSCOPE_QUANTIZER_##quantizer(name)
#include "types/types.inc"
  }
  return {nullptr, false};
}

}  // namespace ggufscope
