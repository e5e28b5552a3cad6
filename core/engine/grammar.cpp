// Compiles a grammar's syntax tree to an automaton over bytes.
#include "engine/grammar.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "engine/gbnf.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

using gbnf::CodePoints;
using gbnf::Expression;
using Kind = Expression::Kind;
using Op = Grammar::Op;

constexpr size_t kMaxStates = size_t{1} << 20;
constexpr uint32_t kMaxCopies = 16;  // a small item that is repeated more often is counted
// Limits for the tokens that a grammar names, because each is a search in the vocabulary.
constexpr size_t kMaxTokens = size_t{1} << 16, kMaxTokenText = 1024;
constexpr uint32_t kEnd = 0;  // the state that ends every rule

}  // namespace

// Builds the automaton from the syntax tree, back to front: emit(what, next) creates the states that read `what` and
// continue at `next`.
class GrammarCompiler {
 public:
  GrammarCompiler(const gbnf::Rules& rules, const Tokenizer* vocabulary) : rules_(rules), vocabulary_(vocabulary) {
    add({.op = Op::kEnd, .first = 0, .last = 0, .next = 0, .other = 0});
  }

  Result<Grammar> compile() {
    if (const Result<void> found = find_tokens(); !found) return std::unexpected(found.error());
    starts_.resize(rules_.rules.size());
    for (uint32_t i = 0; i < rules_.rules.size(); ++i) names_.push_back(i);
    for (uint32_t i = 0; i < rules_.rules.size(); ++i) {
      current_ = i;
      starts_[i] = emit(rules_.rules[i].body, kEnd);
    }
    if (too_large_)
      return fail(ErrorCode::kOutOfRange,
                  "the grammar is too large: more than " + std::to_string(kMaxStates) + " states");
    for (Grammar::State& s : grammar_.states_)
      if (s.op == Op::kCall) {
        calls_.push_back(s.other);
        s.other = starts_[s.other];
      } else {
        calls_.push_back(s.op == Op::kRepeat ? repeated_[s.other] : 0);
      }
    const std::vector<bool> empty = empty_states();
    // Empty items can make up any count.
    for (Grammar::Repeat& repeat : grammar_.repeats_)
      if (empty[repeat.item]) repeat.min = 0;
    if (const Result<void> good = refuse_left_recursion(empty); !good) return std::unexpected(good.error());
    grammar_.start_ = starts_[rules_.root];
    find_classes();
    return std::move(grammar_);
  }

 private:
  uint32_t add(Grammar::State state) {
    if (grammar_.states_.size() >= kMaxStates) {
      too_large_ = true;
      return kEnd;
    }
    grammar_.states_.push_back(state);
    return static_cast<uint32_t>(grammar_.states_.size() - 1);
  }
  uint32_t byte(uint8_t first, uint8_t last, uint32_t next) {
    return add({.op = Op::kByte, .first = first, .last = last, .next = next, .other = 0});
  }
  uint32_t branch(uint32_t next, uint32_t other) {
    return add({.op = Op::kBranch, .first = 0, .last = 0, .next = next, .other = other});
  }
  uint32_t call(uint32_t rule, uint32_t next) {
    return add({.op = Op::kCall, .first = 0, .last = 0, .next = next, .other = rule});
  }

  uint32_t emit(const Expression& e, uint32_t next) {
    if (too_large_) return kEnd;
    switch (e.kind) {
      case Kind::kText:
        for (size_t i = e.text.size(); i-- > 0;)
          next = byte(static_cast<uint8_t>(e.text[i]), static_cast<uint8_t>(e.text[i]), next);
        return next;
      case Kind::kClass:
        return emit_class(e, next);
      case Kind::kRule:
        return call(e.rule, next);
      case Kind::kToken:
        return add(
            {.op = Op::kToken, .first = e.negated, .last = e.negated, .next = next, .other = token_ids_[e.rule]});
      case Kind::kSequence:
        for (size_t i = e.items.size(); i-- > 0;) next = emit(e.items[i], next);
        return next;
      case Kind::kChoice: {
        uint32_t all = emit(e.items.back(), next);
        for (size_t i = e.items.size() - 1; i-- > 0;) all = branch(emit(e.items[i], next), all);
        return all;
      }
      case Kind::kRepeat:
        return emit_repeat(e, next);
    }
    return next;
  }

  // Resolves the tokens that the grammar names.
  Result<void> find_tokens() {
    grammar_.has_tokens_ = !rules_.tokens.empty();
    for (const gbnf::Token& token : rules_.tokens) {
      const auto wrong = [&](const std::string& what) {
        return fail(ErrorCode::kInvalidArgument, token.offset, what, "the grammar");
      };
      if (vocabulary_ == nullptr) return wrong("a token, and no vocabulary");
      if (token_ids_.size() == kMaxTokens)
        return fail(ErrorCode::kOutOfRange, token.offset, "more than " + std::to_string(kMaxTokens) + " tokens",
                    "the grammar");
      uint32_t id = token.id;
      if (token.text.size() > kMaxTokenText)
        return wrong("a text of " + std::to_string(token.text.size()) + " bytes is no token");
      if (!token.text.empty()) {
        const std::vector<TokenId> ids = vocabulary_->encode(token.text, {.special = true});
        if (ids.size() != 1) return wrong(token.text + " is not one token of the vocabulary");
        id = static_cast<uint32_t>(ids[0]);
      }
      if (id >= vocabulary_->size()) return wrong("no token " + std::to_string(id));
      token_ids_.push_back(id);
    }
    return {};
  }

  // True for what is copied: an item of few states that contains no repetition.
  static bool is_small(const Expression& e) {
    return e.kind == Kind::kToken || (e.kind == Kind::kText && e.text.size() <= 2) ||
           (e.kind == Kind::kClass && e.ranges.size() <= 2 && e.ranges.back().last <= 0x7F);
  }

  uint32_t emit_repeat(const Expression& e, uint32_t next) {
    const Expression& item = e.items[0];
    const bool endless = e.max == gbnf::kNoLimit;
    if (e.max == 0) return next;
    if (endless && e.min <= 1) {
      const uint32_t again = branch(kEnd, next), body = emit(item, again);
      grammar_.states_[again].next = body;
      return e.min == 0 ? again : body;
    }
    if (e.max == 1 || (!endless && e.max <= kMaxCopies && is_small(item))) {
      uint32_t at = next;
      for (uint32_t i = e.min; i < e.max; ++i) at = branch(emit(item, at), next);
      for (uint32_t i = 0; i < e.min; ++i) at = emit(item, at);
      return at;
    }
    // The item becomes a separate rule.
    const uint32_t start = emit(item, kEnd);
    repeated_.push_back(static_cast<uint32_t>(starts_.size()));
    starts_.push_back(start);
    names_.push_back(current_);
    grammar_.repeats_.push_back({start, e.min, e.max});
    const auto index = static_cast<uint32_t>(grammar_.repeats_.size() - 1);
    return add({.op = Op::kRepeat, .first = 0, .last = 0, .next = next, .other = index});
  }

  uint32_t emit_class(const Expression& e, uint32_t next) {
    tails_.clear();
    std::vector<uint32_t> ways;
    for (const CodePoints range : e.ranges) {
      emit_range(range.first, range.last, next, ways);
      if (too_large_) return kEnd;
    }
    uint32_t all = ways.back();
    for (size_t i = ways.size() - 1; i-- > 0;) all = branch(ways[i], all);
    return all;
  }

  // Splits a range of code points until the UTF-8 of each part is a product of byte ranges, as RE2 does.
  void emit_range(uint32_t first, uint32_t last, uint32_t next, std::vector<uint32_t>& ways) {
    for (const uint32_t max : {0x7Fu, 0x7FFu, 0xFFFFu}) {
      if (first <= max && last > max) {
        emit_range(first, max, next, ways);
        return emit_range(max + 1, last, next, ways);
      }
    }
    if (last > 0x7F) {
      for (uint32_t bits = 6; bits <= 18; bits += 6) {
        const uint32_t low = (1u << bits) - 1;
        if ((first & ~low) == (last & ~low)) break;
        if ((first & low) != 0) {
          emit_range(first, first | low, next, ways);
          return emit_range((first | low) + 1, last, next, ways);
        }
        if ((last & low) != low) {
          emit_range(first, (last & ~low) - 1, next, ways);
          return emit_range(last & ~low, last, next, ways);
        }
      }
    }
    std::string from, to;
    append_utf8(from, first);
    append_utf8(to, last);
    uint32_t at = next;
    for (size_t i = from.size(); i-- > 0;) {
      const auto a = static_cast<uint8_t>(from[i]), b = static_cast<uint8_t>(to[i]);
      const auto [found, added] = tails_.try_emplace({a, b, at}, 0);
      if (added) found->second = byte(a, b, at);
      at = found->second;
    }
    ways.push_back(at);
  }

  // The first state of the rule that a state calls or repeats; a branch's second state.
  uint32_t other(const Grammar::State& s) const { return s.op == Op::kRepeat ? grammar_.repeat(s).item : s.other; }
  bool may_skip(const Grammar::State& s) const { return s.op == Op::kRepeat && grammar_.repeat(s).min == 0; }

  // Finds the states from which the end of their rule can be reached without reading, by backward propagation.
  std::vector<bool> empty_states() const {
    const std::vector<Grammar::State>& states = grammar_.states_;
    std::vector<uint32_t> first(states.size() + 1, 0), from;
    const auto each = [&](const auto& use) {
      for (uint32_t i = 0; i < states.size(); ++i)
        if (states[i].op == Op::kBranch || states[i].op == Op::kCall || states[i].op == Op::kRepeat)
          use(states[i].next, i), use(other(states[i]), i);
    };
    each([&](uint32_t to, uint32_t) { ++first[to]; });
    uint32_t sum = 0;
    for (uint32_t& f : first) sum += f, f = sum;
    from.resize(sum);
    each([&](uint32_t to, uint32_t i) { from[--first[to]] = i; });
    std::vector<bool> empty(states.size(), false);
    std::vector<uint32_t> open{kEnd};
    empty[kEnd] = true;
    while (!open.empty()) {
      const uint32_t s = open.back();
      open.pop_back();
      for (uint32_t k = first[s]; k < first[s + 1]; ++k) {
        const Grammar::State& before = states[from[k]];
        if (empty[from[k]]) continue;
        if (before.op != Op::kBranch && !(empty[before.next] && (empty[other(before)] || may_skip(before)))) continue;
        empty[from[k]] = true;
        open.push_back(from[k]);
      }
    }
    return empty;
  }

  // Refuses left recursion: a rule that can begin with itself, directly or indirectly, would call itself endlessly.
  Result<void> refuse_left_recursion(const std::vector<bool>& empty) const {
    const std::vector<Grammar::State>& states = grammar_.states_;
    std::vector<std::vector<uint32_t>> begins(starts_.size());  // rules with which a rule can begin
    std::vector<uint32_t> seen(states.size(), UINT32_MAX), open;
    for (uint32_t rule = 0; rule < starts_.size(); ++rule) {
      const auto visit = [&](uint32_t s) {
        if (seen[s] != rule) seen[s] = rule, open.push_back(s);
      };
      visit(starts_[rule]);
      while (!open.empty()) {
        const uint32_t at = open.back();
        const Grammar::State& s = states[at];
        open.pop_back();
        if (s.op == Op::kBranch) visit(s.next), visit(s.other);
        if (s.op == Op::kCall || s.op == Op::kRepeat) {
          begins[rule].push_back(calls_[at]);
          if (empty[other(s)] || may_skip(s)) visit(s.next);
        }
      }
    }
    enum : uint8_t { kNew, kOpen, kDone };
    std::vector<uint8_t> colour(starts_.size(), kNew);
    std::vector<std::pair<uint32_t, size_t>> path;
    for (uint32_t root = 0; root < starts_.size(); ++root) {
      if (colour[root] != kNew) continue;
      path.assign(1, {root, 0});
      colour[root] = kOpen;
      while (!path.empty()) {
        const uint32_t rule = path.back().first;
        if (path.back().second == begins[rule].size()) {
          colour[rule] = kDone;
          path.pop_back();
          continue;
        }
        const uint32_t to = begins[rule][path.back().second++];
        if (colour[to] == kOpen) {
          const gbnf::Rule& named = rules_.rules[names_[to]];
          return fail(ErrorCode::kInvalidArgument, named.offset,
                      "left recursion (the rule " + named.name + " may begin with itself)", "the grammar");
        }
        if (colour[to] == kNew) {
          colour[to] = kOpen;
          path.emplace_back(to, 0);
        }
      }
    }
    return {};
  }

  void find_classes() {
    std::array<bool, 257> border{};
    for (const Grammar::State& s : grammar_.states_)
      if (s.op == Op::kByte) border[s.first] = border[s.last + size_t{1}] = true;
    uint8_t now = 0;
    for (size_t b = 0; b < 256; ++b) {
      if (b != 0 && border[b]) ++now;
      grammar_.class_of_[b] = now;
    }
    grammar_.n_classes_ = now + 1u;
  }

  const gbnf::Rules& rules_;
  const Tokenizer* vocabulary_;
  std::vector<uint32_t> token_ids_;
  Grammar grammar_;
  std::vector<uint32_t> starts_;    // indexed by rule; unnamed rules come last
  std::vector<uint32_t> names_;     // for each rule, the named rule that contains it
  std::vector<uint32_t> calls_;     // for each state, the rule that it calls or repeats
  std::vector<uint32_t> repeated_;  // for each counted repetition, the rule of its item
  std::map<std::tuple<uint8_t, uint8_t, uint32_t>, uint32_t> tails_;
  uint32_t current_ = 0;
  bool too_large_ = false;
};

Result<Grammar> Grammar::compile(std::string_view gbnf, std::string_view root, const Tokenizer* vocabulary) {
  const Result<gbnf::Rules> rules = gbnf::parse(gbnf, root);
  if (!rules) return std::unexpected(rules.error());
  return GrammarCompiler(*rules, vocabulary).compile();
}

}  // namespace ggufscope
