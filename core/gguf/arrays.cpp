// Walks the elements of an array to those that are asked for.
#include "gguf/arrays.hpp"

namespace ggufscope {
namespace {

/// Reads the element at an offset as a key-value without a key, and returns the next element's offset. The parser has
/// already walked these bytes, so lengths are valid and nesting is bounded.
struct Element {
  KeyValue value;
  uint64_t next;
};

Element element_at(const Gguf& gguf, ValueType type, uint64_t at) {
  Element element;
  element.value.type = element.value.element_type = type;
  if (type == ValueType::kString) {
    element.value.value = {at + length_bytes(gguf.header), load_length(gguf, at)};
  } else if (type != ValueType::kArray) {
    element.value.value = {at, value_size(type)};
  } else {
    KeyValue& array = element.value;
    array.element_type = static_cast<ValueType>(load<uint32_t>(gguf.bytes.data() + at, gguf.header.big_endian));
    array.count = load_length(gguf, at + 4);
    array.value.offset = at + 4 + length_bytes(gguf.header);
    if (const uint32_t size = value_size(array.element_type)) {
      array.value.length = array.count * size;
    } else {
      uint64_t end = array.value.offset;
      for (uint64_t i = 0; i < array.count; ++i) end = element_at(gguf, array.element_type, end).next;
      array.value.length = end - array.value.offset;
    }
  }
  element.next = element.value.value.offset + element.value.value.length;
  return element;
}

}  // namespace

std::vector<KeyValue> slice(const Gguf& gguf, const KeyValue& array, ArrayIndex& index, uint64_t from, uint64_t to) {
  std::vector<KeyValue> out;
  if (array.type != ValueType::kArray) return out;
  to = std::min(to, array.count);
  if (from >= to) return out;
  out.reserve(static_cast<size_t>(to - from));

  if (const uint32_t size = value_size(array.element_type)) {
    for (uint64_t i = from; i < to; ++i)
      out.push_back(element_at(gguf, array.element_type, array.value.offset + i * size).value);
    return out;
  }

  auto& checkpoints = index.checkpoints;
  if (checkpoints.empty()) checkpoints.push_back(array.value.offset);
  uint64_t i = std::min<uint64_t>(from / ArrayIndex::kStride, checkpoints.size() - 1) * ArrayIndex::kStride;
  uint64_t at = checkpoints[static_cast<size_t>(i / ArrayIndex::kStride)];
  for (; i < to; ++i) {
    if (i / ArrayIndex::kStride == checkpoints.size()) checkpoints.push_back(at);
    const Element element = element_at(gguf, array.element_type, at);
    if (i >= from) out.push_back(element.value);
    at = element.next;
  }
  return out;
}

}  // namespace ggufscope
