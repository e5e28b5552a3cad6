// Tokenizes by ranked merges.
#include "text/bpe.hpp"

#include <algorithm>

#include "gguf/access.hpp"
#include "gguf/arrays.hpp"
#include "text/pretokenizer.hpp"
#include "text/token_spelling.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kNoNode = 0xFFFFFFFFu;
constexpr size_t kShortWord = 24;
constexpr size_t kIndexAfter = 1 << 16;  // bytes of text after which the index of all words pays off

uint64_t pair_of(uint32_t left, uint32_t right) { return static_cast<uint64_t>(left) << 32 | right; }

bool is_union(std::string_view text, std::string_view left, std::string_view right) {
  return text.size() == left.size() + right.size() && text.starts_with(left) && text.ends_with(right);
}

uint64_t hash_pair(uint64_t pair) {
  const uint64_t hash = pair * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

}  // namespace

BpeModel::BpeModel(const Gguf& gguf, Vocabulary& v) {
  const auto n_tokens = static_cast<uint32_t>(v.texts.size());
  read_merges(gguf, v);

  std::string spelled;
  for (uint32_t b = 0; b < 256; ++b) {
    const char raw = static_cast<char>(b);
    spelled.clear();
    append_utf8(spelled, printable_of_byte(static_cast<uint8_t>(b)));
    const TokenId token = v.find(spelled);
    byte_symbols_[b] = token != kNoToken ? static_cast<Symbol>(token)
                                         : extra_index_.find(spelled, [&](uint32_t id) { return symbol_text(v, id); });
    byte_tokens_[b] = v.byte_encode ? v.find({&raw, 1}) : v.byte_token(static_cast<uint8_t>(b));
  }

  whole_.assign(n_tokens, 0);
}

void BpeModel::index_words(const Vocabulary& v) {
  const auto n_tokens = static_cast<uint32_t>(v.texts.size());
  const TextList& pieces = v.pieces();
  words_.reserve(n_tokens);
  for (uint32_t id = 0; id < n_tokens; ++id) {
    // The piece is the bytes that the spelling represents. If it represents none, the piece is the spelling itself, but
    // only if that is ASCII.
    const std::string_view piece = pieces[id];
    const auto printable = [](char c) { return c > ' ' && c < 0x7F; };
    if (piece.size() == v.texts[id].size() && !std::all_of(piece.begin(), piece.end(), printable)) continue;
    words_.add(piece, id, [&](uint32_t other) { return pieces[other]; });
  }
  indexed_ = true;
}

uint32_t BpeModel::find_whole(const Vocabulary& v, std::string_view word, uint64_t hash) {
  if (indexed_) {
    const TextList& pieces = v.pieces();
    return words_.find(word, hash, [&](uint32_t id) { return pieces[id]; });
  }
  // Before that, the index is used only if the result depends on it.
  if (!v.ignore_merges) return StringIndex::kAbsent;
  spelled_.clear();
  for (const char c : word) append_utf8(spelled_, printable_of_byte(static_cast<uint8_t>(c)));
  const TokenId token = v.find(spelled_);
  spelled_.clear();
  if (token != kNoToken) v.append_piece_of(spelled_, token);
  return token != kNoToken && spelled_ == word ? static_cast<uint32_t>(token) : StringIndex::kAbsent;
}

void BpeModel::read_merges(const Gguf& gguf, Vocabulary& v) {
  const KeyValue* kv = find_key(gguf, "tokenizer.ggml.merges");
  if (kv == nullptr) {
    if (v.pre_name != "kimi-k2")
      v.note(true, "merges-missing", "tokenizer.ggml.merges is missing: words fall into bytes");
    return;
  }
  if (kv->type != ValueType::kArray || kv->element_type != ValueType::kString)
    return v.note(true, "merges-type", "tokenizer.ggml.merges is no array of strings: it is ignored");
  if (kv->count >= kNoRank / 4 || kv->value.length >= 0x7FFFFFFF)
    return v.note(true, "merges-many", "tokenizer.ggml.merges is too long: it is ignored");
  merges_.resize(std::bit_ceil(static_cast<size_t>(kv->count) + static_cast<size_t>(kv->count) / 3 + 16));

  filter_.resize(std::bit_ceil(static_cast<size_t>(kv->count) * 2 + 16));  // 16 bits for each merge

  MergeReader reader;
  for_each_string(gguf, *kv, [&](uint64_t rank, Extent extent) {
    read_merge(v, gguf.text(extent), static_cast<uint32_t>(rank), reader);
  });
  split_at_marks_ = !reader.inner_marks;
  if (reader.malformed != 0)
    v.note(false, "merge-malformed", std::to_string(reader.malformed) + " merges do not name two parts");
  if (reader.unknown != 0)
    v.note(false, "merge-unknown-token", std::to_string(reader.unknown) + " merges name texts that are no tokens");
}

GGUFSCOPE_WARM void BpeModel::read_merge(const Vocabulary& v, std::string_view text, uint32_t rank,
                                         MergeReader& reader) {
  const size_t space = text.find(' ', 1);
  if (space == std::string_view::npos || space + 1 == text.size()) {
    ++reader.malformed;
    return;
  }
  const auto part = [&](std::string_view name) {
    if (name.size() > 2 || name.back() == '\0') return intern(v, name);
    const size_t second = name.size() == 2 ? static_cast<uint8_t>(name[1]) : 0u;
    const size_t key = static_cast<uint8_t>(name[0]) | second << 8;
    Symbol& known = reader.short_parts[key];
    if (known == kNoSymbol) known = intern(v, name);
    return known;
  };
  const std::string_view left = text.substr(0, space), right = text.substr(space + 1);
  const size_t n_extra = extra_.size();
  const Symbol a = part(left), b = part(right);
  // Tokens are mostly in the order of their merges, so the next token is tried first.
  Symbol merged = kNoSymbol;
  for (Symbol guess = reader.last; guess != kNoSymbol && guess <= reader.last + 1 && guess < v.texts.size(); ++guess)
    if (is_union(v.texts[guess], left, right)) merged = guess;
  if (merged == kNoSymbol) merged = intern(v, reader.joined.assign(left).append(right));
  if (merged < v.texts.size()) reader.last = merged;
  if (extra_.size() != n_extra) ++reader.unknown;
  if (!v.byte_encode && !reader.inner_marks) reader.inner_marks = has_inner_mark(symbol_text(v, merged));
  add_merge(a, b, rank, merged);
}

BpeModel::Symbol BpeModel::intern(const Vocabulary& v, std::string_view text) {
  if (const TokenId token = v.find(text); token != kNoToken) return static_cast<Symbol>(token);
  const auto text_of = [&](uint32_t id) { return symbol_text(v, id); };
  const Symbol found = extra_index_.find(text, text_of);
  if (found != kNoSymbol) return found;
  const auto id = static_cast<Symbol>(v.texts.size() + extra_.size());
  extra_.add(text);
  extra_index_.add(text, id, text_of);
  return id;
}

std::string_view BpeModel::symbol_text(const Vocabulary& v, Symbol symbol) const {
  return symbol < v.texts.size() ? v.texts[symbol] : extra_[symbol - v.texts.size()];
}

const BpeModel::Merge* BpeModel::find_merge(Symbol left, Symbol right) const {
  const uint64_t pair = pair_of(left, right);
  if (n_merges_ == 0 || pair == kNoPair) return nullptr;
  const uint64_t hash = hash_pair(pair);
  // Most pairs have no merge, and the filter is small enough for the cache.
  const size_t bit = static_cast<size_t>(hash >> 20) & (filter_.size() * 8 - 1);
  if ((filter_[bit / 8] >> (bit % 8) & 1) == 0) return nullptr;
  const size_t mask = merges_.size() - 1;
  for (size_t i = static_cast<size_t>(hash) & mask;; i = (i + 1) & mask) {
    if (merges_[i].pair == pair) return &merges_[i];
    if (merges_[i].pair == kNoPair) return nullptr;
  }
}

// There is always a free slot, because the table was sized for all merges.
void BpeModel::add_merge(Symbol left, Symbol right, uint32_t rank, Symbol merged) {
  const uint64_t pair = pair_of(left, right);
  const uint64_t hash = hash_pair(pair);
  const size_t bit = static_cast<size_t>(hash >> 20) & (filter_.size() * 8 - 1);
  filter_[bit / 8] = static_cast<uint8_t>(filter_[bit / 8] | 1u << (bit % 8));
  const size_t mask = merges_.size() - 1;
  for (size_t i = static_cast<size_t>(hash) & mask;; i = (i + 1) & mask) {
    if (merges_[i].pair == pair) return;  // of equal pairs, the first counts
    if (merges_[i].pair != kNoPair) continue;
    merges_[i] = {pair, rank, merged};
    ++n_merges_;
    return;
  }
}

void BpeModel::encode(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  if (v.model == "hybriddna") return encode_dna(v, text, out);
  if (v.model == "whitespace") return encode_segments(v, text, out);
  encode_text(v, text, out);
}

void BpeModel::encode_text(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  bytes_seen_ += text.size();
  if (v.byte_encode && !indexed_ && bytes_seen_ > kIndexAfter) index_words(v);
  if (!is_canonical_utf8(text)) {
    canonical_ = canonical_utf8(text);
    text = canonical_;
  }
  if (v.escape_whitespaces) {
    escaped_.clear();
    append_escaped_spaces(escaped_, text);
    text = escaped_;
  }
  struct Context {
    BpeModel& model;
    const Vocabulary& vocabulary;
    std::vector<TokenId>& out;
  } context{*this, v, out};
  pre_tokenize(*v.pre, text,
               {[](void* c, std::string_view word) {
                  Context& to = *static_cast<Context*>(c);
                  to.model.encode_word(to.vocabulary, word, to.out);
                },
                &context});
}

void BpeModel::encode_word(const Vocabulary& v, std::string_view word, std::vector<TokenId>& out) {
  if (!v.byte_encode) {
    const bool newlines =
        (v.pre->flags & kWholeNewlines) != 0 && word.find_first_not_of('\n') == std::string_view::npos;
    if (newlines || v.ignore_merges) {
      if (const TokenId token = v.find(word); token != kNoToken) return out.push_back(token);
    }
    // No merge crosses the start of a run of marks, so words can end there. This gives the same tokens faster.
    for (size_t start = 0; start < word.size();) {
      const size_t end = split_at_marks_ ? end_of_marked_word(word, start) : word.size();
      const std::string_view part = word.substr(start, end - start);
      const uint64_t hash = hash_text(part);
      if (!cache_.find(part, hash, out)) {
        const size_t before = out.size();
        merge_word(v, part, out);
        cache_.keep(part, hash, out.data() + before, out.size() - before);
      }
      start = end;
    }
    return;
  }
  const uint64_t hash = hash_text(word);
  const uint32_t whole = find_whole(v, word, hash);
  if (whole != StringIndex::kAbsent && (v.ignore_merges || whole_[whole] == 1)) {
    return out.push_back(static_cast<TokenId>(whole));
  }
  if (whole_.empty() || whole == StringIndex::kAbsent || whole_[whole] == 2) {
    if (cache_.find(word, hash, out)) return;
  }
  const size_t before = out.size();
  merge_word(v, word, out);
  if (whole != StringIndex::kAbsent)
    whole_[whole] = out.size() == before + 1 && out.back() == static_cast<TokenId>(whole) ? 1 : 2;
  cache_.keep(word, hash, out.data() + before, out.size() - before);
}

void BpeModel::merge_word(const Vocabulary& v, std::string_view word, std::vector<TokenId>& out) {
  nodes_.clear();
  if (v.byte_encode) {
    for (const char c : word) nodes_.push_back({byte_symbols_[static_cast<uint8_t>(c)], 1});
  } else {
    for (size_t pos = 0; pos < word.size();) {
      const size_t length = std::min(utf8_length(static_cast<uint8_t>(word[pos])), word.size() - pos);
      const std::string_view character = word.substr(pos, length);
      const TokenId token = v.find(character);
      const Symbol symbol = token != kNoToken
                                ? static_cast<Symbol>(token)
                                : extra_index_.find(character, [&](uint32_t id) { return symbol_text(v, id); });
      nodes_.push_back({symbol, static_cast<uint32_t>(length)});
      pos += length;
    }
  }
  if (nodes_.size() > 1) {
    if (nodes_.size() <= kShortWord)
      merge_short();
    else
      merge_long();
  }
  size_t pos = 0;
  for (const Node& node : nodes_) {
    if (node.length == 0) continue;
    emit(v, node.symbol, word.substr(pos, node.length), out);
    pos += node.length;
  }
}

void BpeModel::merge_short() {
  // ranks[i]: rank of the merge of nodes i and i + 1.
  uint32_t ranks[kShortWord];
  Symbol merged[kShortWord];
  size_t count = nodes_.size();
  const auto look_up = [&](size_t i) {
    const Merge* merge = find_merge(nodes_[i].symbol, nodes_[i + 1].symbol);
    ranks[i] = merge != nullptr ? merge->rank : kNoRank;
    merged[i] = merge != nullptr ? merge->merged : kNoSymbol;
  };
  for (size_t i = 0; i + 1 < count; ++i) look_up(i);
  for (;;) {
    size_t best = 0;
    uint32_t best_rank = kNoRank;
    for (size_t i = 0; i + 1 < count; ++i) {
      if (ranks[i] < best_rank) {
        best_rank = ranks[i];
        best = i;
      }
    }
    if (best_rank == kNoRank) break;
    nodes_[best].symbol = merged[best];
    nodes_[best].length += nodes_[best + 1].length;
    --count;
    for (size_t i = best + 1; i < count; ++i) nodes_[i] = nodes_[i + 1];
    for (size_t i = best; i + 1 < count; ++i) {
      ranks[i] = ranks[i + 1];
      merged[i] = merged[i + 1];
    }
    if (best + 1 < count) look_up(best);
    if (best > 0) look_up(best - 1);
  }
  nodes_.resize(count);
}

void BpeModel::merge_long() {
  // A candidate is rank << 32 | left node. It is outdated if the node's rank has changed.
  constexpr auto later = [](uint64_t a, uint64_t b) { return a > b; };
  const auto look_up = [&](uint32_t left) {
    Node& node = nodes_[left];
    const Merge* merge = node.next == kNoNode ? nullptr : find_merge(node.symbol, nodes_[node.next].symbol);
    node.rank = merge != nullptr ? merge->rank : kNoRank;
    if (merge == nullptr) return false;
    node.merged = merge->merged;
    heap_.push_back(static_cast<uint64_t>(node.rank) << 32 | left);
    return true;
  };
  heap_.clear();
  const auto count = static_cast<uint32_t>(nodes_.size());
  for (uint32_t i = 0; i < count; ++i) {
    nodes_[i].prev = i == 0 ? kNoNode : i - 1;
    nodes_[i].next = i + 1 == count ? kNoNode : i + 1;
  }
  for (uint32_t i = 0; i < count; ++i) look_up(i);
  std::make_heap(heap_.begin(), heap_.end(), later);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const auto at = static_cast<uint32_t>(heap_.back());
    const auto rank = static_cast<uint32_t>(heap_.back() >> 32);
    heap_.pop_back();
    Node& left = nodes_[at];
    if (left.length == 0 || left.rank != rank) continue;
    Node& right = nodes_[left.next];
    left.symbol = left.merged;
    left.length += right.length;
    right.length = 0;
    left.next = right.next;
    if (right.next != kNoNode) nodes_[right.next].prev = at;
    if (look_up(at)) std::push_heap(heap_.begin(), heap_.end(), later);
    if (left.prev != kNoNode && look_up(left.prev)) std::push_heap(heap_.begin(), heap_.end(), later);
  }
}

void BpeModel::emit(const Vocabulary& v, Symbol symbol, std::string_view bytes, std::vector<TokenId>& out) const {
  if (symbol < v.texts.size()) return out.push_back(static_cast<TokenId>(symbol));
  // Not a token: like llama.cpp, uses the tokens of the spelling's bytes and drops bytes without a token.
  std::string spelled;
  if (v.byte_encode) {
    for (const char c : bytes) append_utf8(spelled, printable_of_byte(static_cast<uint8_t>(c)));
    bytes = spelled;
  }
  for (const char c : bytes)
    if (const TokenId token = byte_tokens_[static_cast<uint8_t>(c)]; token != kNoToken) out.push_back(token);
}

}  // namespace ggufscope
