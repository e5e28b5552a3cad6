// Four-bit floats (E2M1) with small float scales. Low halves first, then high halves, of each scaled group.
//
//   MXFP4  e:E8M0 qs[16]          32 elements: 2^(e - 127) * E2M1
//   NVFP4  scales[4]:UE4M3 qs[32] 4 x 16 elements, eight bytes each: scale * E2M1
#include "quant/block.hpp"
#include "quant/kernels.hpp"

namespace ggufscope {
namespace {

void put_e2m1(float* dst, float half_scale, const uint8_t* qs, size_t n_bytes) {
  for (size_t j = 0; j < n_bytes; ++j) {
    dst[j] = static_cast<float>(kE2m1Doubled[qs[j] & 15]) * half_scale;
    dst[j + n_bytes] = static_cast<float>(kE2m1Doubled[qs[j] >> 4]) * half_scale;
  }
}

}  // namespace

void reference_mxfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 17, dst += 32) put_e2m1(dst, half_e8m0(src[0]), src + 1, 16);
}

void reference_nvfp4(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 36)
    for (size_t s = 0; s < 4; ++s, dst += 16) put_e2m1(dst, half_ue4m3(src[s]), src + 4 + 8 * s, 8);
}

}  // namespace ggufscope
