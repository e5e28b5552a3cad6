// Collects an answer's text from its tokens, up to the first stop string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace ggufscope {

/// Text that may be the beginning of a stop string is held back. Control tokens have no text, but the search for stop
/// strings includes their names, so the stop string "<|user|>" ends an answer at that token.
class AnswerText {
 public:
  /// shown: control tokens whose names are part of the text.
  AnswerText(const Tokenizer& tokenizer, std::vector<std::string> stops, std::vector<TokenId> shown = {});

  /// Adds a token. Returns the text that is now final, in whole code points; often it is empty.
  [[nodiscard]] std::string push(TokenId id);
  /// Ends the answer. Returns the text that was held back, which may complete a stop string. cut: a limit ended it, so
  /// an incomplete character at its end would have gone on, and is left out.
  [[nodiscard]] std::string flush(bool cut = false);
  /// True if a stop string was found. push or finish then returned the text before it.
  [[nodiscard]] bool stopped() const { return stop_ >= 0; }
  /// The index of the stop string that was found, among those that are not empty; -1: none.
  [[nodiscard]] int32_t stop() const { return stop_; }

 private:
  [[nodiscard]] std::string add(std::string_view text, bool hidden);
  [[nodiscard]] std::string release(size_t n);

  const Tokenizer& tokenizer_;
  StreamDecoder decoder_;
  std::vector<std::string> stops_;
  int32_t stop_ = -1;
  std::vector<TokenId> shown_;
  std::string held_;
  std::vector<bool> hidden_;  // for each byte of held_: true if it belongs to a control token's name
};

}  // namespace ggufscope
