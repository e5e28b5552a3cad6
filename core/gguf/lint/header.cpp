// Rules on the version, keys and values that do not depend on their meaning.
#include <algorithm>
#include <charconv>

#include "base/utf8.hpp"
#include "gguf/arrays.hpp"
#include "gguf/lint/rules.hpp"

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

/// True if the segments consist of a-z, 0-9 and _, separated by dots. The architecture's name has its own rule.
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

/// Calls visit(kv, extent) for each string value and each string of an array, until it returns false for that key.
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
    return false;  // at most one finding for each key
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

/// An outdated key and its replacement.
struct Renamed {
  std::string_view key, now;
};
constexpr Renamed kRenamed[] = {
    {"tokenizer.ggml.prefix_token_id", "tokenizer.ggml.fim_pre_token_id"},
    {"tokenizer.ggml.suffix_token_id", "tokenizer.ggml.fim_suf_token_id"},
    {"tokenizer.ggml.middle_token_id", "tokenizer.ggml.fim_mid_token_id"},
    {"general.source.huggingface.repository", "general.source.repo_url"},
    {"general.datasets", "general.dataset.count"},
};

void check_deprecated_key(const LintFile& file, FindingList& findings) {
  for (const Renamed& row : kRenamed)
    if (const KeyValue* kv = find_key(file.gguf, row.key))
      findings.add(kv->key.offset, {row.key, " is deprecated: ", row.now, " says it today"});
  const std::string linear = std::string(file.architecture) + ".rope.scale_linear";
  if (const KeyValue* kv = find_key(file.gguf, linear))
    findings.add(kv->key.offset, "rope.scale_linear is deprecated: rope.scaling.type and .factor say it today");
}

void check_general_type(const LintFile& file, FindingList& findings) {
  const auto type = get_string(file.gguf, "general.type");
  if (type && !has_word("model adapter imatrix mmproj", *type))
    findings.add(key_offset(file.gguf, "general.type"),
                 {"general.type is ", Quoted{*type}, ", none of model, adapter, imatrix and mmproj"});
}

/// "general.base_model.{id}.name" counts from 0 to general.base_model.count - 1. Data sets are numbered in the same
/// way.
void check_numbered_keys(const LintFile& file, FindingList& findings) {
  for (const std::string_view prefix : {"general.base_model.", "general.dataset."}) {
    const std::string count_key = std::string(prefix) + "count";
    const uint64_t count = get_u64(file.gguf, count_key).value_or(0);
    uint64_t described = 0;  // bits of the first ids: more findings are not listed
    for (const KeyValue& kv : file.gguf.header.key_values) {
      const std::string_view key = file.gguf.text(kv.key);
      if (!key.starts_with(prefix) || key == count_key) continue;
      uint64_t id = 0;
      const char* end = key.data() + key.size();
      const auto [stop, problem] = std::from_chars(key.data() + prefix.size(), end, id);
      if (stop == key.data() + prefix.size() || stop == end || *stop != '.') continue;
      if (problem != std::errc() || id >= count) {
        findings.add(kv.key.offset, {Quoted{key}, " is beyond ", count_key, ", ", count});
      } else if (id < kMaxFindings) {
        described |= uint64_t{1} << id;
      }
    }
    for (uint64_t id = 0; id < std::min(count, kMaxFindings); ++id)
      if ((described >> id & 1) == 0)
        findings.add(key_offset(file.gguf, count_key), {count_key, " is ", count, ", but nothing describes ", id});
  }
}

/// True for 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

void check_uuid(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    if (kv.type == ValueType::kString && key.starts_with("general.") && key.ends_with(".uuid") &&
        !is_uuid(file.gguf.text(kv.value)))
      findings.add(kv.value.offset, {Quoted{key}, " is ", Quoted{file.gguf.text(kv.value)}, ", no UUID"});
  }
}

/// The ranges that samplers accept. Outside of them, loaders clamp silently or sampling gives nonsense.
struct SamplingRange {
  std::string_view name;
  double min, max;
};
constexpr SamplingRange kSampling[] = {
    {"top_p", 0, 1},
    {"min_p", 0, 1},
    {"xtc_probability", 0, 1},
    {"xtc_threshold", 0, 1},
    {"temp", 0, 100},
    {"penalty_repeat", 1e-6, 100},
    {"mirostat", 0, 2},
    {"mirostat_tau", 0, 1000},
    {"mirostat_eta", 0, 1000},
    {"top_k", 0, 1e9},
    {"penalty_last_n", -1, 1e9},
};

void check_sampling_range(const LintFile& file, FindingList& findings) {
  for (const SamplingRange& row : kSampling) {
    const std::string key = "general.sampling." + std::string(row.name);
    const auto value = get_f64(file.gguf, key);
    if (value && !(*value >= row.min && *value <= row.max))
      findings.add(key_offset(file.gguf, key), {key, " is a value that no sampler takes"});
  }
}

constexpr LintRule kHeaderRules[] = {
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
    {"deprecated-key", FindingLevel::kNote, check_deprecated_key},
    {"general-type", FindingLevel::kNote, check_general_type},
    {"numbered-keys", FindingLevel::kNote, check_numbered_keys},
    {"uuid", FindingLevel::kNote, check_uuid},
    {"sampling-range", FindingLevel::kNote, check_sampling_range},
};

}  // namespace

RuleSpan header_rules() { return kHeaderRules; }

}  // namespace ggufscope
