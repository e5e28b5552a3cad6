// K-quants: super-blocks of 256 elements with a binary16 scale d (and dmin, the scale of the minimums) and small
// integer scales.
//
//   Q2_K  scales[16] qs[64] d:f16 dmin:f16         16 x 16: d * (scale & 15) * q - dmin * (scale >> 4)
//   Q3_K  hmask[32] qs[64] scales[12] d:f16        16 x 16: d * (scale - 32) * (q - 4), scales of 6 bits
//   Q4_K  d:f16 dmin:f16 scales[12] qs[128]         8 x 32: d * scale * q - dmin * min, see scale_min_k4
//   Q5_K  d:f16 dmin:f16 scales[12] qh[32] qs[128]  8 x 32: the same; the fifth bit of sub-block j is bit j of qh
//   Q6_K  ql[128] qh[64] scales[16]:i8 d:f16       16 x 16: d * scale * (q - 32)
//   Q8_K  d:f32 qs[256]:i8 bsums[16]:i16           d * q             (bsums: for dot products)
//
// 2-bit fields of Q2_K and Q3_K: in each 128 elements, the j-th 32 are bits 2j of 32 bytes. Nibbles of Q4_K and Q5_K:
// in each 64 elements, the first 32 are the low halves of 32 bytes and the others the high halves.
#include "quant/block.hpp"
#include "quant/kernels.hpp"
#include "quant/lanes.hpp"

namespace ggufscope {

void reference_q2_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 84, dst += kSuperBlock) {
    const float d = load_f16(src + 80), dmin = load_f16(src + 82);
    for (size_t j = 0; j < 16; ++j) {
      const float scale = d * static_cast<float>(src[j] & 15), min = dmin * static_cast<float>(src[j] >> 4);
      const uint8_t* qs = src + 16 + 32 * (j / 8) + 16 * (j % 2);
      const size_t shift = 2 * (j / 2 % 4);
      for (size_t l = 0; l < 16; ++l) dst[16 * j + l] = scale * static_cast<float>((qs[l] >> shift) & 3) - min;
    }
  }
}

void reference_q3_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 110, dst += kSuperBlock) {
    const float d = load_f16(src + 108);
    const uint8_t* packed = src + 96;
    for (size_t j = 0; j < 16; ++j) {
      // The low four bits are a nibble of bytes 0..7. The high two are bits 2 * (j / 4) of bytes 8..11.
      const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
      const int high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      const uint8_t* qs = src + 32 + 32 * (j / 8) + 16 * (j % 2);
      const uint8_t* hmask = src + 16 * (j % 2);
      const size_t shift = 2 * (j / 2 % 4);
      for (size_t l = 0; l < 16; ++l) {
        const int q = ((qs[l] >> shift) & 3) - (((hmask[l] >> (j / 2)) & 1) != 0 ? 0 : 4);
        dst[16 * j + l] = scale * static_cast<float>(q);
      }
    }
  }
}

void reference_q4_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 144, dst += kSuperBlock) {
    const float d = load_f16(src), dmin = load_f16(src + 2);
    for (size_t j = 0; j < 8; ++j) {
      const ScaleMin sm = scale_min_k4(j, src + 4);
      const float scale = d * static_cast<float>(sm.scale), min = dmin * static_cast<float>(sm.min);
      const uint8_t* qs = src + 16 + 32 * (j / 2);
      const size_t shift = 4 * (j % 2);
      for (size_t l = 0; l < 32; ++l) dst[32 * j + l] = scale * static_cast<float>((qs[l] >> shift) & 15) - min;
    }
  }
}

void reference_q5_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 176, dst += kSuperBlock) {
    const float d = load_f16(src), dmin = load_f16(src + 2);
    const uint8_t* qh = src + 16;
    for (size_t j = 0; j < 8; ++j) {
      const ScaleMin sm = scale_min_k4(j, src + 4);
      const float scale = d * static_cast<float>(sm.scale), min = dmin * static_cast<float>(sm.min);
      const uint8_t* qs = src + 48 + 32 * (j / 2);
      const size_t shift = 4 * (j % 2);
      for (size_t l = 0; l < 32; ++l) {
        const int q = ((qs[l] >> shift) & 15) + ((qh[l] >> j) & 1) * 16;
        dst[32 * j + l] = scale * static_cast<float>(q) - min;
      }
    }
  }
}

void reference_q6_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 210, dst += kSuperBlock) {
    const float d = load_f16(src + 208);
    const int8_t* scales = reinterpret_cast<const int8_t*>(src + 192);
    // In each 128 elements, quarter k has nibble k / 2 of 32 bytes (the second 32 if k is odd) and two more bits at 2k
    // of qh.
    for (size_t j = 0; j < 16; ++j) {
      const size_t half = j / 8, quarter = j / 2 % 4, at = 16 * (j % 2);
      const uint8_t* ql = src + 64 * half + 32 * (quarter % 2) + at;
      const uint8_t* qh = src + 128 + 32 * half + at;
      const float scale = d * static_cast<float>(scales[j]);
      for (size_t l = 0; l < 16; ++l) {
        const int q = ((ql[l] >> (4 * (quarter / 2))) & 15) | ((qh[l] >> (2 * quarter)) & 3) << 4;
        dst[16 * j + l] = scale * static_cast<float>(q - 32);
      }
    }
  }
}

void reference_q8_k(const uint8_t* src, float* dst, size_t n_blocks) {
  for (size_t i = 0; i < n_blocks; ++i, src += 292, dst += kSuperBlock) {
    const float d = load<float>(src);
    for (size_t j = 0; j < kSuperBlock; ++j) dst[j] = d * static_cast<float>(static_cast<int8_t>(src[4 + j]));
  }
}

namespace {

/// The scales and minimums of a Q4_K or Q5_K super-block, multiplied by d and dmin and prepared for OffsetFloats<32>.
struct K4Scales {
  alignas(16) float scales[8], offsets[8];
};

/// Unpacks d, dmin and the twelve bytes after them; see scale_min_k4.
struct K4Unpacker {
  const v128_t six_bits = loop_constant(wasm_i8x16_splat(0x3f)), four_bits = loop_constant(wasm_i8x16_splat(0x0f));
  const v128_t upper_bits = loop_constant(wasm_i8x16_splat(0x30)), zero = loop_constant(wasm_i32x4_splat(0));

  void unpack(const uint8_t* block, K4Scales& result) const {
    // 32-bit lanes: scales 0..3 with bits 4..5 of scales 4..7; the same for minimums; the low nibbles of both for 4..7.
    const v128_t all = wasm_v128_load(block + 4);
    const v128_t rest = wasm_i32x4_shuffle(all, wasm_u16x8_shr(all, 4), 2, 6, 2, 6);
    const v128_t upper =
        wasm_v128_or(wasm_v128_and(rest, four_bits), wasm_v128_and(wasm_u16x8_shr(all, 2), upper_bits));
    const v128_t bytes = wasm_i32x4_shuffle(wasm_v128_and(all, six_bits), upper, 0, 4, 1, 5);
    // A byte above three zero bytes is an integer 2^24 times as large.
    v128_t numbers[4];
    each_upper(zero, zero, bytes, [&](int k, v128_t v) { numbers[k / 4] = floats_of(v); });
    const float d = load_f16(block), dmin = load_f16(block + 2);
    const v128_t d4 = wasm_f32x4_splat(d * 0x1p-24f), first = wasm_f32x4_splat(d * 0x1p-19f);
    const v128_t dmin4 = wasm_f32x4_splat(dmin * 0x1p-24f);
    for (size_t k = 0; k < 2; ++k) {
      wasm_v128_store(result.scales + 4 * k, wasm_f32x4_mul(numbers[k], d4));
      wasm_v128_store(result.offsets + 4 * k,
                      wasm_f32x4_add(wasm_f32x4_mul(numbers[k + 2], dmin4), wasm_f32x4_mul(numbers[k], first)));
    }
  }
};

}  // namespace

void dequantize_q2_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const OffsetFloats<128> floats;
  const v128_t three = loop_constant(wasm_i8x16_splat(3));
  alignas(16) float scales[16], mins[16];
  for (size_t i = 0; i < n_blocks; ++i, src += 84) {
    if (!adds_exactly(src + 80)) {
      reference_q2_k(src, dst, 1);
      dst += kSuperBlock;
      continue;
    }
    const v128_t packed = wasm_v128_load(src);
    put_scaled(scales, nibbles.low(packed), splat_f16(src + 80));
    put_scaled(mins, nibbles.high(packed), splat_f16(src + 82));
    for (size_t j = 0; j < 16; ++j) mins[j] += 128 * scales[j];
    for (size_t half = 0; half < 2; ++half) {
      v128_t a = wasm_v128_load(src + 16 + 32 * half), b = wasm_v128_load(src + 32 + 32 * half);
      for (size_t j = 8 * half; j < 8 * half + 8; j += 2, dst += 32) {
        floats.put_scaled(dst, wasm_v128_and(a, three), wasm_v128_load32_splat(scales + j),
                          wasm_v128_load32_splat(mins + j));
        floats.put_scaled(dst + 16, wasm_v128_and(b, three), wasm_v128_load32_splat(scales + j + 1),
                          wasm_v128_load32_splat(mins + j + 1));
        a = wasm_u16x8_shr(a, 2);
        b = wasm_u16x8_shr(b, 2);
      }
    }
  }
}

void dequantize_q3_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const ByteFloats floats(4);
  const v128_t three = loop_constant(wasm_i8x16_splat(3)), four = loop_constant(wasm_i8x16_splat(4));
  const v128_t scale_offset = loop_constant(wasm_i8x16_splat(32));
  alignas(16) float scales[16];
  for (size_t i = 0; i < n_blocks; ++i, src += 110) {
    const uint32_t low = load<uint32_t>(src + 96), mid = load<uint32_t>(src + 100), high = load<uint32_t>(src + 104);
    const auto pack = [&](uint32_t nibbles, uint32_t shift) {
      return static_cast<int32_t>((nibbles & 0x0f0f0f0fu) | ((high >> shift) & 0x03030303u) << 4);
    };
    const v128_t packed = wasm_i32x4_make(pack(low, 0), pack(mid, 2), pack(low >> 4, 4), pack(mid >> 4, 6));
    put_scaled(scales, wasm_i8x16_sub(packed, scale_offset), splat_f16(src + 108));
    // The third bit is bit 2 of the mask, which is shifted in each step.
    v128_t ha = wasm_v128_load(src), hb = wasm_v128_load(src + 16);
    for (size_t half = 0; half < 2; ++half) {
      v128_t a = wasm_v128_load(src + 32 + 32 * half), b = wasm_v128_load(src + 48 + 32 * half);
      for (size_t j = 8 * half; j < 8 * half + 8; j += 2, dst += 32) {
        const v128_t third_a = wasm_v128_and(wasm_i16x8_shl(ha, 2), four);
        const v128_t third_b = wasm_v128_and(wasm_i16x8_shl(hb, 2), four);
        floats.put_scaled(dst, wasm_v128_or(wasm_v128_and(a, three), third_a), wasm_v128_load32_splat(scales + j));
        floats.put_scaled(dst + 16, wasm_v128_or(wasm_v128_and(b, three), third_b),
                          wasm_v128_load32_splat(scales + j + 1));
        a = wasm_u16x8_shr(a, 2);
        b = wasm_u16x8_shr(b, 2);
        ha = wasm_u16x8_shr(ha, 1);
        hb = wasm_u16x8_shr(hb, 1);
      }
    }
  }
}

namespace {

/// Nibbles times four; see OffsetFloats<32>.
struct QuadrupleNibbles {
  const v128_t mask = loop_constant(wasm_i8x16_splat(0x3c));
  v128_t low(v128_t bytes) const { return wasm_v128_and(wasm_i16x8_shl(bytes, 2), mask); }
  v128_t high(v128_t bytes) const { return wasm_v128_and(wasm_u16x8_shr(bytes, 2), mask); }
};

/// Super-blocks of Q4_K or Q5_K. put(block, dst, scales) writes one. Scales are unpacked one super-block ahead, because
/// waiting for them took 4 % of the time.
template <size_t kBytes, class Put>
inline void put_k4_blocks(const uint8_t* src, float* dst, size_t n_blocks, DequantizeFn reference, Put put) {
  const K4Unpacker unpacker;
  K4Scales scales[2];
  if (n_blocks != 0) unpacker.unpack(src, scales[0]);
  for (size_t i = 0; i < n_blocks; ++i, src += kBytes, dst += kSuperBlock) {
    if (i + 1 < n_blocks) unpacker.unpack(src + kBytes, scales[(i + 1) % 2]);
    if (adds_exactly(src))
      put(src, dst, scales[i % 2]);
    else
      reference(src, dst, 1);
  }
}

}  // namespace

void dequantize_q4_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const QuadrupleNibbles nibbles;
  const OffsetFloats<32> floats;
  put_k4_blocks<144>(src, dst, n_blocks, reference_q4_k, [&](const uint8_t* block, float* out, const K4Scales& of) {
    for (size_t j = 0; j < 8; j += 2, out += 64) {
      const v128_t a = wasm_v128_load(block + 16 + 16 * j), b = wasm_v128_load(block + 32 + 16 * j);
      const v128_t d0 = wasm_v128_load32_splat(of.scales + j), m0 = wasm_v128_load32_splat(of.offsets + j);
      const v128_t d1 = wasm_v128_load32_splat(of.scales + j + 1), m1 = wasm_v128_load32_splat(of.offsets + j + 1);
      floats.put_scaled(out, nibbles.low(a), d0, m0);
      floats.put_scaled(out + 16, nibbles.low(b), d0, m0);
      floats.put_scaled(out + 32, nibbles.high(a), d1, m1);
      floats.put_scaled(out + 48, nibbles.high(b), d1, m1);
    }
  });
}

void dequantize_q5_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const QuadrupleNibbles nibbles;
  const OffsetFloats<32> floats;
  const v128_t fifth_bit = loop_constant(wasm_i8x16_splat(0x40));
  put_k4_blocks<176>(src, dst, n_blocks, reference_q5_k, [&](const uint8_t* block, float* out, const K4Scales& of) {
    v128_t ha = wasm_v128_load(block + 16), hb = wasm_v128_load(block + 32);
    const auto fifth = [&](v128_t h, uint32_t shift) { return wasm_v128_and(wasm_i16x8_shl(h, shift), fifth_bit); };
    for (size_t j = 0; j < 8; j += 2, out += 64) {
      const v128_t a = wasm_v128_load(block + 48 + 16 * j), b = wasm_v128_load(block + 64 + 16 * j);
      const v128_t d0 = wasm_v128_load32_splat(of.scales + j), m0 = wasm_v128_load32_splat(of.offsets + j);
      const v128_t d1 = wasm_v128_load32_splat(of.scales + j + 1), m1 = wasm_v128_load32_splat(of.offsets + j + 1);
      floats.put_scaled(out, wasm_v128_or(nibbles.low(a), fifth(ha, 6)), d0, m0);
      floats.put_scaled(out + 16, wasm_v128_or(nibbles.low(b), fifth(hb, 6)), d0, m0);
      floats.put_scaled(out + 32, wasm_v128_or(nibbles.high(a), fifth(ha, 5)), d1, m1);
      floats.put_scaled(out + 48, wasm_v128_or(nibbles.high(b), fifth(hb, 5)), d1, m1);
      ha = wasm_u16x8_shr(ha, 2);
      hb = wasm_u16x8_shr(hb, 2);
    }
  });
}

namespace {

/// Converts two-byte numbers to floats, as ByteFloats does with bytes.
struct WordFloats {
  const v128_t upper = loop_constant(wasm_i16x8_splat(0x4b00));
  const v128_t bias;

  /// zero: the number that represents 0.
  explicit WordFloats(int zero) : bias(loop_constant(wasm_f32x4_splat(0x1p23f + static_cast<float>(zero)))) {}

  /// dst[0..16) = scale * (256 * high + low - zero).
  void put_scaled(float* dst, v128_t low, v128_t high, v128_t scale) const {
    each_lower(low, high, upper,
               [&](int k, v128_t v) { wasm_v128_store(dst + k, wasm_f32x4_mul(wasm_f32x4_sub(v, bias), scale)); });
  }
};

}  // namespace

/// A nibble in the upper half of one byte and the two bits above it in another give 16 * q in the fewest steps.
void dequantize_q6_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const WordFloats floats(16 * 32);
  const v128_t nibble = loop_constant(wasm_i8x16_splat(-16)), pair = loop_constant(wasm_i8x16_splat(3));
  alignas(16) float scales[16];
  for (size_t i = 0; i < n_blocks; ++i, src += 210, dst += kSuperBlock) {
    put_scaled(scales, wasm_v128_load(src + 192), wasm_f32x4_splat(load_f16(src + 208) * 0.0625f));
    for (size_t part = 0; part < 4; ++part) {
      const size_t half = part / 2, at = 16 * (part % 2);
      const v128_t a = wasm_v128_load(src + 64 * half + at), b = wasm_v128_load(src + 64 * half + at + 32);
      const v128_t h = wasm_v128_load(src + 128 + 32 * half + at);
      const auto put = [&](size_t quarter, v128_t low, v128_t high) {
        floats.put_scaled(dst + 128 * half + 32 * quarter + at, wasm_v128_and(low, nibble), wasm_v128_and(high, pair),
                          wasm_v128_load32_splat(scales + 8 * half + 2 * quarter + part % 2));
      };
      put(0, wasm_i16x8_shl(a, 4), h);
      put(1, wasm_i16x8_shl(b, 4), wasm_u16x8_shr(h, 2));
      put(2, a, wasm_u16x8_shr(h, 4));
      put(3, b, wasm_u16x8_shr(h, 6));
    }
  }
}

void dequantize_q8_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const SignedByteFloats floats;
  for (size_t i = 0; i < n_blocks; ++i, src += 292) {
    const v128_t d = wasm_v128_load32_splat(src);
    for (size_t j = 0; j < kSuperBlock; j += 16, dst += 16) floats.put_scaled(dst, wasm_v128_load(src + 4 + j), d);
  }
}

}  // namespace ggufscope
