// Attributes, items and slices, with the behaviour of jinja2.sandbox.ImmutableSandboxedEnvironment.
#include <algorithm>

#include "base/word_list.hpp"
#include "jinja/big_int.hpp"
#include "jinja/runtime.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

Value unsafe(Runtime& r, const Value& object, const Str& name) {
  return r.undefined(
      sentence({"access to the attribute ", Quoted{name.view()}, " of ", type_name(object), " is not allowed"}));
}

bool is_python_internal(std::string_view name) {
  constexpr std::string_view kNames =
      "class init new doc dict len iter getitem setitem delitem contains eq ne lt le gt ge str repr hash "
      "dir reduce reduce_ex format sizeof getattribute setattr delattr subclasshook init_subclass add mul "
      "rmul mod rmod or ior ror reversed iadd imul getnewargs class_getitem";
  if (name.size() < 5 || !name.starts_with("__") || !name.ends_with("__")) return false;
  return has_word(kNames, name.substr(2, name.size() - 4));
}

Value bound(Runtime& r, const Value& self, const Builtin* builtin) {
  return r.make(Type::kFunction, &Value::function, Function{.builtin = builtin, .self = self});
}

Value macro_attribute(Runtime& r, const Macro& macro, std::string_view name) {
  const Node& node = *macro.node;
  if (name == "name") return node.text != nullptr ? Value::of(node.text) : Value::none();
  if (name == "catch_kwargs") return Value::of(node.kwargs.slot != kNoSlot);
  if (name == "catch_varargs") return Value::of(node.varargs.slot != kNoSlot);
  if (name == "caller") return Value::of(node.caller.slot != kNoSlot);
  if (name != "arguments") return {};
  std::vector<Value> names;
  for (const Node* parameter : node.items) names.push_back(Value::of(parameter->text));
  return r.sequence(Type::kTuple, names);
}

Value range_attribute(const Range& range, std::string_view name) {
  if (name == "start") return Value::of(range.start);
  if (name == "stop") return Value::of(range.stop);
  if (name == "step") return Value::of(range.step);
  return {};
}

Value number_attribute(const Value& value, std::string_view name) {
  const bool integer = value.is_int();
  const Value plain = value.is(Type::kBool) ? Value::of(clamp_integer(value)) : value;
  if (name == "real" || (integer && name == "numerator")) return plain;
  if (name == "imag") return integer ? Value::of(int64_t{0}) : Value::of(0.0);
  if (integer && name == "denominator") return Value::of(int64_t{1});
  return {};
}

// Python's getattr(); kMissing if there is no such attribute.
Value native_attribute(Runtime& r, const Value& object, const Str& name) {
  const std::string_view view = name.view();
  if (object.is(Type::kNamespace)) {
    const Value* found = find(*object.dict, view);
    if (found != nullptr && view.starts_with('_')) return unsafe(r, object, name);
    return found != nullptr ? *found : Value();
  }
  if (is_python_internal(view)) return unsafe(r, object, name);
  if (is_mutator(object.type, view)) return unsafe(r, object, name);
  if (const Builtin* method = find_method(object.type, view)) return bound(r, object, method);
  switch (object.type) {
    case Type::kLoop:
      return loop_attribute(r, *object.loop, name);
    case Type::kMacro:
      return macro_attribute(r, *object.macro, view);
    case Type::kRange:
      return range_attribute(*object.range, view);
    case Type::kTuple:
      if (!object.seq->group || (view != "grouper" && view != "list")) return {};
      return object.seq->items[view == "list" ? 1 : 0];
    case Type::kCycler:
      if (view == "current") return object.cycler->items->items[object.cycler->position];
      if (view == "pos") return Value::of(int64_t{object.cycler->position});
      return view == "items" ? Value::of(Type::kTuple, object.cycler->items) : Value();
    case Type::kJoiner:
      if (view == "sep") return object.joiner->separator;
      return view == "used" ? Value::of(object.joiner->used) : Value();
    case Type::kBlock:
      return view == "super" ? r.undefined("there is no parent block") : Value();
    case Type::kBool:
    case Type::kInt:
    case Type::kBig:
    case Type::kFloat:
      return number_attribute(object, view);
    default:
      return {};
  }
}

Value block_item(Runtime& r, std::string_view name, Context* context) {
  for (const Node* block : *r.blocks) {
    if (block->text->view() != name) continue;
    return r.make(Type::kBlock, &Value::block, BlockReference{block, context});
  }
  return {};
}

// Python's object[key]; kMissing where Python raises TypeError, KeyError or IndexError.
Value native_item(Runtime& r, const Value& object, const Value& key) {
  switch (object.type) {
    case Type::kDict: {
      if (key.is(Type::kList) || key.is(Type::kDict) || key.is(Type::kView)) return {};
      if (key.is(Type::kTuple) && !hashable(r, key)) return Value::fail();
      const Value* found = find(*object.dict, key);
      return found != nullptr ? *found : Value();
    }
    case Type::kString:
    case Type::kList:
    case Type::kTuple:
    case Type::kRange: {
      if (!key.is(Type::kInt) && !key.is(Type::kBool)) return {};
      const int64_t n = length_of(object);
      int64_t index = clamp_integer(key);
      if (index < 0) index += n;
      return index < 0 || index >= n ? Value() : element_at(r, object, index);
    }
    case Type::kBlocks:
      return key.is(Type::kString) ? block_item(r, key.str->view(), object.block->context) : Value();
    default:
      return {};
  }
}

int64_t clamp(int64_t value, int64_t min, int64_t max) { return std::max(min, std::min(value, max)); }

// Evaluates a bound of a slice of n elements. Returns false on an error.
bool slice_bound(Runtime& r, const Value& value, int64_t n, bool backward, int64_t fallback, int64_t& out) {
  out = fallback;
  if (value.missing() || value.is_none()) return true;
  if (!value.is_int()) {
    value.is(Type::kUndefined) ? r.undefined_error(value)
                               : r.fail({"a slice's bounds are integers, not ", type_name(value)});
    return false;
  }
  out = clamp_integer(value);
  if (out < 0) out = out < -n ? -1 - n : out + n;
  out = backward ? clamp(out, -1, n - 1) : clamp(out, 0, n);
  return true;
}

}  // namespace

int64_t length_of(const Value& value) {
  switch (value.type) {
    case Type::kUndefined:
      return 0;
    case Type::kString:
      if (value.str->chars == Str::kUncounted) value.str->chars = count_code_points(value.str->view());
      return value.str->chars;
    case Type::kList:
    case Type::kTuple:
      return value.seq->n;
    case Type::kDict:
      return value.dict->n;
    case Type::kView:
      return value.view->dict->n;
    case Type::kRange:
      return value.range->n;
    default:
      return -1;
  }
}

Value length_value(Runtime& r, const Value& value) {
  if (value.is(Type::kLoop)) return loop_length(r, *value.loop);
  const int64_t n = length_of(value);
  return n < 0 ? r.fail({type_name(value), " has no length"}) : Value::of(n);
}

Value element_at(Runtime& r, const Value& sequence, int64_t index) {
  if (sequence.is(Type::kRange)) return Value::of(sequence.range->start + index * sequence.range->step);
  if (!sequence.is(Type::kString)) return sequence.seq->items[index];
  const Str& text = *sequence.str;
  size_t byte = static_cast<size_t>(index);
  if (length_of(sequence) != text.size) {
    if (!r.spend(static_cast<uint64_t>(index) / 16)) return Value::fail();
    byte = 0;
    for (int64_t i = 0; i < index; ++i) byte += code_point_at(text.view(), byte).length;
  }
  return r.part(text, byte, byte + code_point_at(text.view(), byte).length);
}

Value get_attribute(Runtime& r, const Value& object, const Str& name) {
  if (object.is(Type::kUndefined))
    return is_python_internal(name.view()) ? unsafe(r, object, name) : r.undefined_error(object);
  Value found = native_attribute(r, object, name);
  if (found.missing()) found = native_item(r, object, Value::of(&name));
  return found.missing() ? r.undefined_attribute(object, Value::of(&name)) : found;
}

Value get_attribute_only(Runtime& r, const Value& object, const Str& name) {
  if (object.is(Type::kUndefined)) return r.undefined_error(object);
  const Value found = native_attribute(r, object, name);
  return found.missing() ? r.undefined_attribute(object, Value::of(&name)) : found;
}

Value get_item(Runtime& r, const Value& object, const Value& key) {
  if (object.is(Type::kUndefined)) return r.undefined_error(object);
  Value found = native_item(r, object, key);
  if (found.missing() && key.is(Type::kString)) found = native_attribute(r, object, *key.str);
  return found.missing() ? r.undefined_attribute(object, key) : found;
}

Value get_slice(Runtime& r, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is(Type::kUndefined)) return r.undefined_error(object);
  if (!object.is(Type::kString) && !object.is_seq() && !object.is(Type::kRange))
    return r.fail({type_name(object), " has no slices"});
  const int64_t n = length_of(object);
  int64_t by = 1, from = 0, to = 0;
  if (!step.missing() && !step.is_none()) {
    if (!step.is_int()) return r.fail({"a slice's step is an integer, not ", type_name(step)});
    by = clamp(clamp_integer(step), -(int64_t{1} << 40), int64_t{1} << 40);
    if (by == 0) return r.fail({"a slice's step is not 0"});
  }
  if (!slice_bound(r, start, n, by < 0, by < 0 ? n - 1 : 0, from) ||
      !slice_bound(r, stop, n, by < 0, by < 0 ? -1 : n, to))
    return Value::fail();
  const int64_t count =
      by > 0 ? (to > from ? (to - from - 1) / by + 1 : 0) : (from > to ? (from - to - 1) / -by + 1 : 0);
  // Each character of such a text is put by itself.
  const bool scattered = object.is(Type::kString) && by != 1;
  if (!r.spend(static_cast<uint64_t>(count) / (scattered ? 1 : 8))) return Value::fail();
  if (object.is(Type::kRange)) {
    const Range& of = *object.range;
    return r.make(Type::kRange, &Value::range,
                  Range{of.start + from * of.step, of.start + to * of.step, of.step * by, count});
  }
  if (object.is_seq()) {
    std::vector<Value> items;
    items.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) items.push_back(object.seq->items[from + i * by]);
    return r.sequence(object.type, items);
  }
  const Str& text = *object.str;
  std::vector<uint32_t> bytes;  // offset of each character; empty if all are ASCII
  if (n != text.size)
    for (uint32_t byte = 0; byte < text.size; byte += code_point_at(text.view(), byte).length) bytes.push_back(byte);
  if (!bytes.empty()) bytes.push_back(text.size);
  const auto byte_of = [&](int64_t i) {
    return bytes.empty() ? static_cast<size_t>(i) : bytes[static_cast<size_t>(i)];
  };
  if (by == 1) return count == 0 ? r.part(text, 0, 0) : r.part(text, byte_of(from), byte_of(from + count));
  Writer out = r.writer();
  for (int64_t i = 0; i < count; ++i) out.put_part(text, byte_of(from + i * by), byte_of(from + i * by + 1));
  return r.string(out, text.markup);
}

Value get_path(Runtime& r, const Value& object, const Value& path, const Value& fallback) {
  if (path.missing() || path.is_none()) return object;
  Value value = object;
  const auto step = [&](const Value& key) {
    value = get_item(r, value, key);
    if (value.is(Type::kUndefined) && !fallback.missing() && !fallback.is_none()) value = fallback;
  };
  if (!path.is(Type::kString)) return step(path), value;
  const std::string_view text = path.str->view();
  for (size_t begin = 0; begin <= text.size() && !value.failed();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view key = text.substr(begin, end - begin);
    const bool digits = !key.empty() && key.find_first_not_of("0123456789") == key.npos;
    const Value index = digits ? parse_integer(r.arena, key, 10) : r.part(*path.str, begin, end);
    if (index.failed()) return index;
    step(index);
    begin = end + 1;
  }
  return value;
}

}  // namespace ggufscope::jinja
