// Rules on file names, shard sets, and files that are not models.
#include <algorithm>
#include <charconv>

#include "base/sort.hpp"
#include "gguf/ftype.hpp"
#include "gguf/lint/rules.hpp"
#include "gguf/names.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

void check_file_name(const LintFile& file, FindingList& findings) {
  if (!file.file_name.empty() && !parse_file_name(file.file_name).conforms)
    findings.add(kNoPlace, {"the name ", Quoted{file.file_name}, " does not follow the naming convention"});
}

void check_name_encoding(const LintFile& file, FindingList& findings) {
  const auto id = get_u64(file.gguf, "general.file_type");
  const FileType* row = id && *id <= UINT32_MAX ? find_file_type(static_cast<uint32_t>(*id)) : nullptr;
  const std::string_view encoding = parse_file_name(file.file_name).encoding;
  const auto same = [](char a, char b) { return (a | 32) == (b | 32); };
  if (row != nullptr && !encoding.empty() && !std::ranges::equal(encoding, row->name, same))
    findings.add(key_offset(file.gguf, "general.file_type"),
                 {"the name says ", Quoted{encoding}, ", general.file_type says ", row->name});
}

void check_split_keys(const LintFile& file, FindingList& findings) {
  const auto count = get_u64(file.gguf, "split.count"), number = get_u64(file.gguf, "split.no");
  const uint64_t offset = key_offset(file.gguf, "split.count");
  if (!count || *count <= 1) return;
  if (!number) {
    findings.add(offset, "split.count without split.no");
  } else if (*number >= *count) {
    findings.add(offset, {"shard ", *number, " (from 0) of ", *count});
  }
  const auto tensors = get_u64(file.gguf, "split.tensors.count");
  if (!tensors) {
    findings.add(offset, "split.count without split.tensors.count");
  } else if (file.gguf.header.tensors.size() > *tensors) {
    findings.add(offset, "this shard alone has more tensors than split.tensors.count says of all");
  }
}

void check_split_name(const LintFile& file, FindingList& findings) {
  const auto shard = parse_shard(file.file_name);
  const uint64_t count = get_u64(file.gguf, "split.count").value_or(1),
                 number = get_u64(file.gguf, "split.no").value_or(0);
  if (file.file_name.empty() || (!shard && count <= 1)) return;
  if (!shard) {
    findings.add(key_offset(file.gguf, "split.count"), "a shard whose name does not end in -0000M-of-0000N.gguf");
  } else if (shard->total != count || shard->number != number + 1) {
    findings.add(key_offset(file.gguf, "split.count"), {"the name says shard ", shard->number, " of ", shard->total,
                                                        ", the keys say ", number + 1, " of ", count});
  }
}

/// A key that a loader reads in exactly one type. It refuses a file with another type.
struct KindKey {
  FileKind kind;
  std::string_view key;
  ValueType type;
  bool list = false;
};
constexpr KindKey kKindKeys[] = {
    {FileKind::kAdapter, "general.type", ValueType::kString},
    {FileKind::kAdapter, "adapter.type", ValueType::kString},
    {FileKind::kAdapter, "adapter.lora.alpha", ValueType::kF32},
    {FileKind::kAdapter, "adapter.alora.invocation_tokens", ValueType::kU32, true},
    {FileKind::kImportance, "imatrix.chunk_count", ValueType::kU32},
    {FileKind::kImportance, "imatrix.chunk_size", ValueType::kU32},
};

void check_kind_type(const LintFile& file, FindingList& findings) {
  for (const KindKey& row : kKindKeys)
    if (file.kind == row.kind) check_key_type(file, findings, row.key, row.type, row.list);
}

void check_adapter(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kAdapter) return;
  const auto want = [&](std::string_view key, std::string_view value) {
    if (get_string(file.gguf, key) != value)
      findings.add(key_offset(file.gguf, key), {"an adapter whose ", key, " is not ", value});
  };
  want("general.type", "adapter");
  want("adapter.type", "lora");
}

/// If alpha is missing or 0, llama.cpp does not scale the product of the two matrices.
void check_adapter_alpha(const LintFile& file, FindingList& findings) {
  if (file.kind == FileKind::kAdapter && get_f64(file.gguf, "adapter.lora.alpha").value_or(0) == 0)
    findings.add(key_offset(file.gguf, "adapter.lora.alpha"), "an adapter without adapter.lora.alpha");
}

/// Checks that each "NAME<ending>" has its counterpart "NAME<other>".
void check_pairs(const LintFile& file, FindingList& findings, std::string_view ending, std::string_view other) {
  std::vector<std::string_view> stems;
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (const std::string_view name = file.gguf.text(tensor.name); name.ends_with(other))
      stems.push_back(name.substr(0, name.size() - other.size()));
  const std::vector<uint32_t> order =
      sorted_order(stems.size(), [&](uint32_t a, uint32_t b) { return stems[a] < stems[b]; });
  const auto has = [&](std::string_view stem) {
    const auto at = std::ranges::lower_bound(order, stem, {}, [&](uint32_t i) { return stems[i]; });
    return at != order.end() && stems[*at] == stem;
  };
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    if (name.ends_with(ending) && !has(name.substr(0, name.size() - ending.size())))
      findings.add(tensor.info_offset, {"tensor ", Quoted{file.gguf.text(tensor.name)}, " has no ", other});
  }
}

void check_adapter_pairs(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kAdapter) return;
  check_pairs(file, findings, ".lora_a", ".lora_b");
  check_pairs(file, findings, ".lora_b", ".lora_a");
}

/// llama.cpp reads pairs of matrices and ignores norms.
void check_adapter_tensor(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kAdapter) return;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    if (!name.ends_with(".lora_a") && !name.ends_with(".lora_b") && !name.ends_with("_norm.weight"))
      findings.add(tensor.info_offset, {"tensor ", Quoted{name}, " is neither a .lora_a nor a .lora_b"});
  }
}

/// A is [in, rank] and B is [rank, out]. For embeddings both are transposed, so the rank is not checked.
void check_adapter_shape(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kAdapter) return;
  const auto& tensors = file.gguf.header.tensors;
  const auto name_of = [&](uint32_t i) { return file.gguf.text(tensors[i].name); };
  const std::vector<uint32_t> order =
      sorted_order(tensors.size(), [&](uint32_t a, uint32_t b) { return name_of(a) < name_of(b); });
  // In sorted order, NAME.lora_a comes directly before NAME.lora_b.
  for (size_t k = 1; k < order.size(); ++k) {
    const std::string_view a = name_of(order[k - 1]), b = name_of(order[k]);
    const TensorInfo &first = tensors[order[k - 1]], &second = tensors[order[k]];
    if (a.ends_with(".lora_a") && b.ends_with(".lora_b") && a.substr(0, a.size() - 1) == b.substr(0, b.size() - 1) &&
        !a.ends_with("token_embd.weight.lora_a") && first.shape[1] != second.shape[0])
      findings.add(first.info_offset,
                   {"tensor ", Quoted{a}, " is of rank ", first.shape[1], ", its .lora_b of rank ", second.shape[0]});
  }
}

void check_importance(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kImportance) return;
  for (const std::string_view key : {"imatrix.datasets", "imatrix.chunk_count", "imatrix.chunk_size"})
    if (find_key(file.gguf, key) == nullptr) findings.add(kNoPlace, {"an importance matrix without ", key});
  if (file.gguf.header.tensors.empty()) findings.add(kNoPlace, "an importance matrix without tensors");
  check_pairs(file, findings, ".in_sum2", ".counts");
  check_pairs(file, findings, ".counts", ".in_sum2");
}

constexpr uint32_t kF32Type = static_cast<uint32_t>(TypeId::kF32);

void check_importance_type(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kImportance) return;
  for (const TensorInfo& tensor : file.gguf.header.tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    if ((name.ends_with(".in_sum2") || name.ends_with(".counts")) && tensor.type != kF32Type)
      findings.add(tensor.info_offset, {"tensor ", Quoted{name}, " is not of F32"});
  }
}

/// The number after "direction." in a tensor name, parsed like C's strtol: characters after the digits are ignored.
std::optional<uint64_t> direction_of(std::string_view name) {
  constexpr std::string_view kPrefix = "direction.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_prefix(std::min(name.find_first_not_of(" \t\n\v\f\r"), name.size()));
  if (name.starts_with('+')) name.remove_prefix(1);
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (end == name.data() || problem != std::errc() || number > INT32_MAX) return std::nullopt;
  return number;
}

void check_control_vector(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kControlVector) return;
  const auto& tensors = file.gguf.header.tensors;
  if (tensors.empty()) findings.add(kNoPlace, "a control vector without directions");
  for (const TensorInfo& tensor : tensors) {
    const std::string_view name = file.gguf.text(tensor.name);
    // Blocks are numbered from 1.
    if (direction_of(name).value_or(0) == 0 || tensor.n_elements != tensor.shape[0] || tensor.type != kF32Type) {
      findings.add(tensor.info_offset,
                   {"tensor ", Quoted{name}, " is no direction.N of one dimension in F32, N from 1 on"});
    } else if (tensor.n_elements != tensors[0].n_elements) {
      findings.add(tensor.info_offset, {"tensor ", Quoted{name}, " has ", tensor.n_elements,
                                        " elements, the first one ", tensors[0].n_elements});
    }
  }
}

void check_control_vector_hint(const LintFile& file, FindingList& findings) {
  if (file.kind == FileKind::kControlVector && !get_string(file.gguf, "controlvector.model_hint"))
    findings.add(kNoPlace, "a control vector without controlvector.model_hint");
}

/// ComfyUI-GGUF stores some tensors as rows of 256 elements, and their original shape in a key, slowest first.
void check_original_shape(const LintFile& file, FindingList& findings) {
  constexpr std::string_view kPrefix = "comfy.gguf.orig_shape.";
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    if (!key.starts_with(kPrefix)) continue;
    const TensorInfo* tensor = find_tensor(file.gguf, key.substr(kPrefix.size()));
    const auto shape = kv.type == ValueType::kArray && kv.element_type == ValueType::kI32 && kv.count <= kMaxDims
                           ? get_integers(file.gguf, key)
                           : std::nullopt;
    uint64_t n = 1;
    bool sound = shape.has_value();
    for (const int64_t extent : shape.value_or(std::vector<int64_t>()))
      sound = sound && extent > 0 && !__builtin_mul_overflow(n, static_cast<uint64_t>(extent), &n);
    if (tensor == nullptr || !sound || n != tensor->n_elements)
      findings.add(kv.key.offset, {Quoted{key}, tensor == nullptr ? " is of no tensor of the file"
                                                : sound           ? " has another count of elements than its tensor"
                                                                  : " is no array of i32, each above 0"});
  }
}

constexpr LintRule kKindRules[] = {
    {"file-name", FindingLevel::kNote, check_file_name, kStrict},
    {"file-name-encoding", FindingLevel::kNote, check_name_encoding},
    {"split-keys", FindingLevel::kError, check_split_keys},
    {"split-name", FindingLevel::kError, check_split_name},
    {"kind-key-type", FindingLevel::kError, check_kind_type},
    {"adapter-keys", FindingLevel::kError, check_adapter},
    {"adapter-alpha", FindingLevel::kNote, check_adapter_alpha},
    {"adapter-pairs", FindingLevel::kError, check_adapter_pairs},
    {"adapter-tensor", FindingLevel::kError, check_adapter_tensor},
    {"adapter-shape", FindingLevel::kError, check_adapter_shape},
    {"imatrix", FindingLevel::kError, check_importance},
    {"imatrix-type", FindingLevel::kError, check_importance_type},
    {"control-vector", FindingLevel::kError, check_control_vector},
    {"original-shape", FindingLevel::kError, check_original_shape},
    {"control-vector-hint", FindingLevel::kNote, check_control_vector_hint},
};

}  // namespace

RuleSpan kind_rules() { return kKindRules; }

}  // namespace ggufscope
