// Proposals of draft models that do not compute the text themselves: assistants read the cache of their target, and
// block drafts keep keys and values of its states.
#include <algorithm>

#include "engine/media.hpp"
#include "engine/session.hpp"
#include "model/mixers/block_draft.hpp"

namespace ggufscope {

// All proposed tokens have the position of the last token, which the target has not computed.
std::vector<TokenId> Session::propose_from_cache(Session& target, size_t n) {
  const Sequence& s = target.selected();
  const size_t n_state = model_->n_input(), n_known = s.tokens.size() - 1;
  std::vector<TokenId> proposed;
  if (!state_ || n_known == 0 || s.n_computed < n_known || s.states.size() < n_known * n_state) return proposed;
  const int32_t sequence = static_cast<int32_t>(target.selected_), position = target.position_of(s.tokens, n_known);
  TokenId last = s.tokens.back();
  const auto end = s.states.begin() + static_cast<ptrdiff_t>(n_known * n_state);
  std::vector<float> state(end - static_cast<ptrdiff_t>(n_state), end), logits(model_->n_output());
  seen_.resize(model_->hparams().n_embd);
  while (proposed.size() < n && last >= 0) {
    Batch batch;
    batch.tokens = {&last, 1};
    batch.positions = {&position, 1};
    batch.sequences = {&sequence, 1};
    batch.inputs = state;
    batch.watched = watched_;
    batch.seen = seen_.data();
    batch.target = target.state_.get();
    if (!forward(*model_, *state_, *pool_, batch, logits.data())) break;
    last = argmax(logits);
    if (last >= 0) proposed.push_back(last);
    if (tokenizer_ && last >= 0 && tokenizer_->is_end_of_generation(last)) break;
    next_states(*model_, *pool_, seen_, state.data());
  }
  return proposed;
}

// Stores the keys and values of the states that there are.
bool Session::follow_states(uint32_t sequence, std::span<const TokenId> tokens, std::span<const float> states) {
  const size_t n_state = model_->n_input(), n = std::min(tokens.size(), states.size() / n_state);
  tokens = tokens.first(n);
  // The states of media are not those of a text, and have positions of their own.
  if (!state_ || sequence >= n_sequences() || n == 0 || n >= n_context() || std::ranges::any_of(tokens, is_media))
    return false;
  selected_ = sequence;
  reuse_prefix(tokens, n);
  Sequence& s = selected();
  if (s.n_computed == n) return true;
  const std::vector<int32_t> sequences(n, static_cast<int32_t>(sequence));
  const std::vector<uint8_t> no_outputs(n, 0);
  Batch batch;
  batch.tokens = tokens.subspan(s.n_computed);
  batch.sequences = std::span(sequences).subspan(s.n_computed);
  batch.output_mask = std::span(no_outputs).subspan(s.n_computed);
  batch.inputs = states.subspan(s.n_computed * n_state, (n - s.n_computed) * n_state);
  const bool done = forward(*model_, *state_, *pool_, batch, nullptr).has_value();
  if (done) {
    s.n_computed = n;
  } else {
    (void)state_->remove(selected_, 0, -1);
    s.n_computed = 0;
  }
  return done;
}

std::vector<TokenId> Session::propose_block(Session& target, size_t n) {
  const std::vector<TokenId>& tokens = target.selected().tokens;
  const DraftSizes& d = model_->hparams().part<DraftSizes>();
  if (n == 0 ||
      !follow_states(target.selected_, std::span(tokens).first(tokens.size() - 1), target.selected().states) ||
      selected().n_computed + 1 != tokens.size())
    return {};
  const size_t anchor = d.from_anchor ? 0 : 1, n_computed = selected().n_computed;
  const size_t size = std::min({n + anchor, size_t{d.block}, size_t{state_->options().n_batch},
                                n_context() - n_computed, state_->n_free_cells()});
  if (size <= anchor) return {};
  std::vector<TokenId> block(size, static_cast<TokenId>(d.mask));
  block[0] = tokens.back();
  const std::vector<int32_t> sequences(size, static_cast<int32_t>(selected_));
  std::vector<float> logits(size * model_->n_output());
  seen_.resize(size * model_->hparams().n_embd);
  Batch batch;
  batch.tokens = block;
  batch.sequences = sequences;
  batch.both_ways = !d.causal;
  batch.watched = watched_;
  batch.seen = seen_.data();
  const Result<void> done = forward(*model_, *state_, *pool_, batch, logits.data());
  (void)state_->remove(selected_, static_cast<int32_t>(n_computed), -1);
  if (!done) return {};
  return choose_block(*model_, *pool_, block[0], logits, seen_);
}

}  // namespace ggufscope
