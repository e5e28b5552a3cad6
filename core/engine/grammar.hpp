// Text held to a grammar: which tokens may come next.
//
// A grammar is compiled to a network over bytes: its states read a byte or a token, branch, call a rule, or end one. A
// text's readings so far are a set of configurations (state, stack of returns), and as few sets come again and again,
// they are numbered and the steps between them remembered: a deterministic automaton that is made while it is walked.
// The tokens that may follow a set are found by walking the vocabulary's tree with it, and remembered too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "engine/number_set.hpp"
#include "engine/token_trie.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

/// The network. Made once, never changed.
class Grammar {
 public:
  /// GBNF (gbnf.hpp). kInvalidArgument with the byte where the text is wrong, or for a rule that begins with itself;
  /// kOutOfRange for what is too large.
  /// Tokens in <> need the vocabulary: kInvalidArgument for those that it has not, or that are several tokens.
  [[nodiscard]] static Result<Grammar> compile(std::string_view gbnf, std::string_view root = "root",
                                               const Tokenizer* vocabulary = nullptr);

  enum class Op : uint8_t { kByte, kToken, kBranch, kCall, kEnd };
  struct State {
    Op op;
    uint8_t first, last;  ///< kByte: the bytes that lead to next; kToken: first is 1 where any other token does
    uint32_t next;        ///< kCall: where to go on after the rule
    uint32_t other;       ///< kBranch: the other way; kCall: the rule's first state; kToken: the id
  };
  [[nodiscard]] const State& state(uint32_t i) const { return states_[i]; }
  [[nodiscard]] size_t n_states() const { return states_.size(); }
  [[nodiscard]] uint32_t start() const { return start_; }
  /// Bytes that no state tells apart have one class.
  [[nodiscard]] uint8_t byte_class(uint8_t byte) const { return class_of_[byte]; }
  [[nodiscard]] uint32_t n_classes() const { return n_classes_; }
  [[nodiscard]] bool has_tokens() const { return has_tokens_; }

 private:
  friend class GrammarCompiler;
  std::vector<State> states_;
  std::array<uint8_t, 256> class_of_{};
  uint32_t n_classes_ = 0, start_ = 0;
  bool has_tokens_ = false;
};

/// A text as far as it was read. Borrows the grammar.
class GrammarMatcher {
 public:
  explicit GrammarMatcher(const Grammar& grammar);

  /// Back to the empty text. What was remembered stays.
  void reset();
  /// Reads on; false, with nothing read, where the grammar does not go on like this. kOutOfRange where the text can be
  /// read in too many ways.
  [[nodiscard]] Result<bool> read(std::string_view bytes);
  /// The same of a token: as one that the grammar names, or by its text; a control token has none.
  [[nodiscard]] Result<bool> read(TokenId id, std::string_view bytes);
  /// Whether this very token may come, by its name in the grammar.
  [[nodiscard]] bool names(TokenId id) const;
  /// Whether the text may end here.
  [[nodiscard]] bool may_end() const { return sets_[now_].may_end; }
  /// Whether it must.
  [[nodiscard]] bool must_end() const { return sets_[now_].n_configurations == 0; }
  /// true for every token that may follow; holds until the next call. The trie is the same in every call.
  [[nodiscard]] Result<const std::vector<bool>*> allowed(const TokenTrie& trie);

 private:
  struct Configuration {
    uint32_t state, stack;
    friend bool operator==(Configuration, Configuration) = default;
    friend auto operator<=>(Configuration, Configuration) = default;
  };
  struct Frame {
    uint32_t next, below;
  };
  struct Set {
    size_t first;  ///< in configurations_
    uint32_t n_configurations;
    bool may_end;
  };
  using Id = uint32_t;

  [[nodiscard]] uint32_t push(uint32_t next, uint32_t below);
  void close(Configuration start);
  [[nodiscard]] Result<Id> walk(std::string_view bytes);
  [[nodiscard]] Id intern();
  [[nodiscard]] Id step(Id from, uint8_t byte);
  [[nodiscard]] Id make_step(Id from, uint8_t byte);
  void forget_all_but_now();
  void forget();

  const Grammar* grammar_;
  std::vector<Frame> stacks_;  // [0]: the empty one
  std::unordered_map<uint64_t, uint32_t> stack_ids_;
  std::vector<Configuration> configurations_;
  std::vector<Set> sets_;  // [0]: the empty one, from which nothing goes on
  std::unordered_multimap<uint64_t, Id> set_ids_;
  std::vector<Id> steps_;  // [sets, classes]
  std::unordered_map<Id, std::vector<bool>> allowed_;
  Id start_ = 0, now_ = 0;

  // The set in the making.
  std::vector<Configuration> open_, made_;
  NumberSet seen_;
  bool made_may_end_ = false;
  uint64_t work_ = 0;  // states visited since the last call from outside
  std::vector<Id> path_;
};

}  // namespace ggufscope
