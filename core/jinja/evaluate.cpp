// Evaluates expressions.
#include <algorithm>
#include <utility>

#include "jinja/runtime.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

bool spread_keywords(Runtime& r, const Value& more, std::vector<Keyword>& out) {
  if (more.is(Type::kUndefined)) return r.undefined_error(more).is(Type::kNone);
  if (!more.is(Type::kDict)) return r.fail({"** wants a mapping, not ", type_name(more)}).is(Type::kNone);
  for (uint32_t i = 0; i < more.dict->n; ++i) {
    const Entry& entry = more.dict->entries[i];
    if (!entry.key.is(Type::kString)) return r.fail({"names of arguments are strings"}).is(Type::kNone);
    for (const Keyword& other : out)
      if (other.name->view() == entry.key.str->view())
        return r.fail({"two values for the argument ", Quoted{entry.key.str->view()}}).is(Type::kNone);
    out.push_back({entry.key.str, entry.value});
  }
  return true;
}

// The arguments of one call; a few of them fit on the stack.
struct Arguments {
  Value few[6];
  std::vector<Value> many;
  std::vector<Keyword> keywords;
  Args args;

  bool evaluate_all(Runtime& r, Activation& in, const CallNode* call) {
    if (call == nullptr) return true;
    const bool fits = call->args.n <= std::size(few) && call->more_args == nullptr;
    for (uint32_t i = 0; i < call->args.n; ++i) {
      const Value value = evaluate(r, in, *call->args.items[i]);
      if (value.failed()) return false;
      if (fits)
        few[i] = value;
      else
        many.push_back(value);
    }
    if (call->more_args != nullptr) {
      const Value more = evaluate(r, in, *call->more_args);
      if (more.failed() || !collect(r, more, many)) return false;
    }
    for (uint32_t i = 0; i < call->n_keywords; ++i) {
      const Value value = evaluate(r, in, *call->keywords[i].value);
      if (value.failed()) return false;
      keywords.push_back({call->keywords[i].name, value});
    }
    if (call->more_keywords != nullptr) {
      const Value more = evaluate(r, in, *call->more_keywords);
      if (more.failed() || !spread_keywords(r, more, keywords)) return false;
    }
    args.positional = fits ? few : many.data();
    args.n = fits ? call->args.n : static_cast<uint32_t>(many.size());
    args.keywords = keywords.data();
    args.n_keywords = static_cast<uint32_t>(keywords.size());
    return true;
  }
};

Value evaluate_call(Runtime& r, Activation& in, const Node& node) {
  static const Str kCaller = {.data = "caller", .size = 6};
  const Value caller = std::exchange(r.caller, Value());
  const Value callee = evaluate(r, in, *node.a);
  Arguments arguments;
  if (callee.failed() || !arguments.evaluate_all(r, in, node.call)) return Value::fail();
  if (!caller.missing()) {
    arguments.keywords.push_back({&kCaller, caller});
    arguments.args.keywords = arguments.keywords.data();
    arguments.args.n_keywords++;
  }
  return call(r, callee, arguments.args);
}

Value evaluate_filter(Runtime& r, Activation& in, const Node& node) {
  const Value self = node.a == nullptr ? r.filter_body : evaluate(r, in, *node.a);
  Arguments arguments;
  if (self.failed() || !arguments.evaluate_all(r, in, node.call)) return Value::fail();
  if (node.builtin == nullptr)
    return r.fail({"there is no ", node.kind == Kind::kFilter ? "filter " : "test ", Quoted{node.text->view()}});
  return call_builtin(r, *node.builtin, self, arguments.args);
}

Value evaluate_name(Runtime& r, Activation& in, const Node& node) {
  const Activation* owner = &in;
  for (uint32_t i = 0; i < node.place.hops; ++i) owner = owner->outer;
  const Value& value = owner->slots[node.place.slot];
  return value.missing() ? r.undefined_name(node.text) : value;
}

Value evaluate_items(Runtime& r, Activation& in, const Node& node) {
  std::vector<Value> items;
  items.reserve(node.items.n);
  for (const Node* item : node.items) {
    items.push_back(evaluate(r, in, *item));
    if (items.back().failed()) return Value::fail();
  }
  return r.sequence(node.kind == Kind::kTuple ? Type::kTuple : Type::kList, items);
}

Value evaluate_dict(Runtime& r, Activation& in, const Node& node) {
  Dict* dict = r.create<Dict>();
  if (dict == nullptr) return Value::fail();
  for (uint32_t i = 0; i < node.items.n; i += 2) {
    const Value key = evaluate(r, in, *node.items.items[i]);
    const Value value = key.failed() ? key : evaluate(r, in, *node.items.items[i + 1]);
    if (value.failed() || !hashable(r, key) || !insert(r, *dict, key, value)) return Value::fail();
  }
  return Value::of(dict);
}

Value evaluate_condition(Runtime& r, Activation& in, const Node& node) {
  const Value holds = evaluate(r, in, *node.a);
  if (holds.failed()) return holds;
  if (truth(holds)) return evaluate(r, in, *node.b);
  return node.c != nullptr ? evaluate(r, in, *node.c) : r.undefined("the condition is false, and there is no else");
}

Value evaluate_compare(Runtime& r, Activation& in, const Node& node) {
  Value left = evaluate(r, in, *node.a);
  Answer holds = Answer::kYes;
  for (const Node* operand : node.items) {
    if (left.failed()) return left;
    const Value right = evaluate(r, in, *operand->a);
    if (right.failed()) return right;
    holds = compare(r, operand->op, left, right);
    if (holds == Answer::kFailed) r.place_error(operand->at);
    if (holds != Answer::kYes) break;
    left = right;
  }
  return value_of(holds);
}

Value evaluate_concat(Runtime& r, Activation& in, const Node& node) {
  const bool escapes = (node.flags & kEscape) != 0 && (node.flags & kVolatile) == 0;
  bool markup = false;
  std::vector<Value> parts;
  for (const Node* item : node.items) {
    const Value value = evaluate(r, in, *item);
    const Value text = value.failed() ? value : to_text(r, value);
    if (text.failed()) return text;
    markup = markup || (escapes && text.str->markup);
    parts.push_back(text);
  }
  Writer out = r.writer();
  for (const Value& part : parts) {
    const Value text = markup ? escape(r, part) : part;
    if (text.failed()) return text;
    out.put(*text.str);
  }
  return r.string(out, markup);
}

Value evaluate_item(Runtime& r, Activation& in, const Node& node) {
  const Value object = evaluate(r, in, *node.a);
  if (object.failed()) return object;
  if (node.b->kind != Kind::kSlice) {
    const Value key = evaluate(r, in, *node.b);
    return key.failed() ? key : get_item(r, object, key);
  }
  Value bounds[3];
  const Node* parts[] = {node.b->a, node.b->b, node.b->c};
  for (size_t i = 0; i < 3; ++i) {
    if (parts[i] == nullptr) continue;
    bounds[i] = evaluate(r, in, *parts[i]);
    if (bounds[i].failed()) return bounds[i];
  }
  return get_slice(r, object, bounds[0], bounds[1], bounds[2]);
}

Value evaluate_kind(Runtime& r, Activation& in, const Node& node) {
  switch (node.kind) {
    case Kind::kConst:
      return node.value;
    case Kind::kName:
      return evaluate_name(r, in, node);
    case Kind::kTuple:
    case Kind::kList:
      return evaluate_items(r, in, node);
    case Kind::kDict:
      return evaluate_dict(r, in, node);
    case Kind::kCond:
      return evaluate_condition(r, in, node);
    case Kind::kAnd:
    case Kind::kOr: {
      const Value left = evaluate(r, in, *node.a);
      if (left.failed() || truth(left) == (node.kind == Kind::kOr)) return left;
      return evaluate(r, in, *node.b);
    }
    case Kind::kConcat:
      return evaluate_concat(r, in, node);
    case Kind::kCompare:
      return evaluate_compare(r, in, node);
    case Kind::kGetitem:
      return evaluate_item(r, in, node);
    case Kind::kCall:
      return evaluate_call(r, in, node);
    case Kind::kFilter:
    case Kind::kTest:
      return evaluate_filter(r, in, node);
    default:
      break;
  }
  const Value a = evaluate(r, in, *node.a);
  if (a.failed()) return a;
  if (node.kind == Kind::kNot) return Value::of(!truth(a));
  if (node.kind == Kind::kGetattr) return get_attribute(r, a, *node.value.str);
  if (node.kind != Kind::kBinary) return negate(r, a, node.kind == Kind::kNegate);
  const Value b = evaluate(r, in, *node.b);
  return b.failed() ? b : binary(r, node.op, a, b);
}

}  // namespace

Value evaluate(Runtime& r, Activation& in, const Node& node) {
  const Nesting nesting(r);
  const Value value = r.spend() && !nesting.over() ? evaluate_kind(r, in, node) : Value::fail();
  if (value.failed()) r.place_error(node.at);
  return value;
}

}  // namespace ggufscope::jinja
