// The JavaScript interface of Whisper: loading as in bindings_engine.cpp, then one audio at a time, in steps.
#include <emscripten/bind.h>

#include <cmath>
#include <memory>

#include "audio/transcribe.hpp"
#include "engine/whisper_device.hpp"
#include "engine_values.hpp"
#include "gguf/parse.hpp"
#include "media/resample.hpp"
#include "nn/gemm/format.hpp"
#include "nn/take_profile.hpp"
#include "plan_tables.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

struct SpeechSegment {
  double begin, end, seek;  ///< in 10 ms
  float no_speech, mean_log_p, temperature;
};

struct SpeechFacts {
  uint32_t mels, audio_context, audio_length, text_context, end_of_text;
  bool multilingual;
};

class Speech {
 public:
  uintptr_t reserve(uint32_t n) { return ggufscope::reserve(input_, n); }
  [[nodiscard]] Failure failure() const { return failure_of(error_); }
  /// Opens the header: n bytes in the reserved buffer. legacy: the file is a container from before GGUF, and tensor
  /// offsets are relative to its begin.
  bool open_header(uint32_t n, double file_size, bool legacy, uint32_t n_threads) {
    std::optional<uint64_t> size;
    if (file_size >= 0) size = static_cast<uint64_t>(file_size);
    const std::vector<uint8_t> bytes(input_.data(), input_.data() + n);
    ParseState parsed;
    const Result<ParseProgress> progress = parse_header(bytes, legacy ? std::nullopt : size, parsed);
    if (!progress) return refuse(progress.error());
    if (!progress->complete) return refuse(Error{ErrorCode::kTruncated, n, "the header is not whole"});
    if (legacy)
      for (TensorInfo& info : parsed.header.tensors) info.offset -= parsed.header.data_offset;
    Result<std::unique_ptr<WhisperModel>> model = WhisperModel::open({parsed.header, bytes}, size);
    if (!model) return refuse(model.error());
    Result<std::unique_ptr<Pool>> pool = Pool::create(n_threads);
    if (!pool) return refuse(pool.error());
    model_ = std::move(*model);
    pool_ = std::move(*pool);
    return true;
  }
  [[nodiscard]] uintptr_t worker(uint32_t thread) { return reinterpret_cast<uintptr_t>(pool_->worker(thread)); }
  [[nodiscard]] Facts facts() const {
    const WhisperHparams& h = model_->hparams();
    return {.vocabulary_size = h.n_vocab,
            .embedding_length = h.decoder.n_embd,
            .layers = h.encoder.n_layer + h.decoder.n_layer,
            .trained_context_length = h.decoder.n_ctx,
            .threads = static_cast<uint32_t>(pool_->n_threads()),
            .output_length = h.n_vocab,
            .pooling = "none",
            .pooled_length = 0,
            .decision_head = "",
            .speech = "",
            .encoder = false,
            .recurrent = false,
            .generation_refusal = "",
            .row_group = kGroupRows};
  }
  [[nodiscard]] SpeechFacts speech_facts() const {
    const WhisperHparams& h = model_->hparams();
    const WhisperVocabulary& v = model_->vocabulary();
    return {h.n_mel,         h.encoder.n_ctx, h.encoder.n_embd, h.decoder.n_ctx, static_cast<uint32_t>(v.eot()),
            v.multilingual()};
  }
  [[nodiscard]] uint32_t n_planned() const { return static_cast<uint32_t>(model_->plan().size()); }
  [[nodiscard]] PlannedTensor planned(uint32_t i) const {
    const TensorRequest& r = model_->plan()[i];
    return {
        .file = 0, .offset = double(r.entry.offset), .rows = double(r.n_rows_kept), .row_bytes = double(r.row_bytes)};
  }
  bool estimate_memory(const Sizes& sizes) {
    const Result<Precision> precision = named<Precision>(kPrecisionNames, sizes.precision, "precision");
    if (!precision) return refuse(precision.error());
    const Result<CacheType> cache = cache_type_of(sizes);
    if (!cache) return refuse(cache.error());
    const Result<uint64_t> weights = model_->weight_bytes(*precision);
    if (!weights) return refuse(weights.error());
    const Result<WhisperState::Sizes> state = WhisperState::sizes(*model_, *cache, pool_->n_threads());
    if (!state) return refuse(state.error());
    memory_ = {double(*weights), double(state->cache), 0, double(state->scratch)};
    return true;
  }
  [[nodiscard]] MemoryBytes memory_bytes() const { return memory_; }
  bool allocate_weights(const Sizes& sizes) {
    const Result<Precision> precision = named<Precision>(kPrecisionNames, sizes.precision, "precision");
    if (!precision) return refuse(precision.error());
    model_->begin_load(*precision);
    return true;
  }
  bool set_rows(const ArrivedRows& rows) {
    if (rows.at > input_.size() || rows.bytes > input_.size() - rows.at)
      return refuse(Error{ErrorCode::kInvalidArgument, 0, "rows beyond the reserved room"});
    return done(model_->set_rows(*pool_, rows.tensor, static_cast<uint64_t>(rows.first_row),
                                 {input_.data() + rows.at, rows.bytes}));
  }
  bool start_session(const Sizes& sizes) {
    const Result<CacheType> cache = cache_type_of(sizes);
    if (!cache) return refuse(cache.error());
    if (!done(model_->finish_load())) return false;
    Result<std::unique_ptr<WhisperState>> state = WhisperState::create(*model_, *pool_, *cache, device_ != nullptr);
    if (!state) return refuse(state.error());
    state_ = std::move(*state);
    transcriber_ = std::make_unique<Transcriber>(*model_, *state_, *pool_);
    return true;
  }
  void use_threads(uint32_t n) { pool_->use_threads(n); }

  /// Starts with audio of that many samples.
  bool begin_audio(const TranscribeOptions& options, double n_samples) {
    return done(transcriber_->start(options, static_cast<uint64_t>(n_samples)));
  }
  static TranscribeOptions default_options() { return {}; }
  /// Adds the next n samples from the reserved buffer.
  bool add_samples(uint32_t n) { return done(transcriber_->add({input_.as<float>(), n})); }
  /// Resamples n samples in the reserved buffer from `rate` to 16 kHz; floats() returns the result.
  bool resample_to(uint32_t n, uint32_t rate) {
    Result<std::vector<float>> out = resample({input_.as<float>(), n}, rate, kMelSampleRate);
    if (!out) return refuse(out.error());
    floats_ = std::move(*out);
    return true;
  }
  /// Runs the next step. Returns 1 if there is more to do, 0 if all is done, -1 on an error.
  int step() {
    const Result<bool> more = transcriber_->step();
    if (!more) return refuse(more.error()), -1;
    return *more ? 1 : 0;
  }
  [[nodiscard]] double progress() const { return transcriber_->progress(); }
  [[nodiscard]] std::string language() const { return std::string(whisper_languages()[transcriber_->language()].code); }
  [[nodiscard]] std::string language_name() const {
    return std::string(whisper_languages()[transcriber_->language()].name);
  }
  [[nodiscard]] Span language_probabilities() const { return span_of(transcriber_->language_probabilities()); }
  static std::string language_codes() {
    std::string out;
    for (const Language& language : whisper_languages()) out += (out.empty() ? "" : " ") + std::string(language.code);
    return out;
  }
  [[nodiscard]] uint32_t n_segments() const { return static_cast<uint32_t>(transcriber_->segments().size()); }
  [[nodiscard]] SpeechSegment segment(uint32_t i) const {
    const TranscriptSegment& s = transcriber_->segments()[i];
    return {double(s.t0), double(s.t1), double(s.seek), s.no_speech_p, s.mean_log_p, s.temperature};
  }
  /// The text as bytes.
  [[nodiscard]] Span segment_text(uint32_t i) const {
    const std::string& text = transcriber_->segments()[i].text;
    return {reinterpret_cast<uintptr_t>(text.data()), static_cast<uint32_t>(text.size())};
  }
  /// Five numbers for each token: id, probability, log probability, begin and end in 10 ms (-1: not requested).
  Span segment_tokens(uint32_t i) {
    doubles_.clear();
    for (const TokenData& t : transcriber_->segments()[i].tokens) {
      const bool aligned = t.aligned_t0 >= 0;
      doubles_.insert(doubles_.end(), {double(t.id), double(t.p), double(t.log_p),
                                       double(aligned ? t.aligned_t0 : t.t0), double(aligned ? t.aligned_t1 : t.t1)});
    }
    return span_of(doubles_);
  }
  Span token_text(int32_t id) {
    text_ = model_->vocabulary().text(id);
    return {reinterpret_cast<uintptr_t>(text_.data()), static_cast<uint32_t>(text_.size())};
  }
  /// Tokenizes n bytes in the reserved buffer; ids() returns the result.
  Span tokenize(uint32_t n) {
    ids_ = model_->vocabulary().tokenize({reinterpret_cast<const char*>(input_.data()), n});
    return span_of(ids_);
  }

  /// Where the next window begins, in 10 ms; context() returns the ids before it.
  [[nodiscard]] double seek() const { return double(transcriber_->seek()); }
  [[nodiscard]] Span context() const { return span_of(transcriber_->context()); }
  /// Goes on at such a window, with n ids before it in the reserved buffer, after all samples were added.
  bool resume_audio(double seek, uint32_t n) {
    return done(transcriber_->resume(static_cast<int64_t>(seek), {input_.as<int32_t>(), n}));
  }

  /// Begins to encode the audio that was added, which step() then does; encoded() returns [frames, length].
  bool begin_encode(uint32_t n_ctx) {
    return done(transcriber_->begin_encode(n_ctx == 0 ? model_->hparams().encoder.n_ctx : n_ctx));
  }
  [[nodiscard]] Span encoded() const {
    const std::span<const float> e = state_->encoded();
    return {reinterpret_cast<uintptr_t>(e.data()), static_cast<uint32_t>(e.size())};
  }
  /// Begins to evaluate n ids in the reserved buffer, which step() then does; logits() returns [n, vocabulary].
  bool begin_evaluate(uint32_t n) { return done(transcriber_->begin_evaluate({input_.as<int32_t>(), n})); }
  [[nodiscard]] Span logits() const { return span_of(transcriber_->request().logits); }
  /// The spectrogram of the audio passed to begin and add: floats() returns [mels, frames] of the first n frames, or of
  /// all.
  bool spectrogram(uint32_t n) {
    transcriber_->end_audio();
    const LogMel& mel = transcriber_->mel();
    const size_t n_frames = n == 0 ? mel.n_frames() : n;
    floats_.assign(n_frames * mel.n_mel(), mel.padding());
    for (size_t t = 0; t < std::min(n_frames, mel.n_stored()); ++t)
      for (size_t m = 0; m < mel.n_mel(); ++m) floats_[m * n_frames + t] = mel.values()[t * mel.n_mel() + m];
    return true;
  }
  [[nodiscard]] Span floats() const { return span_of(floats_); }
  void free_floats() { floats_ = {}; }
  /// Takes the profile since the last call and returns its number of rows, which profile_row() returns.
  uint32_t take_profile() {
    profile_ = ggufscope::take_profile(*pool_);
    return static_cast<uint32_t>(profile_.size());
  }
  [[nodiscard]] ProfileRow profile_row(uint32_t i) const { return row_of(profile_[i]); }
  /// For SpeechDevice.
  uintptr_t session() { return reinterpret_cast<uintptr_t>(this); }

 private:
  friend class SpeechDevice;
  static Result<CacheType> cache_type_of(const Sizes& sizes) {
    if (sizes.cache_keys != sizes.cache_values)
      return fail(ErrorCode::kUnsupported, "a speech model caches keys and values in one type");
    return named<CacheType>(kCacheTypeNames, sizes.cache_keys, "cache type");
  }
  bool refuse(const Error& error) {
    error_ = error;
    return false;
  }
  bool done(const Result<void>& result) { return result ? true : refuse(result.error()); }

  std::unique_ptr<Pool> pool_;
  std::unique_ptr<WhisperModel> model_;
  std::unique_ptr<WhisperDevice> device_;
  std::unique_ptr<WhisperState> state_;
  std::unique_ptr<Transcriber> transcriber_;
  MemoryBytes memory_{};
  Error error_{};
  Buffer input_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
  std::vector<int32_t> ids_;
  std::vector<Profile::Row> profile_;
  std::string text_;
};

// A model that runs on a GPU, as Device of bindings_gpu.cpp.
class SpeechDevice {
 public:
  /// speech: what Speech::session returns, which must outlive this object.
  explicit SpeechDevice(uintptr_t speech) : speech_(*reinterpret_cast<Speech*>(speech)) {}

  [[nodiscard]] Failure failure() const { return failure_of(error_); }
  uintptr_t reserve(uint32_t n) { return ggufscope::reserve(input_, n); }
  /// Lowers the model, before its weights are loaded. Its session then computes neither encoder nor decoder.
  bool plan(const Sizes& sizes, const DeviceBytes& limits) {
    const Result<CacheType> cache = Speech::cache_type_of(sizes);
    if (!cache) return refuse(cache.error());
    Result<std::unique_ptr<WhisperDevice>> device = WhisperDevice::create(
        *speech_.model_, *cache,
        {.max_buffer_bytes = uint64_t(limits.buffer), .max_binding_bytes = uint64_t(limits.binding)});
    if (!device) return refuse(device.error());
    speech_.device_ = std::move(*device);
    return true;
  }
  [[nodiscard]] PlanFacts facts() const {
    const WhisperHparams& h = speech_.model_->hparams();
    PlanFacts facts = facts_of(speech_.device_->plan(), h.n_vocab, h.encoder.n_embd);
    facts.host_weights = double(speech_.device_->host_bytes().value_or(0));
    const auto host = WhisperState::sizes(*speech_.model_, CacheType::kF32, speech_.pool_->n_threads(), true);
    facts.host_scratch = host ? double(host->scratch) : 0;
    return facts;
  }
  /// The rows of a table of the plan, one after the other; empty for an unknown name.
  Span table(const std::string& name) {
    table_of(speech_.device_->plan(), name, numbers_);
    return span_of(numbers_);
  }
  [[nodiscard]] Span parameters() const { return span_of(speech_.device_->plan().parameters); }
  [[nodiscard]] Span constant(uint32_t i) const { return span_of(speech_.device_->plan().constants[i].values); }
  /// Repacks rows, whose bytes are in the reserved buffer. write(0) .. write(n_writes() - 1) are the results.
  bool repack(const ArrivedRows& rows) {
    writes_.clear();
    if (rows.at > input_.size() || rows.bytes > input_.size() - rows.at)
      return refuse(Error{ErrorCode::kInvalidArgument, 0, "rows beyond the reserved room"});
    auto writes = speech_.device_->repack_rows(*speech_.pool_, rows.tensor, static_cast<uint64_t>(rows.first_row),
                                               {input_.data() + rows.at, rows.bytes});
    if (!writes) return refuse(writes.error());
    writes_ = std::move(*writes);
    return true;
  }
  [[nodiscard]] uint32_t n_writes() const { return static_cast<uint32_t>(writes_.size()); }
  [[nodiscard]] DeviceWrite write(uint32_t i) const {
    const gpu::BufferWrite& w = writes_[i];
    return {w.buffer, kNoEncoder, double(w.offset), reinterpret_cast<uintptr_t>(w.bytes.data()),
            static_cast<uint32_t>(w.bytes.size())};
  }
  /// Frees what loading needed.
  void end_load() {
    writes_ = std::vector<gpu::BufferWrite>();
    input_ = Buffer();
  }

  /// Places the encoder's layers, if they are next; record() and rows() describe the pass.
  LayerFacts prepare_layers() {
    EncoderPass pass = speech_.device_->prepare_layers(*speech_.transcriber_);
    pass_ = {};
    pass_.record = std::move(pass.record);
    rows_ = pass.rows;
    return {pass.encoder, pass.first, pass.end, false};
  }
  /// The rows that they leave: n floats in the reserved buffer.
  bool accept_layers(uint32_t n) {
    return done(speech_.device_->accept_layers(*speech_.transcriber_, {input_.as<float>(), n}));
  }
  /// Places the tokens that are decoded next; pass() has none if there are none.
  bool prepare() {
    Result<DevicePass> pass = speech_.device_->prepare(*speech_.transcriber_);
    if (!pass) return refuse(pass.error());
    pass_ = std::move(*pass);
    return true;
  }
  [[nodiscard]] PassFacts pass() const { return {pass_.n_tokens, pass_.n_outputs, pass_.decode, false}; }
  /// The pass returns the whole buffer `weights` instead of logits.
  [[nodiscard]] bool weighs() const { return speech_.device_->weighs(); }
  [[nodiscard]] Span record() const { return span_of(pass_.record); }
  [[nodiscard]] Span rows() const { return span_of(rows_); }
  /// What the pass returned: n floats in the reserved buffer.
  bool accept(uint32_t n) { return done(speech_.device_->accept(*speech_.transcriber_, {input_.as<float>(), n})); }

 private:
  bool refuse(const Error& error) {
    error_ = error;
    return false;
  }
  bool done(const Result<void>& result) { return result ? true : refuse(result.error()); }

  Speech& speech_;
  Error error_{};
  Buffer input_;
  std::vector<double> numbers_;
  std::vector<gpu::BufferWrite> writes_;
  DevicePass pass_;
  std::span<const float> rows_;
};

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
EMSCRIPTEN_BINDINGS(speech) {
  value_object<TranscribeOptions>("SpeechOptions")
      .field("language", &TranscribeOptions::language)
      .field("prompt", &TranscribeOptions::prompt)
      .field("translate", &TranscribeOptions::translate)
      .field("timestamps", &TranscribeOptions::timestamps)
      .field("singleSegment", &TranscribeOptions::single_segment)
      .field("keepContext", &TranscribeOptions::keep_context)
      .field("conditionOnText", &TranscribeOptions::condition_on_text)
      .field("suppressBlank", &TranscribeOptions::suppress_blank)
      .field("suppressNonSpeech", &TranscribeOptions::suppress_non_speech)
      .field("tokenTimes", &TranscribeOptions::token_times)
      .field("splitOnWord", &TranscribeOptions::split_on_word)
      .field("carryPrompt", &TranscribeOptions::carry_prompt)
      .field("maxTokens", &TranscribeOptions::max_tokens)
      .field("maxLength", &TranscribeOptions::max_length)
      .field("audioContext", &TranscribeOptions::audio_context)
      .field("offsetMs", &TranscribeOptions::offset_ms)
      .field("durationMs", &TranscribeOptions::duration_ms)
      .field("bestOf", &TranscribeOptions::best_of)
      .field("beamSize", &TranscribeOptions::beam_size)
      .field("temperature", &TranscribeOptions::temperature)
      .field("temperatureStep", &TranscribeOptions::temperature_step)
      .field("entropyThreshold", &TranscribeOptions::entropy_threshold)
      .field("logprobThreshold", &TranscribeOptions::log_probability_threshold)
      .field("noSpeechThreshold", &TranscribeOptions::no_speech_threshold)
      .field("silenceThreshold", &TranscribeOptions::silence_threshold)
      .field("maxInitialTimestamp", &TranscribeOptions::max_initial_timestamp)
      .field("lengthPenalty", &TranscribeOptions::length_penalty);
  value_object<SpeechSegment>("SpeechSegment")
      .field("begin", &SpeechSegment::begin)
      .field("end", &SpeechSegment::end)
      .field("seek", &SpeechSegment::seek)
      .field("noSpeech", &SpeechSegment::no_speech)
      .field("meanLogProbability", &SpeechSegment::mean_log_p)
      .field("temperature", &SpeechSegment::temperature);
  value_object<SpeechFacts>("SpeechFacts")
      .field("mels", &SpeechFacts::mels)
      .field("audioContext", &SpeechFacts::audio_context)
      .field("audioLength", &SpeechFacts::audio_length)
      .field("textContext", &SpeechFacts::text_context)
      .field("endOfText", &SpeechFacts::end_of_text)
      .field("multilingual", &SpeechFacts::multilingual);
  class_<Speech>("Speech")
      .constructor<>()
      .function("reserve", &Speech::reserve)
      .function("failure", &Speech::failure)
      .function("openHeader", &Speech::open_header)
      .function("worker", &Speech::worker)
      .function("facts", &Speech::facts)
      .function("speechFacts", &Speech::speech_facts)
      .function("plannedCount", &Speech::n_planned)
      .function("planned", &Speech::planned)
      .function("estimateMemory", &Speech::estimate_memory)
      .function("memoryBytes", &Speech::memory_bytes)
      .function("allocateWeights", &Speech::allocate_weights)
      .function("setRows", &Speech::set_rows)
      .function("startSession", &Speech::start_session)
      .function("useThreads", &Speech::use_threads)
      .function("beginAudio", &Speech::begin_audio)
      .function("addSamples", &Speech::add_samples)
      .function("resample", &Speech::resample_to)
      .function("step", &Speech::step)
      .function("progress", &Speech::progress)
      .function("language", &Speech::language)
      .function("languageName", &Speech::language_name)
      .function("languageProbabilities", &Speech::language_probabilities)
      .class_function("defaultOptions", &Speech::default_options)
      .class_function("languageCodes", &Speech::language_codes)
      .function("segmentCount", &Speech::n_segments)
      .function("segment", &Speech::segment)
      .function("segmentText", &Speech::segment_text)
      .function("segmentTokens", &Speech::segment_tokens)
      .function("tokenText", &Speech::token_text)
      .function("tokenize", &Speech::tokenize)
      .function("seek", &Speech::seek)
      .function("context", &Speech::context)
      .function("resumeAudio", &Speech::resume_audio)
      .function("beginEncode", &Speech::begin_encode)
      .function("encoded", &Speech::encoded)
      .function("beginEvaluate", &Speech::begin_evaluate)
      .function("logits", &Speech::logits)
      .function("spectrogram", &Speech::spectrogram)
      .function("floats", &Speech::floats)
      .function("freeFloats", &Speech::free_floats)
      .function("takeProfile", &Speech::take_profile)
      .function("profileRow", &Speech::profile_row)
      .function("session", &Speech::session);
  class_<SpeechDevice>("SpeechDevice")
      .constructor<uintptr_t>()
      .function("failure", &SpeechDevice::failure)
      .function("reserve", &SpeechDevice::reserve)
      .function("plan", &SpeechDevice::plan)
      .function("facts", &SpeechDevice::facts)
      .function("table", &SpeechDevice::table)
      .function("parameters", &SpeechDevice::parameters)
      .function("constant", &SpeechDevice::constant)
      .function("repack", &SpeechDevice::repack)
      .function("writeCount", &SpeechDevice::n_writes)
      .function("write", &SpeechDevice::write)
      .function("endLoad", &SpeechDevice::end_load)
      .function("prepareLayers", &SpeechDevice::prepare_layers)
      .function("acceptLayers", &SpeechDevice::accept_layers)
      .function("prepare", &SpeechDevice::prepare)
      .function("pass", &SpeechDevice::pass)
      .function("weighs", &SpeechDevice::weighs)
      .function("record", &SpeechDevice::record)
      .function("rows", &SpeechDevice::rows)
      .function("accept", &SpeechDevice::accept);
}

}  // namespace ggufscope
