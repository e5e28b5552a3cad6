// Parses statements: text, tags and their bodies.
#include "jinja/parser.hpp"

#include <algorithm>

namespace ggufscope::jinja {

bool parse(std::string_view source, Arena& arena, Nodes& body, Problem& problem) {
  std::vector<Lexeme> tokens;
  if (!tokenize(source, arena, tokens, problem)) return false;
  return Parser(std::move(tokens), arena, problem).statements({}, body);
}

bool Deeper::too_deep() const {
  constexpr uint32_t kMaxNesting = 700;
  if (parser.depth_ <= kMaxNesting) return false;
  if (parser.problem_.code == Problem::Code::kNone)
    parser.problem_ = {Problem::Code::kLimit, "it nests too deep", parser.current().at, true};
  return true;
}

Node* Parser::new_node(Kind kind, uint32_t at, Node* a, Node* b, Node* c) {
  Node* node = arena_.create<Node>();
  if (node == nullptr) {
    problem_ = {Problem::Code::kLimit, "it takes too much memory", at, true};
    return nullptr;
  }
  node->kind = kind;
  node->at = at;
  node->a = a;
  node->b = b;
  node->c = c;
  node->loop.slot = node->caller.slot = node->kwargs.slot = node->varargs.slot = node->self.slot = node->super.slot =
      kNoSlot;
  return node;
}

Node* Parser::fail_at(uint32_t at, std::initializer_list<Part> parts) {
  if (problem_.code == Problem::Code::kNone) problem_ = {Problem::Code::kTemplate, sentence(parts), at, true};
  return nullptr;
}
Node* Parser::fail(std::initializer_list<Part> parts) { return fail_at(current().at, parts); }

std::string_view Parser::describe() const {
  constexpr std::string_view kNames[] = {
      "text", "{{", "}}", "{%", "%}", "",   "a string", "a number", "the template's end",
      "+",    "-",  "/",  "//", "*",  "%",  "**",       "~",        "[",
      "]",    "(",  ")",  "{",  "}",  "==", "!=",       ">",        ">=",
      "<",    "<=", "=",  ".",  ":",  "|",  ",",        ";"};
  return is(Token::kName) ? current().text : kNames[static_cast<size_t>(current().type)];
}
Node* Parser::unexpected(std::string_view wanted) { return fail({"expected ", wanted, ", found ", describe()}); }

bool Parser::skip(Token type) {
  if (!is(type)) return false;
  advance();
  return true;
}
bool Parser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  advance();
  return true;
}
bool Parser::expect(Token type, std::string_view what) {
  if (skip(type)) return true;
  unexpected(what);
  return false;
}

bool Parser::keep(const std::vector<Node*>& from, Nodes& out) {
  out.items = arena_.create<Node*>(from.size());
  if (out.items == nullptr && !from.empty()) {
    problem_ = {Problem::Code::kLimit, "it takes too much memory", current().at, true};
    return false;
  }
  std::copy(from.begin(), from.end(), out.items);
  out.n = static_cast<uint32_t>(from.size());
  return true;
}

const Str* Parser::text(std::string_view bytes) {
  Str* str = arena_.create<Str>();
  char* copy = static_cast<char*>(arena_.allocate(bytes.size()));
  if (str == nullptr || copy == nullptr) {
    problem_ = {Problem::Code::kLimit, "it takes too much memory", current().at, true};
    return nullptr;
  }
  std::copy(bytes.begin(), bytes.end(), copy);
  str->data = copy;
  str->size = static_cast<uint32_t>(bytes.size());
  return str;
}

bool Parser::statements(std::initializer_list<std::string_view> ends, Nodes& out) {
  const Deeper deeper(*this);
  if (deeper.too_deep()) return false;
  std::vector<Node*> body, output;
  const auto flush = [&] {
    if (output.empty()) return true;
    Node* node = new_node(Kind::kOutput, output[0]->at);
    if (node == nullptr || !keep(output, node->items)) return false;
    body.push_back(node);
    output.clear();
    return true;
  };
  while (!is(Token::kEnd)) {
    if (is(Token::kData)) {
      Node* node = new_node(Kind::kData, current().at);
      if (node == nullptr) return false;
      node->value = current().value;
      output.push_back(node);
      advance();
    } else if (skip(Token::kVariableBegin)) {
      Node* node = tuple();
      if (node == nullptr || !expect(Token::kVariableEnd, "}}")) return false;
      output.push_back(node);
    } else {
      advance();
      if (!flush()) return false;
      if (is(Token::kName) && std::find(ends.begin(), ends.end(), current().text) != ends.end()) return keep(body, out);
      Node* node = statement();
      if (node == nullptr || !expect(Token::kBlockEnd, "%}")) return false;
      body.push_back(node);
    }
  }
  if (ends.size() == 0) return flush() && keep(body, out);
  fail({"the template ends before {% ", ends.end()[-1], " %}"});
  return false;
}

/// Parses the rest of the tag, then statements up to one of the tags in `ends`.
bool Parser::block_body(std::initializer_list<std::string_view> ends, Nodes& out) {
  skip(Token::kColon);
  return expect(Token::kBlockEnd, "%}") && statements(ends, out);
}
bool Parser::block_until(std::string_view end, Nodes& out) {
  if (!block_body({end}, out)) return false;
  advance();
  return true;
}

Node* Parser::statement() {
  if (!is(Token::kName)) return unexpected("the name of a tag");
  const std::string_view name = current().text;
  const uint32_t at = current().at;
  advance();
  if (name == "for") return for_statement(at);
  if (name == "if") return if_statement(at);
  if (name == "set") return set_statement(at);
  if (name == "with") return with_statement(at);
  if (name == "block") return block_statement(at);
  if (name == "macro") return macro_statement(at);
  if (name == "call") return call_statement(at);
  if (name == "filter") return filter_statement(at);
  if (name == "import" || name == "from") return import_statement(at, name == "from");
  if (name == "include") return include_statement(at);
  if (name == "print") return print_statement(at);
  return other_statement(at, name);
}

Node* Parser::other_statement(uint32_t at, std::string_view name) {
  if (name == "break") return new_node(Kind::kBreak, at);
  if (name == "continue") return new_node(Kind::kContinue, at);
  if (name == "extends") {
    Node* a = expression();
    return a == nullptr ? nullptr : new_node(Kind::kExtends, at, a);
  }
  if (name == "generation") {
    Node* node = new_node(Kind::kCallBlock, at);
    return node != nullptr && block_until("endgeneration", node->body) ? node : nullptr;
  }
  if (name == "autoescape") {
    Node* a = expression();
    Node* node = a == nullptr ? nullptr : new_node(Kind::kAutoescape, at, a);
    return node != nullptr && block_until("endautoescape", node->body) ? node : nullptr;
  }
  return fail_at(at, {"there is no tag ", Quoted{name}, " here"});
}

Node* Parser::for_statement(uint32_t at) {
  Node* to = target();
  if (to == nullptr) return nullptr;
  if (!skip_name("in")) return unexpected("in");
  Node* over = tuple(kNoCondition);
  Node* node = over == nullptr ? nullptr : new_node(Kind::kFor, at, to, over);
  if (node == nullptr) return nullptr;
  if (skip_name("if") && (node->c = expression()) == nullptr) return nullptr;
  if (skip_name("recursive")) node->flags |= kRecursive;
  if (!block_body({"endfor", "else"}, node->body)) return nullptr;
  const bool has_else = is_name("else");
  advance();
  return !has_else || block_until("endfor", node->rest) ? node : nullptr;
}

Node* Parser::if_statement(uint32_t at) {
  Node* const result = new_node(Kind::kIf, at);
  std::vector<Node*> others;
  for (Node* node = result; node != nullptr;) {
    if ((node->a = tuple(kNoCondition)) == nullptr) return nullptr;
    if (!block_body({"elif", "else", "endif"}, node->body)) return nullptr;
    const bool again = is_name("elif"), otherwise = is_name("else");
    advance();
    if (!again) {
      if (otherwise && !block_until("endif", result->rest)) return nullptr;
      return keep(others, result->items) ? result : nullptr;
    }
    node = new_node(Kind::kIf, current().at);
    others.push_back(node);
  }
  return nullptr;
}

Node* Parser::set_statement(uint32_t at) {
  Node* to = target(kSimplified | kNamespace);
  if (to == nullptr) return nullptr;
  if (skip(Token::kAssign)) {
    Node* value = tuple();
    return value == nullptr ? nullptr : new_node(Kind::kSet, at, to, value);
  }
  Node* through = nullptr;
  if (is(Token::kPipe) && (through = filter(nullptr)) == nullptr) return nullptr;
  Node* node = new_node(Kind::kSetBlock, at, to, through);
  return node != nullptr && block_until("endset", node->body) ? node : nullptr;
}

Node* Parser::with_statement(uint32_t at) {
  std::vector<Node*> targets, values;
  while (!is(Token::kBlockEnd)) {
    if (!targets.empty() && !expect(Token::kComma, ",")) return nullptr;
    Node* to = target();
    if (to == nullptr || !expect(Token::kAssign, "=")) return nullptr;
    Node* value = expression();
    if (value == nullptr) return nullptr;
    targets.push_back(to);
    values.push_back(value);
  }
  Node* node = new_node(Kind::kWith, at);
  if (node == nullptr || !keep(targets, node->items) || !keep(values, node->rest)) return nullptr;
  return block_until("endwith", node->body) ? node : nullptr;
}

Node* Parser::block_statement(uint32_t at) {
  if (!is(Token::kName)) return unexpected("the block's name");
  Node* node = new_node(Kind::kBlock, at);
  const std::string_view name = current().text;
  if (node == nullptr || (node->text = text(name)) == nullptr) return nullptr;
  advance();
  if (skip_name("scoped")) node->flags |= kScoped;
  if (skip_name("required")) node->flags |= kRequired;
  if (!block_until("endblock", node->body)) return nullptr;
  if ((node->flags & kRequired) != 0) {
    for (const Node* inside : node->body) {
      const bool blank = inside->kind == Kind::kOutput &&
                         std::all_of(inside->items.begin(), inside->items.end(), [](const Node* data) {
                           return data->kind == Kind::kData &&
                                  data->value.str->view().find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
                         });
      if (!blank) return fail_at(at, {"a required block holds nothing but white space"});
    }
  }
  skip_name(name);
  return node;
}

bool Parser::signature(Node* node) {
  std::vector<Node*> parameters, defaults;
  if (!expect(Token::kLeftParen, "(")) return false;
  while (!is(Token::kRightParen)) {
    if (!parameters.empty() && !expect(Token::kComma, ",")) return false;
    Node* parameter = name_target();
    if (parameter == nullptr) return false;
    for (const Node* other : parameters)
      if (other->text->view() == parameter->text->view())
        return fail_at(parameter->at, {"there are two parameters ", Quoted{parameter->text->view()}}) != nullptr;
    if (skip(Token::kAssign)) {
      Node* value = expression();
      if (value == nullptr) return false;
      defaults.push_back(value);
    } else if (!defaults.empty()) {
      fail({"a parameter without a default follows one that has one"});
      return false;
    }
    parameters.push_back(parameter);
  }
  advance();
  return keep(parameters, node->items) && keep(defaults, node->rest);
}

Node* Parser::macro_statement(uint32_t at) {
  Node* name = name_target();
  Node* node = name == nullptr ? nullptr : new_node(Kind::kMacro, at);
  if (node == nullptr || !signature(node)) return nullptr;
  node->text = name->text;
  return block_until("endmacro", node->body) ? node : nullptr;
}

Node* Parser::call_statement(uint32_t at) {
  Node* node = new_node(Kind::kCallBlock, at);
  if (node == nullptr || (is(Token::kLeftParen) && !signature(node))) return nullptr;
  if ((node->a = expression()) == nullptr) return nullptr;
  if (node->a->kind != Kind::kCall) return fail_at(at, {"{% call %} needs a call"});
  return block_until("endcall", node->body) ? node : nullptr;
}

Node* Parser::filter_statement(uint32_t at) {
  Node* outermost = filter(nullptr, true);
  Node* node = outermost == nullptr ? nullptr : new_node(Kind::kFilterBlock, at, outermost);
  return node != nullptr && block_until("endfilter", node->body) ? node : nullptr;
}

bool Parser::context_marker() {
  if ((!is_name("with") && !is_name("without")) || next().type != Token::kName || next().text != "context")
    return false;
  advance();
  advance();
  return true;
}

bool Parser::from_names(std::vector<Node*>& names) {
  for (;;) {
    if (!names.empty() && !expect(Token::kComma, ",")) return false;
    if (!is(Token::kName)) return unexpected("a name") != nullptr;
    if (context_marker()) return true;
    Node* name = name_target();
    if (name == nullptr) return false;
    if (name->text->view().starts_with('_'))
      return fail_at(name->at, {"names with _ first cannot be imported"}) != nullptr;
    if (skip_name("as") && (name = name_target()) == nullptr) return false;
    names.push_back(name);
    if (context_marker() || !is(Token::kComma)) return true;
  }
}

Node* Parser::import_statement(uint32_t at, bool from) {
  Node* a = expression();
  if (a == nullptr) return nullptr;
  std::vector<Node*> names;
  if (!skip_name(from ? "import" : "as")) return unexpected(from ? "import" : "as");
  if (from) {
    if (!from_names(names)) return nullptr;
  } else {
    Node* name = name_target();
    if (name == nullptr) return nullptr;
    names.push_back(name);
    context_marker();
  }
  Node* node = new_node(Kind::kImport, at, a);
  return node != nullptr && keep(names, node->items) ? node : nullptr;
}

Node* Parser::include_statement(uint32_t at) {
  Node* a = expression();
  Node* node = a == nullptr ? nullptr : new_node(Kind::kInclude, at, a);
  if (node == nullptr) return nullptr;
  if (is_name("ignore") && next().type == Token::kName && next().text == "missing") {
    node->flags |= kIgnoreMissing;
    advance();
    advance();
  }
  context_marker();
  return node;
}

Node* Parser::print_statement(uint32_t at) {
  std::vector<Node*> items;
  while (!is(Token::kBlockEnd)) {
    if (!items.empty() && !expect(Token::kComma, ",")) return nullptr;
    Node* item = expression();
    if (item == nullptr) return nullptr;
    items.push_back(item);
  }
  Node* node = new_node(Kind::kOutput, at);
  return node != nullptr && keep(items, node->items) ? node : nullptr;
}

}  // namespace ggufscope::jinja
