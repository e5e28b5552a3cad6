// The catalogue of standardized keys: what each holds, in which type and unit, and what it means. And, by the keys and
// tensors that a file has, what kind of file it is.
// Sources: ggml docs/gguf.md ("Standardized key-value pairs"), the key names of gguf-py and llama.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gguf/header.hpp"

namespace ggufscope {

enum class KeyForm : uint8_t {
  kOne,
  kList,
  kEither,  ///< one value for all blocks, or an array with one for each
};

struct StandardKey {
  std::string_view pattern;  ///< "{arch}" stands for the architecture's name, "{id}" for a number, "{name}" for a word
  ValueType type;            ///< of the value, or of an array's elements
  KeyForm form;
};

struct KeyMeaning {
  std::string_view unit;     ///< "tokens", "heads", ...; empty where there is none
  std::string_view meaning;  ///< one sentence
};

[[nodiscard]] std::span<const StandardKey> standard_keys();

/// The row that a key matches; nullptr for a key that is not standardized. Any architecture's name matches "{arch}".
[[nodiscard]] const StandardKey* find_standard_key(std::string_view key);

/// Of the row that a key matches. The texts lie apart (key_meanings.cpp): what only parses and lints has none of them.
[[nodiscard]] const KeyMeaning* find_key_meaning(std::string_view key);

/// Whether a value of that type is what the row asks for. The specification's convention for counts is u64, writers use
/// u32, and readers shall take both: any unsigned type of 32 bits or more stands for another; i32 for u32 in arrays.
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

/// By general.type, general.architecture and, where these are silent, by what the file holds.
[[nodiscard]] FileKind file_kind(const Gguf& gguf);

}  // namespace ggufscope
