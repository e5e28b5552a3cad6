// Storage of cached keys and values: how a row of one head is stored and read back.
//
//   f32, f16     plain numbers
//   q8_0, q4_0   blocks of 32 with a binary16 scale, like ggml's types of these names; the last block is zero-padded
//
// Quantized rows store the head after a Hadamard transform H x, in blocks of a power of two. H is orthogonal and its
// own inverse. It spreads one large number over the block, so that one scale suits all elements (QuaRot, Ashkboos et
// al. 2024). Scores do not change, because (H q) . (H k) = q . k. The weighted sum of values is transformed back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class CacheType : uint8_t { kF32, kF16, kQ8_0, kQ4_0 };

/// The storage types of a model's keys and values.
struct CacheTypes {
  CacheType keys = CacheType::kF32;
  CacheType values = CacheType::kF32;  ///< not used if values are part of the keys (latent attention)
};

[[nodiscard]] constexpr bool is_quantized(CacheType type) {
  return type == CacheType::kQ8_0 || type == CacheType::kQ4_0;
}

inline constexpr size_t kCacheBlock = 32;  ///< elements in a block of quantized numbers

/// Bytes of a row of n elements.
[[nodiscard]] constexpr size_t cache_row_bytes(CacheType type, size_t n) {
  const size_t n_blocks = (n + kCacheBlock - 1) / kCacheBlock;
  switch (type) {
    case CacheType::kF32:
      return n * 4;
    case CacheType::kF16:
      return n * 2;
    case CacheType::kQ8_0:
      return n_blocks * 34;
    case CacheType::kQ4_0:
      return n_blocks * 18;
  }
  return 0;
}

/// Width of the transform: the largest power of two that divides every size. sizes: the sizes combined with bitwise or.
[[nodiscard]] constexpr size_t hadamard_width(size_t sizes) {
  const size_t power = sizes & (~sizes + 1);
  return power < 128 ? power : 128;
}

/// x [n] = H x in blocks of `width`, a power of two that divides n.
void hadamard(float* x, size_t n, size_t width);

/// Stores a row [n] at `to`. Numbers beyond +-65504 are clamped, except with f32.
void store_cache_row(CacheType type, const float* x, size_t n, size_t width, uint8_t* to);

/// Loads the first n elements of each of n_rows rows, which are row_bytes apart, as floats [n_rows, n]. Quantized rows
/// stay Hadamard-transformed.
void load_cache_rows(CacheType type, const uint8_t* from, size_t row_bytes, size_t n_rows, size_t n, float* to);

}  // namespace ggufscope
