// Helpers that the rule files share. Not for use outside core/gguf.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/sentence.hpp"
#include "base/word_list.hpp"
#include "gguf/access.hpp"
#include "gguf/lint/lint.hpp"

namespace ggufscope {

class FindingList {
 public:
  explicit FindingList(std::vector<Finding>& out) : out_(out) {}

  void start(const LintRule& rule) {
    end();
    rule_ = &rule;
    count_ = 0;
  }

  void end();

  /// Adds a finding. The message is built only if the finding is kept, because a file can have a million findings.
  void add(uint64_t offset, std::initializer_list<Part> message);
  void add(uint64_t offset, std::string_view message);

 private:
  std::vector<Finding>& out_;
  const LintRule* rule_ = nullptr;
  uint64_t count_ = 0;
};

using RuleSpan = std::span<const LintRule>;
RuleSpan header_rules();        // header.cpp: version, keys, values
RuleSpan layout_rules();        // layout.cpp: alignment, tensor infos, tensor data
RuleSpan model_rules();         // model.cpp: required keys, hyper-parameters
RuleSpan required_rules();      // required.cpp: required keys and their types
RuleSpan shape_rules();         // shapes.cpp: blocks, and the embeddings
RuleSpan tensor_rules();        // tensors.cpp: tensors that an architecture requires
RuleSpan tensor_shape_rules();  // tensor_shapes.cpp: tensor shapes against hyper-parameters
RuleSpan kind_rules();          // kinds.cpp: file names, shards, adapters and other kinds
RuleSpan projector_rules();     // projectors.cpp: multimodal projectors
RuleSpan template_rules();      // template.cpp: chat templates
RuleSpan tokenizer_rules();     // tokenizer.cpp

/// Indices of all texts that occurred earlier in the list. Uses sorting.
std::vector<size_t> find_duplicates(const std::vector<std::string_view>& texts);

/// "{architecture}.suffix"
inline std::string arch_key(const LintFile& file, std::string_view suffix) {
  return std::string(file.architecture) + '.' + std::string(suffix);
}

/// The hyper-parameter with that suffix, if it is a single number.
inline std::optional<uint64_t> hyper(const LintFile& file, std::string_view suffix) {
  return get_u64(file.gguf, arch_key(file, suffix));
}

/// LLAMA_MAX_LAYERS of llama.cpp.
inline constexpr uint64_t kMaxBlocks = 512;

/// N of "blk.N.rest"; nullopt for any other name.
std::optional<uint64_t> block_of(std::string_view tensor_name, std::string_view blocks = "blk.");

/// Adds a finding if a key has another type than its loader expects.
void check_key_type(const LintFile& file, FindingList& findings, std::string_view key, ValueType type, bool list);

/// The number of tensors whose shape follows from a key, given by its suffix (tensor_shapes.cpp).
[[nodiscard]] uint64_t tensors_shaped_by(const LintFile& file, std::string_view suffix);

/// The key "other.block_count" of another architecture that llama.cpp knows, if the file has none of its own: all its
/// keys are of that architecture, and the name was changed.
[[nodiscard]] const KeyValue* key_of_other(const LintFile& file);

/// The number of blocks whose tensors the file has. HRM-Text's block_count counts the passes of its two stacks instead.
inline std::optional<uint64_t> blocks_in_file(const LintFile& file) {
  if (const auto per_stack = hyper(file, "hrm.layers_per_stack")) return 2 * std::min<uint64_t>(*per_stack, 1u << 16);
  return hyper(file, "block_count");
}

/// The number of blocks at the end that only predict further tokens (multi-token prediction).
inline uint64_t further_blocks(const LintFile& file, uint64_t blocks) {
  return std::min(hyper(file, "nextn_predict_layers").value_or(0), blocks);
}

/// True if llama.cpp implements the architecture.
bool is_known_architecture(std::string_view name);

/// kNoPlace if the file does not have the key.
inline uint64_t key_offset(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  return kv != nullptr ? kv->key.offset : kNoPlace;
}

/// True for one file of a split model. Files after the first have no hyper-parameters; every file has only some of the
/// tensors.
inline bool is_shard(const LintFile& file) { return get_u64(file.gguf, "split.count").value_or(1) > 1; }
inline bool is_later_shard(const LintFile& file) {
  return is_shard(file) && get_u64(file.gguf, "split.no").value_or(0) > 0;
}

/// True for a model whose architecture llama.cpp implements, so that its loader's rules apply.
inline bool is_llama_model(const LintFile& file) {
  return file.kind == FileKind::kModel && is_known_architecture(file.architecture);
}

/// True for such a model if this file has its keys, that is, if it is not a later shard.
inline bool is_loadable_model(const LintFile& file) { return is_llama_model(file) && !is_later_shard(file); }

/// True for a model that is not for llama.cpp, so that its loader's rules do not apply. A file without an architecture
/// counts as one for llama.cpp if it has a tokenizer or tensors with the names of llama.cpp's converters.
bool is_foreign(const LintFile& file);

/// The program that reads models of the file's architecture (readers.inc). Empty for llama.cpp's architectures and
/// unknown ones.
std::string_view other_reader(const LintFile& file);

}  // namespace ggufscope
