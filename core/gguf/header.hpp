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
// Nothing is copied out of the file here: strings and arrays stay where they are, named by absolute offsets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "types/types.hpp"

namespace ggufscope {

/// Offsets, sizes and counts stay below: sums of two cannot wrap.
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

/// Bytes of one value of a type of fixed size; 0 for strings and arrays.
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

/// Bytes in the file: [offset, offset + length).
struct Extent {
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct KeyValue {
  Extent key;  ///< the text of the key, without its length
  ValueType type = ValueType::kU8;
  ValueType element_type = ValueType::kU8;  ///< of an array; else equal to type
  uint64_t count = 1;                       ///< elements of an array; 1 for scalars
  Extent value;                             ///< the value's bytes: a string's text, an array's elements (all of them)
};

inline constexpr uint32_t kMaxDims = 8;  ///< ggml has 4; more are listed leniently, with a finding

struct TensorInfo {
  Extent name;
  uint32_t n_dims = 0;
  std::array<uint64_t, kMaxDims> shape{};  ///< ggml order: fastest first; 1 beyond n_dims
  uint32_t type = 0;                       ///< ggml type id, known or not
  uint64_t offset = 0;                     ///< absolute: data_offset + relative_offset
  uint64_t relative_offset = 0;            ///< as the file says
  uint64_t n_elements = 0;
  uint64_t n_bytes = 0;      ///< 0 where the type has no known layout, or a row is not whole blocks
  uint64_t info_offset = 0;  ///< where this entry begins in the header
};

struct Header {
  uint32_t version = 0;
  bool big_endian = false;
  uint32_t alignment = 32;
  std::vector<KeyValue> key_values;
  std::vector<TensorInfo> tensors;
  uint64_t info_end = 0;      ///< first byte after the last tensor info
  uint64_t data_offset = 0;   ///< info_end padded to alignment
  bool small_blocks = false;  ///< the K types' super-blocks have 64 elements (small_blocks.hpp); n_bytes are theirs
};

/// A parsed header with the bytes that it borrows (at least [0, info_end) of the file).
struct Gguf {
  const Header& header;
  ByteView bytes;

  [[nodiscard]] std::string_view text(Extent e) const {
    return {reinterpret_cast<const char*>(bytes.data()) + e.offset, static_cast<size_t>(e.length)};
  }
};

}  // namespace ggufscope
