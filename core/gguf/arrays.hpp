// Reads ranges of array elements without decoding the others.
//
//   array of numbers or bools: element i is at value.offset + i * value_size(element_type)
//   array of strings:          length, text, length, text, ...: found by walking from the nearest checkpoint
//   array of arrays:           element type, count, elements: found in the same way
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gguf/header.hpp"

namespace ggufscope {

/// Offsets of every kStride-th element of one array of strings or arrays. It grows on demand; an empty one is valid. It
/// costs 8 bytes for 64 elements.
struct ArrayIndex {
  static constexpr uint64_t kStride = 64;
  std::vector<uint64_t> checkpoints;  ///< absolute offset of element i * kStride
};

/// Elements [from, to) of an array, clipped to its count; empty for a scalar. `value` is a string's text or a number's
/// bytes. A nested array has element_type, count and value, and can be sliced again with its own index.
[[nodiscard]] std::vector<KeyValue> slice(const Gguf& gguf, const KeyValue& array, ArrayIndex& index, uint64_t from,
                                          uint64_t to);

/// Size in bytes of a string length, an array count or a dimension.
[[nodiscard]] constexpr uint64_t length_bytes(const Header& header) { return header.version == 1 ? 4 : 8; }

/// Reads a length, a count or a dimension at that offset.
[[nodiscard]] inline uint64_t load_length(const Gguf& gguf, uint64_t offset) {
  const uint8_t* p = gguf.bytes.data() + offset;
  return gguf.header.version == 1 ? load<uint32_t>(p, gguf.header.big_endian)
                                  : load<uint64_t>(p, gguf.header.big_endian);
}

/// Calls visit(index, extent of the text) for each string of an array of strings, in order.
template <class Visit>
void for_each_string(const Gguf& gguf, const KeyValue& array, Visit&& visit) {
  const uint64_t prefix = length_bytes(gguf.header);
  uint64_t at = array.value.offset;
  for (uint64_t i = 0; i < array.count; ++i) {
    const Extent text{at + prefix, load_length(gguf, at)};
    visit(i, text);
    at = text.offset + text.length;
  }
}

}  // namespace ggufscope
