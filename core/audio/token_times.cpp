// Token times, estimated as in whisper.cpp. Likely timestamps give fixed points. Between them, time is divided in
// proportion to how long each token's text takes to say. Then the ends move to where the audio is loud.
#include <algorithm>

#include "audio/transcribe.hpp"

namespace ggufscope {
namespace {

constexpr float kLikely =
    0.01f;  // minimum probability of a timestamp among all timestamps, and of all timestamps together
constexpr int kSamplesPerTick = static_cast<int>(kMelSampleRate) / 100;

float voice_of(uint32_t code) {
  switch (code) {
    case ' ':
    case 0x3000:
      return 0.01f;
    case ',':
    case 0xff0c:
    case 0x3001:
    case 0xff1b:
    case 0xff1a:
      return 2;
    case '.':
    case '!':
    case '?':
    case 0x3002:
    case 0xff0e:
    case 0xff01:
    case 0xff1f:
    case 0x2026:
      return 3;
    default:
      return (code >= '0' && code <= '9') || (code >= 0xff10 && code <= 0xff19) ? 3.0f : 1.0f;
  }
}

// Estimates how long a text takes to say, in arbitrary units. A byte that is not part of valid UTF-8 counts as one
// character.
float voice_length(std::string_view text) {
  float length = 0;
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<uint8_t>(text[at])); };
    const uint32_t lead = byte(i);
    size_t n = lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 1;
    uint32_t code = n == 1 ? lead : lead & (0x7fu >> n);
    if (n > text.size() - i) n = 1, code = lead;
    for (size_t k = 1; k < n; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) {
        n = 1;
        code = lead;
        break;
      }
      code = code << 6 | (byte(i + k) & 0x3f);
    }
    length += voice_of(code);
    i += n;
  }
  return length;
}

// Divides time between tokens with known ends among the tokens in between.
void fill_gaps(std::vector<TokenData>& tokens, const std::vector<float>& lengths) {
  const size_t n = tokens.size();
  for (size_t first = 0, last = 0; last < n; first = ++last) {
    while (last < n && tokens[last].t1 < 0) ++last;
    if (last >= n) --last;
    if (last <= first) continue;
    double sum = 0;
    for (size_t j = first; j <= last; ++j) sum += double(lengths[j]);
    const double span = double(tokens[last].t1 - tokens[first].t0);
    for (size_t j = first + 1; j <= last; ++j) {
      const double at = double(tokens[j - 1].t0) + span * double(lengths[j - 1]) / sum;
      tokens[j - 1].t1 = static_cast<int64_t>(at);
      tokens[j].t0 = static_cast<int64_t>(at);
    }
  }
  for (size_t j = 0; j + 1 < n; ++j) {
    if (tokens[j].t1 < 0) tokens[j + 1].t0 = tokens[j].t1;
    if (j > 0 && tokens[j - 1].t1 > tokens[j].t0) {
      tokens[j].t0 = tokens[j - 1].t1;
      tokens[j].t1 = std::max(tokens[j].t0, tokens[j].t1);
    }
  }
}

// Moves each token's ends to where the loudness crosses half of its mean around the token. whisper.cpp 1.9 counts
// samples from the segment's begin instead of the audio's begin; this function does the same.
void follow_loudness(const WhisperVocabulary& v, std::span<const float> loudness, int64_t origin,
                     std::vector<TokenData>& tokens) {
  const int n_samples = static_cast<int>(loudness.size()), around = static_cast<int>(kMelSampleRate) / 8;
  const auto at = [&](int k) { return loudness[static_cast<size_t>(k)]; };
  const auto sample_of = [&](int64_t t) {
    return static_cast<int>(std::clamp<int64_t>((t - origin) * kSamplesPerTick, 0, n_samples - 1));
  };
  const auto tick_of = [&](int k) { return int64_t{100} * k / static_cast<int64_t>(kMelSampleRate) + origin; };
  for (size_t j = 0; j < tokens.size(); ++j) {
    TokenData& token = tokens[j];
    if (token.id >= v.eot()) continue;
    int s0 = sample_of(token.t0), s1 = sample_of(token.t1);
    const int from = std::max(s0 - around, 0), to = std::min(s1 + around, n_samples);
    float sum = 0;
    for (int k = from; k < to; ++k) sum += at(k);
    const float threshold = static_cast<float>(0.5 * double(sum) / (to - from));
    int k = s0;
    if (at(k) > threshold && j > 0) {
      while (k > 0 && at(k) > threshold) --k;
      token.t0 = tick_of(k);
      if (token.t0 < tokens[j - 1].t1)
        token.t0 = tokens[j - 1].t1;
      else
        s0 = k;
    } else {
      while (at(k) < threshold && k < s1) ++k;
      s0 = k;
      token.t0 = tick_of(k);
    }
    k = s1;
    if (at(k) > threshold) {
      while (k < n_samples - 1 && at(k) > threshold) ++k;
      token.t1 = tick_of(k);
      if (j + 1 < tokens.size() && token.t1 > tokens[j + 1].t0) token.t1 = tokens[j + 1].t0;
    } else {
      while (at(k) < threshold && k > s0) --k;
      token.t1 = tick_of(k);
    }
  }
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void find_token_times(const WhisperVocabulary& v, std::span<const float> loudness, TokenClock& clock,
                      TranscriptSegment& segment) {
  std::vector<TokenData>& tokens = segment.tokens;
  const size_t n = tokens.size();
  const int64_t t0 = segment.t0, t1 = segment.t1;
  if (loudness.empty() || n == 0) return;
  if (n == 1) {
    tokens[0].t0 = t0;
    tokens[0].t1 = t1;
    return;
  }
  if (tokens[0].id == v.first_timestamp()) {
    tokens[0].t0 = tokens[0].t1 = tokens[1].t0 = t0;
    clock = {t0, t0, v.first_timestamp()};
  } else {
    tokens[0].t0 = clock.last;
  }
  std::vector<float> lengths(n);
  for (size_t j = 0; j < n; ++j) {
    TokenData& token = tokens[j];
    const int64_t at = clock.begin + 2 * (token.timestamp - v.first_timestamp());
    lengths[j] = voice_length(v.text(token.id));
    if (token.timestamp_p > kLikely && token.timestamps_p > kLikely && token.timestamp > clock.last_timestamp &&
        at <= t1) {
      if (j > 0) tokens[j - 1].t1 = at;
      token.t0 = at;
      clock.last_timestamp = token.timestamp;
    }
  }
  tokens[n - 2].t1 = tokens[n - 1].t0 = tokens[n - 1].t1 = t1;
  clock.last = t1;
  fill_gaps(tokens, lengths);
  follow_loudness(v, loudness, t0, tokens);
}

void wrap_segment(const WhisperVocabulary& v, uint32_t max_length, bool split_on_word,
                  std::vector<TranscriptSegment>& segments) {
  TranscriptSegment whole = segments.back();
  std::string text;
  size_t length = 0;
  for (size_t i = 0; i < whole.tokens.size(); ++i) {
    const TokenData token = whole.tokens[i];
    if (token.id >= v.eot()) continue;
    const std::string word = v.text(token.id);
    const size_t more = characters(word);
    if (length + more > max_length && i > 0 && (!split_on_word || word.starts_with(' '))) {
      TranscriptSegment& before = segments.back();
      before.text = std::move(text);
      before.t1 = token.t0;
      before.tokens.resize(i);
      whole.t0 = token.t0;
      whole.tokens.erase(whole.tokens.begin(), whole.tokens.begin() + static_cast<std::ptrdiff_t>(i));
      segments.push_back(whole);
      text.clear();
      length = 0;
      i = static_cast<size_t>(-1);
    } else {
      length += more;
      text += word;
    }
  }
  segments.back().text = std::move(text);
}

}  // namespace ggufscope
