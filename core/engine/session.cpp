// Opens a session, computes prompts, and generates answers.
#include "engine/session.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "nn/take_profile.hpp"

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

// What a model that speaks by itself has in place of a text model.
constexpr Architecture kSpeakerAlone{.name = kSpeaksAlone, .rope = RopeKind::kNone, .encoder = true};

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
  const bool speaks_alone = !ggufs.empty() && get_string(ggufs[0], "general.architecture") == kSpeaksAlone;
  Result<std::unique_ptr<Model>> model =
      speaks_alone ? Model::without_tensors(kSpeakerAlone) : Model::open(files, as_draft);
  if (!model) return std::unexpected(model.error());
  const Gguf& gguf = ggufs[0];
  session->model_ = std::move(*model);
  if (speaks_alone) {
    if (projector != nullptr || as_draft || files.size() > 1)
      return fail(ErrorCode::kUnsupported, "this model speaks by itself: it takes neither a projector nor more files");
    Result<std::unique_ptr<SpeechModel>> speech = SpeechModel::open_alone(files[0]);
    if (!speech) return std::unexpected(speech.error());
    session->speech_ = std::move(*speech);
  }
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
  Result<Tokenizer> tokenizer = Tokenizer::create(Gguf{*header_, header_bytes_});
  if (tokenizer) tokenizer_.emplace(std::move(*tokenizer));
  header_.reset();
}

Result<MemoryEstimate> Session::memory(const StateOptions& options, Precision precision) const {
  Result<MemoryEstimate> estimate = model_->memory(adjusted(options), precision, pool_->n_threads());
  if (!estimate || (!vision_ && !audio_ && !speech_)) return estimate;
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
  if (speech_)
    if (const Result<void> done = speech_->finish_load(*pool_); !done) return done;
  if (vision_)
    if (const Result<void> done = vision_->finish_load(*pool_); !done) return done;
  Result<std::unique_ptr<State>> state = State::create(*model_, *pool_, adjusted(options));
  if (!state) return std::unexpected(state.error());
  speaker_.reset();
  state_ = std::move(*state);
  sequences_ = std::vector<Sequence>(options.n_sequences);
  if (!plan_) used_.clear();  // those of a plan are part of it
  selected_ = 0;
  slots_.assign(options.n_sequences, 0);
  return {};
}

Result<void> Session::select(uint32_t sequence) {
  if (sequence >= n_sequences())
    return fail(ErrorCode::kOutOfRange,
                "there is no sequence " + std::to_string(sequence) + " of " + std::to_string(n_sequences()));
  discard();
  drop_drafts();
  selected_ = sequence;
  return {};
}

Result<void> Session::fork(uint32_t from, uint32_t to) {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (model_->has_encoder())
    return fail(ErrorCode::kUnsupported, "a sequence of an encoder-decoder model cannot be forked");
  if (from == to || from >= n_sequences() || to >= n_sequences())
    return fail(ErrorCode::kOutOfRange, "sequence " + std::to_string(from) + " cannot be forked to sequence " +
                                            std::to_string(to) + " of " + std::to_string(n_sequences()));
  discard();
  drop_drafts();
  if (draft_ != nullptr)
    if (Result<void> forked = draft_->fork(from, to); !forked) return forked;
  (void)state_->remove(to, 0, -1);
  sequences_[to].clear();
  sequences_[to].adapters = sequences_[from].adapters;
  sequences_[to].adapter_starts = sequences_[from].adapter_starts;
  sequences_[to].ablated = sequences_[from].ablated;
  if (!state_->copy(from, to, 0, -1)) return {};  // without a copy the sequence is computed again, which is only slower
  slots_[to] = slots_[from];
  sequences_[to].tokens = sequences_[from].tokens;
  sequences_[to].tokens.resize(sequences_[from].n_computed);
  sequences_[to].n_computed = sequences_[from].n_computed;
  sequences_[to].states = sequences_[from].states;
  return {};
}

void Session::drop() {
  if (state_) (void)state_->remove(selected_, 0, -1);
  selected().clear();
  if (draft_ == nullptr) return;
  draft_->selected_ = selected_;
  draft_->drop();
}

Result<void> Session::check(std::span<const TokenId> tokens) const {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (tokens.empty()) return fail(ErrorCode::kOutOfRange, "the prompt is empty: it needs a text");
  if (tokens.size() > n_context())
    return fail(ErrorCode::kOutOfRange,
                counted(tokens.size(), "token") + " do not fit a context of " + std::to_string(n_context()));
  for (const TokenId id : tokens)
    if (!is_media(id) && (id < 0 || static_cast<uint32_t>(id) >= model_->hparams().n_vocab))
      return fail(ErrorCode::kOutOfRange, "there is no token " + std::to_string(id));
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  return runs ? Result<void>() : std::unexpected(runs.error());
}

Result<void> Session::begin_answer(std::span<const TokenId> tokens, GenerateOptions options) {
  if (const Result<void> good = check(tokens); !good) return good;
  if (const std::string_view reason = model_->generation_refusal(); !reason.empty())
    return fail(ErrorCode::kUnsupported, std::string(reason));
  if (const Result<void> good = set_grammar(options); !good) return good;
  if (const Result<void> good = check_parts(options.ablated); !good) return good;
  if (speaker_) speaker_->end();
  Sequence& s = selected();
  discard();
  drop_drafts();
  draft_length_.begin_answer();
  s.n_accepted_drafts = 0;
  if (options.ablated != s.ablated) {
    drop();
    s.ablated = options.ablated;
  }
  if (model_->has_encoder()) {
    // The encoder reads the prompt; the decoder starts with its start token.
    if (const Result<void> used = use_adapters_at(s, 0); !used) return used;
    state_->clear();
    prompt_.assign(tokens.begin(), tokens.end());
    if (!plan_)
      if (const Result<void> done = encode(*model_, *state_, *pool_, prompt_, nullptr); !done) return done;
    const TokenId start = model_->hparams().decoder_start;
    s.tokens.assign(1, start);
    if (const Result<void> good = check(s.tokens); !good) return good;
    s.n_computed = s.n_reused = 0;
    s.adapter_starts = adapter_starts(s, s.tokens);
  } else {
    // At least the last token must be computed, for its logits.
    size_t same = 0;
    size_t max = std::min(s.n_computed, tokens.size() - 1);
    std::vector<size_t> starts = adapter_starts(s, tokens);
    for (size_t i = 0; i < starts.size(); ++i)
      if (i >= s.adapter_starts.size() || starts[i] != s.adapter_starts[i])
        max = std::min({max, starts[i], i < s.adapter_starts.size() ? s.adapter_starts[i] : 0});
    s.adapter_starts = std::move(starts);
    while (same < max && s.tokens[same] == tokens[same]) ++same;
    same = before_medium(tokens, same);
    if (same < s.n_computed && !state_->remove(selected_, position_of(tokens, same), -1)) {
      (void)state_->remove(selected_, 0, -1);  // a recurrent state cannot be rewound
      same = 0;
    }
    s.tokens.assign(tokens.begin(), tokens.end());
    s.n_computed = s.n_reused = same;
  }
  s.options = std::move(options);
  // llama.cpp's ignore_eos does the same.
  if (s.options.ignore_end && tokenizer_)
    for (uint32_t id = 0; id < std::min(tokenizer_->size(), model_->hparams().n_vocab); ++id)
      if (tokenizer_->is_end_of_generation(static_cast<TokenId>(id)))
        s.options.sampler.logit_bias.emplace_back(static_cast<int32_t>(id), -std::numeric_limits<float>::infinity());
  const bool dry = s.options.sampler.dry_multiplier != 0 && tokenizer_;
  s.sampler.emplace(s.options.sampler, dry ? breakers_of(*tokenizer_, s.options.dry_breakers) : DryBreakers{});
  for (const TokenId id : s.tokens)
    if (!is_media(id)) s.sampler->accept(id);
  if (tokenizer_) s.answer.emplace(*tokenizer_, s.options.stop, s.options.shown);
  s.finished = false;
  return {};
}

Result<void> Session::set_grammar(const GenerateOptions& options) {
  AnswerGrammar& grammar = selected().grammar;
  if (options.grammar.empty()) return grammar.leave(), Result<void>();
  if (!tokenizer_) return fail(ErrorCode::kUnsupported, "a grammar needs a vocabulary, and this file has none");
  if (trie_.n_tokens() == 0) trie_ = AnswerGrammar::trie_of(*tokenizer_);
  return grammar.start(options.grammar, options.triggers, *tokenizer_, trie_, options.ignore_end);
}

// Samples under a grammar as llama.cpp does. First it samples from all tokens; if the grammar allows the token, no
// other token is tested. Otherwise forbidden tokens are removed and it samples again. Returns kNoToken if the text must
// end here.
Result<Candidate> Session::sample() {
  const Timed timed(pool_->profile(), Operation::kSampling);
  Sequence& s = selected();
  if (chosen_ != kNoToken) return Candidate{std::exchange(chosen_, kNoToken), 0, 0};
  if (!s.grammar.in_use()) return s.sampler->sample(logits());
  const float mirostat_mu = s.sampler->checkpoint().mirostat_mu;
  Result<Candidate> chosen = s.sampler->sample(logits());
  if (!chosen) return chosen;
  const Result<bool> good = s.grammar.read(chosen->id);
  if (!good) return std::unexpected(good.error());
  if (*good) return chosen;
  const Result<std::vector<bool>> allowed = s.grammar.allowed();
  if (!allowed) return std::unexpected(allowed.error());
  s.sampler->restore({s.sampler->checkpoint().random, mirostat_mu});
  chosen = s.sampler->sample(logits(), *allowed);
  if (!chosen) {
    if (s.grammar.may_end()) return Candidate{kNoToken, 0, 0};
    return fail(ErrorCode::kOutOfRange, "the grammar allows no token of the vocabulary here");
  }
  if (const Result<bool> done = s.grammar.read(chosen->id); !done) return std::unexpected(done.error());
  return chosen;
}

std::vector<Profile::Row> Session::take_profile() { return ggufscope::take_profile(*pool_); }

Result<void> Session::advance(size_t n) {
  drop_drafts();
  if (const Result<void> done = compute(std::min(n, n_waiting()), {}); !done) return done;
  // The draft model computes the prompt, too, except for the last token.
  if (draft_ != nullptr && selected().options.n_draft != 0 && selected().n_computed > 1)
    (void)draft_->follow(selected_,
                         std::span(selected().tokens).first(selected().n_computed - (draft_->reads_states() ? 0 : 1)),
                         selected().states);
  return {};
}

// Accepts n proposed tokens and proposes the following ones.
Result<void> Session::compute(size_t n, std::span<const TokenId> drafts) {
  Sequence& s = selected();
  if (n == 0) return {};
  n = whole_media(s.tokens, s.n_computed, n);
  const size_t n_before = s.tokens.size();
  const std::vector<TokenId>* tokens = &s.tokens;
  std::vector<TokenId> with_drafts;
  if (!drafts.empty()) {  // they come after the pending tokens
    with_drafts.assign(s.tokens.begin(), s.tokens.end());
    with_drafts.insert(with_drafts.begin() + static_cast<ptrdiff_t>(n_before), drafts.begin(), drafts.end());
    tokens = &with_drafts;
  }
  std::vector<uint8_t> output_mask(n - 1, 0);
  output_mask.resize(n + drafts.size(), 1);
  s.logits.resize((1 + drafts.size()) * model_->n_output());
  Probe probe(s.ablated);
  probe_ = s.ablated.empty() ? nullptr : &probe;
  if (!drafts.empty() && model_->is_recurrent()) state_->mark(selected_, s.n_computed);
  const double begin_ms = Timed::now_ms();
  Result<void> done = run(*tokens, s.n_computed, output_mask.size(), selected_, output_mask, s.logits.data());
  probe_ = nullptr;
  if (done && probe.missed() != nullptr) done = no_heads(*probe.missed());
  if (!done) {
    if (!state_->remove(selected_, position_of(s.tokens, s.n_computed), -1)) drop();
    return done;
  }
  if (n == 1 || !drafts.empty()) draft_length_.add_pass(output_mask.size(), Timed::now_ms() - begin_ms);
  s.n_computed += n;
  s.drafts.assign(drafts.begin(), drafts.end());
  s.n_accepted = 0;
  return {};
}

std::span<const float> Session::logits() const {
  return std::span(selected().logits).subspan(selected().n_accepted * model_->n_output(), model_->n_output());
}

// Context shift: removes the older half of the sequence after the tokens to keep, and moves the rest up.
bool Session::shift_context() {
  Sequence& s = selected();
  if (std::ranges::any_of(s.tokens, is_media)) return false;  // tokens of an image cannot move
  const size_t kept = std::min<size_t>(s.options.n_keep, s.n_computed), dropped = (s.n_computed - kept) / 2;
  if (dropped == 0) return false;
  const auto at = [](size_t i) { return static_cast<int32_t>(i); };
  if (!state_->remove(selected_, at(kept), at(kept + dropped))) return false;
  if (!state_->shift(*model_, selected_, at(kept + dropped), at(s.n_computed), -at(dropped))) return false;
  s.tokens.erase(s.tokens.begin() + at(kept), s.tokens.begin() + at(kept + dropped));
  const size_t width = draft_ != nullptr ? draft_->model_->n_input() : 0;
  if (s.states.size() >= (kept + dropped) * width)
    s.states.erase(s.states.begin() + at(kept * width), s.states.begin() + at((kept + dropped) * width));
  s.n_computed -= dropped;
  for (size_t& start : s.adapter_starts)
    if (start != SIZE_MAX && start > kept) start = std::max(kept, start - std::min(start, dropped));
  return true;
}

void Session::release_held_text(Step& step) {
  Sequence& s = selected();
  if (s.answer) {
    step.text += s.answer->flush(step.finish != Finish::kEnd);
    if (s.answer->stopped()) step.finish = Finish::kStop;
  }
  s.finished = true;
}

int32_t Session::stop_index() const { return selected().answer ? selected().answer->stop() : -1; }

Step Session::end_answer() {
  Step step;
  if (!selected().finished) release_held_text(step);
  return step;
}

// Other sequences also use cells of the cache.
bool Session::is_full() const {
  return selected().tokens.size() > n_context() || (!model_->is_recurrent() && state_->n_free_cells() == 0);
}

Result<Step> Session::next() {
  Sequence& s = selected();
  if (s.finished) return fail(ErrorCode::kInvalidArgument, "the answer has ended");
  Step step;
  if (s.grammar.in_use() && s.grammar.must_end()) {
    step.finish = Finish::kEnd;
    release_held_text(step);
    return step;
  }
  if (n_waiting() != 0 && !accept_draft()) {
    const bool again = drop_drafts();
    if (is_full() && !(s.options.shift && shift_context())) {
      step.finish = Finish::kContext;
      release_held_text(step);
      return step;
    }
    if (plan_) return fail(ErrorCode::kInvalidArgument, "prepare and accept must come before next");
    const std::vector<TokenId> drafts = n_waiting() == 1 || again ? draft_tokens() : std::vector<TokenId>();
    if (const Result<void> done = compute(n_waiting(), drafts); !done) return std::unexpected(done.error());
  }
  const Result<Candidate> chosen = sample();
  if (!chosen) return std::unexpected(chosen.error());
  step.token = chosen->id;
  if (step.token == kNoToken) {
    step.finish = Finish::kEnd;
    release_held_text(step);
    return step;
  }
  if (s.options.n_probabilities != 0) {
    LogProbabilities l = log_probabilities(logits(), chosen->id, s.options.n_probabilities);
    step.log_p = l.token;
    step.best = std::move(l.best);
  }
  s.sampler->accept(step.token);
  s.tokens.push_back(step.token);
  if (!s.options.ignore_end && tokenizer_ && tokenizer_->is_end_of_generation(step.token)) {
    step.finish = Finish::kEnd;
  } else if (s.answer) {
    step.text = s.answer->push(step.token);
    if (s.answer->stopped()) step.finish = Finish::kStop;
  }
  if (step.finish != Finish::kNone) release_held_text(step);
  return step;
}

void Session::clear_sequences() {
  state_->clear();
  for (Sequence& s : sequences_) s.clear();
}

}  // namespace ggufscope
