#include "engine/session.hpp"

#include <algorithm>
#include <cstring>

#include "gguf/access.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kStateMagic = 0x31534747;  // "GGS1"

// Tokens in which a sequence breaker occurs.
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

// How much of the end of text is the beginning of stop: what must be held back.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.substr(text.size() - n) == stop.substr(0, n)) return n;
  return 0;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(std::span<const HeaderBytes> headers, size_t n_threads) {
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
  for (size_t i = 0; i < headers.size(); ++i) files.push_back({&ggufs[i], headers[i].file_size});
  Result<std::unique_ptr<Model>> model = Model::open(files);
  if (!model) return std::unexpected(model.error());
  const Gguf& gguf = ggufs[0];
  session->model_ = std::move(*model);
  session->architecture_ = std::string(get_string(gguf, "general.architecture").value_or(""));
  session->defaults_ = ggufscope::sampler_defaults(gguf);
  Result<Tokenizer> tokenizer = Tokenizer::make(gguf);
  if (tokenizer) session->tokenizer_.emplace(std::move(*tokenizer));
  Result<std::unique_ptr<Pool>> pool = Pool::create(n_threads);
  if (!pool) return std::unexpected(pool.error());
  session->pool_ = std::move(*pool);
  return session;
}

Result<MemoryEstimate> Session::memory(const StateOptions& options, Precision precision) const {
  return model_->memory(options, precision, pool_->n_threads());
}

Result<void> Session::start(const StateOptions& options) {
  if (const Result<void> done = model_->finish_load(); !done) return done;
  Result<std::unique_ptr<State>> state = State::create(*model_, *pool_, options);
  if (!state) return std::unexpected(state.error());
  state_ = std::move(*state);
  return {};
}

Result<void> Session::check(std::span<const TokenId> tokens) const {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (tokens.empty()) return fail(ErrorCode::kOutOfRange, "there are no tokens");
  if (tokens.size() > n_context())
    return fail(ErrorCode::kOutOfRange,
                std::to_string(tokens.size()) + " tokens do not fit a context of " + std::to_string(n_context()));
  for (const TokenId id : tokens)
    if (id < 0 || static_cast<uint32_t>(id) >= model_->hparams().n_vocab)
      return fail(ErrorCode::kOutOfRange, "there is no token " + std::to_string(id));
  return {};
}

Result<void> Session::begin(std::span<const TokenId> tokens, GenerateOptions options) {
  if (const Result<void> good = check(tokens); !good) return good;
  if (model_->is_encoder()) return fail(ErrorCode::kUnsupported, "this model makes embeddings, not text");
  if (const Result<void> good = set_grammar(options.grammar); !good) return good;
  // At least the last token is computed, for its logits.
  size_t same = 0;
  const size_t most = std::min(n_computed_, tokens.size() - 1);
  while (same < most && tokens_[same] == tokens[same]) ++same;
  if (same < n_computed_ && !state_->remove(0, static_cast<int32_t>(same), -1)) {
    state_->clear();  // a recurrent state cannot go back
    same = 0;
  }
  tokens_.assign(tokens.begin(), tokens.end());
  n_computed_ = n_reused_ = same;
  options_ = std::move(options);
  const bool dry = options_.sampler.dry_multiplier != 0 && tokenizer_;
  sampler_.emplace(options_.sampler, dry ? breakers_of(*tokenizer_, options_.dry_breakers) : DryBreakers{});
  for (const TokenId id : tokens_) sampler_->accept(id);
  if (tokenizer_) decoder_.emplace(*tokenizer_);
  std::erase(options_.stop, std::string());
  held_.clear();
  finished_ = false;
  return {};
}

Result<void> Session::set_grammar(const std::string& gbnf) {
  if (gbnf.empty()) return {};
  if (!tokenizer_) return fail(ErrorCode::kUnsupported, "a grammar needs a vocabulary, and this file has none");
  if (trie_.n_tokens() == 0) {
    // Control tokens make no text.
    std::vector<std::string_view> pieces(tokenizer_->size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      if (!tokenizer_->is_special(id) && !tokenizer_->is_end_of_generation(id)) pieces[i] = tokenizer_->piece(id);
    }
    trie_ = TokenTrie(pieces);
  }
  if (gbnf != grammar_text_) {
    Result<Grammar> compiled = Grammar::compile(gbnf);
    if (!compiled) return std::unexpected(compiled.error());
    matcher_.reset();
    grammar_ = std::make_unique<Grammar>(std::move(*compiled));
    grammar_text_ = gbnf;
    matcher_.emplace(*grammar_);
  }
  matcher_->reset();
  return {};
}

// As llama.cpp draws under a grammar: a token that may come stays, which spares looking at all of them; otherwise those
// that may not come are taken away and another is drawn. Nothing may come where the text must end: kNoToken.
Result<Candidate> Session::sample() {
  if (options_.grammar.empty()) return sampler_->sample(logits_);
  const auto reads = [this](TokenId id) -> Result<bool> {
    if (tokenizer_->is_end_of_generation(id)) return matcher_->may_end() && !options_.ignore_end;
    const std::string_view piece = tokenizer_->piece(id);
    if (piece.empty() || tokenizer_->is_special(id)) return false;
    return matcher_->read(piece);
  };
  const float mirostat_mu = sampler_->checkpoint().mirostat_mu;
  Result<Candidate> chosen = sampler_->sample(logits_);
  if (!chosen) return chosen;
  const Result<bool> good = reads(chosen->id);
  if (!good) return std::unexpected(good.error());
  if (*good) return chosen;
  const Result<const std::vector<bool>*> found = matcher_->allowed(trie_);
  if (!found) return std::unexpected(found.error());
  std::vector<bool> allowed = **found;
  if (matcher_->may_end() && !options_.ignore_end)
    for (size_t i = 0; i < allowed.size(); ++i)
      if (tokenizer_->is_end_of_generation(static_cast<TokenId>(i))) allowed[i] = true;
  sampler_->restore({sampler_->checkpoint().random, mirostat_mu});
  chosen = sampler_->sample(logits_, allowed);
  if (!chosen) {
    if (matcher_->may_end()) return Candidate{kNoToken, 0, 0};
    return fail(ErrorCode::kOutOfRange, "no token of the vocabulary goes on as the grammar wants");
  }
  if (const Result<bool> done = reads(chosen->id); !done) return std::unexpected(done.error());
  return chosen;
}

Result<void> Session::advance(size_t n) {
  n = std::min(n, n_waiting());
  if (n == 0) return {};
  const std::span<const TokenId> part = std::span<const TokenId>(tokens_).subspan(n_computed_, n);
  std::vector<uint8_t> wanted(n, 0);
  wanted.back() = 1;
  logits_.resize(model_->n_output());
  const Batch batch{.tokens = part, .positions = {}, .sequences = {}, .wanted = wanted};
  if (const Result<void> done = forward(*model_, *state_, *pool_, batch, logits_.data()); !done) {
    if (!state_->remove(0, static_cast<int32_t>(n_computed_), -1)) forget();
    return done;
  }
  n_computed_ += n;
  return {};
}

// A full cache: the older half of the text after its first tokens goes, the rest moves up.
bool Session::make_room() {
  const size_t kept = std::min<size_t>(4, n_computed_ / 2), dropped = (n_computed_ - kept) / 2;
  if (dropped == 0) return false;
  const auto at = [](size_t i) { return static_cast<int32_t>(i); };
  if (!state_->remove(0, at(kept), at(kept + dropped))) return false;
  if (!state_->shift(*model_, 0, at(kept + dropped), at(n_computed_), -at(dropped))) return false;
  tokens_.erase(tokens_.begin() + at(kept), tokens_.begin() + at(kept + dropped));
  n_computed_ -= dropped;
  return true;
}

void Session::add_text(std::string_view text, Step& step) {
  held_ += text;
  size_t first = std::string::npos;
  for (const std::string& stop : options_.stop) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    held_.resize(first);
    step.finish = Finish::kStop;
    return;
  }
  size_t hold = 0;
  for (const std::string& stop : options_.stop) hold = std::max(hold, overlap(held_, stop));
  step.text = held_.substr(0, held_.size() - hold);
  held_.erase(0, held_.size() - hold);
}

void Session::finish_text(Step& step) {
  if (step.finish != Finish::kStop && decoder_) {
    const std::string rest = decoder_->finish();
    if (!rest.empty()) add_text(rest, step);
  }
  step.text += held_;
  held_.clear();
  finished_ = true;
}

Result<Step> Session::next() {
  if (finished_) return fail(ErrorCode::kInvalidArgument, "the answer has ended");
  Step step;
  if (!options_.grammar.empty() && matcher_->must_end()) {
    step.finish = Finish::kEnd;
    finish_text(step);
    return step;
  }
  if (n_waiting() != 0) {
    if (tokens_.size() > n_context() && !(options_.shift && make_room())) {
      step.finish = Finish::kContext;
      finish_text(step);
      return step;
    }
    if (const Result<void> done = advance(n_waiting()); !done) return std::unexpected(done.error());
  }
  const Result<Candidate> chosen = sample();
  if (!chosen) return std::unexpected(chosen.error());
  step.token = chosen->id;
  if (step.token == kNoToken) {
    step.finish = Finish::kEnd;
    finish_text(step);
    return step;
  }
  if (options_.n_probabilities != 0) {
    LogProbabilities l = log_probabilities(logits_, chosen->id, options_.n_probabilities);
    step.log_p = l.token;
    step.best = std::move(l.best);
  }
  sampler_->accept(step.token);
  tokens_.push_back(step.token);
  if (!options_.ignore_end && tokenizer_ && tokenizer_->is_end_of_generation(step.token)) {
    step.finish = Finish::kEnd;
  } else if (decoder_) {
    add_text(decoder_->push(step.token), step);
  }
  if (step.finish != Finish::kNone) finish_text(step);
  return step;
}

void Session::forget() {
  state_->clear();
  tokens_.clear();
  n_computed_ = 0;
  finished_ = true;
}

Result<Buffer> Session::evaluate(std::span<const TokenId> tokens) {
  if (const Result<void> good = check(tokens); !good) return std::unexpected(good.error());
  forget();
  Result<Buffer> out = Buffer::allocate(uint64_t{tokens.size()} * model_->n_output() * sizeof(float));
  if (!out) return out;
  Batch batch;
  batch.tokens = tokens;
  const Result<void> done = forward(*model_, *state_, *pool_, batch, out->as<float>());
  state_->clear();
  if (!done) return std::unexpected(done.error());
  return out;
}

Result<std::vector<float>> Session::embed(std::span<const TokenId> tokens) {
  if (const Result<void> good = check(tokens); !good) return std::unexpected(good.error());
  forget();
  const Batch batch{.tokens = tokens, .positions = {}, .sequences = {}, .wanted = {}, .embeddings = true};
  Result<Buffer> rows = Buffer::allocate(uint64_t{tokens.size()} * output_floats(*model_, true) * sizeof(float));
  if (!rows) return std::unexpected(rows.error());
  std::vector<float> out(model_->hparams().n_embd);
  const Result<void> done = forward(*model_, *state_, *pool_, batch, rows->as<float>());
  state_->clear();
  if (!done) return std::unexpected(done.error());
  pool_embeddings(*model_, rows->as<float>(), tokens.size(), out.data());
  return out;
}

// u32 magic, u32 number of tokens, the tokens, what State::save gives.
Result<std::vector<uint8_t>> Session::save_state() const {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  Result<std::vector<uint8_t>> cache = state_->save(*model_, 0);
  if (!cache) return cache;
  std::vector<uint8_t> out(8 + 4 * n_computed_);
  store(out.data(), kStateMagic);
  store(out.data() + 4, static_cast<uint32_t>(n_computed_));
  if (n_computed_ != 0) std::memcpy(out.data() + 8, tokens_.data(), 4 * n_computed_);
  out.insert(out.end(), cache->begin(), cache->end());
  return out;
}

Result<void> Session::load_state(ByteView bytes) {
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (bytes.size() < 8 || load<uint32_t>(bytes.data()) != kStateMagic)
    return fail(ErrorCode::kInvalidArgument, "these bytes are no saved state");
  const uint64_t n = load<uint32_t>(bytes.data() + 4);
  if (n > n_context() || 4 * n > bytes.size() - 8) return fail(ErrorCode::kInvalidArgument, "the saved state was cut");
  std::vector<TokenId> tokens(static_cast<size_t>(n));
  if (n != 0) std::memcpy(tokens.data(), bytes.data() + 8, 4 * tokens.size());
  forget();
  if (n != 0)
    if (const Result<void> good = check(tokens); !good) return good;
  if (const Result<void> done = state_->restore(*model_, 0, bytes.subspan(8 + 4 * tokens.size())); !done) return done;
  tokens_ = std::move(tokens);
  n_computed_ = tokens_.size();
  return {};
}

}  // namespace ggufscope
