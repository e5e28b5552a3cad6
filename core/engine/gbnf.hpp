// A parser for GBNF, llama.cpp's grammar notation.
//
//   1. A grammar is a list of rules "name ::= alternatives". The text must match the rule "root".
//   2. Alternatives are sequences separated by "|". A sequence may be empty.
//   3. An item is "text", [class], [^class], "." for any character, a rule's name, ( alternatives ), or a token of the
//      vocabulary. A token is <name>, where the brackets are part of its text, or <[id]>; "!" before it means any other
//      token.
//   4. An item may be followed by * + ? {n} {n,} {n,m}, repeatedly.
//   5. Escapes in texts and classes: \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH. All of them are code points.
//      Every other character stands for itself, line ends too.
//   6. "#" starts a comment. A rule ends with its line, except that lines may end inside parentheses, after "::=" and
//      around "|".
//
// Names consist of letters, digits, "-" and "_".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ggufscope::gbnf {

struct CodePoints {
  uint32_t first, last;
};

struct Expression {
  enum class Kind : uint8_t { kText, kClass, kRule, kToken, kSequence, kChoice, kRepeat };
  Kind kind;
  uint32_t rule = 0;                    ///< kRule; for kToken the index in the list of tokens
  bool negated = false;                 ///< kToken: any other token
  uint32_t min = 0, max = 0;            ///< kRepeat; max kNoLimit: unlimited
  std::string text = {};                ///< kText: UTF-8
  std::vector<CodePoints> ranges = {};  ///< kClass: sorted, disjoint, without surrogates, not empty
  std::vector<Expression> items = {};   ///< kSequence, kChoice; for kRepeat exactly one
};
inline constexpr uint32_t kNoLimit = UINT32_MAX;

struct Rule {
  std::string name;
  uint64_t offset;  ///< byte offset of the name's first occurrence
  bool defined = false;
  Expression body{.kind = Expression::Kind::kSequence};
};

struct Token {
  std::string text;  ///< the text with its brackets; empty if the token is given by its id
  uint32_t id = UINT32_MAX;
  uint64_t offset;
};

struct Rules {
  std::vector<Rule> rules;
  std::vector<Token> tokens;
  uint32_t root;
};

/// Errors, with the byte offset: kInvalidArgument; kTooDeep above 100 nested parentheses; kOutOfRange above 4 MiB of
/// text, 2^20 items, or a count of 2^31.
[[nodiscard]] Result<Rules> parse(std::string_view text, std::string_view root = "root");

}  // namespace ggufscope::gbnf
