// WordPiece (bert): normalized words, each cut into the longest tokens from its start; a word that cannot be cut is
// UNK. GGUF spells the start of a word U+2581, where BERT marked what does not start one.
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
  std::string word_;  // the mark and the word
};

}  // namespace ggufscope
