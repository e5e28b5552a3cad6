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
  {"default", kDefault, 0},
  {"llama3", kLlama3, kIgnoreMerges | kAddBos},
  {"llama-v3", kLlama3, kIgnoreMerges | kAddBos},
  {"llama-bpe", kLlama3, kIgnoreMerges | kAddBos},
  {"falcon3", kLlama3, kIgnoreMerges | kAddBos},
  {"falcon-h1", kLlama3, kIgnoreMerges | kAddBos},
  {"pixtral", kLlama3, kIgnoreMerges | kAddBos},
  {"midm-2.0", kLlama3, kIgnoreMerges | kAddBos},
  {"lfm2", kLlama3, kIgnoreMerges | kAddBos},
  {"jina-v5-nano", kLlama3, kIgnoreMerges | kAddBos},
  {"minicpm5", kMiniCpm5, kIgnoreMerges},
  {"deepseek-llm", kDeepSeekLlm, kKeepSpaces},
  {"deepseek-coder", kDeepSeekCoder, kKeepSpaces},
  {"deepseek-v3", kDeepSeek3, kKeepSpaces},
  {"spark2_5", kSpark, kKeepSpaces},
  {"youtu", kYoutu, kKeepSpaces | kIgnoreMerges},
  {"falcon", kFalcon, 0},
  {"mpt", kGpt2, 0},
  {"starcoder", kSingleDigits, 0},
  {"gpt-2", kGpt2, 0},
  {"phi-2", kGpt2, 0},
  {"jina-es", kGpt2, 0},
  {"jina-de", kGpt2, 0},
  {"gigachat", kGpt2, 0},
  {"jina-v2-es", kGpt2, 0},
  {"jina-v2-de", kGpt2, 0},
  {"a.x-4.0", kGpt2, 0},
  {"mellum", kGpt2, 0},
  {"modern-bert", kGpt2, 0},
  {"jais-2", kJais2, 0},
  {"gemma4", kLines, kGemma},
  {"granite-embed-multi-311m", kLines, kGemma},
  {"sarvam-moe", kLines, kEscapeSpaces | kRawBytes | kKeepSpaces},
  {"jina-v1-en", kGpt2, kAddSep},
  {"jina-v2-code", kGpt2, kAddSep},
  {"roberta-bpe", kGpt2, kAddSep},
  {"whitespace", kNonSpaces, kRawBytes},
  {"refact", kSingleDigits, 0},
  {"command-r", kSingleDigits, kKeepSpaces},
  {"qwen2", kQwen2, kKeepSpaces},
  {"deepseek-r1-qwen", kQwen2, kKeepSpaces},
  {"kormo", kQwen2, kKeepSpaces},
  {"f2llmv2", kQwen2, kKeepSpaces},
  {"megrez", kQwen2, 0},
  {"qwen35", kQwen35, kKeepSpaces},
  {"stablelm2", kQwen2, 0},
  {"olmo", kGpt2, 0},
  {"dbrx", kLlama3, 0},
  {"smaug-bpe", kLlama3, 0},
  {"poro-chat", kBloom, kKeepSpaces},
  {"glm4", kLlama3, kNoBos},
  {"chatglm-bpe", kLlama3, kNoBos},
  {"viking", kViking, kKeepSpaces},
  {"jais", kGpt2, 0},
  {"tekken", kTekken, kKeepSpaces | kIgnoreMerges | kAddBos},
  {"smollm", kSingleDigits, kKeepSpaces},
  {"codeshell", kSingleDigits, 0},
  {"bloom", kBloom, 0},
  {"gpt3-finnish", kBloom, 0},
  {"exaone", kSingleDigits, 0},
  {"exaone4", kGpt2, 0},
  {"exaone-moe", kExaoneMoe, 0},
  {"chameleon", kChameleon, kAddBos | kKeepSpaces},
  {"minerva-7b", kSingleDigits, 0},
  {"gpt-4o", kGpt4o, kKeepSpaces},
  {"llama4", kGpt4o, kKeepSpaces},
  {"kanana2", kGpt4o, kKeepSpaces},
  {"talkie", kGpt4o, kKeepSpaces},
  {"granite-embed-multi-97m", kGraniteMulti, kKeepSpaces | kIgnoreMerges},
  {"tiny_aya", kTinyAya, kKeepSpaces},
  {"cohere2moe", kTinyAya, kKeepSpaces},
  {"superbpe", kSuperBpe, kKeepSpaces},
  {"trillion", kGpt2, kKeepSpaces},
  {"granite-docling", kGpt2, kKeepSpaces},
  {"bailingmoe", kQwen2, kKeepSpaces},
  {"bailingmoe2", kQwen2, kKeepSpaces},
  {"llada-moe", kQwen2, kKeepSpaces},
  {"seed-coder", kSeedCoder, kKeepSpaces},
  {"hunyuan", kQwen2, kKeepSpaces},
  {"hunyuan-dense", kDeepSeek3, kKeepSpaces},
  {"hy_v4", kDeepSeek3, kKeepSpaces},
  {"joyai-llm", kDeepSeek3, kKeepSpaces},
  {"kimi-k2", kKimiK2, kKeepSpaces},
  {"ufakzeka", kUfakzeka, kKeepSpaces},
  {"grok-2", kQwen2, kKeepSpaces},
  {"afmoe", kAfmoe, kKeepSpaces},
  {"laguna", kLaguna, kKeepSpaces},
  {"minimax-m2", kGpt4o, kKeepSpaces},
  {"solar-open", kQwen2, kKeepSpaces},
  {"mellum2", kSingleDigits, 0},
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
