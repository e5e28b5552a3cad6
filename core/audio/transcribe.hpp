// From sound to text: windows of 30 s, each encoded, then decoded token by token under Whisper's rules, again at higher
// temperatures where the result fails. The rules and their order are whisper.cpp's (1.9), so that the same file gives
// the same tokens:
//
//   prompt     [previous-text tokens] start, language, task, [no timestamps]
//   rules      no end and no blank first; control tokens never; timestamps in pairs and not going back; a timestamp
//              where all of them together are likelier than any word
//   window     moves on by the last timestamp, or by 30 s
//   failure    mean log probability below a threshold where speech is likely, too little entropy in the last 32 tokens,
//              no timestamp at the end: the next temperature is tried, with best_of sequences side by side
//
// It runs in steps of about one layer of the encoder or one token, so that the caller can stop between any two.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "audio/whisper.hpp"
#include "media/log_mel.hpp"

namespace ggufscope {

struct TranscribeOptions {
  std::string language;  ///< code or English name; empty or "auto": detected in the first window
  bool translate = false;
  bool timestamps = true;
  bool single_segment = false;
  bool keep_context = false;      ///< what earlier calls heard is the prompt of this one
  bool condition_on_text = true;  ///< of one window that of the next
  bool suppress_blank = true;
  bool suppress_non_speech = false;
  bool token_times = false;    ///< estimated of probabilities and loudness
  bool split_on_word = false;  ///< max_length cuts before words only
  bool carry_prompt = false;   ///< the prompt stands before every window, not the first alone
  std::string prompt;
  uint32_t max_tokens = 0;                  ///< of a window; 0: no limit
  uint32_t max_length = 0;                  ///< characters of a segment, with token_times; 0: no limit
  uint32_t audio_context = 0;               ///< encoder frames of a window; 0: the model's
  uint32_t offset_ms = 0, duration_ms = 0;  ///< of the sound; 0: all
  float temperature = 0, temperature_step = 0.2f;
  float entropy_threshold = 2.4f, log_probability_threshold = -1, no_speech_threshold = 0.6f;
  float max_initial_timestamp = 1;  ///< s
  float length_penalty = -1;
  uint32_t best_of = 5;    ///< sequences at a temperature above 0
  uint32_t beam_size = 0;  ///< at temperature 0; below 2: greedy
};

struct TokenData {
  int32_t id = 0;
  int32_t timestamp = 0;  ///< the likeliest timestamp token at this place; 0: none
  float p = 0, log_p = 0;
  float timestamp_p = 0;     ///< of it among timestamps
  float timestamps_p = 0;    ///< of all timestamps
  int64_t t0 = -1, t1 = -1;  ///< 10 ms, with token_times
  int64_t t_dtw = -1;        ///< 10 ms, where words were aligned
};

struct TranscriptSegment {
  int64_t t0 = 0, t1 = 0;  ///< 10 ms
  std::string text;        ///< bytes: a code point may be cut at its end
  std::vector<TokenData> tokens;
  float no_speech_p = 0;
  float mean_log_p = 0, temperature = 0;  ///< of the window
  int64_t seek = 0;                       ///< where the window begins, 10 ms
};

/// One beam or one sample.
struct DecodedSequence {
  std::vector<TokenData> tokens;
  std::vector<uint32_t> cells;                                  // of prompt and tokens
  std::vector<float> probabilities, log_probabilities, logits;  // [n_vocab], of the next token
  std::mt19937 random;
  int seek_delta = 0, n_result = 0;
  bool failed = false, completed = false, has_timestamp = false;
  double sum_log_p = 0, mean_log_p = 0, entropy = 0, score = 0;
};

/// Rules over logits [n_vocab], then probabilities of the sequence's next token.
void apply_rules(const WhisperVocabulary& vocabulary, const TranscribeOptions& options, uint32_t n_audio_ctx,
                 std::span<const int32_t> suppressed, float temperature, DecodedSequence& sequence);
/// The likeliest token, or one drawn.
[[nodiscard]] TokenData sample(const WhisperVocabulary& vocabulary, DecodedSequence& sequence, bool best);
[[nodiscard]] std::vector<TokenData> sample_several(const WhisperVocabulary& vocabulary, DecodedSequence& sequence,
                                                    uint32_t n);
/// Words that are no speech, by their ids.
[[nodiscard]] std::vector<int32_t> non_speech_tokens(const WhisperVocabulary& vocabulary);
/// log softmax of logits that are not -infinity.
void log_softmax(std::span<const float> logits, std::span<float> out);

/// Times of tokens from timestamp probabilities and the loudness [n_samples] of the sound.
struct TokenClock {
  int64_t begin = 0, last = 0;
  int32_t last_timestamp = 0;
};
void find_token_times(const WhisperVocabulary& vocabulary, std::span<const float> loudness, TokenClock& clock,
                      TranscriptSegment& segment);
/// Cuts the last segment to max_length characters.
void wrap_segment(const WhisperVocabulary& vocabulary, uint32_t max_length, bool split_on_word,
                  std::vector<TranscriptSegment>& segments);

class Transcriber {
 public:
  /// Both must outlive it.
  Transcriber(const WhisperModel& model, WhisperState& state, Pool& pool);

  /// A new sound. kInvalidArgument names the option.
  [[nodiscard]] Result<void> begin(const TranscribeOptions& options, uint64_t n_samples);
  /// Its next samples, at 16 kHz. Errors of LogMel::add.
  [[nodiscard]] Result<void> add(std::span<const float> samples);
  /// false: all is done. Segments that were found before an error stay.
  [[nodiscard]] Result<bool> step();

  [[nodiscard]] const std::vector<TranscriptSegment>& segments() const { return segments_; }
  /// Of the sound, 0 .. 1.
  [[nodiscard]] double progress() const;
  /// The language's index; after begin, or after detection.
  [[nodiscard]] uint32_t language() const { return language_; }
  /// [100] after detection, else empty.
  [[nodiscard]] const std::vector<float>& language_probabilities() const { return language_p_; }
  [[nodiscard]] const LogMel& mel() const { return mel_; }
  /// Encodes the window at a frame of the spectrogram in one go, for evaluate and encode.
  [[nodiscard]] Result<void> encode_window(int64_t seek, uint32_t n_ctx);

 private:
  enum class Phase : uint8_t { kBegin, kDetect, kWindow, kEncode, kPrompt, kToken, kDone };

  [[nodiscard]] Result<void> begin_window(int64_t seek, uint32_t n_ctx);
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> detect();
  [[nodiscard]] Result<void> start_prompt();
  [[nodiscard]] Result<void> next_token();
  [[nodiscard]] Result<void> decode_next();
  void choose_beams(size_t i);
  void update(DecodedSequence& sequence, size_t i);
  void finish_temperature();
  void rate(DecodedSequence& sequence) const;
  void finish_window();
  void add_segments(const DecodedSequence& best);
  void push_segment(const DecodedSequence& best, int64_t t0, int64_t t1, std::string text, size_t first, size_t end);
  [[nodiscard]] std::vector<int32_t> make_prompt() const;
  [[nodiscard]] uint32_t take_cell();
  void retain(std::span<const uint32_t> cells, int n);
  [[nodiscard]] uint32_t n_audio_ctx() const;
  [[nodiscard]] size_t n_sequences() const;
  [[nodiscard]] static std::vector<CellRun> runs_of(std::span<const uint32_t> cells);

  const WhisperModel& model_;
  WhisperState& state_;
  Pool& pool_;
  const WhisperVocabulary& vocabulary_;
  TranscribeOptions options_;
  LogMel mel_;
  std::vector<float> loudness_, heard_;  // heard_: samples, for loudness
  std::vector<int32_t> suppressed_;
  std::vector<TranscriptSegment> segments_;
  std::vector<float> temperatures_, language_p_, logits_;
  std::vector<int32_t> prompt_, task_, fixed_context_, context_;
  std::vector<DecodedSequence> sequences_;
  std::vector<uint16_t> cell_users_;
  std::vector<float> window_;  // [2 n_ctx, n_mel]
  TokenClock clock_;
  Phase phase_ = Phase::kDone;
  uint32_t language_ = 0;
  int64_t seek_ = 0, seek_begin_ = 0, seek_end_ = 0;
  size_t encode_step_ = 0, temperature_ = 0, n_tokens_ = 0, best_ = 0;
  float no_speech_p_ = 0;
};

}  // namespace ggufscope
