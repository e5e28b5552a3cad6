// The rule on the shapes of tensors. llama.cpp computes them from keys, and refuses a tensor of another shape. Tensors
// that depend on one missing key, or that differ alike, are one finding.
#include <algorithm>
#include <tuple>

#include "gguf/lint/extents.hpp"
#include "gguf/lint/required.hpp"
#include "gguf/lint/rules.hpp"
#include "gguf/lint/tensor_plan.hpp"

namespace ggufscope {
namespace {

/// The shapes that the table gives to the tensors of a row.
class RowShapes {
 public:
  RowShapes(const LintFile& file, const TensorRow& row) : ends_(read_plan(row.ends)), block_(read_plan(row.block)) {
    if (const TensorRow* more = optional_row(file.architecture, row.blocks); more != nullptr)
      more_ends_ = read_options(more->ends), more_ = read_options(more->block);
  }

  /// Letters; empty if unknown.
  [[nodiscard]] std::string_view of(const TensorName& name) const {
    const std::string_view base = base_name(name.rest);
    if (name.rest.ends_with("scale") && base != name.rest) return base.ends_with("_exps") ? "X" : "1";
    const TensorPlan& plan = name.block ? block_ : ends_;
    if (const size_t i = plan.find(name.rest); i < plan.tensors.size())
      if (!plan.tensors[i].shape.empty() || !name.rest.ends_with(".bias")) return plan.tensors[i].shape;
    const std::vector<PlannedTensor>& more = name.block ? more_ : more_ends_;
    const auto option = [&](std::string_view text) {
      return std::ranges::find_if(more, [&](const PlannedTensor& one) { return one.is(text); });
    };
    if (const auto own = option(name.rest); own != more.end() && !own->shape.empty()) return own->shape;
    if (!name.rest.ends_with(".bias")) return {};
    // The bias of a matrix has its dimensions without the first, that of a norm is as long as its weight.
    const std::string matrix = std::string(base) + ".weight";
    const size_t i = plan.find(matrix);
    const auto other = option(matrix);
    const std::string_view shape = i < plan.tensors.size() ? plan.tensors[i].shape
                                   : other != more.end()   ? other->shape
                                                           : std::string_view();
    std::string_view rest = shape;
    if (!shape.empty()) std::ignore = cut_dimension(rest);
    return rest.empty() ? shape : rest;
  }

 private:
  TensorPlan ends_, block_;
  std::vector<PlannedTensor> more_ends_, more_;
};

/// A tensor whose shape the table gives, as letters.
struct ShapedTensor {
  const TensorInfo* info;
  std::string_view shape;
  uint64_t block;
};

std::vector<ShapedTensor> shaped_tensors(const LintFile& file) {
  std::vector<ShapedTensor> all;
  for (const TensorRow* row : rows_of(file)) {
    const RowShapes shapes(file, *row);
    for (const TensorInfo& tensor : file.gguf.header.tensors) {
      const TensorName name = split_name(file.gguf.text(tensor.name));
      if (name.block && name.blocks != row->blocks && !matrix_of_scale(*row, name)) continue;
      const ShapedTensor one{&tensor, shapes.of(name), name.block.value_or(Extents::kOutside)};
      if (!one.shape.empty()) all.push_back(one);
    }
  }
  return all;
}

/// The first dimension in which a tensor differs from its shape.
struct Difference {
  uint32_t dimension;
  uint64_t got, expected;
};

/// That of a tensor of which only the number of elements counts.
std::optional<Difference> joined_difference(const Extents& extents, const ShapedTensor& tensor) {
  uint64_t expected = 1;
  for (std::string_view shape = tensor.shape.substr(1); !shape.empty();) {
    const uint64_t one = extents.of(cut_dimension(shape), tensor.block);
    if (one == Extents::kUnknown || __builtin_mul_overflow(expected, one, &expected)) return std::nullopt;
  }
  const uint64_t got = tensor.info->n_elements;
  return got != expected ? std::optional(Difference{0, got, expected}) : std::nullopt;
}

std::optional<Difference> difference(const Extents& extents, const ShapedTensor& tensor) {
  std::string_view shape = tensor.shape;
  if (shape.starts_with('~')) return joined_difference(extents, tensor);
  for (uint32_t i = 0; i < tensor.info->n_dims || !shape.empty(); ++i) {
    const uint64_t got = i < tensor.info->n_dims ? tensor.info->shape[i] : 1;
    const uint64_t expected = shape.empty() ? 1 : extents.of(cut_dimension(shape), tensor.block);
    if (expected != Extents::kUnknown && got != expected) return Difference{i, got, expected};
  }
  return std::nullopt;
}

/// True if the two give the tensor different shapes.
bool differ_in(const Extents& one, const Extents& other, const ShapedTensor& tensor) {
  std::string_view shape = tensor.shape;
  while (!shape.empty()) {
    const std::string_view dimension = cut_dimension(shape);
    if (one.of(dimension, tensor.block) != other.of(dimension, tensor.block)) return true;
  }
  return false;
}

/// How many shapes depend on a number that is missing or 0.
uint64_t count_dependents(const LintFile& file, size_t number, const std::vector<ShapedTensor>& tensors) {
  const Extents extents(file);
  Extents other(file);
  other.set(number, 2);
  return static_cast<uint64_t>(
      std::ranges::count_if(tensors, [&](const ShapedTensor& tensor) { return differ_in(extents, other, tensor); }));
}

/// The search for the faults.
struct ShapeFaults {
  const LintFile& file;
  FindingList& findings;
  Extents extents;
  std::vector<ShapedTensor> all, wrong;

  [[nodiscard]] std::string full_key(size_t number) const {
    const std::string_view key = Extents::key_of(number);
    return key.starts_with("tokenizer.") ? std::string(key) : arch_key(file, key);
  }

  /// Reports a number that is missing or 0, where llama.cpp computes shapes with 0.
  void report_zero(size_t number) {
    const bool there = extents.is_there(number);
    if (there && extents.number(number) != 0) return;
    Extents other(file);
    other.set(number, 2);
    const auto is_caused = [&](const ShapedTensor& tensor) {
      return difference(extents, tensor)->expected == 0 && differ_in(extents, other, tensor);
    };
    if (std::erase_if(wrong, is_caused) == 0) return;
    // Another rule reports a missing key that the loader requires.
    if (!there && requires_key(file.architecture, Extents::key_of(number))) return;
    const std::string key = full_key(number);
    findings.add(key_offset(file.gguf, key), {key, there ? " is 0" : " is missing", ", on which depend the shapes of ",
                                              Counted{count_dependents(file, number, all), "tensor"}});
  }

  /// Reports the first wrong tensor, with those that differ alike.
  void report_alike() {
    const ShapedTensor tensor = wrong.front();
    const Difference d = *difference(extents, tensor);
    const auto n = std::erase_if(wrong, [&](const ShapedTensor& other) {
      const Difference one = *difference(extents, other);
      return one.got == d.got && one.expected == d.expected;
    });
    findings.add(tensor.info->info_offset, {"tensor ", Quoted{file.gguf.text(tensor.info->name)}, " has ", d.got,
                                            " in dimension ", d.dimension, ": llama.cpp wants ", d.expected,
                                            n > 1 ? sentence({"; so it is in ", Counted{n - 1, "more tensor"}}) : ""});
  }
};

void check_tensor_shape(const LintFile& file, FindingList& findings) {
  if (key_of_other(file) != nullptr) return;
  ShapeFaults faults{file, findings, Extents(file), shaped_tensors(file), {}};
  for (const ShapedTensor& tensor : faults.all)
    if (difference(faults.extents, tensor)) faults.wrong.push_back(tensor);
  if (faults.wrong.empty()) return;
  const auto wants_zero = [&](const ShapedTensor& tensor) { return difference(faults.extents, tensor)->expected == 0; };
  if (std::ranges::any_of(faults.wrong, wants_zero))
    for (size_t number = 0; number < Extents::size(); ++number) faults.report_zero(number);
  // A hostile file can have a million differences.
  for (uint64_t n = 0; !faults.wrong.empty() && n <= kMaxFindings; ++n) faults.report_alike();
}

constexpr LintRule kTensorShapeRules[] = {
    {"tensor-shape", FindingLevel::kError, check_tensor_shape},
};

}  // namespace

uint64_t tensors_shaped_by(const LintFile& file, std::string_view suffix) {
  size_t number = 0;
  while (number < Extents::size() && Extents::key_of(number) != suffix) ++number;
  return number < Extents::size() ? count_dependents(file, number, shaped_tensors(file)) : 0;
}

RuleSpan tensor_shape_rules() { return kTensorShapeRules; }

}  // namespace ggufscope
