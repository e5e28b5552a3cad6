// Refuses a model without a key that llama.cpp requires.
#include "model/required_keys.hpp"

#include <string>

#include "base/word_list.hpp"

namespace ggufscope {
namespace loader {

/// A row of required_keys.inc: words separated by spaces.
struct LoaderKeys {
  std::string_view suffixes, architectures;
};

#include "gguf/required_keys.inc"

}  // namespace loader

namespace {

// The shapes of tensors say these, or which tensors there are.
constexpr std::string_view kInTensors =
    "attention.q_lora_rank attention.key_length_swa attention.value_length_swa attention.decay_lora_rank "
    "attention.iclr_lora_rank attention.value_residual_mix_lora_rank attention.gate_lora_rank "
    "expert_feed_forward_length expert_shared_count leading_dense_block_count .tokenizer.ggml.token_type_count";

}  // namespace

void refuse_missing_keys(Keys& keys, std::string_view architecture) {
  for (const loader::LoaderKeys& row : loader::kRequiredKeys) {
    if (!has_word(row.architectures, architecture)) continue;
    for (const std::string_view suffix : WordList(row.suffixes))
      if (!has_word(kInTensors, suffix) && !keys.has(suffix))
        keys.refuse(ErrorCode::kNotFound, keys.full(suffix) + " is missing");
  }
}

}  // namespace ggufscope
