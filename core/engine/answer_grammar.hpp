// The part of an answer that a grammar constrains: all of it, or everything from a trigger on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar.hpp"
#include "engine/token_trie.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

/// What activates a lazy grammar: this token or this text. The text may begin in the middle of a token.
struct GrammarTrigger {
  std::string text;
  TokenId token = kNoToken;
  bool at_start = false;  ///< for a text: only if nothing but white space comes before it
};

/// The grammar of one answer. The tokenizer and the trie of its tokens must outlive it.
class AnswerGrammar {
 public:
  /// The trie of all tokens that produce text.
  [[nodiscard]] static TokenTrie trie_of(const Tokenizer& tokenizer);

  /// Starts an answer. An empty grammar accepts any text. With triggers, the grammar reads from the first trigger on.
  /// The last compiled grammar is kept for reuse. Errors of Grammar::compile.
  [[nodiscard]] Result<void> start(const std::string& gbnf, std::vector<GrammarTrigger> triggers,
                                   const Tokenizer& tokenizer, const TokenTrie& trie, bool ignore_end);
  /// Removes the grammar: any token is allowed.
  void leave() { in_use_ = false; }
  [[nodiscard]] bool in_use() const { return in_use_; }

  /// Reads a token. If the grammar does not allow it, returns false and reads nothing. Errors of GrammarMatcher::read.
  [[nodiscard]] Result<bool> read(TokenId id);
  /// true for every token that is allowed next. Errors of GrammarMatcher::allowed.
  [[nodiscard]] Result<std::vector<bool>> allowed();
  /// True if the answer may end here; must_end(): if it must.
  [[nodiscard]] bool may_end() const { return !begun_ || matcher_->may_end(); }
  [[nodiscard]] bool must_end() const { return begun_ && matcher_->must_end(); }

 private:
  [[nodiscard]] std::string_view text_of(TokenId id) const;
  [[nodiscard]] Result<bool> read_before(TokenId id, bool keep);
  [[nodiscard]] size_t trigger_in(std::string_view text, size_t before) const;

  std::string gbnf_;
  std::unique_ptr<Grammar> grammar_;
  std::optional<GrammarMatcher> matcher_;
  std::vector<GrammarTrigger> triggers_;
  const Tokenizer* tokenizer_ = nullptr;
  const TokenTrie* trie_ = nullptr;
  bool in_use_ = false, begun_ = false, ignore_end_ = false;
  std::string waiting_;     // the end of the answer's text so far, which may be the beginning of a trigger
  bool only_space_ = true;  // only white space came before waiting_
};

}  // namespace ggufscope
