// Declares every kernel from the rows of types.inc: reference_NAME, dequantize_NAME, quantize_NAME. Each family of
// types defines its own.
#pragma once

#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope {

#define GGUFSCOPE_QUANT(id, name, kernel, quantizer)                       \
  void reference_##name(const uint8_t* src, float* dst, size_t n_blocks);  \
  void dequantize_##name(const uint8_t* src, float* dst, size_t n_blocks); \
  void quantize_##name(const float* src, uint8_t* dst, size_t n_blocks, const float* importance, size_t row_blocks);
#include "types/types.inc"

}  // namespace ggufscope
