// The inspect module as JavaScript sees it. Numbers cross as doubles (safe integers), tables as spans of the heap that
// the caller copies from at once.
#include <emscripten/bind.h>

#include "document.hpp"
#include "gguf/ftype.hpp"
#include "gguf/header.hpp"
#include "gguf/keys.hpp"
#include "gguf/names.hpp"
#include "span.hpp"
#include "types/types.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

constexpr uint32_t kMostShards = 4096;

Span key_table(Document& document) { return span_of(document.key_table()); }
Span tensor_table(Document& document) { return span_of(document.tensor_table()); }
Span texts(Document& document) { return span_of(document.texts()); }
Span ends(Document& document) { return span_of(document.ends()); }

Span string_at(Document& document, uint32_t array, double i) {
  const Extent text = document.string_at(array, i);
  return {reinterpret_cast<uintptr_t>(document.bytes().data() + text.offset), static_cast<uint32_t>(text.length)};
}

uintptr_t reserve(Document& document, uint32_t n) { return reinterpret_cast<uintptr_t>(document.reserve(n)); }
uintptr_t base(Document& document) { return reinterpret_cast<uintptr_t>(document.bytes().data()); }

struct Failure {
  std::string code;
  std::string message;
  double offset;
};

Failure failure(const Document& document) {
  const Error& error = document.error();
  return {std::string(error_name(error.code)), error.message, static_cast<double>(error.offset)};
}

/// What the header says of itself; keys and tensors as declared, and as parsed so far.
struct Facts {
  uint32_t version;
  bool big_endian;
  double alignment;
  double data_offset;
  double key_count;
  double tensor_count;
  double keys_seen;
  double tensors_seen;
};

Facts facts(const Document& document) {
  const ParseState& state = document.state();
  const Header& header = state.header;
  return {header.version,
          header.big_endian,
          static_cast<double>(header.alignment),
          static_cast<double>(header.data_offset),
          static_cast<double>(state.n_key_values),
          static_cast<double>(state.n_tensors),
          static_cast<double>(header.key_values.size()),
          static_cast<double>(header.tensors.size())};
}

std::string kind(const Document& document) { return std::string(file_kind_name(file_kind(document.gguf()))); }

struct FindingRow {
  std::string level;
  std::string code;
  std::string message;
  double offset;
};

FindingRow finding(const Document& document, uint32_t i) {
  const Finding& row = document.finding(i);
  return {std::string(finding_level_name(row.level)), std::string(row.code), row.message,
          static_cast<double>(row.offset)};
}

struct ArrayInfo {
  std::string type;
  double length;
  double offset;  ///< of the elements' bytes in the file
};

ArrayInfo array_info(const Document& document, uint32_t array) {
  const KeyValue& kv = document.array(array);
  return {std::string(value_type_name(kv.element_type)), static_cast<double>(kv.count),
          static_cast<double>(kv.value.offset)};
}

struct TypeRow {
  uint32_t id;
  std::string name;
  uint32_t block_size;
  uint32_t block_bytes;
  bool removed;
};

uint32_t type_count() { return static_cast<uint32_t>(all_types().size() + legacy_types().size()); }

TypeRow type_row(uint32_t i) {
  const size_t n = all_types().size();
  const TypeGeometry& type = i < n ? all_types()[i] : legacy_types()[i - n];
  return {type.id, std::string(type.name), type.block_size, type.block_bytes, type.removed};
}

std::string file_type_text(uint32_t id) {
  const FileType* type = find_file_type(id);
  if (type == nullptr) return "unknown(" + std::to_string(id) + ")";
  return std::string(type->name) + ((id & kFileTypeGuessed) != 0 ? " (guessed)" : "");
}

/// Names of the whole set, a NUL behind each; empty where the name is not that of a shard.
std::string shard_set(const std::string& name) {
  std::string all;
  if (const auto shard = parse_shard(name); shard && shard->total <= kMostShards)
    for (const std::string& one : shard_names(*shard)) all += one + '\0';
  return all;
}

struct KeyMeaning {
  std::string unit;
  std::string meaning;
};

KeyMeaning key_meaning(const std::string& key) {
  const StandardKey* row = find_standard_key(key);
  return row == nullptr ? KeyMeaning{} : KeyMeaning{std::string(row->unit), std::string(row->meaning)};
}

}  // namespace

EMSCRIPTEN_BINDINGS(inspect) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<Failure>("Failure")
      .field("code", &Failure::code)
      .field("message", &Failure::message)
      .field("offset", &Failure::offset);
  value_object<Facts>("Facts")
      .field("version", &Facts::version)
      .field("bigEndian", &Facts::big_endian)
      .field("alignment", &Facts::alignment)
      .field("dataOffset", &Facts::data_offset)
      .field("keyCount", &Facts::key_count)
      .field("tensorCount", &Facts::tensor_count)
      .field("keysSeen", &Facts::keys_seen)
      .field("tensorsSeen", &Facts::tensors_seen);
  value_object<FindingRow>("Finding")
      .field("level", &FindingRow::level)
      .field("code", &FindingRow::code)
      .field("message", &FindingRow::message)
      .field("offset", &FindingRow::offset);
  value_object<ArrayInfo>("ArrayInfo")
      .field("type", &ArrayInfo::type)
      .field("length", &ArrayInfo::length)
      .field("offset", &ArrayInfo::offset);
  value_object<TypeRow>("TypeRow")
      .field("id", &TypeRow::id)
      .field("name", &TypeRow::name)
      .field("blockSize", &TypeRow::block_size)
      .field("blockBytes", &TypeRow::block_bytes)
      .field("removed", &TypeRow::removed);
  value_object<KeyMeaning>("KeyMeaning").field("unit", &KeyMeaning::unit).field("meaning", &KeyMeaning::meaning);

  class_<Document>("Document")
      .constructor<>()
      .function("reserve", &reserve)
      .function("advance", &Document::advance)
      .function("base", &base)
      .function("failure", &failure)
      .function("facts", &facts)
      .function("kind", &kind)
      .function("lint", &Document::lint)
      .function("finding", &finding)
      .function("keyTable", &key_table)
      .function("tensorTable", &tensor_table)
      .function("gatherKeys", &Document::gather_keys)
      .function("gatherTensorNames", &Document::gather_tensor_names)
      .function("gatherStrings", &Document::gather_strings)
      .function("texts", &texts)
      .function("ends", &ends)
      .function("arrayOfKey", &Document::array_of_key)
      .function("arrayOfElement", &Document::array_of_element)
      .function("arrayInfo", &array_info)
      .function("stringAt", &string_at);

  function("typeCount", &type_count);
  function("typeRow", &type_row);
  function("fileTypeName", &file_type_text);
  function("shardNames", &shard_set);
  function("keyMeaning", &key_meaning);
}

}  // namespace ggufscope
