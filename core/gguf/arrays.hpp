// Pages of arrays, without making anything of the elements that are not asked for.
//
//   array of numbers or bools: element i is at value.offset + i * value_size(element_type)
//   array of strings:          length, text, length, text, ...: found by hopping from the nearest checkpoint
//   array of arrays:           element type, count, elements: the same
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gguf/header.hpp"

namespace ggufscope {

/// Where every kStride-th element of one array of strings or arrays begins. Grows as far as was asked for; an empty one
/// is valid. 8 bytes for 64 elements.
struct ArrayIndex {
  static constexpr uint64_t kStride = 64;
  std::vector<uint64_t> checkpoints;  ///< absolute offset of element i * kStride
};

/// Elements [from, to) of an array of any kind, clipped to its count; empty for a scalar. A string's value is its text;
/// a number's its bytes; a nested array has element_type, count and value, and can be sliced again (with its own
/// index).
[[nodiscard]] std::vector<KeyValue> slice(const Gguf& gguf, const KeyValue& array, ArrayIndex& index, uint64_t from,
                                          uint64_t to);

/// Bytes of a string length, an array count or a dimension.
[[nodiscard]] constexpr uint64_t length_bytes(const Header& header) { return header.version == 1 ? 4 : 8; }

/// A length, a count or a dimension at that offset.
[[nodiscard]] inline uint64_t load_length(const Gguf& gguf, uint64_t offset) {
  const uint8_t* p = gguf.bytes.data() + offset;
  return gguf.header.version == 1 ? load<uint32_t>(p, gguf.header.big_endian)
                                  : load<uint64_t>(p, gguf.header.big_endian);
}

/// visit(index, text's extent) for each string of an array of strings, in order.
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
