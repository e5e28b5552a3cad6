// Rules on the tensors that llama.cpp creates for an architecture. It refuses a file in which one is missing, and a
// file with a tensor that it did not create.
#include <algorithm>
#include <memory>

#include "gguf/lint/required.hpp"
#include "gguf/lint/rules.hpp"
#include "gguf/lint/tensor_plan.hpp"

namespace ggufscope {
namespace {

std::optional<uint64_t> block_count(const LintFile& file, std::string_view blocks) {
  if (blocks == "dec.blk.") {
    if (const auto count = hyper(file, "decoder_block_count")) return count;
    if (const auto count = hyper(file, "decision.block_count"); count && *count <= kMaxBlocks)
      return *count + hyper(file, "decision.routing_block_count").value_or(0);
  }
  if (blocks == "convnext.") return hyper(file, "convnext.block_count");
  if (blocks == "posnet.") return hyper(file, "posnet.block_count");
  return blocks_in_file(file);
}

/// Calls visit(variant) for one variant of each slot: the one with the most tensors present; if another complete
/// variant has equally many, that one. seen: one flag for each tensor of the plan.
template <class Visit>
void choose_variants(const TensorPlan& plan, const bool* seen, uint16_t kinds, Visit visit) {
  size_t best = 0, max = 0;
  bool none = true;
  for (size_t v = 0; v + 1 < plan.variants.size(); ++v) {
    const TensorPlan::Variant &variant = plan.variants[v], &next = plan.variants[v + 1];
    size_t n = 0, n_needed = 0;
    for (size_t k = variant.first_need; k < next.first_need; ++k) {
      if (plan.needs[k].optional) continue;
      ++n_needed;
      n += seen[plan.needs[k].tensor] ? 1 : 0;
    }
    const bool whole = n == n_needed;
    const bool counts = variant.kind == 0 || (variant.kind & kinds) != 0;
    if (counts && (none || n > max || (n == max && whole))) best = v, max = n, none = false;
    if (next.slot == variant.slot) continue;
    if (!none) visit(best);
    none = true, max = 0;
  }
}

/// Which kinds a file's blocks are of. If that is unknown, they are of both.
struct BlockKinds {
  explicit BlockKinds(const LintFile& file);

  [[nodiscard]] uint16_t of(uint64_t block) const {
    const uint16_t place = block == 0 ? kFirst : kLater, recurrent = recurrent_of(block);
    return static_cast<uint16_t>(place | experts_of(block) | recurrent | (block >= first_head_ ? kHead : 0) |
                                 (is_indexed(block) && !(reads_kv_heads_ && recurrent == kRecurrent) ? kIndexed : 0) |
                                 (std::ranges::count(hashed_, static_cast<int64_t>(block)) != 0 ? kHashed : 0));
  }
  [[nodiscard]] uint16_t outside() const {
    return static_cast<uint16_t>(experts | (first_head_ != UINT64_MAX ? kHead : 0) | (hashed_.empty() ? 0 : kHashed));
  }

  uint16_t experts;  ///< of the model

 private:
  [[nodiscard]] uint16_t experts_of(uint64_t block) const {
    if (experts != kExperts) return experts;
    if (block < n_dense_ || (block + 1) % step_ != 0) return kDense;
    return every_ && (*every_ == 0 || block % *every_ != 1) ? kDense : kExperts;
  }
  [[nodiscard]] uint16_t recurrent_of(uint64_t block) const {
    if (reads_kv_heads_)
      return block < kv_heads_.size() && kv_heads_[static_cast<size_t>(block)] == 0 ? kRecurrent : kFull;
    if (interval_ == 0) return kRecurrent | kFull;
    if (block >= first_further_) return kFull;
    return (block + 1) % interval_ != 0 ? kRecurrent : kFull;
  }

  [[nodiscard]] bool is_indexed(uint64_t block) const {
    return block < indexed_.size() ? indexed_[static_cast<size_t>(block)] != 0 : reads_kv_heads_;
  }

  uint64_t n_dense_, step_, interval_;
  uint64_t first_further_ = UINT64_MAX;  // the first block that only predicts further tokens
  uint64_t first_head_ = UINT64_MAX;     // the first block of a decision head; UINT64_MAX: none
  std::optional<uint64_t> every_;
  std::vector<int64_t> kv_heads_, indexed_;  // numbers and flags, one for each block
  std::vector<int64_t> hashed_;              // numbers of blocks
  bool reads_kv_heads_;                      // blocks without key heads are recurrent, the others have an indexer
};

BlockKinds::BlockKinds(const LintFile& file)
    : n_dense_(hyper(file, "leading_dense_block_count").value_or(0)),
      step_(std::max<uint64_t>(hyper(file, "interleave_moe_layer_step").value_or(1), 1)),
      interval_(hyper(file, "full_attention_interval").value_or(4)) {
  const auto count = hyper(file, "expert_count");
  const bool differs = !count && find_key(file.gguf, arch_key(file, "expert_count")) != nullptr;
  experts = differs ? kDense | kExperts : count.value_or(0) != 0 ? kExperts : kDense;
  if (file.architecture == "nomic-bert-moe") every_ = hyper(file, "moe_every_n_layers").value_or(0);
  if (find_key(file.gguf, arch_key(file, "attention.recurrent_layers")) != nullptr) interval_ = 0;
  first_head_ = first_head_block(file).value_or(UINT64_MAX);
  if (const auto blocks = hyper(file, "block_count")) first_further_ = *blocks - further_blocks(file, *blocks);
  const auto read = [&](std::string_view suffix, std::vector<int64_t>& list) {
    if (auto numbers = get_integers(file.gguf, arch_key(file, suffix))) list = std::move(*numbers);
  };
  read("ple.layers", hashed_);
  reads_kv_heads_ = file.architecture == "glm5-next";
  if (reads_kv_heads_) read("attention.head_count_kv", kv_heads_);
  if (hyper(file, "attention.indexer.top_k").value_or(0) != 0) read("attention.indexer.types", indexed_);
}

/// What a file has of the tensors of a row.
class RowTensors {
 public:
  RowTensors(const LintFile& file, const TensorRow& row, uint64_t n_blocks);

  /// Calls missing(tensor, block) for tensors that llama.cpp requires, without a block first.
  template <class Missing>
  void each_missing(Missing missing) const {
    const auto search = [&](const TensorPlan& plan, const bool* seen, uint16_t kinds, std::optional<uint64_t> block) {
      choose_variants(plan, seen, kinds, [&](size_t v) {
        for (size_t k = plan.variants[v].first_need; k < plan.variants[v + 1].first_need; ++k)
          if (!plan.needs[k].optional && !seen[plan.needs[k].tensor])
            missing(plan.tensors[plan.needs[k].tensor], block);
      });
    };
    search(outside, seen_.get(), kinds_.outside(), std::nullopt);
    // Another rule reports blocks without any tensors.
    for (size_t i = 0; i < n_trunk; ++i)
      if (any_[i] || row_.blocks != "blk.") search(inside, seen_of(i), kinds_.of(i), i);
  }

  /// True if llama.cpp takes a tensor of that name, which is in one of the row's blocks or outside of blocks.
  [[nodiscard]] bool takes(const TensorName& name) const;
  /// True for a scale of a matrix that the file has in the row's blocks.
  [[nodiscard]] bool takes_scale(const TensorName& name) const {
    const auto matrix = matrix_of_scale(row_, name);
    return matrix && has_matrix(name, *matrix);
  }

  TensorPlan outside, inside;
  size_t n_blocks, n_trunk;  ///< blocks, and those that do not only predict further tokens
  bool has_trunk = false;    ///< a block of the trunk has a tensor

 private:
  [[nodiscard]] const bool* seen_of(size_t i) const {
    return seen_.get() + outside.tensors.size() + i * inside.tensors.size();
  }
  void mark_taken(const TensorPlan& plan, const bool* seen, uint16_t kinds, bool* taken) const;
  [[nodiscard]] const PlannedTensor* find_option(const TensorName& name) const;
  [[nodiscard]] bool has_matrix(const TensorName& name, const std::string& matrix) const;

  const LintFile& file_;
  const TensorRow& row_;
  std::vector<PlannedTensor> more_ends_, more_;
  BlockKinds kinds_;
  std::unique_ptr<bool[]> seen_, taken_;  ///< flags for the tensors outside of blocks, then for those of each block
  std::unique_ptr<bool[]> any_;           ///< whether a block has any tensor
};

RowTensors::RowTensors(const LintFile& file, const TensorRow& row, uint64_t blocks)
    : outside(read_plan(row.ends)),
      inside(read_plan(row.block)),
      n_blocks(static_cast<size_t>(blocks)),
      n_trunk(static_cast<size_t>(blocks - further_blocks(file, blocks))),
      file_(file),
      row_(row),
      kinds_(file) {
  if (const TensorRow* more = optional_row(file.architecture, row.blocks); more != nullptr)
    more_ends_ = read_options(more->ends), more_ = read_options(more->block);
  const size_t n = inside.tensors.size(), n_flags = outside.tensors.size() + n * n_blocks;
  seen_.reset(new bool[n_flags]());
  taken_.reset(new bool[n_flags]());
  any_.reset(new bool[n_blocks]());
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const TensorName name = split_name(file.gguf.text(tensor.name));
    if (name.block && (name.blocks != row.blocks || *name.block >= n_blocks)) continue;
    const size_t i = (name.block ? inside : outside).find(name.rest);
    if (!name.block && i < outside.tensors.size()) seen_[i] = true;
    if (!name.block || i >= n) continue;
    const size_t at = static_cast<size_t>(*name.block);
    seen_[outside.tensors.size() + at * n + i] = any_[at] = true;
    has_trunk = has_trunk || at < n_trunk;
  }
  mark_taken(outside, seen_.get(), kinds_.outside(), taken_.get());
  for (size_t i = 0; i < n_blocks; ++i)
    mark_taken(inside, seen_of(i), kinds_.of(i), taken_.get() + (seen_of(i) - seen_.get()));
}

/// Sets the flags of the tensors in the variants that the file follows. A shard may have only some tensors of a
/// variant, so all variants count there.
void RowTensors::mark_taken(const TensorPlan& plan, const bool* seen, uint16_t kinds, bool* taken) const {
  const auto mark = [&](size_t v) {
    for (size_t k = plan.variants[v].first_need; k < plan.variants[v + 1].first_need; ++k)
      taken[plan.needs[k].tensor] = true;
  };
  if (!is_shard(file_)) return choose_variants(plan, seen, kinds, mark);
  for (size_t v = 0; v + 1 < plan.variants.size(); ++v) mark(v);
}

/// True if llama.cpp takes the matrix of a bias or scale, and the file has it. In one file of several the matrix may be
/// in another.
bool RowTensors::has_matrix(const TensorName& name, const std::string& matrix) const {
  if (name.block && *name.block >= n_blocks) return false;
  if (!takes({row_.blocks, matrix, name.block})) return false;
  const std::string whole = name.block ? std::string(row_.blocks) + std::to_string(*name.block) + "." + matrix : matrix;
  return is_shard(file_) || find_tensor(file_.gguf, whole) != nullptr;
}

/// The optional tensor of that name, if a model with these experts may have it.
const PlannedTensor* RowTensors::find_option(const TensorName& name) const {
  const bool further = name.block && *name.block >= n_trunk;
  const uint16_t kinds = further ? 0xff : name.block ? kinds_.of(*name.block) : kinds_.outside();
  const std::vector<PlannedTensor>& options = name.block ? more_ : more_ends_;
  const auto at = std::ranges::find_if(options, [&](const PlannedTensor& option) {
    return option.is(name.rest) && (option.kind == 0 || (option.kind & kinds) != 0);
  });
  return at != options.end() ? &*at : nullptr;
}

bool RowTensors::takes(const TensorName& name) const {
  const TensorPlan& plan = name.block ? inside : outside;
  const size_t i = plan.find(name.rest);
  if (i < plan.tensors.size()) {
    const size_t at = name.block ? static_cast<size_t>(seen_of(static_cast<size_t>(*name.block)) - seen_.get()) : 0;
    if (taken_[at + i]) return true;
  }
  if (const PlannedTensor* option = find_option(name); option != nullptr) {
    const std::string matrix = std::string(base_name(name.rest)) + ".weight";
    return option->is_alone || !name.block || !name.rest.ends_with(".bias") ||
           plan.find(matrix) == plan.tensors.size() || has_matrix(name, matrix);
  }
  return false;
}

void check_tensor_missing(const LintFile& file, FindingList& findings) {
  if (is_shard(file)) return;
  for (const TensorRow* row : rows_of(file)) {
    const auto blocks = block_count(file, row->blocks);
    if (!blocks || *blocks > kMaxBlocks) continue;
    const RowTensors tensors(file, *row, *blocks);
    // Layers that only predict further tokens may be incomplete, or be in a file without the rest of the model.
    if (tensors.n_trunk < tensors.n_blocks && !tensors.has_trunk) continue;
    tensors.each_missing([&](const PlannedTensor& tensor, std::optional<uint64_t> block) {
      // A text model needs tokens. Another rule checks for their embeddings.
      if (!block && tensor.base != "token_embd")
        findings.add(kNoPlace, {"llama.cpp requires tensor ", tensor.base, tensor.suffix});
      if (block)
        findings.add(kNoPlace, {"llama.cpp requires tensor ", row->blocks, *block, ".", tensor.base, tensor.suffix});
    });
  }
}

void check_tensor_unknown(const LintFile& file, FindingList& findings) {
  const std::vector<const TensorRow*> rows = rows_of(file);
  if (rows.empty()) return;
  std::vector<const TensorInfo*> unknown;
  unknown.reserve(file.gguf.header.tensors.size());
  for (const TensorInfo& tensor : file.gguf.header.tensors) unknown.push_back(&tensor);
  const size_t n_tensors = unknown.size();
  // If the key for shared experts is 0, and has no other default, the loader creates no shared experts.
  const std::string_view shared = file.architecture == "ernie4_5-moe" ? "expert_shared_feed_forward_length"
                                  : file.architecture == "k2-horizon" ? "expert_shared_count"
                                                                      : "";
  const bool no_shared = (!shared.empty() && !is_shard(file) && hyper(file, shared).value_or(0) == 0) ||
                         (requires_key(file.architecture, "expert_shared_count") && file.architecture != "kimi-k3" &&
                          hyper(file, "expert_shared_count") == uint64_t{0});
  for (const TensorRow* row : rows) {
    const auto blocks = block_count(file, row->blocks);
    if (!blocks || *blocks > kMaxBlocks) return;  // the missing key, or its value, is the fault
    const RowTensors tensors(file, *row, *blocks);
    std::erase_if(unknown, [&](const TensorInfo* tensor) {
      const TensorName name = split_name(file.gguf.text(tensor->name));
      if (no_shared && base_name(name.rest).ends_with("_shexp")) return false;
      if (!name.block) return tensors.takes(name);
      // Another rule reports the blocks after the last.
      if (tensors.takes_scale(name)) return true;
      return name.blocks == row->blocks && (*name.block >= *blocks ? name.blocks == "blk." : tensors.takes(name));
    });
  }
  // If llama.cpp knows none of the tensors, the file is not for llama.cpp, whatever architecture it names.
  if (unknown.size() == n_tensors) return;
  for (const TensorInfo* tensor : unknown)
    findings.add(tensor->info_offset, {"llama.cpp has no tensor ", Quoted{file.gguf.text(tensor->name)}, " for ",
                                       file.architecture, ", and refuses a file with one"});
}

constexpr LintRule kTensorRules[] = {
    {"tensor-missing", FindingLevel::kError, check_tensor_missing, kUsual | kStrict | kMissing},
    {"tensor-unknown", FindingLevel::kError, check_tensor_unknown},
};

}  // namespace

RuleSpan tensor_rules() { return kTensorRules; }

}  // namespace ggufscope
