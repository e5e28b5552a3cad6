// K-quants: super-blocks of 256 with a binary16 scale d (and scale of minima dmin), and small integer scales.
//
//   Q2_K  scales[16] qs[64] d:f16 dmin:f16         16 x 16: d * (scale & 15) * q - dmin * (scale >> 4)
//   Q3_K  hmask[32] qs[64] scales[12] d:f16        16 x 16: d * (scale - 32) * (q - 4), scales of 6 bits
//   Q4_K  d:f16 dmin:f16 scales[12] qs[128]         8 x 32: d * scale * q - dmin * min, see scale_min_k4
//   Q5_K  d:f16 dmin:f16 scales[12] qh[32] qs[128]  8 x 32: the same, fifth bit of sub-block j in bit j of qh
//   Q6_K  ql[128] qh[64] scales[16]:i8 d:f16       16 x 16: d * scale * (q - 32)
//   Q8_K  d:f32 qs[256]:i8 bsums[16]:i16           d * q             (bsums: for dot products)
//
// The 2-bit fields of Q2_K and Q3_K: of 128 elements, the j-th 32 are bits 2j of 32 bytes. Nibbles of Q4_K, Q5_K: of 64
// elements, 32 in the low halves and 32 in the high halves of 32 bytes.
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
      // Low four bits: a nibble of bytes 0..7; high two: bits 2 * (j / 4) of bytes 8..11.
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
    // Of 128 elements, quarter k: nibble k / 2 of 32 bytes (the second 32 for odd k), two more bits at 2k of qh.
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

/// The eight scales and eight minima of Q4_K and Q5_K times d and dmin.
void unpack_k4(const uint8_t* packed, float d, float dmin, float scales[8], float mins[8]) {
  const uint32_t low = load<uint32_t>(packed), high = load<uint32_t>(packed + 4), rest = load<uint32_t>(packed + 8);
  const uint32_t upper_scales = (rest & 0x0f0f0f0fu) | ((low >> 6) & 0x03030303u) << 4;
  const uint32_t upper_mins = ((rest >> 4) & 0x0f0f0f0fu) | ((high >> 6) & 0x03030303u) << 4;
  const v128_t bytes = wasm_i32x4_make(static_cast<int32_t>(low & 0x3f3f3f3fu), static_cast<int32_t>(upper_scales),
                                       static_cast<int32_t>(high & 0x3f3f3f3fu), static_cast<int32_t>(upper_mins));
  const v128_t d4 = wasm_f32x4_splat(d), dmin4 = wasm_f32x4_splat(dmin);
  each_4(bytes, [&](int k, v128_t v) {
    wasm_v128_store(k < 8 ? scales + k : mins + (k - 8), wasm_f32x4_mul(v, k < 8 ? d4 : dmin4));
  });
}

}  // namespace

void dequantize_q2_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ByteFloats floats(0);
  const v128_t three = loop_constant(wasm_i8x16_splat(3));
  alignas(16) float scales[16], mins[16];
  for (size_t i = 0; i < n_blocks; ++i, src += 84) {
    const v128_t packed = wasm_v128_load(src);
    put_scaled(scales, nibbles.low(packed), splat_f16(src + 80));
    put_scaled(mins, nibbles.high(packed), splat_f16(src + 82));
    for (size_t half = 0; half < 2; ++half) {
      v128_t a = wasm_v128_load(src + 16 + 32 * half), b = wasm_v128_load(src + 32 + 32 * half);
      for (size_t j = 8 * half; j < 8 * half + 8; j += 2, dst += 32) {
        floats.put_scaled_minus(dst, wasm_v128_and(a, three), wasm_v128_load32_splat(scales + j),
                                wasm_v128_load32_splat(mins + j));
        floats.put_scaled_minus(dst + 16, wasm_v128_and(b, three), wasm_v128_load32_splat(scales + j + 1),
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
    // The third bit is bit 2 of the mask, shifted along.
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

void dequantize_q4_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ByteFloats floats(0);
  alignas(16) float scales[8], mins[8];
  for (size_t i = 0; i < n_blocks; ++i, src += 144) {
    unpack_k4(src + 4, load_f16(src), load_f16(src + 2), scales, mins);
    for (size_t j = 0; j < 8; j += 2, dst += 64) {
      const v128_t a = wasm_v128_load(src + 16 + 16 * j), b = wasm_v128_load(src + 32 + 16 * j);
      const v128_t d0 = wasm_v128_load32_splat(scales + j), m0 = wasm_v128_load32_splat(mins + j);
      const v128_t d1 = wasm_v128_load32_splat(scales + j + 1), m1 = wasm_v128_load32_splat(mins + j + 1);
      floats.put_scaled_minus(dst, nibbles.low(a), d0, m0);
      floats.put_scaled_minus(dst + 16, nibbles.low(b), d0, m0);
      floats.put_scaled_minus(dst + 32, nibbles.high(a), d1, m1);
      floats.put_scaled_minus(dst + 48, nibbles.high(b), d1, m1);
    }
  }
}

void dequantize_q5_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ByteFloats floats(0);
  const v128_t sixteen = loop_constant(wasm_i8x16_splat(16));
  alignas(16) float scales[8], mins[8];
  for (size_t i = 0; i < n_blocks; ++i, src += 176) {
    unpack_k4(src + 4, load_f16(src), load_f16(src + 2), scales, mins);
    v128_t ha = wasm_v128_load(src + 16), hb = wasm_v128_load(src + 32);
    for (size_t j = 0; j < 8; j += 2, dst += 64) {
      const v128_t a = wasm_v128_load(src + 48 + 16 * j), b = wasm_v128_load(src + 64 + 16 * j);
      const v128_t d0 = wasm_v128_load32_splat(scales + j), m0 = wasm_v128_load32_splat(mins + j);
      const v128_t d1 = wasm_v128_load32_splat(scales + j + 1), m1 = wasm_v128_load32_splat(mins + j + 1);
      const auto fifth = [&](v128_t h, uint32_t shift) { return wasm_v128_and(wasm_i16x8_shl(h, shift), sixteen); };
      floats.put_scaled_minus(dst, wasm_v128_or(nibbles.low(a), fifth(ha, 4)), d0, m0);
      floats.put_scaled_minus(dst + 16, wasm_v128_or(nibbles.low(b), fifth(hb, 4)), d0, m0);
      floats.put_scaled_minus(dst + 32, wasm_v128_or(nibbles.high(a), fifth(ha, 3)), d1, m1);
      floats.put_scaled_minus(dst + 48, wasm_v128_or(nibbles.high(b), fifth(hb, 3)), d1, m1);
      ha = wasm_u16x8_shr(ha, 2);
      hb = wasm_u16x8_shr(hb, 2);
    }
  }
}

void dequantize_q6_k(const uint8_t* src, float* dst, size_t n_blocks) {
  const Nibbles nibbles;
  const ByteFloats floats(32);
  const v128_t upper = loop_constant(wasm_i8x16_splat(0x30));
  alignas(16) float scales[16];
  for (size_t i = 0; i < n_blocks; ++i, src += 210, dst += kSuperBlock) {
    put_scaled(scales, wasm_v128_load(src + 192), splat_f16(src + 208));
    for (size_t part = 0; part < 4; ++part) {
      const size_t half = part / 2, at = 16 * (part % 2);
      const v128_t a = wasm_v128_load(src + 64 * half + at), b = wasm_v128_load(src + 64 * half + at + 32);
      const v128_t h = wasm_v128_load(src + 128 + 32 * half + at);
      const auto put = [&](size_t quarter, v128_t low, v128_t high) {
        floats.put_scaled(dst + 128 * half + 32 * quarter + at, wasm_v128_or(low, wasm_v128_and(high, upper)),
                          wasm_v128_load32_splat(scales + 8 * half + 2 * quarter + part % 2));
      };
      put(0, nibbles.low(a), wasm_i16x8_shl(h, 4));
      put(1, nibbles.low(b), wasm_i16x8_shl(h, 2));
      put(2, nibbles.high(a), h);
      put(3, nibbles.high(b), wasm_u16x8_shr(h, 2));
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
