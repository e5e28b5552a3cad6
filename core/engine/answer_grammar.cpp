// Applies a grammar to an answer, from its trigger on.
#include "engine/answer_grammar.hpp"

#include <algorithm>

namespace ggufscope {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

TokenTrie AnswerGrammar::trie_of(const Tokenizer& tokenizer) {
  // Control tokens have no text.
  std::vector<std::string_view> pieces(tokenizer.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!tokenizer.is_special(id) && !tokenizer.is_end_of_generation(id)) pieces[i] = tokenizer.piece(id);
  }
  return TokenTrie(pieces);
}

Result<void> AnswerGrammar::start(const std::string& gbnf, std::vector<GrammarTrigger> triggers,
                                  const Tokenizer& tokenizer, const TokenTrie& trie, bool ignore_end) {
  in_use_ = !gbnf.empty();
  if (!in_use_) return {};
  if (gbnf != gbnf_) {
    Result<Grammar> compiled = Grammar::compile(gbnf, "root", &tokenizer);
    if (!compiled) return std::unexpected(compiled.error());
    matcher_.reset();
    grammar_ = std::make_unique<Grammar>(std::move(*compiled));
    gbnf_ = gbnf;
    matcher_.emplace(*grammar_);
  }
  if (Result<void> good = matcher_->reset(); !good) return good;
  tokenizer_ = &tokenizer;
  trie_ = &trie;
  ignore_end_ = ignore_end;
  triggers_ = std::move(triggers);
  std::erase_if(triggers_, [](const GrammarTrigger& t) { return t.token == kNoToken && t.text.empty(); });
  begun_ = triggers_.empty();
  waiting_.clear();
  only_space_ = true;
  return {};
}

std::string_view AnswerGrammar::text_of(TokenId id) const {
  if (tokenizer_->is_special(id) || tokenizer_->is_end_of_generation(id)) return {};
  return tokenizer_->piece(id);
}

Result<bool> AnswerGrammar::read(TokenId id) {
  if (!begun_) return read_before(id, true);
  const bool ends = tokenizer_->is_end_of_generation(id);
  if (ends && matcher_->may_end() && !ignore_end_) return true;
  if (ends && !matcher_->names(id)) return false;
  return matcher_->read(id, text_of(id));
}

// The offset in the text of the earliest trigger. before: bytes of the text before the last token.
size_t AnswerGrammar::trigger_in(std::string_view text, size_t before) const {
  size_t first = std::string::npos;
  for (const GrammarTrigger& trigger : triggers_) {
    if (trigger.text.empty()) continue;
    const size_t size = trigger.text.size();
    size_t at = text.find(trigger.text, before >= size ? before - size + 1 : 0);
    if (trigger.at_start && at != std::string::npos &&
        !(only_space_ && std::ranges::all_of(text.substr(0, at), is_space)))
      at = std::string::npos;
    first = std::min(first, at);
  }
  return first;
}

// Before a trigger any token is allowed. A token that completes a trigger is allowed only if the grammar accepts the
// text from the trigger on. keep: read the token; otherwise only test it, with the limit of work that all tests share
// since the matcher's last reset.
Result<bool> AnswerGrammar::read_before(TokenId id, bool keep) {
  const std::string_view piece = text_of(id);
  const bool named = std::ranges::any_of(triggers_, [id](const GrammarTrigger& t) { return t.token == id; });
  std::string text = waiting_;
  text += piece;
  const size_t at = named ? std::string::npos : trigger_in(text, waiting_.size());
  if (named || at != std::string::npos) {
    const std::string_view rest = std::string_view(text).substr(named ? 0 : at);
    if (!keep && !named) return matcher_->accepts_at_start(rest);
    if (const Result<void> start = matcher_->reset(); !start) return std::unexpected(start.error());
    const Result<bool> good = named ? matcher_->read(id, piece) : matcher_->read(rest);
    if (good && *good && keep) begun_ = true;
    return good;
  }
  if (!keep) return true;
  size_t longest = 1;
  for (const GrammarTrigger& trigger : triggers_) longest = std::max(longest, trigger.text.size());
  const size_t dropped = text.size() - std::min(text.size(), longest - 1);
  only_space_ = only_space_ && std::ranges::all_of(std::string_view(text).substr(0, dropped), is_space);
  waiting_ = text.substr(dropped);
  return true;
}

Result<std::vector<bool>> AnswerGrammar::allowed() {
  if (!begun_) {
    if (const Result<void> start = matcher_->reset(); !start) return std::unexpected(start.error());
    std::vector<bool> out(trie_->n_tokens());
    for (size_t i = 0; i < out.size(); ++i) {
      const Result<bool> good = read_before(static_cast<TokenId>(i), false);
      if (!good) return std::unexpected(good.error());
      out[i] = *good;
    }
    return out;
  }
  const Result<const std::vector<bool>*> found = matcher_->allowed(*trie_);
  if (!found) return std::unexpected(found.error());
  std::vector<bool> out = **found;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (tokenizer_->is_end_of_generation(id)) out[i] = (matcher_->may_end() && !ignore_end_) || matcher_->names(id);
  }
  return out;
}

}  // namespace ggufscope
