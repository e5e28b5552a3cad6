// Errors, limits, strings and truth of a rendering's values.
#include "jinja/runtime.hpp"

#include <algorithm>
#include <cstring>

namespace ggufscope::jinja {

Value Runtime::fail(std::initializer_list<Part> parts) {
  if (problem.code == Problem::Code::kNone) problem = {Problem::Code::kTemplate, sentence(parts), 0, false};
  return Value::fail();
}

Value Runtime::limit(std::string_view what) {
  if (problem.code == Problem::Code::kNone) problem = {Problem::Code::kLimit, std::string(what), 0, false};
  return Value::fail();
}

Value Runtime::string(std::string_view bytes, bool content, bool markup) {
  if (bytes.size() > limits.output_bytes) return limit("it makes a text that is too long");
  Str* str = create<Str>();
  char* copy = static_cast<char*>(arena.allocate(bytes.size()));
  if (str == nullptr || copy == nullptr) return out_of_memory();
  std::copy(bytes.begin(), bytes.end(), copy);
  *str = {.data = copy,
          .size = static_cast<uint32_t>(bytes.size()),
          .marks = content ? kAllContent : nullptr,
          .markup = markup};
  steps += bytes.size() / kBytesPerStep;
  return Value::of(str);
}

Value Runtime::string(const Writer& text, bool markup) {
  if (text.over()) return limit("it makes a text that is too long");
  const Value made = string(text.bytes(), false, markup);
  if (made.failed() || text.marks().empty()) return made;
  Str* str = create<Str>();
  char* marks = static_cast<char*>(arena.allocate(text.marks().size()));
  if (str == nullptr || marks == nullptr) return out_of_memory();
  *str = *made.str;
  const bool all = text.marks().find('\0') == std::string::npos;
  if (!all) std::copy(text.marks().begin(), text.marks().end(), marks);
  str->marks = all ? kAllContent : reinterpret_cast<const uint8_t*>(marks);
  return Value::of(str);
}

Value Runtime::part(const Str& text, size_t begin, size_t end) {
  if (begin == 0 && end == text.size) return Value::of(&text);
  const bool shared = text.marks == nullptr || text.marks == kAllContent;
  return make(Type::kString, &Value::str,
              Str{.data = text.data + begin,
                  .size = static_cast<uint32_t>(end - begin),
                  .marks = shared ? text.marks : text.marks + begin,
                  .markup = text.markup});
}

Value Runtime::constant(const char* text) {
  return make(Type::kString, &Value::str, Str{.data = text, .size = static_cast<uint32_t>(std::strlen(text))});
}

Value Runtime::sequence(Type type, const Value* items, size_t n) {
  Seq* seq = create<Seq>();
  Value* copy = create<Value>(n);
  if (seq == nullptr || copy == nullptr || !spend(n / 8)) return Value::fail();
  std::copy(items, items + n, copy);
  seq->items = copy;
  seq->n = static_cast<uint32_t>(n);
  return Value::of(type, seq);
}
Value Runtime::sequence(Type type, const std::vector<Value>& items) {
  return sequence(type, items.data(), items.size());
}

Value Runtime::undefined(std::string_view hint) {
  const Value text = string(hint);
  return text.failed() ? text : make(Type::kUndefined, &Value::absent, Absent{.hint = text.str});
}
Value Runtime::undefined_attribute(const Value& object, const Value& name) {
  return make(Type::kUndefined, &Value::absent, Absent{.object = object, .name = name});
}
Value Runtime::undefined_name(const Str* name) { return undefined_attribute(Value(), Value::of(name)); }

Value Runtime::undefined_error(const Value& undefined) {
  const Absent& absent = *undefined.absent;
  if (absent.hint != nullptr) return fail({absent.hint->view()});
  Writer name = writer();
  if (!write_repr(*this, absent.name, name)) return Value::fail();
  if (absent.object.missing()) return fail({name.bytes(), " is undefined"});
  return fail({type_name(absent.object), absent.name.is(Type::kString) ? " has no attribute " : " has no element ",
               name.bytes()});
}

Value Runtime::iterator(Iter* iter) {
  return iter == nullptr ? Value::fail() : Value::of(Type::kIterator, &Value::iter, iter);
}

std::string_view type_name(const Value& value) {
  constexpr std::string_view kNames[] = {
      "missing",  "error",   "undefined",  "None",     "a bool",   "an integer", "an integer",  "a float",
      "a string", "a list",  "a tuple",    "a dict",   "a view",   "a range",    "a generator", "a namespace",
      "a loop",   "a macro", "a function", "a cycler", "a joiner", "self",       "a block"};
  return kNames[static_cast<size_t>(value.type)];
}

}  // namespace ggufscope::jinja
