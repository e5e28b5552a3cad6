// SentencePiece BPE (llama): starts from characters and repeatedly joins the adjacent pair whose union is the token
// with the best score.
//
// Text is split where no token can cross (before a U+2581 that follows another character), so that words can be cached.
// Otherwise it is one long word. Candidates are in a heap: O(n log n).
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

  /// Appends the tokens of one fragment. after_special: the text directly follows a special token or begins the input.
  void encode(const Vocabulary& vocabulary, std::string_view text, bool after_special, std::vector<TokenId>& out);

 private:
  struct Node {
    uint32_t begin, length;  // in bytes of the word; length 0: merged into another node
    uint32_t prev, next;
    TokenId token;  // kNoToken for a character that is not a token
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
  std::vector<uint8_t> whole_;  // see BpeModel
  WordCache cache_;

  std::vector<Node> nodes_;
  std::vector<Candidate> heap_;
  std::string escaped_;
};

}  // namespace ggufscope
