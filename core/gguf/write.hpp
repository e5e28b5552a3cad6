// Writes headers (versions 2 and 3, either byte order): takes key-values and tensor infos, returns the bytes before the
// tensor data. The caller writes the tensor data at the returned offsets.
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

/// A key-value to write. Its views must stay valid until write_header returns.
struct WriteKeyValue {
  std::string_view key;
  ValueType type = ValueType::kU8;
  ValueType element_type = ValueType::kU8;  ///< element type of an array
  uint64_t count = 1;                       ///< elements of an array
  ByteView value;     ///< see KeyValue::value: a number, a string's text, or an array's elements with their lengths
  Encoding encoding;  ///< encoding of `value`; it is converted if the target's differs
};

struct WriteTensor {
  std::string_view name;
  uint32_t n_dims = 0;
  std::array<uint64_t, kMaxDims> shape{};
  uint32_t type = 0;
  uint64_t n_bytes = 0;
  std::optional<uint64_t> relative_offset;  ///< default: the end of the previous tensor, padded to the alignment
};

struct WrittenHeader {
  std::vector<uint8_t> bytes;              ///< all bytes before the tensor data, including padding
  uint32_t alignment = 32;                 ///< as in the key-values
  std::vector<uint64_t> relative_offsets;  ///< of each tensor; add bytes.size() for the absolute offset
  uint64_t data_bytes = 0;                 ///< size of the tensor data, including the padding after the last tensor
};

/// The smallest multiple of alignment (not 0) that is at least offset.
[[nodiscard]] constexpr uint64_t align_up(uint64_t offset, uint64_t alignment) {
  return offset + (alignment - offset % alignment) % alignment;
}

/// Errors: kUnsupported (a version other than 2 and 3), kBadAlignment (general.alignment is not a u32 from 1 to 2^24),
/// kInvalidArgument (a value's bytes do not match its type and count), kBadShape, kOverflow.
[[nodiscard]] Result<WrittenHeader> write_header(Encoding target, std::span<const WriteKeyValue> key_values,
                                                 std::span<const WriteTensor> tensors);

/// An entry of an open file, ready to be written. A tensor keeps its offset.
[[nodiscard]] WriteKeyValue copy_of(const Gguf& gguf, const KeyValue& kv);
[[nodiscard]] WriteTensor copy_of(const Gguf& gguf, const TensorInfo& tensor);

/// Encodes the elements of an array of strings, in the default encoding.
[[nodiscard]] std::vector<uint8_t> encode_strings(std::span<const std::string_view> strings);

}  // namespace ggufscope
