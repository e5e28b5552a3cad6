// Rules on tensor infos and on the layout of the tensor data.
#include <algorithm>
#include <bit>
#include <numeric>

#include "base/sort.hpp"
#include "base/utf8.hpp"
#include "gguf/lint/rules.hpp"
#include "gguf/lint/tensor_plan.hpp"
#include "gguf/small_blocks.hpp"
#include "gguf/write.hpp"
#include "types/forks.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kGgmlDims = 4;
constexpr uint64_t kGgmlNameLength = 63;
constexpr uint64_t kLargeAlignment = 65536;
constexpr uint64_t kSigned = uint64_t{1} << 63;

const KeyValue* alignment_key(const LintFile& file) { return find_key(file.gguf, "general.alignment"); }

void check_alignment_type(const LintFile& file, FindingList& findings) {
  const KeyValue* kv = alignment_key(file);
  if (kv != nullptr && kv->type != ValueType::kU32)
    findings.add(kv->value.offset, {"general.alignment is ", value_type_name(kv->type), ", not u32"});
}

void check_alignment_power(const LintFile& file, FindingList& findings) {
  const KeyValue* kv = alignment_key(file);
  const auto alignment = get_u64(file.gguf, "general.alignment");
  if (kv != nullptr && alignment && !std::has_single_bit(*alignment))
    findings.add(kv->value.offset, {"alignment ", *alignment, " is not a power of two"});
}

void check_alignment_multiple(const LintFile& file, FindingList& findings) {
  const KeyValue* kv = alignment_key(file);
  const auto alignment = get_u64(file.gguf, "general.alignment");
  if (kv != nullptr && alignment && (*alignment == 0 || *alignment % 8 != 0))
    findings.add(kv->value.offset, {"alignment ", *alignment, " is not a multiple of 8"});
}

void check_alignment_large(const LintFile& file, FindingList& findings) {
  const KeyValue* kv = alignment_key(file);
  const auto alignment = get_u64(file.gguf, "general.alignment");
  if (kv != nullptr && alignment && *alignment > kLargeAlignment)
    findings.add(kv->value.offset, {"alignment ", *alignment, " is needlessly large"});
}

/// The name up to its first NUL, which is what ggml compares.
std::string_view before_nul(std::string_view name) { return name.substr(0, name.find('\0')); }

void check_duplicate_tensor(const LintFile& file, FindingList& findings) {
  const auto& tensors = file.gguf.header.tensors;
  std::vector<std::string_view> names(tensors.size());
  std::ranges::transform(tensors, names.begin(),
                         [&](const TensorInfo& t) { return before_nul(file.gguf.text(t.name)); });
  for (const size_t i : find_duplicates(names))
    findings.add(tensors[i].info_offset, {"tensor ", Quoted{file.gguf.text(tensors[i].name)}, " is there already"});
}

/// Rules that look at one tensor at a time: IsBad tests it, and Say adds the finding.
using IsBad = bool (*)(const LintFile&, const TensorInfo&);
using Say = void (*)(const LintFile&, const TensorInfo&, std::string_view name, FindingList&);

void each_tensor(const LintFile& file, FindingList& findings, IsBad is_bad, Say say) {
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (is_bad(file, tensor)) say(file, tensor, file.gguf.text(tensor.name), findings);
}

template <IsBad is_bad, Say say>
void each_tensor(const LintFile& file, FindingList& findings) {
  each_tensor(file, findings, is_bad, say);
}

// Readers other than ggml allow longer names and more dimensions. Another rule notes these.
bool bad_name_length(const LintFile& file, const TensorInfo& t) {
  return t.name.length > kGgmlNameLength && !is_foreign(file);
}
void say_name_length(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has a name of ", t.name.length,
                               " bytes (ggml takes 63, the specification 64)"});
}

bool beyond_ggml(const LintFile& file, const TensorInfo& t) {
  return (t.name.length > kGgmlNameLength || t.n_dims > kGgmlDims) && is_foreign(file);
}
// One finding: a converter names all of its tensors alike.
void check_beyond_ggml(const LintFile& file, FindingList& findings) {
  const TensorInfo* first = nullptr;
  uint64_t n = 0;
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (beyond_ggml(file, tensor) && n++ == 0) first = &tensor;
  if (first == nullptr) return;
  findings.add(first->info_offset, {Counted{n, "tensor"}, ", ", Quoted{file.gguf.text(first->name)},
                                    " first: ggml takes names of 63 bytes and 4 dimensions"});
}

bool bad_name_empty(const LintFile&, const TensorInfo& t) { return t.name.length == 0; }
void say_name_empty(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has no name"});
}

bool bad_name_utf8(const LintFile& file, const TensorInfo& t) {
  return !utf16_length(file.gguf.bytes.subspan(static_cast<size_t>(t.name.offset), static_cast<size_t>(t.name.length)));
}
void say_name_utf8(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has a name that is not UTF-8"});
}

bool bad_name_nul(const LintFile& file, const TensorInfo& t) { return file.gguf.text(t.name).contains('\0'); }
void say_name_nul(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has a NUL in its name: ggml sees only what is before it"});
}

bool bad_dimensions(const LintFile& file, const TensorInfo& t) { return t.n_dims > kGgmlDims && !is_foreign(file); }
void say_dimensions(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has ", Counted{t.n_dims, "dimension"}, ": 4 at most"});
}

bool bad_no_dimensions(const LintFile&, const TensorInfo& t) { return t.n_dims == 0; }
void say_no_dimensions(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has no dimensions"});
}

bool bad_no_elements(const LintFile&, const TensorInfo& t) { return t.n_elements == 0; }
void say_no_elements(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has no elements"});
}

bool bad_dimension_range(const LintFile&, const TensorInfo& t) {
  return std::ranges::any_of(t.shape, [](uint64_t dim) { return dim >= kSigned; });
}
void say_dimension_range(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has a dimension of 2^63 or more"});
}

/// ggml's own arithmetic, which also refuses some shapes slightly below 2^63 elements.
bool bad_element_count(const LintFile&, const TensorInfo& t) {
  constexpr uint64_t kMaxElements = kSigned - 1;
  if (t.n_dims > kGgmlDims || t.n_elements == 0) return false;
  const uint64_t plane = t.shape[0] * t.shape[1];
  return kMaxElements / t.shape[1] <= t.shape[0] || kMaxElements / t.shape[2] <= plane ||
         kMaxElements / t.shape[3] <= plane * t.shape[2];
}
void say_element_count(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  findings.add(t.info_offset,
               {"tensor ", Quoted{name}, " has ", Counted{t.n_elements, "element"}, ": ggml counts up to 2^63 - 1"});
}

bool bad_unknown_type(const LintFile&, const TensorInfo& t) {
  return find_gguf_type(t.type) == nullptr || !fork_type(t.type).name.empty();
}
std::string unknown_type(uint32_t id) {
  if (const ForkType type = fork_type(id); !type.name.empty())
    return sentence({type.name, " (", id, "), which ", type.fork, " has, and nothing here can read"});
  return sentence({id, ", which ggml does not know"});
}

bool bad_removed_type(const LintFile&, const TensorInfo& t) {
  const TypeGeometry* type = find_gguf_type(t.type);
  return type != nullptr && type->removed && fork_type(t.type).name.empty();
}
std::string removed_type(uint32_t id) { return sentence({find_gguf_type(id)->name, ", which was removed from ggml"}); }

/// Tensors with several rows that llama.cpp does not multiply as matrices, beside norms and biases.
constexpr std::string_view kNoMatrices = "ssm_a ssm_d shortconv.conv time_mix_first time_mix_lerp_fused token_types";
/// Matrices that may have one row.
constexpr std::string_view kOneRow = "attn_res_score cls.output decision.scorer_out ffn_gate_inp_shexp time_mix_v0";
/// The types without matrix products, as bits: Q8_1, Q8_K, I8 to I64, F64.
constexpr uint32_t kNoProducts = 1u << 9 | 1u << 15 | 31u << 24;

bool is_matrix(const TensorInfo& t, std::string_view name) {
  const std::string_view base = base_name(split_name(name).rest);
  if (name.ends_with(".bias")) return false;
  if (t.n_dims < 2) return has_word(kOneRow, base);
  return !base.contains("norm") && !base.starts_with("ssm_conv1d") && !has_word(kNoMatrices, base);
}

/// llama.cpp computes with matrices of any type that has products, and with other tensors in F32. A table of experts
/// has their numbers.
bool bad_computed_type(const LintFile& file, const TensorInfo& t) {
  const std::string_view name = file.gguf.text(t.name);
  if (!is_llama_model(file) || bad_unknown_type(file, t) || bad_removed_type(file, t)) return false;
  if (name == "d2t") return t.type != static_cast<uint32_t>(TypeId::kI64);  // the tokens that a draft model knows
  if (name.ends_with(".ffn_gate_tid2eid.weight")) return t.type != static_cast<uint32_t>(TypeId::kI32);
  const bool has_products = t.type >= 32 || (kNoProducts >> t.type & 1) == 0;
  return t.type != 0 && !(has_products && is_matrix(t, name));
}
std::string computed_type(uint32_t id) {
  return sentence({find_gguf_type(id)->name, ", with which llama.cpp cannot compute there"});
}

/// Adds one finding for each bad type. describe is called with its id.
void each_type(const LintFile& file, FindingList& findings, IsBad is_bad, std::string (*describe)(uint32_t type)) {
  std::vector<uint32_t> seen;
  const auto& tensors = file.gguf.header.tensors;
  for (const TensorInfo& first : tensors) {
    // A hostile file has a million types.
    if (!is_bad(file, first) || seen.size() > kMaxFindings || std::ranges::find(seen, first.type) != seen.end())
      continue;
    seen.push_back(first.type);
    const auto n =
        std::ranges::count_if(tensors, [&](const TensorInfo& t) { return t.type == first.type && is_bad(file, t); });
    const std::string more = n > 1 ? sentence({" and ", n - 1, " more are"}) : " is";
    findings.add(first.info_offset,
                 {"tensor ", Quoted{file.gguf.text(first.name)}, more, " of type ", describe(first.type)});
  }
}

template <IsBad is_bad, auto describe>
void each_type(const LintFile& file, FindingList& findings) {
  each_type(file, findings, is_bad, describe);
}

bool bad_partial_block(const LintFile& file, const TensorInfo& t) {
  const TypeGeometry* type = find_gguf_type(t.type);
  return type != nullptr && type->block_size != 0 && t.shape[0] % type->block_size != 0 &&
         !(file.gguf.header.small_blocks && small_block_size(t));
}
void say_partial_block(const LintFile&, const TensorInfo& t, std::string_view name, FindingList& findings) {
  const TypeGeometry* type = find_gguf_type(t.type);
  findings.add(t.info_offset, {"tensor ", Quoted{name}, " has rows of ", Counted{t.shape[0], "element"},
                               ", not whole blocks of ", type->block_size, " (", type->name, ")"});
}

void check_small_blocks(const LintFile& file, FindingList& findings) {
  if (!file.gguf.header.small_blocks) return;
  const auto is_k = [](const TensorInfo& tensor) { return small_block_bytes(tensor.type) != 0; };
  const auto& tensors = file.gguf.header.tensors;
  findings.add(std::ranges::find_if(tensors, is_k)->info_offset,
               {std::ranges::count_if(tensors, is_k), " tensors have super-blocks of 64 elements"});
}

/// A wrong alignment moves most tensors, so they have one finding.
void check_offset_alignment(const LintFile& file, FindingList& findings) {
  const TensorInfo* first = nullptr;
  uint64_t n = 0;
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (tensor.relative_offset % file.gguf.header.alignment != 0 && n++ == 0) first = &tensor;
  if (n > 0)
    findings.add(first->info_offset, {Counted{n, "tensor begins", "tensors begin"}, " at no multiple of the alignment ",
                                      file.gguf.header.alignment, ", the first is tensor ",
                                      Quoted{file.gguf.text(first->name)}, " at ", first->relative_offset});
}

/// Tensor indices sorted by offset.
std::vector<uint32_t> by_offset(const std::vector<TensorInfo>& tensors) {
  return sorted_order(tensors.size(), [&](uint32_t a, uint32_t b) {
    // A tensor without bytes may have the same offset as the next one.
    return tensors[a].offset != tensors[b].offset ? tensors[a].offset < tensors[b].offset
                                                  : tensors[a].n_bytes < tensors[b].n_bytes;
  });
}

bool has_layout(const TensorInfo& tensor) {
  const TypeGeometry* type = find_gguf_type(tensor.type);
  return tensor.n_bytes != 0 || (tensor.n_elements == 0 && type != nullptr && !type->removed);
}

void check_order(const LintFile& file, FindingList& findings) {
  const auto& tensors = file.gguf.header.tensors;
  for (size_t i = 1; i < tensors.size(); ++i) {
    // Tensors without bytes may share an offset only with tensors that follow in the list.
    const bool inside = tensors[i].n_bytes == 0 && has_layout(tensors[i]) && tensors[i - 1].n_bytes != 0;
    if (tensors[i].offset < tensors[i - 1].offset || (inside && tensors[i].offset == tensors[i - 1].offset))
      findings.add(tensors[i].info_offset,
                   {"tensor ", Quoted{file.gguf.text(tensors[i].name)}, " lies before the tensor listed before it"});
  }
}

void check_overlap(const LintFile& file, FindingList& findings) {
  const TensorInfo* furthest = nullptr;
  for (const uint32_t i : by_offset(file.gguf.header.tensors)) {
    const TensorInfo* tensor = &file.gguf.header.tensors[i];
    if (furthest != nullptr && tensor->offset < furthest->offset + furthest->n_bytes && has_layout(*tensor))
      findings.add(tensor->info_offset, {"tensor ", Quoted{file.gguf.text(tensor->name)}, " overlaps tensor ",
                                         Quoted{file.gguf.text(furthest->name)}});
    if (furthest == nullptr || tensor->offset + tensor->n_bytes >= furthest->offset + furthest->n_bytes)
      furthest = tensor;
  }
}

void check_gap(const LintFile& file, FindingList& findings) {
  uint64_t reach = 0;  // end of the tensors so far, relative to the start of the data
  bool known = true;
  for (const uint32_t i : by_offset(file.gguf.header.tensors)) {
    const TensorInfo* tensor = &file.gguf.header.tensors[i];
    const uint64_t expected = align_up(reach, file.gguf.header.alignment);
    // Of a tensor that begins beyond the end of the file, data-truncated is the one finding.
    if (known && tensor->relative_offset > expected && tensor->offset <= file.file_size.value_or(UINT64_MAX))
      findings.add(tensor->info_offset, {Counted{tensor->relative_offset - expected, "byte lies", "bytes lie"},
                                         " unused before tensor ", Quoted{file.gguf.text(tensor->name)}});
    reach = std::max(reach, tensor->relative_offset + tensor->n_bytes);
    known = has_layout(*tensor);
  }
}

void check_data_size(const LintFile& file, FindingList& findings) {
  uint64_t total = 0;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const uint64_t padded = align_up(tensor.n_bytes, file.gguf.header.alignment);
    if (padded >= kSigned - total) {
      findings.add(tensor.info_offset, "the sizes of all tensors add up to 2^63 bytes or more");
      return;
    }
    total += padded;
  }
}

void check_truncated(const LintFile& file, FindingList& findings) {
  if (!file.file_size) return;
  const TensorInfo* first = nullptr;
  uint64_t n = 0, end = 0, farthest = *file.file_size;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    farthest += align_up(tensor.n_bytes, file.gguf.header.alignment);
    if (tensor.offset + tensor.n_bytes <= *file.file_size) continue;
    if (first == nullptr || tensor.offset < first->offset) first = &tensor;
    end = std::max(end, tensor.offset + tensor.n_bytes);
    ++n;
  }
  if (n == 0) return;
  // All tensors together do not reach so far: the offset is wrong.
  if (first->offset > farthest)
    return findings.add(*file.file_size,
                        {"tensor ", Quoted{file.gguf.text(first->name)}, " begins beyond the end of the file"});
  findings.add(*file.file_size,
               {"the file is cut: ", end - *file.file_size, " of ", Counted{end, "byte"},
                " are missing, and the data of ", n, " of ", Counted{file.gguf.header.tensors.size(), "tensor"},
                " is not whole, from tensor ", Quoted{file.gguf.text(first->name)}, " on"});
}

void check_trailing(const LintFile& file, FindingList& findings) {
  const Header& header = file.gguf.header;
  if (!file.file_size || !std::ranges::all_of(header.tensors, has_layout)) return;
  uint64_t reach = 0;
  for (const TensorInfo& tensor : header.tensors) reach = std::max(reach, tensor.relative_offset + tensor.n_bytes);
  const uint64_t end = header.data_offset + align_up(reach, header.alignment);
  if (*file.file_size > end)
    findings.add(end, {Counted{*file.file_size - end, "byte follows", "bytes follow"}, " the tensor data"});
}

void check_padding(const LintFile& file, FindingList& findings) {
  const Header& header = file.gguf.header;
  const uint64_t end = std::min<uint64_t>(file.gguf.bytes.size(), header.data_offset);
  for (uint64_t at = header.info_end; at < end; ++at)
    if (file.gguf.bytes[static_cast<size_t>(at)] != 0) {
      findings.add(at, "the padding before the tensor data is not zero");
      return;
    }
}

/// llama.cpp maps the file into memory and needs buffers aligned to 32 bytes.
void check_data_alignment(const LintFile& file, FindingList& findings) {
  const uint64_t offset = file.gguf.header.data_offset;
  if (is_llama_model(file) && !file.gguf.header.tensors.empty() && offset % 32 != 0)
    findings.add(offset, {"the tensor data begins at ", offset, ", no multiple of 32: llama.cpp cannot map the file"});
}

constexpr LintRule kLayoutRules[] = {
    {"alignment-type", FindingLevel::kError, check_alignment_type},
    {"alignment-power-of-two", FindingLevel::kError, check_alignment_power},
    {"alignment-multiple-of-8", FindingLevel::kSpec, check_alignment_multiple},
    {"alignment-large", FindingLevel::kNote, check_alignment_large},
    {"duplicate-tensor", FindingLevel::kError, check_duplicate_tensor},
    {"tensor-name-length", FindingLevel::kError, each_tensor<bad_name_length, say_name_length>},
    {"beyond-ggml", FindingLevel::kNote, check_beyond_ggml},
    {"tensor-name-empty", FindingLevel::kNote, each_tensor<bad_name_empty, say_name_empty>},
    {"tensor-name-utf8", FindingLevel::kSpec, each_tensor<bad_name_utf8, say_name_utf8>},
    {"tensor-name-nul", FindingLevel::kNote, each_tensor<bad_name_nul, say_name_nul>},
    {"dimensions", FindingLevel::kError, each_tensor<bad_dimensions, say_dimensions>},
    {"no-dimensions", FindingLevel::kNote, each_tensor<bad_no_dimensions, say_no_dimensions>},
    {"no-elements", FindingLevel::kNote, each_tensor<bad_no_elements, say_no_elements>},
    {"dimension-range", FindingLevel::kError, each_tensor<bad_dimension_range, say_dimension_range>},
    {"element-count", FindingLevel::kError, each_tensor<bad_element_count, say_element_count>},
    {"unknown-type", FindingLevel::kError, each_type<bad_unknown_type, unknown_type>},
    {"removed-type", FindingLevel::kError, each_type<bad_removed_type, removed_type>},
    {"tensor-type", FindingLevel::kError, each_type<bad_computed_type, computed_type>},
    {"partial-block", FindingLevel::kError, each_tensor<bad_partial_block, say_partial_block>},
    {"small-blocks", FindingLevel::kError, check_small_blocks},
    {"offset-alignment", FindingLevel::kError, check_offset_alignment},
    {"data-alignment", FindingLevel::kError, check_data_alignment},
    {"tensor-order", FindingLevel::kError, check_order},
    {"tensor-overlap", FindingLevel::kError, check_overlap},
    {"tensor-gap", FindingLevel::kError, check_gap},
    {"data-size", FindingLevel::kError, check_data_size},
    {"data-truncated", FindingLevel::kError, check_truncated},
    {"trailing-data", FindingLevel::kNote, check_trailing},
    {"padding", FindingLevel::kSpec, check_padding},
};

}  // namespace

RuleSpan layout_rules() { return kLayoutRules; }

}  // namespace ggufscope
