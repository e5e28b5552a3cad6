// Texts for Qwen3-TTS: the prompt of llama.cpp (a chat of one answer, with the codec's tokens added to the text's), and
// the choice of codes. Long texts are cut, because the model's context holds their speech, too.
#include <algorithm>
#include <cmath>

#include "audio/whisper_vocabulary.hpp"
#include "base/sentence.hpp"
#include "engine/speaker.hpp"
#include "nn/finite.hpp"
#include "nn/vec.hpp"
#include "speech/qwen3tts.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxSpokenTokens = 200;
constexpr size_t kFramesPerToken = 12, kMoreFrames = 60;  // at most: a second for each, and five
constexpr float kCodeTemperature = 0.9f;
constexpr std::string_view kChatRole = "assistant\n", kLanguagePrefix = "<|codec_language_", kLanguageEnd = "|>";
// Rows of all prompts: three of the role, four of the language, the text's begin.
constexpr size_t kRoleTokens = 3;

size_t max_code_frames(size_t n_tokens) { return kFramesPerToken * n_tokens + kMoreFrames; }

// The tokens that the pipeline needs.
struct CodecTokens {
  TokenId chat_start = kNoToken, chat_end = kNoToken;
  TokenId codec_0 = kNoToken, codec_bos = kNoToken, codec_eos = kNoToken, codec_pad = kNoToken;
  TokenId think = kNoToken, think_bos = kNoToken, think_eos = kNoToken;
  TokenId tts_pad = kNoToken, tts_bos = kNoToken, tts_eos = kNoToken;
};

Result<CodecTokens> find_codec_tokens(const Tokenizer& tokenizer) {
  constexpr struct {
    TokenId CodecTokens::*to;
    std::string_view text;
  } kTexts[] = {
      {&CodecTokens::chat_start, "<|im_start|>"},       {&CodecTokens::chat_end, "<|im_end|>"},
      {&CodecTokens::codec_0, "<|codec_0|>"},           {&CodecTokens::codec_bos, "<|codec_bos|>"},
      {&CodecTokens::codec_eos, "<|codec_eos_token|>"}, {&CodecTokens::codec_pad, "<|codec_pad|>"},
      {&CodecTokens::think, "<|codec_think|>"},         {&CodecTokens::think_bos, "<|codec_think_bos|>"},
      {&CodecTokens::think_eos, "<|codec_think_eos|>"}, {&CodecTokens::tts_pad, "<tts_pad>"},
      {&CodecTokens::tts_bos, "<tts_text_bos>"},        {&CodecTokens::tts_eos, "<tts_text_eod>"},
  };
  CodecTokens tokens;
  for (const auto& [to, text] : kTexts)
    if ((tokens.*to = tokenizer.find(text)) == kNoToken)
      return fail(ErrorCode::kNotFound, "the vocabulary has no token " + std::string(text));
  return tokens;
}

// Where a text may be cut, from the best place to the worst.
enum class TextCut : uint8_t { kSentence, kClause, kWord, kCharacter };

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> marks) {
  return std::ranges::any_of(marks, [&](std::string_view mark) { return text.ends_with(mark); });
}

// Whether a text may be cut between `before` and the byte `next`.
bool may_cut(TextCut cut, std::string_view before, char next) {
  if ((static_cast<uint8_t>(next) & 0xC0) == 0x80) return false;  // inside a character
  const bool at_space = next == ' ' || next == '\n' || next == '\t' || next == '\r';
  switch (cut) {
    case TextCut::kSentence:
      return (at_space && ends_with_any(before, {".", "!", "?", "\n"})) ||
             ends_with_any(before, {"\u3002", "\uff01", "\uff1f"});
    case TextCut::kClause:
      return (at_space && ends_with_any(before, {",", ";", ":"})) || ends_with_any(before, {"\uff0c", "\uff1b"});
    case TextCut::kWord:
      return at_space;
    case TextCut::kCharacter:
      return true;
  }
  return false;
}

std::string_view trim_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

class Qwen3Writer final : public SpeechWriter {
 public:
  Qwen3Writer(const SpeechTools& tools, const CodecTokens& tokens)
      : tools_(tools),
        w_(static_cast<const Qwen3Tts&>(tools.speech.generator()).weights()),
        tokens_(tokens),
        predictor_(w_, tools.pool) {}
  [[nodiscard]] Result<void> allocate() { return predictor_.allocate(); }

  Result<void> start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                     size_t n_context) override;
  float default_temperature() const override { return kCodeTemperature; }
  std::string languages() const override;
  size_t n_chunks() const override { return chunks_.size(); }
  std::vector<float> common_rows() const override;
  std::vector<float> start_chunk(size_t chunk) override;
  Result<bool> make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) override;

 private:
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text) const {
    return tools_.tokenizer->encode(std::string(kChatRole) + std::string(text));
  }
  [[nodiscard]] size_t count(std::string_view text) const { return tools_.tokenizer->encode(text).size(); }
  [[nodiscard]] Result<TokenId> find_language_token(std::string_view name) const;
  void cut(std::string_view text, TextCut at, size_t n_max);
  /// Appends the sum of the embeddings of two tokens, or one's.
  void append(std::vector<float>& rows, TokenId a, TokenId b = kNoToken) const;

  SpeechTools tools_;
  const Qwen3TtsWeights& w_;
  CodecTokens tokens_;
  CodePredictor predictor_;
  CodeChoice choice_;
  TokenId language_ = kNoToken;
  std::vector<float> voice_;
  std::vector<std::string> chunks_;
  size_t n_left_ = 0;  // frames of the chunk, at most
};

void Qwen3Writer::append(std::vector<float>& rows, TokenId a, TokenId b) const {
  std::vector<float> row = tools_.embed({&a, 1});
  if (b != kNoToken) vec::add(row.data(), tools_.embed({&b, 1}).data(), row.size());
  rows.insert(rows.end(), row.begin(), row.end());
}

std::string Qwen3Writer::languages() const {
  std::string names;
  for (uint32_t i = 0; i < tools_.tokenizer->size(); ++i) {
    std::string_view name = tools_.tokenizer->text(static_cast<TokenId>(i));
    if (!name.starts_with(kLanguagePrefix) || !name.ends_with(kLanguageEnd)) continue;
    name.remove_prefix(kLanguagePrefix.size());
    name.remove_suffix(kLanguageEnd.size());
    names += (names.empty() ? "" : " ") + std::string(name);
  }
  return names;
}

Result<TokenId> Qwen3Writer::find_language_token(std::string_view name) const {
  std::string given(name.empty() ? "english" : name);
  for (char& c : given) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == ' ' ? '_' : c;
  const auto token = [&](std::string_view language) {
    return tools_.tokenizer->find(std::string(kLanguagePrefix) + std::string(language) + std::string(kLanguageEnd));
  };
  TokenId id = token(given);
  if (const auto known = find_language(name); id == kNoToken && known) id = token(whisper_languages()[*known].name);
  if (id == kNoToken)
    return fail(ErrorCode::kInvalidArgument,
                sentence({"the model does not speak the language ", Quoted{given}, ", only: ", languages()}));
  return id;
}

// Appends chunks of at most n_max tokens.
void Qwen3Writer::cut(std::string_view text, TextCut at, size_t n_max) {
  text = trim_spaces(text);
  if (text.empty()) return;
  if (count(text) <= n_max || at > TextCut::kCharacter) {
    chunks_.emplace_back(text);
    return;
  }
  size_t begin = 0, end = 0, n = 0;  // of the chunk that grows, and its tokens
  const auto flush = [&] {
    if (n <= n_max) {
      if (const std::string_view chunk = trim_spaces(text.substr(begin, end - begin)); !chunk.empty())
        chunks_.emplace_back(chunk);
    } else {
      cut(text.substr(begin, end - begin), static_cast<TextCut>(static_cast<uint8_t>(at) + 1), n_max);
    }
    begin = end;
    n = 0;
  };
  for (size_t i = 1; i <= text.size(); ++i) {
    if (i < text.size() && !may_cut(at, text.substr(end, i - end), text[i])) continue;
    const size_t more = count(text.substr(end, i - end));
    if (n != 0 && n + more > n_max) flush();
    n += more;
    end = i;
  }
  flush();
}

Result<void> Qwen3Writer::start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                                size_t n_context) {
  if (trim_spaces(text).empty()) return fail(ErrorCode::kInvalidArgument, "there is no text to speak");
  if (!voice.empty() && voice.size() != w_.n_embd)
    return fail(ErrorCode::kInvalidArgument, "a voice of this model is one row of " + std::to_string(w_.n_embd) +
                                                 " numbers, but this one has " + std::to_string(voice.size()));
  const Result<TokenId> language = find_language_token(options.language);
  if (!language) return std::unexpected(language.error());
  language_ = *language;
  voice_.assign(voice.begin(), voice.end());
  const size_t n_rows = common_rows().size() / w_.n_embd + 2;
  size_t n_max = 0;
  while (n_max < kMaxSpokenTokens && n_rows + n_max + 1 + max_code_frames(n_max + 1) <= n_context) ++n_max;
  if (n_max == 0)
    return fail(ErrorCode::kOutOfRange,
                "a context of " + std::to_string(n_context) + " positions is too short to speak");
  chunks_.clear();
  if (count(text) <= n_max) {
    chunks_.emplace_back(text);
  } else {
    cut(text, TextCut::kSentence, n_max);
  }
  const float temperature = options.temperature < 0 ? kCodeTemperature : options.temperature;
  choice_ = {.temperature = temperature,
             .top_k = static_cast<size_t>(std::max(options.top_k, 0)),
             .top_p = options.top_p,
             .random = std::mt19937(options.seed)};
  return {};
}

std::vector<float> Qwen3Writer::common_rows() const {
  std::vector<float> rows;
  const std::vector<TokenId> role = encode("");
  append(rows, tokens_.chat_start);
  for (size_t i = 0; i + 1 < kRoleTokens && i < role.size(); ++i) append(rows, role[i]);
  for (const TokenId id : {tokens_.think, tokens_.think_bos, language_, tokens_.think_eos})
    append(rows, tokens_.tts_pad, id);
  if (!voice_.empty()) {
    append(rows, tokens_.tts_pad);
    vec::add(rows.data() + rows.size() - w_.n_embd, voice_.data(), w_.n_embd);
  }
  append(rows, tokens_.tts_bos, tokens_.codec_pad);
  return rows;
}

std::vector<float> Qwen3Writer::start_chunk(size_t chunk) {
  const std::vector<TokenId> ids = encode(chunks_[chunk]);
  std::vector<float> rows;
  for (size_t i = kRoleTokens - 1; i < ids.size(); ++i) append(rows, ids[i], tokens_.codec_pad);
  append(rows, tokens_.tts_eos, tokens_.codec_pad);
  append(rows, tokens_.tts_pad, tokens_.codec_bos);
  n_left_ = max_code_frames(count(chunks_[chunk]));
  return rows;
}

Result<bool> Qwen3Writer::make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) {
  const Linear& output = tools_.model.output();
  const auto end = static_cast<size_t>(tokens_.codec_eos - tokens_.codec_0);
  std::vector<float> logits(output.n_out);
  apply(tools_.pool, output, hidden.data(), 1, logits.data());
  for (size_t i = w_.n_first; i < logits.size(); ++i)
    if (i != end) logits[i] = -INFINITY;
  const size_t first = choose_code(logits, choice_);
  if (!std::isfinite(logits[first])) return fail(ErrorCode::kOutOfRange, "a frame of the speech is not of numbers");
  if (first == end || n_left_ == 0) return false;
  --n_left_;
  predictor_.predict(hidden, static_cast<int32_t>(first), choice_, frames.codes, input);
  ++frames.n;
  if (!all_finite(input)) return fail(ErrorCode::kOutOfRange, "a frame of the speech is not of numbers");
  vec::add(input.data(), tools_.embed({&tokens_.tts_pad, 1}).data(), input.size());
  return true;
}

}  // namespace

Result<std::unique_ptr<SpeechWriter>> create_qwen3tts_writer(const SpeechTools& tools) {
  const Result<CodecTokens> tokens = find_codec_tokens(*tools.tokenizer);
  if (!tokens) return std::unexpected(tokens.error());
  const Qwen3TtsWeights& w = static_cast<const Qwen3Tts&>(tools.speech.generator()).weights();
  const size_t n_rows = tools.model.output().n_out, n_vocab = tools.model.hparams().n_vocab;
  const auto first = static_cast<size_t>(tokens->codec_0), end = static_cast<size_t>(tokens->codec_eos);
  if (first + n_rows != n_vocab || w.n_first > n_rows || end < first + w.n_first || end >= n_vocab)
    return fail(ErrorCode::kBadShape, "the model's output has " + counted(n_rows, "row") +
                                          ", which are not those of the codec's tokens from " + std::to_string(first) +
                                          " on");
  auto writer = std::make_unique<Qwen3Writer>(tools, *tokens);
  if (const Result<void> allocated = writer->allocate(); !allocated) return std::unexpected(allocated.error());
  return writer;
}

}  // namespace ggufscope
