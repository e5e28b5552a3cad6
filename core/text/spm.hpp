// SentencePiece BPE (llama): joins characters; the pair whose union is the best-scored token first.
//
// A text is split where no token can cross (before U+2581 after anything else), so that words can be cached. Without
// such places it is one long word; candidates are in a heap: n log n.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.hpp"
#include "text/word_cache.hpp"

namespace ggufscope {

class SpmModel {
 public:
  explicit SpmModel(const Vocabulary& vocabulary);

  /// Appends the tokens of one fragment. after_special: no other text stands right before it.
  void encode(const Vocabulary& vocabulary, std::string_view text, bool after_special, std::vector<TokenId>& out);

 private:
  struct Node {
    uint32_t begin, length;  // bytes of the word; length 0: merged away
    uint32_t prev, next;
    TokenId token;  // of this text; kNoToken for a character that is not a token
  };
  struct Candidate {
    float score;
    uint32_t left, right, length;
    TokenId token;
  };

  void encode_word(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out);
  void merge_word(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out);

  std::array<TokenId, 256> byte_tokens_{};
  bool split_at_marks_ = true;
  std::vector<uint8_t> whole_;  // as in BpeModel
  WordCache cache_;

  std::vector<Node> nodes_;
  std::vector<Candidate> heap_;
  std::string escaped_;
};

}  // namespace ggufscope
