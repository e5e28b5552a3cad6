// The steps of a transcription: takes samples, detects the language, and moves from window to window.
#include "audio/transcribe.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ggufscope {
namespace {

constexpr int kShortRest = 500;    // a rest shorter than this is decoded without the previous text, in 10 ms
constexpr int kLongSilence = 500;  // shorter silence is decoded, in 10 ms
constexpr int kBeforeSound = 20;   // the window after silence begins so much before the sound, in 10 ms
constexpr uint32_t kMaxSequencesAtOnce = 8;
constexpr size_t kHalfWindow = 32;  // loudness is a moving average over this many samples on each side
constexpr uint32_t kFirst[] = {0};

// "auto" in any case.
bool detects_language(std::string_view name) {
  constexpr std::string_view kAuto = "auto";
  return name.empty() || std::ranges::equal(name, kAuto, [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

Transcriber::Transcriber(const WhisperModel& model, WhisperState& state, Pool& pool)
    : model_(model), state_(state), pool_(pool), vocabulary_(model.vocabulary()), mel_(model.mel_filters()) {
  sequences_.resize(1);
  sequences_[0].random.seed(0);
}

uint32_t Transcriber::n_audio_ctx() const {
  return options_.audio_context != 0 ? options_.audio_context : model_.hparams().encoder.n_ctx;
}

Result<void> Transcriber::start(const TranscribeOptions& options, uint64_t n_samples) {
  phase_ = Phase::kDone;
  options_ = options;
  segments_.clear();
  language_p_.clear();
  language_ = 0;
  const bool detects = detects_language(options.language);
  if (!detects) {
    const auto language = find_language(options.language);
    if (!language) return fail(ErrorCode::kInvalidArgument, "no language \"" + options.language + "\"");
    language_ = *language;
  }
  if (vocabulary_.multilingual() && language_ >= vocabulary_.n_languages())
    return fail(ErrorCode::kInvalidArgument, "this model does not know the language \"" + options.language + "\"");
  if (options.audio_context > model_.hparams().encoder.n_ctx)
    return fail(ErrorCode::kInvalidArgument, "an audio context of " + std::to_string(options.audio_context) +
                                                 "; the model has " + std::to_string(model_.hparams().encoder.n_ctx));
  if (options.best_of > kMaxSequencesAtOnce || options.beam_size > kMaxSequencesAtOnce)
    return fail(ErrorCode::kInvalidArgument, "at most 8 sequences are decoded side by side");
  if (!(options.temperature >= 0 && options.temperature_step >= 0))
    return fail(ErrorCode::kInvalidArgument, "a temperature below 0");
  if (!(options.silence_threshold >= 0)) return fail(ErrorCode::kInvalidArgument, "a silence threshold below 0");
  temperatures_.clear();
  if (options.temperature_step > 0)
    for (float t = options.temperature; t < 1 + 1e-6f && temperatures_.size() < 100; t += options.temperature_step)
      temperatures_.push_back(t);
  if (temperatures_.empty()) temperatures_.push_back(options.temperature);
  suppressed_ = options.suppress_non_speech ? non_speech_tokens(vocabulary_) : std::vector<int32_t>();
  if (const Result<void> begun = mel_.start(n_samples); !begun) return begun;
  activity_.start(options.silence_threshold);
  n_samples_ = n_samples;
  n_added_ = n_loud_ = 0;
  recent_.clear();
  loudness_ = Buffer();
  if (options.token_times) {
    Result<Buffer> made = Buffer::allocate(n_samples * sizeof(float));
    if (!made) return std::unexpected(made.error());
    loudness_ = std::move(*made);
  }
  clock_ = {};
  decodes_ = false;
  going_.clear();
  seek_ = seek_begin_ = seek_end_ = 0;
  // A model of one language needs no language detection.
  phase_ = detects && vocabulary_.multilingual() ? Phase::kDetect : Phase::kBegin;
  encode_step_ = 0;
  return {};
}

Result<void> Transcriber::add(std::span<const float> samples) {
  if (const Result<void> added = mel_.add(samples); !added) return added;
  activity_.add(samples);
  n_added_ += samples.size();
  if (options_.token_times) measure_loudness(samples);
  const size_t first = mel_.first();
  pool_.parallel_for(mel_.ready() - first, 8,
                     [&](size_t from, size_t to, size_t) { mel_.compute(first + from, first + to); });
  mel_.consume();
  return {};
}

// Computes the loudness of all samples whose neighbours have arrived: the mean amplitude around each.
void Transcriber::measure_loudness(std::span<const float> samples) {
  const size_t before = static_cast<size_t>(n_added_) - samples.size() - recent_.size();  // of recent_[0]
  recent_.insert(recent_.end(), samples.begin(), samples.end());
  const auto n = static_cast<size_t>(n_added_), end = n_added_ == n_samples_ ? n : n - std::min(n, kHalfWindow);
  float* const loudness = loudness_.as<float>();
  pool_.parallel_for(end - n_loud_, 4096, [&](size_t first, size_t last, size_t) {
    for (size_t i = n_loud_ + first; i < n_loud_ + last; ++i) {
      float sum = 0;
      for (size_t j = i - std::min(i, kHalfWindow); j < std::min(n, i + kHalfWindow + 1); ++j)
        sum += std::fabs(recent_[j - before]);
      loudness[i] = sum / float{2 * kHalfWindow + 1};
    }
  });
  n_loud_ = end;
  const size_t gone = n_loud_ - std::min(n_loud_, kHalfWindow) - before;
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(gone));
}

double Transcriber::progress() const {
  if (phase_ == Phase::kDone) return 1;
  return seek_end_ > seek_begin_ ? std::min(1.0, double(seek_ - seek_begin_) / double(seek_end_ - seek_begin_)) : 0;
}

// Copies the frames from `seek` on. Frames after the spectrogram's padding are zero.
Result<void> Transcriber::begin_window(int64_t seek, uint32_t n_ctx) {
  const size_t n_mel = mel_.n_mel(), n = size_t{2} * n_ctx, from = static_cast<size_t>(seek);
  window_.assign(n * n_mel, 0.0f);
  for (size_t t = 0; t < n && from + t < mel_.n_frames(); ++t) {
    float* const row = window_.data() + t * n_mel;
    if (from + t < mel_.n_stored())
      std::copy_n(mel_.values() + (from + t) * n_mel, n_mel, row);
    else
      std::fill_n(row, n_mel, mel_.padding());
  }
  encode_step_ = 0;
  return state_.begin_encode(window_, n_ctx);
}

void Transcriber::end_audio() {
  if (phase_ == Phase::kBegin || phase_ == Phase::kDetect) mel_.flush();
  phase_ = Phase::kDone;
}

Result<void> Transcriber::begin_encode(uint32_t n_ctx) {
  end_audio();
  const Result<void> begun = begin_window(0, n_ctx);
  if (begun) phase_ = Phase::kEncodeOnly;
  return begun;
}

Result<void> Transcriber::begin_evaluate(std::span<const int32_t> ids) {
  phase_ = Phase::kDone;
  std::vector<uint32_t> rows(ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  return ask(state_.request_text(ids, rows));
}

Result<void> Transcriber::resume(int64_t seek, std::span<const int32_t> context) {
  end_audio();
  if (const Result<void> begun = start(); !begun || phase_ == Phase::kDone) return begun;
  if (seek < seek_begin_ || seek > seek_end_)
    return fail(ErrorCode::kOutOfRange, "the audio has no window at " + std::to_string(seek));
  for (const int32_t id : context)
    if (id < 0 || id >= vocabulary_.n_vocab())
      return fail(ErrorCode::kOutOfRange, "there is no token " + std::to_string(id));
  seek_ = seek;
  context_.assign(context.begin(), context.end());
  return {};
}

Result<void> Transcriber::ask(DecodeRequest request) {
  request_ = std::move(request);
  const Result<void> good = state_.prepare(request_);
  decodes_ = good.has_value();
  return good;
}

LayerRun Transcriber::begin_layers() {
  const bool encodes = phase_ == Phase::kEncode || phase_ == Phase::kEncodeOnly || phase_ == Phase::kDetect;
  return encodes && encode_step_ > WhisperState::kConvolution ? state_.begin_layers() : LayerRun{};
}

Result<bool> Transcriber::step() {
  Result<void> done;
  if (decodes_) done = state_.decode(request_);
  decodes_ = false;
  if (done) done = run_phase();
  if (!done) {
    phase_ = Phase::kDone;
    return std::unexpected(done.error());
  }
  return phase_ != Phase::kDone;
}

Result<void> Transcriber::run_phase() {
  switch (phase_) {
    case Phase::kDetect:
      return detect();
    case Phase::kDetected:
      return end_detect();
    case Phase::kBegin:
      mel_.flush();
      return start();
    case Phase::kWindow:
      skip_silence();
      phase_ = seek_ + kShortest >= seek_end_ ? Phase::kDone : Phase::kEncode;
      return phase_ == Phase::kDone ? Result<void>() : begin_window(seek_, n_audio_ctx());
    case Phase::kEncode:
      state_.encode_step(encode_step_++);
      if (encode_step_ < state_.n_steps()) return {};
      if (seek_ > seek_begin_ && seek_ + kShortRest >= seek_end_) fixed_context_.clear(), context_.clear();
      temperature_ = best_ = 0;
      phase_ = Phase::kPrompt;
      return {};
    case Phase::kEncodeOnly:
      state_.encode_step(encode_step_++);
      if (encode_step_ == state_.n_steps()) phase_ = Phase::kDone;
      return {};
    case Phase::kPrompt:
      return start_prompt();
    case Phase::kPrompted:
      end_prompt();
      return next_token();
    case Phase::kToken:
      take_logits();
      return next_token();
    case Phase::kAligned:
      align();
      end_window();
      return {};
    case Phase::kDone:
      return {};
  }
  return {};
}

// Moves the window to the next sound if it has none. Short silence between sounds is decoded, as whisper.cpp does.
void Transcriber::skip_silence() {
  if (options_.silence_threshold == 0) return;
  const size_t next = activity_.next_active(static_cast<size_t>(seek_));
  const int64_t sound = next < activity_.n_frames() ? std::min(static_cast<int64_t>(next), seek_end_) : seek_end_;
  if (sound < std::min<int64_t>(seek_ + window_ticks(), seek_end_)) return;
  if (sound - seek_ < kLongSilence && (seek_ != seek_begin_ || sound < seek_end_)) return;
  seek_ = sound == seek_end_ ? sound : std::max<int64_t>(seek_, sound - kBeforeSound);
}

Result<void> Transcriber::detect() {
  if (encode_step_ == 0) {
    mel_.flush();
    // Language detection uses the first window with sound, all of it, whatever audio_context and offset_ms say.
    const size_t n = mel_.n_sound_frames(), sound = activity_.next_active(0);
    if (sound >= n) {
      phase_ = Phase::kDone;
      return {};
    }
    const auto seek = sound < static_cast<size_t>(window_ticks()) ? 0 : static_cast<int64_t>(sound) - kBeforeSound;
    const Result<void> begun = begin_window(std::max<int64_t>(seek, 0), model_.hparams().encoder.n_ctx);
    if (!begun) return begun;
  }
  state_.encode_step(encode_step_++);
  if (encode_step_ < state_.n_steps()) return {};
  phase_ = Phase::kDetected;
  const int32_t sot = vocabulary_.sot();
  return ask(state_.request_text({&sot, 1}, kFirst));
}

Result<void> Transcriber::end_detect() {
  // whisper.cpp counts 100 languages for models of 99, too: the last one is the token after them.
  const size_t n = vocabulary_.n_languages() < 99 ? vocabulary_.n_languages() : whisper_languages().size();
  const std::span<const float> logits(request_.logits.data() + vocabulary_.language(0), n);
  const float max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  language_p_.resize(n);
  for (size_t i = 0; i < n; ++i) sum += double(language_p_[i] = std::exp(logits[i] - max));
  for (float& p : language_p_) p = static_cast<float>(double(p) / sum);
  language_ = static_cast<uint32_t>(std::max_element(language_p_.begin(), language_p_.end()) - language_p_.begin());
  return start();
}

Result<void> Transcriber::start() {
  seek_ = seek_begin_ = options_.offset_ms / 10;
  seek_end_ =
      options_.duration_ms == 0 ? static_cast<int64_t>(mel_.n_sound_frames()) : seek_begin_ + options_.duration_ms / 10;
  if (seek_end_ < seek_begin_ + kShortest) {
    phase_ = Phase::kDone;
    return {};
  }
  if (!options_.keep_context) fixed_context_.clear(), context_.clear();
  const size_t max = model_.hparams().decoder.n_ctx / 2;
  if (const std::vector<int32_t> prompt = vocabulary_.tokenize(options_.prompt); !prompt.empty()) {
    if (!options_.carry_prompt) {
      context_.insert(context_.begin(), prompt.begin(), prompt.end());
    } else if (fixed_context_.empty()) {
      const size_t n = std::min(prompt.size(), std::max<size_t>(1, max - 1));
      fixed_context_.assign(prompt.end() - static_cast<std::ptrdiff_t>(n), prompt.end());
    }
  }
  // The first distilled models cannot predict timestamps.
  const bool first_kind = vocabulary_.n_vocab() == 51864 || vocabulary_.n_vocab() == 51865;
  if (model_.hparams().decoder.n_layer == 2 && first_kind) options_.timestamps = false;
  task_ = {vocabulary_.sot()};
  if (vocabulary_.multilingual()) {
    task_.push_back(vocabulary_.language(language_));
    task_.push_back(options_.translate ? vocabulary_.translate() : vocabulary_.transcribe());
  }
  if (!options_.timestamps) task_.push_back(vocabulary_.no_timestamps());
  phase_ = Phase::kWindow;
  return {};
}

void Transcriber::push_segment(const DecodedSequence& best, int64_t t0, int64_t t1, std::string text, size_t first,
                               size_t end) {
  TranscriptSegment segment;
  segment.t0 = t0;
  segment.t1 = t1;
  segment.text = std::move(text);
  segment.no_speech_p = no_speech_p_;
  segment.mean_log_p = static_cast<float>(best.mean_log_p);
  segment.temperature = temperatures_[temperature_];
  segment.seek = seek_;
  segment.tokens.assign(best.tokens.begin() + static_cast<std::ptrdiff_t>(first),
                        best.tokens.begin() + static_cast<std::ptrdiff_t>(end));
  segments_.push_back(std::move(segment));
  if (!options_.token_times) return;
  find_token_times(vocabulary_, {loudness_.as<float>(), n_loud_}, clock_, segments_.back());
  // The silence before a segment belongs to none of its words.
  std::vector<TokenData>& said = segments_.back().tokens;
  const auto word = std::ranges::find_if(said, [](const TokenData& token) { return token.aligned_t0 >= 0; });
  if (word != said.end()) word->aligned_t0 = std::max(word->aligned_t0, std::min(t0, word->aligned_t1));
  if (options_.max_length > 0) wrap_segment(vocabulary_, options_.max_length, options_.split_on_word, segments_);
}

void Transcriber::add_segments(const DecodedSequence& best) {
  const std::vector<TokenData>& tokens = best.tokens;
  const int32_t zero = vocabulary_.first_timestamp();
  // Without timestamps, only the window's begin is known.
  const auto time = [&](const TokenData& token) {
    return token.timestamp == 0 ? seek_ : seek_ + 2 * (token.timestamp - zero);
  };
  int64_t t0 = time(tokens.front());
  size_t first = 0;
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].id < vocabulary_.eot()) text += vocabulary_.text(tokens[i].id);
    if (tokens[i].id <= zero || options_.single_segment) continue;
    const int64_t t1 = time(tokens[i]);
    if (!text.empty()) push_segment(best, t0, t1, std::move(text), first, i + 1);
    text.clear();
    t0 = t1;
    while (i + 1 < tokens.size() && tokens[i + 1].id > zero) t0 = time(tokens[++i]);
    first = i + 1;
  }
  if (!text.empty()) push_segment(best, t0, seek_ + best.seek_delta, std::move(text), first, tokens.size());
}

Result<void> Transcriber::finish_window() {
  const DecodedSequence& best = sequences_[best_];
  const std::vector<TokenData>& tokens = best.tokens;
  const bool silent =
      no_speech_p_ > options_.no_speech_threshold && best.mean_log_p < double(options_.log_probability_threshold);
  std::vector<int32_t> before;
  if (!options_.carry_prompt && prompt_.front() == vocabulary_.previous())
    before.assign(prompt_.begin() + 1, prompt_.end() - static_cast<std::ptrdiff_t>(task_.size()));
  context_ = std::move(before);
  if (!silent)
    for (int i = 0; i < best.n_result && static_cast<size_t>(i) < tokens.size(); ++i)
      context_.push_back(tokens[static_cast<size_t>(i)].id);
  if (!options_.condition_on_text) context_.clear();
  says_ = !tokens.empty() && !silent;
  if (says_ && options_.token_times) {
    const Result<bool> asked = ask_alignment();
    if (!asked) return std::unexpected(asked.error());
    if (*asked) {
      phase_ = Phase::kAligned;
      return {};
    }
  }
  end_window();
  return {};
}

void Transcriber::end_window() {
  const DecodedSequence& best = sequences_[best_];
  const std::vector<TokenData>& tokens = best.tokens;
  if (says_) add_segments(best);
  int64_t delta = best.seek_delta;
  const size_t n = tokens.size();
  const bool cut = options_.max_tokens > 0 && !options_.single_segment && n > options_.max_tokens;
  // A single timestamp at the end means that no speech follows in this window.
  if (n > 1 && !cut && tokens[n - 2].id < vocabulary_.first_timestamp() &&
      tokens[n - 1].id > vocabulary_.first_timestamp())
    delta = std::min<int64_t>(seek_end_ - seek_, window_ticks());
  // The window always moves on, or it would be decoded for ever.
  seek_ += std::max<int64_t>(delta, 1);
  phase_ = Phase::kWindow;
}

}  // namespace ggufscope
