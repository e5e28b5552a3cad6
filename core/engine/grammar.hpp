// Grammars: they determine which tokens may come next in a text.
//
// A grammar is compiled to a pushdown automaton over bytes. A state reads a byte or a token, branches, calls a rule,
// repeats one, or ends one. The text so far corresponds to a set of configurations (state, stack of return states).
// Only a few different sets occur, so they are numbered, and the transitions between them are cached: a lazily built
// deterministic automaton. The tokens that a set allows are found by walking the vocabulary's trie, and are cached,
// too.
//
// Repetitions are counted on the stack (counting automata; Turonova et al. 2020), not copied. A configuration is
// dropped if another one, which differs only in its counts, allows every text that it allows. So nested repetitions do
// not multiply. Compiling and each call of a matcher have a limit of work, and so of time and memory.
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
  /// Compiles GBNF (gbnf.hpp). Errors: kInvalidArgument with the byte offset for a syntax error, or for left recursion;
  /// kOutOfRange for a grammar that is too large or names too many tokens. Tokens in <> need the vocabulary;
  /// kInvalidArgument if it does not have the token, or if the text is several tokens.
  [[nodiscard]] static Result<Grammar> compile(std::string_view gbnf, std::string_view root = "root",
                                               const Tokenizer* vocabulary = nullptr);

  enum class Op : uint8_t { kByte, kToken, kBranch, kCall, kRepeat, kEnd };
  struct State {
    Op op;
    uint8_t first, last;  ///< kByte: the range of bytes that lead to next; kToken: first is 1 for "any other token"
    uint32_t next;        ///< kCall: the state after the rule; kRepeat: the state after the repetition
    uint32_t other;  ///< kBranch: the second branch; kCall: the rule's first state; kToken: the id; kRepeat: its index
  };
  /// A repetition that is counted.
  struct Repeat {
    uint32_t item;      ///< the first state of the repeated rule
    uint32_t min, max;  ///< max kNoLimit: unlimited; min is 0 if the item may be empty
  };
  static constexpr uint32_t kNoLimit = UINT32_MAX;
  [[nodiscard]] const State& state(uint32_t i) const { return states_[i]; }
  [[nodiscard]] const Repeat& repeat(const State& state) const { return repeats_[state.other]; }
  [[nodiscard]] size_t n_states() const { return states_.size(); }
  [[nodiscard]] uint32_t start() const { return start_; }
  /// Bytes that no state distinguishes have the same class.
  [[nodiscard]] uint8_t byte_class(uint8_t byte) const { return class_of_[byte]; }
  [[nodiscard]] uint32_t n_classes() const { return n_classes_; }
  [[nodiscard]] bool has_tokens() const { return has_tokens_; }

 private:
  friend class GrammarCompiler;
  std::vector<State> states_;
  std::vector<Repeat> repeats_;
  std::array<uint8_t, 256> class_of_{};
  uint32_t n_classes_ = 0, start_ = 0;
  bool has_tokens_ = false;
};

/// The state of one text. The grammar must outlive it.
class GrammarMatcher {
 public:
  explicit GrammarMatcher(const Grammar& grammar);

  /// Returns to the empty text. The caches are kept. Error: kOutOfRange if the grammar can begin in too many ways; then
  /// every call fails with it.
  [[nodiscard]] Result<void> reset();
  /// Reads text. If the grammar does not allow it, returns false and reads nothing. Error: kOutOfRange if the text has
  /// too many configurations.
  [[nodiscard]] Result<bool> read(std::string_view bytes);
  /// The same for a token, which is read by its id if the grammar names it, or else by its text. Control tokens have no
  /// text. The same error.
  [[nodiscard]] Result<bool> read(TokenId id, std::string_view bytes);
  /// True if the grammar allows these bytes at its start, where the state is afterwards. All calls since the last reset
  /// share one limit of work. Error: kOutOfRange as in read.
  [[nodiscard]] Result<bool> accepts_at_start(std::string_view bytes);
  /// True if the grammar names this token at this point.
  [[nodiscard]] bool names(TokenId id) const;
  /// True if the text may end here, that is, if the grammar accepts it.
  [[nodiscard]] bool may_end() const { return sets_[now_].may_end; }
  /// True if the text must end here, because the grammar allows nothing more.
  [[nodiscard]] bool must_end() const { return sets_[now_].n_configurations == 0; }
  /// true for every token that is allowed next. Valid until the next call. Every call must pass the same trie. Error:
  /// kOutOfRange as in read.
  [[nodiscard]] Result<const std::vector<bool>*> allowed(const TokenTrie& trie);

 private:
  struct Configuration {
    uint32_t state, stack;
    friend bool operator==(Configuration, Configuration) = default;
    friend auto operator<=>(Configuration, Configuration) = default;
  };
  struct Frame {
    uint32_t next, below;
    uint32_t count = 0;  ///< 0: next is a return state; else next repeats, and this is its count of begun items
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct FrameHash {
    size_t operator()(const Frame& f) const;
  };
  struct Set {
    size_t first;  ///< index in configurations_
    uint32_t n_configurations;
    bool may_end;
  };
  using Id = uint32_t;

  [[nodiscard]] uint32_t push(const Frame& frame);
  [[nodiscard]] uint32_t push_return(uint32_t next, uint32_t below);
  void clear_set();
  [[nodiscard]] bool covers(uint32_t a, uint32_t b);
  [[nodiscard]] bool add(Configuration c);
  void visit(Configuration c);
  void visit_item(uint32_t repeat, uint32_t below, uint32_t count);
  void end_rule(uint32_t stack);
  void close(Configuration start);
  void drop_covered();
  [[nodiscard]] bool too_much_work() const;
  [[nodiscard]] Result<Id> walk(Id from, std::string_view bytes);
  [[nodiscard]] Id intern();
  [[nodiscard]] Id step(Id from, uint8_t byte);
  [[nodiscard]] Id make_step(Id from, uint8_t byte);
  [[nodiscard]] bool caches_are_full() const;
  void drop_unused_sets();
  void clear_caches();

  const Grammar* grammar_;
  std::vector<Frame> stacks_;     // [0] is the empty stack
  std::vector<uint32_t> shapes_;  // for each stack, the one that it would be without its counts; without counts, itself
  std::unordered_map<Frame, uint32_t, FrameHash> stack_ids_;
  std::vector<Configuration> configurations_;
  std::vector<Set> sets_;  // [0] is the empty set, which allows nothing
  std::unordered_multimap<uint64_t, Id> set_ids_;
  std::vector<Id> steps_;  // [sets, classes]
  std::unordered_map<Id, std::vector<bool>> allowed_;
  Id start_ = 0, now_ = 0;

  // The set that is being built.
  std::vector<Configuration> open_, made_;
  NumberSet seen_;
  // With counts: by state and shape, the stacks of which none covers another.
  std::unordered_map<uint64_t, std::vector<uint32_t>> best_;
  bool made_may_end_ = false;
  uint64_t n_compared_ = 0;  // frames
  uint64_t work_ = 0;        // states visited during the current public call
  std::vector<Id> path_;
};

}  // namespace ggufscope
