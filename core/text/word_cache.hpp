// A small direct-mapped cache from words to their tokens, because texts repeat words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace ggufscope {

class WordCache {
 public:
  /// If the word is cached, appends its tokens and returns true.
  bool find(std::string_view word, uint64_t hash, std::vector<TokenId>& out) const {
    if (entries_.empty() || word.empty()) return false;
    const Entry& entry = entries_[hash % kEntries];
    if (entry.length != word.size() || std::memcmp(entry.text, word.data(), word.size()) != 0) return false;
    out.insert(out.end(), entry.ids, entry.ids + entry.count);
    return true;
  }

  /// Adds a word. Long words and words with many tokens are not cached.
  void keep(std::string_view word, uint64_t hash, const TokenId* ids, size_t count) {
    if (word.empty() || word.size() > sizeof(Entry::text) || count > sizeof(Entry::ids) / sizeof(TokenId)) return;
    if (entries_.empty()) entries_.resize(kEntries);
    Entry& entry = entries_[hash % kEntries];
    std::memcpy(entry.text, word.data(), word.size());
    entry.length = static_cast<uint8_t>(word.size());
    entry.count = static_cast<uint8_t>(count);
    std::copy_n(ids, count, entry.ids);
  }

 private:
  static constexpr size_t kEntries = 4096;
  struct Entry {
    char text[30] = {};
    uint8_t length = 0;  // 0: empty
    uint8_t count = 0;
    TokenId ids[8] = {};
  };
  std::vector<Entry> entries_;
};

}  // namespace ggufscope
