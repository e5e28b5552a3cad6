// Opens a session, computes prompts, and generates answers.
#include "engine/session.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/sentence.hpp"
#include "gguf/access.hpp"

namespace ggufscope {
namespace {

// The tokens whose text contains a sequence breaker.
DryBreakers breakers_of(const Tokenizer& tokenizer, const std::vector<std::string>& breakers) {
  DryBreakers out;
  out.breaks.resize(tokenizer.size());
  for (uint32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string_view piece = tokenizer.piece(static_cast<TokenId>(id));
    for (const std::string& breaker : breakers)
      if (!breaker.empty() && piece.find(breaker) != std::string_view::npos) out.breaks[id] = true;
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(std::span<const HeaderBytes> headers, size_t n_threads,
                                               const HeaderBytes* projector, bool as_draft) {
  std::unique_ptr<Session> session(new Session);
  std::vector<ParseState> parsed(headers.size());
  std::vector<Gguf> ggufs;
  for (size_t i = 0; i < headers.size(); ++i) {
    const auto& [bytes, size] = headers[i];
    const Result<ParseProgress> progress = parse_header(bytes, size, parsed[i]);
    if (!progress) return std::unexpected(progress.error());
    if (!progress->complete) return fail(ErrorCode::kTruncated, bytes.size(), "truncated", "header");
    ggufs.push_back(Gguf{parsed[i].header, bytes});
  }
  std::vector<ModelFile> files;
  files.reserve(headers.size());
  for (size_t i = 0; i < headers.size(); ++i) files.push_back({&ggufs[i], headers[i].file_size});
  Result<std::unique_ptr<Model>> model = Model::open(files, as_draft);
  if (!model) return std::unexpected(model.error());
  const Gguf& gguf = ggufs[0];
  session->model_ = std::move(*model);
  if (projector != nullptr) {
    const Result<void> opened = session->open_projector(*projector, static_cast<uint32_t>(headers.size()));
    if (!opened) return std::unexpected(opened.error());
  }
  session->architecture_ = std::string(get_string(gguf, "general.architecture").value_or(""));
  session->defaults_ = ggufscope::sampler_defaults(gguf);
  Result<std::unique_ptr<Pool>> pool = Pool::create(n_threads);
  if (!pool) return std::unexpected(pool.error());
  session->pool_ = std::move(*pool);
  session->header_ = std::move(parsed[0].header);
  session->header_bytes_ = headers[0].bytes;
  return session;
}

void Session::read_vocabulary() {
  if (!header_) return;
  Result<Tokenizer> tokenizer = Tokenizer::make(Gguf{*header_, header_bytes_});
  if (tokenizer) tokenizer_.emplace(std::move(*tokenizer));
  header_.reset();
}

Result<MemoryEstimate> Session::memory(const StateOptions& options, Precision precision) const {
  Result<MemoryEstimate> estimate = model_->memory(adjusted(options), precision, pool_->n_threads());
  if (!estimate || (!vision_ && !audio_)) return estimate;
  if (const Result<void> added = add_projector_memory(precision, *estimate); !added)
    return std::unexpected(added.error());
  return estimate;
}

// Without causal masking, the whole text must be one batch.
StateOptions Session::adjusted(StateOptions options) const {
  if (model_->has_encoder() || !model_->hparams().causal)
    options.n_batch = options.n_ctx != 0 ? options.n_ctx : model_->hparams().n_ctx_train;
  // An image with bidirectional attention must be in one batch.
  if (vision_ && vision_->row().non_causal) {
    const uint32_t side = vision_->parameters().image.image_size;
    options.n_batch = std::max(options.n_batch, vision_->tokens_of({side, side}).n_tokens);
  }
  // An encoder caches nothing between batches, so nothing needs to be rounded to half precision.
  if (model_->is_encoder()) options.cache_types = {};
  options.cells_only = plan_ != nullptr;
  return options;
}

Result<void> Session::start(const StateOptions& options) {
  read_vocabulary();
  if (!plan_)
    if (const Result<void> done = model_->finish_load(); !done) return done;
  if (reads_states() && !bound_)
    return fail(ErrorCode::kUnsupported, "a draft model that reads hidden states cannot run without its target model");
  if (audio_)
    if (const Result<void> done = audio_->finish_load(); !done) return done;
  if (vision_)
    if (const Result<void> done = vision_->finish_load(*pool_); !done) return done;
  Result<std::unique_ptr<State>> state = State::create(*model_, *pool_, adjusted(options));
  if (!state) return std::unexpected(state.error());
  state_ = std::move(*state);
  texts_ = std::vector<Text>(options.n_sequences);
  used_.clear();
  now_ = 0;
  return {};
}

Result<void> Session::select(uint32_t text) {
  if (text >= n_texts())
    return fail(ErrorCode::kOutOfRange,
                "there is no text " + std::to_string(text) + " of " + std::to_string(n_texts()));
  discard();
  forget_guesses();
  now_ = text;
  return {};
}

Result<void> Session::fork(uint32_t from, uint32_t to) {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (model_->has_encoder())
    return fail(ErrorCode::kUnsupported, "a sequence of an encoder-decoder model cannot be forked");
  if (from == to || from >= n_texts() || to >= n_texts())
    return fail(ErrorCode::kOutOfRange, "text " + std::to_string(from) + " cannot be forked to text " +
                                            std::to_string(to) + " of " + std::to_string(n_texts()));
  forget_guesses();
  if (draft_ != nullptr)
    if (Result<void> forked = draft_->fork(from, to); !forked) return forked;
  (void)state_->remove(to, 0, -1);
  texts_[to].forget();
  texts_[to].adapters = texts_[from].adapters;
  texts_[to].adapter_starts = texts_[from].adapter_starts;
  if (!state_->copy(from, to, 0, -1)) return {};  // without a copy the text is computed again, which is only slower
  texts_[to].tokens = texts_[from].tokens;
  texts_[to].tokens.resize(texts_[from].n_computed);
  texts_[to].n_computed = texts_[from].n_computed;
  texts_[to].states = texts_[from].states;
  return {};
}

void Session::drop() {
  if (state_) (void)state_->remove(now_, 0, -1);
  text().forget();
  if (draft_ == nullptr) return;
  draft_->now_ = now_;
  draft_->drop();
}

Result<void> Session::check(std::span<const TokenId> tokens) const {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (tokens.empty()) return fail(ErrorCode::kOutOfRange, "there are no tokens");
  if (tokens.size() > n_context())
    return fail(ErrorCode::kOutOfRange,
                counted(tokens.size(), "token") + " do not fit a context of " + std::to_string(n_context()));
  for (const TokenId id : tokens)
    if (!is_media(id) && (id < 0 || static_cast<uint32_t>(id) >= model_->hparams().n_vocab))
      return fail(ErrorCode::kOutOfRange, "there is no token " + std::to_string(id));
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  return runs ? Result<void>() : std::unexpected(runs.error());
}

Result<void> Session::begin(std::span<const TokenId> tokens, GenerateOptions options) {
  if (const Result<void> good = check(tokens); !good) return good;
  if (model_->is_encoder())
    return fail(ErrorCode::kUnsupported, "this model computes embeddings; it cannot generate text");
  if (!model_->hparams().causal)
    return fail(ErrorCode::kUnsupported, "this model fills in a whole text (text diffusion); it cannot continue one");
  if (const Result<void> good = set_grammar(options); !good) return good;
  Text& t = text();
  discard();
  forget_guesses();
  t.n_guessed = 0;
  if (model_->has_encoder()) {
    // The encoder reads the prompt; the decoder starts with its start token.
    if (const Result<void> used = use_adapters_at(t, 0); !used) return used;
    if (const Result<void> done = encode(*model_, *state_, *pool_, tokens, nullptr); !done) return done;
    const TokenId start = model_->hparams().decoder_start;
    t.tokens.assign(1, start);
    if (const Result<void> good = check(t.tokens); !good) return good;
    t.n_computed = t.n_reused = 0;
    t.adapter_starts = adapter_starts(t, t.tokens);
  } else {
    // At least the last token must be computed, for its logits.
    size_t same = 0;
    size_t most = std::min(t.n_computed, tokens.size() - 1);
    std::vector<size_t> starts = adapter_starts(t, tokens);
    for (size_t i = 0; i < starts.size(); ++i)
      if (i >= t.adapter_starts.size() || starts[i] != t.adapter_starts[i])
        most = std::min({most, starts[i], i < t.adapter_starts.size() ? t.adapter_starts[i] : 0});
    t.adapter_starts = std::move(starts);
    while (same < most && t.tokens[same] == tokens[same]) ++same;
    same = before_medium(tokens, same);
    if (same < t.n_computed && !state_->remove(now_, position_of(tokens, same), -1)) {
      (void)state_->remove(now_, 0, -1);  // a recurrent state cannot be rewound
      same = 0;
    }
    t.tokens.assign(tokens.begin(), tokens.end());
    t.n_computed = t.n_reused = same;
  }
  t.options = std::move(options);
  // llama.cpp's ignore_eos does the same.
  if (t.options.ignore_end && tokenizer_)
    for (uint32_t id = 0; id < std::min(tokenizer_->size(), model_->hparams().n_vocab); ++id)
      if (tokenizer_->is_end_of_generation(static_cast<TokenId>(id)))
        t.options.sampler.logit_bias.emplace_back(static_cast<int32_t>(id), -std::numeric_limits<float>::infinity());
  const bool dry = t.options.sampler.dry_multiplier != 0 && tokenizer_;
  t.sampler.emplace(t.options.sampler, dry ? breakers_of(*tokenizer_, t.options.dry_breakers) : DryBreakers{});
  for (const TokenId id : t.tokens)
    if (!is_media(id)) t.sampler->accept(id);
  if (tokenizer_) t.answer.emplace(*tokenizer_, t.options.stop, t.options.shown);
  t.finished = false;
  return {};
}

Result<void> Session::set_grammar(const GenerateOptions& options) {
  AnswerGrammar& grammar = text().grammar;
  if (options.grammar.empty()) return grammar.leave(), Result<void>();
  if (!tokenizer_) return fail(ErrorCode::kUnsupported, "a grammar needs a vocabulary, and this file has none");
  if (trie_.n_tokens() == 0) trie_ = AnswerGrammar::trie_of(*tokenizer_);
  return grammar.begin(options.grammar, options.triggers, *tokenizer_, trie_, options.ignore_end);
}

// Samples under a grammar as llama.cpp does. First it samples from all tokens; if the grammar allows the token, no
// other token is tested. Otherwise forbidden tokens are removed and it samples again. Returns kNoToken if the text must
// end here.
Result<Candidate> Session::sample() {
  const Timed timed(pool_->profile(), Operation::kSampling);
  Text& t = text();
  if (chosen_ != kNoToken) return Candidate{std::exchange(chosen_, kNoToken), 0, 0};
  if (!t.grammar.in_use()) return t.sampler->sample(logits());
  const float mirostat_mu = t.sampler->checkpoint().mirostat_mu;
  Result<Candidate> chosen = t.sampler->sample(logits());
  if (!chosen) return chosen;
  const Result<bool> good = t.grammar.read(chosen->id);
  if (!good) return std::unexpected(good.error());
  if (*good) return chosen;
  const Result<std::vector<bool>> allowed = t.grammar.allowed();
  if (!allowed) return std::unexpected(allowed.error());
  t.sampler->restore({t.sampler->checkpoint().random, mirostat_mu});
  chosen = t.sampler->sample(logits(), *allowed);
  if (!chosen) {
    if (t.grammar.may_end()) return Candidate{kNoToken, 0, 0};
    return fail(ErrorCode::kOutOfRange, "the grammar allows no token of the vocabulary here");
  }
  if (const Result<bool> done = t.grammar.read(chosen->id); !done) return std::unexpected(done.error());
  return chosen;
}

std::vector<Profile::Row> Session::take_profile() {
  if (pool_->profile() == nullptr) {
    pool_->start_profile();
    return {};
  }
  const std::span<const Profile::Row> rows = pool_->profile()->rows();
  std::vector<Profile::Row> taken(rows.begin(), rows.end());
  pool_->profile()->clear();
  return taken;
}

Result<void> Session::advance(size_t n) {
  forget_guesses();
  if (const Result<void> done = compute(std::min(n, n_waiting()), {}); !done) return done;
  // The draft model computes the prompt, too, except for the last token.
  if (draft_ != nullptr && text().options.n_draft != 0 && text().n_computed > 1)
    (void)draft_->follow(now_, std::span(text().tokens).first(text().n_computed - (draft_->reads_states() ? 0 : 1)),
                         text().states);
  return {};
}

// Accepts n proposed tokens and proposes the following ones.
Result<void> Session::compute(size_t n, std::span<const TokenId> guesses) {
  Text& t = text();
  if (n == 0) return {};
  n = whole_media(t.tokens, t.n_computed, n);
  const size_t n_before = t.tokens.size();
  const std::vector<TokenId>* tokens = &t.tokens;
  std::vector<TokenId> guessed;
  if (!guesses.empty()) {  // they come after the pending tokens
    guessed.assign(t.tokens.begin(), t.tokens.end());
    guessed.insert(guessed.begin() + static_cast<ptrdiff_t>(n_before), guesses.begin(), guesses.end());
    tokens = &guessed;
  }
  std::vector<uint8_t> wanted(n - 1, 0);
  wanted.resize(n + guesses.size(), 1);
  t.logits.resize((1 + guesses.size()) * model_->n_output());
  if (const Result<void> done = run(*tokens, t.n_computed, wanted.size(), now_, wanted, t.logits.data()); !done) {
    if (!state_->remove(now_, position_of(t.tokens, t.n_computed), -1)) drop();
    return done;
  }
  t.n_computed += n;
  t.guesses.assign(guesses.begin(), guesses.end());
  t.n_right = 0;
  return {};
}

std::span<const float> Session::logits() const {
  return std::span(text().logits).subspan(text().n_right * model_->n_output(), model_->n_output());
}

// Context shift: removes the older half of the sequence after the tokens to keep, and moves the rest up.
bool Session::make_room() {
  Text& t = text();
  if (std::ranges::any_of(t.tokens, is_media)) return false;  // tokens of an image cannot move
  const size_t kept = std::min<size_t>(t.options.n_keep, t.n_computed), dropped = (t.n_computed - kept) / 2;
  if (dropped == 0) return false;
  const auto at = [](size_t i) { return static_cast<int32_t>(i); };
  if (!state_->remove(now_, at(kept), at(kept + dropped))) return false;
  if (!state_->shift(*model_, now_, at(kept + dropped), at(t.n_computed), -at(dropped))) return false;
  t.tokens.erase(t.tokens.begin() + at(kept), t.tokens.begin() + at(kept + dropped));
  const size_t width = draft_ != nullptr ? draft_->model_->hparams().n_embd : 0;
  if (t.states.size() >= (kept + dropped) * width)
    t.states.erase(t.states.begin() + at(kept * width), t.states.begin() + at((kept + dropped) * width));
  t.n_computed -= dropped;
  for (size_t& start : t.adapter_starts)
    if (start != SIZE_MAX && start > kept) start = std::max(kept, start - std::min(start, dropped));
  return true;
}

void Session::finish_text(Step& step) {
  Text& t = text();
  if (t.answer) {
    step.text += t.answer->finish(step.finish != Finish::kEnd);
    if (t.answer->stopped()) step.finish = Finish::kStop;
  }
  t.finished = true;
}

int32_t Session::stop_index() const { return text().answer ? text().answer->stop() : -1; }

Step Session::end() {
  Step step;
  if (!text().finished) finish_text(step);
  return step;
}

// Other sequences also use cells of the cache.
bool Session::is_full() const {
  return text().tokens.size() > n_context() || (!model_->is_recurrent() && state_->n_free_cells() == 0);
}

Result<Step> Session::next() {
  Text& t = text();
  if (t.finished) return fail(ErrorCode::kInvalidArgument, "the answer has ended");
  Step step;
  if (t.grammar.in_use() && t.grammar.must_end()) {
    step.finish = Finish::kEnd;
    finish_text(step);
    return step;
  }
  if (n_waiting() != 0 && !was_guessed()) {
    forget_guesses();
    if (is_full() && !(t.options.shift && make_room())) {
      step.finish = Finish::kContext;
      finish_text(step);
      return step;
    }
    if (plan_) return fail(ErrorCode::kInvalidArgument, "prepare and accept must come before next");
    const std::vector<TokenId> guesses = n_waiting() == 1 ? guess() : std::vector<TokenId>();
    if (const Result<void> done = compute(n_waiting(), guesses); !done) return std::unexpected(done.error());
  }
  const Result<Candidate> chosen = sample();
  if (!chosen) return std::unexpected(chosen.error());
  step.token = chosen->id;
  if (step.token == kNoToken) {
    step.finish = Finish::kEnd;
    finish_text(step);
    return step;
  }
  if (t.options.n_probabilities != 0) {
    LogProbabilities l = log_probabilities(logits(), chosen->id, t.options.n_probabilities);
    step.log_p = l.token;
    step.best = std::move(l.best);
  }
  t.sampler->accept(step.token);
  t.tokens.push_back(step.token);
  if (!t.options.ignore_end && tokenizer_ && tokenizer_->is_end_of_generation(step.token)) {
    step.finish = Finish::kEnd;
  } else if (t.answer) {
    step.text = t.answer->push(step.token);
    if (t.answer->stopped()) step.finish = Finish::kStop;
  }
  if (step.finish != Finish::kNone) finish_text(step);
  return step;
}

void Session::forget() {
  state_->clear();
  for (Text& t : texts_) t.forget();
}

// While it lives, the state watches for the first layer that gives a value that is not finite.
class Session::NumberWatch {
 public:
  explicit NumberWatch(Session& session) : session_(session) {
    session_.state_->watches_numbers = true;
    session_.state_->broken_layer.reset();
  }
  ~NumberWatch() { session_.state_->watches_numbers = false; }
  NumberWatch(const NumberWatch&) = delete;
  NumberWatch& operator=(const NumberWatch&) = delete;

  [[nodiscard]] std::unexpected<Error> error() const {
    const std::optional<int32_t> layer = session_.state_->broken_layer;
    const std::string where = !layer       ? "its output"
                              : *layer < 0 ? "the embeddings of its tokens"
                                           : "layer " + std::to_string(*layer) + " (counted from 0)";
    return fail(ErrorCode::kOutOfRange,
                "the model's results are not numbers: the first that is none comes from " + where);
  }

 private:
  Session& session_;
};

Result<Buffer> Session::evaluate(std::span<const TokenId> tokens) {
  if (const Result<void> good = check(tokens); !good) return std::unexpected(good.error());
  if (model_->has_encoder())
    return fail(ErrorCode::kUnsupported, "logits of a text are not available for encoder-decoder models");
  forget();
  Result<Buffer> out = Buffer::allocate(uint64_t{tokens.size()} * model_->n_output() * sizeof(float));
  if (!out) return out;
  text().adapter_starts = adapter_starts(text(), tokens);
  const NumberWatch watch(*this);
  const Result<void> done = run(tokens, 0, tokens.size(), 0, {}, out->as<float>());
  state_->clear();
  if (!done) return std::unexpected(done.error());
  if (!none_is_nan({out->as<float>(), out->size() / sizeof(float)})) return watch.error();
  return out;
}

Result<std::vector<float>> Session::embed(std::span<const TokenId> tokens, Pooling pooling) {
  if (const Result<void> good = check(tokens); !good) return std::unexpected(good.error());
  if (std::ranges::any_of(tokens, is_media))
    return fail(ErrorCode::kUnsupported, "a text with images or audio cannot be embedded");
  forget();
  const Batch batch{.tokens = tokens, .positions = {}, .sequences = {}, .wanted = {}, .embeddings = true};
  Result<Buffer> rows = Buffer::allocate(uint64_t{tokens.size()} * output_floats(*model_, true) * sizeof(float));
  if (!rows) return std::unexpected(rows.error());
  if (pooling == Pooling::kUnspecified) pooling = pooling_of(*model_);
  std::vector<float> out(pooled_floats(*model_, pooling) * (pooling == Pooling::kNone ? tokens.size() : 1));
  text().adapter_starts = adapter_starts(text(), tokens);
  const NumberWatch watch(*this);
  Result<void> done = use_adapters_at(text(), 0);
  if (done)
    done = model_->has_encoder() ? encode(*model_, *state_, *pool_, tokens, rows->as<float>())
                                 : forward_parts(0, batch, rows->as<float>());
  state_->clear();
  if (!done) return std::unexpected(done.error());
  if (const Result<void> pooled =
          pool_embeddings(*model_, *pool_, pooling, rows->as<float>(), tokens.size(), out.data());
      !pooled)
    return std::unexpected(pooled.error());
  if (!all_finite(out)) return watch.error();
  return out;
}

}  // namespace ggufscope
