// The first types: blocks of 32 elements with a binary16 scale d. The value is d * q or d * q + m. Nibbles: element j
// is the low half and element j + 16 the high half of byte j. Fifth bits of Q5: bit j of a 32-bit word belongs to
// element j.
//
//   Q4_0  d:f16 qs[16]               d * (q - 8)
//   Q4_1  d:f16 m:f16 qs[16]         d * q + m
//   Q5_0  d:f16 qh:u32 qs[16]        d * (q - 16)
//   Q5_1  d:f16 m:f16 qh:u32 qs[16]  d * q + m
//   Q8_0  d:f16 qs[32] signed        d * q
//   Q8_1  d:f16 s:f16 qs[32] signed  d * q            (s = d * sum of q, for dot products)
#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {

void reference_q4_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 32) {
    const float d = load_f16(src);
    const uint8_t* qs = src + 2;
    for (size_t j = 0; j < 16; ++j) {
      dst[j] = static_cast<float>((qs[j] & 15) - 8) * d;
      dst[j + 16] = static_cast<float>((qs[j] >> 4) - 8) * d;
    }
  }
}

void reference_q4_1(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 20, dst += 32) {
    const float d = load_f16(src), m = load_f16(src + 2);
    const uint8_t* qs = src + 4;
    for (size_t j = 0; j < 16; ++j) {
      dst[j] = static_cast<float>(qs[j] & 15) * d + m;
      dst[j + 16] = static_cast<float>(qs[j] >> 4) * d + m;
    }
  }
}

void reference_q5_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 22, dst += 32) {
    const float d = load_f16(src);
    const uint32_t qh = load<uint32_t>(src + 2);
    const uint8_t* qs = src + 6;
    for (size_t j = 0; j < 16; ++j) {
      const int low = (qs[j] & 15) | static_cast<int>(((qh >> j) & 1u) << 4);
      const int high = (qs[j] >> 4) | static_cast<int>(((qh >> (j + 16)) & 1u) << 4);
      dst[j] = static_cast<float>(low - 16) * d;
      dst[j + 16] = static_cast<float>(high - 16) * d;
    }
  }
}

void reference_q5_1(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 24, dst += 32) {
    const float d = load_f16(src), m = load_f16(src + 2);
    const uint32_t qh = load<uint32_t>(src + 4);
    const uint8_t* qs = src + 8;
    for (size_t j = 0; j < 16; ++j) {
      const int low = (qs[j] & 15) | static_cast<int>(((qh >> j) & 1u) << 4);
      const int high = (qs[j] >> 4) | static_cast<int>(((qh >> (j + 16)) & 1u) << 4);
      dst[j] = static_cast<float>(low) * d + m;
      dst[j + 16] = static_cast<float>(high) * d + m;
    }
  }
}

void reference_q8_0(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 34, dst += 32) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 32; ++j) dst[j] = static_cast<float>(static_cast<int8_t>(src[2 + j])) * d;
  }
}

void reference_q8_1(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 36, dst += 32) {
    const float d = load_f16(src);
    for (size_t j = 0; j < 32; ++j) dst[j] = static_cast<float>(static_cast<int8_t>(src[4 + j])) * d;
  }
}

void dequantize_q4_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ByteFloats floats(8);
  for (size_t i = 0; i < n_blocks; ++i, src += 18, dst += 32) {
    const v128_t d = splat_f16(src), qs = wasm_v128_load(src + 2);
    floats.put_scaled(dst, nibbles.low(qs), d);
    floats.put_scaled(dst + 16, nibbles.high(qs), d);
  }
}

namespace {

/// d and m at the start of a block, prepared for OffsetFloats<128>.
struct ScaleOffset {
  v128_t scale, offset;
  explicit ScaleOffset(const uint8_t* block) {
    const float d = load_f16(block), m = load_f16(block + 2);
    scale = wasm_f32x4_splat(d);
    offset = wasm_f32x4_splat(128 * d - m);
  }
};

}  // namespace

/// Two blocks in each iteration without a branch between them are 10 % faster than one. (Q5_1 would need too many
/// registers and become a third slower.)
void dequantize_q4_1(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const OffsetFloats<128> floats;
  const auto put = [&](const uint8_t* block, float* out) {
    const ScaleOffset of(block);
    const v128_t qs = wasm_v128_load(block + 4);
    floats.put_scaled(out, nibbles.low(qs), of.scale, of.offset);
    floats.put_scaled(out + 16, nibbles.high(qs), of.scale, of.offset);
  };
  for (; n_blocks >= 2; n_blocks -= 2, src += 40, dst += 64) {
    if (adds_exactly(src) && adds_exactly(src + 20)) {
      put(src, dst);
      put(src + 20, dst + 32);
    } else {
      reference_q4_1(src, dst, 2);
    }
  }
  reference_q4_1(src, dst, n_blocks);
}

void dequantize_q5_0(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ByteFloats floats(16);
  const ByteMasks& masks = byte_masks();
  const v128_t sixteen = loop_constant(wasm_i8x16_splat(16));
  for (size_t i = 0; i < n_blocks; ++i, src += 22, dst += 32) {
    const v128_t d = splat_f16(src), qs = wasm_v128_load(src + 6);
    const uint32_t qh = load<uint32_t>(src + 2);
    floats.put_scaled(dst, wasm_v128_or(nibbles.low(qs), wasm_v128_and(sixteen, bits_to_bytes(masks, qh))), d);
    floats.put_scaled(dst + 16, wasm_v128_or(nibbles.high(qs), wasm_v128_and(sixteen, bits_to_bytes(masks, qh >> 16))),
                      d);
  }
}

void dequantize_q5_1(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const OffsetFloats<128> floats;
  const ByteMasks& masks = byte_masks();
  const v128_t sixteen = loop_constant(wasm_i8x16_splat(16));
  for (size_t i = 0; i < n_blocks; ++i, src += 24, dst += 32) {
    if (!adds_exactly(src)) {
      reference_q5_1(src, dst, 1);
      continue;
    }
    const ScaleOffset of(src);
    const v128_t qs = wasm_v128_load(src + 8);
    const uint32_t qh = load<uint32_t>(src + 4);
    const v128_t low = wasm_v128_and(sixteen, bits_to_bytes(masks, qh));
    const v128_t high = wasm_v128_and(sixteen, bits_to_bytes(masks, qh >> 16));
    floats.put_scaled(dst, wasm_v128_or(nibbles.low(qs), low), of.scale, of.offset);
    floats.put_scaled(dst + 16, wasm_v128_or(nibbles.high(qs), high), of.scale, of.offset);
  }
}

/// Converts signed bytes to floats with a scale that was a binary16. Two interleaves put each byte above three zero
/// bytes, which gives an integer 2^24 times as large with the right sign. The scale corrects the factor; a binary32
/// scale could underflow. It needs one step less than SignedByteFloats, and its steps use more execution units
/// (interleaves and subtractions share one), so it is 4 % faster.
struct LargeByteFloats {
  const v128_t zero = loop_constant(wasm_i32x4_splat(0));
  const v128_t small = loop_constant(wasm_f32x4_splat(0x1p-24f));

  /// The scale for put_scaled, from the binary16 at p.
  v128_t scale(const uint8_t* p) const { return wasm_f32x4_mul(splat_f16(p), small); }

  /// dst[0..16) = scale * q.
  void put_scaled(float* dst, v128_t q, v128_t scale) const {
    each_upper(zero, zero, q,
               [&](int k, v128_t large) { wasm_v128_store(dst + k, wasm_f32x4_mul(floats_of(large), scale)); });
  }
};

/// Blocks of a binary16 and, at their end, 32 signed bytes. Two blocks in each iteration are 5 to 10 % faster than one
/// while the data is in L1, and equally fast beyond it. Four blocks, with their scales converted together, are not
/// faster than two.
template <size_t kBytes>
inline void put_signed_blocks(const uint8_t* src, float* dst, size_t n_blocks) {
  const LargeByteFloats floats;
  const auto put = [&](const uint8_t* qs, float* out, v128_t d) {
    floats.put_scaled(out, wasm_v128_load(qs), d);
    floats.put_scaled(out + 16, wasm_v128_load(qs + 16), d);
  };
  for (; n_blocks >= 2; n_blocks -= 2, src += 2 * kBytes, dst += 64) {
    const v128_t first = floats.scale(src), second = floats.scale(src + kBytes);
    put(src + kBytes - 32, dst, first);
    put(src + 2 * kBytes - 32, dst + 32, second);
  }
  if (n_blocks != 0) put(src + kBytes - 32, dst, floats.scale(src));
}

void dequantize_q8_0(const uint8_t* src, float* dst, size_t n_blocks) { put_signed_blocks<34>(src, dst, n_blocks); }

void dequantize_q8_1(const uint8_t* src, float* dst, size_t n_blocks) { put_signed_blocks<36>(src, dst, n_blocks); }

}  // namespace ggufscope
