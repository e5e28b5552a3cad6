// Rules on the keys that llama.cpp reads for an architecture: those that it requires, and the types that it accepts.
#include "gguf/lint/required.hpp"

#include <algorithm>

#include "gguf/lint/rules.hpp"

namespace ggufscope {
namespace {

using enum ValueType;

#include "gguf/required_keys.inc"

}  // namespace

bool requires_key(std::string_view architecture, std::string_view suffix) {
  const bool layer = has_word(kLayerNormed, architecture);
  if (suffix == kLayerEpsilon) return layer;
  if (suffix == kRmsEpsilon)
    return !layer && !has_word(kNoEpsilon, architecture) && is_known_architecture(architecture);
  return has_word(kAlwaysRequired, suffix) || std::ranges::any_of(kRequiredKeys, [&](const LoaderKeys& row) {
           return has_word(row.suffixes, suffix) && has_word(row.architectures, architecture);
         });
}

namespace {

/// Calls visit(suffix) for each key that an architecture requires.
template <class Visit>
void each_required(std::string_view architecture, Visit visit) {
  const auto all = [&](std::string_view words) {
    for (const std::string_view word : WordList(words)) visit(word);
  };
  all(kAlwaysRequired);
  for (const std::string_view epsilon : {kRmsEpsilon, kLayerEpsilon})
    if (requires_key(architecture, epsilon)) visit(epsilon);
  for (const LoaderKeys& row : kRequiredKeys)
    if (has_word(row.architectures, architecture)) all(row.suffixes);
}

std::string full_key(const LintFile& file, std::string_view suffix) {
  return suffix.starts_with('.') ? std::string(suffix.substr(1)) : arch_key(file, suffix);
}

/// DeepSeek-V2-Lite has plain queries. llama.cpp knows it by its number of layers.
bool has_plain_queries(const LintFile& file) {
  const uint64_t layers = hyper(file, "block_count").value_or(0);
  return file.architecture == "deepseek2" && (layers == 26 || layers == 27);
}

/// Appends the keys that an architecture requires because of another.
void add_dependent(const LintFile& file, std::vector<std::string_view>& suffixes) {
  for (const DependentKeys& row : kDependentKeys) {
    if (!has_word(row.architectures, file.architecture)) continue;
    const KeyValue* kv = find_key(file.gguf, arch_key(file, row.key));
    if (kv == nullptr || (kv->type == kArray ? kv->count : hyper(file, row.key).value_or(0)) == 0) continue;
    for (const std::string_view word : WordList(row.suffixes)) suffixes.push_back(word);
  }
}

void check_loader_key(const LintFile& file, FindingList& findings) {
  if (!is_loadable_model(file) || key_of_other(file) != nullptr) return;
  std::vector<std::string_view> suffixes;
  each_required(file.architecture, [&](std::string_view suffix) { suffixes.push_back(suffix); });
  add_dependent(file, suffixes);
  for (const std::string_view suffix : suffixes) {
    if (suffix == "attention.q_lora_rank" && has_plain_queries(file)) continue;
    const std::string key = full_key(file, suffix);
    if (find_key(file.gguf, key) != nullptr) continue;
    const uint64_t n = tensors_shaped_by(file, suffix);
    const std::string shaped = n == 0 ? "" : sentence({", on which the shapes of ", Counted{n, "tensor"}, " depend"});
    findings.add(kNoPlace, {"llama.cpp requires ", key, shaped});
  }
  // One of the two keys is enough.
  if (file.architecture == "cohere2moe" && find_key(file.gguf, arch_key(file, kRmsEpsilon)) == nullptr &&
      find_key(file.gguf, arch_key(file, kLayerEpsilon)) == nullptr)
    findings.add(kNoPlace, {"llama.cpp requires ", arch_key(file, kRmsEpsilon)});
}

/// Further keys for which llama.cpp accepts only one type, the catalogue's. It refuses a file with another type.
constexpr std::string_view kLoaderKeys =
    "context_length embedding_length block_count feed_forward_length expert_count expert_used_count "
    "attention.head_count attention.head_count_kv attention.key_length attention.value_length "
    "rope.dimension_count rope.freq_base rope.scale_linear rope.scaling.type rope.scaling.factor "
    "rope.scaling.attn_factor rope.scaling.finetuned rope.scaling.original_context_length attention.causal "
    "attention.clamp_kqv attention.max_alibi_bias attention.scale attn_logit_softcapping final_logit_softcapping "
    "logit_scale residual_scale embedding_scale pooling_type leading_dense_block_count expert_shared_count "
    "expert_gating_func expert_weights_norm expert_weights_scale ssm.conv_kernel ssm.inner_size ssm.state_size "
    "ssm.time_step_rank ssm.group_count wkv.head_size attention.sliding_window "
    "attention.q_lora_rank expert_shared_feed_forward_length attention.key_length_mla attention.value_length_mla "
    "attention.kv_lora_rank";

/// Checks for one value or, if the catalogue allows lists, one value for each block. List elements may be signed or
/// unsigned.
void check_type(const LintFile& file, FindingList& findings, std::string_view key, ValueType type, bool list) {
  const KeyValue* kv = find_key(file.gguf, key);
  if (kv == nullptr || kv->type == type) return;
  if (list && kv->type == kArray && (kv->element_type == type || (type == kU32 && kv->element_type == kI32))) return;
  findings.add(kv->key.offset, {key, " is ", kv->type == kArray ? "an array of " : "",
                                value_type_name(kv->element_type), ": llama.cpp reads ", value_type_name(type)});
}

void check_loader_type(const LintFile& file, FindingList& findings) {
  const auto check = [&](std::string_view key, ValueType type) { check_type(file, findings, key, type, false); };
  check("general.architecture", kString);
  if (!is_foreign(file)) {
    check("general.file_type", kU32);
    check("split.count", kU16);
    check("split.no", kU16);
    check("split.tensors.count", kI32);
    check("general.name", kString);
    check("tokenizer.ggml.model", kString);
    check("tokenizer.ggml.pre", kString);
    check("tokenizer.ggml.token_type_count", kU32);
    for (const std::string_view flag :
         {"add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix", "remove_extra_whitespaces"})
      check("tokenizer.ggml." + std::string(flag), kBool);
  }
  if (!is_llama_model(file)) return;
  const auto check_suffix = [&](std::string_view suffix) {
    const std::string key = full_key(file, suffix);
    const StandardKey* row = find_standard_key(key);
    // A pattern is either a period or an array of flags of any type.
    if (row != nullptr && row->form != KeyForm::kList && !suffix.ends_with("_pattern"))
      check_type(file, findings, key, row->type, row->form == KeyForm::kEither);
  };
  each_required(file.architecture, check_suffix);
  const auto check_optional = [&](std::string_view suffixes) {
    for (const std::string_view suffix : WordList(suffixes))
      if (!requires_key(file.architecture, suffix)) check_suffix(suffix);
  };
  check_optional(kLoaderKeys);
  for (const LoaderKeys& row : kTypedKeys)
    if (has_word(row.architectures, file.architecture)) check_optional(row.suffixes);
}

constexpr LintRule kRequiredRules[] = {
    {"loader-key", FindingLevel::kError, check_loader_key},
    {"loader-type", FindingLevel::kError, check_loader_type},
};

}  // namespace

RuleSpan required_rules() { return kRequiredRules; }

}  // namespace ggufscope
