// The text of an answer as its tokens come, up to the first stop string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace ggufscope {

/// Text that may begin a stop string is held back. Control tokens make no text, but stop strings are looked for with
/// their names in place: "<|user|>" ends an answer where that token comes.
class AnswerText {
 public:
  /// shown: control tokens whose names are text as others are.
  AnswerText(const Tokenizer& tokenizer, std::vector<std::string> stops, std::vector<TokenId> shown = {});

  /// Whole code points that became certain with this token, often empty.
  [[nodiscard]] std::string push(TokenId id);
  /// What is still held back: nothing more comes. May complete a stop string.
  [[nodiscard]] std::string finish();
  /// A stop string has come. What stands before it has been told by push, or is by finish.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  [[nodiscard]] std::string add(std::string_view text, bool hidden);
  [[nodiscard]] std::string release(size_t n);

  const Tokenizer& tokenizer_;
  StreamDecoder decoder_;
  std::vector<std::string> stops_;
  std::vector<TokenId> shown_;
  std::string held_;
  std::vector<bool> hidden_;  // by byte of held_: of a control token's name
  bool stopped_ = false;
};

}  // namespace ggufscope
