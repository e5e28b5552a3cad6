// Rules on the tokenizer's keys and arrays.
#include <algorithm>
#include <cmath>

#include "gguf/arrays.hpp"
#include "gguf/lint/rules.hpp"

namespace ggufscope {
namespace {

using enum ValueType;

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kCharsMapKey = "tokenizer.ggml.precompiled_charsmap";

constexpr std::string_view kModels = "no_vocab none llama bert gpt2 hybriddna whitespace t5 rwkv plamo2 gemma4";
constexpr std::string_view kMergingModels = "gpt2 hybriddna whitespace gemma4";

constexpr std::string_view kPreTokenizers[] = {
#define GGUFSCOPE_PRE_TOKENIZER(name, steps, flags) name,
#include "gguf/pre_tokenizers.inc"
#undef GGUFSCOPE_PRE_TOKENIZER
};

/// The tokenizer's model; empty if another program reads it.
std::string_view model_of(const LintFile& file) {
  if (is_foreign(file)) return {};
  return get_string(file.gguf, kModelKey).value_or(std::string_view());
}

bool has_tokens(const LintFile& file) {
  const std::string_view model = model_of(file);
  return !model.empty() && model != "none" && model != "no_vocab";
}

const KeyValue* array_of(const LintFile& file, std::string_view key, ValueType element) {
  const KeyValue* kv = find_key(file.gguf, key);
  return kv != nullptr && kv->type == kArray && kv->element_type == element ? kv : nullptr;
}

void check_model_missing(const LintFile& file, FindingList& findings) {
  if (is_loadable_model(file) && find_key(file.gguf, kModelKey) == nullptr)
    findings.add(kNoPlace, "tokenizer.ggml.model is missing");
}

void check_model_known(const LintFile& file, FindingList& findings) {
  const std::string_view model = model_of(file);
  if (is_foreign(file) || !get_string(file.gguf, kModelKey)) return;
  if (!has_word(kModels, model))
    findings.add(key_offset(file.gguf, kModelKey), {"llama.cpp knows no tokenizer ", Quoted{model}});
}

void check_pre_tokenizer(const LintFile& file, FindingList& findings) {
  const auto pre = get_string(file.gguf, "tokenizer.ggml.pre");
  if (!has_word(kMergingModels, model_of(file)) || model_of(file) == "gemma4") return;
  if (pre && !pre->empty() && std::ranges::find(kPreTokenizers, *pre) == std::end(kPreTokenizers))
    findings.add(key_offset(file.gguf, "tokenizer.ggml.pre"), {"unknown pre-tokenizer ", Quoted{*pre}});
}

void check_pre_tokenizer_missing(const LintFile& file, FindingList& findings) {
  const auto pre = get_string(file.gguf, "tokenizer.ggml.pre");
  // llama.cpp treats an empty value like a missing one.
  if (model_of(file) == "gpt2" && (find_key(file.gguf, "tokenizer.ggml.pre") == nullptr || (pre && pre->empty())))
    findings.add(key_offset(file.gguf, kModelKey), "tokenizer.ggml.pre is missing: the default may be wrong");
}

void check_tokens_missing(const LintFile& file, FindingList& findings) {
  if (has_tokens(file) && find_key(file.gguf, kTokensKey) == nullptr)
    findings.add(key_offset(file.gguf, kModelKey), "tokenizer.ggml.tokens is missing");
}

void check_merges_missing(const LintFile& file, FindingList& findings) {
  if (has_word(kMergingModels, model_of(file)) && find_key(file.gguf, kMergesKey) == nullptr &&
      get_string(file.gguf, "tokenizer.ggml.pre") != "kimi-k2")
    findings.add(key_offset(file.gguf, kModelKey), "tokenizer.ggml.merges is missing");
}

void check_array_types(const LintFile& file, FindingList& findings) {
  struct Row {
    std::string_view key;
    ValueType type, other;
  };
  constexpr Row rows[] = {{kTokensKey, kString, kString}, {kScoresKey, kF32, kI32},
                          {kTypesKey, kI32, kI32},        {kMergesKey, kString, kString},
                          {kCharsMapKey, kI8, kU8},       {"tokenizer.ggml.suppress_tokens", kI32, kI32}};
  if (is_foreign(file)) return;
  for (const Row& row : rows) {
    const KeyValue* kv = find_key(file.gguf, row.key);
    if (kv == nullptr || (kv->type == kArray && (kv->element_type == row.type || kv->element_type == row.other)))
      continue;
    findings.add(kv->key.offset,
                 {row.key, " is not an array of ", value_type_name(row.type), ": llama.cpp refuses it"});
  }
}

/// Checks the arrays that must have one element for each token. Two arrays that agree are one fault.
void check_lengths(const LintFile& file, FindingList& findings, bool longer) {
  const KeyValue* tokens = array_of(file, kTokensKey, kString);
  if (tokens == nullptr || is_foreign(file)) return;
  const auto fault_of = [&](std::string_view key) -> const KeyValue* {
    const KeyValue* kv = find_key(file.gguf, key);
    if (kv == nullptr || kv->type != kArray || kv->count == tokens->count) return nullptr;
    // If the embeddings have as many rows, the tokens are at fault, and the rule on shapes says so.
    const TensorInfo* embeddings = is_llama_model(file) ? find_tensor(file.gguf, "token_embd.weight") : nullptr;
    const bool agrees = embeddings != nullptr && embeddings->n_dims == 2 && embeddings->shape[1] == kv->count;
    return agrees || longer != (kv->count > tokens->count) ? nullptr : kv;
  };
  const KeyValue *scores = fault_of(kScoresKey), *types = fault_of(kTypesKey);
  const bool both = scores != nullptr && types != nullptr && scores->count == types->count;
  for (const KeyValue* kv : {scores, both ? nullptr : types})
    if (kv != nullptr)
      findings.add(kv->value.offset, {file.gguf.text(kv->key), both ? " and tokenizer.ggml.token_type have " : " has ",
                                      Counted{kv->count, "element"}, " for ", Counted{tokens->count, "token"}});
}

void check_array_short(const LintFile& file, FindingList& findings) { check_lengths(file, findings, false); }

void check_array_long(const LintFile& file, FindingList& findings) { check_lengths(file, findings, true); }

void check_duplicate_token(const LintFile& file, FindingList& findings) {
  const auto tokens = get_strings(file.gguf, kTokensKey);
  if (!tokens || !has_tokens(file)) return;
  for (const size_t id : find_duplicates(*tokens)) {
    const std::string_view text = (*tokens)[id];
    if (text.empty()) continue;  // loaders generate these names
    const auto at = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(text.data()) - file.gguf.bytes.data());
    findings.add(at, {"token ", id, " ", Quoted{text}, " is there already"});
  }
}

void check_empty_token(const LintFile& file, FindingList& findings) {
  const KeyValue* tokens = array_of(file, kTokensKey, kString);
  if (tokens == nullptr) return;
  for_each_string(file.gguf, *tokens, [&](uint64_t id, Extent text) {
    if (text.length == 0) findings.add(text.offset, {"token ", id, " is empty"});
  });
}

template <class T>
T element(const LintFile& file, const KeyValue& array, uint64_t i) {
  return load<T>(file.gguf.bytes.data() + array.value.offset + i * sizeof(T), file.gguf.header.big_endian);
}

constexpr int32_t kLastTokenType = 6;
constexpr int32_t kByteToken = 6;

void check_token_type(const LintFile& file, FindingList& findings) {
  const KeyValue* types = array_of(file, kTypesKey, kI32);
  if (types == nullptr) return;
  for (uint64_t i = 0; i < types->count; ++i) {
    const int32_t type = element<int32_t>(file, *types, i);
    if (type < 1 || type > kLastTokenType)
      findings.add(types->value.offset + 4 * i, {"token ", i, " is of type ", type, ": 1 to 6 are defined"});
  }
}

/// True for texts such as "<0x0A>".
bool is_byte_text(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); };
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' && is_hex(text[3]) && is_hex(text[4]);
}

void check_byte_token(const LintFile& file, FindingList& findings) {
  const KeyValue* types = array_of(file, kTypesKey, kI32);
  const KeyValue* tokens = array_of(file, kTokensKey, kString);
  if (types == nullptr || tokens == nullptr) return;
  for_each_string(file.gguf, *tokens, [&](uint64_t id, Extent text) {
    if (id < types->count && element<int32_t>(file, *types, id) == kByteToken && !is_byte_text(file.gguf.text(text)))
      findings.add(text.offset, {"byte token ", id, " is ", Quoted{file.gguf.text(text)}, ", not of the form <0xHH>"});
  });
}

void check_scores_finite(const LintFile& file, FindingList& findings) {
  const KeyValue* scores = array_of(file, kScoresKey, kF32);
  if (scores == nullptr) return;
  for (uint64_t i = 0; i < scores->count; ++i)
    if (!std::isfinite(element<float>(file, *scores, i)))
      findings.add(scores->value.offset + 4 * i, {"the score of token ", i, " is not finite"});
}

void check_merge_syntax(const LintFile& file, FindingList& findings) {
  const KeyValue* merges = array_of(file, kMergesKey, kString);
  if (merges == nullptr) return;
  for_each_string(file.gguf, *merges, [&](uint64_t i, Extent text) {
    const std::string_view merge = file.gguf.text(text);
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size())
      findings.add(text.offset, {"merge ", i, " ", Quoted{merge}, " is not two pieces"});
  });
}

constexpr std::string_view kSpecialIds =
    "bos eos eot eom unknown seperator separator padding mask cls prefix suffix middle fim_pre fim_suf fim_mid"
    " fim_pad fim_rep fim_sep";

std::string special_key(std::string_view name) { return "tokenizer.ggml." + std::string(name) + "_token_id"; }

void check_special_range(const LintFile& file, FindingList& findings) {
  const KeyValue* tokens = array_of(file, kTokensKey, kString);
  if (tokens == nullptr) return;
  for (const std::string_view name : WordList(kSpecialIds)) {
    const std::string key = special_key(name);
    const auto id = get_i64(file.gguf, key);
    if (id && (*id < 0 || static_cast<uint64_t>(*id) >= tokens->count))
      findings.add(key_offset(file.gguf, key), {key, " is ", *id, " of ", Counted{tokens->count, "token"}});
  }
}

void check_special_type(const LintFile& file, FindingList& findings) {
  if (is_foreign(file)) return;
  for (const std::string_view name : WordList(kSpecialIds)) {
    const std::string key = special_key(name);
    const KeyValue* kv = find_key(file.gguf, key);
    if (kv != nullptr && kv->type != kU32)
      findings.add(kv->key.offset, {key, " is ", value_type_name(kv->type), ": llama.cpp reads u32"});
  }
}

void check_add_without_id(const LintFile& file, FindingList& findings) {
  struct Row {
    std::string_view add, id, other;
  };
  for (const Row& row :
       {Row{"tokenizer.ggml.add_bos_token", "bos", "bos"}, Row{"tokenizer.ggml.add_eos_token", "eos", "eos"},
        Row{"tokenizer.ggml.add_sep_token", "seperator", "separator"}})
    if (get_bool(file.gguf, row.add).value_or(false) && find_key(file.gguf, special_key(row.id)) == nullptr &&
        find_key(file.gguf, special_key(row.other)) == nullptr)
      findings.add(key_offset(file.gguf, row.add), {row.add, " is set, but ", special_key(row.id), " is missing"});
}

/// Models named Phi-3 must have these tokens: llama.cpp changes how it handles the spaces after them.
void check_named_tokens(const LintFile& file, FindingList& findings) {
  std::string name(get_string(file.gguf, "general.name").value_or(""));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (!name.contains("phi-3") && !name.contains("phi3")) return;
  const auto tokens = get_strings(file.gguf, kTokensKey);
  if (!tokens || !has_tokens(file)) return;
  for (const std::string_view wanted : {"</s>", "<unk>", "<s>", "<|endoftext|>"})
    if (std::ranges::find(*tokens, wanted) == tokens->end())
      findings.add(key_offset(file.gguf, "general.name"),
                   {"a model whose general.name says Phi-3 without a token ", wanted, ": llama.cpp requires it"});
}

/// The format is a u32 with the trie's size, the trie, then the replacement texts.
void check_charsmap(const LintFile& file, FindingList& findings) {
  const KeyValue* kv = find_key(file.gguf, kCharsMapKey);
  if (model_of(file) != "t5" || kv == nullptr || kv->type != kArray || value_size(kv->element_type) != 1) return;
  const uint64_t n = kv->value.length;
  if (n < 4 || uint64_t{load<uint32_t>(file.gguf.bytes.data() + kv->value.offset)} + 4 >= n)
    findings.add(kv->value.offset, "the precompiled_charsmap is shorter than it says");
}

/// llama.cpp writes and reads the misspelling "seperator"; the specification has the correct spelling.
void check_separator(const LintFile& file, FindingList& findings) {
  constexpr std::string_view kRight = "tokenizer.ggml.separator_token_id", kRead = "tokenizer.ggml.seperator_token_id";
  const KeyValue* kv = find_key(file.gguf, kRight);
  if (kv != nullptr && find_key(file.gguf, kRead) == nullptr)
    findings.add(kv->key.offset, {kRight, " is not read: llama.cpp's key is ", kRead});
}

/// Checks only that the text is one JSON object; it is not parsed completely.
void check_huggingface_json(const LintFile& file, FindingList& findings) {
  constexpr std::string_view kKey = "tokenizer.huggingface.json", kSpaces = " \t\r\n";
  const auto text = get_string(file.gguf, kKey);
  if (!text) return;
  const size_t first = text->find_first_not_of(kSpaces), last = text->find_last_not_of(kSpaces);
  if (first == std::string_view::npos || (*text)[first] != '{' || (*text)[last] != '}')
    findings.add(find_key(file.gguf, kKey)->value.offset, {kKey, " is no JSON object"});
}

constexpr LintRule kTokenizerRules[] = {
    {"tokenizer-missing", FindingLevel::kError, check_model_missing},
    {"tokenizer-unknown", FindingLevel::kError, check_model_known},
    {"pre-tokenizer-unknown", FindingLevel::kError, check_pre_tokenizer},
    {"pre-tokenizer-missing", FindingLevel::kNote, check_pre_tokenizer_missing},
    {"tokens-missing", FindingLevel::kError, check_tokens_missing},
    {"merges-missing", FindingLevel::kError, check_merges_missing},
    {"tokenizer-array-type", FindingLevel::kError, check_array_types},
    {"tokenizer-array-short", FindingLevel::kError, check_array_short},
    {"tokenizer-array-long", FindingLevel::kSpec, check_array_long},
    {"duplicate-token", FindingLevel::kError, check_duplicate_token},
    {"empty-token", FindingLevel::kNote, check_empty_token},
    {"token-type", FindingLevel::kSpec, check_token_type},
    {"byte-token", FindingLevel::kNote, check_byte_token},
    {"score-finite", FindingLevel::kNote, check_scores_finite},
    {"merge-syntax", FindingLevel::kNote, check_merge_syntax},
    {"special-id-range", FindingLevel::kSpec, check_special_range},
    {"special-id-type", FindingLevel::kError, check_special_type},
    {"special-id-missing", FindingLevel::kNote, check_add_without_id},
    {"named-tokens", FindingLevel::kError, check_named_tokens},
    {"separator-spelling", FindingLevel::kNote, check_separator},
    {"huggingface-json", FindingLevel::kNote, check_huggingface_json},
    {"charsmap", FindingLevel::kError, check_charsmap},
};

}  // namespace

RuleSpan tokenizer_rules() { return kTokenizerRules; }

}  // namespace ggufscope
