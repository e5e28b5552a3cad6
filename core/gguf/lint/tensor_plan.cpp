// Reads the tables of the tensors that llama.cpp creates.
#include "gguf/lint/tensor_plan.hpp"

#include <algorithm>
#include <tuple>

#include "gguf/lint/extents.hpp"

namespace ggufscope {
namespace {

struct TensorPart {
  std::string_view name, text;
};

#include "gguf/tensors.inc"

// Names that llama.cpp has but tensors.inc does not: clip (projectors have their own rules) and gptj (never loaded).
constexpr std::string_view kNamesWithoutRow = "clip gptj";

/// The usual shape of a tensor, from its name. A bias has the dimensions of its matrix without the first.
std::string_view usual_shape(std::string_view name) {
  std::string_view found;
  for (std::string_view word : WordList(kTensorShapes)) {
    if (cut_off(word, ':') != base_name(name)) continue;
    found = word;
    break;
  }
  if (!name.ends_with(".bias")) return found;
  std::string_view rest = found;
  if (!found.empty()) std::ignore = cut_dimension(rest);
  return rest.empty() ? found : rest;
}

std::string_view part_text(std::string_view name) {
  const auto part = std::ranges::find(kTensorParts, name, &TensorPart::name);
  return part != std::end(kTensorParts) ? part->text : std::string_view();
}

/// Splits a text into words and replaces each @name by that part's words.
void spell_out(std::string_view text, std::vector<std::string_view>& out) {
  for (const std::string_view word : WordList(text)) {
    if (word.starts_with('@'))
      spell_out(part_text(word), out);
    else
      out.push_back(word);
  }
}

uint16_t read_kind(std::string_view word) {
  constexpr std::string_view kWords[] = {"=dense", "=experts", "=first", "=later",   "=recurrent",
                                         "=full",  "=further", "=head",  "=indexed", "=hashed"};
  return static_cast<uint16_t>(1u << (std::ranges::find(kWords, word) - std::begin(kWords)));
}

/// Reads "name:shape".
PlannedTensor read_tensor(std::string_view word) {
  const bool other_shape = word.contains(':');
  const std::string_view name = cut_off(word, ':');
  PlannedTensor one{name, ".weight", {}};
  if (name.ends_with('.'))
    one = {.base = name.substr(0, name.size() - 1), .suffix = "", .shape = {}, .is_alone = true};
  else if (name.ends_with('*'))
    one = {.base = name.substr(0, name.size() - 1), .suffix = "", .shape = {}, .is_start = true};
  else if (name.ends_with(".bias"))
    one = {name, "", {}};
  one.shape = other_shape ? word : usual_shape(one.base);
  return one;
}

}  // namespace

std::vector<const TensorRow*> rows_of(const LintFile& file) {
  std::vector<const TensorRow*> rows;
  if (file.kind != FileKind::kModel || file.architecture.empty()) return rows;
  for (const TensorRow& row : kTensorRows)
    if (has_word(row.architectures, file.architecture)) rows.push_back(&row);
  return rows;
}

std::optional<uint64_t> first_head_block(const LintFile& file) {
  if (!has_word("modern-bert lfm2", file.architecture)) return std::nullopt;
  const uint64_t n = blocks_in_file(file).value_or(0), n_head = hyper(file, "decision.block_count").value_or(0);
  return n_head != 0 && n_head < n ? std::optional(n - n_head) : std::nullopt;
}

const TensorRow* optional_row(std::string_view architecture, std::string_view blocks) {
  const auto row = std::ranges::find_if(kOptionalRows, [&](const TensorRow& one) {
    return one.blocks == blocks && has_word(one.architectures, architecture);
  });
  return row != std::end(kOptionalRows) ? row : nullptr;
}

TensorName split_name(std::string_view name) {
  for (const std::string_view blocks : {"blk.", "enc.blk.", "dec.blk.", "convnext.", "posnet."}) {
    if (const auto block = block_of(name, blocks))
      return {blocks, name.substr(name.find('.', blocks.size()) + 1), block};
  }
  return {{}, name, std::nullopt};
}

std::string_view base_name(std::string_view name) {
  for (const std::string_view suffix : {".weight", ".bias", ".input_scale", ".scale"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
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
      plan.variants.back().kind = read_kind(word);
      continue;
    }
    const bool optional = word.starts_with('?');
    PlannedTensor one = read_tensor(word.substr(optional ? 1 : 0));
    if (optional && !word.contains(':')) one.shape = {};  // an optional bias has that of its matrix
    size_t i = 0;
    while (i < plan.tensors.size() && (plan.tensors[i].base != one.base || plan.tensors[i].suffix != one.suffix)) ++i;
    if (i == plan.tensors.size()) plan.tensors.push_back(one);
    plan.needs.push_back({i, optional});
  }
  plan.variants.push_back({slot + 1, plan.needs.size()});
  return plan;
}

std::vector<PlannedTensor> read_options(std::string_view text) {
  std::vector<std::string_view> words;
  spell_out(text, words);
  std::vector<PlannedTensor> options;
  uint16_t kind = 0;
  for (const std::string_view word : words) {
    if (word.starts_with('=')) {
      kind = read_kind(word);
      continue;
    }
    options.push_back(read_tensor(word));
    options.back().kind = kind;
  }
  return options;
}

bool is_scaled(std::string_view base) { return has_word(kScaled, base); }

std::optional<std::string> matrix_of_scale(const TensorRow& row, const TensorName& name) {
  const std::string_view base = base_name(name.rest);
  if (name.blocks != "blk." || !name.rest.ends_with("scale") || !is_scaled(base)) return std::nullopt;
  const bool of_decoder = row.architectures == "t5" && row.blocks == "dec.blk.";
  if (row.blocks != "blk." && !of_decoder) return std::nullopt;
  return std::string(of_decoder && base == "attn_output" ? "attn_o" : base) + ".weight";
}

bool is_known_architecture(std::string_view name) {
  const auto has = [name](const TensorRow& row) { return has_word(row.architectures, name); };
  return has_word(kNamesWithoutRow, name) || std::ranges::any_of(kTensorRows, has);
}

}  // namespace ggufscope
