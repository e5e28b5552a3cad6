#include "nn/packed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

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

void nibbles_32(const uint8_t* qs, uint8_t* codes) {
  for (size_t i = 0; i < 16; ++i) {
    codes[i] = qs[i] & 15;
    codes[i + 16] = qs[i] >> 4;
  }
}

void add_fifth_bits(uint32_t bits, uint8_t* codes) {
  for (size_t i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(codes[i] | ((bits >> i) & 1u) << 4);
}

void explode_q4_0(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  nibbles_32(src + 2, b.codes);
}

void explode_q4_1(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  b.e = load_f16(src + 2);
  nibbles_32(src + 4, b.codes);
}

void explode_q5_0(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  nibbles_32(src + 6, b.codes);
  add_fifth_bits(load<uint32_t>(src + 2), b.codes);
}

void explode_q5_1(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  b.e = load_f16(src + 2);
  nibbles_32(src + 8, b.codes);
  add_fifth_bits(load<uint32_t>(src + 4), b.codes);
}

void explode_q8_0(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  std::memcpy(b.codes, src + 2, 32);
}

void explode_q8_0_raised(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  for (size_t i = 0; i < 32; ++i) b.codes[i] = src[2 + i] ^ 0x80;
}

void explode_mxfp4(const uint8_t* src, Block& b) {
  b.d = half_e8m0(src[0]);
  nibbles_32(src + 1, b.codes);
}

void explode_q2_k(const uint8_t* src, Block& b) {
  b.d = load_f16(src + 80);
  b.e = -load_f16(src + 82);
  for (size_t j = 0; j < 16; ++j) {
    b.scale[j] = static_cast<int8_t>(src[j] & 15);
    b.min[j] = static_cast<int8_t>(src[j] >> 4);
    const uint8_t* qs = src + 16 + 32 * (j / 8) + 16 * (j % 2);
    for (size_t l = 0; l < 16; ++l) b.codes[16 * j + l] = (qs[l] >> (2 * (j / 2 % 4))) & 3;
  }
}

void explode_q3_k(const uint8_t* src, Block& b) {
  b.d = load_f16(src + 108);
  const uint8_t* packed = src + 96;
  for (size_t j = 0; j < 16; ++j) {
    const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
    const int high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
    b.scale[j] = static_cast<int8_t>((low | high << 4) - 32);
    const uint8_t* qs = src + 32 + 32 * (j / 8) + 16 * (j % 2);
    const uint8_t* hmask = src + 16 * (j % 2);
    for (size_t l = 0; l < 16; ++l)
      b.codes[16 * j + l] = static_cast<uint8_t>(((qs[l] >> (2 * (j / 2 % 4))) & 3) | ((hmask[l] >> (j / 2)) & 1) << 2);
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
  for (size_t j = 0; j < 8; ++j)
    for (size_t l = 0; l < 32; ++l) codes[32 * j + l] = (qs[32 * (j / 2) + l] >> (4 * (j % 2))) & 15;
}

void explode_q4_k(const uint8_t* src, Block& b) {
  scales_k4(src, b);
  nibbles_k4(src + 16, b.codes);
}

void explode_q5_k(const uint8_t* src, Block& b) {
  scales_k4(src, b);
  nibbles_k4(src + 48, b.codes);
  for (size_t i = 0; i < 256; ++i)
    b.codes[i] = static_cast<uint8_t>(b.codes[i] | ((src[16 + i % 32] >> (i / 32)) & 1) << 4);
}

void explode_q6_k(const uint8_t* src, Block& b) {
  b.d = load_f16(src + 208);
  std::memcpy(b.scale, src + 192, 16);
  for (size_t i = 0; i < 256; ++i) {
    const size_t half = i / 128, in_half = i % 128, quarter = in_half / 32, l = i % 32;
    const int low = (src[64 * half + 32 * (quarter % 2) + l] >> (4 * (quarter / 2))) & 15;
    const int high = (src[128 + 32 * half + l] >> (2 * quarter)) & 3;
    b.codes[i] = static_cast<uint8_t>(low | high << 4);
  }
}

void explode_iq4_xs(const uint8_t* src, Block& b) {
  b.d = load_f16(src);
  const uint32_t high = load<uint16_t>(src + 2);
  for (size_t j = 0; j < 8; ++j) {
    const uint32_t low = (src[4 + j / 2] >> (4 * (j % 2))) & 15u;
    b.scale[j] = static_cast<int8_t>(static_cast<int>(low | ((high >> (2 * j)) & 3u) << 4) - 32);
    nibbles_32(src + 8 + 16 * j, b.codes + 32 * j);
  }
}

template <TypeId Id>
constexpr uint32_t kId = static_cast<uint32_t>(Id);

// clang-format off
// Where a type has several rows, the first that the machine can do is its format.
constexpr PackedFormat kFormats[] = {
    //                       super  bits sub correction          offset table               range
    {kId<TypeId::kQ4_0>,     false, 4, 32, Correction::kOffset,  8,     nullptr,            Codes::kSmall,    explode_q4_0},
    {kId<TypeId::kQ4_1>,     false, 4, 32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q4_1},
    {kId<TypeId::kQ5_0>,     false, 8, 32, Correction::kOffset,  16,    nullptr,            Codes::kSmall,    explode_q5_0},
    {kId<TypeId::kQ5_1>,     false, 8, 32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q5_1},
    {kId<TypeId::kQ8_0>,     false, 8, 32, Correction::kNone,    0,     nullptr,            Codes::kSigned,   explode_q8_0},
    {kId<TypeId::kQ8_0>,     false, 8, 32, Correction::kOffset,  128,   nullptr,            Codes::kUnsigned, explode_q8_0_raised},
    {kId<TypeId::kQ8_0>,     false, 8, 32, Correction::kNone,    0,     nullptr,            Codes::kWords,    explode_q8_0},
    {kId<TypeId::kIQ4_NL>,   false, 4, 32, Correction::kNone,    0,     kIq4Values,         Codes::kSigned,   explode_q4_0},
    {kId<TypeId::kIQ4_NL>,   false, 4, 32, Correction::kOffset,  128,   kIq4Raised.data(),  Codes::kUnsigned, explode_q4_0},
    {kId<TypeId::kIQ4_NL>,   false, 4, 32, Correction::kNone,    0,     kIq4Values,         Codes::kWords,    explode_q4_0},
    {kId<TypeId::kMXFP4>,    false, 4, 32, Correction::kOffset,  12,    kE2m1Raised.data(), Codes::kSmall,    explode_mxfp4},
    {kId<TypeId::kQ2_K>,     true,  4, 16, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q2_k},
    {kId<TypeId::kQ3_K>,     true,  4, 16, Correction::kOffset,  4,     nullptr,            Codes::kSmall,    explode_q3_k},
    {kId<TypeId::kQ4_K>,     true,  4, 32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q4_k},
    {kId<TypeId::kQ5_K>,     true,  8, 32, Correction::kStored,  0,     nullptr,            Codes::kSmall,    explode_q5_k},
    {kId<TypeId::kQ6_K>,     true,  8, 16, Correction::kOffset,  32,    nullptr,            Codes::kSmall,    explode_q6_k},
    {kId<TypeId::kIQ4_XS>,   true,  4, 32, Correction::kNone,    0,     kIq4Values,         Codes::kSigned,   explode_iq4_xs},
    {kId<TypeId::kIQ4_XS>,   true,  4, 32, Correction::kOffset,  128,   kIq4Raised.data(),  Codes::kUnsigned, explode_iq4_xs},
    {kId<TypeId::kIQ4_XS>,   true,  4, 32, Correction::kNone,    0,     kIq4Values,         Codes::kWords,    explode_iq4_xs},
};
// clang-format on

int code_of(const PackedFormat& f, const uint8_t* codes, size_t row, size_t k) {
  const bool has_sign = f.range == Codes::kSigned || f.range == Codes::kWords;
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

// Whether this machine multiplies codes of that range right.
static bool multiplies(Codes range) {
  switch (range) {
    case Codes::kSigned:
      return byte_products() == ByteProducts::kSigned;
    case Codes::kUnsigned:
      return byte_products() == ByteProducts::kUnsigned;
    case Codes::kSmall:
    case Codes::kWords:
      break;
  }
  return true;
}

std::span<const PackedFormat> all_packed_formats() { return kFormats; }

const PackedFormat* find_packed_format(uint32_t type) {
  for (const PackedFormat& f : kFormats)
    if (f.type == type && multiplies(f.range)) return &f;
  return nullptr;
}

void pack_row(const PackedFormat& f, const uint8_t* src, size_t n_in, uint8_t* group, size_t row) {
  const size_t k_block = f.block(), n_subs = f.n_subs(), src_bytes = find_type(f.type)->block_bytes;
  const size_t lane = 4 * (row % 4), half = row / 4;
  Block b;
  for (size_t block = 0; block < n_in / k_block; ++block, src += src_bytes, group += f.block_bytes()) {
    f.explode(src, b);
    store(group + 4 * row, b.d);
    if (f.stores_e()) store(group + 32 + 4 * row, b.e);
    if (f.super) {
      for (size_t s = 0; s < n_subs; ++s) {
        group[f.scales_at() + 16 * s + 2 * row] = group[f.scales_at() + 16 * s + 2 * row + 1] =
            static_cast<uint8_t>(b.scale[s]);
        if (f.correction != Correction::kNone)
          group[f.mins_at() + 16 * (s / 2) + 2 * row + s % 2] =
              static_cast<uint8_t>(f.correction == Correction::kStored ? b.min[s] : b.scale[s]);
      }
    }
    // Four codes of the row lie side by side.
    uint8_t* codes = group + f.codes_at() + lane + (f.bits == 8 ? 16 * half : 0);
    for (size_t k = 0; k < k_block; k += 4) {
      const uint32_t four = load<uint32_t>(b.codes + k);
      if (f.bits == 8) {
        store(codes + 8 * k, four);
      } else {
        const uint32_t pairs = load<uint32_t>(codes + 4 * k);
        store(codes + 4 * k, half == 0 ? (pairs & 0xf0f0f0f0u) | four : (pairs & 0x0f0f0f0fu) | four << 4);
      }
    }
  }
}

void unpack_row(const PackedFormat& f, const uint8_t* group, size_t n_in, size_t row, float* out) {
  const size_t k_block = f.block();
  for (size_t block = 0; block < n_in / k_block; ++block, group += f.block_bytes(), out += k_block) {
    const float d = load<float>(group + 4 * row);
    const float e = f.correction == Correction::kStored ? load<float>(group + 32 + 4 * row) : 0.0f;
    const int offset = f.correction == Correction::kOffset ? f.offset : 0;
    for (size_t k = 0; k < k_block; ++k) {
      const size_t s = k / f.sub;
      float scale = d, min = e;
      if (f.super) {
        scale = d * static_cast<float>(static_cast<int8_t>(group[f.scales_at() + 16 * s + 2 * row]));
        if (f.correction == Correction::kStored)
          min = e * static_cast<float>(static_cast<int8_t>(group[f.mins_at() + 16 * (s / 2) + 2 * row + s % 2]));
      }
      const float value = scale * static_cast<float>(code_of(f, group + f.codes_at(), row, k) - offset);
      out[k] = f.correction == Correction::kStored ? value + min : value;
    }
  }
}

void multiply_group_reference(const PackedFormat& f, const uint8_t* group, size_t n_in, const float* x, size_t x_stride,
                              size_t n_tokens, float* y, size_t y_stride, size_t n_rows) {
  const size_t k_block = f.block();
  for (size_t t = 0; t < n_tokens; ++t) {
    for (size_t r = 0; r < n_rows; ++r) {
      float sum = 0;
      for (size_t block = 0; block < n_in / k_block; ++block) {
        const uint8_t* p = group + block * f.block_bytes();
        QuantizedBlock a;
        quantize_block(x + t * x_stride + block * k_block, k_block, a);
        const float d = load<float>(p + 4 * r);
        int products = 0, corrections = 0;
        for (size_t s = 0; s < f.n_subs(); ++s) {
          int dot = 0, total = 0;
          for (size_t k = s * f.sub; k < (s + 1) * f.sub; ++k) {
            dot += code_of(f, p + f.codes_at(), r, k) * a.q[k];
            total += a.q[k];
          }
          products += f.super ? dot * static_cast<int8_t>(p[f.scales_at() + 16 * s + 2 * r]) : dot;
          if (f.super && f.correction != Correction::kNone)
            corrections += total * static_cast<int8_t>(p[f.mins_at() + 16 * (s / 2) + 2 * r + s % 2]);
          if (!f.super && f.correction != Correction::kNone) corrections += total;
        }
        if (f.correction == Correction::kOffset) products -= f.offset * corrections;
        float part = d * static_cast<float>(products);
        if (f.stores_e()) part = load<float>(p + 32 + 4 * r) * static_cast<float>(corrections) + part;
        sum = part * a.scale + sum;
      }
      y[t * y_stride + r] = sum;
    }
  }
}

}  // namespace ggufscope
