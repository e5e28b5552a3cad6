// Rules on the blocks of a model, and on its embeddings.
#include <algorithm>
#include <charconv>

#include "gguf/lint/rules.hpp"

namespace ggufscope {

std::optional<uint64_t> block_of(std::string_view tensor_name, std::string_view blocks) {
  if (!tensor_name.starts_with(blocks)) return std::nullopt;
  uint64_t block = 0;
  const char* end = tensor_name.data() + tensor_name.size();
  const auto [stop, problem] = std::from_chars(tensor_name.data() + blocks.size(), end, block);
  if (problem != std::errc() || stop == end || *stop != '.') return std::nullopt;
  return block;
}

namespace {

/// True for draft models, which use the embeddings and the vocabulary of their target model.
bool is_draft(const LintFile& file) { return has_word("dflash eagle3", file.architecture); }

void check_embedding_missing(const LintFile& file, FindingList& findings) {
  if (is_llama_model(file) && !is_shard(file) && !is_draft(file) && hyper(file, "block_count") &&
      find_key(file.gguf, "tokenizer.ggml.tokens") != nullptr &&
      find_tensor(file.gguf, "token_embd.weight") == nullptr &&
      // codeshell works without this tensor.
      file.architecture != "codeshell")
    findings.add(kNoPlace, "a model of text without token_embd.weight");
}

void check_block_number(const LintFile& file, FindingList& findings) {
  const auto blocks = blocks_in_file(file);
  if (!is_llama_model(file) || !blocks) return;
  const TensorInfo* first = nullptr;
  uint64_t n = 0;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const auto block = block_of(file.gguf.text(tensor.name));
    if (block && *block >= *blocks && n++ == 0) first = &tensor;
  }
  if (n > 0)
    findings.add(first->info_offset,
                 {Counted{n, "tensor belongs", "tensors belong"}, " to none of the ", Counted{*blocks, "block"},
                  ", the first is tensor ", Quoted{file.gguf.text(first->name)}});
}

constexpr uint64_t kMaxBlocks = 65536;  // a larger count has its own finding

void check_block_missing(const LintFile& file, FindingList& findings) {
  const auto blocks = blocks_in_file(file);
  if (!is_llama_model(file) || is_shard(file) || !blocks || *blocks > kMaxBlocks) return;
  // Some layers of deci have neither attention nor feed-forward tensors. T5 names only scales "blk.".
  if (has_word("deci t5", file.architecture)) return;
  std::vector<uint8_t> seen(static_cast<size_t>(*blocks));
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (const auto block = block_of(file.gguf.text(tensor.name)); block && *block < *blocks)
      seen[static_cast<size_t>(*block)] = 1;
  const auto first = std::ranges::find(seen, 1);
  if (first == seen.end()) return;
  // A file that has only the layers that predict further tokens. The rest of the model is in another file.
  const uint64_t further = further_blocks(file, *blocks);
  if (further > 0 && static_cast<uint64_t>(first - seen.begin()) == *blocks - further) return;
  // Neighbouring blocks have one finding.
  for (size_t i = 0; i < seen.size(); ++i) {
    const size_t from = i;
    while (i < seen.size() && seen[i] == 0) ++i;
    if (i == from + 1) findings.add(kNoPlace, {"block ", from, " has no tensors"});
    if (i > from + 1) findings.add(kNoPlace, {"blocks ", from, " to ", i - 1, " have no tensors"});
  }
}

constexpr LintRule kShapeRules[] = {
    {"embedding-missing", FindingLevel::kError, check_embedding_missing},
    {"block-number", FindingLevel::kError, check_block_number},
    {"block-missing", FindingLevel::kError, check_block_missing},
};

}  // namespace

RuleSpan shape_rules() { return kShapeRules; }

}  // namespace ggufscope
