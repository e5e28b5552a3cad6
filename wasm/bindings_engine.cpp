// The JavaScript interface of the engine: one session. Bytes and ids are passed in through reserve(). Texts, logits and
// bytes are returned as spans of the heap that stay valid until the next call. Everything with named fields is a value
// object. If a call returns false, failure() describes the error. scripts/make-engine-classes.ts makes the types of
// TypeScript from the classes in wasm/bindings_*.cpp, with their comments.
#include <emscripten/bind.h>
#include <emscripten/em_macros.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "adapter_shelf.hpp"
#include "engine/session.hpp"
#include "engine_values.hpp"
#include "layer_parts.hpp"
#include "nn/gemm/dispatch.hpp"
#include "nn/gemm/int8_dot.hpp"
#include "span.hpp"
#include "types/types.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

constexpr std::string_view kDecisionHeads[] = {"", "typed", "endpoints", "joint"};     // in the order of DecisionHead
constexpr std::string_view kPoolingNames[] = {"none", "mean", "cls", "last", "rank"};  // in the order of Pooling
constexpr const char* kFinishNames[] = {"", "end", "stop", "context"};                 // in the order of Finish

class Engine {
 public:
  uintptr_t reserve(uint32_t n) { return ggufscope::reserve(input_, n); }
  [[nodiscard]] Failure failure() const { return failure_of(error_); }

  /// Adds the header of the model's next file: n bytes in the reserved buffer. file_size < 0: unknown.
  void add_header(uint32_t n, double file_size) {
    std::optional<uint64_t> size;
    if (file_size >= 0) size = static_cast<uint64_t>(file_size);
    headers_.emplace_back(std::exchange(input_, Buffer()), n, size);
  }
  /// The model will be the draft of another engine: of a file with MTP heads, open() opens only the first one.
  void will_draft() { as_draft_ = true; }
  /// Opens the model from the headers added so far, which are kept until the vocabulary is read. The last one may be a
  /// projector's.
  bool open(uint32_t n_threads, bool with_projector) {
    std::vector<HeaderBytes> headers;
    headers.reserve(headers_.size());
    for (const auto& [bytes, n, size] : headers_) headers.push_back({{bytes.data(), n}, size});
    const HeaderBytes projector = headers.back();
    if (with_projector) headers.pop_back();
    if (headers.empty()) {
      const Result<void> checked = Session::check_projector(projector);
      return checked ? true : refuse(checked.error());
    }
    Result<std::unique_ptr<Session>> session =
        Session::open(headers, n_threads, with_projector ? &projector : nullptr, as_draft_);
    if (!session) return refuse(session.error());
    session_ = std::move(*session);
    return true;
  }

  /// The argument for run_thread (bindings_threads.cpp) on threads 1 .. threads - 1.
  [[nodiscard]] uintptr_t worker(uint32_t thread) { return reinterpret_cast<uintptr_t>(session_->worker(thread)); }
  /// A stack for another thread; of length 0 if there is no memory. It is never freed, because threads still use their
  /// stacks while the pool ends.
  static Span stack() {
    constexpr uint32_t kBytes = 128 << 10;
    void* const made = std::aligned_alloc(64, kBytes);
    return {reinterpret_cast<uintptr_t>(made), made == nullptr ? 0 : kBytes};
  }

  void use_threads(uint32_t n) { session_->use_threads(n); }
  /// The argument of Device's constructor (bindings_gpu.cpp). It stays valid as long as this engine.
  [[nodiscard]] uintptr_t session() { return reinterpret_cast<uintptr_t>(session_.get()); }

  [[nodiscard]] std::string architecture() const { return session_->architecture(); }
  [[nodiscard]] Facts facts() const {
    const Model& model = session_->model();
    const Hparams& h = model.hparams();
    return {.vocabulary_size = h.n_vocab,
            .embedding_length = h.n_embd,
            .layers = h.n_layer,
            .trained_context_length = h.n_ctx_train,
            .threads = static_cast<uint32_t>(session_->n_threads()),
            .output_length = static_cast<uint32_t>(model.n_output()),
            .pooling = std::string(kPoolingNames[static_cast<size_t>(pooling_of(model))]),
            .pooled_length = static_cast<uint32_t>(pooled_floats(model, Pooling::kMean)),
            .decision_head = std::string(kDecisionHeads[static_cast<size_t>(h.part<DecisionSizes>().head)]),
            .speech = std::string(session_->speech() == nullptr ? "" : session_->speech()->pipeline().name),
            .encoder = model.is_encoder(),
            .recurrent = model.is_recurrent(),
            .generation_refusal = std::string(model.generation_refusal()),
            .row_group = kGroupRows};
  }
  /// The file's default sampling options.
  [[nodiscard]] SamplerOptions sampler_defaults() const { return session_->sampler_defaults(); }
  [[nodiscard]] uint32_t n_planned() const { return static_cast<uint32_t>(session_->n_planned()); }
  [[nodiscard]] PlannedTensor planned(uint32_t i) const {
    const TensorRequest& r = session_->planned(i);
    return {.file = static_cast<uint32_t>(r.entry.file),
            .offset = double(r.entry.offset),
            .rows = double(r.n_rows_kept),
            .row_bytes = double(r.row_bytes)};
  }
  void read_vocabulary() {
    session_->read_vocabulary();
    headers_.clear();
  }
  /// Estimates the memory for running with these sizes; memory_bytes() returns the result.
  bool estimate_memory(const Sizes& sizes) {
    const Result<StateOptions> state = state_options(sizes);
    if (!state) return refuse(state.error());
    const Result<Precision> precision = named<Precision>(kPrecisionNames, sizes.precision, "precision");
    if (!precision) return refuse(precision.error());
    const Result<MemoryEstimate> m = session_->memory(*state, *precision);
    if (!m) return refuse(m.error());
    memory_ = {double(m->weights), double(m->cache), double(m->recurrent), double(m->scratch)};
    return true;
  }
  [[nodiscard]] MemoryBytes memory_bytes() const { return memory_; }
  bool allocate_weights(const Sizes& sizes) {
    const Result<Precision> precision = named<Precision>(kPrecisionNames, sizes.precision, "precision");
    return precision ? done(session_->begin_load(*precision)) : refuse(precision.error());
  }
  bool set_rows(const ArrivedRows& rows) {
    if (rows.at > input_.size() || rows.bytes > input_.size() - rows.at)
      return refuse(Error{ErrorCode::kInvalidArgument, 0, "rows beyond the reserved room"});
    return done(
        session_->set_rows(rows.tensor, static_cast<uint64_t>(rows.first_row), {input_.data() + rows.at, rows.bytes}));
  }
  bool start_session(const Sizes& sizes) {
    input_ = Buffer();  // no more pieces of the weights come
    const Result<StateOptions> state = state_options(sizes);
    return state ? done(session_->start(*state)) : refuse(state.error());
  }
  /// Sets the draft model: another engine of the same module, whose weights are loaded and which is started after this
  /// one. It must outlive this engine.
  bool set_draft(Engine& draft) { return done(session_->set_draft(*draft.session_)); }
  bool select(uint32_t sequence) { return done(session_->select(sequence)); }
  bool fork(uint32_t from, uint32_t to) { return done(session_->fork(from, to)); }
  void drop() { session_->drop(); }

  /// Opens an adapter from n bytes in the reserved buffer, and frees the buffer. adapter_facts() describes the adapter.
  bool open_adapter(uint32_t n) {
    const Buffer file = std::exchange(input_, Buffer());
    return done(adapters_.open(*session_, {file.data(), n}));
  }
  [[nodiscard]] AdapterFacts adapter_facts() const { return adapters_.facts(); }
  void close_adapter(uint32_t id) { adapters_.close(id); }
  /// Call it for each adapter; then set_adapters() applies them to the selected sequence.
  void choose_adapter(const ChosenAdapter& chosen) { adapters_.choose(chosen); }
  bool set_adapters() { return done(adapters_.set(*session_)); }

  /// Sets the stop strings, each ended by a zero byte.
  void set_stops(const std::string& stops) {
    generate_.stop.clear();
    for (size_t at = 0, end; (end = stops.find('\0', at)) != std::string::npos; at = end + 1)
      generate_.stop.push_back(stops.substr(at, end - at));
  }
  /// Sets the GBNF grammar; empty: any text.
  void set_grammar(const std::string& gbnf) {
    generate_.grammar = gbnf;
    generate_.triggers.clear();
  }
  /// Adds a trigger that starts the grammar. Call it after set_grammar; without triggers, the grammar starts with the
  /// answer.
  void add_trigger(const GrammarTrigger& trigger) { generate_.triggers.push_back(trigger); }
  /// Sets the control tokens whose names are shown in the text: n ids in the reserved buffer.
  void set_shown(uint32_t n) {
    const std::span<const TokenId> shown = ids(n);
    generate_.shown.assign(shown.begin(), shown.end());
  }
  /// Sets the parts that the answer is computed without: n pairs of layer and head in the reserved buffer.
  void set_ablated(uint32_t n) { generate_.ablated = layer_parts(input_.as<int32_t>(), n); }
  /// Sets logit biases: pairs of id and bias in the reserved buffer.
  void set_bias(uint32_t n_pairs) {
    bias_.clear();
    const double* p = input_.as<double>();
    for (uint32_t i = 0; i < n_pairs; ++i)
      bias_.emplace_back(static_cast<int32_t>(p[2 * i]), static_cast<float>(p[2 * i + 1]));
  }
  /// Starts an answer after n ids in the reserved buffer.
  bool begin_answer(uint32_t n, const AnswerOptions& options) {
    generate_.sampler = options.sampler;
    generate_.sampler.seed = options.seed;
    generate_.sampler.logit_bias = bias_;
    generate_.n_probabilities = options.logprobs;
    generate_.ignore_end = options.ignore_end;
    generate_.shift = options.context_shift;
    generate_.n_lookup = options.lookup;
    generate_.n_draft = options.draft;
    generate_.n_keep = options.keep;
    return done(session_->begin_answer(ids(n), generate_));
  }
  /// n ids in the reserved buffer: what another engine has answered so far, after begin_answer() with the same call.
  bool resume_answer(uint32_t n) { return done(session_->resume_answer(ids(n))); }
  [[nodiscard]] uint32_t n_pending() const { return static_cast<uint32_t>(session_->n_waiting()); }
  [[nodiscard]] uint32_t n_reused() const { return static_cast<uint32_t>(session_->n_reused()); }
  [[nodiscard]] uint32_t n_accepted_drafts() const { return static_cast<uint32_t>(session_->n_accepted_drafts()); }
  bool advance(uint32_t n) { return done(session_->advance(n)); }
  bool next_token() {
    Result<Step> step = session_->next();
    if (!step) return refuse(step.error());
    step_ = std::move(*step);
    return true;
  }
  /// Ends the answer. token() is then kNoToken, and text() is the text that was held back.
  void end_answer() { step_ = session_->end_answer(); }
  [[nodiscard]] int32_t token() const { return step_.token; }
  /// Why the answer ended: end, stop or context. Empty: it has not ended.
  [[nodiscard]] std::string finish_reason() const { return kFinishNames[static_cast<size_t>(step_.finish)]; }
  /// The index of the stop string that ended the answer, among those that are not empty; -1: none.
  [[nodiscard]] int32_t stop_index() const { return session_->stop_index(); }
  [[nodiscard]] Span text() const {
    return {reinterpret_cast<uintptr_t>(step_.text.data()), static_cast<uint32_t>(step_.text.size())};
  }
  /// The token's log probability, then pairs of id and log probability.
  Span probabilities() {
    doubles_ = {double(step_.log_p)};
    for (const LogProbability& l : step_.best) doubles_.insert(doubles_.end(), {double(l.id), double(l.log_p)});
    return span_of(doubles_);
  }

  /// Starts to encode an image: width * height RGB pixels in the reserved buffer. number: images before it.
  bool begin_image(uint32_t width, uint32_t height, uint32_t number) {
    if (uint64_t{width} * height * 3 > input_.size())
      return refuse(Error{ErrorCode::kInvalidArgument, 0, "pixels beyond the reserved room"});
    more_media_ = true;
    return done(session_->begin_image({{width, height}, input_.data()}, number));
  }
  /// Starts to encode audio: n samples in the reserved buffer, at `rate` samples per second.
  bool begin_audio(uint32_t n, uint32_t rate) {
    more_media_ = true;
    return done(session_->begin_sound({input_.as<float>(), n}, rate));
  }
  [[nodiscard]] uint32_t n_media_steps() const { return static_cast<uint32_t>(session_->n_media_steps()); }
  bool step_media() {
    const Result<bool> more = session_->step_media();
    if (!more) return refuse(more.error());
    more_media_ = *more;
    return true;
  }
  [[nodiscard]] bool more_media() const { return more_media_; }
  Span media_tokens() {
    ids_ = session_->media_tokens();
    return span_of(ids_);
  }
  /// The encoded media of n ids in the reserved buffer; embedding() and positions() return them.
  bool read_encoded_media(uint32_t n) {
    Result<Session::EncodedMedia> out = session_->encoded_media(ids(n));
    if (!out) return refuse(out.error());
    floats_ = std::move(out->embeddings);
    ids_ = std::move(out->positions);
    return true;
  }
  [[nodiscard]] Span positions() const { return span_of(ids_); }
  /// Whether the media among n ids in the reserved buffer need not be encoded again.
  bool holds_media(uint32_t n) { return session_->holds_media(ids(n)); }

  bool evaluate(uint32_t n) {
    Result<Buffer> out = session_->evaluate(ids(n));
    if (!out) return refuse(out.error());
    output_ = std::move(*out);
    return true;
  }
  [[nodiscard]] Span evaluated() const {
    return {reinterpret_cast<uintptr_t>(output_.data()), static_cast<uint32_t>(output_.size() / sizeof(float))};
  }
  void free_output() { output_ = Buffer(); }
  /// pooling: a name, or empty for the file's default.
  bool embed(uint32_t n, const std::string& pooling) {
    const Result<Pooling> kind =
        pooling.empty() ? Pooling::kUnspecified : named<Pooling>(kPoolingNames, pooling, "pooling");
    if (!kind) return refuse(kind.error());
    Result<std::vector<float>> out = session_->embed(ids(n), *kind);
    if (!out) return refuse(out.error());
    floats_ = std::move(*out);
    return true;
  }
  [[nodiscard]] Span embedding() const { return span_of(floats_); }
  /// The logits of the last of n ids in the reserved buffer; evaluated() returns them.
  bool evaluate_last(uint32_t n) {
    Result<Buffer> out = session_->evaluate_last(ids(n));
    if (!out) return refuse(out.error());
    output_ = std::move(*out);
    return true;
  }
  /// n ids in the reserved buffer, then for each the part of the question that it belongs to: a number of DecisionPart.
  /// embedding() returns the scores of the options.
  bool decide(uint32_t n) {
    std::vector<DecisionPart> parts;
    for (const int32_t part : ids(2 * n).subspan(n)) parts.push_back(static_cast<DecisionPart>(part));
    Result<std::vector<float>> out = session_->decide(ids(n), parts);
    if (!out) return refuse(out.error());
    floats_ = std::move(*out);
    return true;
  }
  bool save_state() {
    Result<std::vector<uint8_t>> out = session_->save_state();
    if (!out) return refuse(out.error());
    if (out->size() > UINT32_MAX)  // Span's length
      return refuse(Error{ErrorCode::kOutOfMemory, 0, "A saved state can have 4 GiB, but this one needs more."});
    bytes_ = std::move(*out);
    return true;
  }
  [[nodiscard]] Span saved() const { return span_of(bytes_); }
  void free_saved_state() { bytes_ = {}; }
  /// All encoded media, as saved() returns them, for load_encoded of another engine with the same files.
  void save_encoded() { bytes_ = session_->save_encoded(); }
  bool load_encoded(uint32_t n) { return done(session_->load_encoded({input_.data(), n})); }
  bool load_state(uint32_t n) { return done(session_->load_state({input_.data(), n})); }
  /// Takes the profile since the last call and returns its number of rows, which profile_row() returns.
  uint32_t take_profile() {
    profile_ = session_->take_profile();
    return static_cast<uint32_t>(profile_.size());
  }
  [[nodiscard]] ProfileRow profile_row(uint32_t i) const { return row_of(profile_[i]); }
  /// Measures the machine's limits; peak_rates() returns them.
  bool measure_peaks() {
    const Result<Peaks> p = session_->measure_peaks();
    if (!p) return refuse(p.error());
    peaks_ = *p;
    return true;
  }
  [[nodiscard]] Peaks peak_rates() const { return peaks_; }

 private:
  [[nodiscard]] std::span<const TokenId> ids(uint32_t n) const { return {input_.as<TokenId>(), n}; }
  bool refuse(const Error& error) {
    error_ = error;
    return false;
  }
  bool done(const Result<void>& result) { return result ? true : refuse(result.error()); }

  std::vector<std::tuple<Buffer, uint32_t, std::optional<uint64_t>>> headers_;
  bool as_draft_ = false;
  std::unique_ptr<Session> session_;
  GenerateOptions generate_;
  std::vector<std::pair<int32_t, float>> bias_;
  Step step_;
  MemoryBytes memory_{};
  Peaks peaks_{};
  std::vector<Profile::Row> profile_;
  Error error_{};
  AdapterShelf adapters_;
  Buffer input_, output_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
  std::vector<int32_t> ids_;
  bool more_media_ = false;
  std::vector<uint8_t> bytes_;
};

std::string type_name(uint32_t id) {
  const TypeGeometry* type = find_type(id);
  return type == nullptr ? std::to_string(id) : std::string(type->name);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
EMSCRIPTEN_BINDINGS(engine) {
  function("selfTest", &int8_products_are_correct);
  function("useMemoryStreams", &use_memory_streams);
  function("useRuns", &use_runs);
  function("typeName", &type_name);
  class_<Engine>("Engine")
      .constructor<>()
      .function("reserve", &Engine::reserve)
      .function("failure", &Engine::failure)
      .function("addHeader", &Engine::add_header)
      .function("willDraft", &Engine::will_draft)
      .function("open", &Engine::open)
      .function("worker", &Engine::worker)
      .class_function("stack", &Engine::stack)
      .function("session", &Engine::session)
      .function("architecture", &Engine::architecture)
      .function("facts", &Engine::facts)
      .function("samplerDefaults", &Engine::sampler_defaults)
      .function("plannedCount", &Engine::n_planned)
      .function("planned", &Engine::planned)
      .function("readVocabulary", &Engine::read_vocabulary)
      .function("estimateMemory", &Engine::estimate_memory)
      .function("memoryBytes", &Engine::memory_bytes)
      .function("allocateWeights", &Engine::allocate_weights)
      .function("setRows", &Engine::set_rows)
      .function("startSession", &Engine::start_session)
      .function("setDraft", &Engine::set_draft)
      .function("select", &Engine::select)
      .function("fork", &Engine::fork)
      .function("drop", &Engine::drop)
      .function("openAdapter", &Engine::open_adapter)
      .function("adapterFacts", &Engine::adapter_facts)
      .function("closeAdapter", &Engine::close_adapter)
      .function("chooseAdapter", &Engine::choose_adapter)
      .function("setAdapters", &Engine::set_adapters)
      .function("setStops", &Engine::set_stops)
      .function("setGrammar", &Engine::set_grammar)
      .function("addTrigger", &Engine::add_trigger)
      .function("setShown", &Engine::set_shown)
      .function("setAblated", &Engine::set_ablated)
      .function("setBias", &Engine::set_bias)
      .function("beginAnswer", &Engine::begin_answer)
      .function("resumeAnswer", &Engine::resume_answer)
      .function("pendingTokens", &Engine::n_pending)
      .function("reusedTokens", &Engine::n_reused)
      .function("acceptedDraftTokens", &Engine::n_accepted_drafts)
      .function("advance", &Engine::advance)
      .function("nextToken", &Engine::next_token)
      .function("endAnswer", &Engine::end_answer)
      .function("token", &Engine::token)
      .function("finishReason", &Engine::finish_reason)
      .function("stopIndex", &Engine::stop_index)
      .function("text", &Engine::text)
      .function("probabilities", &Engine::probabilities)
      .function("beginImage", &Engine::begin_image)
      .function("beginAudio", &Engine::begin_audio)
      .function("mediaSteps", &Engine::n_media_steps)
      .function("stepMedia", &Engine::step_media)
      .function("moreMedia", &Engine::more_media)
      .function("mediaTokens", &Engine::media_tokens)
      .function("readEncodedMedia", &Engine::read_encoded_media)
      .function("holdsMedia", &Engine::holds_media)
      .function("positions", &Engine::positions)
      .function("evaluate", &Engine::evaluate)
      .function("evaluated", &Engine::evaluated)
      .function("freeOutput", &Engine::free_output)
      .function("embed", &Engine::embed)
      .function("embedding", &Engine::embedding)
      .function("evaluateLast", &Engine::evaluate_last)
      .function("decide", &Engine::decide)
      .function("saveState", &Engine::save_state)
      .function("saved", &Engine::saved)
      .function("freeSavedState", &Engine::free_saved_state)
      .function("loadState", &Engine::load_state)
      .function("saveEncoded", &Engine::save_encoded)
      .function("loadEncoded", &Engine::load_encoded)
      .function("takeProfile", &Engine::take_profile)
      .function("profileRow", &Engine::profile_row)
      .function("measurePeaks", &Engine::measure_peaks)
      .function("peakRates", &Engine::peak_rates)
      .function("useThreads", &Engine::use_threads);
}

}  // namespace ggufscope
