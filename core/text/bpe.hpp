// Byte-pair encoding by ranked merges (gpt2, gemma4, hybriddna, whitespace).
//
//   word -> symbols, one for each byte (or character, if the tokens are plain UTF-8)
//   while any adjacent pair has a merge: join the pair with the lowest rank, the leftmost of equals
//
// Words of up to kShortWord symbols are scanned. Longer ones use a heap of candidates and a linked list: O(n log n).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/header.hpp"
#include "text/string_index.hpp"
#include "text/vocabulary.hpp"
#include "text/word_cache.hpp"

namespace ggufscope {

class BpeModel {
 public:
  /// Reads tokenizer.ggml.merges. Irregularities are added to the vocabulary's notes.
  BpeModel(const Gguf& gguf, Vocabulary& vocabulary);

  /// Appends the tokens of one fragment.
  void encode(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);

 private:
  // A symbol is a token id or, from n_tokens on, a text that only merges use.
  using Symbol = uint32_t;
  static constexpr Symbol kNoSymbol = StringIndex::kAbsent;
  static constexpr uint32_t kNoRank = 0xFFFFFFFFu;
  struct Merge {
    uint64_t pair = kNoPair;  // left << 32 | right
    uint32_t rank = kNoRank;
    Symbol merged = kNoSymbol;
  };
  static constexpr uint64_t kNoPair = ~uint64_t{0};

  struct Node {
    Symbol symbol;    // kNoSymbol: not part of any merge
    uint32_t length;  // in bytes; 0: merged into another node
    // For long words: neighbours, and the merge with the next node.
    uint32_t prev = 0, next = 0;
    uint32_t rank = kNoRank;
    Symbol merged = kNoSymbol;
  };

  // State that is kept between merges while they are read.
  struct MergeReader {
    // A third of the parts are one or two bytes long. They are looked up once and then cached here.
    std::vector<Symbol> short_parts = std::vector<Symbol>(1 << 16, kNoSymbol);
    uint64_t malformed = 0, unknown = 0;
    bool inner_marks = false;
    std::string joined;
    Symbol last = kNoSymbol;
  };

  void index_words(const Vocabulary& vocabulary);
  /// The token that equals this word, if that is known already; kAbsent otherwise.
  [[nodiscard]] uint32_t find_whole(const Vocabulary& vocabulary, std::string_view word, uint64_t hash);
  void read_merges(const Gguf& gguf, Vocabulary& vocabulary);
  void read_merge(const Vocabulary& vocabulary, std::string_view text, uint32_t rank, MergeReader& reader);
  Symbol intern(const Vocabulary& vocabulary, std::string_view text);
  [[nodiscard]] std::string_view symbol_text(const Vocabulary& vocabulary, Symbol symbol) const;
  [[nodiscard]] const Merge* find_merge(Symbol left, Symbol right) const;
  void add_merge(Symbol left, Symbol right, uint32_t rank, Symbol merged);
  void encode_text(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);
  void encode_word(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out);
  void merge_word(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out);
  void merge_short();
  void merge_long();
  void emit(const Vocabulary& vocabulary, Symbol symbol, std::string_view bytes, std::vector<TokenId>& out) const;
  void encode_dna(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);
  void encode_segments(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);

  StringIndex extra_index_;
  TextList extra_;
  std::vector<Merge> merges_;    // hash table with open addressing
  std::vector<uint8_t> filter_;  // Bloom filter of pairs that have a merge
  size_t n_merges_ = 0;
  StringIndex words_;  // decoded bytes -> token, for words that are one token; built by index_words
  bool indexed_ = false;
  size_t bytes_seen_ = 0;
  std::vector<uint8_t> whole_;  // for each token, whether its text as a word gives that token: 0 unknown, 1 yes, 2 no
  std::array<Symbol, 256> byte_symbols_{};
  std::array<TokenId, 256> byte_tokens_{};  // fallback for bytes that no token spells
  bool split_at_marks_ = false;             // true if no merge joins U+2581 to something before it
  WordCache cache_;

  // Buffers that are reused between words.
  std::vector<Node> nodes_;
  std::vector<uint64_t> heap_;
  std::string canonical_, escaped_, spelled_;
};

}  // namespace ggufscope
