// Parses expressions, from the weakest operator to the strongest.
#include <algorithm>

#include "jinja/parser.hpp"

namespace ggufscope::jinja {

Node* Parser::name_target() {
  if (!is(Token::kName)) return unexpected("a name");
  Node* node = new_node(Kind::kName, current().at);
  if (node == nullptr || (node->text = text(current().text)) == nullptr) return nullptr;
  const std::string_view name = current().text;
  for (const std::string_view reserved : {"true", "false", "none", "True", "False", "None"})
    if (name == reserved) return fail({"cannot assign to ", name});
  advance();
  return node;
}

bool Parser::can_assign(Node* node) {
  if (node->kind == Kind::kName || node->kind == Kind::kNsRef) return true;
  if (node->kind == Kind::kTuple)
    return std::all_of(node->items.begin(), node->items.end(), [&](Node* item) { return can_assign(item); });
  return fail_at(node->at, {"cannot assign to this: a name is needed"}) != nullptr;
}

Node* Parser::target(uint8_t mode) {
  Node* node = tuple(mode);
  return node != nullptr && can_assign(node) ? node : nullptr;
}

Node* Parser::expression(bool with_condition) {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return nullptr;
  return with_condition ? condition() : either();
}

Node* Parser::condition() {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return nullptr;
  const uint32_t at = current().at;
  Node* then = either();
  while (then != nullptr && skip_name("if")) {
    Node* when = either();
    Node* otherwise = nullptr;
    if (when == nullptr) return nullptr;
    if (skip_name("else") && (otherwise = condition()) == nullptr) return nullptr;
    then = new_node(Kind::kCond, at, when, then, otherwise);
  }
  return then;
}

template <class Operand>
Node* Parser::grouped(std::span<const Infix> operators, Operand&& operand) {
  Node* left = operand();
  while (left != nullptr) {
    const auto found = std::ranges::find_if(
        operators, [&](const Infix& one) { return one.word.empty() ? is(one.token) : is_name(one.word); });
    if (found == operators.end()) break;
    const uint32_t at = current().at;
    advance();
    Node* right = operand();
    left = right == nullptr ? nullptr : new_node(found->kind, at, left, right);
    if (left != nullptr) left->op = found->op;
  }
  return left;
}

Node* Parser::either() {
  constexpr Infix kOperators[] = {{.word = "or", .kind = Kind::kOr}};
  return grouped(kOperators, [this] { return both(); });
}

Node* Parser::both() {
  constexpr Infix kOperators[] = {{.word = "and", .kind = Kind::kAnd}};
  return grouped(kOperators, [this] { return negation(); });
}

Node* Parser::negation() {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return nullptr;
  const uint32_t at = current().at;
  if (!skip_name("not")) return comparison();
  Node* of = negation();
  return of == nullptr ? nullptr : new_node(Kind::kNot, at, of);
}

Node* Parser::comparison() {
  constexpr std::pair<Token, Op> kComparisons[] = {{Token::kEq, Op::kEq}, {Token::kNe, Op::kNe}, {Token::kLt, Op::kLt},
                                                   {Token::kLe, Op::kLe}, {Token::kGt, Op::kGt}, {Token::kGe, Op::kGe}};
  Node* left = sum();
  std::vector<Node*> operands;
  const uint32_t at = current().at;
  while (left != nullptr) {
    const uint32_t here = current().at;
    const auto* found =
        std::find_if(std::begin(kComparisons), std::end(kComparisons), [&](const auto& one) { return is(one.first); });
    Op op = Op::kIn;
    if (found != std::end(kComparisons)) {
      op = found->second;
    } else if (is_name("not") && next().type == Token::kName && next().text == "in") {
      advance();
      op = Op::kNotIn;
    } else if (!is_name("in")) {
      break;
    }
    advance();
    Node* right = sum();
    Node* operand = right == nullptr ? nullptr : new_node(Kind::kOperand, here, right);
    if (operand == nullptr) return nullptr;
    operand->op = op;
    operands.push_back(operand);
  }
  if (left == nullptr || operands.empty()) return left;
  Node* node = new_node(Kind::kCompare, at, left);
  return node != nullptr && keep(operands, node->items) ? node : nullptr;
}

Node* Parser::sum() {
  constexpr Infix kOperators[] = {{.token = Token::kAdd, .op = Op::kAdd}, {.token = Token::kSub, .op = Op::kSub}};
  return grouped(kOperators, [this] { return concatenation(); });
}

Node* Parser::concatenation() {
  Node* first = product();
  if (first == nullptr || !is(Token::kTilde)) return first;
  const uint32_t at = current().at;
  std::vector<Node*> items = {first};
  while (skip(Token::kTilde)) {
    Node* more = product();
    if (more == nullptr) return nullptr;
    items.push_back(more);
  }
  Node* node = new_node(Kind::kConcat, at);
  return node != nullptr && keep(items, node->items) ? node : nullptr;
}

Node* Parser::product() {
  constexpr Infix kOperators[] = {{.token = Token::kMul, .op = Op::kMul},
                                  {.token = Token::kDiv, .op = Op::kDiv},
                                  {.token = Token::kFloorDiv, .op = Op::kFloorDiv},
                                  {.token = Token::kMod, .op = Op::kMod}};
  return grouped(kOperators, [this] { return power(); });
}

Node* Parser::power() {
  constexpr Infix kOperators[] = {{.token = Token::kPow, .op = Op::kPow}};
  return grouped(kOperators, [this] { return unary(); });
}

Node* Parser::unary(bool with_filter) {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return nullptr;
  const uint32_t at = current().at;
  const bool minus = is(Token::kSub);
  Node* node = nullptr;
  if (minus || is(Token::kAdd)) {
    advance();
    Node* of = unary(false);
    node = of == nullptr ? nullptr : new_node(minus ? Kind::kNegate : Kind::kPlus, at, of);
  } else {
    node = primary();
  }
  node = node == nullptr ? nullptr : postfix(node);
  return node == nullptr || !with_filter ? node : filters(node);
}

Node* Parser::primary(bool with_namespace) {
  const Lexeme token = current();
  Node* node = new_node(Kind::kConst, token.at);
  if (node == nullptr) return nullptr;
  switch (token.type) {
    case Token::kName: {
      const std::string_view name = token.text;
      advance();
      if (name == "true" || name == "True" || name == "false" || name == "False") {
        node->value = Value::of(name == "true" || name == "True");
      } else if (name == "none" || name == "None") {
        node->value = Value::none();
      } else {
        node->kind = Kind::kName;
        if ((node->text = text(name)) == nullptr) return nullptr;
        if (!with_namespace || !skip(Token::kDot)) return node;
        if (!is(Token::kName)) return unexpected("a name");
        node->kind = Kind::kNsRef;
        node->value = Value::of(text(current().text));
        advance();
      }
      return node;
    }
    case Token::kString: {
      advance();
      if (!is(Token::kString)) {
        node->value = token.value;
        return node;
      }
      std::string joined(token.value.str->view());
      for (; is(Token::kString); advance()) joined += current().value.str->view();
      node->value = Value::of(text(joined));
      return node;
    }
    case Token::kNumber:
      advance();
      node->value = token.value;
      return node;
    case Token::kLeftParen:
      advance();
      node = tuple(kParenthesized);
      return node != nullptr && expect(Token::kRightParen, ")") ? node : nullptr;
    case Token::kLeftBracket:
      return list();
    case Token::kLeftBrace:
      return dict();
    default:
      return unexpected("an expression");
  }
}

Node* Parser::tuple(uint8_t mode) {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return nullptr;
  const uint32_t at = current().at;
  std::vector<Node*> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty() && !expect(Token::kComma, ",")) return nullptr;
    if (is(Token::kVariableEnd) || is(Token::kBlockEnd) || is(Token::kRightParen)) break;
    Node* item = (mode & kSimplified) != 0 ? primary((mode & kNamespace) != 0) : expression((mode & kNoCondition) == 0);
    if (item == nullptr) return nullptr;
    items.push_back(item);
    if (!is(Token::kComma)) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return items[0];
  if (!is_tuple && (mode & kParenthesized) == 0) return unexpected("an expression");
  Node* node = new_node(Kind::kTuple, at);
  return node != nullptr && keep(items, node->items) ? node : nullptr;
}

Node* Parser::list() {
  Node* node = new_node(Kind::kList, current().at);
  std::vector<Node*> items;
  advance();
  while (!is(Token::kRightBracket)) {
    if (!items.empty() && !expect(Token::kComma, ",")) return nullptr;
    if (is(Token::kRightBracket)) break;
    Node* item = expression();
    if (item == nullptr) return nullptr;
    items.push_back(item);
  }
  advance();
  return node != nullptr && keep(items, node->items) ? node : nullptr;
}

Node* Parser::dict() {
  Node* node = new_node(Kind::kDict, current().at);
  std::vector<Node*> items;
  advance();
  while (!is(Token::kRightBrace)) {
    if (!items.empty() && !expect(Token::kComma, ",")) return nullptr;
    if (is(Token::kRightBrace)) break;
    Node* key = expression();
    if (key == nullptr || !expect(Token::kColon, ":")) return nullptr;
    Node* value = expression();
    if (value == nullptr) return nullptr;
    items.push_back(key);
    items.push_back(value);
  }
  advance();
  return node != nullptr && keep(items, node->items) ? node : nullptr;
}

Node* Parser::postfix(Node* node) {
  while (node != nullptr) {
    if (is(Token::kDot) || is(Token::kLeftBracket))
      node = subscript(node);
    else if (is(Token::kLeftParen))
      node = call(node);
    else
      break;
  }
  return node;
}

Node* Parser::filters(Node* node) {
  while (node != nullptr) {
    if (is(Token::kPipe))
      node = filter(node);
    else if (is_name("is"))
      node = test(node);
    else if (is(Token::kLeftParen))
      node = call(node);
    else
      break;
  }
  return node;
}

Node* Parser::filter(Node* node, bool inline_start) {
  while (is(Token::kPipe) || inline_start) {
    if (!inline_start) advance();
    if (!is(Token::kName)) return unexpected("the name of a filter");
    Node* made = new_node(Kind::kFilter, current().at, node);
    std::string name(current().text);
    for (advance(); skip(Token::kDot); advance()) {
      if (!is(Token::kName)) return unexpected("a name");
      name.append(".").append(current().text);
    }
    if (made == nullptr || (made->text = text(name)) == nullptr) return nullptr;
    if (is(Token::kLeftParen) && !arguments(made->call)) return nullptr;
    node = made;
    inline_start = false;
  }
  return node;
}

bool Parser::test_arguments(Node* node) {
  if (is(Token::kLeftParen)) return arguments(node->call);
  const bool operand =
      is(Token::kName) || is(Token::kString) || is(Token::kNumber) || is(Token::kLeftBracket) || is(Token::kLeftBrace);
  if (!operand || is_name("else") || is_name("or") || is_name("and")) return true;
  if (is_name("is")) return fail({"tests cannot be chained"}) != nullptr;
  Node* argument = primary();
  argument = argument == nullptr ? nullptr : postfix(argument);
  node->call = arena_.create<CallNode>();
  return argument != nullptr && node->call != nullptr && keep({argument}, node->call->args);
}

Node* Parser::test(Node* node) {
  const uint32_t at = current().at;
  advance();
  const bool negated = skip_name("not");
  if (!is(Token::kName)) return unexpected("the name of a test");
  Node* made = new_node(Kind::kTest, current().at, node);
  std::string name(current().text);
  for (advance(); skip(Token::kDot); advance()) {
    if (!is(Token::kName)) return unexpected("a name");
    name.append(".").append(current().text);
  }
  if (made == nullptr || (made->text = text(name)) == nullptr || !test_arguments(made)) return nullptr;
  return negated ? new_node(Kind::kNot, at, made) : made;
}

Node* Parser::subscript(Node* node) {
  const uint32_t at = current().at;
  if (skip(Token::kDot)) {
    const Lexeme attribute = current();
    advance();
    if (attribute.type == Token::kName) {
      Node* made = new_node(Kind::kGetattr, attribute.at, node);
      if (made != nullptr) made->value = Value::of(text(attribute.text));
      return made;
    }
    if (attribute.type != Token::kNumber || !attribute.integer)
      return fail_at(attribute.at, {"expected a name or a number after ."});
    Node* index = new_node(Kind::kConst, attribute.at);
    if (index == nullptr) return nullptr;
    index->value = attribute.value;
    return new_node(Kind::kGetitem, at, node, index);
  }
  advance();
  std::vector<Node*> items;
  while (!is(Token::kRightBracket)) {
    if (!items.empty() && !expect(Token::kComma, ",")) return nullptr;
    Node* item = subscribed();
    if (item == nullptr) return nullptr;
    items.push_back(item);
  }
  advance();
  if (items.size() == 1) return new_node(Kind::kGetitem, at, node, items[0]);
  for (const Node* item : items)
    if (item->kind == Kind::kSlice) return fail_at(item->at, {"a slice must stand alone between brackets"});
  Node* index = new_node(Kind::kTuple, at);
  return index != nullptr && keep(items, index->items) ? new_node(Kind::kGetitem, at, node, index) : nullptr;
}

Node* Parser::subscribed() {
  const uint32_t at = current().at;
  Node* parts[3] = {};
  if (!is(Token::kColon)) {
    if ((parts[0] = expression()) == nullptr) return nullptr;
    if (!is(Token::kColon)) return parts[0];
  }
  advance();
  const auto ends = [&] { return is(Token::kRightBracket) || is(Token::kComma); };
  if (!is(Token::kColon) && !ends() && (parts[1] = expression()) == nullptr) return nullptr;
  if (skip(Token::kColon) && !ends() && (parts[2] = expression()) == nullptr) return nullptr;
  return new_node(Kind::kSlice, at, parts[0], parts[1], parts[2]);
}

Node* Parser::call(Node* node) {
  Node* made = new_node(Kind::kCall, current().at, node);
  return made != nullptr && arguments(made->call) ? made : nullptr;
}

bool Parser::argument(CallNode& call, std::vector<Node*>& args, std::vector<KeywordNode>& keywords, uint32_t at) {
  const auto refuse = [&] {
    return fail_at(at, {"invalid syntax of a call: positional arguments come first"}) != nullptr;
  };
  if (skip(Token::kMul)) {
    if (call.more_args != nullptr || call.more_keywords != nullptr) return refuse();
    return (call.more_args = expression()) != nullptr;
  }
  if (skip(Token::kPow)) {
    if (call.more_keywords != nullptr) return refuse();
    return (call.more_keywords = expression()) != nullptr;
  }
  if (is(Token::kName) && next().type == Token::kAssign) {
    if (call.more_keywords != nullptr) return refuse();
    const KeywordNode keyword = {text(current().text), nullptr};
    for (const KeywordNode& other : keywords)
      if (other.name->view() == current().text)
        return fail({"the argument ", Quoted{current().text}, " is given twice"}) != nullptr;
    advance();
    advance();
    Node* value = expression();
    keywords.push_back({keyword.name, value});
    return keyword.name != nullptr && value != nullptr;
  }
  if (call.more_args != nullptr || call.more_keywords != nullptr || !keywords.empty()) return refuse();
  Node* value = expression();
  args.push_back(value);
  return value != nullptr;
}

bool Parser::arguments(CallNode*& out) {
  const uint32_t at = current().at;
  if (!expect(Token::kLeftParen, "(")) return false;
  out = arena_.create<CallNode>();
  if (out == nullptr) return fail({"it takes too much memory"}) != nullptr;
  std::vector<Node*> args;
  std::vector<KeywordNode> keywords;
  bool first = true;
  while (!is(Token::kRightParen)) {
    if (!first && !expect(Token::kComma, ",")) return false;
    if (!first && is(Token::kRightParen)) break;
    if (!argument(*out, args, keywords, at)) return false;
    first = false;
  }
  advance();
  out->keywords = arena_.create<KeywordNode>(keywords.size());
  if (out->keywords == nullptr) return fail({"it takes too much memory"}) != nullptr;
  std::copy(keywords.begin(), keywords.end(), out->keywords);
  out->n_keywords = static_cast<uint32_t>(keywords.size());
  return keep(args, out->args);
}

}  // namespace ggufscope::jinja
