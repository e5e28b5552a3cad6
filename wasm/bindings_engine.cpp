// The engine as JavaScript sees it: one session. Bytes, ids and options go in through reserve(); what comes out lies in
// the heap until the next call. A call that returns false has failed: failure() says why.
#include <emscripten/bind.h>
#include <emscripten/em_macros.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/simd.hpp"
#include "engine/session.hpp"
#include "nn/packed.hpp"
#include "span.hpp"
#include "types/types.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

struct Failure {
  std::string code, message;
  double offset;
};

class Engine {
 public:
  /// nullptr (0) where the memory cannot be had.
  uintptr_t reserve(uint32_t n) {
    if (input_.size() < n) {
      input_ = Buffer();
      Result<Buffer> grown = Buffer::allocate(n);
      if (!grown) return 0;
      input_ = std::move(*grown);
    }
    return reinterpret_cast<uintptr_t>(input_.data());
  }

  [[nodiscard]] Failure failure() const {
    return {std::string(error_name(error_.code)), error_.message, static_cast<double>(error_.offset)};
  }

  /// The header of the model's next file: n bytes in the reserved room; file_size < 0: unknown.
  void add_header(uint32_t n, double file_size) {
    std::optional<uint64_t> size;
    if (file_size >= 0) size = static_cast<uint64_t>(file_size);
    headers_.emplace_back(std::vector<uint8_t>(input_.data(), input_.data() + n), size);
  }
  /// Of the headers so far, which are kept until the vocabulary is read.
  bool open(uint32_t n_threads) {
    std::vector<HeaderBytes> headers;
    for (const auto& [bytes, size] : headers_) headers.push_back({bytes, size});
    Result<std::unique_ptr<Session>> session = Session::open(headers, n_threads);
    if (!session) return refuse(session.error());
    session_ = std::move(*session);
    return true;
  }

#if defined(__EMSCRIPTEN_SHARED_MEMORY__)
  /// What run_thread takes in thread 1 .. threads - 1.
  [[nodiscard]] uintptr_t worker(uint32_t thread) { return reinterpret_cast<uintptr_t>(session_->worker(thread)); }
  /// A stack for another thread; of length 0 where there is no memory. Never freed: as the pool ends, threads are still
  /// on theirs.
  static Span stack() {
    constexpr uint32_t kBytes = 128 << 10;
    void* const made = std::aligned_alloc(64, kBytes);
    return {reinterpret_cast<uintptr_t>(made), made == nullptr ? 0 : kBytes};
  }
#endif

  void use_threads(uint32_t n) { session_->use_threads(n); }

  [[nodiscard]] std::string architecture() const { return session_->architecture(); }
  /// n_vocab, n_embd, n_layer, n_ctx_train, threads, encoder, recurrent, floats of an output row
  Span facts() {
    const Hparams& h = session_->model().hparams();
    doubles_ = {double(h.n_vocab),
                double(h.n_embd),
                double(h.n_layer),
                double(h.n_ctx_train),
                double(session_->n_threads()),
                session_->model().is_encoder() ? 1.0 : 0.0,
                session_->model().is_recurrent() ? 1.0 : 0.0,
                double(session_->model().n_output())};
    return span_of(doubles_);
  }
  /// The file's defaults, in the order of kOptions.
  Span sampler_defaults() {
    const SamplerOptions& o = session_->sampler_defaults();
    doubles_ = {o.temperature,
                double(o.top_k),
                o.top_p,
                o.min_p,
                o.typical_p,
                o.top_n_sigma,
                o.xtc_probability,
                o.xtc_threshold,
                double(o.penalty_last_n),
                o.repeat_penalty,
                o.frequency_penalty,
                o.presence_penalty,
                o.dry_multiplier,
                o.dry_base,
                double(o.dry_allowed_length),
                double(o.dry_last_n),
                double(o.mirostat),
                o.mirostat_tau,
                o.mirostat_eta};
    return span_of(doubles_);
  }
  /// file, offset, rows wanted, bytes of a row: of each tensor to be fetched, in the order of the files.
  Span plan() {
    doubles_.clear();
    for (const TensorRequest& r : session_->model().plan())
      doubles_.insert(doubles_.end(),
                      {double(r.entry.file), double(r.entry.offset), double(r.n_rows_kept), double(r.row_bytes)});
    return span_of(doubles_);
  }
  void read_vocabulary() {
    session_->read_vocabulary();
    headers_ = {};
  }
  /// precision: 0 exact, 1 fast, 2 compact
  bool memory(uint32_t n_ctx, uint32_t n_batch, uint32_t n_texts, bool f16_cache, uint32_t precision) {
    const Result<MemoryEstimate> m =
        session_->memory(options(n_ctx, n_batch, n_texts, f16_cache), to_precision(precision));
    if (!m) return refuse(m.error());
    doubles_ = {double(m->weights), double(m->cache), double(m->recurrent), double(m->scratch)};
    return true;
  }
  bool begin_load(uint32_t precision) { return done(session_->begin_load(to_precision(precision))); }
  /// n bytes from byte `at` of the reserved room.
  bool set_rows(uint32_t request, double first_row, uint32_t at, uint32_t n) {
    if (at > input_.size() || n > input_.size() - at)
      return refuse(Error{ErrorCode::kInvalidArgument, 0, "rows beyond the reserved room"});
    return done(session_->set_rows(request, static_cast<uint64_t>(first_row), {input_.data() + at, n}));
  }
  bool start(uint32_t n_ctx, uint32_t n_batch, uint32_t n_texts, bool f16_cache) {
    return done(session_->start(options(n_ctx, n_batch, n_texts, f16_cache)));
  }
  bool select(uint32_t text) { return done(session_->select(text)); }
  bool fork(uint32_t from, uint32_t to) { return done(session_->fork(from, to)); }
  void drop() { session_->drop(); }

  /// Stop strings, each ended by a zero byte.
  void set_stops(uint32_t n) {
    generate_.stop.clear();
    const char* at = input_.as<char>();
    for (const char* end = at + n; at < end; at += generate_.stop.back().size() + 1)
      generate_.stop.emplace_back(at, strnlen(at, static_cast<size_t>(end - at)));
  }
  /// n bytes of GBNF; none: any text.
  void set_grammar(uint32_t n) { generate_.grammar.assign(input_.as<char>(), n); }
  /// Pairs of id and bias.
  void set_bias(uint32_t n_pairs) {
    generate_.sampler.logit_bias.clear();
    const double* p = input_.as<double>();
    for (uint32_t i = 0; i < n_pairs; ++i)
      generate_.sampler.logit_bias.emplace_back(static_cast<int32_t>(p[2 * i]), static_cast<float>(p[2 * i + 1]));
  }
  /// Numbers in the order of kOptions, then seed, alternatives, ignore_end, shift, guesses.
  void set_options() {
    const double* p = input_.as<double>();
    SamplerOptions& o = generate_.sampler;
    float* const floats[] = {
        &o.temperature,     &o.top_p,         &o.min_p,          &o.typical_p,         &o.top_n_sigma,
        &o.xtc_probability, &o.xtc_threshold, &o.repeat_penalty, &o.frequency_penalty, &o.presence_penalty,
        &o.dry_multiplier,  &o.dry_base,      &o.mirostat_tau,   &o.mirostat_eta};
    constexpr int kFloats[] = {0, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 17, 18};
    for (size_t i = 0; i < 14; ++i) *floats[i] = static_cast<float>(p[kFloats[i]]);
    o.top_k = static_cast<int32_t>(p[1]);
    o.penalty_last_n = static_cast<int32_t>(p[8]);
    o.dry_allowed_length = static_cast<int32_t>(p[14]);
    o.dry_last_n = static_cast<int32_t>(p[15]);
    o.mirostat = static_cast<int32_t>(p[16]);
    o.seed = static_cast<uint32_t>(p[19]);
    generate_.n_probabilities = static_cast<uint32_t>(p[20]);
    generate_.ignore_end = p[21] != 0;
    generate_.shift = p[22] != 0;
    generate_.n_guesses = static_cast<uint32_t>(p[23]);
  }
  /// n ids in the reserved room; the options set before.
  bool begin(uint32_t n) { return done(session_->begin(ids(n), generate_)); }
  [[nodiscard]] uint32_t n_waiting() const { return static_cast<uint32_t>(session_->n_waiting()); }
  [[nodiscard]] uint32_t n_reused() const { return static_cast<uint32_t>(session_->n_reused()); }
  [[nodiscard]] uint32_t n_guessed() const { return static_cast<uint32_t>(session_->n_guessed()); }
  bool advance(uint32_t n) { return done(session_->advance(n)); }
  bool next() {
    Result<Step> step = session_->next();
    if (!step) return refuse(step.error());
    step_ = std::move(*step);
    return true;
  }
  [[nodiscard]] int32_t token() const { return step_.token; }
  [[nodiscard]] uint32_t finish() const { return static_cast<uint32_t>(step_.finish); }
  [[nodiscard]] Span text() const {
    return {reinterpret_cast<uintptr_t>(step_.text.data()), static_cast<uint32_t>(step_.text.size())};
  }
  /// log probability of the token, then pairs of id and log probability.
  Span probabilities() {
    doubles_ = {double(step_.log_p)};
    for (const LogProbability& l : step_.best) doubles_.insert(doubles_.end(), {double(l.id), double(l.log_p)});
    return span_of(doubles_);
  }

  bool evaluate(uint32_t n) {
    Result<Buffer> out = session_->evaluate(ids(n));
    if (!out) return refuse(out.error());
    output_ = std::move(*out);
    return true;
  }
  [[nodiscard]] Span evaluated() const {
    return {reinterpret_cast<uintptr_t>(output_.data()), static_cast<uint32_t>(output_.size() / sizeof(float))};
  }
  void forget_output() { output_ = Buffer(); }
  bool embed(uint32_t n) {
    Result<std::vector<float>> out = session_->embed(ids(n));
    if (!out) return refuse(out.error());
    floats_ = std::move(*out);
    return true;
  }
  [[nodiscard]] Span embedding() const { return span_of(floats_); }
  bool save_state() {
    Result<std::vector<uint8_t>> out = session_->save_state();
    if (!out) return refuse(out.error());
    bytes_ = std::move(*out);
    return true;
  }
  [[nodiscard]] Span saved() const { return span_of(bytes_); }
  void forget_saved() { bytes_ = {}; }
  bool load_state(uint32_t n) { return done(session_->load_state({input_.data(), n})); }
  /// operation, one token, three types (-1: none), columns, rows, calls, ms, bytes, products: of each row.
  Span profile() {
    doubles_.clear();
    for (const Profile::Row& r : session_->take_profile()) {
      doubles_.insert(doubles_.end(), {double(r.key.operation), double(r.key.one_token)});
      for (const uint32_t type : r.key.types) doubles_.push_back(type == Profile::kNone ? -1 : double(type));
      doubles_.insert(doubles_.end(),
                      {double(r.key.n_in), double(r.key.n_out), double(r.calls), r.ms, r.bytes, r.products});
    }
    return span_of(doubles_);
  }
  /// bytes, words, floats, near, far: to doubles().
  bool peaks() {
    const Result<Peaks> p = session_->measure_peaks();
    if (!p) return refuse(p.error());
    doubles_ = {p->bytes, p->words, p->floats, p->near, p->far};
    return true;
  }
  [[nodiscard]] Span doubles() const { return span_of(doubles_); }

 private:
  static StateOptions options(uint32_t n_ctx, uint32_t n_batch, uint32_t n_texts, bool f16_cache) {
    StateOptions o;
    o.n_ctx = n_ctx;
    o.n_batch = n_batch;
    o.n_sequences = n_texts;
    o.cache_type = f16_cache ? CacheType::kF16 : CacheType::kF32;
    return o;
  }
  static Precision to_precision(uint32_t index) { return static_cast<Precision>(std::min(index, 2u)); }
  [[nodiscard]] std::span<const TokenId> ids(uint32_t n) const { return {input_.as<TokenId>(), n}; }
  bool refuse(const Error& error) {
    error_ = error;
    return false;
  }
  bool done(const Result<void>& result) { return result ? true : refuse(result.error()); }

  std::vector<std::pair<std::vector<uint8_t>, std::optional<uint64_t>>> headers_;
  std::unique_ptr<Session> session_;
  GenerateOptions generate_;
  Step step_;
  Error error_{};
  Buffer input_, output_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
  std::vector<uint8_t> bytes_;
};

/// Whether this machine's products of bytes are right: Node 20's baseline compiler computes one of them wrongly.
/// seed: any number; that it is not known before keeps wasm-opt from computing the products itself, which it cannot.
bool self_test(int seed) {
  int8_t a[16], b[16];
  for (int i = 0; i < 16; ++i) {
    a[i] = static_cast<int8_t>(i * 37 * seed - 128);
    b[i] = static_cast<int8_t>((i * 29 * seed) & 127);
  }
  const v128_t va = wasm_v128_load(a), vb = wasm_v128_load(b);
  for (int round = 0; round < 1000; ++round) {  // both of the engine's compilers may come to see it
    int32_t four[4];
    int16_t two[8];
    wasm_v128_store(four, relaxed_dot_i32(va, vb, wasm_i32x4_splat(round)));
    wasm_v128_store(two, relaxed_dot_i16(va, vb));
    for (int lane = 0; lane < 4; ++lane) {
      const int low = a[4 * lane] * b[4 * lane] + a[4 * lane + 1] * b[4 * lane + 1];
      const int high = a[4 * lane + 2] * b[4 * lane + 2] + a[4 * lane + 3] * b[4 * lane + 3];
      if (two[2 * lane] != low || two[2 * lane + 1] != high || four[lane] != round + low + high) return false;
    }
  }
  return true;
}

std::string type_name(uint32_t id) {
  const TypeGeometry* type = find_type(id);
  return type == nullptr ? std::to_string(id) : std::string(type->name);
}

}  // namespace

#if defined(__EMSCRIPTEN_SHARED_MEMORY__)
/// What another thread calls in an instance of its own over the same memory. Nothing of JavaScript is called there.
extern "C" EMSCRIPTEN_KEEPALIVE void run_thread(void* worker) { Pool::work(worker); }
extern "C" EMSCRIPTEN_KEEPALIVE void fail_thread(void* worker) { Pool::fail_worker(worker); }
#endif

EMSCRIPTEN_BINDINGS(engine) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<Failure>("Failure")
      .field("code", &Failure::code)
      .field("message", &Failure::message)
      .field("offset", &Failure::offset);
  function("selfTest", &self_test);
  function("useReaders", &use_readers);
  function("useRuns", &use_runs);
  function("typeName", &type_name);
  class_<Engine>("Engine")
      .constructor<>()
      .function("reserve", &Engine::reserve)
      .function("failure", &Engine::failure)
      .function("addHeader", &Engine::add_header)
      .function("open", &Engine::open)
#if defined(__EMSCRIPTEN_SHARED_MEMORY__)
      .function("worker", &Engine::worker)
      .class_function("stack", &Engine::stack)
#endif
      .function("architecture", &Engine::architecture)
      .function("facts", &Engine::facts)
      .function("samplerDefaults", &Engine::sampler_defaults)
      .function("plan", &Engine::plan)
      .function("readVocabulary", &Engine::read_vocabulary)
      .function("memory", &Engine::memory)
      .function("beginLoad", &Engine::begin_load)
      .function("setRows", &Engine::set_rows)
      .function("start", &Engine::start)
      .function("select", &Engine::select)
      .function("fork", &Engine::fork)
      .function("drop", &Engine::drop)
      .function("setStops", &Engine::set_stops)
      .function("setGrammar", &Engine::set_grammar)
      .function("setBias", &Engine::set_bias)
      .function("setOptions", &Engine::set_options)
      .function("begin", &Engine::begin)
      .function("waiting", &Engine::n_waiting)
      .function("reused", &Engine::n_reused)
      .function("guessed", &Engine::n_guessed)
      .function("advance", &Engine::advance)
      .function("next", &Engine::next)
      .function("token", &Engine::token)
      .function("finish", &Engine::finish)
      .function("text", &Engine::text)
      .function("probabilities", &Engine::probabilities)
      .function("evaluate", &Engine::evaluate)
      .function("evaluated", &Engine::evaluated)
      .function("forgetOutput", &Engine::forget_output)
      .function("embed", &Engine::embed)
      .function("embedding", &Engine::embedding)
      .function("saveState", &Engine::save_state)
      .function("saved", &Engine::saved)
      .function("forgetSaved", &Engine::forget_saved)
      .function("loadState", &Engine::load_state)
      .function("profile", &Engine::profile)
      .function("peaks", &Engine::peaks)
      .function("doubles", &Engine::doubles)
      .function("useThreads", &Engine::use_threads);
}

}  // namespace ggufscope
