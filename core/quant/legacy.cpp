// Block layouts from before 2023-05-19. Scales d and minimums m are f32 or f16. Nibbles are paired in V1 (elements 2j
// and 2j + 1 in byte j) or split as today in V2 (j and j + 16). Fifth bits: bit i of a 32-bit word belongs to element
// i.
//
//   Q4_0_V1, _V2  d:f32 qs[16]               d * (q - 8)
//   Q4_1_V1, _V2  d:f32 m:f32 qs[16]         d * q + m
//   Q4_2_V1       d:f16 qs[8]                d * (q - 8)
//   Q4_3_V1       d:f16 m:f16 qs[8]          d * q + m
//   Q5_0_V1       d:f16 qh:u32 qs[16]        d * (q - 16)
//   Q5_1_V1       d:f16 m:f16 qh:u32 qs[16]  d * q + m
//   Q8_0_V1       d:f32 qs[32] signed        d * q
#include "quant/legacy.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/half.hpp"
#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

struct Layout {
  size_t elements;
  bool wide;  // scale and minimum are f32
  bool minimum;
  bool fifth_bits;
  bool split;  // byte j holds elements j and j + 16, not neighbours
};

template <Layout kLayout>
void dequantize(const uint8_t* src, float* dst, size_t n_blocks) {
  constexpr size_t kScale = kLayout.wide ? 4 : 2;
  constexpr size_t kHigh = kScale * (kLayout.minimum ? 2 : 1);
  constexpr size_t kLow = kHigh + (kLayout.fifth_bits ? 4 : 0);
  constexpr int kMiddle = kLayout.minimum ? 0 : kLayout.fifth_bits ? 16 : 8;
  const auto scale = [](const uint8_t* p) { return kLayout.wide ? load<float>(p) : load_f16(p); };
  for (size_t i = 0; i < n_blocks; ++i, src += kLow + kLayout.elements / 2, dst += kLayout.elements) {
    const float d = scale(src);
    const float m = kLayout.minimum ? scale(src + kScale) : 0.0f;
    const uint32_t high = kLayout.fifth_bits ? load<uint32_t>(src + kHigh) : 0;
    for (size_t k = 0; k < kLayout.elements; ++k) {
      const size_t half = kLayout.elements / 2;
      const uint8_t byte = src[kLow + (kLayout.split ? k % half : k / 2)];
      const bool upper = kLayout.split ? k >= half : k % 2 == 1;
      const int q = (upper ? byte >> 4 : byte & 15) | static_cast<int>((high >> k & 1u) << 4);
      const float value = static_cast<float>(q - kMiddle) * d;
      dst[k] = kLayout.minimum ? value + m : value;
    }
  }
}

void dequantize_q8_0_v1(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 36, dst += 32) {
    const float d = load<float>(src);
    for (size_t k = 0; k < 32; ++k) dst[k] = static_cast<float>(static_cast<int8_t>(src[4 + k])) * d;
  }
}

/// Converts to today's layout: f16 scales and split nibbles; fifth bits are unchanged.
template <Layout kLayout>
void modernize_block(const uint8_t* src, uint8_t* dst) {
  constexpr size_t kNumbers = kLayout.minimum ? 2 : 1;
  for (size_t i = 0; i < kNumbers; ++i, dst += 2) {
    if constexpr (kLayout.wide) {
      store(dst, f32_to_f16(load<float>(src)));
      src += 4;
    } else {
      std::memcpy(dst, src, 2);
      src += 2;
    }
  }
  if constexpr (kLayout.fifth_bits) {
    std::memcpy(dst, src, 4);
    src += 4;
    dst += 4;
  }
  if constexpr (kLayout.split) {
    std::memcpy(dst, src, 16);
    return;
  }
  const auto quant = [&](size_t k) { return k % 2 == 0 ? src[k / 2] & 15 : src[k / 2] >> 4; };
  for (size_t k = 0; k < 16; ++k) dst[k] = static_cast<uint8_t>(quant(k) | quant(k + 16) << 4);
}

void modernize_q8_0_v1(const uint8_t* src, uint8_t* dst) {
  store(dst, f32_to_f16(load<float>(src)));
  std::memcpy(dst + 2, src + 4, 32);
}

struct Modern {
  uint32_t type;
  TypeId today;
  void (*block)(const uint8_t*, uint8_t*);
};

constexpr Modern kModern[] = {
    {1002, TypeId::kQ4_0, modernize_block<Layout{32, true, false, false, false}>},
    {1003, TypeId::kQ4_1, modernize_block<Layout{32, true, true, false, false}>},
    {1006, TypeId::kQ5_0, modernize_block<Layout{32, false, false, true, false}>},
    {1007, TypeId::kQ5_1, modernize_block<Layout{32, false, true, true, false}>},
    {1008, TypeId::kQ8_0, modernize_q8_0_v1},
    {2002, TypeId::kQ4_0, modernize_block<Layout{32, true, false, false, true}>},
    {2003, TypeId::kQ4_1, modernize_block<Layout{32, true, true, false, true}>},
};

const Modern* find_modern(uint32_t type) {
  const auto* at =
      std::find_if(std::begin(kModern), std::end(kModern), [&](const Modern& m) { return m.type == type; });
  return at == std::end(kModern) ? nullptr : at;
}

constexpr QuantKernels kLegacyKernels[] = {
    {1002, dequantize<Layout{32, true, false, false, false}>},
    {1003, dequantize<Layout{32, true, true, false, false}>},
    {1004, dequantize<Layout{16, false, false, false, false}>},
    {1005, dequantize<Layout{16, false, true, false, false}>},
    {1006, dequantize<Layout{32, false, false, true, false}>},
    {1007, dequantize<Layout{32, false, true, true, false}>},
    {1008, dequantize_q8_0_v1},
    {2002, dequantize<Layout{32, true, false, false, true}>},
    {2003, dequantize<Layout{32, true, true, false, true}>},
};

}  // namespace

std::span<const QuantKernels> legacy_kernels() { return kLegacyKernels; }

std::optional<uint32_t> modern_type(uint32_t type) {
  const Modern* row = find_modern(type);
  return row == nullptr ? std::nullopt : std::optional(static_cast<uint32_t>(row->today));
}

void modernize(uint32_t type, const uint8_t* src, uint8_t* dst, size_t n_blocks) {
  const Modern* row = find_modern(type);
  if (row == nullptr) return;
  const size_t from = find_type(type)->block_bytes, to = find_type(static_cast<uint32_t>(row->today))->block_bytes;
  for (size_t i = 0; i < n_blocks; ++i) row->block(src + i * from, dst + i * to);
}

}  // namespace ggufscope
