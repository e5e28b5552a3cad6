// The JavaScript interface of the inspect module. Numbers are passed as doubles (safe integers). Tables are spans of
// the heap, which the caller must copy at once.
#include <emscripten/bind.h>

#include "document.hpp"
#include "gguf/ftype.hpp"
#include "gguf/header.hpp"
#include "gguf/keys.hpp"
#include "gguf/names.hpp"
#include "object.hpp"
#include "span.hpp"
#include "types/forks.hpp"
#include "types/types.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

constexpr uint32_t kMaxShards = 4096;

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

/// The header's own fields, and the numbers of keys and tensors as declared and as parsed so far.
struct Facts {
  uint32_t version;
  bool big_endian;
  double alignment;
  double data_offset;
  double key_count;
  double tensor_count;
  double keys_seen;
  double tensors_seen;
  bool small_blocks;
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
          static_cast<double>(header.tensors.size()),
          header.small_blocks};
}

std::string kind(const Document& document) { return std::string(file_kind_name(file_kind(document.gguf()))); }

struct FindingRow {
  std::string level;
  std::string code;
  std::string message;
  double offset;  ///< -1: none
};

FindingRow finding(const Document& document, uint32_t i) {
  const Finding& row = document.finding(i);
  return {std::string(finding_level_name(row.level)), std::string(row.code), row.message,
          row.offset == kNoPlace ? -1 : static_cast<double>(row.offset)};
}

struct ArrayInfo {
  std::string type;
  double length;
  double offset;  ///< offset in the file of the elements' bytes
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
  uint32_t small_block_bytes;
  bool legacy;
};

uint32_t type_count() { return static_cast<uint32_t>(all_types().size() + legacy_types().size()); }

TypeRow type_row(uint32_t i) {
  const size_t n = all_types().size();
  const TypeGeometry& type = i < n ? all_types()[i] : legacy_types()[i - n];
  return {type.id,      std::string(type.name),     type.block_size, type.block_bytes,
          type.removed, small_block_bytes(type.id), i >= n};
}

std::string fork_type_name(uint32_t id) { return std::string(fork_type(id).name); }

std::string file_type_text(uint32_t id) {
  const FileType* type = find_file_type(id);
  if (const std::string_view newer = newer_file_type(id); !newer.empty()) return std::string(newer);
  if (type == nullptr) return "unknown(" + std::to_string(id) + ")";
  return std::string(type->name) + ((id & kFileTypeGuessed) != 0 ? " (guessed)" : "");
}

/// The file names of the whole set, each followed by a NUL; empty if the name is not that of a shard.
std::string shard_set(const std::string& name) {
  std::string all;
  if (const auto shard = parse_shard(name); shard && shard->total <= kMaxShards)
    for (const std::string& one : shard_names(*shard)) all += one + '\0';
  return all;
}

}  // namespace

EMSCRIPTEN_BINDINGS(inspect) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_array<Failure>("Failure").element(&Failure::code).element(&Failure::message).element(&Failure::offset);
  value_array<Facts>("Facts")
      .element(&Facts::version)
      .element(&Facts::big_endian)
      .element(&Facts::alignment)
      .element(&Facts::data_offset)
      .element(&Facts::key_count)
      .element(&Facts::tensor_count)
      .element(&Facts::keys_seen)
      .element(&Facts::tensors_seen)
      .element(&Facts::small_blocks);
  value_array<FindingRow>("Finding")
      .element(&FindingRow::level)
      .element(&FindingRow::code)
      .element(&FindingRow::message)
      .element(&FindingRow::offset);
  value_array<ArrayInfo>("ArrayInfo").element(&ArrayInfo::type).element(&ArrayInfo::length).element(&ArrayInfo::offset);
  value_array<TypeRow>("TypeRow")
      .element(&TypeRow::id)
      .element(&TypeRow::name)
      .element(&TypeRow::block_size)
      .element(&TypeRow::block_bytes)
      .element(&TypeRow::removed)
      .element(&TypeRow::small_block_bytes)
      .element(&TypeRow::legacy);

  function("Document_new", &make<Document>);
  function("Document_delete", &remove<Document>);
  function("Document_reserve", method<Document, &reserve>);
  function("Document_advance", method<Document, &Document::advance>);
  function("Document_base", method<Document, &base>);
  function("Document_failure", method<Document, &failure>);
  function("Document_facts", method<Document, &facts>);
  function("Document_kind", method<Document, &kind>);
  function("Document_lint", method<Document, &Document::lint>);
  function("Document_finding", method<Document, &finding>);
  function("Document_keyTable", method<Document, &key_table>);
  function("Document_tensorTable", method<Document, &tensor_table>);
  function("Document_gatherKeys", method<Document, &Document::gather_keys>);
  function("Document_gatherTensorNames", method<Document, &Document::gather_tensor_names>);
  function("Document_gatherStrings", method<Document, &Document::gather_strings>);
  function("Document_texts", method<Document, &texts>);
  function("Document_ends", method<Document, &ends>);
  function("Document_arrayOfKey", method<Document, &Document::array_of_key>);
  function("Document_arrayOfElement", method<Document, &Document::array_of_element>);
  function("Document_arrayInfo", method<Document, &array_info>);
  function("Document_stringAt", method<Document, &string_at>);

  function("typeCount", &type_count);
  function("typeRow", &type_row);
  function("forkTypeName", &fork_type_name);
  function("fileTypeName", &file_type_text);
  function("shardNames", &shard_set);
}

}  // namespace ggufscope
