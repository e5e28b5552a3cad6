// Tokenizes by scored merges, as SentencePiece BPE does.
#include "text/spm.hpp"

#include <algorithm>

#include "text/token_spelling.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kNoNeighbour = 0xFFFFFFFFu;

}  // namespace

SpmModel::SpmModel(const Vocabulary& v) {
  for (uint32_t b = 0; b < 256; ++b) {
    const char itself = static_cast<char>(b);
    TokenId token = v.byte_token(static_cast<uint8_t>(b));
    if (token == kNoToken) token = v.find({&itself, 1});
    byte_tokens_[b] = token != kNoToken ? token : v.special.unk;
  }
  for (TokenId id = 0; id < v.size() && split_at_marks_; ++id) split_at_marks_ = !has_inner_mark(v.text(id));
  whole_.assign(v.texts.size(), 0);
}

void SpmModel::encode(const Vocabulary& v, std::string_view text, bool after_special, std::vector<TokenId>& out) {
  escaped_.clear();
  if (v.add_space_prefix && after_special) escaped_ += kSpaceMark;
  append_escaped_spaces(escaped_, text);
  const std::string_view all = escaped_;
  if (!split_at_marks_ || !is_canonical_utf8(text)) return encode_word(v, all, out);
  for (size_t start = 0; start < all.size();) {
    const size_t end = end_of_marked_word(all, start);
    encode_word(v, all.substr(start, end - start), out);
    start = end;
  }
}

void SpmModel::encode_word(const Vocabulary& v, std::string_view word, std::vector<TokenId>& out) {
  const uint64_t hash = hash_text(word);
  const uint32_t whole = v.index.find(word, hash, [&](uint32_t id) { return v.texts[id]; });
  if (whole != StringIndex::kAbsent && whole_[whole] == 1) return out.push_back(static_cast<TokenId>(whole));
  if ((whole == StringIndex::kAbsent || whole_[whole] == 2) && cache_.find(word, hash, out)) return;
  const size_t before = out.size();
  merge_word(v, word, out);
  if (whole != StringIndex::kAbsent)
    whole_[whole] = out.size() == before + 1 && out.back() == static_cast<TokenId>(whole) ? 1 : 2;
  cache_.keep(word, hash, out.data() + before, out.size() - before);
}

void SpmModel::merge_word(const Vocabulary& v, std::string_view word, std::vector<TokenId>& out) {
  nodes_.clear();
  heap_.clear();
  for (size_t pos = 0; pos < word.size();) {
    const size_t length = std::min(utf8_length(static_cast<uint8_t>(word[pos])), word.size() - pos);
    const auto i = static_cast<uint32_t>(nodes_.size());
    const bool last = pos + length == word.size();
    nodes_.push_back({static_cast<uint32_t>(pos), static_cast<uint32_t>(length), i == 0 ? kNoNeighbour : i - 1,
                      last ? kNoNeighbour : i + 1, v.find(word.substr(pos, length))});
    pos += length;
  }
  const auto worse = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  };
  const auto consider = [&](uint32_t left, uint32_t right) {
    if (left == kNoNeighbour || right == kNoNeighbour) return false;
    const uint32_t length = nodes_[left].length + nodes_[right].length;
    if (length > v.longest) return false;
    const TokenId token = v.find(word.substr(nodes_[left].begin, length));
    if (token == kNoToken) return false;
    heap_.push_back({v.score(token), left, right, length, token});
    return true;
  };
  for (uint32_t i = 1; i < nodes_.size(); ++i) consider(i - 1, i);
  std::make_heap(heap_.begin(), heap_.end(), worse);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    const Candidate best = heap_.back();
    heap_.pop_back();
    Node& left = nodes_[best.left];
    Node& right = nodes_[best.right];
    if (left.length == 0 || right.length == 0 || left.length + right.length != best.length) continue;
    left.length = best.length;
    left.token = best.token;
    right.length = 0;
    left.next = right.next;
    if (right.next != kNoNeighbour) nodes_[right.next].prev = best.left;
    if (consider(left.prev, best.left)) std::push_heap(heap_.begin(), heap_.end(), worse);
    if (consider(best.left, left.next)) std::push_heap(heap_.begin(), heap_.end(), worse);
  }
  for (const Node& node : nodes_) {
    if (node.length == 0) continue;
    if (node.token != kNoToken) {
      out.push_back(node.token);
      continue;
    }
    for (const char c : word.substr(node.begin, node.length))
      if (const TokenId token = byte_tokens_[static_cast<uint8_t>(c)]; token != kNoToken) out.push_back(token);
  }
}

}  // namespace ggufscope
