// The tables of tensors.inc, parsed: which tensors llama.cpp creates for an architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/lint/rules.hpp"

namespace ggufscope {

/// A row of tensors.inc. The comment at the top of that file describes the notation.
struct TensorRow {
  std::string_view architectures;     ///< separated by spaces
  std::string_view blocks;            ///< prefix of the tensors in blocks
  std::string_view ends, block = {};  ///< outside of blocks, and in each block
};

/// The rows of the file's architecture; none if the file is no model.
[[nodiscard]] std::vector<const TensorRow*> rows_of(const LintFile& file);

/// The row of optional tensors that belongs to a row; nullptr if there is none.
[[nodiscard]] const TensorRow* optional_row(std::string_view architecture, std::string_view blocks);

/// The first block of a decision head, which is the last decision.block_count blocks of modern-bert and lfm2.
[[nodiscard]] std::optional<uint64_t> first_head_block(const LintFile& file);

/// The parts of "blk.7.attn_q.weight". `block` is empty outside of blocks.
struct TensorName {
  std::string_view blocks, rest;
  std::optional<uint64_t> block;
};
[[nodiscard]] TensorName split_name(std::string_view name);

/// The name without the suffix that says which parameter of the layer it is.
[[nodiscard]] std::string_view base_name(std::string_view name);

/// Kinds of blocks, as bits: a block is of several. A variant or an optional tensor is for one kind, or for all (0).
enum Kind : uint16_t {
  kDense = 1,
  kExperts = 2,
  kFirst = 4,
  kLater = 8,
  kRecurrent = 16,
  kFull = 32,
  kHead = 128,
  kIndexed = 256,
  kHashed = 512,
};

/// A tensor that a row names; its name is base + suffix.
struct PlannedTensor {
  std::string_view base, suffix;
  std::string_view shape;  ///< empty: not checked
  uint16_t kind = 0;       ///< of an optional tensor
  bool is_start = false;   ///< stands for all names that begin with base
  bool is_alone = false;   ///< a bias that needs no matrix

  [[nodiscard]] bool is(std::string_view name) const {
    return is_start ? name.starts_with(base)
                    : name.size() == base.size() + suffix.size() && name.starts_with(base) && name.ends_with(suffix);
  }
};

/// A parsed text of a row, in its order.
struct TensorPlan {
  struct Need {
    size_t tensor;  ///< index into `tensors`
    bool optional;
  };
  struct Variant {
    size_t slot, first_need;
    uint16_t kind = 0;
  };
  std::vector<PlannedTensor> tensors;
  std::vector<Variant> variants;  ///< the last one is a sentinel that ends the one before it
  std::vector<Need> needs;        ///< variant by variant

  /// The index of a tensor, or tensors.size() if it is not in the plan.
  [[nodiscard]] size_t find(std::string_view name) const {
    size_t i = 0;
    while (i < tensors.size() && !tensors[i].is(name)) ++i;
    return i;
  }
};

[[nodiscard]] TensorPlan read_plan(std::string_view text);

/// The optional tensors of a text.
[[nodiscard]] std::vector<PlannedTensor> read_options(std::string_view text);

/// True for a matrix that may have a scale.
[[nodiscard]] bool is_scaled(std::string_view base);

/// The matrix to which a scale belongs, if it is one of the row's. llama.cpp names the scales of T5's decoder as if its
/// blocks were "blk.".
[[nodiscard]] std::optional<std::string> matrix_of_scale(const TensorRow& row, const TensorName& name);

}  // namespace ggufscope
