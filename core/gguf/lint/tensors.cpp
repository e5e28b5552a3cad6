// Rules on the tensors that llama.cpp creates for an architecture. It refuses a file in which one is missing or has
// another shape, and a file with a tensor that it did not create.
#include <algorithm>
#include <array>
#include <memory>

#include "gguf/lint/extents.hpp"
#include "gguf/lint/required.hpp"
#include "gguf/lint/rules.hpp"

namespace ggufscope {
namespace {

/// A row of tensors.inc. The comment at the top of that file describes the notation.
struct TensorRow {
  std::string_view architectures;              ///< separated by spaces
  std::string_view blocks;                     ///< prefix of the tensors in blocks
  std::string_view ends, block;                ///< required: outside of blocks, and in each block
  std::string_view more_ends = {}, more = {};  ///< optional
};
struct TensorPart {
  std::string_view name, text;
};

#include "gguf/tensors.inc"

/// The parts of "blk.7.attn_q.weight". `block` is empty outside of blocks.
struct TensorName {
  std::string_view blocks, rest;
  std::optional<uint64_t> block;
};

TensorName split_name(std::string_view name) {
  for (const std::string_view blocks : {"blk.", "enc.blk.", "dec.blk."}) {
    if (!name.starts_with(blocks)) continue;
    if (const auto block = block_of(name.substr(blocks.size() - 4)))
      return {blocks, name.substr(name.find('.', blocks.size()) + 1), block};
  }
  return {{}, name, std::nullopt};
}

/// The name without the suffix that says which parameter of the layer it is.
std::string_view base_name(std::string_view name) {
  for (const std::string_view suffix : {".weight", ".bias", ".input_scale", ".scale"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

/// A tensor that a row names; its name is base + suffix.
struct Wanted {
  std::string_view base, suffix;
  std::string_view shape;  ///< empty: not checked
};

/// Which models a variant applies to.
enum class Experts : uint8_t { kEither, kWithout, kWith };

/// A parsed row, in the order of its text.
struct TensorPlan {
  struct Variant {
    size_t slot, first_need;
    Experts experts = Experts::kEither;
  };
  std::vector<Wanted> wanted;
  std::vector<Variant> variants;  ///< the last one is a sentinel that ends the one before it
  std::vector<size_t> needs;      ///< indices into `wanted`, variant by variant

  /// The index of a tensor, or wanted.size() if it is not in the plan.
  [[nodiscard]] size_t find(std::string_view name) const {
    size_t i = 0;
    while (i < wanted.size() && !(name.size() == wanted[i].base.size() + wanted[i].suffix.size() &&
                                  name.starts_with(wanted[i].base) && name.ends_with(wanted[i].suffix)))
      ++i;
    return i;
  }
};

/// The usual shape of a tensor, from its name. A bias has the dimensions of its matrix without the first.
std::string_view usual_shape(std::string_view name) {
  std::string_view found;
  any_word(kTensorShapes, [&](std::string_view word) {
    const std::string_view of = cut_off(word, ':');
    if (of != base_name(name)) return false;
    found = word;
    return true;
  });
  if (!name.ends_with(".bias")) return found;
  return found.size() > 1 ? found.substr(1) : found;
}

std::string_view part_text(std::string_view name) {
  const auto part = std::ranges::find(kTensorParts, name, &TensorPart::name);
  return part != std::end(kTensorParts) ? part->text : std::string_view();
}

/// Splits a text into words and replaces each @name by that part's words.
void spell_out(std::string_view text, std::vector<std::string_view>& out) {
  any_word(text, [&](std::string_view word) {
    if (word.starts_with('@'))
      spell_out(part_text(word), out);
    else
      out.push_back(word);
    return false;
  });
}

TensorPlan read_plan(std::string_view text) {
  std::vector<std::string_view> words;
  spell_out(text, words);
  TensorPlan plan;
  size_t slot = 0;
  plan.variants.push_back({slot, 0});
  for (std::string_view word : words) {
    if (word == ";" || word == "|") {
      if (word == ";") ++slot;
      plan.variants.push_back({slot, plan.needs.size()});
      continue;
    }
    if (word.starts_with('=')) {
      plan.variants.back().experts = word == "=experts" ? Experts::kWith : Experts::kWithout;
      continue;
    }
    const bool other_shape = word.contains(':');
    const std::string_view name = cut_off(word, ':');
    Wanted one{name, ".weight", {}};
    if (name.ends_with('.'))
      one = {name.substr(0, name.size() - 1), "", {}};
    else if (name.ends_with(".bias"))
      one = {name, "", {}};
    one.shape = other_shape ? word : usual_shape(one.base);
    size_t i = 0;
    while (i < plan.wanted.size() && (plan.wanted[i].base != one.base || plan.wanted[i].suffix != one.suffix)) ++i;
    if (i == plan.wanted.size()) plan.wanted.push_back(one);
    plan.needs.push_back(i);
  }
  plan.variants.push_back({slot + 1, plan.needs.size()});
  return plan;
}

/// Calls missing(tensor) for missing tensors. In each slot, only the variant with the most tensors present counts; if
/// another complete variant has equally many, nothing is missing. seen: one flag for each tensor of the plan.
template <class Missing>
void find_missing(const TensorPlan& plan, const bool* seen, Experts model, Missing missing) {
  size_t best = 0, most = 0;
  bool none = true;
  for (size_t v = 0; v + 1 < plan.variants.size(); ++v) {
    const TensorPlan::Variant &variant = plan.variants[v], &next = plan.variants[v + 1];
    size_t n = 0;
    for (size_t k = variant.first_need; k < next.first_need; ++k) n += seen[plan.needs[k]] ? 1 : 0;
    const bool whole = n == next.first_need - variant.first_need;
    const bool counts = model == Experts::kEither || variant.experts == Experts::kEither || variant.experts == model;
    if (counts && (none || n > most || (n == most && whole))) best = v, most = n, none = false;
    if (next.slot == variant.slot) continue;
    for (size_t k = plan.variants[best].first_need; k < plan.variants[best + 1].first_need && !none; ++k)
      if (!seen[plan.needs[k]]) missing(plan.wanted[plan.needs[k]]);
    none = true, most = 0;
  }
}

// Names that llama.cpp has but tensors.inc does not: clip (projectors have their own rules) and gptj (never loaded).
constexpr std::string_view kNamesWithoutRow = "clip gptj";

std::vector<const TensorRow*> rows_of(const LintFile& file) {
  std::vector<const TensorRow*> rows;
  if (file.kind != FileKind::kModel || file.architecture.empty()) return rows;
  for (const TensorRow& row : kTensorRows)
    if (has_word(row.architectures, file.architecture)) rows.push_back(&row);
  return rows;
}

std::optional<uint64_t> block_count(const LintFile& file, std::string_view blocks) {
  if (blocks == "dec.blk.")
    if (const auto count = hyper(file, "decoder_block_count")) return count;
  return hyper(file, "block_count");
}

void check_tensor_missing(const LintFile& file, FindingList& findings) {
  if (is_shard(file)) return;
  const uint64_t end = file.gguf.header.info_end;
  const bool step = hyper(file, "interleave_moe_layer_step").value_or(1) > 1;  // only some blocks have experts
  Experts experts = hyper(file, "expert_count").value_or(0) != 0 ? Experts::kWith : Experts::kWithout;
  if (step || (find_key(file.gguf, arch_key(file, "expert_count")) != nullptr && !hyper(file, "expert_count")))
    experts = Experts::kEither;
  const uint64_t dense = hyper(file, "leading_dense_block_count").value_or(0);
  for (const TensorRow* row : rows_of(file)) {
    const auto blocks = block_count(file, row->blocks);
    if (!blocks || *blocks > kMaxBlocks) continue;
    const TensorPlan ends = read_plan(row->ends), block = read_plan(row->block);
    // seen: flags for the tensors outside of blocks, then for those of each block. any: whether a block has any tensor.
    const size_t n = block.wanted.size(), n_blocks = static_cast<size_t>(*blocks);
    const std::unique_ptr<bool[]> seen(new bool[ends.wanted.size() + n * n_blocks]()), any(new bool[n_blocks]());
    bool* const inside = seen.get() + ends.wanted.size();
    for (const TensorInfo& tensor : file.gguf.header.tensors) {
      const TensorName name = split_name(file.gguf.text(tensor.name));
      if (name.block && (name.blocks != row->blocks || *name.block >= *blocks)) continue;
      const size_t i = (name.block ? block : ends).find(name.rest);
      if (!name.block && i < ends.wanted.size()) seen[i] = true;
      if (name.block && i < n)
        inside[static_cast<size_t>(*name.block) * n + i] = any[static_cast<size_t>(*name.block)] = true;
    }
    // Layers that only predict further tokens may be incomplete, or be in a file without the rest of the model.
    const uint64_t further = further_blocks(file, *blocks);
    const size_t n_trunk = n_blocks - static_cast<size_t>(further);
    if (further > 0 && std::find(any.get(), any.get() + n_trunk, true) == any.get() + n_trunk) continue;
    find_missing(ends, seen.get(), experts, [&](const Wanted& tensor) {
      // A text model needs tokens. Another rule checks for their embeddings.
      if (tensor.base != "token_embd") findings.add(end, {"llama.cpp requires tensor ", tensor.base, tensor.suffix});
    });
    // Another rule reports blocks without any tensors.
    for (size_t i = 0; i < n_trunk; ++i)
      if (any[i])
        find_missing(
            block, inside + i * n, experts == Experts::kWith && i < dense ? Experts::kWithout : experts,
            [&](const Wanted& tensor) {
              findings.add(end, {"llama.cpp requires tensor ", row->blocks, i, ".", tensor.base, tensor.suffix});
            });
  }
}

/// The shape that an optional entry gives a tensor; empty if it gives none.
std::string_view optional_shape(std::string_view text, std::string_view name) {
  std::vector<std::string_view> words;
  spell_out(text, words);
  std::string_view found;
  for (std::string_view word : words)
    if (const std::string_view of = cut_off(word, ':'); of == base_name(name) || of == name) found = word;
  if (found.empty()) return found;
  return name.ends_with(".bias") && found.size() > 1 ? found.substr(1) : found;
}

/// The shape of a tensor in the plan, or of the bias of a matrix in the plan; empty if unknown.
std::string_view wanted_shape(const TensorPlan& plan, std::string_view name) {
  size_t i = plan.find(name);
  if (i < plan.wanted.size()) return plan.wanted[i].shape;
  if (!name.ends_with(".bias")) return {};
  i = plan.find(std::string(base_name(name)) + ".weight");
  const std::string_view matrix = i < plan.wanted.size() ? plan.wanted[i].shape : std::string_view();
  return matrix.size() > 1 ? matrix.substr(1) : std::string_view();
}

void check_tensor_shape(const LintFile& file, FindingList& findings) {
  const std::vector<const TensorRow*> rows = rows_of(file);
  if (rows.empty()) return;
  const Extents extents(file);
  for (const TensorRow* row : rows) {
    const TensorPlan ends = read_plan(row->ends), block = read_plan(row->block);
    for (const TensorInfo& tensor : file.gguf.header.tensors) {
      const TensorName name = split_name(file.gguf.text(tensor.name));
      if (name.block && name.blocks != row->blocks) continue;
      const TensorPlan& plan = name.block ? block : ends;
      std::string_view shape = wanted_shape(plan, name.rest);
      if (shape.empty()) shape = optional_shape(name.block ? row->more : row->more_ends, name.rest);
      if (shape.empty()) continue;
      for (uint32_t i = 0; i < std::max<size_t>(tensor.n_dims, shape.size()); ++i) {
        const uint64_t got = i < tensor.n_dims ? tensor.shape[i] : 1;
        const auto extent = i < shape.size() ? extents.of(shape[i], name.block) : 1;
        if (!extent || got == *extent) continue;
        findings.add(tensor.info_offset, {"tensor ", Quoted{file.gguf.text(tensor.name)}, " has ", got,
                                          " in dimension ", i, ": llama.cpp wants ", *extent,
                                          *extent == 0 ? ", as a key that says how many is missing or 0" : ""});
        break;
      }
    }
  }
}

/// The required and optional tensors of a row, outside of blocks or inside one.
class NameList {
 public:
  NameList(std::string_view required, std::string_view optional, std::string_view common) {
    for (const std::string_view text : {required, optional, common}) spell_out(text, words_);
    for (std::string_view& word : words_) {
      word = cut_off(word, ':');
      word = base_name(word.ends_with('.') ? word.substr(0, word.size() - 1) : word);
    }
  }

  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::any_of(words_, [&](std::string_view word) {
      return word.ends_with('*') ? name.starts_with(word.substr(0, word.size() - 1)) : word == base_name(name);
    });
  }

 private:
  std::vector<std::string_view> words_;
};

void check_tensor_unknown(const LintFile& file, FindingList& findings) {
  const std::vector<const TensorRow*> rows = rows_of(file);
  if (rows.empty()) return;
  std::vector<const TensorInfo*> unknown;
  unknown.reserve(file.gguf.header.tensors.size());
  for (const TensorInfo& tensor : file.gguf.header.tensors) unknown.push_back(&tensor);
  const size_t n_tensors = unknown.size();
  // If the key for shared experts is required and 0, the loader creates no shared experts.
  const bool no_shared = requires_key(file.architecture, "expert_shared_count") && file.architecture != "kimi-k3" &&
                         hyper(file, "expert_shared_count") == uint64_t{0};
  for (const TensorRow* row : rows) {
    const NameList ends(row->ends, row->more_ends, kAnyEnds), block(row->block, row->more, kAnyBlock);
    std::erase_if(unknown, [&](const TensorInfo* tensor) {
      const TensorName name = split_name(file.gguf.text(tensor->name));
      if (no_shared && base_name(name.rest).ends_with("_shexp")) return false;
      return name.block ? name.blocks == row->blocks && block.has(name.rest) : ends.has(name.rest);
    });
  }
  // If llama.cpp knows none of the tensors, the file is not for llama.cpp, whatever architecture it names.
  if (unknown.size() == n_tensors) return;
  for (const TensorInfo* tensor : unknown)
    findings.add(tensor->info_offset, {"llama.cpp has no tensor ", Quoted{file.gguf.text(tensor->name)}, " for ",
                                       file.architecture, ", and refuses a file with one"});
}

constexpr LintRule kTensorRules[] = {
    {"tensor-missing", FindingLevel::kError, check_tensor_missing},
    {"tensor-shape", FindingLevel::kError, check_tensor_shape},
    {"tensor-unknown", FindingLevel::kError, check_tensor_unknown},
};

}  // namespace

RuleSpan tensor_rules() { return kTensorRules; }

bool is_known_architecture(std::string_view name) {
  const auto has = [name](const TensorRow& row) { return has_word(row.architectures, name); };
  return has_word(kNamesWithoutRow, name) || std::ranges::any_of(kTensorRows, has);
}

}  // namespace ggufscope
