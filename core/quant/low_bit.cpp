// One and two bits an element under one binary16 scale.
//
//   Q1_0  d:f16 qs[16]  128 elements, lowest bit first: d or -d
//   Q2_0  d:f16 qs[16]   64 elements, lowest two bits first: d * (q - 1)
#include "quant/block.hpp"
#include "quant/kernels.hpp"

namespace ggufscope {

void reference_q1_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 128) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 128; ++j) dst[j] = ((src[2 + j / 8] >> (j % 8)) & 1) != 0 ? d : -d;
  }
}

void reference_q2_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 64) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 64; ++j) dst[j] = static_cast<float>(((src[2 + j / 4] >> (2 * (j % 4))) & 3) - 1) * d;
  }
}

}  // namespace ggufscope
