// Unigram (t5, replit): finds the tokens of the normalized text with the highest sum of scores.
//
// Normalization uses SentencePiece's precompiled character map. It is a trie of replacements, stored as an
// XOR-compressed double array (Kanda 2018) with one 32-bit word for each node:
//
//   bits 10-30 BASE (shifted left by 8 if bit 9 is set), bit 8 has a value, bits 0-7 the byte that leads here;
//   a value's node holds the offset of its NUL-terminated replacement in bits 0-30
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/header.hpp"
#include "text/prefix_table.hpp"
#include "text/vocabulary.hpp"

namespace ggufscope {

class UnigramModel {
 public:
  /// Reads tokenizer.ggml.precompiled_charsmap. Irregularities are added to the vocabulary's notes.
  UnigramModel(const Gguf& gguf, Vocabulary& vocabulary);

  void encode(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);

 private:
  struct Replacement {
    std::string_view text;
    size_t consumed;
  };
  struct Best {
    double score;
    TokenId token;
    uint32_t begin;
  };

  void read_character_map(const Gguf& gguf, Vocabulary& vocabulary);
  [[nodiscard]] Replacement normalize_prefix(const Vocabulary& vocabulary, std::string_view text) const;
  void normalize(const Vocabulary& vocabulary, std::string_view text);

  std::vector<uint32_t> nodes_;
  std::string replacements_;
  PrefixTable tokens_;
  PrefixTable user_defined_;
  double unknown_score_ = 0;

  std::string normalized_;
  std::vector<Best> best_;
};

}  // namespace ggufscope
