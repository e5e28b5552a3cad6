// The part of an answer to which a grammar applies: all of it, or everything from a trigger on.
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

/// Where a lazy grammar begins: at this token, or where this text begins. Token borders may cut the text anywhere.
struct GrammarTrigger {
  std::string text;
  TokenId token = kNoToken;
  bool at_start = false;  ///< for a text: only if nothing but white space comes before it
};

/// The grammar of one answer. Keeps references to the tokenizer and to the trie of its tokens.
class AnswerGrammar {
 public:
  /// The trie of tokens that make text.
  [[nodiscard]] static TokenTrie trie_of(const Tokenizer& tokenizer);

  /// Begins an answer; an empty grammar accepts any text. With triggers the grammar reads from the first of them on.
  /// The last compiled grammar is kept for reuse. Errors of Grammar::compile.
  [[nodiscard]] Result<void> begin(const std::string& gbnf, std::vector<GrammarTrigger> triggers,
                                   const Tokenizer& tokenizer, const TokenTrie& trie, bool ignore_end);
  /// No grammar: any token may come.
  void leave() { in_use_ = false; }
  [[nodiscard]] bool in_use() const { return in_use_; }

  /// Reads a token; false, with nothing read, if the grammar does not allow it.
  [[nodiscard]] Result<bool> read(TokenId id);
  /// true for every token that may come next.
  [[nodiscard]] Result<std::vector<bool>> allowed();
  /// Whether the answer may end here, and whether it must.
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
  std::string waiting_;     // the end of the answer before a trigger: text that may begin one
  bool only_space_ = true;  // before waiting_
};

}  // namespace ggufscope
