// Texts for Pocket TTS: prepared and cut into chunks as llama.cpp does, because long ones lose words.
#include <algorithm>
#include <cmath>

#include "base/sentence.hpp"
#include "engine/speaker.hpp"
#include "nn/finite.hpp"
#include "speech/pockettts.hpp"

namespace ggufscope {
namespace {

using Ids = std::vector<TokenId>;

constexpr size_t kMaxChunkTokens = 50, kFewTokens = 6, kFewWords = 5;
constexpr double kFramesPerSecond = 12.5;

size_t count_words(std::string_view text) {
  size_t n = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != ' ' && (i == 0 || text[i - 1] == ' ')) ++n;
  return n;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

std::string prepare(std::string_view text, bool pads_short) {
  std::string out(text);
  for (char& c : out) c = c == '\n' || c == '\r' ? ' ' : c == ';' ? ',' : c;
  const size_t first = out.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  out = out.substr(first, out.find_last_not_of(' ') + 1 - first);
  if (out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  if (is_letter_or_digit(out.back())) out += '.';
  if (pads_short && count_words(out) < kFewWords) out.insert(0, 8, ' ');
  return out;
}

// Cuts after each run of tokens that are ends.
std::vector<Ids> cut_after(const Ids& ids, const Ids& ends) {
  std::vector<Ids> out(1);
  bool ended = false;
  for (const TokenId id : ids) {
    const bool end = std::ranges::find(ends, id) != ends.end();
    if (ended && !end) out.emplace_back();
    ended = end;
    out.back().push_back(id);
  }
  return out;
}

// Frames that a chunk has at most.
size_t max_frames(size_t n_tokens) {
  return static_cast<size_t>(std::ceil((double(n_tokens) / 3 + 2) * kFramesPerSecond));
}

class PocketWriter final : public SpeechWriter {
 public:
  PocketWriter(const SpeechTools& tools, TokenId audio_bos)
      : tools_(tools),
        model_(static_cast<const PocketTts&>(tools.speech.generator())),
        audio_bos_(audio_bos),
        before_voice_(tools.tokenizer->find("<|bos_before_voice|>")) {}

  Result<void> start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                     size_t n_context) override;
  float default_temperature() const override { return model_.variant().temperature; }
  std::string warning() const override {
    if (model_.unknown_variant().empty()) return "";
    return sentence({"the settings of the variant ", Quoted{model_.unknown_variant()},
                     " are not known: those of most variants are used, a temperature of 0.7 among them"});
  }
  size_t n_chunks() const override { return chunks_.size(); }
  std::vector<float> common_rows() const override {
    if (voice_.empty()) return {};
    std::vector<float> rows;
    if (before_voice_ != kNoToken) rows = tools_.embed({&before_voice_, 1});
    rows.insert(rows.end(), voice_.begin(), voice_.end());
    return rows;
  }
  std::vector<float> start_chunk(size_t chunk) override {
    Ids ids = chunks_[chunk];
    const uint32_t tail = model_.variant().n_tail;
    n_left_ = max_frames(ids.size());
    n_tail_ = tail != 0 ? tail : ids.size() <= kFewTokens ? 5 : 3;
    ended_ = false;
    ids.push_back(audio_bos_);
    return tools_.embed(ids);
  }
  Result<bool> make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) override;

 private:
  [[nodiscard]] std::vector<Ids> cut(const Ids& ids, size_t n_max) const;
  [[nodiscard]] Ids ends_of(std::string_view marks) const {
    // The first token is what the tokenizer puts before a text.
    const Ids ids = tools_.tokenizer->encode(marks);
    return ids.size() < 2 ? Ids() : Ids(ids.begin() + 1, ids.end());
  }

  SpeechTools tools_;
  const PocketTts& model_;
  TokenId audio_bos_, before_voice_;
  std::vector<float> voice_;
  std::vector<Ids> chunks_;
  NormalRandom random_{0};
  float deviation_ = 0;
  size_t n_left_ = 0, n_tail_ = 0;  // frames of the chunk: at most, and after the end of speech
  bool ended_ = false;
};

// n_max: tokens whose frames fit the context.
std::vector<Ids> PocketWriter::cut(const Ids& ids, size_t n_max) const {
  if (ids.size() <= std::min(kMaxChunkTokens, n_max)) return {ids};
  const Ids ends = ends_of(".!...?"), weak_ends = ends_of(",;:");
  std::vector<Ids> parts;
  for (const Ids& sentence : cut_after(ids, ends)) {
    if (sentence.size() <= kMaxChunkTokens) {
      parts.push_back(sentence);
    } else {
      for (const Ids& part : cut_after(sentence, weak_ends)) parts.push_back(part);
    }
  }
  std::vector<Ids> out;
  for (const Ids& part : parts) {
    if (!out.empty() && out.back().size() + part.size() <= std::min(kMaxChunkTokens, n_max)) {
      out.back().insert(out.back().end(), part.begin(), part.end());
      continue;
    }
    for (size_t at = 0; at < part.size(); at += n_max)
      out.emplace_back(part.begin() + static_cast<ptrdiff_t>(at),
                       part.begin() + static_cast<ptrdiff_t>(std::min(part.size(), at + n_max)));
  }
  return out;
}

Result<void> PocketWriter::start(std::string_view text, const SpeakOptions& options, std::span<const float> voice,
                                 size_t n_context) {
  const std::string prepared = prepare(text, model_.variant().pads_short);
  if (prepared.empty()) return fail(ErrorCode::kInvalidArgument, "there is no text to speak");
  voice_.assign(voice.begin(), voice.end());
  const size_t n_voice = common_rows().size() / tools_.model.hparams().n_embd;
  size_t n_max = 0;
  while (n_max < n_context && n_voice + n_max + 2 + max_frames(n_max + 1) <= n_context) ++n_max;
  if (n_max == 0)
    return fail(ErrorCode::kOutOfRange, "a context of " + std::to_string(n_context) +
                                            " positions is too short to speak with a voice of " +
                                            counted(n_voice, "row"));
  chunks_ = cut(tools_.tokenizer->encode(prepared), n_max);
  random_ = NormalRandom(options.seed);
  deviation_ = std::sqrt(options.temperature < 0 ? model_.variant().temperature : options.temperature);
  return {};
}

Result<bool> PocketWriter::make_frame(std::span<const float> hidden, SpeechFrames& frames, std::vector<float>& input) {
  std::vector<float> noise(model_.weights().n_latent);
  for (float& x : noise) x = deviation_ == 0 ? 0 : deviation_ * random_.next();
  PocketTts::Frame frame = model_.make_frame(tools_.pool, hidden, noise);
  if (!all_finite(frame.feedback)) return fail(ErrorCode::kOutOfRange, "a frame of the speech is not of numbers");
  if (frame.ends && !ended_) {
    ended_ = true;
    n_left_ = std::min(n_left_, n_tail_);
  }
  if (n_left_ == 0) return false;
  --n_left_;
  frames.latents.insert(frames.latents.end(), frame.latent.begin(), frame.latent.end());
  ++frames.n;
  input = std::move(frame.feedback);
  return true;
}

}  // namespace

Result<std::unique_ptr<SpeechWriter>> create_pockettts_writer(const SpeechTools& tools) {
  const TokenId audio_bos = tools.tokenizer->find("<|audio_bos|>");
  if (audio_bos == kNoToken) return fail(ErrorCode::kNotFound, "the vocabulary has no token <|audio_bos|>");
  return std::make_unique<PocketWriter>(tools, audio_bos);
}

}  // namespace ggufscope
