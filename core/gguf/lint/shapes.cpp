// Rules on tensor shapes against hyper-parameters.
#include <algorithm>
#include <charconv>

#include "gguf/lint/rules.hpp"

namespace ggufscope {

std::optional<uint64_t> block_of(std::string_view tensor_name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!tensor_name.starts_with(kPrefix)) return std::nullopt;
  uint64_t block = 0;
  const char* end = tensor_name.data() + tensor_name.size();
  const auto [stop, problem] = std::from_chars(tensor_name.data() + kPrefix.size(), end, block);
  if (problem != std::errc() || stop == end || *stop != '.') return std::nullopt;
  return block;
}

namespace {

/// True for audio codecs, whose embedding_length is the width of their output.
bool is_codec(const LintFile& file) { return hyper(file, "features_length").has_value(); }

void check_embedding_shape(const LintFile& file, FindingList& findings) {
  const TensorInfo* embedding = find_tensor(file.gguf, "token_embd.weight");
  const auto width = hyper(file, "embedding_length");
  if (!is_llama_model(file) || embedding == nullptr || embedding->n_dims != 2) return;
  if (width && !is_codec(file) && embedding->shape[0] != *width)
    findings.add(embedding->info_offset, {"token_embd.weight has rows of ", embedding->shape[0],
                                          " elements for an embedding_length of ", *width});
  const KeyValue* tokens = find_key(file.gguf, "tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::kArray && tokens->count != embedding->shape[1])
    findings.add(embedding->info_offset, {"token_embd.weight has ", Counted{embedding->shape[1], "row"}, " for ",
                                          Counted{tokens->count, "token"}});
}

/// True for draft models, which use the embeddings and the vocabulary of their target model.
bool is_draft(const LintFile& file) { return has_word("dflash eagle3", file.architecture); }

/// The last norm must have embedding_length elements. The output matrix must have rows of that length, one for each
/// token.
void check_output_shape(const LintFile& file, FindingList& findings) {
  const auto width = hyper(file, "embedding_length");
  if (!is_llama_model(file) || !width || hyper(file, "embedding_length_out") || is_draft(file) || is_codec(file))
    return;
  const auto say = [&](const TensorInfo& tensor, std::string_view what, uint64_t got, uint64_t wanted) {
    findings.add(tensor.info_offset,
                 {"tensor ", Quoted{file.gguf.text(tensor.name)}, " has ", what, " ", got, ", not ", wanted});
  };
  const TensorInfo *norm = find_tensor(file.gguf, "output_norm.weight"), *out = find_tensor(file.gguf, "output.weight");
  if (norm != nullptr && norm->n_dims == 1 && norm->shape[0] != *width)
    say(*norm, "a width of", norm->shape[0], *width);
  if (out == nullptr || out->n_dims != 2) return;
  if (out->shape[0] != *width) say(*out, "rows of", out->shape[0], *width);
  const KeyValue* tokens = find_key(file.gguf, "tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::kArray && tokens->count != out->shape[1])
    say(*out, "as many rows as", out->shape[1], tokens->count);
}

void check_embedding_missing(const LintFile& file, FindingList& findings) {
  if (is_llama_model(file) && !is_shard(file) && !is_draft(file) && hyper(file, "block_count") &&
      find_key(file.gguf, "tokenizer.ggml.tokens") != nullptr &&
      find_tensor(file.gguf, "token_embd.weight") == nullptr &&
      // codeshell works without this tensor.
      file.architecture != "codeshell")
    findings.add(file.gguf.header.info_end, "a model of text without token_embd.weight");
}

/// Tensors whose rows have embedding_length elements, in every block of every llama.cpp architecture with one width.
constexpr std::string_view kReadsStream[] = {"attn_q.weight",   "attn_k.weight",    "attn_v.weight",
                                             "attn_qkv.weight", "attn_norm.weight", "ffn_norm.weight",
                                             "ffn_gate.weight", "ffn_up.weight"};

void check_stream_width(const LintFile& file, FindingList& findings) {
  const auto width = hyper(file, "embedding_length");
  // The attention of eagle3 reads two rows of that length.
  if (!is_llama_model(file) || !width || file.architecture == "eagle3") return;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    const auto block = block_of(name);
    if (!block || tensor.n_dims == 0 || tensor.shape[0] == *width) continue;
    const std::string_view rest = name.substr(name.find('.', 4) + 1);
    if (std::ranges::find(kReadsStream, rest) != std::end(kReadsStream))
      findings.add(tensor.info_offset, {"tensor ", Quoted{file.gguf.text(tensor.name)}, " has rows of ",
                                        tensor.shape[0], " elements for an embedding_length of ", *width});
  }
}

void check_feed_forward_width(const LintFile& file, FindingList& findings) {
  const auto width = hyper(file, "feed_forward_length");  // nullopt if it differs between blocks
  if (!is_llama_model(file) || !width || *width == 0) return;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    // If gate and up are one tensor, it has twice the rows.
    if (tensor.n_dims != 2 || !block_of(name) || !name.ends_with(".ffn_up.weight")) continue;
    if (tensor.shape[1] != *width && tensor.shape[1] != 2 * *width)
      findings.add(tensor.info_offset, {"tensor ", Quoted{file.gguf.text(tensor.name)}, " has ", tensor.shape[1],
                                        " rows for a feed_forward_length of ", *width});
  }
}

void check_block_number(const LintFile& file, FindingList& findings) {
  const auto blocks = blocks_in_file(file);
  if (!is_llama_model(file) || !blocks) return;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const auto block = block_of(file.gguf.text(tensor.name));
    if (block && *block >= *blocks)
      findings.add(tensor.info_offset, {"tensor ", Quoted{file.gguf.text(tensor.name)}, " belongs to none of the ",
                                        Counted{*blocks, "block"}});
  }
}

constexpr uint64_t kMaxBlocks = 65536;  // a larger count has its own finding

void check_block_missing(const LintFile& file, FindingList& findings) {
  const auto blocks = blocks_in_file(file);
  if (!is_llama_model(file) || is_shard(file) || !blocks || *blocks > kMaxBlocks) return;
  if (file.architecture == "deci") return;  // some of its layers have neither attention nor feed-forward tensors
  std::vector<bool> seen(static_cast<size_t>(*blocks));
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (const auto block = block_of(file.gguf.text(tensor.name)); block && *block < *blocks)
      seen[static_cast<size_t>(*block)] = true;
  const auto first = std::ranges::find(seen, true);
  if (first == seen.end()) return;
  // A file that has only the layers that predict further tokens. The rest of the model is in another file.
  const uint64_t further = further_blocks(file, *blocks);
  if (further > 0 && static_cast<uint64_t>(first - seen.begin()) == *blocks - further) return;
  for (size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) findings.add(file.gguf.header.info_end, {"block ", i, " has no tensors"});
}

constexpr LintRule kShapeRules[] = {
    {"embedding-shape", FindingLevel::kError, check_embedding_shape},
    {"output-shape", FindingLevel::kError, check_output_shape},
    {"embedding-missing", FindingLevel::kError, check_embedding_missing},
    {"stream-width", FindingLevel::kNote, check_stream_width},
    {"feed-forward-width", FindingLevel::kNote, check_feed_forward_width},
    {"block-number", FindingLevel::kError, check_block_number},
    {"block-missing", FindingLevel::kError, check_block_missing},
};

}  // namespace

RuleSpan shape_rules() { return kShapeRules; }

}  // namespace ggufscope
