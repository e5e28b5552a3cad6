// The catalogue of standardized keys, with the type, unit and meaning of each. Also: detection of the kind of file from
// its keys and tensors. Sources: ggml docs/gguf.md ("Standardized key-value pairs"); the key names in gguf-py and
// llama.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gguf/header.hpp"

namespace ggufscope {

enum class KeyForm : uint8_t {
  kOne,
  kList,
  kEither,  ///< one value for all blocks, or an array with one value for each block
};

struct StandardKey {
  std::string_view pattern;  ///< "{arch}" stands for the architecture's name, "{id}" for a number, "{name}" for a word
  ValueType type;            ///< type of the value, or of an array's elements
  KeyForm form;
  bool has_placeholder = false;  ///< other than {arch}
};

struct KeyMeaning {
  std::string_view unit;     ///< "tokens", "heads", ...; empty if the value has no unit
  std::string_view meaning;  ///< one sentence
};

[[nodiscard]] std::span<const StandardKey> standard_keys();

/// The catalogue row that matches a key, or nullptr if the key is not standardized. "{arch}" matches any name.
[[nodiscard]] const StandardKey* find_standard_key(std::string_view key);

/// Unit and meaning of a key. The texts are in a separate file (key_meanings.cpp), so that a build that only parses and
/// lints does not include them.
[[nodiscard]] const KeyMeaning* find_key_meaning(std::string_view key);

/// True if the value has a type that the row allows. The specification requires u64 counts, but writers use u32 and
/// readers must accept both. So any unsigned type of 32 bits or more may replace another, and i32 may replace u32 in
/// arrays.
[[nodiscard]] bool has_type_of(const KeyValue& kv, const StandardKey& row);

enum class FileKind : uint8_t {
  kModel,
  kVocabulary,  ///< a tokenizer without tensors
  kAdapter,     ///< LoRA
  kProjector,   ///< a multimodal projector (mmproj)
  kImportance,  ///< an importance matrix
  kControlVector,
  kMetadata,  ///< neither tokenizer nor tensors
};

/// "model", "vocabulary", "adapter", "projector", "imatrix", "control-vector", "metadata".
[[nodiscard]] std::string_view file_kind_name(FileKind kind);

/// Detects the kind from general.type and general.architecture or, if they are absent, from the file's content.
[[nodiscard]] FileKind file_kind(const Gguf& gguf);

}  // namespace ggufscope
