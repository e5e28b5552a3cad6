// Packing: converts blocks of the file's rows to row groups, and packed rows to floats. format.hpp describes the
// layouts.
#include <algorithm>
#include <cstring>

#include "base/half.hpp"
#include "base/simd.hpp"
#include "nn/gemm/format.hpp"
#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {

int code_of(const PackedFormat& f, const uint8_t* codes, size_t row, size_t k) {
  const bool has_sign = f.code_type == CodeType::kI8;
  const size_t lane = 4 * (row % 4) + k % 4;
  if (f.bits == 16) return load<int16_t>(codes + 32 * (k / 2) + 16 * (row / 4) + 4 * (row % 4) + 2 * (k % 2));
  uint8_t code;
  if (f.bits == 8) {
    code = codes[32 * (k / 4) + 16 * (row / 4) + lane];
  } else {
    code = (codes[16 * (k / 4) + lane] >> (4 * (row / 4))) & 15;
    if (f.table != nullptr) code = static_cast<uint8_t>(f.table[code]);
  }
  return has_sign ? static_cast<int8_t>(code) : code;
}

float scale_of(const PackedFormat& f, const uint8_t* at, size_t row) {
  if (f.half_scales) return f16_to_f32(load<uint16_t>(at + 2 * row)) / kHalfScaleFactor;
  return load<float>(at + 4 * row);
}

namespace {

void store_scale(const PackedFormat& f, uint8_t* at, size_t row, float value) {
  if (f.half_scales)
    store(at + 2 * row, f32_to_f16(value * kHalfScaleFactor));
  else
    store(at + 4 * row, value);
}

}  // namespace

bool scales_fit(const PackedFormat& f, const uint8_t* src, size_t n_blocks) {
  if (!f.half_scales) return true;
  if (f.bits == 16) {  // F16: every power of two fits; NaN and infinity have a scale of NaN
    const v128_t magnitude = wasm_i16x8_splat(0x7fff), infinity = wasm_i16x8_splat(0x7c00);
    v128_t any = wasm_i16x8_splat(0);
    for (size_t i = 0; i < 2 * n_blocks; i += 16)
      any = wasm_v128_or(any, wasm_i16x8_ge(wasm_v128_and(wasm_v128_load(src + i), magnitude), infinity));
    return !wasm_v128_any_true(any);
  }
  const size_t block_bytes = find_type(f.type)->block_bytes;  // d first, then e if there is one
  int max = 0;
  for (size_t block = 0; block < n_blocks; ++block, src += block_bytes) {
    max = std::max(max, load<uint16_t>(src) & 0x7fff);
    if (f.stores_e()) max = std::max(max, load<uint16_t>(src + 2) & 0x7fff);
  }
  return max < kHalfScaleLimit;
}

namespace {

// Scales and minimums of a block.
void pack_scales(const PackedFormat& f, const UnpackedBlock& b, uint8_t* group, size_t row) {
  store_scale(f, group, row, b.d);
  if (f.stores_e()) store_scale(f, group + f.e_at(), row, b.e);
  if (!f.super) return;
  for (size_t s = 0; s < f.n_subs(); ++s) {
    group[f.scales_at() + 8 * s + row] = static_cast<uint8_t>(b.scale[s]);
    if (f.stores_e()) group[f.mins_at() + 16 * (s / 2) + 2 * row + s % 2] = static_cast<uint8_t>(b.min[s]);
  }
}

// Bytes of the codes of a row in an UnpackedBlock.
size_t row_bytes(const PackedFormat& f) { return f.block() * (f.bits == 16 ? 2 : 1); }

// Packs the codes of one row and keeps those of the others. Four bytes of a row are adjacent.
void pack_codes(const PackedFormat& f, const UnpackedBlock& b, uint8_t* codes, size_t row) {
  const size_t half = row / 4;
  codes += 4 * (row % 4) + (f.bits == 4 ? 0 : 16 * half);
  for (size_t k = 0; k < row_bytes(f); k += 4) {
    const uint32_t four = load<uint32_t>(b.codes + k);
    if (f.bits != 4) {
      store(codes + 8 * k, four);
    } else {
      const uint32_t pairs = load<uint32_t>(codes + 4 * k);
      store(codes + 4 * k, half == 0 ? (pairs & 0xf0f0f0f0u) | four : (pairs & 0x0f0f0f0fu) | four << 4);
    }
  }
}

// Interleaves sixteen codes of each of four rows, four at a time: the first four of all rows, then the second four, ...
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

// Packs the codes of all eight rows.
void pack_codes(const PackedFormat& f, const UnpackedBlock* rows, uint8_t* codes) {
  for (size_t k = 0; k < row_bytes(f); k += 16) {
    v128_t low[4], high[4];
    for (size_t r = 0; r < 4; ++r) {
      low[r] = wasm_v128_load(rows[r].codes + k);
      high[r] = wasm_v128_load(rows[r + 4].codes + k);
    }
    if (f.bits != 4) {
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
  UnpackedBlock rows[kGroupRows];
  for (size_t first_element = 0; first_element < n_in; first_element += f.block(), group += f.block_bytes()) {
    const uint8_t* from = src + first_element / type.block_size * type.block_bytes;
    const size_t part = first_element % type.block_size / f.block();
    for (size_t r = 0; r < n_rows; ++r) {
      f.unpack(from + r * src_stride, part, rows[r]);
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

void dequantize_row(const PackedFormat& f, const uint8_t* group, size_t n_in, size_t row, float* out) {
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

}  // namespace ggufscope
