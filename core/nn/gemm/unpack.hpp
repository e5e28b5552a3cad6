// The unpack functions of the formats (formats.hpp): one for each type or for several types with the same block.
#pragma once

#include "nn/gemm/format.hpp"

namespace ggufscope {

#define GGUFSCOPE_PACKED(type, super, bits, half_scales, sub, correction, offset, table, code_type, unpack) \
  UnpackFn unpack_##unpack;
#include "types/types.inc"

}  // namespace ggufscope
