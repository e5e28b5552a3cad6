// Longest and all prefixes of a text among many words: the words sorted, and the range that still fits narrowed byte
// by byte. No nodes: 4 bytes a word.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ggufscope {

class PrefixTable {
 public:
  /// Words longer than this are looked at no further: it bounds the time a byte of text takes.
  static constexpr size_t kMaxDepth = 4096;

  /// ids of the words, in any order. word(id) gives the text, which must stay as it is; of equal words the first id
  /// given counts. Empty words are left out.
  template <class Word>
  void build(std::vector<uint32_t> ids, const Word& word) {
    // Sorted by their first eight bytes as a number, which decides nearly always.
    struct Key {
      uint64_t head;
      uint32_t order, id;
    };
    std::vector<Key> keys;
    keys.reserve(ids.size());
    for (uint32_t i = 0; i < ids.size(); ++i) {
      const std::string_view text = word(ids[i]);
      if (text.empty()) continue;
      uint64_t head = 0;
      for (size_t k = 0; k < 8; ++k) head = head << 8 | (k < text.size() ? static_cast<uint8_t>(text[k]) : 0);
      keys.push_back({head, i, ids[i]});
    }
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
      if (a.head != b.head) return a.head < b.head;
      const int order = word(a.id).compare(word(b.id));
      return order != 0 ? order < 0 : a.order < b.order;
    });
    ids_.clear();
    first_.fill(0);
    for (const Key& key : keys) {
      if (!ids_.empty() && word(ids_.back()) == word(key.id)) continue;
      ids_.push_back(key.id);
    }
    for (const uint32_t id : ids_) ++first_[static_cast<uint8_t>(word(id)[0]) + 1u];
    for (size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
  }

  [[nodiscard]] bool empty() const { return ids_.empty(); }

  /// visit(length, id) for each word that text begins with, shortest first, while it returns true. Returns the bytes of
  /// text that are the beginning of some word.
  template <class Word, class Visit>
  size_t visit_prefixes(std::string_view text, const Word& word, Visit&& visit) const {
    if (text.empty()) return 0;
    const auto lead = static_cast<uint8_t>(text[0]);
    uint32_t low = first_[lead], high = first_[lead + 1u];
    if (low == high) return 0;
    const size_t limit = std::min(text.size(), kMaxDepth);
    size_t depth = 1;
    for (; low < high; ++depth) {
      // All words of [low, high) begin with text[0, depth).
      if (word(ids_[low]).size() == depth) {
        if (!visit(depth, ids_[low])) return depth;
        if (++low == high) return depth;
      }
      if (depth == limit) return depth;
      const auto wanted = static_cast<uint8_t>(text[depth]);
      const auto byte_of = [&](uint32_t i) { return static_cast<uint8_t>(word(ids_[i])[depth]); };
      const auto from = [&](unsigned byte) {
        uint32_t a = low, b = high;
        while (a < b) {
          const uint32_t middle = a + (b - a) / 2;
          if (byte_of(middle) < byte)
            a = middle + 1;
          else
            b = middle;
        }
        return a;
      };
      const uint32_t begin = from(wanted);
      if (begin == high || byte_of(begin) != wanted) return depth;
      low = begin;
      if (byte_of(high - 1) != wanted) high = from(wanted + 1u);
    }
    return depth;
  }

 private:
  std::vector<uint32_t> ids_;          // sorted by their words' bytes
  std::array<uint32_t, 257> first_{};  // [first_[b], first_[b + 1]): words that begin with byte b
};

}  // namespace ggufscope
