#include <algorithm>

#include "engine/grammar.hpp"

namespace ggufscope {
namespace {

using Op = Grammar::Op;

constexpr uint32_t kNotMade = UINT32_MAX, kTooMuch = UINT32_MAX - 1;
// Limits for one call: states visited, and numbers stored. They correspond to some tenths of a second and tens of
// megabytes.
constexpr uint64_t kMaxWork = uint64_t{1} << 21;
constexpr uint64_t kWorkOfStack = 8;
// Limit for the caches: numbers in vectors, some tens of megabytes. Above it, all sets except the current one are
// dropped.
constexpr size_t kMaxRemembered = size_t{3} << 20;
constexpr size_t kMaxMasks = 256;

uint64_t both(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

std::unexpected<Error> too_ambiguous() {
  return fail(ErrorCode::kOutOfRange, "the grammar can read the text in too many ways");
}

}  // namespace

GrammarMatcher::GrammarMatcher(const Grammar& grammar) : grammar_(&grammar) { reset(); }

void GrammarMatcher::forget() {
  stacks_.assign(1, {0, 0});
  stack_ids_.clear();
  configurations_.clear();
  sets_.clear();
  set_ids_.clear();
  steps_.clear();
  allowed_.clear();
  made_.clear();
  made_may_end_ = false;
  (void)intern();
  start_ = kNotMade;
}

void GrammarMatcher::reset() {
  if (sets_.empty()) forget();
  if (start_ == kNotMade) {
    made_.clear();
    seen_.clear();
    made_may_end_ = false;
    close({grammar_->start(), 0});
    start_ = intern();
  }
  now_ = start_;
}

uint32_t GrammarMatcher::push(uint32_t next, uint32_t below) {
  if (grammar_->state(next).op == Op::kEnd) return below;  // tail call: continue with the caller's return state
  const auto [found, added] = stack_ids_.try_emplace(both(next, below), static_cast<uint32_t>(stacks_.size()));
  if (added) {
    stacks_.push_back({next, below});
    work_ += kWorkOfStack;
  }
  return found->second;
}

// Adds the states that can be reached without reading (closure).
void GrammarMatcher::close(Configuration start) {
  const auto visit = [this](Configuration c) {
    if (seen_.insert(both(c.state, c.stack))) open_.push_back(c);
  };
  visit(start);
  while (!open_.empty()) {
    const Configuration c = open_.back();
    open_.pop_back();
    ++work_;
    const Grammar::State& s = grammar_->state(c.state);
    switch (s.op) {
      case Op::kByte:
      case Op::kToken:
        made_.push_back(c);
        break;
      case Op::kBranch:
        visit({s.next, c.stack});
        visit({s.other, c.stack});
        break;
      case Op::kCall:
        visit({s.other, push(s.next, c.stack)});
        break;
      case Op::kEnd:
        if (c.stack == 0)
          made_may_end_ = true;
        else
          visit({stacks_[c.stack].next, stacks_[c.stack].below});
        break;
    }
  }
}

// The number of the set that is being built.
GrammarMatcher::Id GrammarMatcher::intern() {
  std::sort(made_.begin(), made_.end());
  uint64_t hash = made_may_end_ ? 1 : 2;
  for (const Configuration c : made_) {
    hash = (hash ^ both(c.state, c.stack)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  const auto [begin, end] = set_ids_.equal_range(hash);
  for (auto i = begin; i != end; ++i) {
    const Set& set = sets_[i->second];
    if (set.may_end == made_may_end_ && set.n_configurations == made_.size() &&
        std::equal(made_.begin(), made_.end(), configurations_.begin() + static_cast<ptrdiff_t>(set.first)))
      return i->second;
  }
  work_ += grammar_->n_classes();
  const Id id = static_cast<Id>(sets_.size());
  sets_.push_back({configurations_.size(), static_cast<uint32_t>(made_.size()), made_may_end_});
  configurations_.insert(configurations_.end(), made_.begin(), made_.end());
  steps_.resize(steps_.size() + grammar_->n_classes(), kNotMade);
  set_ids_.emplace(hash, id);
  return id;
}

GrammarMatcher::Id GrammarMatcher::make_step(Id from, uint8_t byte) {
  if (work_ > kMaxWork) return kTooMuch;
  made_.clear();
  seen_.clear();
  made_may_end_ = false;
  const Set set = sets_[from];
  work_ += set.n_configurations / 64;
  for (size_t i = set.first; i < set.first + set.n_configurations; ++i) {
    const Configuration c = configurations_[i];
    const Grammar::State& s = grammar_->state(c.state);
    if (s.op == Op::kByte && byte >= s.first && byte <= s.last) close({s.next, c.stack});
  }
  return intern();
}

inline GrammarMatcher::Id GrammarMatcher::step(Id from, uint8_t byte) {
  const size_t at = size_t{from} * grammar_->n_classes() + grammar_->byte_class(byte);
  if (steps_[at] == kNotMade) {
    const Id to = make_step(from, byte);
    if (to == kTooMuch) return to;
    steps_[at] = to;
  }
  return steps_[at];
}

void GrammarMatcher::forget_all_but_now() {
  if (configurations_.size() + stacks_.size() + steps_.size() < kMaxRemembered) return;
  const Set set = sets_[now_];
  const auto first = configurations_.begin() + static_cast<ptrdiff_t>(set.first);
  const std::vector<Configuration> kept(first, first + static_cast<ptrdiff_t>(set.n_configurations));
  const std::vector<Frame> stacks = std::move(stacks_);
  forget();
  // Renumbers the stacks in use in ascending order: a frame is always newer than the one below it.
  std::vector<uint32_t> used, renamed(stacks.size(), UINT32_MAX);
  renamed[0] = 0;
  for (const Configuration c : kept)
    for (uint32_t s = c.stack; renamed[s] == UINT32_MAX; s = stacks[s].below) renamed[s] = 0, used.push_back(s);
  std::sort(used.begin(), used.end());
  for (const uint32_t s : used) renamed[s] = push(stacks[s].next, renamed[stacks[s].below]);
  made_.clear();
  for (const Configuration c : kept) made_.push_back({c.state, renamed[c.stack]});
  made_may_end_ = set.may_end;
  now_ = intern();
}

// The set that is reached after reading these bytes.
Result<GrammarMatcher::Id> GrammarMatcher::walk(std::string_view bytes) {
  Id at = now_;
  for (const char c : bytes) {
    at = step(at, static_cast<uint8_t>(c));
    if (at == kTooMuch) return too_ambiguous();
    if (at == 0) return at;
  }
  return at;
}

Result<bool> GrammarMatcher::read(std::string_view bytes) {
  forget_all_but_now();
  work_ = 0;
  const Result<Id> at = walk(bytes);
  if (!at) return std::unexpected(at.error());
  if (*at == 0 && !bytes.empty()) return false;
  now_ = *at;
  return true;
}

bool GrammarMatcher::names(TokenId id) const {
  const Set& set = sets_[now_];
  for (size_t i = set.first; i < set.first + set.n_configurations; ++i) {
    const Grammar::State& s = grammar_->state(configurations_[i].state);
    if (s.op == Op::kToken && s.first == 0 && s.other == static_cast<uint32_t>(id)) return true;
  }
  return false;
}

Result<bool> GrammarMatcher::read(TokenId id, std::string_view bytes) {
  if (!grammar_->has_tokens()) return bytes.empty() ? Result<bool>(false) : read(bytes);
  forget_all_but_now();
  work_ = 0;
  Id by_text = 0;
  if (!bytes.empty()) {
    const Result<Id> at = walk(bytes);
    if (!at) return std::unexpected(at.error());
    by_text = *at;
  }
  // The union of the set after the token by its id and the set after its text.
  made_.clear();
  seen_.clear();
  made_may_end_ = false;
  const Set set = sets_[now_];
  for (size_t i = set.first; i < set.first + set.n_configurations; ++i) {
    const Configuration c = configurations_[i];
    const Grammar::State& s = grammar_->state(c.state);
    if (s.op == Op::kToken && (s.other == static_cast<uint32_t>(id)) != (s.first != 0)) close({s.next, c.stack});
  }
  if (by_text != 0) {
    const Set other = sets_[by_text];
    for (size_t i = other.first; i < other.first + other.n_configurations; ++i) {
      const Configuration c = configurations_[i];
      if (seen_.insert(both(c.state, c.stack))) made_.push_back(c);
    }
    made_may_end_ = made_may_end_ || other.may_end;
  }
  const Id at = intern();
  if (at == 0) return false;
  now_ = at;
  return true;
}

Result<const std::vector<bool>*> GrammarMatcher::allowed(const TokenTrie& trie) {
  forget_all_but_now();
  const auto known = allowed_.find(now_);
  if (known != allowed_.end()) return &known->second;
  work_ = 0;
  std::vector<bool> out(trie.n_tokens(), false);
  path_.resize(trie.depth() + size_t{1});
  path_[0] = now_;
  const std::span<const TokenTrie::Node> nodes = trie.nodes();
  for (uint32_t i = 0; i < nodes.size();) {
    const TokenTrie::Node& node = nodes[i];
    const Id to = step(path_[node.depth], node.byte);
    if (to == kTooMuch) return too_ambiguous();
    if (to == 0) {
      i = node.end;
      continue;
    }
    path_[node.depth + 1] = to;
    for (int32_t token = node.token; token >= 0; token = trie.next_same(token)) out[static_cast<size_t>(token)] = true;
    ++i;
  }
  const Set set = sets_[now_];
  for (size_t i = set.first; i < set.first + set.n_configurations; ++i) {
    const Grammar::State& s = grammar_->state(configurations_[i].state);
    if (s.op != Op::kToken || s.other >= out.size()) continue;
    const bool before = out[s.other];
    if (s.first != 0) out.assign(out.size(), true);
    out[s.other] = s.first == 0 || before;
  }
  if (allowed_.size() >= kMaxMasks) allowed_.clear();
  return &allowed_.insert_or_assign(now_, std::move(out)).first->second;
}

}  // namespace ggufscope
