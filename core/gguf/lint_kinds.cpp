// Rules on file names, shard sets, and the kinds of files that are no models.
#include <algorithm>

#include "base/sort.hpp"
#include "gguf/ftype.hpp"
#include "gguf/lint_rules.hpp"
#include "gguf/names.hpp"

namespace ggufscope {
namespace {

void check_file_name(const LintFile& file, FindingList& findings) {
  if (!file.file_name.empty() && !parse_file_name(file.file_name).conforms)
    findings.add(0, {"the name ", Quoted{file.file_name}, " does not follow the naming convention"});
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

void check_adapter(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kAdapter) return;
  const auto type = get_string(file.gguf, "adapter.type");
  if (!type || *type != "lora")
    findings.add(key_offset(file.gguf, "adapter.type"), "an adapter whose adapter.type is not lora");
  if (!get_f64(file.gguf, "adapter.lora.alpha")) findings.add(0, "an adapter without adapter.lora.alpha");
}

/// Each "NAME<ending>" wants its "NAME<other>".
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

void check_importance(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kImportance) return;
  for (const std::string_view key : {"imatrix.datasets", "imatrix.chunk_count", "imatrix.chunk_size"})
    if (find_key(file.gguf, key) == nullptr) findings.add(0, {"an importance matrix without ", key});
  check_pairs(file, findings, ".in_sum2", ".counts");
  check_pairs(file, findings, ".counts", ".in_sum2");
}

void check_projector(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kProjector) return;
  const bool vision = get_bool(file.gguf, "clip.has_vision_encoder").value_or(false);
  const bool audio = get_bool(file.gguf, "clip.has_audio_encoder").value_or(false);
  if (!vision && !audio) findings.add(0, "a projector with neither an image nor an audio encoder");
}

void check_control_vector(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kControlVector) return;
  if (!get_string(file.gguf, "controlvector.model_hint"))
    findings.add(0, "a control vector without controlvector.model_hint");
  for (const TensorInfo& tensor : file.gguf.header.tensors)
    if (!file.gguf.text(tensor.name).starts_with("direction.") || tensor.n_dims != 1 || tensor.type != 0)
      findings.add(tensor.info_offset,
                   {"tensor ", Quoted{file.gguf.text(tensor.name)}, " is no direction.N of one dimension in F32"});
}

constexpr LintRule kRules[] = {
    {"file-name", FindingLevel::kNote, check_file_name},
    {"file-name-encoding", FindingLevel::kNote, check_name_encoding},
    {"split-keys", FindingLevel::kError, check_split_keys},
    {"split-name", FindingLevel::kError, check_split_name},
    {"adapter-keys", FindingLevel::kError, check_adapter},
    {"adapter-pairs", FindingLevel::kError, check_adapter_pairs},
    {"imatrix", FindingLevel::kError, check_importance},
    {"projector", FindingLevel::kError, check_projector},
    {"control-vector", FindingLevel::kNote, check_control_vector},
};

}  // namespace

RuleSpan kind_rules() { return kRules; }

}  // namespace ggufscope
