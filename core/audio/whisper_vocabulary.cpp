// The names of Whisper's languages and control tokens, and its tokens' text.
#include "audio/whisper_vocabulary.hpp"

#include <algorithm>
#include <array>

#include "base/sentence.hpp"

namespace ggufscope {
namespace {

// clang-format off
constexpr Language kLanguages[] = {
    {"en", "english"}, {"zh", "chinese"}, {"de", "german"}, {"es", "spanish"}, {"ru", "russian"}, {"ko", "korean"},
    {"fr", "french"}, {"ja", "japanese"}, {"pt", "portuguese"}, {"tr", "turkish"}, {"pl", "polish"}, {"ca", "catalan"},
    {"nl", "dutch"}, {"ar", "arabic"}, {"sv", "swedish"}, {"it", "italian"}, {"id", "indonesian"}, {"hi", "hindi"},
    {"fi", "finnish"}, {"vi", "vietnamese"}, {"he", "hebrew"}, {"uk", "ukrainian"}, {"el", "greek"}, {"ms", "malay"},
    {"cs", "czech"}, {"ro", "romanian"}, {"da", "danish"}, {"hu", "hungarian"}, {"ta", "tamil"}, {"no", "norwegian"},
    {"th", "thai"}, {"ur", "urdu"}, {"hr", "croatian"}, {"bg", "bulgarian"}, {"lt", "lithuanian"}, {"la", "latin"},
    {"mi", "maori"}, {"ml", "malayalam"}, {"cy", "welsh"}, {"sk", "slovak"}, {"te", "telugu"}, {"fa", "persian"},
    {"lv", "latvian"}, {"bn", "bengali"}, {"sr", "serbian"}, {"az", "azerbaijani"}, {"sl", "slovenian"},
    {"kn", "kannada"}, {"et", "estonian"}, {"mk", "macedonian"}, {"br", "breton"}, {"eu", "basque"},
    {"is", "icelandic"}, {"hy", "armenian"}, {"ne", "nepali"}, {"mn", "mongolian"}, {"bs", "bosnian"},
    {"kk", "kazakh"}, {"sq", "albanian"}, {"sw", "swahili"}, {"gl", "galician"}, {"mr", "marathi"}, {"pa", "punjabi"},
    {"si", "sinhala"}, {"km", "khmer"}, {"sn", "shona"}, {"yo", "yoruba"}, {"so", "somali"}, {"af", "afrikaans"},
    {"oc", "occitan"}, {"ka", "georgian"}, {"be", "belarusian"}, {"tg", "tajik"}, {"sd", "sindhi"}, {"gu", "gujarati"},
    {"am", "amharic"}, {"yi", "yiddish"}, {"lo", "lao"}, {"uz", "uzbek"}, {"fo", "faroese"}, {"ht", "haitian creole"},
    {"ps", "pashto"}, {"tk", "turkmen"}, {"nn", "nynorsk"}, {"mt", "maltese"}, {"sa", "sanskrit"},
    {"lb", "luxembourgish"}, {"my", "myanmar"}, {"bo", "tibetan"}, {"tl", "tagalog"}, {"mg", "malagasy"},
    {"as", "assamese"}, {"tt", "tatar"}, {"haw", "hawaiian"}, {"ln", "lingala"}, {"ha", "hausa"}, {"ba", "bashkir"},
    {"jw", "javanese"}, {"su", "sundanese"}, {"yue", "cantonese"},
};
// clang-format on
static_assert(std::size(kLanguages) == 100);

// Other names and codes, and the codes of kLanguages.
constexpr Language kAliases[] = {
    {"my", "burmese"},   {"ca", "valencian"}, {"nl", "flemish"},   {"ht", "haitian"},  {"lb", "letzeburgesch"},
    {"ps", "pushto"},    {"pa", "panjabi"},   {"ro", "moldavian"}, {"ro", "moldovan"}, {"si", "sinhalese"},
    {"es", "castilian"}, {"zh", "mandarin"},  {"fa", "farsi"},     {"tl", "filipino"}, {"no", "nb"},
    {"no", "bokmal"},    {"zh", "cmn"},       {"jw", "jv"},        {"tl", "fil"},      {"he", "iw"},
    {"id", "in"},        {"yi", "ji"},        {"ro", "mo"},
};

constexpr uint32_t kEnglishOnly = 51864, kWords = 50256;  // OpenAI's English-only vocabulary: tokens, text tokens
constexpr uint32_t kControls = 8;                         // control tokens other than languages and times
constexpr uint32_t kTimes = 1501;

// GPT-2's byte-to-character table: printable bytes map to themselves, the others to U+0100 and up.
std::array<int, 0x150> byte_letters() {
  std::array<int, 0x150> bytes;
  bytes.fill(-1);
  uint32_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool prints = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    bytes[prints ? static_cast<uint32_t>(b) : next++] = b;
  }
  return bytes;
}

std::string letters_to_bytes(std::string_view letters) {
  static const std::array<int, 0x150> bytes = byte_letters();
  std::string out;
  for (size_t i = 0; i < letters.size();) {
    uint32_t code = static_cast<uint8_t>(letters[i]);
    const size_t n = code < 0x80 ? 1 : 2;
    if (n == 2 && i + 1 < letters.size()) code = (code & 0x1f) << 6 | (static_cast<uint8_t>(letters[i + 1]) & 0x3f);
    if (code < bytes.size() && bytes[code] >= 0) out += static_cast<char>(bytes[code]);
    i += n;
  }
  return out;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_other(char c) { return !is_blank(c) && !is_letter(c) && !is_digit(c); }

// The end of the GPT-2 pre-token that begins at i.
size_t piece_end(std::string_view text, size_t i) {
  if (text[i] == '\'')
    for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"})
      if (text.substr(i + 1).starts_with(ending)) return i + 1 + ending.size();
  const size_t first = text[i] == ' ' && i + 1 < text.size() && !is_blank(text[i + 1]) ? i + 1 : i;
  for (const auto is : {is_letter, is_digit, is_other}) {
    size_t end = first;
    while (end < text.size() && is(text[end])) ++end;
    if (end > first) return end;
  }
  size_t end = i;
  while (end < text.size() && is_blank(text[end])) ++end;
  // The last space belongs to the following word.
  return end < text.size() && end - i > 1 ? end - 1 : end;
}

}  // namespace

std::span<const Language> whisper_languages() { return kLanguages; }

std::optional<uint32_t> find_language(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  std::string name(text.substr(0, text.find_first_of("-_(")));
  while (!name.empty() && is_blank(name.back())) name.pop_back();
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto alias = std::ranges::find(kAliases, name, &Language::name);
  if (alias != std::end(kAliases)) name = alias->code;
  for (uint32_t i = 0; i < std::size(kLanguages); ++i)
    if (name == kLanguages[i].code || name == kLanguages[i].name) return i;
  return std::nullopt;
}

Result<WhisperVocabulary> WhisperVocabulary::read(const Gguf& gguf, uint32_t n_vocab) {
  const auto tokens = get_strings(gguf, "tokenizer.ggml.tokens");
  if (!tokens) return fail(ErrorCode::kNotFound, "tokenizer.ggml.tokens is missing");
  WhisperVocabulary v;
  v.n_vocab_ = n_vocab;
  const auto named = [&](std::string_view name) {
    return static_cast<uint32_t>(std::find(tokens->begin(), tokens->end(), name) - tokens->begin());
  };
  const uint32_t end = named("<|endoftext|>"), first_task = named("<|translate|>");
  uint32_t n_words = end, n_times = n_vocab - std::min(n_vocab, named("<|0.00|>"));
  if (end + 2 <= first_task && first_task < tokens->size()) {
    v.n_languages_ = first_task - end - 2;
    v.multilingual_ = v.n_languages_ > 1 && n_vocab != kEnglishOnly;
  } else {
    v.multilingual_ = n_vocab > kEnglishOnly;
    n_words = kWords + (v.multilingual_ ? 1 : 0);
    n_times = kTimes;
    v.n_languages_ = n_vocab - std::min(n_vocab, n_words + kControls + n_times);
  }
  v.eot_ = static_cast<int32_t>(n_words);
  if (n_times == 0 || uint64_t{n_words} + kControls + v.n_languages_ + n_times != n_vocab ||
      v.n_languages_ > std::size(kLanguages))
    return fail(ErrorCode::kBadCount, counted(n_vocab, "token") + " are not a Whisper vocabulary");
  const size_t n = std::min<size_t>(tokens->size(), n_words);
  if (n < 256) return fail(ErrorCode::kBadCount, "a vocabulary of " + counted(n, "word"));
  const bool letters = get_string(gguf, "tokenizer.ggml.model") == "gpt2";
  v.words_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    v.words_.push_back(letters ? letters_to_bytes((*tokens)[i]) : std::string((*tokens)[i]));
    v.ids_[v.words_.back()] = static_cast<int32_t>(i);
  }
  return v;
}

std::string WhisperVocabulary::text(int32_t id) const {
  if (id >= 0 && static_cast<size_t>(id) < words_.size()) return words_[static_cast<size_t>(id)];
  const struct {
    int32_t id;
    const char* name;
  } kNames[] = {{eot(), "[_EOT_]"},
                {sot(), "[_SOT_]"},
                {translate(), "[_TRANSLATE_]"},
                {transcribe(), "[_TRANSCRIBE_]"},
                {start_of_lm(), "[_SOLM_]"},
                {previous(), "[_PREV_]"},
                {no_speech(), "[_NOSP_]"},
                {no_timestamps(), "[_NOT_]"},
                {first_timestamp(), "[_BEG_]"}};
  if (id > first_timestamp()) return "[_TT_" + std::to_string(id - first_timestamp()) + "]";
  for (const auto& [control, name] : kNames)
    if (id == control) return name;
  const int32_t language = id - sot() - 1;
  if (language >= 0 && language < static_cast<int32_t>(std::min<size_t>(n_languages(), std::size(kLanguages))))
    return "[_LANG_" + std::string(kLanguages[language].code) + "]";
  return "[_extra_token_" + std::to_string(id) + "]";
}

std::optional<int32_t> WhisperVocabulary::find(std::string_view word) const {
  const auto at = ids_.find(std::string(word));
  return at == ids_.end() ? std::nullopt : std::optional(at->second);
}

std::vector<int32_t> WhisperVocabulary::tokenize(std::string_view text) const {
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = piece_end(text, begin);
    while (begin < end) {
      size_t n = end - begin;
      std::optional<int32_t> id;
      while (n > 0 && !(id = find(text.substr(begin, n)))) --n;
      if (id) ids.push_back(*id);
      begin += std::max<size_t>(n, 1);
    }
  }
  return ids;
}

}  // namespace ggufscope
