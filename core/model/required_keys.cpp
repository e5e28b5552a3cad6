// Refuses a model without a key that llama.cpp requires.
#include "model/required_keys.hpp"

#include <string>

#include "base/word_list.hpp"
#include "gguf/access.hpp"

namespace ggufscope {
namespace loader {

#include "gguf/required_keys.inc"

}  // namespace loader

namespace {

// The shapes of tensors say these, or which tensors there are.
constexpr std::string_view kInTensors =
    "attention.q_lora_rank attention.key_length_swa attention.value_length_swa attention.decay_lora_rank "
    "attention.iclr_lora_rank attention.value_residual_mix_lora_rank attention.gate_lora_rank "
    "expert_feed_forward_length expert_shared_count leading_dense_block_count .tokenizer.ggml.token_type_count";

/// True if the file has the key, and it is neither 0 nor an empty list.
bool is_set(Keys& keys, std::string_view suffix) {
  const KeyValue* kv = find_key(keys.gguf(), keys.full(suffix));
  if (kv == nullptr) return false;
  return kv->type == ValueType::kArray ? kv->count != 0 : get_u64(keys.gguf(), keys.full(suffix)).value_or(0) != 0;
}

void refuse_missing(Keys& keys, std::string_view suffix) {
  if (!keys.has(suffix)) keys.refuse(ErrorCode::kNotFound, keys.full(suffix) + " is missing");
}

}  // namespace

void refuse_missing_keys(Keys& keys, std::string_view architecture) {
  const bool layer = has_word(loader::kLayerNormed, architecture);
  if (layer || !has_word(loader::kNoEpsilon, architecture))
    refuse_missing(keys, layer ? loader::kLayerEpsilon : loader::kRmsEpsilon);
  for (const loader::LoaderKeys& row : loader::kRequiredKeys) {
    if (!has_word(row.architectures, architecture)) continue;
    for (const std::string_view suffix : WordList(row.suffixes))
      if (!has_word(kInTensors, suffix)) refuse_missing(keys, suffix);
  }
  for (const loader::DependentKeys& row : loader::kDependentKeys) {
    if (!has_word(row.architectures, architecture) || !is_set(keys, row.key)) continue;
    for (const std::string_view suffix : WordList(row.suffixes)) refuse_missing(keys, suffix);
  }
}

}  // namespace ggufscope
