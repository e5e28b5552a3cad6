// Unaligned loads from a view of bytes, in either byte order.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>

namespace ggufscope {

using ByteView = std::span<const uint8_t>;

static_assert(std::endian::native == std::endian::little, "the core runs on little-endian hosts (wasm, x86, ARM)");

template <class T>
[[nodiscard]] constexpr T swap_bytes(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<uint32_t>(value)));
  } else {
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<uint64_t>(value)));
  }
}

/// The value at p, which may be unaligned. The caller has checked that sizeof(T) bytes exist.
template <class T>
[[nodiscard]] T load(const uint8_t* p, bool big_endian = false) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return big_endian ? swap_bytes(value) : value;
}

template <class T>
void store(uint8_t* p, T value, bool big_endian = false) {
  if (big_endian) value = swap_bytes(value);
  std::memcpy(p, &value, sizeof(T));
}

}  // namespace ggufscope
