// GBNF, llama.cpp's notation of grammars, as a tree.
//
//   1. a grammar is rules "name ::= alternatives"; the text starts with the rule "root"
//   2. alternatives are sequences with "|" between them; a sequence may be empty
//   3. an item is "text", [class], [^class], "." for any character, a rule's name, ( alternatives ), or a token of the
//      vocabulary: <name>, whose text is all of that with its brackets; <[id]>; or, with ! before it, any other token
//   4. an item may be followed by * + ? {n} {n,} {n,m}, any of them more than once
//   5. escapes in texts and classes: \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH, all of them code points
//   6. "#" starts a comment. A rule ends with its line, but inside parentheses, after "::=" and around "|" lines may
//   end
//
// Names are of letters, digits, "-" and "_".
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
  uint32_t rule = 0;                    ///< kRule; of kToken its place among the tokens
  bool negated = false;                 ///< kToken: any other one
  uint32_t min = 0, max = 0;            ///< kRepeat; max kNoLimit: without end
  std::string text = {};                ///< kText: UTF-8
  std::vector<CodePoints> ranges = {};  ///< kClass: sorted, apart, without surrogates, not empty
  std::vector<Expression> items = {};   ///< kSequence, kChoice, and the one of kRepeat
};
inline constexpr uint32_t kNoLimit = UINT32_MAX;

struct Rule {
  std::string name;
  uint64_t offset;  ///< byte offset of the first occurrence of the name
  bool defined = false;
  Expression body{.kind = Expression::Kind::kSequence};
};

struct Token {
  std::string text;  ///< the text with its brackets; empty: the token is given by its id
  uint32_t id = UINT32_MAX;
  uint64_t offset;
};

struct Rules {
  std::vector<Rule> rules;
  std::vector<Token> tokens;
  uint32_t root;
};

/// kInvalidArgument with the byte offset, kTooDeep beyond 100 nested parentheses, kOutOfRange for texts above 4 MiB.
[[nodiscard]] Result<Rules> parse(std::string_view text, std::string_view root = "root");

}  // namespace ggufscope::gbnf
