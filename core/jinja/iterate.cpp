// Walking through values, and the loop variable.
#include <algorithm>

#include "jinja/runtime.hpp"
#include "jinja/select.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

// The value of a loop's target for its condition; a tuple if the target is one.
Value target_value(Runtime& r, Activation& in, const Node& target) {
  if (target.kind != Kind::kTuple) return in.slots[target.place.slot];
  std::vector<Value> items;
  for (const Node* item : target.items) items.push_back(target_value(r, in, *item));
  return r.sequence(Type::kTuple, items);
}

Value next_condition(Runtime& r, Iter& iter) {
  if (iter.inner == nullptr) {
    enter(*iter.activation, iter.node->test_scope);
    if ((iter.inner = iterate(r, iter.source)) == nullptr) return Value::fail();
  }
  for (;;) {
    const Value item = next(r, *iter.inner);
    if (item.failed() || item.missing()) return item;
    if (!assign(r, *iter.activation, *iter.node->d, item)) return Value::fail();
    const Value passes = evaluate(r, *iter.activation, *iter.node->c);
    if (passes.failed()) return passes;
    if (truth(passes)) return target_value(r, *iter.activation, *iter.node->d);
  }
}

Value next_character(Runtime& r, Iter& iter) {
  const Str& text = *iter.source.str;
  if (static_cast<size_t>(iter.at) >= text.size) return {};
  const auto begin = static_cast<size_t>(iter.at);
  const size_t end = begin + code_point_at(text.view(), begin).length;
  iter.at = static_cast<int64_t>(end);
  const Value character = r.part(text, begin, end);
  return character.failed() ? character : plain(r, character);
}

Value next_entry(Runtime& r, Iter& iter) {
  const bool view = iter.source.is(Type::kView);
  const Dict& dict = view ? *iter.source.view->dict : *iter.source.dict;
  const View::Kind kind = view ? iter.source.view->kind : View::Kind::kKeys;
  if (iter.at >= dict.n) return {};
  const Entry& entry = dict.entries[iter.at++];
  if (kind == View::Kind::kKeys) return entry.key;
  if (kind == View::Kind::kValues) return entry.value;
  const Value pair[] = {entry.key, entry.value};
  return r.sequence(Type::kTuple, pair, 2);
}

Value next_items(Runtime& r, Iter& iter) {
  if (iter.source.is(Type::kUndefined)) return {};
  if (!iter.source.is(Type::kDict)) return r.fail({"the filter items wants a mapping, not ", type_name(iter.source)});
  if (iter.at >= iter.source.dict->n) return {};
  const Entry& entry = iter.source.dict->entries[iter.at++];
  const Value pair[] = {entry.key, entry.value};
  return r.sequence(Type::kTuple, pair, 2);
}

}  // namespace

bool can_iterate(const Value& value) {
  switch (value.type) {
    case Type::kUndefined:
    case Type::kString:
    case Type::kList:
    case Type::kTuple:
    case Type::kDict:
    case Type::kView:
    case Type::kRange:
    case Type::kIterator:
    case Type::kLoop:
      return true;
    default:
      return false;
  }
}

Iter* iterate(Runtime& r, const Value& value) {
  if (value.is(Type::kIterator)) return value.iter;
  if (!can_iterate(value) || value.is(Type::kLoop)) {
    r.fail({type_name(value), " cannot be iterated over"});
    return nullptr;
  }
  Iter* iter = r.create<Iter>();
  if (iter == nullptr) return nullptr;
  iter->source = value;
  using K = Iter::Kind;
  iter->kind = value.is(Type::kString)                          ? K::kString
               : value.is_seq()                                 ? K::kSeq
               : value.is(Type::kDict) || value.is(Type::kView) ? K::kDict
               : value.is(Type::kRange)                         ? K::kRange
                                                                : K::kEmpty;
  return iter;
}

Value next(Runtime& r, Iter& iter) {
  if (iter.done) return {};
  if (!r.spend()) return Value::fail();
  const Nesting nesting(r);
  if (nesting.over()) return Value::fail();
  Value item;
  using K = Iter::Kind;
  switch (iter.kind) {
    case K::kSeq:
      if (iter.at < iter.source.seq->n) item = iter.source.seq->items[iter.at++];
      break;
    case K::kReversed:
      if (iter.at > 0) item = element_at(r, iter.source, --iter.at);
      break;
    case K::kString:
      item = next_character(r, iter);
      break;
    case K::kDict:
      item = next_entry(r, iter);
      break;
    case K::kRange:
      if (iter.at < iter.source.range->n) item = element_at(r, iter.source, iter.at++);
      break;
    case K::kItems:
      item = next_items(r, iter);
      break;
    case K::kCondition:
      item = next_condition(r, iter);
      break;
    case K::kEmpty:
      break;
    default:
      item = next_generated(r, iter);
  }
  iter.done = item.missing() || item.failed();
  return item;
}

bool collect(Runtime& r, const Value& iterable, std::vector<Value>& out) {
  Iter* iter = iterate(r, iterable);
  if (iter == nullptr) return false;
  for (;;) {
    const Value item = next(r, *iter);
    if (item.failed()) return false;
    if (item.missing()) return true;
    // Memory outside of the arena counts towards the limit, too.
    if (out.size() >= r.limits.memory_bytes / sizeof(Value) / 4) return r.out_of_memory().is(Type::kNone);
    out.push_back(item);
  }
}

Value loop_length(Runtime& r, Loop& loop) {
  if (loop.length < 0 && !loop.source.is(Type::kIterator)) loop.length = length_of(loop.source);
  if (loop.length < 0) {
    std::vector<Value> rest;
    if (!collect(r, r.iterator(loop.iter), rest)) return Value::fail();
    const Value list = r.sequence(Type::kList, rest);
    if (list.failed() || (loop.iter = iterate(r, list)) == nullptr) return Value::fail();
    loop.length = static_cast<int64_t>(rest.size()) + loop.index0 + 1 + (loop.after.missing() ? 0 : 1);
  }
  return Value::of(loop.length);
}

Value advance_loop(Runtime& r, Loop& loop) {
  Value item = loop.after;
  if (item.missing())
    item = next(r, *loop.iter);
  else
    loop.after = Value();
  if (item.failed() || item.missing()) return item;
  ++loop.index0;
  loop.before = loop.current;
  loop.current = item;
  return item;
}

Value loop_attribute(Runtime& r, Loop& loop, const Str& name) {
  const std::string_view view = name.view();
  if (view == "index") return Value::of(loop.index0 + 1);
  if (view == "index0") return Value::of(loop.index0);
  if (view == "first") return Value::of(loop.index0 == 0);
  if (view == "depth") return Value::of(int64_t{loop.depth0} + 1);
  if (view == "depth0") return Value::of(int64_t{loop.depth0});
  if (view == "previtem") return loop.index0 == 0 ? r.undefined("there is no previous item") : loop.before;
  if (view == "last" || view == "nextitem") {
    if (loop.after.missing()) loop.after = next(r, *loop.iter);
    if (loop.after.failed()) return loop.after;
    if (view == "last") return Value::of(loop.after.missing());
    return loop.after.missing() ? r.undefined("there is no next item") : loop.after;
  }
  if (view == "length" || view == "revindex" || view == "revindex0") {
    const Value length = loop_length(r, loop);
    if (length.failed() || view == "length") return length;
    return Value::of(length.integer - loop.index0 - (view == "revindex" ? 0 : 1));
  }
  return {};
}

}  // namespace ggufscope::jinja
