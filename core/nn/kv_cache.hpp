// The numbers of cached keys and values: how a row of one head is stored, and how it is read back.
//
//   f32, f16     the numbers
//   q8_0, q4_0   blocks of 32 with a binary16 scale, as ggml's types of these names; a last block is padded with zeros
//
// Quantized rows hold the head after a Hadamard transform: H x, H orthogonal and its own inverse, in blocks of a power
// of two. It spreads one large number over the block, so that the scale fits all of them (QuaRot, Ashkboos et al.
// 2024). Scores stay, since (H q) . (H k) = q . k; a sum of values is transformed back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggufscope {

enum class CacheType : uint8_t { kF32, kF16, kQ8_0, kQ4_0 };

/// How a model's keys and values are stored.
struct CacheTypes {
  CacheType keys = CacheType::kF32;
  CacheType values = CacheType::kF32;  ///< without meaning where values are part of the keys (latent attention)
};

[[nodiscard]] constexpr bool is_quantized(CacheType type) {
  return type == CacheType::kQ8_0 || type == CacheType::kQ4_0;
}

inline constexpr size_t kCacheBlock = 32;  ///< elements of a block of quantized numbers

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

/// Width of the transform: the largest power of two that divides every size of `sizes`, which are or-ed together.
[[nodiscard]] constexpr size_t hadamard_width(size_t sizes) {
  const size_t power = sizes & (~sizes + 1);
  return power < 128 ? power : 128;
}

/// x [n] = H x in blocks of `width`, a power of two that divides n.
void hadamard(float* x, size_t n, size_t width);

/// Row [n] to its stored form at `to`: beyond 65504 numbers are clamped, except in f32.
void store_cache_row(CacheType type, const float* x, size_t n, size_t width, uint8_t* to);

/// The first n elements of each of n_rows rows, row_bytes apart, as floats [n_rows, n]; quantized rows stay
/// transformed.
void load_cache_rows(CacheType type, const uint8_t* from, size_t row_bytes, size_t n_rows, size_t n, float* to);

}  // namespace ggufscope
