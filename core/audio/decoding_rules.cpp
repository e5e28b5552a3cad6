// Whisper's rules for the next token: suppressed tokens, and the order of timestamps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "audio/transcribe.hpp"

namespace ggufscope {
namespace {

constexpr float kTimestampStep = 0.02f;  // seconds
constexpr float kNever = -std::numeric_limits<float>::infinity();

constexpr std::string_view kNonSpeech[] = {
    "\"",  "#",  "(",  ")",   "*",   "+",  "/",  ":",  ";",  "<",  "=",   ">",   "@",   "[",  "\\",  "]",  "^",  "_",
    "`",   "{",  "|",  "}",   "~",   "「", "」", "『", "』", "<<", ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('",
    "(\"", "((", "))", "(((", ")))", "[[", "]]", "{{", "}}", "♪♪", "♪♪♪", "♩",   "♪",   "♫",  "♬",   "♭",  "♮",  "♯"};

}  // namespace

std::vector<int32_t> non_speech_tokens(const WhisperVocabulary& vocabulary) {
  std::vector<int32_t> ids;
  const auto add = [&](const std::string& word) {
    if (const auto id = vocabulary.find(word)) ids.push_back(*id);
  };
  for (const std::string_view word : kNonSpeech) {
    add(std::string(word));
    add(" " + std::string(word));
  }
  // Hyphens and quotes are suppressed only at the start of a word; within words they are allowed.
  add(" -");
  add(" '");
  return ids;
}

void log_softmax(std::span<const float> logits, std::span<float> out) {
  const float max = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float logit : logits)
    if (logit > kNever) sum += std::exp(logit - max);
  const float log_sum = std::log(sum) + max;
  for (size_t i = 0; i < logits.size(); ++i) out[i] = logits[i] > kNever ? logits[i] - log_sum : kNever;
}

namespace {

// Sets the logits of suppressed tokens to -infinity: those that are never allowed, and those that are not allowed at
// this position.
void suppress(const WhisperVocabulary& v, const TranscribeOptions& options, std::span<const int32_t> suppressed,
              const DecodedSequence& s, std::span<float> logits) {
  const auto never = [&](int32_t first, int32_t end) {
    if (first < end) std::fill(logits.begin() + first, logits.begin() + std::min(end, v.n_vocab()), kNever);
  };
  const auto one = [&](int32_t id) { never(id, id + 1); };
  const bool first = s.tokens.empty();
  if (options.suppress_blank && first) {
    one(v.eot());
    if (const auto blank = v.find(" ")) one(*blank);
  }
  one(v.no_timestamps());
  if (!options.timestamps) never(v.first_timestamp(), v.n_vocab());
  // The token limit is reached: only a timestamp or the end of text may follow.
  if (options.timestamps && !options.single_segment && options.max_tokens > 0 && s.tokens.size() >= options.max_tokens)
    never(0, v.eot());
  for (const int32_t id : {v.sot(), v.no_speech(), v.start_of_lm(), v.translate(), v.transcribe(), v.previous()})
    one(id);
  never(v.language(0), v.language(v.n_languages()));
  for (const int32_t id : suppressed) one(id);
  // Timestamps come in pairs, except directly before the end of text.
  const bool last = !first && s.tokens.back().id >= v.first_timestamp();
  const bool before = s.tokens.size() < 2 || s.tokens[s.tokens.size() - 2].id >= v.first_timestamp();
  if (last && before) never(v.first_timestamp(), v.n_vocab());
  if (last && !before) never(0, v.eot());
  if (first && options.max_initial_timestamp > 0) {
    never(v.first_timestamp() + static_cast<int32_t>(std::round(options.max_initial_timestamp / kTimestampStep)) + 1,
          v.n_vocab());
  }
  if (s.has_timestamp) never(v.first_timestamp(), v.first_timestamp() + s.seek_delta / 2);
}

}  // namespace

void apply_rules(const WhisperVocabulary& v, const TranscribeOptions& options, std::span<const int32_t> suppressed,
                 float temperature, DecodedSequence& s) {
  const std::span<float> logits(s.logits);
  const auto first_timestamp = static_cast<size_t>(v.first_timestamp());
  if (temperature > 0)
    for (float& logit : logits) logit /= temperature;
  suppress(v, options, suppressed, s, logits);
  s.log_probabilities.resize(logits.size());
  log_softmax(logits, s.log_probabilities);
  const std::span<float> log_p(s.log_probabilities);
  const std::span<const float> times = log_p.subspan(first_timestamp);
  float sum = 0;
  const float max = *std::max_element(times.begin(), times.end());
  for (const float p : times)
    if (p > kNever) sum += std::exp(p - max);
  const float all_times = sum > 0 ? std::log(sum) + max : kNever;
  if (all_times > *std::max_element(log_p.begin(), log_p.begin() + v.first_timestamp())) {
    std::fill_n(logits.begin(), first_timestamp, kNever);
    std::fill_n(log_p.begin(), first_timestamp, kNever);
  }
  s.probabilities.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) s.probabilities[i] = logits[i] == kNever ? 0 : std::exp(log_p[i]);
}

namespace {

// The most likely timestamp at the next token's position, and its probabilities.
TokenData time_of(const WhisperVocabulary& v, const DecodedSequence& s) {
  TokenData token;
  double sum = 0, max = 0;
  for (int32_t i = v.first_timestamp(); i < v.n_vocab(); ++i) {
    const double p = double(s.probabilities[static_cast<size_t>(i)]);
    sum += p;
    if (max < p) {
      max = p;
      token.timestamp = i;
    }
  }
  token.timestamp_p = static_cast<float>(max / (sum + 1e-10));
  token.timestamps_p = static_cast<float>(sum);
  return token;
}

void set_id(const WhisperVocabulary& v, const DecodedSequence& s, int32_t id, TokenData& token) {
  token.id = id;
  token.p = s.probabilities[static_cast<size_t>(id)];
  token.log_p = s.log_probabilities[static_cast<size_t>(id)];
  if (id >= v.first_timestamp()) {
    token.timestamp = id;
    token.timestamp_p = token.p;
  }
}

// Draws an index in the same way as libstdc++'s std::discrete_distribution: 53 random bits from two 32-bit words,
// looked up in the cumulative sums.
class Draw {
 public:
  explicit Draw(std::span<const float> weights) : sums_(weights.size()) {
    double total = 0, sum = 0;
    for (const float w : weights) total += double(w);
    for (size_t i = 0; i < weights.size(); ++i) sums_[i] = sum += double(weights[i]) / total;
    sums_.back() = 1;
  }
  int32_t operator()(std::mt19937& random) const {
    constexpr double kWord = 4294967296.0;
    const double low = double(random()), high = double(random());
    double u = (low + high * kWord) / (kWord * kWord);
    if (u >= 1) u = std::nextafter(1.0, 0.0);
    const auto at = std::lower_bound(sums_.begin(), sums_.end(), u) - sums_.begin();
    return static_cast<int32_t>(std::min<std::ptrdiff_t>(at, static_cast<std::ptrdiff_t>(sums_.size()) - 1));
  }

 private:
  std::vector<double> sums_;
};

}  // namespace

TokenData sample(const WhisperVocabulary& v, DecodedSequence& s, bool best) {
  TokenData token = time_of(v, s);
  const auto& p = s.probabilities;
  const auto id = best ? static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin()) : Draw(p)(s.random);
  set_id(v, s, id, token);
  return token;
}

std::vector<TokenData> sample_several(const WhisperVocabulary& v, DecodedSequence& s, uint32_t n) {
  std::vector<TokenData> tokens(n, time_of(v, s));
  const Draw draw(s.probabilities);
  for (TokenData& token : tokens) {
    if (token.timestamp == 0) token.timestamp = v.first_timestamp();
    set_id(v, s, draw(s.random), token);
  }
  return tokens;
}

}  // namespace ggufscope
