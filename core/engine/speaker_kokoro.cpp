// Phonemes for Kokoro. The caller chooses how much is spoken in one go (wasm/src/audio/phonemes.ts); what is longer
// than the model reads is cut.
#include <algorithm>

#include "base/sentence.hpp"
#include "base/utf8.hpp"
#include "engine/speaker.hpp"
#include "speech/kokoro.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr std::string_view kPauses[] = {".", "!", "?", "\u2026", "\n", ",", ";", ":", "\u2014"};
constexpr float kMinSpeed = 0.25f, kMaxSpeed = 4;

struct Character {
  std::string_view text;
  int32_t id;  // -1: not of the alphabet
};

bool is_pause(std::string_view c) { return std::ranges::find(kPauses, c) != std::end(kPauses); }
bool is_blank(std::string_view c) { return c == " " || c == "\n" || c == "\t" || c == "\r"; }
/// Ties, which join two letters, and characters without width: neither has a sound of its own.
bool is_silent(std::string_view c) {
  return c == "\u0361" || c == "\u035c" || c == "\u200b" || c == "\u200c" || c == "\u200d";
}

class KokoroWriter final : public SpeechWriter {
 public:
  explicit KokoroWriter(const SpeechTools& tools) : model_(static_cast<const Kokoro&>(tools.speech.generator())) {}

  Result<void> start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                     size_t n_context) override;
  float default_temperature() const override { return 0; }
  bool reads_profiles() const override { return true; }
  bool sets_speed() const override { return true; }
  std::string warning() const override { return warning_; }
  std::string voices() const override {
    std::string names;
    for (const Kokoro::Voice& voice : model_.voices()) names += (names.empty() ? "" : "\n") + voice.name;
    return names;
  }
  size_t n_chunks() const override { return chunks_.size(); }
  std::vector<float> common_rows() const override { return {}; }
  std::vector<float> start_chunk(size_t chunk) override {
    chunk_ = chunk;
    made_ = false;
    return {};
  }
  Result<bool> make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) override;

 private:
  [[nodiscard]] Result<void> choose_voice(std::string_view name);
  [[nodiscard]] Result<std::vector<Character>> read(std::string_view text);
  void cut(std::span<const Character> text, size_t n_max);

  const Kokoro& model_;
  const Kokoro::Voice* voice_ = nullptr;
  float speed_ = 1;
  uint32_t seed_ = 0;
  std::vector<std::vector<int32_t>> chunks_;
  std::string warning_;
  size_t chunk_ = 0;
  bool made_ = false;
};

Result<void> KokoroWriter::choose_voice(std::string_view name) {
  const std::vector<Kokoro::Voice>& voices = model_.voices();
  voice_ = name.empty() ? voices.data() : nullptr;
  for (const Kokoro::Voice& voice : voices)
    if (voice.name == name) voice_ = &voice;
  if (voice_ != nullptr) return {};
  std::string names;
  for (const Kokoro::Voice& voice : voices) names += (names.empty() ? "" : ", ") + voice.name;
  return fail(ErrorCode::kInvalidArgument, sentence({"there is no voice ", Quoted{name}, ", but ", names}));
}

Result<std::vector<Character>> KokoroWriter::read(std::string_view text) {
  warning_.clear();
  if (!utf16_length({reinterpret_cast<const uint8_t*>(text.data()), text.size()}))
    return fail(ErrorCode::kInvalidArgument, "the phonemes are not valid UTF-8");
  std::vector<Character> out;
  std::vector<std::string_view> unknown;
  bool has_sound = false;
  for (size_t at = 0; at < text.size();) {
    const std::string_view c = text.substr(at, utf8_length(static_cast<uint8_t>(text[at])));
    const int32_t id = model_.find(is_blank(c) ? " " : c);
    if (id >= 0 || is_blank(c))
      out.push_back({c, id});
    else if (!is_silent(c) && std::ranges::find(unknown, c) == unknown.end())
      unknown.push_back(c);
    has_sound = has_sound || (id >= 0 && !is_blank(c));
    at += c.size();
  }
  for (const std::string_view c : unknown)
    warning_ += (warning_.empty() ? "" : "\n") +
                sentence({"the model's alphabet lacks the phoneme \"", c, "\", which is left out"});
  if (!has_sound && !unknown.empty())
    return fail(ErrorCode::kInvalidArgument,
                sentence({"the model's alphabet has none of these phonemes; the first is \"", unknown[0], "\""}));
  return out;
}

// The length of the first part of a text that is longer than n_max: it ends after a pause if there is one, else
// between words.
size_t first_part(std::span<const Character> text, size_t n_max) {
  for (size_t end = n_max; end > n_max / 4; --end)
    if (is_pause(text[end - 1].text)) return end;
  for (size_t end = n_max; end > n_max / 4; --end)
    if (is_blank(text[end - 1].text)) return end;
  return n_max;
}

void KokoroWriter::cut(std::span<const Character> text, size_t n_max) {
  chunks_.clear();
  const int32_t blank = model_.find(" ");
  while (!text.empty()) {
    const size_t n = text.size() > n_max ? first_part(text, n_max) : text.size();
    std::vector<int32_t> ids;
    for (const Character& c : text.first(n))
      if (c.id >= 0 && !(c.id == blank && (ids.empty() || ids.back() == blank))) ids.push_back(c.id);
    while (!ids.empty() && ids.back() == blank) ids.pop_back();
    if (!ids.empty()) chunks_.push_back(std::move(ids));
    text = text.subspan(n);
  }
}

Result<void> KokoroWriter::start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                                 size_t) {
  if (!voice.empty()) return fail(ErrorCode::kInvalidArgument, "a voice of this model is a name, not a recording");
  if (options.temperature >= 0)
    return fail(ErrorCode::kInvalidArgument, "this model makes no choices: it has no temperature");
  if (!(options.speed >= kMinSpeed && options.speed <= kMaxSpeed))
    return fail(ErrorCode::kInvalidArgument, "the speed of speech is a number from 0.25 to 4");
  if (const Result<void> chosen = choose_voice(options.profile); !chosen) return chosen;
  const Result<std::vector<Character>> characters = read(text);
  if (!characters) return std::unexpected(characters.error());
  // Slow speech has more frames for each phoneme.
  const double n_usual = double(kKokoroMaxPhonemes) * std::min(double(options.speed), 1.0);
  cut(*characters, std::min(model_.max_phonemes(), static_cast<size_t>(n_usual)));
  if (chunks_.empty()) return fail(ErrorCode::kInvalidArgument, "there is no text to speak");
  speed_ = options.speed;
  seed_ = options.seed;
  return {};
}

Result<bool> KokoroWriter::make_frame(std::span<const float>, SpeechFrames& frames, std::vector<float>&) {
  if (made_) return false;
  made_ = true;
  const std::vector<int32_t>& ids = chunks_[chunk_];
  const size_t n_style = 2 * model_.weights().n_style;
  const float* style = voice_->styles.data() + (ids.size() - 1) * n_style;
  frames.latents.assign(style, style + n_style);
  frames.latents.push_back(speed_);
  frames.codes.assign(1, 0);
  frames.codes.insert(frames.codes.end(), ids.begin(), ids.end());
  frames.codes.push_back(0);
  frames.seed = seed_ + static_cast<uint32_t>(chunk_);
  frames.n = frames.codes.size();
  return true;
}

}  // namespace

Result<std::unique_ptr<SpeechWriter>> create_kokoro_writer(const SpeechTools& tools) {
  return std::make_unique<KokoroWriter>(tools);
}

}  // namespace ggufscope
