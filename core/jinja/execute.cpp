// Executes statements.
#include <algorithm>
#include <utility>

#include "jinja/runtime.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

bool put(Runtime& r, const Node& node, const Value& value) {
  const bool escapes = (node.flags & kVolatile) != 0 ? r.autoescape : (node.flags & kEscape) != 0;
  const Value text = escapes ? escape(r, value) : value;
  if (text.failed() || !write_text(r, text, *r.out)) return false;
  return !r.out->over() || r.limit("it makes a text that is too long").is(Type::kNone);
}

/// Appends the result of a macro or a block filter without conversion. It must be a text.
bool put_string(Runtime& r, const Value& value) {
  if (value.failed()) return false;
  if (!value.is(Type::kString)) return r.fail({"a block gives ", type_name(value), ", not a string"}).is(Type::kNone);
  r.out->put(*value.str);
  return !r.out->over() || r.limit("it makes a text that is too long").is(Type::kNone);
}

Flow flow_of(bool ok) { return ok ? Flow::kOn : Flow::kFailed; }

/// Runs a body and collects its output as a text.
template <class Run>
Value capture(Runtime& r, Flow& flow, const Run& run) {
  Writer body = r.writer();
  Writer* const before = std::exchange(r.out, &body);
  flow = run();
  r.out = before;
  return flow == Flow::kFailed ? Value::fail() : r.string(body, r.autoescape);
}

Value lookup(Runtime& r, const Context& context, const Str& name) {
  if (const Value* found = find(context.variables, name.view())) return *found;
  if (context.parent != nullptr)
    if (const Value* found = find(*context.parent, name.view())) return *found;
  const Builtin* builtin = find_global(name.view());
  return builtin == nullptr ? Value() : r.make(Type::kFunction, &Value::function, Function{.builtin = builtin});
}

Flow run_for(Runtime& r, Activation& in, Activation& around, const Node& node, Value iterable, uint32_t depth0) {
  if (node.c != nullptr) {
    Iter* filtered = r.create<Iter>();
    Activation* test = activate(r, node.test_layout, &around, in.context);
    if (filtered == nullptr || test == nullptr) return Flow::kFailed;
    filtered->kind = Iter::Kind::kCondition;
    filtered->source = iterable;
    filtered->node = &node;
    filtered->activation = test;
    iterable = r.iterator(filtered);
  }
  Iter* iter = iterate(r, iterable);
  if (iter == nullptr) return Flow::kFailed;
  Loop* loop = nullptr;
  if ((node.flags & kUsesLoop) != 0) {
    if ((loop = r.create<Loop>()) == nullptr) return Flow::kFailed;
    loop->iter = iter;
    loop->source = iterable;
    loop->depth0 = depth0;
    if ((node.flags & kRecursive) != 0) {
      loop->node = &node;
      loop->outer = &around;
    }
  }
  bool none = true;
  for (;;) {
    const Value item = loop != nullptr ? advance_loop(r, *loop) : next(r, *iter);
    if (item.failed()) return Flow::kFailed;
    if (item.missing()) break;
    if (!assign(r, in, *node.a, item)) return Flow::kFailed;
    if (loop != nullptr) in.slots[node.loop.slot] = Value::of(Type::kLoop, &Value::loop, loop);
    enter(in, node.scope);
    const Flow flow = execute(r, in, node.body);
    if (flow == Flow::kFailed) return flow;
    // As in Jinja2, an iteration that ends with break or continue does not count for else.
    if (flow == Flow::kOn) none = false;
    if (flow == Flow::kBreak) break;
  }
  if (!none || node.rest.n == 0) return Flow::kOn;
  enter(in, node.scope2);
  return execute(r, in, node.rest);
}

Flow execute_for(Runtime& r, Activation& in, const Node& node) {
  const Value iterable = evaluate(r, in, *node.b);
  if (iterable.failed()) return Flow::kFailed;
  if ((node.flags & kRecursive) == 0) return run_for(r, in, in, node, iterable, 0);
  return flow_of(put_string(r, run_recursive(r, node, in, iterable, 0)));
}

Flow execute_if(Runtime& r, Activation& in, const Node& node) {
  for (uint32_t i = 0; i <= node.items.n; ++i) {
    const Node& branch = i == 0 ? node : *node.items.items[i - 1];
    const Value holds = evaluate(r, in, *branch.a);
    if (holds.failed()) return Flow::kFailed;
    if (truth(holds)) return execute(r, in, branch.body);
  }
  return execute(r, in, node.rest);
}

void show_to_blocks(Runtime& r, Activation& in, const Node& target) {
  if (target.kind == Kind::kName)
    (void)!insert(r, in.context->variables, Value::of(target.text), in.slots[target.place.slot]);
  for (const Node* item : target.items) show_to_blocks(r, in, *item);
}

bool check_namespaces(Runtime& r, Activation& in, const Node& target) {
  if (target.kind == Kind::kNsRef) {
    Activation* owner = &in;
    for (uint32_t i = 0; i < target.place.hops; ++i) owner = owner->outer;
    if (owner->slots[target.place.slot].is(Type::kNamespace)) return true;
    r.fail({Quoted{target.text->view()}, " is no namespace: its attributes cannot be set"});
    r.place_error(target.at);
    return false;
  }
  return std::all_of(target.items.begin(), target.items.end(),
                     [&](const Node* item) { return check_namespaces(r, in, *item); });
}

Flow set(Runtime& r, Activation& in, const Node& node, const Value& value) {
  if (value.failed() || !assign(r, in, *node.a, value)) return Flow::kFailed;
  if ((node.flags & kTopLevel) != 0) show_to_blocks(r, in, *node.a);
  return flow_of(r.problem.code == Problem::Code::kNone);
}

Flow execute_set_block(Runtime& r, Activation& in, const Node& node) {
  enter(in, node.scope);
  Flow flow = Flow::kOn;
  Value body = capture(r, flow, [&] { return execute(r, in, node.body); });
  if (body.failed() || flow != Flow::kOn) return body.failed() ? Flow::kFailed : flow;
  if (node.b != nullptr) {
    r.filter_body = body;
    body = evaluate(r, in, *node.b);
    if (r.autoescape && body.is(Type::kString)) body = r.string(body.str->view(), false, true);
  }
  return set(r, in, node, body);
}

Flow execute_filter_block(Runtime& r, Activation& in, const Node& node) {
  enter(in, node.scope);
  Flow flow = Flow::kOn;
  const Value body = capture(r, flow, [&] { return execute(r, in, node.body); });
  if (body.failed() || flow != Flow::kOn) return body.failed() ? Flow::kFailed : flow;
  r.filter_body = body;
  return flow_of(put_string(r, evaluate(r, in, *node.a)));
}

Flow execute_with(Runtime& r, Activation& in, const Node& node) {
  enter(in, node.scope);
  for (uint32_t i = 0; i < node.items.n; ++i) {
    const Value value = evaluate(r, in, *node.rest.items[i]);
    if (value.failed() || !assign(r, in, *node.items.items[i], value)) return Flow::kFailed;
  }
  return execute(r, in, node.body);
}

Flow execute_autoescape(Runtime& r, Activation& in, const Node& node) {
  enter(in, node.scope);
  const Value on = evaluate(r, in, *node.a);
  if (on.failed()) return Flow::kFailed;
  const bool before = std::exchange(r.autoescape, truth(on));
  const Flow flow = execute(r, in, node.body);
  r.autoescape = before;
  return flow;
}

Value macro_value(Runtime& r, Activation& in, const Node& node) {
  return r.make(Type::kMacro, &Value::macro, Macro{&node, &in});
}

Flow execute_call_block(Runtime& r, Activation& in, const Node& node) {
  const Value caller = macro_value(r, in, node);
  if (caller.failed()) return Flow::kFailed;
  if (node.a == nullptr) return flow_of(put_string(r, call_macro(r, *caller.macro, {})));
  r.caller = caller;
  return flow_of(put_string(r, evaluate(r, in, *node.a)));
}

Flow execute_block(Runtime& r, Activation& in, const Node& node) {
  if ((node.flags & kRequired) != 0)
    return flow_of(r.fail({"the required block ", Quoted{node.text->view()}, " has no content"}).is(Type::kNone));
  Context* context = in.context;
  if ((node.flags & kScoped) != 0) {
    context = r.create<Context>();
    if (context == nullptr) return Flow::kFailed;
    context->parent = in.context->parent;
    for (uint32_t i = 0; i < in.context->variables.n; ++i) {
      const Entry& entry = in.context->variables.entries[i];
      if (!insert(r, context->variables, entry.key, entry.value)) return Flow::kFailed;
    }
    for (uint32_t i = 0; i < node.scope2.n; ++i) {
      const Load& load = node.scope2.loads[i];
      const Activation* owner = &in;
      for (uint32_t hop = 0; hop < load.from.hops; ++hop) owner = owner->outer;
      const Value& value = owner->slots[load.from.slot];
      if (!value.missing() && !insert(r, context->variables, Value::of(load.name), value)) return Flow::kFailed;
    }
  }
  const Value text = run_block(r, {&node, context});
  return flow_of(put_string(r, text));
}

Flow refuse_loader(Runtime& r, Activation& in, const Node& node) {
  const Value name = evaluate(r, in, *node.a);
  if (name.failed()) return Flow::kFailed;
  const bool nothing = name.is_seq() && name.seq->n == 0;
  if (node.kind == Kind::kInclude && nothing && (node.flags & kIgnoreMissing) != 0) return Flow::kOn;
  r.fail({"a chat template stands alone: it cannot load another template"});
  return Flow::kFailed;
}

Flow execute_one(Runtime& r, Activation& in, const Node& node) {
  switch (node.kind) {
    case Kind::kOutput:
      for (const Node* item : node.items) {
        if (item->kind == Kind::kData) {
          r.out->put(*item->value.str);
          if (r.out->over()) return flow_of(r.limit("it makes a text that is too long").is(Type::kNone));
          continue;
        }
        const Value value = evaluate(r, in, *item);
        if (value.failed() || !put(r, node, value)) return Flow::kFailed;
      }
      return Flow::kOn;
    case Kind::kFor:
      return execute_for(r, in, node);
    case Kind::kIf:
      return execute_if(r, in, node);
    case Kind::kSet: {
      if (!check_namespaces(r, in, *node.a)) return Flow::kFailed;
      return set(r, in, node, evaluate(r, in, *node.b));
    }
    case Kind::kSetBlock:
      return execute_set_block(r, in, node);
    case Kind::kMacro: {
      const Value macro = macro_value(r, in, node);
      in.slots[node.place.slot] = macro;
      if ((node.flags & kTopLevel) != 0 && !insert(r, in.context->variables, Value::of(node.text), macro))
        return Flow::kFailed;
      return flow_of(!macro.failed());
    }
    case Kind::kCallBlock:
      return execute_call_block(r, in, node);
    case Kind::kFilterBlock:
      return execute_filter_block(r, in, node);
    case Kind::kWith:
      return execute_with(r, in, node);
    case Kind::kAutoescape:
      return execute_autoescape(r, in, node);
    case Kind::kBlock:
      return execute_block(r, in, node);
    case Kind::kBreak:
      return Flow::kBreak;
    case Kind::kContinue:
      return Flow::kContinue;
    default:
      return refuse_loader(r, in, node);
  }
}

}  // namespace

Activation* activate(Runtime& r, const FunctionLayout* layout, Activation* outer, Context* context) {
  Activation* made = r.create<Activation>();
  Value* slots = r.create<Value>(layout->n_slots);
  if (made == nullptr || slots == nullptr) return nullptr;
  *made = {layout, outer, slots, context, &r};
  return made;
}

void enter(Activation& in, const Scope& scope) {
  for (uint32_t i = 0; i < scope.n; ++i) {
    const Load& load = scope.loads[i];
    Value& slot = in.slots[load.slot];
    switch (load.kind) {
      case Load::Kind::kParameter:
        break;
      case Load::Kind::kUndefined:
        slot = Value();
        break;
      case Load::Kind::kResolve:
        slot = lookup(*in.runtime, *in.context, *load.name);
        break;
      case Load::Kind::kAlias: {
        const Activation* owner = &in;
        for (uint32_t hop = 0; hop < load.from.hops; ++hop) owner = owner->outer;
        slot = owner->slots[load.from.slot];
      }
    }
  }
}

bool assign(Runtime& r, Activation& in, const Node& target, const Value& value) {
  if (target.kind == Kind::kName) {
    in.slots[target.place.slot] = value;
    return true;
  }
  if (target.kind == Kind::kNsRef) {
    if (!check_namespaces(r, in, target)) return false;
    const Activation* owner = &in;
    for (uint32_t i = 0; i < target.place.hops; ++i) owner = owner->outer;
    return insert(r, *owner->slots[target.place.slot].dict, target.value, value);
  }
  std::vector<Value> items;
  if (!collect(r, value, items)) return r.place_error(target.at), false;
  if (items.size() != target.items.n) {
    r.fail({"cannot unpack ", items.size(), " values into ", target.items.n, " names"});
    r.place_error(target.at);
    return false;
  }
  for (uint32_t i = 0; i < target.items.n; ++i)
    if (!assign(r, in, *target.items.items[i], items[i])) return false;
  return true;
}

Flow execute(Runtime& r, Activation& in, const Nodes& body) {
  const Nesting nesting(r);
  if (nesting.over()) return Flow::kFailed;
  for (const Node* node : body) {
    const Flow flow = r.spend() ? execute_one(r, in, *node) : Flow::kFailed;
    if (flow == Flow::kOn) continue;
    if (flow == Flow::kFailed) r.place_error(node->at);
    return flow;
  }
  return Flow::kOn;
}

Value run_block(Runtime& r, const BlockReference& block) {
  const Nesting nesting(r);
  if (nesting.over()) return Value::fail();
  const Node& node = *block.block;
  Activation* in = activate(r, node.layout, nullptr, block.context);
  if (in == nullptr) return Value::fail();
  if (node.self.slot != kNoSlot) {
    in->slots[node.self.slot] = blocks_value(r, block.context);
    if (in->slots[node.self.slot].failed()) return Value::fail();
  }
  if (node.super.slot != kNoSlot) in->slots[node.super.slot] = r.undefined("there is no parent block");
  enter(*in, node.scope);
  Flow flow = Flow::kOn;
  return capture(r, flow, [&] { return execute(r, *in, node.body); });
}

Value blocks_value(Runtime& r, Context* context) {
  return r.make(Type::kBlocks, &Value::block, BlockReference{.context = context});
}

Value run_recursive(Runtime& r, const Node& node, Activation& outer, const Value& iterable, uint32_t depth) {
  const Nesting nesting(r);
  Activation* in = nesting.over() ? nullptr : activate(r, node.layout, &outer, outer.context);
  if (in == nullptr) return Value::fail();
  Flow flow = Flow::kOn;
  return capture(r, flow, [&] { return run_for(r, *in, outer, node, iterable, depth); });
}

}  // namespace ggufscope::jinja
