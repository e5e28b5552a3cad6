// The table of pre-tokenizers: the steps of each.
#include "text/pretokenizer.hpp"

#include "text/splitters.hpp"

namespace ggufscope {
namespace {

using namespace split;

// clang-format off
constexpr SplitStep kDefault[]       = {default_symbols, gpt2, numbers, digit_triples};
constexpr SplitStep kGpt2[]          = {gpt2};
constexpr SplitStep kSingleDigits[]  = {number, gpt2};
constexpr SplitStep kFalcon[]        = {falcon_symbols, gpt2, digit_triples};
constexpr SplitStep kLlama3[]        = {llama3};
constexpr SplitStep kMiniCpm5[]      = {numbers_of_three, minicpm5};
constexpr SplitStep kJais2[]         = {jais2};
constexpr SplitStep kQwen2[]         = {qwen2};
constexpr SplitStep kQwen35[]        = {qwen35};
constexpr SplitStep kK2Horizon[]     = {k2_horizon};
constexpr SplitStep kUfakzeka[]      = {ufakzeka};
constexpr SplitStep kSeedCoder[]     = {seed_coder};
constexpr SplitStep kExaoneMoe[]     = {exaone_moe};
constexpr SplitStep kTekken[]        = {tekken};
constexpr SplitStep kGpt4o[]         = {gpt4o};
constexpr SplitStep kGraniteMulti[]  = {granite_multi};
constexpr SplitStep kTinyAya[]       = {digits_from_right, tiny_aya};
constexpr SplitStep kYoutu[]         = {youtu_scripts, youtu};
constexpr SplitStep kKimiK2[]        = {kimi_k2};
constexpr SplitStep kDeepSeekLlm[]   = {newline, cased_words, western_symbols, trailing_spaces, east_asian, numbers};
constexpr SplitStep kDeepSeekCoder[] = {newline, letter_words, punctuation_words, east_asian, number};
constexpr SplitStep kDeepSeek3[]     = {numbers_of_three, cjk, deepseek3};
constexpr SplitStep kSpark[]         = {numbers_of_three, cjk, spark, number};
constexpr SplitStep kAfmoe[]         = {digits_from_right, asian_scripts, deepseek3};
constexpr SplitStep kBloom[]         = {bloom};
constexpr SplitStep kViking[]        = {bloom, number};
constexpr SplitStep kChameleon[]     = {sentinels, image_codes, chameleon_spaces, number, any_punctuation, gpt2};
constexpr SplitStep kSuperBpe[]      = {numbers, digits_from_right_if_whole};
constexpr SplitStep kLines[]         = {lines};
constexpr SplitStep kLaguna[]        = {lines, qwen2};
constexpr SplitStep kNonSpaces[]     = {non_spaces};

constexpr uint32_t kGemma = kEscapeSpaces | kRawBytes | kForceBos | kWholeNewlines;

constexpr PreTokenizer kRows[] = {
#define GGUFSCOPE_PRE_TOKENIZER(name, steps, flags) {name, steps, flags},
#include "gguf/pre_tokenizers.inc"
#undef GGUFSCOPE_PRE_TOKENIZER
};
// clang-format on

}  // namespace

std::span<const PreTokenizer> all_pre_tokenizers() { return kRows; }

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  for (const PreTokenizer& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace ggufscope
