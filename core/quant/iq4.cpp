// IQ4: nibbles index a codebook of 16 non-uniform values (kIq4Values). Element j is the low half and element j + 16 the
// high half of byte j.
//
//   IQ4_NL  d:f16 qs[16]                              blocks of 32: d * codebook[q]
//   IQ4_XS  d:f16 scales_h:u16 scales_l[4] qs[128]    8 x 32: d * (scale - 32) * codebook[q]; scale j: nibble j of
//                                                     scales_l below bits 2j of scales_h
#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {
namespace {

void put_32(float* dst, float scale, const uint8_t* qs) {
  for (size_t j = 0; j < 16; ++j) {
    dst[j] = scale * static_cast<float>(kIq4Values[qs[j] & 15]);
    dst[j + 16] = scale * static_cast<float>(kIq4Values[qs[j] >> 4]);
  }
}

}  // namespace

void reference_iq4_nl(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 32) put_32(dst, load_f16(src), src + 2);
}

void reference_iq4_xs(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 136) {
    const float d = load_f16(src);
    const uint32_t high = load<uint16_t>(src + 2);
    for (size_t j = 0; j < 8; ++j, dst += 32) {
      const int low = (src[4 + j / 2] >> (4 * (j % 2))) & 15;
      const int scale = low | static_cast<int>((high >> (2 * j)) & 3u) << 4;
      put_32(dst, d * static_cast<float>(scale - 32), src + 8 + 16 * j);
    }
  }
}

namespace {

struct CodebookLanes {
  const Nibbles nibbles;
  const TableFloats values{kIq4Values};

  void put_32(float* dst, float scale, const uint8_t* qs) const {
    const v128_t bytes = wasm_v128_load(qs), d = wasm_f32x4_splat(scale);
    values.put_scaled(dst, nibbles.low(bytes), d);
    values.put_scaled(dst + 16, nibbles.high(bytes), d);
  }
};

}  // namespace

void dequantize_iq4_nl(const uint8_t* src, float* dst, size_t n_blocks) {
  const CodebookLanes codebook;
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 32) codebook.put_32(dst, load_f16(src), src + 2);
}

void dequantize_iq4_xs(const uint8_t* src, float* dst, size_t n_blocks) {
  const CodebookLanes codebook;
  for (size_t i = 0; i < n_blocks; ++i, src += 136) {
    const float d = load_f16(src);
    const uint32_t high = load<uint16_t>(src + 2), low = load<uint32_t>(src + 4);
    for (uint32_t j = 0; j < 8; ++j, dst += 32) {
      const uint32_t scale = (low >> (4 * j) & 15u) | (high >> (2 * j) & 3u) << 4;
      codebook.put_32(dst, d * static_cast<float>(static_cast<int>(scale) - 32), src + 8 + 16 * j);
    }
  }
}

}  // namespace ggufscope
