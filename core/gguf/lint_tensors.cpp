// Rules on the tensors that llama.cpp creates for an architecture: it refuses a file that lacks one, or has it in
// another shape.
//
// A row of the table is one tensor, or several with bars between, one of which must be there. Its shape, of the first
// name, in letters; none: not looked at.
//   E embedding_length   F feed_forward_length   G twice F   T tokens   C context_length   H a head's keys
//   Q heads * keys       K kv heads * keys       V kv heads * values    O heads * values
#include <algorithm>
#include <array>

#include "gguf/lint_rules.hpp"

namespace ggufscope {
namespace {

struct NeededTensor {
  std::string_view names, shape;
};
using Needed = std::span<const NeededTensor>;

constexpr NeededTensor kPlainEnds[] = {{"token_embd.weight", "ET"}, {"output_norm.weight", "E"}};
constexpr NeededTensor kCenteredEnds[] = {
    {"token_embd.weight", "ET"}, {"output_norm.weight", "E"}, {"output_norm.bias", "E"}};
constexpr NeededTensor kPositionEnds[] = {{"token_embd.weight", "ET"},
                                          {"position_embd.weight", "EC"},
                                          {"output_norm.weight", "E"},
                                          {"output_norm.bias", "E"}};
constexpr NeededTensor kBloomEnds[] = {{"token_embd.weight", "ET"},
                                       {"token_embd_norm.weight", "E"},
                                       {"token_embd_norm.bias", "E"},
                                       {"output_norm.weight", "E"},
                                       {"output_norm.bias", "E"}};

constexpr NeededTensor kAttention[] = {{"attn_norm.weight", "E"},
                                       {"attn_q.weight|attn_qkv.weight", "EQ"},
                                       {"attn_k.weight|attn_qkv.weight", "EK"},
                                       {"attn_v.weight|attn_qkv.weight", "EV"},
                                       {"attn_output.weight", "OE"},
                                       {"ffn_norm.weight", "E"}};
constexpr NeededTensor kHeadNorms[] = {{"attn_q_norm.weight", "H"}, {"attn_k_norm.weight", "H"}};
constexpr NeededTensor kAfterNorms[] = {{"post_attention_norm.weight", "E"}, {"post_ffw_norm.weight", "E"}};
constexpr NeededTensor kGated[] = {{"ffn_gate.weight", "EF"}, {"ffn_up.weight", "EF"}, {"ffn_down.weight", "FE"}};
constexpr NeededTensor kGateInUp[] = {{"ffn_up.weight", "EG"}, {"ffn_down.weight", "FE"}};
constexpr NeededTensor kUngated[] = {{"ffn_up.weight", "EF"}, {"ffn_down.weight", "FE"}};
constexpr NeededTensor kFalcon[] = {{"attn_norm.weight", "E"},
                                    {"attn_norm.bias", "E"},
                                    {"attn_qkv.weight|attn_q.weight", ""},
                                    {"attn_output.weight", "OE"}};
constexpr NeededTensor kCenteredNorms[] = {{"attn_norm.bias", "E"}, {"ffn_norm.bias", "E"}};
constexpr NeededTensor kMamba[] = {{"attn_norm.weight", "E"}, {"ssm_in.weight", ""}, {"ssm_conv1d.weight", ""},
                                   {"ssm_conv1d.bias", ""},   {"ssm_x.weight", ""},  {"ssm_dt.weight", ""},
                                   {"ssm_dt.bias", ""},       {"ssm_a", ""},         {"ssm_d", ""},
                                   {"ssm_out.weight", ""}};

/// feed_forward: where there are no experts.
struct NeededTensors {
  std::string_view architecture;
  Needed ends, feed_forward;
  std::array<Needed, 3> block;
};

constexpr NeededTensors kNeeded[] = {
    {"llama", kPlainEnds, kGated, {kAttention}},
    {"mistral3", kPlainEnds, kGated, {kAttention}},
    {"qwen2", kPlainEnds, kGated, {kAttention}},
    {"qwen3", kPlainEnds, kGated, {kAttention, kHeadNorms}},
    {"gemma", kPlainEnds, kGated, {kAttention}},
    {"gemma2", kPlainEnds, kGated, {kAttention, kAfterNorms}},
    {"gemma3", kPlainEnds, kGated, {kAttention, kAfterNorms, kHeadNorms}},
    {"phi3", kPlainEnds, kGateInUp, {kAttention}},
    {"gpt2", kPositionEnds, kUngated, {kAttention, kCenteredNorms}},
    {"gptneox", kCenteredEnds, kUngated, {kAttention, kCenteredNorms}},
    {"bloom", kBloomEnds, kUngated, {kAttention, kCenteredNorms}},
    {"falcon", kCenteredEnds, kUngated, {kFalcon}},
    {"mpt", kPlainEnds, kUngated, {kAttention}},
    {"mamba", kPlainEnds, {}, {kMamba}},
};

/// What a letter stands for; nullopt where the file does not say, or says one for each block.
std::optional<uint64_t> extent(const LintFile& file, char letter) {
  const auto width = hyper(file, "embedding_length"), heads = hyper(file, "attention.head_count");
  const bool many_kv = find_key(file.gguf, arch_key(file, "attention.head_count_kv")) != nullptr;
  const auto kv_heads = many_kv ? hyper(file, "attention.head_count_kv") : heads;
  const auto head = [&](std::string_view suffix) -> std::optional<uint64_t> {
    if (find_key(file.gguf, arch_key(file, suffix)) != nullptr) return hyper(file, suffix);
    return width && heads && *heads != 0 ? std::optional(*width / *heads) : std::nullopt;
  };
  const auto product = [](std::optional<uint64_t> a, std::optional<uint64_t> b) -> std::optional<uint64_t> {
    constexpr uint64_t kSane = uint64_t{1} << 31;
    return a && b && *a < kSane && *b < kSane ? std::optional(*a * *b) : std::nullopt;
  };
  switch (letter) {
    case 'E':
      return width;
    case 'F':
      return hyper(file, "feed_forward_length");
    case 'G':
      return product(hyper(file, "feed_forward_length"), 2);
    case 'C':
      return hyper(file, "context_length");
    case 'H':
      return head("attention.key_length");
    case 'Q':
      return product(heads, head("attention.key_length"));
    case 'O':
      return product(heads, head("attention.value_length"));
    case 'K':
      return product(kv_heads, head("attention.key_length"));
    case 'V':
      return product(kv_heads, head("attention.value_length"));
    case 'T': {
      const KeyValue* tokens = find_key(file.gguf, "tokenizer.ggml.tokens");
      return tokens != nullptr && tokens->type == ValueType::kArray ? std::optional(tokens->count) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

/// Calls visit(name) for each of the names between bars, until it says true; gives whether it did.
template <class Visit>
bool any_name(std::string_view names, Visit visit) {
  while (true) {
    const size_t bar = names.find('|');
    if (visit(names.substr(0, bar))) return true;
    if (bar == std::string_view::npos) return false;
    names.remove_prefix(bar + 1);
  }
}

std::string_view first_name(const NeededTensor& needed) { return needed.names.substr(0, needed.names.find('|')); }

const NeededTensors* needed_tensors(const LintFile& file) {
  if (file.kind != FileKind::kModel || is_shard(file)) return nullptr;
  const auto row = std::ranges::find(kNeeded, file.architecture, &NeededTensors::architecture);
  return row != std::end(kNeeded) ? row : nullptr;
}

std::vector<NeededTensor> needed_in_block(const LintFile& file, const NeededTensors& row) {
  std::vector<NeededTensor> all;
  for (const Needed part : row.block) all.insert(all.end(), part.begin(), part.end());
  if (hyper(file, "expert_count").value_or(0) != 0)
    all.push_back({"ffn_gate_inp.weight", ""});
  else
    all.insert(all.end(), row.feed_forward.begin(), row.feed_forward.end());
  return all;
}

void check_tensor_missing(const LintFile& file, FindingList& findings) {
  const NeededTensors* row = needed_tensors(file);
  const auto blocks = hyper(file, "block_count");
  if (row == nullptr || !blocks || *blocks > kMaxBlocks) return;
  const uint64_t end = file.gguf.header.info_end;
  // A model of text has tokens; of its embeddings a rule of its own speaks.
  for (const NeededTensor& needed : row->ends)
    if (needed.shape != "ET" &&
        !any_name(needed.names, [&](std::string_view name) { return find_tensor(file.gguf, name) != nullptr; }))
      findings.add(end, {"llama.cpp requires tensor ", first_name(needed)});

  const std::vector<NeededTensor> in_block = needed_in_block(file, *row);
  // Bit k of a block: it has the k-th of these. Blocks without any tensor are another rule's.
  constexpr uint64_t kAny = uint64_t{1} << 63;
  std::vector<uint64_t> seen(static_cast<size_t>(*blocks));
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    const auto block = block_of(name);
    if (!block || *block >= *blocks) continue;
    const std::string_view rest = name.substr(name.find('.', 4) + 1);
    uint64_t& has = seen[static_cast<size_t>(*block)];
    has |= kAny;
    for (size_t k = 0; k < in_block.size(); ++k)
      if (any_name(in_block[k].names, [&](std::string_view one) { return one == rest; })) has |= uint64_t{1} << k;
  }
  for (size_t i = 0; i < seen.size(); ++i)
    for (size_t k = 0; k < in_block.size() && seen[i] != 0; ++k)
      if ((seen[i] >> k & 1) == 0)
        findings.add(end, {"llama.cpp requires tensor blk.", i, ".", first_name(in_block[k])});
}

void check_tensor_shape(const LintFile& file, FindingList& findings) {
  const NeededTensors* row = needed_tensors(file);
  if (row == nullptr) return;
  const std::vector<NeededTensor> in_block = needed_in_block(file, *row);
  std::array<std::optional<uint64_t>, 26> extents;
  for (char letter = 'A'; letter <= 'Z'; ++letter) extents[static_cast<size_t>(letter - 'A')] = extent(file, letter);
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    const bool inside = block_of(name).has_value();
    const std::string_view rest = inside ? name.substr(name.find('.', 4) + 1) : name;
    const Needed all = inside ? Needed(in_block) : row->ends;
    const auto is_it = [&](const NeededTensor& needed) { return first_name(needed) == rest; };
    const auto needed = std::ranges::find_if(all, is_it);
    if (needed == all.end()) continue;
    for (uint32_t i = 0; i < std::max<size_t>(tensor.n_dims, needed->shape.size()) && !needed->shape.empty(); ++i) {
      const uint64_t got = i < tensor.n_dims ? tensor.shape[i] : 1;
      const auto wanted = i < needed->shape.size() ? extents[static_cast<size_t>(needed->shape[i] - 'A')] : 1;
      if (!wanted || got == *wanted) continue;
      findings.add(tensor.info_offset,
                   {"tensor ", Quoted{name}, " has ", got, " in dimension ", i, ": llama.cpp wants ", *wanted});
      break;
    }
  }
}

constexpr LintRule kTensorRules[] = {
    {"tensor-missing", FindingLevel::kError, check_tensor_missing},
    {"tensor-shape", FindingLevel::kError, check_tensor_shape},
};

}  // namespace

RuleSpan tensor_rules() { return kTensorRules; }

}  // namespace ggufscope
