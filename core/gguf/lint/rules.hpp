// What the files of rules share. Not for use outside core/gguf.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "gguf/lint/lint.hpp"

namespace ggufscope {

class FindingList {
 public:
  explicit FindingList(std::vector<Finding>& out) : out_(out) {}

  void begin(const LintRule& rule) {
    end();
    rule_ = &rule;
    count_ = 0;
  }

  void end();

  /// The message is made only where it is kept: a file can have a million findings.
  void add(uint64_t offset, std::initializer_list<Part> message);
  void add(uint64_t offset, std::string_view message);

 private:
  std::vector<Finding>& out_;
  const LintRule* rule_ = nullptr;
  uint64_t count_ = 0;
};

using RuleSpan = std::span<const LintRule>;
RuleSpan header_rules();     // header.cpp: version, keys, values
RuleSpan layout_rules();     // layout.cpp: alignment, tensor infos, tensor data
RuleSpan model_rules();      // model.cpp: required keys, hyper-parameters
RuleSpan required_rules();   // required.cpp: keys that an architecture must have, and their types
RuleSpan shape_rules();      // shapes.cpp: tensors against hyper-parameters
RuleSpan tensor_rules();     // tensors.cpp: tensors that an architecture must have
RuleSpan kind_rules();       // kinds.cpp: file names, shards, adapters and other kinds
RuleSpan projector_rules();  // projectors.cpp: multimodal projectors
RuleSpan template_rules();   // template.cpp: chat templates
RuleSpan tokenizer_rules();  // tokenizer.cpp

/// Indices of all texts that occurred before (the later ones of each group), by sorting.
std::vector<size_t> find_duplicates(const std::vector<std::string_view>& texts);

/// "{architecture}.suffix"
inline std::string arch_key(const LintFile& file, std::string_view suffix) {
  return std::string(file.architecture) + '.' + std::string(suffix);
}

/// The hyper-parameter of that name where it is one number.
inline std::optional<uint64_t> hyper(const LintFile& file, std::string_view suffix) {
  return get_u64(file.gguf, arch_key(file, suffix));
}

/// llama.cpp's LLAMA_MAX_LAYERS.
inline constexpr uint64_t kMaxBlocks = 512;

/// N of "blk.N.rest"; nullopt for any other name.
std::optional<uint64_t> block_of(std::string_view tensor_name);

/// Says so where a key has another type than the one in which a loader reads it.
void check_key_type(const LintFile& file, FindingList& findings, std::string_view key, ValueType type, bool list);

/// The part of text before a separator, which is taken off.
inline std::string_view cut_off(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view first = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return first;
}

/// visit(word) for each of the words between spaces, until it says true; gives whether it did.
template <class Visit>
bool any_word(std::string_view text, Visit visit) {
  while (!text.empty())
    if (const std::string_view word = cut_off(text, ' '); !word.empty() && visit(word)) return true;
  return false;
}

/// Whether a word is among those between spaces.
inline bool has_word(std::string_view text, std::string_view wanted) {
  return any_word(text, [&](std::string_view word) { return word == wanted; });
}

/// How many of so many blocks only predict further tokens: the last ones.
inline uint64_t further_blocks(const LintFile& file, uint64_t blocks) {
  return std::min(hyper(file, "nextn_predict_layers").value_or(0), blocks);
}

/// Whether llama.cpp has an architecture of that name.
bool is_known_architecture(std::string_view name);

/// Where to point for something that is missing.
inline uint64_t key_offset(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  return kv != nullptr ? kv->key.offset : 0;
}

/// Shards after the first have neither tokenizer nor hyper-parameters; all have only a part of the tensors.
inline bool is_shard(const LintFile& file) { return get_u64(file.gguf, "split.count").value_or(1) > 1; }
inline bool is_later_shard(const LintFile& file) {
  return is_shard(file) && get_u64(file.gguf, "split.no").value_or(0) > 0;
}

/// Of an architecture of llama.cpp's, so that its loader's rules apply.
inline bool is_llama_model(const LintFile& file) {
  return file.kind == FileKind::kModel && is_known_architecture(file.architecture);
}

/// Such a model with its keys: shards after the first have none.
inline bool is_loadable_model(const LintFile& file) { return is_llama_model(file) && !is_later_shard(file); }

/// A model that is not for llama.cpp, so that no rule of its loader applies. A file without architecture is for it
/// where it holds text or tensors as its converters name them.
bool is_foreign(const LintFile& file);

/// The program that reads models of the file's architecture (readers.inc); empty for those of llama.cpp and unknown
/// ones.
std::string_view other_reader(const LintFile& file);

}  // namespace ggufscope
