// The writer of headers: key-values and tensor infos in, the bytes before the tensor data out (versions 2 and 3, either
// byte order). The tensor data itself is the caller's to place, at the offsets that come back.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

struct Encoding {
  uint32_t version = 3;
  bool big_endian = false;
};

/// One key-value to write. Borrows all its bytes.
struct WriteKeyValue {
  std::string_view key;
  ValueType type = ValueType::kU8;
  ValueType element_type = ValueType::kU8;  ///< of an array
  uint64_t count = 1;                       ///< elements of an array
  ByteView value;     ///< as KeyValue::value says: a number, a string's text, an array's elements with their lengths
  Encoding encoding;  ///< of value: rewritten where the target's is another
};

struct WriteTensor {
  std::string_view name;
  uint32_t n_dims = 0;
  std::array<uint64_t, kMaxDims> shape{};
  uint32_t type = 0;
  uint64_t n_bytes = 0;
  std::optional<uint64_t> relative_offset;  ///< else where the one before ends, padded to the alignment
};

struct WrittenHeader {
  std::vector<uint8_t> bytes;              ///< the whole of the file before the tensor data, padding included
  uint32_t alignment = 32;                 ///< as the key-values say
  std::vector<uint64_t> relative_offsets;  ///< of each tensor; absolute: bytes.size() more
  uint64_t data_bytes = 0;                 ///< of the tensor data, the last tensor's padding included
};

/// offset, or the next multiple of alignment (not 0) above it.
[[nodiscard]] constexpr uint64_t align_up(uint64_t offset, uint64_t alignment) {
  return offset + (alignment - offset % alignment) % alignment;
}

/// Errors: kUnsupported (a version other than 2 and 3), kBadAlignment (general.alignment is not a u32 from 1 to 2^24),
/// kInvalidArgument (a value whose bytes are not what its type and count say), kBadShape, kOverflow.
[[nodiscard]] Result<WrittenHeader> write_header(Encoding target, std::span<const WriteKeyValue> key_values,
                                                 std::span<const WriteTensor> tensors);

/// Entries of an opened file, as they stand in it; a tensor keeps its offset.
[[nodiscard]] WriteKeyValue copy_of(const Gguf& gguf, const KeyValue& kv);
[[nodiscard]] WriteTensor copy_of(const Gguf& gguf, const TensorInfo& tensor);

/// The elements of an array of strings, in the default encoding.
[[nodiscard]] std::vector<uint8_t> encode_strings(std::span<const std::string_view> strings);

}  // namespace ggufscope
