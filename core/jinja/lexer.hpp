// The lexer: like jinja2.lexer with trim_blocks and lstrip_blocks.
//
//   1. \r\n and \r become \n. One newline at the end is removed.
//   2. Outside of tags: data up to the next {{ {% {# or {% raw %}. "-" strips all white space before the tag. Before a
//      block or comment, blanks since the line's begin are stripped, unless the tag begins with "+".
//   3. Inside of tags: white space, numbers, names, strings, operators. A tag can end only when all brackets are
//      closed. "-" strips all white space after the tag. After a block or comment, one newline is stripped.
#pragma once

#include <string>
#include <vector>

#include "jinja/ast.hpp"

namespace ggufscope::jinja {

enum class Token : uint8_t {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kNumber,
  kEnd,
  kAdd,
  kSub,
  kDiv,
  kFloorDiv,
  kMul,
  kMod,
  kPow,
  kTilde,
  kLeftBracket,
  kRightBracket,
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kEq,
  kNe,
  kGt,
  kGe,
  kLt,
  kLe,
  kAssign,
  kDot,
  kColon,
  kPipe,
  kComma,
  kSemicolon
};

struct Lexeme {
  Token type = Token::kEnd;
  bool integer = false;  ///< kNumber
  uint32_t at = 0;
  std::string_view text = {};  ///< for names
  Value value = {};            ///< for data, strings and numbers
};

/// The source with all line ends as \n.
[[nodiscard]] std::string normalize_newlines(std::string_view source);

/// Tokenizes the source. The last token is kEnd. Values are allocated in the arena; texts are views of the source.
/// Returns false and sets `problem` on an error.
[[nodiscard]] bool tokenize(std::string_view source, Arena& arena, std::vector<Lexeme>& out, Problem& problem);

}  // namespace ggufscope::jinja
