// The table of standardized keys, packed, and how a key is found in it.
#include "gguf/keys.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "gguf/access.hpp"

namespace ggufscope {
namespace {

using enum ValueType;
using enum KeyForm;

// One text and one byte a row: a table of string views would add its addresses to what every page loads.
// clang-format off
constexpr std::string_view kKeyPatterns =
#define GGUFSCOPE_KEY(pattern, type, form, unit, meaning) pattern "\n"
#include "gguf/keys.inc"
#undef GGUFSCOPE_KEY
    ;
constexpr uint8_t kKeyKinds[] = {
#define GGUFSCOPE_KEY(pattern, type, form, unit, meaning) uint8_t(uint8_t(type) << 2 | uint8_t(form)),
#include "gguf/keys.inc"
#undef GGUFSCOPE_KEY
};
// clang-format on

constexpr std::string_view kArch = "{arch}";

std::array<StandardKey, std::size(kKeyKinds)> unpack_keys() {
  std::array<StandardKey, std::size(kKeyKinds)> keys{};
  std::string_view rest = kKeyPatterns;
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t end = rest.find('\n');
    const std::string_view pattern = rest.substr(0, end);
    keys[i] = {pattern, ValueType(kKeyKinds[i] >> 2), KeyForm(kKeyKinds[i] & 3),
               pattern.find('{', 1) != std::string_view::npos};
    rest.remove_prefix(end + 1);
  }
  return keys;
}

/// Matches a key against a pattern: a placeholder matches one segment, {id} only digits, {tensor} all that is left.
bool matches(std::string_view pattern, std::string_view key) {
  while (!pattern.empty()) {
    if (pattern[0] != '{') {
      if (key.empty() || key[0] != pattern[0]) return false;
      pattern.remove_prefix(1);
      key.remove_prefix(1);
      continue;
    }
    if (pattern == "{tensor}") return !key.empty();
    const std::string_view segment = key.substr(0, key.find('.'));
    const bool digits = std::ranges::all_of(segment, [](char c) { return c >= '0' && c <= '9'; });
    if (segment.empty() || (pattern.starts_with("{id}") && !digits)) return false;
    pattern.remove_prefix(pattern.find('}') + 1);
    key.remove_prefix(segment.size());
  }
  return key.empty();
}

constexpr bool is_wide_unsigned(ValueType type) { return type == kU32 || type == kU64; }

}  // namespace

std::span<const StandardKey> standard_keys() {
  static const std::array<StandardKey, std::size(kKeyKinds)> keys = unpack_keys();
  return keys;
}

const StandardKey* find_standard_key(std::string_view key) {
  // Rows with {arch} are tried last, so that "general" in "general.name" is not taken for an architecture.
  const size_t dot = key.find('.');
  const std::string_view after_arch = dot == 0 || dot == std::string_view::npos ? "" : key.substr(dot);
  const StandardKey* found = nullptr;
  for (const StandardKey& row : standard_keys()) {
    const std::string_view pattern = row.pattern;
    if (pattern.starts_with(kArch)) {
      if (found != nullptr) continue;
      const bool same = row.has_placeholder ? matches(pattern, key) : pattern.substr(kArch.size()) == after_arch;
      if (same) found = &row;
    } else if (row.has_placeholder ? matches(pattern, key) : pattern == key) {
      return &row;
    }
  }
  return found;
}

bool has_type_of(const KeyValue& kv, const StandardKey& row) {
  const bool array = kv.type == kArray;
  if (array ? row.form == kOne : row.form == kList) return false;
  const ValueType type = array ? kv.element_type : kv.type;
  if (type == row.type || (is_wide_unsigned(type) && is_wide_unsigned(row.type))) return true;
  return array && ((type == kI32 && row.type == kU32) || (type == kU32 && row.type == kI32));
}

std::string_view file_kind_name(FileKind kind) {
  constexpr std::string_view names[] = {"model",   "vocabulary",     "adapter", "projector",
                                        "imatrix", "control-vector", "metadata"};
  return names[static_cast<size_t>(kind)];
}

FileKind file_kind(const Gguf& gguf) {
  const std::string_view type = get_string(gguf, "general.type").value_or("");
  const std::string_view architecture = get_string(gguf, "general.architecture").value_or("");
  if (type == "adapter" || find_key(gguf, "adapter.type") != nullptr) return FileKind::kAdapter;
  if (type == "imatrix" || find_key(gguf, "imatrix.chunk_count") != nullptr) return FileKind::kImportance;
  if (type == "mmproj" || architecture == "clip") return FileKind::kProjector;
  if (architecture == "controlvector") return FileKind::kControlVector;
  // The first file of a split model may hold no tensor.
  if (!gguf.header.tensors.empty() || get_u64(gguf, "split.tensors.count").value_or(0) > 0) return FileKind::kModel;
  return find_key(gguf, "tokenizer.ggml.model") != nullptr ? FileKind::kVocabulary : FileKind::kMetadata;
}

}  // namespace ggufscope
