// WordPiece (bert): words are normalized, and each is split into the longest tokens from its start. A word that cannot
// be split is UNK. GGUF marks the start of a word with U+2581, whereas BERT marks continuations ("##").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/prefix_table.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"
#include "text/word_cache.hpp"

namespace ggufscope {

class WordPieceModel {
 public:
  explicit WordPieceModel(const Vocabulary& vocabulary);

  void encode(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);

 private:
  void encode_word(const Vocabulary& vocabulary, std::vector<TokenId>& out);

  PrefixTable table_;
  BaseTable bases_;
  WordCache cache_;
  std::string word_;  // the mark, then the word
};

}  // namespace ggufscope
