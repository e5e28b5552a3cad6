// The parser: like jinja2.parser with the tags of loopcontrols and {% generation %}.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/sentence.hpp"
#include "jinja/lexer.hpp"

namespace ggufscope::jinja {

/// Parses the whole template into statements. Returns false and sets `problem` on an error.
[[nodiscard]] bool parse(std::string_view source, Arena& arena, Nodes& body, Problem& problem);

/// Used by parser.cpp (statements) and parser_expressions.cpp.
class Parser {
 public:
  Parser(std::vector<Lexeme>&& tokens, Arena& arena, Problem& problem)
      : tokens_(std::move(tokens)), arena_(arena), problem_(problem) {}

  /// Parses statements up to a tag named in `ends`, which becomes the current token; without names, up to the end.
  [[nodiscard]] bool statements(std::initializer_list<std::string_view> ends, Nodes& out);

 private:
  enum TupleMode : uint8_t { kFull = 0, kSimplified = 1, kNoCondition = 2, kParenthesized = 4, kNamespace = 8 };

  // Statements return a node, or nullptr after setting the problem.
  Node* statement();
  Node* for_statement(uint32_t at);
  Node* if_statement(uint32_t at);
  Node* set_statement(uint32_t at);
  Node* with_statement(uint32_t at);
  Node* block_statement(uint32_t at);
  Node* macro_statement(uint32_t at);
  Node* call_statement(uint32_t at);
  Node* filter_statement(uint32_t at);
  Node* import_statement(uint32_t at, bool from);
  Node* include_statement(uint32_t at);
  Node* print_statement(uint32_t at);
  Node* other_statement(uint32_t at, std::string_view name);
  bool from_names(std::vector<Node*>& names);
  bool signature(Node* node);
  bool block_body(std::initializer_list<std::string_view> ends, Nodes& out);
  bool block_until(std::string_view end, Nodes& out);
  bool context_marker();

  // Expressions
  Node* expression(bool with_condition = true);
  Node* condition();
  Node* either();
  Node* both();
  Node* negation();
  Node* comparison();
  Node* sum();
  Node* concatenation();
  Node* product();
  Node* power();
  /// An operator of two operands: a token, or a word.
  struct Infix {
    Token token = Token::kName;
    std::string_view word = {};
    Kind kind = Kind::kBinary;
    Op op = Op::kAdd;
  };
  /// Operators of one precedence, which group from the left. `operand` parses what is beside them.
  template <class Operand>
  Node* grouped(std::span<const Infix> operators, Operand&& operand);
  Node* unary(bool with_filter = true);
  Node* primary(bool with_namespace = false);
  Node* tuple(uint8_t mode = kFull);
  Node* list();
  Node* dict();
  Node* postfix(Node* node);
  Node* filters(Node* node);
  Node* filter(Node* node, bool inline_start = false);
  Node* test(Node* node);
  bool test_arguments(Node* node);
  Node* subscript(Node* node);
  Node* subscribed();
  Node* call(Node* node);
  bool arguments(CallNode*& out);
  bool argument(CallNode& call, std::vector<Node*>& args, std::vector<KeywordNode>& keywords, uint32_t at);
  Node* target(uint8_t mode = kSimplified);
  Node* name_target();
  bool can_assign(Node* node);

  // Tokens
  [[nodiscard]] const Lexeme& current() const { return tokens_[at_]; }
  [[nodiscard]] const Lexeme& next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  void advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  [[nodiscard]] bool is(Token type) const { return current().type == type; }
  [[nodiscard]] bool is_name(std::string_view name) const { return is(Token::kName) && current().text == name; }
  bool skip(Token type);
  bool skip_name(std::string_view name);
  bool expect(Token type, std::string_view what);

  Node* new_node(Kind kind, uint32_t at, Node* a = nullptr, Node* b = nullptr, Node* c = nullptr);
  Node* fail(std::initializer_list<Part> parts);
  Node* fail_at(uint32_t at, std::initializer_list<Part> parts);
  Node* unexpected(std::string_view wanted);
  bool keep(const std::vector<Node*>& from, Nodes& out);
  const Str* text(std::string_view bytes);
  [[nodiscard]] std::string_view describe() const;

  std::vector<Lexeme> tokens_;
  Arena& arena_;
  Problem& problem_;
  size_t at_ = 0;
  uint32_t depth_ = 0;

  friend struct Deeper;
};

/// Counts the parser's recursion depth.
struct Deeper {
  explicit Deeper(Parser& p) : parser(p) { ++parser.depth_; }
  ~Deeper() { --parser.depth_; }
  [[nodiscard]] bool too_deep() const;
  Parser& parser;
};

}  // namespace ggufscope::jinja
