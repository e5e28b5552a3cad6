// Grammars: which tokens may come next in a text.
//
// A grammar is compiled to a pushdown automaton over bytes. A state reads a byte or a token, branches, calls a rule, or
// ends one. The text so far corresponds to a set of configurations (state, stack of return states). Few different sets
// occur, so they are numbered, and the transitions between them are cached: a deterministic automaton, made lazily. The
// tokens that a set allows are found by walking the vocabulary's trie, and cached too.
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

/// The automaton. Immutable.
class Grammar {
 public:
  /// Compiles GBNF (gbnf.hpp). kInvalidArgument with the byte offset of a syntax error, or for left recursion;
  /// kOutOfRange for a grammar that is too large.
  /// Tokens in <> need the vocabulary: kInvalidArgument if it does not have the token, or if the text is several
  /// tokens.
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
  /// Bytes that no state distinguishes share a class.
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

/// The state of one text. Keeps a reference to the grammar.
class GrammarMatcher {
 public:
  explicit GrammarMatcher(const Grammar& grammar);

  /// Back to the empty text. The caches stay.
  void reset();
  /// Reads text; false, with nothing read, if the grammar does not allow it. kOutOfRange if the text has too many
  /// configurations.
  [[nodiscard]] Result<bool> read(std::string_view bytes);
  /// The same for a token: as a token that the grammar names, or by its text. Control tokens have no text.
  [[nodiscard]] Result<bool> read(TokenId id, std::string_view bytes);
  /// Whether the grammar names this token here.
  [[nodiscard]] bool names(TokenId id) const;
  /// Whether the text may end here (the grammar accepts it).
  [[nodiscard]] bool may_end() const { return sets_[now_].may_end; }
  /// Whether it must end: the grammar allows nothing more.
  [[nodiscard]] bool must_end() const { return sets_[now_].n_configurations == 0; }
  /// true for every token that may follow; valid until the next call. Pass the same trie in every call.
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
