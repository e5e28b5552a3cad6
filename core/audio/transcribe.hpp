// Speech recognition. The audio is decoded in windows as long as the encoder's context: 30 s. The encoder runs once for
// each window; then the decoder generates tokens under Whisper's rules, and again at higher temperatures if the result
// fails. The rules and their order are those of whisper.cpp 1.9, so that the same file gives the same tokens:
//
//   prompt     [previous-text tokens] start, language, task, [no timestamps]
//   rules      the first token is neither the end of text nor a blank; control tokens are always suppressed;
//              timestamps come in pairs and never decrease; a timestamp is forced if all timestamps together are more
//              likely than any text token
//   window     moves on to the last timestamp, or by 30 s
//   silence    stretches of at least 5 s that fill a window, and recordings without any sound, are skipped. This is
//              ours: whisper.cpp decodes them, and writes words that nobody said
//   failure    the mean log probability is below a threshold although speech is likely, the entropy of the last 32
//              tokens is too low, or no timestamp ends the window. The next temperature is tried, with best_of
//              sequences in one batch
//
// Work is divided into steps of about one encoder layer or one token, so that the caller can stop between two steps.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "audio/whisper.hpp"
#include "media/log_mel.hpp"
#include "media/voice_activity.hpp"

namespace ggufscope {

struct TranscribeOptions {
  std::string language;  ///< code or English name; empty or "auto": detected in the first window
  bool translate = false;
  bool timestamps = true;
  bool single_segment = false;
  bool keep_context = false;      ///< the text of earlier calls is the prompt of this one
  bool condition_on_text = true;  ///< the text of each window is the prompt of the next
  bool suppress_blank = true;
  bool suppress_non_speech = false;
  bool token_times = false;    ///< find token times: estimated as in whisper.cpp, and by alignment
  bool split_on_word = false;  ///< max_length cuts only before words
  bool carry_prompt = false;   ///< the prompt is used for every window, not only the first
  std::string prompt;
  uint32_t max_tokens = 0;                  ///< limit for each window; 0: no limit
  uint32_t max_length = 0;                  ///< characters in each segment (needs token_times); 0: no limit
  uint32_t audio_context = 0;               ///< encoder frames in each window; 0: the model's
  uint32_t offset_ms = 0, duration_ms = 0;  ///< the part of the audio to transcribe; 0: all
  float temperature = 0, temperature_step = 0.2f;
  float entropy_threshold = 2.4f, log_probability_threshold = -1, no_speech_threshold = 0.6f;
  float silence_threshold = kSilenceThreshold;  ///< root mean square of 10 ms below which they are silent; 0: none are
  float max_initial_timestamp = 1;              ///< seconds
  float length_penalty = -1;
  uint32_t best_of = 5;    ///< number of sequences at temperatures above 0
  uint32_t beam_size = 0;  ///< number of beams at temperature 0; below 2: greedy decoding
};

struct TokenData {
  int32_t id = 0;
  int32_t timestamp = 0;  ///< the most likely timestamp token at this position; 0: none
  float p = 0, log_p = 0;
  float timestamp_p = 0;                     ///< its probability among all timestamps
  float timestamps_p = 0;                    ///< probability of all timestamps together
  int64_t t0 = -1, t1 = -1;                  ///< in 10 ms; -1 without token_times
  int64_t aligned_t0 = -1, aligned_t1 = -1;  ///< in 10 ms, by alignment; -1 without token_times
};

struct TranscriptSegment {
  int64_t t0 = 0, t1 = 0;  ///< in 10 ms
  std::string text;        ///< bytes; the last code point may be incomplete
  std::vector<TokenData> tokens;
  float no_speech_p = 0;
  float mean_log_p = 0, temperature = 0;  ///< of the whole window
  int64_t seek = 0;                       ///< the window's begin, in 10 ms
};

/// One beam, or one sampled sequence.
struct DecodedSequence {
  std::vector<TokenData> tokens;
  std::vector<uint32_t> cells;                                  // cache cells of the prompt and the tokens
  std::vector<float> probabilities, log_probabilities, logits;  // [n_vocab], for the next token
  std::mt19937 random;
  int seek_delta = 0, n_result = 0;
  bool failed = false, completed = false, has_timestamp = false;
  double sum_log_p = 0, mean_log_p = 0, entropy = 0, score = 0;
};

/// Applies the decoding rules to sequence.logits [n_vocab] and computes the probabilities of the next token.
void apply_rules(const WhisperVocabulary& vocabulary, const TranscribeOptions& options,
                 std::span<const int32_t> suppressed, float temperature, DecodedSequence& sequence);
/// The most likely token if `best`, else a sampled one.
[[nodiscard]] TokenData sample(const WhisperVocabulary& vocabulary, DecodedSequence& sequence, bool best);
[[nodiscard]] std::vector<TokenData> sample_several(const WhisperVocabulary& vocabulary, DecodedSequence& sequence,
                                                    uint32_t n);
/// Ids of tokens that are not speech, such as brackets and musical notes.
[[nodiscard]] std::vector<int32_t> non_speech_tokens(const WhisperVocabulary& vocabulary);
/// Log softmax. Logits of -infinity stay -infinity.
void log_softmax(std::span<const float> logits, std::span<float> out);

/// Estimates token times from timestamp probabilities and the audio's loudness [n_samples].
struct TokenClock {
  int64_t begin = 0, last = 0;
  int32_t last_timestamp = 0;
};
void find_token_times(const WhisperVocabulary& vocabulary, std::span<const float> loudness, TokenClock& clock,
                      TranscriptSegment& segment);
/// Dynamic time warping through similarity [rows, columns]: for each row, the first column of its part of the path.
[[nodiscard]] std::vector<uint32_t> warp(std::span<const float> similarity, size_t n_rows, size_t n_columns);
/// Splits the last segment into segments of at most max_length characters.
void wrap_segment(const WhisperVocabulary& vocabulary, uint32_t max_length, bool split_on_word,
                  std::vector<TranscriptSegment>& segments);

class Transcriber {
 public:
  /// The model and the state must outlive this object.
  Transcriber(const WhisperModel& model, WhisperState& state, Pool& pool);

  /// Starts the transcription of n_samples samples. Errors: kInvalidArgument, whose message names the option; those of
  /// LogMel::start.
  [[nodiscard]] Result<void> start(const TranscribeOptions& options, uint64_t n_samples);
  /// Adds the next samples, at 16 kHz. Errors of LogMel::add.
  [[nodiscard]] Result<void> add(std::span<const float> samples);
  /// Runs the next step. Returns false when all is done. Segments that were found before an error are kept.
  [[nodiscard]] Result<bool> step();

  [[nodiscard]] const std::vector<TranscriptSegment>& segments() const { return segments_; }
  /// The part of the audio that is decoded, 0 to 1.
  [[nodiscard]] double progress() const;
  /// The language's index. It is valid after start() if the language was given, else after detection. Without
  /// detection, because all of the audio is silent, it is 0.
  [[nodiscard]] uint32_t language() const { return language_; }
  /// [100] after detection, otherwise empty.
  [[nodiscard]] const std::vector<float>& language_probabilities() const { return language_p_; }
  [[nodiscard]] const LogMel& mel() const { return mel_; }
  /// Completes the spectrogram of audio that is not transcribed.
  void end_audio();
  /// Begins to encode the first window of such audio, which step() does.
  [[nodiscard]] Result<void> begin_encode(uint32_t n_ctx);
  /// Begins to evaluate ids, which step() does. logits [ids, n_vocab] are then those of request().
  [[nodiscard]] Result<void> begin_evaluate(std::span<const int32_t> ids);

  /// Where the next window begins, in 10 ms, and the text that its prompt continues.
  [[nodiscard]] int64_t seek() const { return seek_; }
  [[nodiscard]] std::span<const int32_t> context() const { return context_; }
  /// After all samples were added: goes on at a window that another transcription of the same audio has reached.
  [[nodiscard]] Result<void> resume(int64_t seek, std::span<const int32_t> context);

  // What a device computes instead of step().
  /// The encoder's layers, if they are next.
  [[nodiscard]] LayerRun begin_layers();
  void end_layers(uint32_t end) { state_.end_layers(end); }
  /// The tokens that are decoded next, or were decoded last.
  [[nodiscard]] DecodeRequest& request() { return request_; }
  [[nodiscard]] const DecodeRequest& request() const { return request_; }
  [[nodiscard]] uint32_t n_audio() const { return state_.n_audio(); }
  /// They are not decoded yet.
  [[nodiscard]] bool decodes() const { return decodes_; }
  void end_decode() { decodes_ = false; }

 private:
  static constexpr int kShortest = 10;  // a shorter rest of the audio is ignored, in 10 ms
  // kDetected, kPrompted, kToken and kAligned read what was computed of the tokens that the phase before asked for.
  enum class Phase : uint8_t {
    kBegin,
    kDetect,
    kDetected,
    kWindow,
    kEncode,
    kEncodeOnly,
    kPrompt,
    kPrompted,
    kToken,
    kAligned,
    kDone
  };

  [[nodiscard]] Result<void> begin_window(int64_t seek, uint32_t n_ctx);
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> run_phase();
  [[nodiscard]] Result<void> ask(DecodeRequest request);
  void skip_silence();
  void measure_loudness(std::span<const float> samples);
  [[nodiscard]] Result<void> detect();
  [[nodiscard]] Result<void> end_detect();
  [[nodiscard]] Result<void> start_prompt();
  void end_prompt();
  [[nodiscard]] Result<void> next_token();
  [[nodiscard]] Result<void> ask_next();
  void take_logits();
  void choose_beams(size_t i);
  void update(DecodedSequence& sequence, size_t i);
  [[nodiscard]] Result<void> finish_temperature();
  void rate(DecodedSequence& sequence) const;
  [[nodiscard]] Result<void> finish_window();
  void end_window();
  [[nodiscard]] std::vector<TokenData*> said();
  [[nodiscard]] size_t n_aligned_frames() const;
  [[nodiscard]] Result<bool> ask_alignment();
  void align();
  void add_segments(const DecodedSequence& best);
  void push_segment(const DecodedSequence& best, int64_t t0, int64_t t1, std::string text, size_t first, size_t end);
  [[nodiscard]] std::vector<int32_t> make_prompt() const;
  [[nodiscard]] uint32_t take_cell();
  void retain(std::span<const uint32_t> cells, int n);
  [[nodiscard]] uint32_t n_audio_ctx() const;
  /// The length of a window in 10 ms, whatever audio_context says: 3000 for OpenAI's models.
  [[nodiscard]] int window_ticks() const { return 2 * static_cast<int>(model_.hparams().encoder.n_ctx); }
  [[nodiscard]] size_t n_sequences() const;
  [[nodiscard]] static std::vector<CellRun> runs_of(std::span<const uint32_t> cells);

  const WhisperModel& model_;
  WhisperState& state_;
  Pool& pool_;
  const WhisperVocabulary& vocabulary_;
  TranscribeOptions options_;
  LogMel mel_;
  VoiceActivity activity_;
  uint64_t n_samples_ = 0, n_added_ = 0;
  Buffer loudness_;            // [n_samples], with token_times
  size_t n_loud_ = 0;          // samples whose loudness is known
  std::vector<float> recent_;  // samples of the audio's end that the loudness of the next ones needs
  std::vector<int32_t> suppressed_;
  std::vector<TranscriptSegment> segments_;
  std::vector<float> temperatures_, language_p_;
  std::vector<int32_t> prompt_, task_, fixed_context_, context_;
  std::vector<DecodedSequence> sequences_;
  std::vector<size_t> going_;  // the sequences whose tokens are decoded
  DecodeRequest request_;
  bool decodes_ = false;
  std::vector<uint16_t> cell_users_;
  std::vector<float> window_;  // [2 n_ctx, n_mel]
  TokenClock clock_;
  Phase phase_ = Phase::kDone;
  uint32_t language_ = 0;
  int64_t seek_ = 0, seek_begin_ = 0, seek_end_ = 0;
  size_t encode_step_ = 0, temperature_ = 0, n_tokens_ = 0, best_ = 0;
  float no_speech_p_ = 0;
  bool says_ = false;  // the window has speech
};

}  // namespace ggufscope
