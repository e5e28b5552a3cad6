// Stores and loads rows of the cache in each of its types.
#include "nn/kv_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bytes.hpp"
#include "nn/vec.hpp"
#include "quant/kernels.hpp"

namespace ggufscope {
namespace {

constexpr size_t kChunk = 512;  // elements quantized at once: whole blocks of both kinds
constexpr float kMaxStored = 65504.0f;

// d = largest magnitude / 127, like ggml's reference quantizer for Q8_0.
void quantize_q8_0_block(const float* x, uint8_t* to) {
  float max = 0;
  for (size_t i = 0; i < kCacheBlock; ++i) max = std::max(max, std::fabs(x[i]));
  const float d = max / 127, inverse = d != 0 ? 1 / d : 0;
  store(to, f32_to_f16(d));
  for (size_t i = 0; i < kCacheBlock; ++i)
    to[2 + i] = static_cast<uint8_t>(static_cast<int8_t>(std::nearbyint(x[i] * inverse)));
}

// d = the element with the largest magnitude / -8, so that this element becomes -8. Element i is the low half and
// element i + 16 the high half of byte i.
void quantize_q4_0_block(const float* x, uint8_t* to) {
  float max = 0;
  for (size_t i = 0; i < kCacheBlock; ++i)
    if (std::fabs(x[i]) > std::fabs(max)) max = x[i];
  const float d = max / -8, inverse = d != 0 ? 1 / d : 0;
  store(to, f32_to_f16(d));
  const auto code = [&](size_t i) {
    return static_cast<uint8_t>(std::min(15, static_cast<int>(x[i] * inverse + 8.5f)));
  };
  for (size_t i = 0; i < kCacheBlock / 2; ++i)
    to[2 + i] = static_cast<uint8_t>(code(i) | code(i + kCacheBlock / 2) << 4);
}

void quantize_blocks(CacheType type, const float* x, size_t n_blocks, uint8_t* to) {
  for (; n_blocks != 0; --n_blocks, x += kCacheBlock, to += cache_row_bytes(type, kCacheBlock))
    type == CacheType::kQ8_0 ? quantize_q8_0_block(x, to) : quantize_q4_0_block(x, to);
}

void dequantize_blocks(CacheType type, const uint8_t* from, size_t n_blocks, float* to) {
  if (type == CacheType::kQ8_0)
    dequantize_q8_0(from, to, n_blocks);
  else
    dequantize_q4_0(from, to, n_blocks);
}

void load_halves(const uint8_t* from, size_t n, float* to) {
  const vec::HalfConstants constants;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    v128_t eight[2];
    vec::load_finite_f16x8(from + 2 * i, constants, eight);
    wasm_v128_store(to + i, eight[0]);
    wasm_v128_store(to + i + 4, eight[1]);
  }
  for (; i < n; ++i) {
    uint16_t half;
    std::memcpy(&half, from + 2 * i, sizeof half);
    to[i] = f16_to_f32(half);
  }
}

}  // namespace

void hadamard(float* x, size_t n, size_t width) {
  if (width <= 1) return;
  const float norm = 1.0f / std::sqrt(static_cast<float>(width));
  for (float* block = x; block < x + n; block += width) {
    for (size_t half = 1; half < width; half *= 2)
      for (size_t i = 0; i < width; i += 2 * half)
        for (size_t j = i; j < i + half; ++j) {
          const float a = block[j], b = block[j + half];
          block[j] = a + b;
          block[j + half] = a - b;
        }
    vec::scale(block, norm, width);
  }
}

void store_cache_row(CacheType type, const float* x, size_t n, size_t width, uint8_t* to) {
  if (type == CacheType::kF32) {
    std::memcpy(to, x, n * sizeof(float));
    return;
  }
  if (type == CacheType::kF16) return vec::store_finite_f16(x, reinterpret_cast<uint16_t*>(to), n);
  float part[kChunk];
  for (size_t at = 0; at < n; at += kChunk) {
    const size_t size = std::min(kChunk, n - at), n_blocks = (size + kCacheBlock - 1) / kCacheBlock;
    for (size_t i = 0; i < size; ++i)
      part[i] = std::min(std::max(-kMaxStored, x[at + i]), kMaxStored);  // NaN becomes finite, too
    std::fill(part + size, part + n_blocks * kCacheBlock, 0.0f);
    hadamard(part, size, width);
    quantize_blocks(type, part, n_blocks, to);
    to += cache_row_bytes(type, size);
  }
}

void load_cache_rows(CacheType type, const uint8_t* from, size_t row_bytes, size_t n_rows, size_t n, float* to) {
  const size_t whole = n / kCacheBlock;
  if (is_quantized(type) && n % kCacheBlock == 0 && row_bytes == cache_row_bytes(type, n))
    return dequantize_blocks(type, from, n_rows * whole, to);
  for (size_t row = 0; row < n_rows; ++row, from += row_bytes, to += n) {
    if (type == CacheType::kF32) {
      std::memcpy(to, from, n * sizeof(float));
    } else if (type == CacheType::kF16) {
      load_halves(from, n, to);
    } else {
      dequantize_blocks(type, from, whole, to);
      if (n % kCacheBlock == 0) continue;
      float last[kCacheBlock];
      dequantize_blocks(type, from + cache_row_bytes(type, whole * kCacheBlock), 1, last);
      std::memcpy(to + whole * kCacheBlock, last, n % kCacheBlock * sizeof(float));
    }
  }
}

}  // namespace ggufscope
