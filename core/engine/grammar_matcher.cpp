// Follows a grammar's automaton along a text, and finds the tokens that it allows next.
#include <algorithm>

#include "engine/grammar.hpp"

namespace ggufscope {
namespace {

using Op = Grammar::Op;

constexpr uint32_t kNotMade = UINT32_MAX, kTooMuch = UINT32_MAX - 1;
constexpr uint32_t kAnyCount = UINT32_MAX;  // in shapes
// Limits for one call: states visited, and numbers stored. They correspond to some tenths of a second and tens of
// megabytes.
constexpr uint64_t kMaxWork = uint64_t{1} << 21;
constexpr uint64_t kWorkOfStack = 8, kComparisonsOfWork = 8;
// Limit for the caches: numbers in vectors, some tens of megabytes. Above it, all sets except the current one are
// dropped.
constexpr size_t kMaxCached = size_t{3} << 20;
constexpr size_t kMaxMasks = 256;

uint64_t both(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

std::unexpected<Error> too_ambiguous() {
  return fail(ErrorCode::kOutOfRange, "the grammar can read the text in too many ways");
}

}  // namespace

GrammarMatcher::GrammarMatcher(const Grammar& grammar) : grammar_(&grammar) { (void)reset(); }

size_t GrammarMatcher::FrameHash::operator()(const Frame& f) const {
  uint64_t hash = (both(f.next, f.below) ^ uint64_t{f.count} << 20) * 0x9E3779B97F4A7C15u;
  return static_cast<size_t>(hash ^ hash >> 32);
}

void GrammarMatcher::clear_caches() {
  stacks_.assign(1, {0, 0, 0});
  shapes_.assign(1, 0);
  stack_ids_.clear();
  configurations_.clear();
  sets_.clear();
  set_ids_.clear();
  steps_.clear();
  allowed_.clear();
  clear_set();
  (void)intern();
  start_ = kNotMade;
}

void GrammarMatcher::clear_set() {
  made_.clear();
  seen_.clear();
  if (!best_.empty()) best_.clear();
  made_may_end_ = false;
}

bool GrammarMatcher::too_much_work() const { return work_ > kMaxWork; }

Result<void> GrammarMatcher::reset() {
  if (sets_.empty() || caches_are_full()) clear_caches();
  work_ = 0;
  if (start_ == kNotMade) {
    now_ = 0;
    clear_set();
    close({grammar_->start(), 0});
    start_ = too_much_work() ? kTooMuch : intern();
  }
  if (start_ == kTooMuch) return too_ambiguous();
  now_ = start_;
  return {};
}

uint32_t GrammarMatcher::push(const Frame& frame) {
  const auto id = static_cast<uint32_t>(stacks_.size());
  const auto [found, added] = stack_ids_.try_emplace(frame, id);
  if (!added) return found->second;
  stacks_.push_back(frame);
  shapes_.push_back(id);
  work_ += kWorkOfStack;
  const uint32_t below = shapes_[frame.below], count = frame.count == 0 ? 0 : kAnyCount;
  if (below != frame.below || count != frame.count) {
    const uint32_t shape = push({frame.next, below, count});
    shapes_[id] = shape;
  }
  return id;
}

uint32_t GrammarMatcher::push_return(uint32_t next, uint32_t below) {
  if (grammar_->state(next).op == Op::kEnd) return below;  // tail call: continue with the caller's return state
  return push({next, below, 0});
}

// True if every text that may follow with stack b may also follow with stack a, of the same shape. Whoever has counted
// enough can stop at once, so the one that has counted less may go on for longer. Without a largest count, the one that
// has counted more is nearer to enough.
bool GrammarMatcher::covers(uint32_t a, uint32_t b) {
  for (; a != b; a = stacks_[a].below, b = stacks_[b].below) {
    if (++n_compared_ % kComparisonsOfWork == 0) ++work_;
    const uint32_t x = stacks_[a].count, y = stacks_[b].count;
    if (x == y) continue;
    const Grammar::Repeat& repeat = grammar_->repeat(grammar_->state(stacks_[a].next));
    if (repeat.max == Grammar::kNoLimit ? x < y : x > y || x < repeat.min) return false;
  }
  return true;
}

// Adds to the states of the set that is being built. Returns false if the set has it, or one that covers it.
bool GrammarMatcher::add(Configuration c) {
  const uint32_t shape = shapes_[c.stack];
  if (shape == c.stack) return seen_.insert(both(c.state, c.stack));
  std::vector<uint32_t>& best = best_[both(c.state, shape)];
  for (const uint32_t stack : best)
    if (covers(stack, c.stack)) return false;
  std::erase_if(best, [&](uint32_t stack) { return covers(c.stack, stack); });
  best.push_back(c.stack);
  return true;
}

void GrammarMatcher::visit(Configuration c) {
  if (add(c)) open_.push_back(c);
}

void GrammarMatcher::visit_item(uint32_t repeat, uint32_t below, uint32_t count) {
  visit({grammar_->repeat(grammar_->state(repeat)).item, push({repeat, below, count})});
}

void GrammarMatcher::end_rule(uint32_t stack) {
  const Frame top = stacks_[stack];
  if (top.count == 0) return visit({top.next, top.below});
  const Grammar::State& s = grammar_->state(top.next);
  const Grammar::Repeat& repeat = grammar_->repeat(s);
  if (top.count >= repeat.min) visit({s.next, top.below});
  if (repeat.max == Grammar::kNoLimit)
    visit_item(top.next, top.below, std::min(top.count + 1, std::max(repeat.min, 1u)));
  else if (top.count < repeat.max)
    visit_item(top.next, top.below, top.count + 1);
}

// Adds the states that can be reached without reading (closure). Stops at the limit of work.
void GrammarMatcher::close(Configuration start) {
  visit(start);
  while (!open_.empty()) {
    const Configuration c = open_.back();
    open_.pop_back();
    ++work_;
    if (too_much_work()) return open_.clear();
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
        visit({s.other, push_return(s.next, c.stack)});
        break;
      case Op::kRepeat:
        if (grammar_->repeat(s).min == 0) visit({s.next, c.stack});
        visit_item(c.state, c.stack, 1);
        break;
      case Op::kEnd:
        if (c.stack == 0)
          made_may_end_ = true;
        else
          end_rule(c.stack);
        break;
    }
  }
}

// A configuration may have been added before another one that covers it.
void GrammarMatcher::drop_covered() {
  if (best_.empty()) return;
  std::erase_if(made_, [this](Configuration c) {
    const uint32_t shape = shapes_[c.stack];
    if (shape == c.stack) return false;
    const std::vector<uint32_t>& best = best_.at(both(c.state, shape));
    return std::find(best.begin(), best.end(), c.stack) == best.end();
  });
}

// The number of the set that is being built.
GrammarMatcher::Id GrammarMatcher::intern() {
  drop_covered();
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
  if (too_much_work()) return kTooMuch;
  clear_set();
  const Set set = sets_[from];
  work_ += set.n_configurations / 64;
  for (size_t i = set.first; i < set.first + set.n_configurations; ++i) {
    const Configuration c = configurations_[i];
    const Grammar::State& s = grammar_->state(c.state);
    if (s.op == Op::kByte && byte >= s.first && byte <= s.last) close({s.next, c.stack});
  }
  return too_much_work() ? kTooMuch : intern();
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

bool GrammarMatcher::caches_are_full() const {
  return configurations_.size() + stacks_.size() + steps_.size() >= kMaxCached;
}

void GrammarMatcher::drop_unused_sets() {
  if (!caches_are_full() || start_ == kTooMuch) return;
  const Set set = sets_[now_];
  const auto first = configurations_.begin() + static_cast<ptrdiff_t>(set.first);
  const std::vector<Configuration> kept(first, first + static_cast<ptrdiff_t>(set.n_configurations));
  const std::vector<Frame> stacks = std::move(stacks_);
  clear_caches();
  // Renumbers the stacks in use in ascending order: a frame is always newer than the one below it.
  std::vector<uint32_t> used, renamed(stacks.size(), UINT32_MAX);
  renamed[0] = 0;
  for (const Configuration c : kept)
    for (uint32_t s = c.stack; renamed[s] == UINT32_MAX; s = stacks[s].below) renamed[s] = 0, used.push_back(s);
  std::sort(used.begin(), used.end());
  for (const uint32_t s : used) renamed[s] = push({stacks[s].next, renamed[stacks[s].below], stacks[s].count});
  clear_set();
  for (const Configuration c : kept) made_.push_back({c.state, renamed[c.stack]});
  made_may_end_ = set.may_end;
  now_ = intern();
}

// The set that is reached from a set by reading these bytes.
Result<GrammarMatcher::Id> GrammarMatcher::walk(Id from, std::string_view bytes) {
  if (start_ == kTooMuch) return too_ambiguous();
  Id at = from;
  for (const char c : bytes) {
    at = step(at, static_cast<uint8_t>(c));
    if (at == kTooMuch) return too_ambiguous();
    if (at == 0) return at;
  }
  return at;
}

Result<bool> GrammarMatcher::read(std::string_view bytes) {
  drop_unused_sets();
  work_ = 0;
  const Result<Id> at = walk(now_, bytes);
  if (!at) return std::unexpected(at.error());
  if (*at == 0 && !bytes.empty()) return false;
  now_ = *at;
  return true;
}

Result<bool> GrammarMatcher::accepts_at_start(std::string_view bytes) {
  if (start_ == kNotMade)
    if (const Result<void> good = reset(); !good) return std::unexpected(good.error());
  now_ = start_;
  const Result<Id> at = walk(start_, bytes);
  if (!at) return std::unexpected(at.error());
  return *at != 0 || bytes.empty();
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
  if (start_ == kTooMuch) return too_ambiguous();
  drop_unused_sets();
  work_ = 0;
  Id by_text = 0;
  if (!bytes.empty()) {
    const Result<Id> at = walk(now_, bytes);
    if (!at) return std::unexpected(at.error());
    by_text = *at;
  }
  // The union of the set after the token by its id and the set after its text.
  clear_set();
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
      if (add(c)) made_.push_back(c);
    }
    made_may_end_ = made_may_end_ || other.may_end;
  }
  if (too_much_work()) return too_ambiguous();
  const Id at = intern();
  if (at == 0) return false;
  now_ = at;
  return true;
}

Result<const std::vector<bool>*> GrammarMatcher::allowed(const TokenTrie& trie) {
  if (start_ == kTooMuch) return too_ambiguous();
  drop_unused_sets();
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
