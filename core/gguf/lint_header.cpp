// Rules on the version, the keys and the values, whatever they mean.
#include <algorithm>

#include "base/utf8.hpp"
#include "gguf/arrays.hpp"
#include "gguf/lint_rules.hpp"

namespace ggufscope {
namespace {

void check_magic_order(const LintFile& file, FindingList& findings) {
  if (file.gguf.bytes[0] == 'F')
    findings.add(0, "the magic is FUGG, as drafts of August 2023 wrote it: loaders want GGUF");
}

void check_version(const LintFile& file, FindingList& findings) {
  if (file.gguf.header.version == 1) findings.add(4, "version 1 is no longer read by ggml");
}

void check_big_endian(const LintFile& file, FindingList& findings) {
  if (file.gguf.header.big_endian) findings.add(4, "the file is big-endian: ggml reads it on big-endian machines only");
}

void check_big_endian_version(const LintFile& file, FindingList& findings) {
  if (file.gguf.header.big_endian && file.gguf.header.version < 3)
    findings.add(4, "big-endian files exist from version 3 on");
}

void check_empty_key(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values)
    if (kv.key.length == 0) findings.add(kv.key.offset, "a key is empty");
}

void check_duplicate_key(const LintFile& file, FindingList& findings) {
  const auto& kvs = file.gguf.header.key_values;
  std::vector<std::string_view> keys(kvs.size());
  std::ranges::transform(kvs, keys.begin(), [&](const KeyValue& kv) { return file.gguf.text(kv.key); });
  for (const size_t i : find_duplicates(keys))
    findings.add(kvs[i].key.offset, {"key ", Quoted{keys[i]}, " is there already"});
}

constexpr uint64_t kMaxKeyLength = 65535;

void check_key_length(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values)
    if (kv.key.length > kMaxKeyLength) findings.add(kv.key.offset, "a key is longer than 65535 bytes");
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

void check_key_ascii(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    if (!is_ascii(key)) findings.add(kv.key.offset, {"key ", Quoted{key}, " is not ASCII"});
  }
}

/// Segments of a-z, 0-9 and _, with dots between. The architecture's name has a rule of its own.
bool is_hierarchical(std::string_view key, std::string_view architecture) {
  if (!architecture.empty() && key.starts_with(architecture) && key.substr(architecture.size()).starts_with('.'))
    key.remove_prefix(architecture.size() + 1);
  char before = '.';
  for (const char c : key) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!word && (c != '.' || before == '.')) return false;
    before = c;
  }
  return before != '.';
}

void check_key_syntax(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    if (!key.empty() && is_ascii(key) && !is_hierarchical(key, file.architecture))
      findings.add(kv.key.offset, {"key ", Quoted{key}, " is not of snake_case words with dots between"});
  }
}

void check_nested_array(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values)
    if (kv.type == ValueType::kArray && kv.element_type == ValueType::kArray)
      findings.add(kv.value.offset, {Quoted{file.gguf.text(kv.key)}, " is an array of arrays: ggml reads none"});
}

void check_bool_value(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    if (kv.element_type != ValueType::kBool) continue;
    const ByteView bytes =
        file.gguf.bytes.subspan(static_cast<size_t>(kv.value.offset), static_cast<size_t>(kv.value.length));
    const auto bad = std::ranges::find_if(bytes, [](uint8_t b) { return b > 1; });
    if (bad != bytes.end())
      findings.add(kv.value.offset + static_cast<uint64_t>(bad - bytes.begin()),
                   {"a bool of ", Quoted{file.gguf.text(kv.key)}, " is ", *bad, ", neither 0 nor 1"});
  }
}

/// visit(kv, extent) for each string value and each string of an array, until it says false for that key.
template <class Visit>
void visit_strings(const LintFile& file, Visit&& visit) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    if (kv.type == ValueType::kString) {
      visit(kv, kv.value);
    } else if (kv.type == ValueType::kArray && kv.element_type == ValueType::kString) {
      bool go_on = true;
      for_each_string(file.gguf, kv, [&](uint64_t, Extent text) { go_on = go_on && visit(kv, text); });
    }
  }
}

void check_value_utf8(const LintFile& file, FindingList& findings) {
  visit_strings(file, [&](const KeyValue& kv, Extent text) {
    const ByteView bytes = file.gguf.bytes.subspan(static_cast<size_t>(text.offset), static_cast<size_t>(text.length));
    if (utf16_length(bytes)) return true;
    findings.add(text.offset, {"a string of ", Quoted{file.gguf.text(kv.key)}, " is not UTF-8"});
    return false;  // one for each key
  });
}

void check_value_nul(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values)
    if (kv.type == ValueType::kString && file.gguf.text(kv.value).contains('\0'))
      findings.add(kv.value.offset,
                   {Quoted{file.gguf.text(kv.key)}, " holds a NUL: readers in C see only what is before it"});
}

void check_value_type(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    const StandardKey* row = find_standard_key(key);
    if (row == nullptr || has_type_of(kv, *row)) continue;
    const char* array = "an array of ";
    findings.add(kv.key.offset,
                 {Quoted{key}, " is ", kv.type == ValueType::kArray ? array : "", value_type_name(kv.element_type),
                  ", not ", row->form == KeyForm::kList ? array : "", value_type_name(row->type)});
  }
}

constexpr LintRule kRules[] = {
    {"magic-order", FindingLevel::kError, check_magic_order},
    {"version-1", FindingLevel::kError, check_version},
    {"big-endian", FindingLevel::kNote, check_big_endian},
    {"big-endian-version", FindingLevel::kSpec, check_big_endian_version},
    {"empty-key", FindingLevel::kError, check_empty_key},
    {"duplicate-key", FindingLevel::kError, check_duplicate_key},
    {"key-length", FindingLevel::kSpec, check_key_length},
    {"key-ascii", FindingLevel::kSpec, check_key_ascii},
    {"key-syntax", FindingLevel::kSpec, check_key_syntax},
    {"nested-array", FindingLevel::kError, check_nested_array},
    {"bool-value", FindingLevel::kSpec, check_bool_value},
    {"string-utf8", FindingLevel::kSpec, check_value_utf8},
    {"string-nul", FindingLevel::kNote, check_value_nul},
    {"value-type", FindingLevel::kSpec, check_value_type},
};

}  // namespace

RuleSpan header_rules() { return kRules; }

}  // namespace ggufscope
