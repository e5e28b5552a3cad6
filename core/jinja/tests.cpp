// Tests: what may follow "is".
#include "jinja/big_int.hpp"
#include "jinja/runtime.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

template <Type... types>
Value is_type(Runtime&, const Value* a, const Args&) {
  return Value::of(((a[0].type == types) || ...));
}
Value is_defined(Runtime&, const Value* a, const Args&) { return Value::of(!a[0].is(Type::kUndefined)); }

Value remainder_is(Runtime& r, const Value& value, const Value& divisor, int64_t wanted) {
  const Value rest = binary(r, Op::kMod, value, divisor);
  return rest.failed() ? rest : value_of(equal(r, rest, Value::of(wanted)));
}
Value odd(Runtime& r, const Value* a, const Args&) { return remainder_is(r, a[0], Value::of(int64_t{2}), 1); }
Value even(Runtime& r, const Value* a, const Args&) { return remainder_is(r, a[0], Value::of(int64_t{2}), 0); }
Value divisible_by(Runtime& r, const Value* a, const Args&) { return remainder_is(r, a[0], a[1], 0); }

template <bool wanted>
Value is_bool(Runtime&, const Value* a, const Args&) {
  return Value::of(a[0].is(Type::kBool) && a[0].boolean == wanted);
}

// str.islower and str.isupper of the value as a text.
template <uint16_t wanted, uint16_t others>
Value has_case(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  if (text.failed()) return text;
  bool any = false;
  for (size_t i = 0; i < text.str->size;) {
    const CodePoint c = code_point_at(text.str->view(), i);
    if (has(c.value, others)) return Value::of(false);
    any = any || has(c.value, wanted);
    i += c.length;
  }
  return Value::of(any);
}

Value sequence(Runtime&, const Value* a, const Args&) {
  return Value::of(a[0].is(Type::kUndefined) || a[0].is(Type::kString) || a[0].is_seq() || a[0].is(Type::kDict) ||
                   a[0].is(Type::kRange));
}
Value iterable(Runtime&, const Value* a, const Args&) { return Value::of(can_iterate(a[0])); }
Value callable(Runtime&, const Value* a, const Args&) {
  const Type t = a[0].type;
  return Value::of(t == Type::kFunction || t == Type::kMacro || t == Type::kLoop || t == Type::kJoiner ||
                   t == Type::kBlock || t == Type::kUndefined);
}
Value same_as(Runtime&, const Value* a, const Args&) { return Value::of(same(a[0], a[1])); }
Value escaped(Runtime&, const Value* a, const Args&) { return Value::of(a[0].is(Type::kString) && a[0].str->markup); }
Value in(Runtime& r, const Value* a, const Args&) { return value_of(contains(r, a[1], a[0])); }

Value name_exists(Runtime& r, const Value& name, const Builtin* (*look_up)(std::string_view)) {
  if (!hashable(r, name)) return Value::fail();
  return Value::of(name.is(Type::kString) && look_up(name.str->view()) != nullptr);
}
Value is_filter(Runtime& r, const Value* a, const Args&) { return name_exists(r, a[0], find_filter); }
Value is_test(Runtime& r, const Value* a, const Args&) { return name_exists(r, a[0], find_test); }

template <Op op>
Value compares(Runtime& r, const Value* a, const Args&) {
  return value_of(compare(r, op, a[0], a[1]));
}

constexpr Builtin kTestRows[] = {
    {"odd", "", odd},
    {"even", "", even},
    {"divisibleby", "num", divisible_by},
    {"defined", "", is_defined},
    {"undefined", "", is_type<Type::kUndefined>},
    {"filter", "", is_filter},
    {"test", "", is_test},
    {"none", "", is_type<Type::kNone>},
    {"boolean", "", is_type<Type::kBool>},
    {"false", "", is_bool<false>},
    {"true", "", is_bool<true>},
    {"integer", "", is_type<Type::kInt, Type::kBig>},
    {"float", "", is_type<Type::kFloat>},
    {"lower", "", has_case<kLower, kUpper | kTitle>},
    {"upper", "", has_case<kUpper, kLower | kTitle>},
    {"string", "", is_type<Type::kString>},
    {"mapping", "", is_type<Type::kDict>},
    {"number", "", is_type<Type::kBool, Type::kInt, Type::kBig, Type::kFloat>},
    {"sequence", "", sequence},
    {"iterable", "", iterable},
    {"callable", "", callable},
    {"sameas", "other", same_as},
    {"escaped", "", escaped},
    {"in", "seq", in},
    {"==", "/ b", compares<Op::kEq>},
    {"eq", "/ b", compares<Op::kEq>},
    {"equalto", "/ b", compares<Op::kEq>},
    {"!=", "/ b", compares<Op::kNe>},
    {"ne", "/ b", compares<Op::kNe>},
    {">", "/ b", compares<Op::kGt>},
    {"gt", "/ b", compares<Op::kGt>},
    {"greaterthan", "/ b", compares<Op::kGt>},
    {"ge", "/ b", compares<Op::kGe>},
    {">=", "/ b", compares<Op::kGe>},
    {"<", "/ b", compares<Op::kLt>},
    {"lt", "/ b", compares<Op::kLt>},
    {"lessthan", "/ b", compares<Op::kLt>},
    {"<=", "/ b", compares<Op::kLe>},
    {"le", "/ b", compares<Op::kLe>},
};

}  // namespace

constinit const std::span<const Builtin> kTests = kTestRows;

}  // namespace ggufscope::jinja
