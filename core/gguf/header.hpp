// GGUF, the container (ggml docs/gguf.md, versions 1 to 3, either byte order):
//
//   1. magic "GGUF" (drafts of version 1 wrote "FUGG"); u32 version, in the byte order of the file
//   2. tensor count, key-value count     (u64; u32 in version 1)
//   3. key-values: string key; u32 value type; value
//        string = length (u64; u32 in version 1), then that many bytes, not terminated
//        array  = u32 element type; element count (u64; u32 in version 1); elements, which may be arrays
//   4. tensor infos: string name; u32 n_dims; n_dims dimensions (u64; u32 in version 1), fastest first;
//        u32 type; u64 offset, relative to the start of the tensor data
//   5. padding to general.alignment (32 when absent); tensor data
//
// The parser copies nothing from the file: strings and arrays are referenced by absolute offsets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "types/types.hpp"

namespace ggufscope {

/// Upper limit for offsets, sizes and counts, so that the sum of two cannot wrap.
inline constexpr uint64_t kMaxOffset = uint64_t{1} << 63;

enum class ValueType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

inline constexpr uint32_t kValueTypes = 13;

/// Size in bytes of a value with a fixed-size type; 0 for strings and arrays.
[[nodiscard]] constexpr uint32_t value_size(ValueType type) {
  constexpr uint8_t sizes[kValueTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return static_cast<uint32_t>(type) < kValueTypes ? sizes[static_cast<uint32_t>(type)] : 0;
}

/// "u8", "string", "array", ...
[[nodiscard]] constexpr std::string_view value_type_name(ValueType type) {
  constexpr std::string_view names[kValueTypes] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                   "bool", "string", "array", "u64", "i64", "f64"};
  return static_cast<uint32_t>(type) < kValueTypes ? names[static_cast<uint32_t>(type)] : "unknown";
}

/// A range of bytes in the file: [offset, offset + length).
struct Extent {
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct KeyValue {
  Extent key;  ///< the key's text, without its length prefix
  ValueType type = ValueType::kU8;
  ValueType element_type = ValueType::kU8;  ///< element type of an array; otherwise equal to type
  uint64_t count = 1;                       ///< number of array elements; 1 for scalars
  Extent value;                             ///< the value's bytes: a string's text, or all elements of an array
};

inline constexpr uint32_t kMaxDims = 8;  ///< ggml allows 4; files with more are listed and get a lint finding

struct TensorInfo {
  Extent name;
  uint32_t n_dims = 0;
  std::array<uint64_t, kMaxDims> shape{};  ///< ggml order: fastest-varying first; 1 beyond n_dims
  uint32_t type = 0;                       ///< ggml type id, possibly unknown
  uint64_t offset = 0;                     ///< absolute: data_offset + relative_offset
  uint64_t relative_offset = 0;            ///< as stored in the file
  uint64_t n_elements = 0;
  uint64_t n_bytes = 0;      ///< 0 for a type with unknown layout, or if a row is not a whole number of blocks
  uint64_t info_offset = 0;  ///< where this entry begins in the header
};

struct Header {
  uint32_t version = 0;
  bool big_endian = false;
  uint32_t alignment = 32;
  std::vector<KeyValue> key_values;
  std::vector<TensorInfo> tensors;
  uint64_t info_end = 0;     ///< first byte after the last tensor info
  uint64_t data_offset = 0;  ///< info_end, padded to the alignment
  bool small_blocks =
      false;  ///< the K types' super-blocks have 64 elements (small_blocks.hpp); n_bytes accounts for it
};

/// A parsed header and a view of the file's bytes, which must include at least [0, info_end).
struct Gguf {
  const Header& header;
  ByteView bytes;

  [[nodiscard]] std::string_view text(Extent e) const {
    return {reinterpret_cast<const char*>(bytes.data()) + e.offset, static_cast<size_t>(e.length)};
  }
};

}  // namespace ggufscope
