// Speculative decoding: tokens proposed by prompt lookup or a draft model are computed in one batch.
#include <algorithm>

#include "base/sentence.hpp"
#include "engine/media.hpp"
#include "engine/session.hpp"
#include "nn/profile.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxPadding = 128;  // allowed difference between vocabulary sizes, as in llama.cpp
constexpr size_t kMinMatch = 2;      // tokens that must match before following tokens are proposed

}  // namespace

Result<void> Session::set_draft(Session& draft) {
  if (draft.model_->is_recurrent())
    return fail(ErrorCode::kUnsupported,
                draft.architecture_ + " cannot remove tokens from its state, so it cannot be a draft model");
  for (const Session* one : {this, &draft}) {
    if (one->model_->has_encoder())
      return fail(ErrorCode::kUnsupported,
                  one->architecture_ + " has an encoder, so it can be neither a draft model nor have one");
    if (!one->model_->hparams().causal)
      return fail(ErrorCode::kUnsupported,
                  one->architecture_ + " computes a text as a whole: it can be neither a draft model nor have one");
  }
  draft.read_vocabulary();
  const Tokenizer *ours = tokenizer(), *theirs = draft.tokenizer();
  // Vocabularies are padded to different sizes.
  const size_t n = std::min(model_->hparams().n_vocab, draft.model_->hparams().n_vocab);
  const size_t more = std::max(model_->hparams().n_vocab, draft.model_->hparams().n_vocab) - n;
  if (more > kMaxPadding) return fail(ErrorCode::kInvalidArgument, "the draft model's vocabulary has a different size");
  for (size_t id = 0; ours != nullptr && theirs != nullptr && id < std::min<size_t>({n, ours->size(), theirs->size()});
       ++id)
    if (ours->piece(static_cast<TokenId>(id)) != theirs->piece(static_cast<TokenId>(id)))
      return fail(ErrorCode::kInvalidArgument, "token " + std::to_string(id) + " is another in the draft model");
  if (draft.reads_states())
    if (const Result<void> bound = bind_states(draft); !bound) return bound;
  // The draft model's matrices may be wider.
  if (const Result<void> done = pool_->reserve_scratch_of(*draft.pool_); !done) return done;
  draft.pool_ = pool_;
  draft_ = &draft;
  return {};
}

// Prepares a draft model that reads this model's hidden states, and uses its embeddings if it has none.
Result<void> Session::bind_states(Session& draft) {
  const Hparams &ours = model_->hparams(), &theirs = draft.model_->hparams();
  const Weights& w = draft.model_->weights();
  const DraftSizes& d = theirs.part<DraftSizes>();
  const bool borrows = !w.token_embedding || !w.output;
  const bool is_head = d.kind == DraftKind::kMtpHead, is_assistant = d.kind == DraftKind::kAssistant;
  const auto unknown = [&](uint32_t layer) { return layer >= ours.n_layer; };
  if (is_head && architecture_ != draft.architecture_)
    return fail(ErrorCode::kInvalidArgument,
                "the draft is an MTP head of a model of architecture " + draft.architecture_);
  if (is_assistant && architecture_ + "-assistant" != draft.architecture_)
    return fail(ErrorCode::kInvalidArgument,
                draft.architecture_ + " reads the cache of another architecture than " + architecture_);
  if (d.n_target_embd != ours.n_embd || std::ranges::any_of(d.target_layers, unknown) ||
      (borrows && !is_assistant && theirs.n_embd != ours.n_embd))
    return fail(ErrorCode::kInvalidArgument, "the draft model reads the hidden states of another model");
  if (((is_head || is_assistant) && theirs.n_vocab != ours.n_vocab) ||
      (!w.token_embedding && theirs.n_vocab > ours.n_vocab) ||
      (w.token_embedding && !w.output && theirs.n_vocab != ours.n_vocab))
    return fail(ErrorCode::kInvalidArgument, "the draft model's vocabulary has a different size");
  if (!is_head && !has_one_stream(*model_))
    return fail(ErrorCode::kUnsupported, architecture_ + " has no single hidden state for a draft model to read");
  if (!draft.model_->set_target(*model_))
    return fail(ErrorCode::kInvalidArgument, "the draft model reads the cache of a model with other heads");
  draft.bound_ = true;
  draft.watched_.assign(1, theirs.n_layer);
  watched_.assign(d.target_layers.begin(), d.target_layers.end());
  if (is_head || is_assistant) watched_.assign(1, ours.n_layer);
  return {};
}

// Keeps what a draft model reads of the last computed tokens, which begin with token `first` of the sequence.
void Session::keep_states(size_t first) {
  const size_t width = draft_->model_->n_input();
  const size_t n = seen_.size() / (watched_.size() * model_->n_last_state());
  std::vector<float>& states = selected().states;
  if (states.size() < first * width) return;  // those of a restored sequence are unknown: nothing is proposed for it
  states.resize((first + n) * width);
  fuse_states(*draft_->model_, *pool_, seen_, states.data() + first * width);
}

std::vector<TokenId> Session::draft_tokens() {
  const Sequence& s = selected();
  const size_t size = s.tokens.size(), n_batch = state_->options().n_batch, n_waits = n_waiting();
  const size_t n_free = state_->n_free_cells();
  const bool on_device = plan_ != nullptr && model_->is_recurrent();  // whose states cannot be marked
  if (on_device || model_->has_encoder() || size >= n_context() || std::min(n_free, n_batch) <= n_waits) return {};
  const size_t room = std::min({n_batch - n_waits, n_context() - size, n_free - n_waits});
  const auto length = [&](DraftSource source, size_t max, bool one_pass) {
    const DraftRound round{source, max, one_pass, model_->is_recurrent()};
    return s.options.fixed_drafts ? max : draft_length_.choose(round);
  };
  std::vector<TokenId> drafts = look_up(std::min<size_t>(s.options.n_lookup, room));
  drafts.resize(length(DraftSource::kLookup, drafts.size(), false));
  if (!drafts.empty() || draft_ == nullptr) return drafts;
  const bool one_pass = draft_->model_->hparams().part<DraftSizes>().kind == DraftKind::kBlock;
  const size_t n = length(DraftSource::kModel, std::min<size_t>(s.options.n_draft, room), one_pass);
  if (n == 0) return drafts;
  const bool late = draft_->n_behind(selected_, size) > s.options.n_draft + 2;
  const double begin_ms = Timed::now_ms();
  drafts = draft_->propose(*this, n);
  draft_length_.add_draft(drafts.size(), Timed::now_ms() - begin_ms, late);
  const auto unknown = [this](TokenId id) { return static_cast<uint32_t>(id) >= model_->hparams().n_vocab; };
  drafts.erase(std::find_if(drafts.begin(), drafts.end(), unknown), drafts.end());
  return drafts;
}

// Prompt lookup: finds an earlier occurrence of the last tokens and proposes what followed it. A longer match proposes
// more tokens.
std::vector<TokenId> Session::look_up(size_t max) const {
  const Sequence& s = selected();
  const size_t size = s.tokens.size();
  if (max == 0) return {};
  const size_t enough = std::max<size_t>(max, kMinMatch);
  size_t longest = kMinMatch - 1, after = size;
  for (size_t end = size - 1; end > longest && longest < enough; --end) {
    size_t n = 0;
    while (n < std::min(end, enough) && s.tokens[end - 1 - n] == s.tokens[size - 1 - n]) ++n;
    if (n > longest) longest = n, after = end;
  }
  const auto from = s.tokens.begin() + static_cast<ptrdiff_t>(after);
  const auto end = from + static_cast<ptrdiff_t>(std::min({max, longest, size - after}));
  return {from, std::find_if(from, end, is_media)};
}

// Computes the tokens of a sequence that are not in the cache. Returns false if they do not fit.
bool Session::follow(uint32_t sequence, std::span<const TokenId> tokens, std::span<const float> states) {
  const DraftKind kind = model_->hparams().part<DraftSizes>().kind;
  if (kind == DraftKind::kAssistant) return false;  // it has no cache
  if (kind == DraftKind::kBlock) return follow_states(sequence, tokens, states);
  if (reads_states()) {  // a token's state is computed together with the next token
    tokens = tokens.subspan(1);
    if (states.size() < tokens.size() * model_->n_input()) return false;
    target_states_ = states;
    first_target_state_ = 0;
  }
  if (!state_ || sequence >= n_sequences() || tokens.empty() || tokens.size() > n_context()) return false;
  selected_ = sequence;
  reuse_prefix(tokens, tokens.size() - 1);  // the last token is always computed, for its logits
  return compute(n_waiting(), {}).has_value();
}

// Replaces the selected sequence's tokens. Keeps what is computed of the common prefix, at most n_max tokens.
void Session::reuse_prefix(std::span<const TokenId> tokens, size_t n_max) {
  Sequence& s = selected();
  size_t same = 0;
  while (same < std::min(s.n_computed, n_max) && s.tokens[same] == tokens[same]) ++same;
  if (same < s.n_computed && !state_->remove(selected_, static_cast<int32_t>(same), -1)) {
    (void)state_->remove(selected_, 0, -1);
    same = 0;
  }
  s.tokens.assign(tokens.begin(), tokens.end());
  s.n_computed = same;
}

// The number of the target's tokens that this draft model has not computed.
size_t Session::n_behind(uint32_t sequence, size_t n_tokens) const {
  if (model_->hparams().part<DraftSizes>().kind == DraftKind::kAssistant) return 0;  // it computes none
  return sequence < n_sequences() ? n_tokens - std::min(n_tokens, sequences_[sequence].n_computed) : 0;
}

// The greedy continuation of the target's selected sequence by at most n tokens.
std::vector<TokenId> Session::propose(Session& target, size_t n) {
  const DraftKind kind = model_->hparams().part<DraftSizes>().kind;
  if (kind == DraftKind::kAssistant) return propose_from_cache(target, n);
  if (kind == DraftKind::kBlock) return propose_block(target, n);
  std::vector<TokenId> proposed;
  if (n == 0 || !follow(target.selected_, target.selected().tokens, target.selected().states)) return proposed;
  Sequence& s = selected();
  const size_t n_known = s.tokens.size();
  std::vector<float> last;
  while (true) {
    const TokenId id = argmax(logits());
    if (id < 0) break;
    proposed.push_back(id);
    const bool ends = tokenizer_ && tokenizer_->is_end_of_generation(id);
    if (proposed.size() == n || ends || s.tokens.size() >= n_context()) break;
    s.tokens.push_back(id);
    if (reads_states()) {  // its own output replaces the state that the target has not computed
      last.resize(model_->n_input());
      next_states(*model_, *pool_, std::span(seen_).last(model_->n_last_state()), last.data());
      target_states_ = last;
      first_target_state_ = s.tokens.size() - 1;
    }
    if (!compute(1, {})) break;
  }
  if (reads_states() && s.tokens.size() > n_known) {  // these are computed again with the target's states
    (void)state_->remove(selected_, static_cast<int32_t>(n_known), -1);
    s.tokens.resize(n_known);
    s.n_computed = std::min(s.n_computed, n_known);
  }
  return proposed;
}

// True if the single pending token is the next proposed token, which is already computed.
bool Session::accept_draft() {
  Sequence& s = selected();
  if (s.n_accepted == s.drafts.size() || s.tokens[s.n_computed] != s.drafts[s.n_accepted]) return false;
  ++s.n_accepted;
  ++s.n_accepted_drafts;
  ++s.n_computed;
  return true;
}

bool Session::drop_drafts() {
  Sequence& s = selected();
  const bool refused = s.n_accepted < s.drafts.size(), again = refused && model_->is_recurrent();
  // An answer may end or be left before the next token is known.
  const bool other = refused && n_waiting() != 0 && s.tokens[s.n_computed] != s.drafts[s.n_accepted];
  if (!s.drafts.empty()) draft_length_.add_outcome(s.n_accepted, other);
  if (again) s.n_computed = state_->return_to_mark(selected_);
  // Windowed layers still have the cells that the token before the proposed ones attends to.
  if (refused && !state_->remove(selected_, position_of(s.tokens, s.n_computed), -1) && again) {
    (void)state_->remove(selected_, 0, -1);
    s.n_computed = 0;
  }
  s.drafts.clear();
  s.n_accepted = 0;
  return again;
}

}  // namespace ggufscope
