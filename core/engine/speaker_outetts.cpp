// Texts for OuteTTS: the prompts of llama.cpp's tool for versions 0.2 and 0.3. A voice is a profile: the words of a
// recording with their durations and codes. It is given as lines "WORD HUNDREDTHS CODE CODE ...",
// with the duration in hundredths of a second.
//
//   0.2  <|im_start|> \n <|text_start|> words, each followed by <|text_sep|>: those of the voice, then those of the
//   text
//        <|text_end|> \n <|audio_start|> \n, then for each word of the voice
//        WORD <|t_SECONDS|> <|code_start|> codes <|code_end|> \n: the model goes on so, with the text's words
//   0.3  the same with <|space|> for <|text_sep|> and <|code_end|>, and nothing for <|code_start|>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/sentence.hpp"
#include "engine/english_words.hpp"
#include "engine/speaker.hpp"
#include "model/logits.hpp"
#include "speech/choose_code.hpp"
#include "speech/outetts.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxWords = 12;       // of a chunk: its sound is decoded as a whole
constexpr size_t kTokensPerWord = 70;  // at most, with 65 codes: 0.9 s
constexpr size_t kMoreTokens = 80;
constexpr size_t kTopK = 4;  // as llama.cpp's tool
constexpr float kTemperature = 1;
constexpr size_t kMaxProfileWords = 1000;
constexpr uint32_t kMaxHundredths = 6000;

size_t max_tokens(size_t n_words) { return kTokensPerWord * n_words + kMoreTokens; }
static_assert(kTokensPerWord * kMaxWords + kMoreTokens <= kMaxChunkFrames);

struct OuteTokens {
  TokenId code_0 = kNoToken, audio_end = kNoToken;
  std::string_view separator, code_start, code_end;
};

struct ProfileWord {
  std::string text, seconds;  // "0.36"
  std::vector<int32_t> codes;
};

class OuteWriter final : public SpeechWriter {
 public:
  OuteWriter(const SpeechTools& tools, const OuteTokens& tokens, size_t n_codes)
      : tools_(tools), tokens_(tokens), n_codes_(n_codes) {}

  Result<void> start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                     size_t n_context) override;
  float default_temperature() const override { return kTemperature; }
  bool reads_profiles() const override { return true; }
  std::string warning() const override {
    return left_out_ ? "this model reads the letters a to z: others were left out" : "";
  }
  size_t n_chunks() const override { return chunks_.size(); }
  std::vector<float> common_rows() const override;
  std::vector<float> start_chunk(size_t chunk) override;
  Result<bool> make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) override;

 private:
  [[nodiscard]] Result<void> read_profile(std::string_view profile);
  [[nodiscard]] Result<ProfileWord> read_word(std::string_view line, size_t number) const;
  void cut(std::string_view text, size_t n_max);
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text) const {
    return tools_.tokenizer->encode(text, {.special = true});
  }
  [[nodiscard]] std::string voice_text() const;
  [[nodiscard]] std::string voice_audio() const;

  SpeechTools tools_;
  OuteTokens tokens_;
  size_t n_codes_;
  CodeChoice choice_;
  std::vector<ProfileWord> voice_;
  std::vector<std::vector<std::string>> chunks_;  // words
  bool left_out_ = false;
  size_t n_left_ = 0;  // tokens of the chunk, at most
};

// The next part of a line, which it loses.
std::string_view take_part(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view part = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return part;
}

std::optional<uint32_t> read_number(std::string_view digits, uint32_t max) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value > max) return std::nullopt;
  return value;
}

Result<ProfileWord> OuteWriter::read_word(std::string_view line, size_t number) const {
  ProfileWord word;
  word.text = take_part(line);
  if (word.text.empty() || word.text.find("<|") != std::string::npos)
    return fail(ErrorCode::kInvalidArgument, sentence({"word ", number, " of the voice's profile is no word"}));
  const std::string_view given = take_part(line);
  const std::optional<uint32_t> hundredths = read_number(given, kMaxHundredths);
  if (!hundredths)
    return fail(ErrorCode::kInvalidArgument,
                sentence({"word ", number, " of the voice's profile has no duration of 0 to 60 seconds"}));
  const std::string digits = std::to_string(100 + *hundredths % 100);
  word.seconds = std::to_string(*hundredths / 100) + "." + digits.substr(1);
  while (!line.empty()) {
    const std::string_view code = take_part(line);
    const std::optional<uint32_t> value = read_number(code, static_cast<uint32_t>(n_codes_ - 1));
    if (!value)
      return fail(ErrorCode::kInvalidArgument, sentence({"word ", number, " of the voice's profile has the code ",
                                                         Quoted{code}, ", not one of 0 to ", n_codes_ - 1}));
    word.codes.push_back(static_cast<int32_t>(*value));
  }
  return word;
}

Result<void> OuteWriter::read_profile(std::string_view profile) {
  voice_.clear();
  while (!profile.empty()) {
    const size_t end = profile.find('\n');
    Result<ProfileWord> word = read_word(profile.substr(0, end), voice_.size() + 1);
    if (!word) return std::unexpected(word.error());
    voice_.push_back(std::move(*word));
    if (voice_.size() > kMaxProfileWords)
      return fail(ErrorCode::kInvalidArgument, "the voice's profile has more than 1,000 words");
    profile.remove_prefix(end == std::string_view::npos ? profile.size() : end + 1);
  }
  return {};
}

// Appends chunks of at most n_max words. A sentence stays whole if it fits.
void OuteWriter::cut(std::string_view text, size_t n_max) {
  const auto is_end = [](char c) { return c == '.' || c == '!' || c == '?' || c == '\n'; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && !(is_end(text[end]) && (end + 1 == text.size() || text[end + 1] <= ' '))) ++end;
    const std::vector<std::string> words = english_words(text.substr(at, end - at));
    at = end + 1;
    if (words.empty()) continue;
    if (!chunks_.empty() && chunks_.back().size() + words.size() <= n_max) {
      chunks_.back().insert(chunks_.back().end(), words.begin(), words.end());
      continue;
    }
    const size_t n_parts = (words.size() + n_max - 1) / n_max;
    for (size_t i = 0; i < n_parts; ++i)
      chunks_.emplace_back(words.begin() + static_cast<ptrdiff_t>(i * words.size() / n_parts),
                           words.begin() + static_cast<ptrdiff_t>((i + 1) * words.size() / n_parts));
  }
}

Result<void> OuteWriter::start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                               size_t n_context) {
  if (!voice.empty()) return fail(ErrorCode::kInvalidArgument, "a voice of this model is a profile, not a recording");
  if (const Result<void> read = read_profile(options.profile); !read) return read;
  const auto n_rows = [&](size_t n_words) {  // a word has a token for each letter at most
    return encode(voice_text()).size() + encode(voice_audio()).size() + 8 + 16 * n_words + max_tokens(n_words);
  };
  size_t n_max = 0;
  const size_t n_fixed = n_rows(0);
  while (n_max < kMaxWords && n_fixed + (16 + kTokensPerWord) * (n_max + 1) <= n_context) ++n_max;
  if (n_max == 0)
    return fail(ErrorCode::kOutOfRange,
                "a context of " + std::to_string(n_context) + " positions is too short to speak");
  chunks_.clear();
  cut(text, n_max);
  if (chunks_.empty()) return fail(ErrorCode::kInvalidArgument, "there is no text to speak");
  left_out_ = std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  const float temperature = options.temperature < 0 ? kTemperature : options.temperature;
  choice_ = {.temperature = temperature, .top_k = kTopK, .top_p = 1, .random = std::mt19937(options.seed)};
  return {};
}

std::string OuteWriter::voice_text() const {
  std::string text = "<|text_start|>";
  for (const ProfileWord& word : voice_) text += word.text + std::string(tokens_.separator);
  return text;
}

std::string OuteWriter::voice_audio() const {
  std::string text = "<|audio_start|>\n";
  for (const ProfileWord& word : voice_) {
    text += word.text + "<|t_" + word.seconds + "|>" + std::string(tokens_.code_start);
    for (const int32_t code : word.codes) text += "<|" + std::to_string(code) + "|>";
    text += std::string(tokens_.code_end) + "\n";
  }
  return text;
}

std::vector<float> OuteWriter::common_rows() const {
  std::vector<TokenId> ids = tools_.tokenizer->encode("<|im_start|>\n", {.special = true, .bos = true});
  const std::vector<TokenId> more = encode(voice_text());
  ids.insert(ids.end(), more.begin(), more.end());
  return tools_.embed(ids);
}

std::vector<float> OuteWriter::start_chunk(size_t chunk) {
  const std::vector<std::string>& words = chunks_[chunk];
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(tokens_.separator)) + word;
  n_left_ = max_tokens(words.size());
  return tools_.embed(encode(text + "<|text_end|>\n" + voice_audio()));
}

Result<bool> OuteWriter::make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) {
  std::vector<float> logits(tools_.model.hparams().n_vocab);
  write_logits(tools_.model, tools_.pool, hidden.data(), 1, logits.data());
  const size_t chosen = choose_code(logits, choice_);
  if (!std::isfinite(logits[chosen])) return fail(ErrorCode::kOutOfRange, "a frame of the speech is not of numbers");
  const auto id = static_cast<TokenId>(chosen);
  if (n_left_ == 0 || id == tokens_.audio_end || tools_.tokenizer->is_end_of_generation(id)) return false;
  --n_left_;
  if (id >= tokens_.code_0 && static_cast<size_t>(id - tokens_.code_0) < n_codes_) {
    frames.codes.push_back(id - tokens_.code_0);
    ++frames.n;
  }
  input = tools_.embed({&id, 1});
  return true;
}

}  // namespace

Result<std::unique_ptr<SpeechWriter>> create_outetts_writer(const SpeechTools& tools) {
  const Tokenizer& tokenizer = *tools.tokenizer;
  const size_t n_codes = static_cast<const OuteTts&>(tools.speech.generator()).n_codes();
  OuteTokens tokens;
  for (const std::string_view needed : {"<|im_start|>", "<|text_start|>", "<|text_end|>", "<|audio_start|>", "<|0|>"})
    if (tokenizer.find(needed) == kNoToken)
      return fail(ErrorCode::kNotFound,
                  sentence({"the vocabulary has no token ", needed, ": the model does not write codes of sound"}));
  tokens.code_0 = tokenizer.find("<|0|>");
  tokens.audio_end = tokenizer.find("<|audio_end|>");
  const std::string last = "<|" + std::to_string(n_codes - 1) + "|>";
  if (tokenizer.find(last) != tokens.code_0 + static_cast<TokenId>(n_codes) - 1)
    return fail(ErrorCode::kNotFound,
                sentence({"the vocabulary's tokens of codes are not those of the decoder, <|0|> to ", last}));
  const bool is_0_2 = tokenizer.find("<|space|>") == kNoToken;
  tokens.separator = is_0_2 ? "<|text_sep|>" : "<|space|>";
  tokens.code_start = is_0_2 ? "<|code_start|>" : "";
  tokens.code_end = is_0_2 ? "<|code_end|>" : "<|space|>";
  return std::make_unique<OuteWriter>(tools, tokens, n_codes);
}

}  // namespace ggufscope
