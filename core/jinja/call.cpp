// Calls of macros, functions and methods.
#include <algorithm>
#include <utility>

#include "base/word_list.hpp"
#include "jinja/runtime.hpp"

namespace ggufscope::jinja {
namespace {

constexpr uint32_t kMaxParameters = 8;

struct Parameter {
  std::string_view name;
  bool optional = false;
};

uint32_t parse_parameters(std::string_view text, Parameter* out) {
  uint32_t n = 0;
  for (std::string_view name : WordList(text)) {
    const bool optional = name.ends_with('?');
    if (optional) name.remove_suffix(1);
    out[n++] = {name, optional};
  }
  return n;
}

Value argument_error(Runtime& r, const Builtin& builtin, std::initializer_list<Part> what) {
  return r.fail({builtin.name, "(): ", sentence(what)});
}

// Binds arguments to a macro's parameters in its activation record.
bool bind_macro(Runtime& r, const Node& node, Activation& in, const Args& args, std::vector<Keyword>& rest) {
  rest.assign(args.keywords, args.keywords + args.n_keywords);
  const auto take = [&](std::string_view name, Value& out) {
    const auto found = std::find_if(rest.begin(), rest.end(), [&](const Keyword& k) { return k.name->view() == name; });
    if (found == rest.end()) return false;
    out = found->value;
    rest.erase(found);
    return true;
  };
  for (uint32_t i = 0; i < node.items.n; ++i) {
    const Node& parameter = *node.items.items[i];
    Value& slot = in.slots[parameter.place.slot];
    if (i < args.n)
      slot = args.positional[i];
    else
      take(parameter.text->view(), slot);
  }
  if (node.caller.slot != kNoSlot) {
    Value& caller = in.slots[node.caller.slot];
    if (!take("caller", caller) || caller.is_none()) caller = r.undefined("no caller is defined");
    if (caller.failed()) return false;
  }
  return true;
}

bool bind_rest(Runtime& r, const Node& node, Activation& in, const Args& args, const std::vector<Keyword>& rest) {
  const std::string_view name = node.text != nullptr ? node.text->view() : "caller";
  if (node.kwargs.slot != kNoSlot) {
    Dict* kwargs = r.create<Dict>();
    if (kwargs == nullptr) return false;
    for (const Keyword& keyword : rest)
      if (!insert(r, *kwargs, Value::of(keyword.name), keyword.value)) return false;
    in.slots[node.kwargs.slot] = Value::of(kwargs);
  } else if (!rest.empty()) {
    r.fail({"the macro ", name, " takes no argument named ", Quoted{rest[0].name->view()}});
    return false;
  }
  const uint32_t more = args.n > node.items.n ? args.n - node.items.n : 0;
  if (node.varargs.slot != kNoSlot) {
    const Value varargs = r.sequence(Type::kTuple, args.positional + std::min(args.n, node.items.n), more);
    in.slots[node.varargs.slot] = varargs;
    return !varargs.failed();
  }
  if (more == 0) return true;
  r.fail({"the macro ", name, " takes at most ", node.items.n, " arguments"});
  return false;
}

bool set_defaults(Runtime& r, const Node& node, Activation& in) {
  for (uint32_t i = 0; i < node.items.n; ++i) {
    const Node& parameter = *node.items.items[i];
    Value& slot = in.slots[parameter.place.slot];
    if (!slot.missing()) continue;
    const uint32_t first_default = node.items.n - node.rest.n;
    const Value value =
        i >= first_default
            ? evaluate(r, in, *node.rest.items[i - first_default])
            : r.undefined(sentence({"the parameter ", Quoted{parameter.text->view()}, " was not given"}));
    if (value.failed()) return false;
    in.slots[parameter.place.slot] = value;
  }
  return true;
}

}  // namespace

Value call_builtin(Runtime& r, const Builtin& builtin, const Value& self, const Args& args) {
  Value bound[kMaxParameters + 1];
  bound[0] = self;
  std::string_view text = builtin.parameters;
  if (text == "*") return builtin.call(r, bound, args);
  const bool by_position = text.starts_with('/');
  if (by_position) text.remove_prefix(std::min<size_t>(2, text.size()));
  Parameter parameters[kMaxParameters];
  const uint32_t n = parse_parameters(text, parameters);
  if (args.n > n) return argument_error(r, builtin, {"it takes at most ", n, " arguments, not ", args.n});
  std::copy(args.positional, args.positional + args.n, bound + 1);
  for (uint32_t i = 0; i < args.n_keywords; ++i) {
    const Keyword& keyword = args.keywords[i];
    uint32_t at = 0;
    while (at < n && parameters[at].name != keyword.name->view()) ++at;
    if (by_position || at == n)
      return argument_error(r, builtin, {"it takes no argument named ", Quoted{keyword.name->view()}});
    if (!bound[at + 1].missing())
      return argument_error(r, builtin, {"two values for the argument ", parameters[at].name});
    bound[at + 1] = keyword.value;
  }
  for (uint32_t i = 0; i < n; ++i)
    if (bound[i + 1].missing() && !parameters[i].optional)
      return argument_error(r, builtin, {"the argument ", parameters[i].name, " is missing"});
  return builtin.call(r, bound, args);
}

Value call_macro(Runtime& r, const Macro& macro, const Args& args) {
  const Nesting nesting(r);
  if (nesting.over()) return Value::fail();
  const Node& node = *macro.node;
  Activation* in = activate(r, node.layout, macro.outer, macro.outer->context);
  std::vector<Keyword> rest;
  if (in == nullptr || !bind_macro(r, node, *in, args, rest) || !bind_rest(r, node, *in, args, rest))
    return Value::fail();
  enter(*in, node.scope);
  if (!set_defaults(r, node, *in)) return Value::fail();
  Writer body = r.writer();
  Writer* const before = std::exchange(r.out, &body);
  const Flow flow = execute(r, *in, node.body);
  r.out = before;
  return flow == Flow::kFailed ? Value::fail() : r.string(body, r.autoescape);
}

Value call(Runtime& r, const Value& callee, const Args& args) {
  switch (callee.type) {
    case Type::kFunction:
      return call_builtin(r, *callee.function->builtin, callee.function->self, args);
    case Type::kMacro:
      return call_macro(r, *callee.macro, args);
    case Type::kLoop:
      if (callee.loop->node == nullptr) return r.fail({"only a loop that is recursive can be called"});
      if (args.n != 1 || args.n_keywords != 0) return r.fail({"a call of loop takes one argument"});
      return run_recursive(r, *callee.loop->node, *callee.loop->outer, args.positional[0], callee.loop->depth0 + 1);
    case Type::kJoiner:
      if (args.n != 0 || args.n_keywords != 0) return r.fail({"a call of a joiner takes no arguments"});
      if (std::exchange(callee.joiner->used, true)) return callee.joiner->separator;
      return r.string({});
    case Type::kBlock:
      if (args.n != 0 || args.n_keywords != 0) return r.fail({"a call of a block takes no arguments"});
      return run_block(r, *callee.block);
    case Type::kUndefined:
      return r.undefined_error(callee);
    default:
      return r.fail({type_name(callee), " cannot be called"});
  }
}

Value take_keyword(Args& args, std::string_view name, Keyword* room) {
  Value found;
  uint32_t n = 0;
  for (uint32_t i = 0; i < args.n_keywords; ++i) {
    if (args.keywords[i].name->view() == name)
      found = args.keywords[i].value;
    else
      room[n++] = args.keywords[i];
  }
  args.keywords = room;
  args.n_keywords = n;
  return found;
}

}  // namespace ggufscope::jinja
