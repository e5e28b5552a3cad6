#include "nn/packed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/simd.hpp"
#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

using Block = PackedFormat::Block;

// E2M1 doubled is -12..12: twelve more fits the narrow kernels' 0..127.
constexpr std::array<int8_t, 16> kE2m1Raised = [] {
  std::array<int8_t, 16> raised{};
  for (size_t i = 0; i < 16; ++i) raised[i] = static_cast<int8_t>(kE2m1Doubled[i] + 12);
  return raised;
}();

// The table of IQ4 without signs.
constexpr std::array<int8_t, 16> kIq4Raised = [] {
  std::array<int8_t, 16> raised{};
  for (size_t i = 0; i < 16; ++i) raised[i] = static_cast<int8_t>(static_cast<uint8_t>(kIq4Values[i] + 128));
  return raised;
}();

// Of each byte, the bits of mask << shift, moved down to those of mask.
inline v128_t field(v128_t bytes, size_t shift, uint8_t mask) {
  return wasm_v128_and(wasm_u16x8_shr(bytes, static_cast<uint32_t>(shift)),
                       wasm_i8x16_splat(static_cast<int8_t>(mask)));
}

// The same moved to bit `to`, above what codes have.
inline v128_t with_field(v128_t codes, v128_t bytes, size_t shift, uint8_t mask, uint32_t to) {
  return wasm_v128_or(codes, wasm_i16x8_shl(field(bytes, shift, mask), to));
}

void nibbles_32(const uint8_t* qs, uint8_t* codes) {
  const v128_t bytes = wasm_v128_load(qs);
  wasm_v128_store(codes, field(bytes, 0, 15));
  wasm_v128_store(codes + 16, field(bytes, 4, 15));
}

// 32 codes, more by value where a bit is set.
void add_bits(const uint8_t* bits, uint8_t value, uint8_t* codes) {
  const v128_t bit = wasm_i8x16_const(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  for (size_t i = 0; i < 2; ++i) {
    const v128_t bytes = wasm_i64x2_shuffle(wasm_i8x16_splat(static_cast<int8_t>(bits[2 * i])),
                                            wasm_i8x16_splat(static_cast<int8_t>(bits[2 * i + 1])), 0, 2);
    const v128_t set = wasm_i8x16_eq(wasm_v128_and(bytes, bit), bit);
    wasm_v128_store(codes + 16 * i, wasm_v128_or(wasm_v128_load(codes + 16 * i),
                                                 wasm_v128_and(set, wasm_i8x16_splat(static_cast<int8_t>(value)))));
  }
}

void explode_q4_0(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  nibbles_32(src + 2, b.codes);
}

void explode_q4_1(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  b.e = load_f16(src + 2);
  nibbles_32(src + 4, b.codes);
}

void explode_q5_0(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  nibbles_32(src + 6, b.codes);
  add_bits(src + 2, 16, b.codes);
}

void explode_q5_1(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  b.e = load_f16(src + 2);
  nibbles_32(src + 8, b.codes);
  add_bits(src + 4, 16, b.codes);
}

void explode_q8_0(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  std::memcpy(b.codes, src + 2, 32);
}

void explode_q8_0_raised(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  for (size_t i = 0; i < 32; i += 16)
    wasm_v128_store(b.codes + i, wasm_v128_xor(wasm_v128_load(src + 2 + i), wasm_i8x16_splat(INT8_MIN)));
}

void explode_mxfp4(const uint8_t* src, size_t, Block& b) {
  b.d = half_e8m0(src[0]);
  nibbles_32(src + 1, b.codes);
}

void explode_q2_k(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src + 80);
  b.e = -load_f16(src + 82);
  for (size_t j = 0; j < 16; ++j) {
    b.scale[j] = static_cast<int8_t>(src[j] & 15);
    b.min[j] = static_cast<int8_t>(src[j] >> 4);
    const v128_t qs = wasm_v128_load(src + 16 + 32 * (j / 8) + 16 * (j % 2));
    wasm_v128_store(b.codes + 16 * j, field(qs, 2 * (j / 2 % 4), 3));
  }
}

void explode_q3_k(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src + 108);
  const uint8_t* packed = src + 96;
  for (size_t j = 0; j < 16; ++j) {
    const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
    const int high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
    b.scale[j] = static_cast<int8_t>((low | high << 4) - 32);
    const v128_t qs = wasm_v128_load(src + 32 + 32 * (j / 8) + 16 * (j % 2));
    const v128_t high_bits = wasm_v128_load(src + 16 * (j % 2));
    wasm_v128_store(b.codes + 16 * j, with_field(field(qs, 2 * (j / 2 % 4), 3), high_bits, j / 2, 1, 2));
  }
}

void scales_k4(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  b.e = -load_f16(src + 2);
  for (size_t j = 0; j < 8; ++j) {
    const ScaleMin sm = scale_min_k4(j, src + 4);
    b.scale[j] = static_cast<int8_t>(sm.scale);
    b.min[j] = static_cast<int8_t>(sm.min);
  }
}

void nibbles_k4(const uint8_t* qs, uint8_t* codes) {
  for (size_t i = 0; i < 256; i += 16)
    wasm_v128_store(codes + i, field(wasm_v128_load(qs + 32 * (i / 64) + i % 32), i / 32 % 2 * 4, 15));
}

void explode_q4_k(const uint8_t* src, size_t, Block& b) {
  scales_k4(src, b);
  nibbles_k4(src + 16, b.codes);
}

void explode_q5_k(const uint8_t* src, size_t, Block& b) {
  scales_k4(src, b);
  nibbles_k4(src + 48, b.codes);
  for (size_t i = 0; i < 256; i += 16)
    wasm_v128_store(b.codes + i,
                    with_field(wasm_v128_load(b.codes + i), wasm_v128_load(src + 16 + i % 32), i / 32, 1, 4));
}

void explode_q6_k(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src + 208);
  std::memcpy(b.scale, src + 192, 16);
  for (size_t i = 0; i < 256; i += 16) {
    const size_t half = i / 128, quarter = i % 128 / 32, l = i % 32;
    const v128_t low = wasm_v128_load(src + 64 * half + 32 * (quarter % 2) + l);
    const v128_t high = wasm_v128_load(src + 128 + 32 * half + l);
    wasm_v128_store(b.codes + i, with_field(field(low, 4 * (quarter / 2), 15), high, 2 * quarter, 3, 4));
  }
}

void explode_iq4_xs(const uint8_t* src, size_t, Block& b) {
  b.d = load_f16(src);
  const uint32_t high = load<uint16_t>(src + 2);
  for (size_t j = 0; j < 8; ++j) {
    const uint32_t low = (src[4 + j / 2] >> (4 * (j % 2))) & 15u;
    b.scale[j] = static_cast<int8_t>(static_cast<int>(low | ((high >> (2 * j)) & 3u) << 4) - 32);
    nibbles_32(src + 8 + 16 * j, b.codes + 32 * j);
  }
}

// Ternary codes are 0..2, less one.
void explode_tq1_0(const uint8_t* src, size_t part, Block& b) {
  b.d = load_f16(src + 52);
  const auto trits = [&](const uint8_t* bytes, size_t n_bytes, size_t k, uint8_t* codes) {
    for (size_t j = 0; j < n_bytes; ++j) codes[j] = trit(bytes[j], k);
  };
  if (part < 5) return trits(src, 32, part, b.codes);
  trits(src + 32, 16, 2 * part - 10, b.codes);
  if (part < 7) return trits(src + 32, 16, 2 * part - 9, b.codes + 16);
  for (size_t k = 0; k < 4; ++k) trits(src + 48, 4, k, b.codes + 16 + 4 * k);
}

void explode_tq2_0(const uint8_t* src, size_t part, Block& b) {
  b.d = load_f16(src + 64);
  for (size_t i = 0; i < 32; i += 16)
    wasm_v128_store(b.codes + i, field(wasm_v128_load(src + 32 * (part / 4) + i), 2 * (part % 4), 3));
}

void explode_q1_0(const uint8_t* src, size_t part, Block& b) {
  b.d = load_f16(src);
  std::memset(b.codes, 0, 32);
  add_bits(src + 2 + 4 * part, 2, b.codes);
}

void explode_q2_0(const uint8_t* src, size_t part, Block& b) {
  b.d = load_f16(src);
  for (size_t i = 0; i < 32; ++i) b.codes[i] = static_cast<uint8_t>(src[2 + 8 * part + i / 4] >> (2 * (i % 4)) & 3);
}

template <TypeId Id>
constexpr uint32_t kId = static_cast<uint32_t>(Id);

// clang-format off
// Where a type has several rows, the first that the machine can do is its format.
constexpr PackedFormat kFormats[] = {
    //                       super  bits halves sub correction          offset table               range
    {kId<TypeId::kQ4_0>,      false, 4,   true,  32, Correction::kOffset,  8,     nullptr,            Codes::kSmall,    explode_q4_0},
    {kId<TypeId::kQ4_1>,      false, 4,   true,  32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q4_1},
    {kId<TypeId::kQ5_0>,      false, 8,   true,  32, Correction::kOffset,  16,    nullptr,            Codes::kSmall,    explode_q5_0},
    {kId<TypeId::kQ5_1>,      false, 8,   true,  32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q5_1},
    {kId<TypeId::kQ8_0>,      false, 8,   true,  32, Correction::kNone,    0,     nullptr,            Codes::kSigned,   explode_q8_0},
    {kId<TypeId::kQ8_0>,      false, 8,   true,  32, Correction::kOffset,  128,   nullptr,            Codes::kUnsigned, explode_q8_0_raised},
    {kId<TypeId::kIQ4_NL>,    false, 4,   true,  32, Correction::kNone,    0,     kIq4Values,         Codes::kSigned,   explode_q4_0},
    {kId<TypeId::kIQ4_NL>,    false, 4,   true,  32, Correction::kOffset,  128,   kIq4Raised.data(),  Codes::kUnsigned, explode_q4_0},
    {kId<TypeId::kMXFP4>,     false, 4,   false, 32, Correction::kOffset,  12,    kE2m1Raised.data(), Codes::kSmall,    explode_mxfp4},
    {kId<TypeId::kTQ1_0>,     false, 4,   false, 32, Correction::kOffset,  1,     nullptr,            Codes::kSmall,    explode_tq1_0},
    {kId<TypeId::kTQ2_0>,     false, 4,   false, 32, Correction::kOffset,  1,     nullptr,            Codes::kSmall,    explode_tq2_0},
    {kId<TypeId::kQ1_0>,      false, 4,   true,  32, Correction::kOffset,  1,     nullptr,            Codes::kSmall,    explode_q1_0},
    {kId<TypeId::kQ2_0>,      false, 4,   true,  32, Correction::kOffset,  1,     nullptr,            Codes::kSmall,    explode_q2_0},
    {kId<TypeId::kQ2_K>,      true,  4,   false, 16, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q2_k},
    {kId<TypeId::kQ3_K>,      true,  4,   false, 16, Correction::kOffset,  4,     nullptr,            Codes::kSmall,    explode_q3_k},
    {kId<TypeId::kQ4_K>,      true,  4,   false, 32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q4_k},
    {kId<TypeId::kQ5_K>,      true,  8,   false, 32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q5_k},
    {kId<TypeId::kQ6_K>,      true,  8,   false, 16, Correction::kOffset,  32,    nullptr,            Codes::kSmall,    explode_q6_k},
    {kId<TypeId::kIQ4_XS>,    true,  4,   false, 32, Correction::kNone,    0,     kIq4Values,         Codes::kSigned,   explode_iq4_xs},
    {kId<TypeId::kIQ4_XS>,    true,  4,   false, 32, Correction::kOffset,  128,   kIq4Raised.data(),  Codes::kUnsigned, explode_iq4_xs},
};
// clang-format on

constexpr auto kWideFormats = [] {
  std::array<PackedFormat, std::size(kFormats)> wide{};
  for (size_t i = 0; i < wide.size(); ++i) {
    wide[i] = kFormats[i];
    wide[i].half_scales = false;
  }
  return wide;
}();

int code_of(const PackedFormat& f, const uint8_t* codes, size_t row, size_t k) {
  const bool has_sign = f.range == Codes::kSigned;
  const size_t lane = 4 * (row % 4) + k % 4;
  uint8_t code;
  if (f.bits == 8) {
    code = codes[32 * (k / 4) + 16 * (row / 4) + lane];
  } else {
    code = (codes[16 * (k / 4) + lane] >> (4 * (row / 4))) & 15;
    if (f.table != nullptr) code = static_cast<uint8_t>(f.table[code]);
  }
  return has_sign ? static_cast<int8_t>(code) : code;
}

// The scale d or e (at) of a row.
float scale_of(const PackedFormat& f, const uint8_t* at, size_t row) {
  if (f.half_scales) return f16_to_f32(load<uint16_t>(at + 2 * row)) / kRaised;
  return load<float>(at + 4 * row);
}

void store_scale(const PackedFormat& f, uint8_t* at, size_t row, float value) {
  if (f.half_scales)
    store(at + 2 * row, f32_to_f16(value * kRaised));
  else
    store(at + 4 * row, value);
}

struct QuantizedBlock {
  float scale;
  int q[256];
};

void quantize_block(const float* x, size_t n, QuantizedBlock& out) {
  float most = 0;
  for (size_t i = 0; i < n; ++i) most = std::max(most, std::abs(x[i]));
  out.scale = most / 127.0f;
  const float inverse = out.scale > 0 ? 1.0f / out.scale : 0.0f;
  for (size_t i = 0; i < n; ++i) {
    const float scaled = std::nearbyint(x[i] * inverse);
    out.q[i] = scaled >= -127 && scaled <= 127 ? static_cast<int>(scaled) : 0;
  }
}

}  // namespace

std::span<const PackedFormat> all_packed_formats() { return kFormats; }

const PackedFormat* find_packed_format(uint32_t type) {
  for (const PackedFormat& f : kFormats)
    if (f.type == type && (f.range != Codes::kSigned || byte_products() == ByteProducts::kSigned)) return &f;
  return nullptr;
}

const PackedFormat& wide_format(const PackedFormat& f) {
  return !f.half_scales ? f : kWideFormats[static_cast<size_t>(&f - kFormats)];
}

bool scales_fit(const PackedFormat& f, const uint8_t* src, size_t n_blocks) {
  if (!f.half_scales) return true;
  const size_t block_bytes = find_type(f.type)->block_bytes;  // d first, then e where there is one
  int most = 0;
  for (size_t block = 0; block < n_blocks; ++block, src += block_bytes) {
    most = std::max(most, load<uint16_t>(src) & 0x7fff);
    if (f.stores_e()) most = std::max(most, load<uint16_t>(src + 2) & 0x7fff);
  }
  return most < kRaisedLimit;
}

namespace {

// What a block has besides its codes.
void pack_scales(const PackedFormat& f, const Block& b, uint8_t* group, size_t row) {
  store_scale(f, group, row, b.d);
  if (f.stores_e()) store_scale(f, group + f.e_at(), row, b.e);
  if (!f.super) return;
  for (size_t s = 0; s < f.n_subs(); ++s) {
    group[f.scales_at() + 8 * s + row] = static_cast<uint8_t>(b.scale[s]);
    if (f.stores_e()) group[f.mins_at() + 16 * (s / 2) + 2 * row + s % 2] = static_cast<uint8_t>(b.min[s]);
  }
}

// The codes of one row, whose neighbours are left as they are. Four codes of a row lie side by side.
void pack_codes(const PackedFormat& f, const Block& b, uint8_t* codes, size_t row) {
  const size_t half = row / 4;
  codes += 4 * (row % 4) + (f.bits == 8 ? 16 * half : 0);
  for (size_t k = 0; k < f.block(); k += 4) {
    const uint32_t four = load<uint32_t>(b.codes + k);
    if (f.bits == 8) {
      store(codes + 8 * k, four);
    } else {
      const uint32_t pairs = load<uint32_t>(codes + 4 * k);
      store(codes + 4 * k, half == 0 ? (pairs & 0xf0f0f0f0u) | four : (pairs & 0x0f0f0f0fu) | four << 4);
    }
  }
}

// Sixteen codes of each of four rows, four by four: the first four of all rows, the second four ...
void store_interleaved(const v128_t* rows, uint8_t* to, size_t stride) {
  const v128_t a = wasm_i32x4_shuffle(rows[0], rows[1], 0, 4, 1, 5),
               b = wasm_i32x4_shuffle(rows[0], rows[1], 2, 6, 3, 7);
  const v128_t c = wasm_i32x4_shuffle(rows[2], rows[3], 0, 4, 1, 5),
               d = wasm_i32x4_shuffle(rows[2], rows[3], 2, 6, 3, 7);
  wasm_v128_store(to, wasm_i64x2_shuffle(a, c, 0, 2));
  wasm_v128_store(to + stride, wasm_i64x2_shuffle(a, c, 1, 3));
  wasm_v128_store(to + 2 * stride, wasm_i64x2_shuffle(b, d, 0, 2));
  wasm_v128_store(to + 3 * stride, wasm_i64x2_shuffle(b, d, 1, 3));
}

// The codes of all eight rows.
void pack_codes(const PackedFormat& f, const Block* rows, uint8_t* codes) {
  for (size_t k = 0; k < f.block(); k += 16) {
    v128_t low[4], high[4];
    for (size_t r = 0; r < 4; ++r) {
      low[r] = wasm_v128_load(rows[r].codes + k);
      high[r] = wasm_v128_load(rows[r + 4].codes + k);
    }
    if (f.bits == 8) {
      store_interleaved(low, codes + 8 * k, 32);
      store_interleaved(high, codes + 8 * k + 16, 32);
    } else {
      for (size_t r = 0; r < 4; ++r) low[r] = wasm_v128_or(low[r], wasm_i16x8_shl(high[r], 4));
      store_interleaved(low, codes + 4 * k, 16);
    }
  }
}

}  // namespace

void pack_rows(const PackedFormat& f, const uint8_t* src, size_t src_stride, size_t n_in, uint8_t* group, size_t first,
               size_t n_rows) {
  const TypeGeometry& type = *find_type(f.type);
  const size_t n_blocks = n_in / f.block(), n_parts = type.block_size / f.block();
  Block rows[kGroupRows];
  for (size_t block = 0; block < n_blocks; ++block, group += f.block_bytes()) {
    const uint8_t* from = src + block / n_parts * type.block_bytes;
    for (size_t r = 0; r < n_rows; ++r) {
      f.explode(from + r * src_stride, block % n_parts, rows[r]);
      pack_scales(f, rows[r], group, first + r);
    }
    uint8_t* codes = group + f.codes_at();
    if (n_rows == kGroupRows) {
      pack_codes(f, rows, codes);
    } else {
      for (size_t r = 0; r < n_rows; ++r) pack_codes(f, rows[r], codes, first + r);
    }
  }
}

void widen_group(const PackedFormat& f, const uint8_t* group, size_t n_in, uint8_t* wide) {
  const PackedFormat& to = wide_format(f);
  for (size_t block = 0; block < n_in / f.block(); ++block, group += f.block_bytes(), wide += to.block_bytes()) {
    for (size_t r = 0; r < kGroupRows; ++r) {
      store_scale(to, wide, r, scale_of(f, group, r));
      if (f.stores_e()) store_scale(to, wide + to.e_at(), r, scale_of(f, group + f.e_at(), r));
    }
    std::memcpy(wide + to.codes_at(), group + f.codes_at(), f.block() * f.bits);
  }
}

void unpack_row(const PackedFormat& f, const uint8_t* group, size_t n_in, size_t row, float* out) {
  const size_t k_block = f.block();
  for (size_t block = 0; block < n_in / k_block; ++block, group += f.block_bytes(), out += k_block) {
    const float d = scale_of(f, group, row);
    const float e = f.stores_e() ? scale_of(f, group + f.e_at(), row) : 0.0f;
    const int offset = f.correction == Correction::kOffset ? f.offset : 0;
    for (size_t k = 0; k < k_block; ++k) {
      const size_t s = k / f.sub;
      float scale = d, min = e;
      if (f.super) {
        scale = d * static_cast<float>(static_cast<int8_t>(group[f.scales_at() + 8 * s + row]));
        if (f.correction == Correction::kStored)
          min = e * static_cast<float>(static_cast<int8_t>(group[f.mins_at() + 16 * (s / 2) + 2 * row + s % 2]));
      }
      const float value = scale * static_cast<float>(code_of(f, group + f.codes_at(), row, k) - offset);
      out[k] = f.correction == Correction::kStored ? value + min : value;
    }
  }
}

void multiply_group_reference(const PackedFormat& f, const uint8_t* group, size_t n_in, const float* x, size_t x_stride,
                              size_t n_tokens, Sums before, float* y, size_t y_stride, size_t n_rows) {
  const size_t k_block = f.block();
  for (size_t t = 0; t < n_tokens; ++t) {
    for (size_t r = 0; r < n_rows; ++r) {
      float sum = before == Sums::kNone ? 0 : y[t * y_stride + r];
      for (size_t block = 0; block < n_in / k_block; ++block) {
        const uint8_t* p = group + block * f.block_bytes();
        QuantizedBlock a;
        quantize_block(x + t * x_stride + block * k_block, k_block, a);
        const float d = scale_of(f, p, r);
        float products = 0;
        int corrections = 0;
        for (size_t s = 0; s < f.n_subs(); ++s) {
          int dot = 0, total = 0;
          for (size_t k = s * f.sub; k < (s + 1) * f.sub; ++k) {
            dot += code_of(f, p + f.codes_at(), r, k) * a.q[k];
            total += a.q[k];
          }
          if (f.correction == Correction::kOffset) dot -= f.offset * total;
          const int8_t scale = f.super ? static_cast<int8_t>(p[f.scales_at() + 8 * s + r]) : int8_t{1};
          products += static_cast<float>(dot * scale);
          if (f.stores_e())
            corrections += total * (f.super ? static_cast<int8_t>(p[f.mins_at() + 16 * (s / 2) + 2 * r + s % 2]) : 1);
        }
        float part = d * products;
        if (f.stores_e()) part = scale_of(f, p + f.e_at(), r) * static_cast<float>(corrections) + part;
        sum = part * a.scale + sum;
      }
      y[t * y_stride + r] = sum;
    }
  }
}

}  // namespace ggufscope
