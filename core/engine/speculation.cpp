// Speculative decoding: tokens proposed by prompt lookup or a draft model are computed in one batch.
#include <algorithm>

#include "base/sentence.hpp"
#include "engine/media.hpp"
#include "engine/session.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxPadding = 128;  // allowed difference between vocabulary sizes, as in llama.cpp
constexpr size_t kMinMatch = 2;      // tokens that must match before following tokens are proposed

}  // namespace

Result<void> Session::set_draft(Session& draft) {
  for (const Session* one : {this, &draft})
    if (one->model_->is_recurrent() || one->model_->has_encoder() || !one->model_->hparams().causal)
      return fail(
          ErrorCode::kUnsupported,
          one->architecture_ + " cannot remove tokens from its state: it can be neither a draft model nor have one");
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
  draft.pool_ = pool_;
  draft_ = &draft;
  return {};
}

std::vector<TokenId> Session::guess() {
  const Text& t = text();
  const size_t size = t.tokens.size(), n_free = state_->n_free_cells();
  if (model_->is_recurrent() || model_->has_encoder() || size >= n_context() || n_free < 2) return {};
  const size_t room = std::min({size_t{state_->options().n_batch} - 1, n_context() - size, n_free - 1});
  std::vector<TokenId> guesses = look_up(std::min<size_t>(t.options.n_guesses, room));
  if (guesses.empty() && draft_ != nullptr)
    guesses = draft_->propose(now_, t.tokens, std::min<size_t>(t.options.n_draft, room));
  const auto unknown = [this](TokenId id) { return static_cast<uint32_t>(id) >= model_->hparams().n_vocab; };
  guesses.erase(std::find_if(guesses.begin(), guesses.end(), unknown), guesses.end());
  return guesses;
}

// Prompt lookup: finds an earlier occurrence of the last tokens and proposes what followed it. A longer match proposes
// more tokens.
std::vector<TokenId> Session::look_up(size_t most) const {
  const Text& t = text();
  const size_t size = t.tokens.size();
  if (most == 0) return {};
  const size_t enough = std::max<size_t>(most, kMinMatch);
  size_t longest = kMinMatch - 1, after = size;
  for (size_t end = size - 1; end > longest && longest < enough; --end) {
    size_t n = 0;
    while (n < std::min(end, enough) && t.tokens[end - 1 - n] == t.tokens[size - 1 - n]) ++n;
    if (n > longest) longest = n, after = end;
  }
  const auto from = t.tokens.begin() + static_cast<ptrdiff_t>(after);
  const auto end = from + static_cast<ptrdiff_t>(std::min({most, longest, size - after}));
  return {from, std::find_if(from, end, is_media)};
}

// Computes the tokens of a sequence that are not in the cache. Returns false if they do not fit.
bool Session::follow(uint32_t sequence, std::span<const TokenId> tokens) {
  if (!state_ || sequence >= n_texts() || tokens.size() > n_context()) return false;
  now_ = sequence;
  Text& t = text();
  size_t same = 0;  // the last token is always computed, for its logits
  while (same < std::min(t.n_computed, tokens.size() - 1) && t.tokens[same] == tokens[same]) ++same;
  if (same < t.n_computed && !state_->remove(now_, static_cast<int32_t>(same), -1)) {
    (void)state_->remove(now_, 0, -1);
    same = 0;
  }
  t.tokens.assign(tokens.begin(), tokens.end());
  t.n_computed = same;
  return compute(n_waiting(), {}).has_value();
}

// The greedy continuation of a sequence by at most n tokens.
std::vector<TokenId> Session::propose(uint32_t sequence, std::span<const TokenId> tokens, size_t n) {
  std::vector<TokenId> proposed;
  if (n == 0 || !follow(sequence, tokens)) return proposed;
  Text& t = text();
  while (true) {
    const TokenId id = argmax(logits());
    if (id < 0) return proposed;
    proposed.push_back(id);
    const bool ends = tokenizer_ && tokenizer_->is_end_of_generation(id);
    if (proposed.size() == n || ends || t.tokens.size() >= n_context()) return proposed;
    t.tokens.push_back(id);
    if (!compute(1, {})) return proposed;
  }
}

// True if the single pending token is the next proposed token, which is already computed.
bool Session::was_guessed() {
  Text& t = text();
  if (t.n_right == t.guesses.size() || t.tokens[t.n_computed] != t.guesses[t.n_right]) return false;
  ++t.n_right;
  ++t.n_guessed;
  ++t.n_computed;
  return true;
}

void Session::forget_guesses() {
  Text& t = text();
  // Windowed layers still have the cells that the token before the proposed ones attends to.
  if (t.n_right < t.guesses.size()) (void)state_->remove(now_, position_of(t.tokens, t.n_computed), -1);
  t.guesses.clear();
  t.n_right = 0;
}

}  // namespace ggufscope
