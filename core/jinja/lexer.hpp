// Text of a template to tokens, as jinja2.lexer with trim_blocks and lstrip_blocks.
//
//   1. \r\n and \r become \n; one newline at the end goes
//   2. outside of tags: data up to the next {{ {% {# or {% raw %}. Before "-" all white space of it goes; before a
//   block
//      or comment the blanks since the line's begin, unless "+" stands there
//   3. inside: white space, numbers, names, strings, operators; the tag's end counts where all brackets are closed.
//      After "-" all white space goes; after a block or comment one newline
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
  std::string_view text = {};  ///< of a name
  Value value = {};            ///< of data, strings and numbers
};

/// Source with line ends as templates see them.
[[nodiscard]] std::string normalize_newlines(std::string_view source);

/// Ends with kEnd. Values lie in the arena, texts in the source. False: the problem says what is wrong.
[[nodiscard]] bool tokenize(std::string_view source, Arena& arena, std::vector<Lexeme>& out, Problem& problem);

}  // namespace ggufscope::jinja
