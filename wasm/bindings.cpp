// The inspect module as JavaScript sees it. Numbers cross as doubles (safe integers), tables as pointers into the heap
// that the caller copies from at once.
#include <emscripten/bind.h>

#include "document.hpp"
#include "gguf/header.hpp"
#include "types/types.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

/// [pointer, length] of what a call left in the heap.
struct Span {
  uintptr_t pointer;
  uint32_t length;
};

template <class T>
Span span_of(const std::vector<T>& values) {
  return {reinterpret_cast<uintptr_t>(values.data()), static_cast<uint32_t>(values.size())};
}

struct ArrayInfo {
  std::string type;
  uint32_t length;
  double offset;  ///< of the elements' bytes in the file
  double bytes;
};

ArrayInfo array_info(const Document& document, uint32_t array) {
  const KeyValue& kv = document.array(array);
  return {std::string(value_type_name(kv.element_type)), static_cast<uint32_t>(kv.count),
          static_cast<double>(kv.value.offset), static_cast<double>(kv.value.length)};
}

Span string_at(Document& document, uint32_t array, double i) {
  const Extent text = document.string_at(array, i);
  return {reinterpret_cast<uintptr_t>(document.bytes().data() + text.offset), static_cast<uint32_t>(text.length)};
}

struct TypeRow {
  uint32_t id;
  std::string name;
  uint32_t block_size;
  uint32_t block_bytes;
  bool removed;
};

uint32_t type_count() { return static_cast<uint32_t>(all_types().size()); }

TypeRow type_row(uint32_t i) {
  const TypeGeometry& type = all_types()[i];
  return {type.id, std::string(type.name), type.block_size, type.block_bytes, type.removed};
}

uint32_t length_u32(size_t n) { return static_cast<uint32_t>(n); }

}  // namespace

EMSCRIPTEN_BINDINGS(inspect) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<ArrayInfo>("ArrayInfo")
      .field("type", &ArrayInfo::type)
      .field("length", &ArrayInfo::length)
      .field("offset", &ArrayInfo::offset)
      .field("bytes", &ArrayInfo::bytes);
  value_object<TypeRow>("TypeRow")
      .field("id", &TypeRow::id)
      .field("name", &TypeRow::name)
      .field("blockSize", &TypeRow::block_size)
      .field("blockBytes", &TypeRow::block_bytes)
      .field("removed", &TypeRow::removed);
  function("typeCount", &type_count);
  function("typeRow", &type_row);

  class_<Document>("Document")
      .constructor<>()
      .function(
          "reserve", +[](Document& d, uint32_t n) { return reinterpret_cast<uintptr_t>(d.reserve(n)); })
      .function(
          "advance", +[](Document& d, uint32_t n, double size) { return d.advance(n, size); })
      .function(
          "base", +[](const Document& d) { return reinterpret_cast<uintptr_t>(d.bytes().data()); })
      .function(
          "errorCode", +[](const Document& d) { return std::string(error_name(d.error().code)); })
      .function(
          "errorMessage", +[](const Document& d) { return d.error().message; })
      .function(
          "errorOffset", +[](const Document& d) { return static_cast<double>(d.error().offset); })
      .function(
          "version", +[](const Document& d) { return d.header().version; })
      .function(
          "bigEndian", +[](const Document& d) { return d.header().big_endian; })
      .function(
          "alignment", +[](const Document& d) { return d.header().alignment; })
      .function(
          "headerLength", +[](const Document& d) { return static_cast<double>(d.header().info_end); })
      .function(
          "dataOffset", +[](const Document& d) { return static_cast<double>(d.header().data_offset); })
      .function(
          "keyCount", +[](const Document& d) { return static_cast<double>(d.state().n_key_values); })
      .function(
          "tensorCount", +[](const Document& d) { return static_cast<double>(d.state().n_tensors); })
      .function(
          "keysSeen", +[](const Document& d) { return length_u32(d.header().key_values.size()); })
      .function(
          "tensorsSeen", +[](const Document& d) { return length_u32(d.header().tensors.size()); })
      .function(
          "keyTable", +[](Document& d) { return span_of(d.key_table()); })
      .function(
          "tensorTable", +[](Document& d) { return span_of(d.tensor_table()); })
      .function("gatherKeys", &Document::gather_keys)
      .function("gatherTensorNames", &Document::gather_tensor_names)
      .function("gatherStrings", &Document::gather_strings)
      .function(
          "texts", +[](const Document& d) { return span_of(d.texts()); })
      .function(
          "ends", +[](const Document& d) { return span_of(d.ends()); })
      .function("arrayOfKey", &Document::array_of_key)
      .function("arrayOfElement", &Document::array_of_element)
      .function("arrayInfo", &array_info)
      .function("stringAt", &string_at);
}

}  // namespace ggufscope
