// Rules on the keys that describe a model: missing keys, and hyper-parameters that contradict each other.
#include <algorithm>

#include "gguf/ftype.hpp"
#include "gguf/lint/rules.hpp"
#include "types/types.hpp"

namespace ggufscope {

const KeyValue* key_of_other(const LintFile& file) {
  if (file.kind != FileKind::kModel || file.architecture.empty() ||
      find_key(file.gguf, arch_key(file, "block_count")) != nullptr)
    return nullptr;
  for (const KeyValue& kv : file.gguf.header.key_values) {
    std::string_view key = file.gguf.text(kv.key);
    const std::string_view prefix = cut_off(key, '.');
    if (key == "block_count" && prefix != file.architecture && is_known_architecture(prefix)) return &kv;
  }
  return nullptr;
}

namespace {

/// The specification's list by architecture ("Each key specified must be present"). After "|" comes the name that
/// writers use if it differs from the specification's.
struct RequiredKeys {
  std::string_view architecture, suffixes;
};
constexpr RequiredKeys kRequired[] = {
    {"llama",
     "context_length embedding_length block_count feed_forward_length rope.dimension_count "
     "attention.head_count attention.layer_norm_rms_epsilon"},
    {"mpt",
     "context_length embedding_length block_count attention.head_count "
     "attention.alibi_bias_max|attention.max_alibi_bias attention.clip_kqv|attention.clamp_kqv "
     "attention.layer_norm_epsilon"},
    {"gptneox",
     "context_length embedding_length block_count use_parallel_residual rope.dimension_count "
     "attention.head_count attention.layer_norm_epsilon"},
    {"gptj",
     "context_length embedding_length block_count rope.dimension_count attention.head_count "
     "attention.layer_norm_epsilon"},
    {"gpt2", "context_length embedding_length block_count attention.head_count attention.layer_norm_epsilon"},
    {"bloom",
     "context_length embedding_length block_count feed_forward_length attention.head_count "
     "attention.layer_norm_epsilon"},
    {"falcon",
     "context_length embedding_length block_count attention.head_count attention.head_count_kv "
     "attention.use_norm attention.layer_norm_epsilon"},
    {"mamba",
     "context_length embedding_length block_count ssm.conv_kernel ssm.inner_size ssm.state_size "
     "ssm.time_step_rank attention.layer_norm_rms_epsilon"},
    {"rwkv", "architecture_version context_length block_count embedding_length feed_forward_length"},
    {"whisper",
     "encoder.context_length encoder.embedding_length encoder.block_count encoder.mels_count "
     "encoder.attention.head_count decoder.context_length decoder.embedding_length decoder.block_count "
     "decoder.attention.head_count"},
};

void check_required_key(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kModel || is_later_shard(file) || key_of_other(file) != nullptr) return;
  for (const RequiredKeys& row : kRequired) {
    if (row.architecture != file.architecture) continue;
    for (const std::string_view names : WordList(row.suffixes)) {
      const size_t bar = names.find('|');
      const std::string_view other = bar == std::string_view::npos ? std::string_view() : names.substr(bar + 1);
      const std::string key = arch_key(file, names.substr(0, bar));
      if (find_key(file.gguf, key) == nullptr &&
          (other.empty() || find_key(file.gguf, arch_key(file, other)) == nullptr))
        findings.add(kNoPlace, {"the specification requires ", key});
    }
  }
}

void check_architecture_missing(const LintFile& file, FindingList& findings) {
  if (file.kind == FileKind::kImportance || is_later_shard(file) || is_foreign(file)) return;
  if (file.architecture.empty()) findings.add(kNoPlace, "general.architecture is missing");
}

void check_architecture_syntax(const LintFile& file, FindingList& findings) {
  const bool sound =
      std::ranges::all_of(file.architecture, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  if (!sound)
    findings.add(key_offset(file.gguf, "general.architecture"),
                 {"architecture ", Quoted{file.architecture}, " has other characters than a-z and 0-9"});
}

void check_other_reader(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kModel || is_known_architecture(file.architecture)) return;
  // llama.cpp does not have them, but this package's engine does.
  if (has_word("whisper kokoro", file.architecture)) return;
  // stable-diffusion.cpp writes tensors without any keys.
  if (file.architecture.empty() && is_foreign(file)) findings.add(kNoPlace, "general.architecture is missing");
  if (const std::string_view reader = other_reader(file); !reader.empty())
    findings.add(key_offset(file.gguf, "general.architecture"),
                 {"architecture ", Quoted{file.architecture}, " is not for llama.cpp but for ", reader});
}

void check_architecture_known(const LintFile& file, FindingList& findings) {
  if (file.kind != FileKind::kModel || is_known_architecture(file.architecture)) return;
  if (other_reader(file).empty() && !file.architecture.empty())
    findings.add(
        key_offset(file.gguf, "general.architecture"),
        {"architecture ", Quoted{file.architecture}, " is not among those of llama.cpp that this build knows"});
}

/// Finds keys such as "llama.block_count" in a file with another architecture: its name was changed or misspelt.
void check_architecture_keys(const LintFile& file, FindingList& findings) {
  if (const KeyValue* kv = key_of_other(file); kv != nullptr)
    findings.add(kv->key.offset,
                 {"the architecture is ", Quoted{file.architecture}, ", but there is ", file.gguf.text(kv->key)});
}

using enum ValueType;

void check_array_length(const LintFile& file, FindingList& findings) {
  const auto blocks = hyper(file, "block_count");
  if (!blocks || !is_llama_model(file)) return;
  for (const KeyValue& kv : file.gguf.header.key_values) {
    if (kv.type != kArray || kv.count == *blocks) continue;
    const std::string_view key = file.gguf.text(kv.key);
    const StandardKey* row = find_standard_key(key);
    // llama.cpp reads only the first block_count entries of a window pattern.
    if (key.ends_with("sliding_window_pattern") && kv.count > *blocks) continue;
    if (row != nullptr && row->form == KeyForm::kEither && key.starts_with(file.architecture))
      findings.add(kv.value.offset,
                   {Quoted{key}, " has ", Counted{kv.count, "element"}, " for ", Counted{*blocks, "block"}});
  }
}

void check_block_count(const LintFile& file, FindingList& findings) {
  const auto blocks = hyper(file, "block_count");
  if (is_loadable_model(file) && blocks && (*blocks == 0 || *blocks > kMaxBlocks))
    findings.add(key_offset(file.gguf, arch_key(file, "block_count")),
                 {"block_count is ", *blocks, ": llama.cpp takes 1 to 512"});
}

constexpr uint64_t kMaxExperts = 512;

void check_expert_counts(const LintFile& file, FindingList& findings) {
  if (!is_llama_model(file)) return;
  const uint64_t experts = hyper(file, "expert_count").value_or(0);
  const auto used = hyper(file, "expert_used_count");  // nullopt if it is an array
  if (find_key(file.gguf, arch_key(file, "expert_used_count")) != nullptr && !used) return;
  if (experts > kMaxExperts)
    findings.add(key_offset(file.gguf, arch_key(file, "expert_count")),
                 {Counted{experts, "expert"}, ": llama.cpp takes 512 at most"});
  if (used.value_or(0) > experts || (experts > 0 && used.value_or(0) == 0))
    findings.add(key_offset(file.gguf, arch_key(file, "expert_count")),
                 {Counted{used.value_or(0), "expert"}, " used of ", experts});
}

void check_context(const LintFile& file, FindingList& findings) {
  const std::string key = arch_key(file, "context_length");
  if (hyper(file, "context_length") == 0)
    findings.add(key_offset(file.gguf, key), {key, " is 0: each program chooses a context of its own"});
}

void check_heads(const LintFile& file, FindingList& findings) {
  const auto width = hyper(file, "embedding_length"), heads = hyper(file, "attention.head_count");
  if (!width || !heads || *heads == 0) return;
  const uint64_t offset = key_offset(file.gguf, arch_key(file, "attention.head_count"));
  if (*width % *heads != 0 && !hyper(file, "attention.key_length"))
    findings.add(offset, {"embedding_length ", *width, " is not divided evenly by ", Counted{*heads, "head"}});
  const auto kv_heads = hyper(file, "attention.head_count_kv");
  if (kv_heads && *kv_heads != 0 && *heads % *kv_heads != 0)
    findings.add(offset, {Counted{*heads, "head"}, " cannot share ", *kv_heads, " key-value heads evenly"});
}

/// For these architectures, llama.cpp requires RoPE to rotate whole heads.
void check_rope_dimensions(const LintFile& file, FindingList& findings) {
  if (!is_loadable_model(file) || !has_word("llama deci falcon", file.architecture)) return;
  const auto width = hyper(file, "embedding_length"), heads = hyper(file, "attention.head_count");
  const auto rotated = hyper(file, "rope.dimension_count");
  if (!width || !heads || *heads == 0 || !rotated) return;
  const uint64_t head = hyper(file, "attention.key_length").value_or(*width / *heads);
  if (*rotated != head)
    findings.add(key_offset(file.gguf, arch_key(file, "rope.dimension_count")),
                 {"rope.dimension_count is ", *rotated, " for heads of ", head});
}

void check_rope_scaling(const LintFile& file, FindingList& findings) {
  if (!is_llama_model(file)) return;
  const auto type = get_string(file.gguf, arch_key(file, "rope.scaling.type"));
  if (type && !has_word("none linear yarn longrope", *type))
    findings.add(key_offset(file.gguf, arch_key(file, "rope.scaling.type")), {"unknown rope scaling ", Quoted{*type}});
}

void check_data_layout(const LintFile& file, FindingList& findings) {
  const std::string key = arch_key(file, "tensor_data_layout");
  const auto layout = get_string(file.gguf, key);
  if (layout && *layout != "reference")
    findings.add(key_offset(file.gguf, key),
                 {"the tensors are laid out as ", Quoted{*layout}, ", which llama.cpp does not look at"});
}

/// Speech models, including those from before GGUF.
void check_fft_length(const LintFile& file, FindingList& findings) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    const bool length = key.ends_with(".fft_length") || key.ends_with(".mel_filters.columns") ||
                        key.ends_with(".mel_filters.rows") || key.ends_with(".mels_count");
    if (length && get_u64(file.gguf, key) == 0)
      findings.add(kv.value.offset, {Quoted{key}, " is 0: the model could not read any audio"});
  }
}

bool is_quantized(const TensorInfo& tensor) {
  const TypeGeometry* type = find_gguf_type(tensor.type);
  return type != nullptr && type->block_size > 1;
}

void check_quantization_version(const LintFile& file, FindingList& findings) {
  const auto& tensors = file.gguf.header.tensors;
  const auto quantized = std::ranges::find_if(tensors, is_quantized);
  if (quantized != tensors.end() && !is_later_shard(file) &&
      find_key(file.gguf, "general.quantization_version") == nullptr)
    findings.add(quantized->info_offset, "there are quantized tensors, but no general.quantization_version");
}

void check_quantization_version_known(const LintFile& file, FindingList& findings) {
  const auto version = get_u64(file.gguf, "general.quantization_version");
  if (version && *version != 2)
    findings.add(key_offset(file.gguf, "general.quantization_version"),
                 {"quantization version ", *version, ": block layouts are known for version 2"});
}

void check_file_type_known(const LintFile& file, FindingList& findings) {
  const auto id = get_u64(file.gguf, "general.file_type");
  if (!id) return;
  const FileType* row = *id <= UINT32_MAX ? find_file_type(static_cast<uint32_t>(*id)) : nullptr;
  if (row != nullptr && !row->removed) return;
  const std::string_view newer = *id <= UINT32_MAX ? newer_file_type(static_cast<uint32_t>(*id)) : "";
  findings.add(key_offset(file.gguf, "general.file_type"), {"file type ", *id,
                                                            row != nullptr  ? " was removed from llama.cpp"
                                                            : newer.empty() ? " is unknown"
                                                                            : " is of ggml 1.0: ",
                                                            newer});
}

/// The declared type must occur if rows of some matrix can have it: a quantizer keeps the type that it was asked for
/// where all rows need smaller blocks. A file declared as unquantized must not have quantized tensors.
void check_file_type_present(const LintFile& file, FindingList& findings) {
  const auto id = get_u64(file.gguf, "general.file_type");
  const FileType* row = id && *id <= UINT32_MAX ? find_file_type(static_cast<uint32_t>(*id)) : nullptr;
  if (file.kind != FileKind::kModel || row == nullptr || row->removed || is_shard(file)) return;
  const auto& tensors = file.gguf.header.tensors;
  const TypeGeometry* type = find_type(row->type);
  const auto can_be = [&](const TensorInfo& t) { return t.n_dims >= 2 && t.shape[0] % type->block_size == 0; };
  if (std::ranges::none_of(tensors, can_be)) return;
  const bool present = std::ranges::any_of(tensors, [&](const TensorInfo& t) { return t.type == row->type; });
  const bool unexpected = type->block_size == 1 && std::ranges::any_of(tensors, is_quantized);
  const uint64_t at = key_offset(file.gguf, "general.file_type");
  if (!present) {
    findings.add(at, {"general.file_type says ", row->name, ", but no tensor is ", type->name});
  } else if (unexpected) {
    findings.add(at, {"general.file_type says ", row->name, ", but there are quantized tensors"});
  }
}

constexpr LintRule kModelRules[] = {
    {"architecture-missing", FindingLevel::kError, check_architecture_missing},
    {"architecture-syntax", FindingLevel::kSpec, check_architecture_syntax},
    {"architecture-other", FindingLevel::kNote, check_other_reader},
    // A newer llama.cpp may know it, but --strict passes no model that this one refuses.
    {"architecture-unknown", FindingLevel::kSpec, check_architecture_known},
    {"architecture-keys", FindingLevel::kError, check_architecture_keys},
    {"required-key", FindingLevel::kSpec, check_required_key},
    {"array-length", FindingLevel::kError, check_array_length},
    {"block-count", FindingLevel::kError, check_block_count},
    {"expert-counts", FindingLevel::kError, check_expert_counts},
    {"context-length", FindingLevel::kNote, check_context},
    {"heads", FindingLevel::kNote, check_heads},
    {"rope-dimensions", FindingLevel::kError, check_rope_dimensions},
    {"rope-scaling", FindingLevel::kError, check_rope_scaling},
    {"tensor-data-layout", FindingLevel::kNote, check_data_layout},
    {"fft-length", FindingLevel::kError, check_fft_length},
    {"quantization-version", FindingLevel::kSpec, check_quantization_version},
    {"quantization-version-known", FindingLevel::kNote, check_quantization_version_known},
    {"file-type-known", FindingLevel::kNote, check_file_type_known},
    {"file-type-present", FindingLevel::kNote, check_file_type_present},
};

}  // namespace

RuleSpan model_rules() { return kModelRules; }

}  // namespace ggufscope
