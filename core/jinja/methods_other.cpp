// Query methods of strings, and methods of lists, dicts, numbers, cyclers and loops.
#include <algorithm>
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

// str.isalpha and similar: true if the text is not empty and every character has one of the properties.
template <uint16_t wanted>
Value all_are(Runtime& r, const Value* a, const Args&) {
  const Str& text = *a[0].str;
  if (!r.spend(text.size / 16)) return Value::fail();
  for (size_t i = 0; i < text.size;) {
    const CodePoint c = code_point_at(text.view(), i);
    if (!has(c.value, wanted)) return Value::of(false);
    i += c.length;
  }
  return Value::of(text.size > 0 || wanted == kPrintable);
}

template <uint16_t wanted, uint16_t others>
Value cased(Runtime&, const Value* a, const Args&) {
  bool any = false;
  for (size_t i = 0; i < a[0].str->size;) {
    const CodePoint c = code_point_at(a[0].str->view(), i);
    if (has(c.value, others)) return Value::of(false);
    any = any || has(c.value, wanted);
    i += c.length;
  }
  return Value::of(any);
}

Value is_title(Runtime&, const Value* a, const Args&) {
  bool any = false, before = false;
  for (size_t i = 0; i < a[0].str->size;) {
    const CodePoint c = code_point_at(a[0].str->view(), i);
    if (has(c.value, kUpper | kTitle)) {
      if (before) return Value::of(false);
      before = any = true;
    } else if (has(c.value, kLower)) {
      if (!before) return Value::of(false);
      any = true;
    } else {
      before = false;
    }
    i += c.length;
  }
  return Value::of(any);
}

Value is_ascii(Runtime&, const Value* a, const Args&) {
  const std::string_view view = a[0].str->view();
  return Value::of(std::all_of(view.begin(), view.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; }));
}

Value is_identifier(Runtime&, const Value* a, const Args&) {
  const std::string_view view = a[0].str->view();
  for (size_t i = 0; i < view.size();) {
    const CodePoint c = code_point_at(view, i);
    if (c.value != '_' && !has(c.value, i == 0 ? kIdentifierStart : kIdentifier)) return Value::of(false);
    i += c.length;
  }
  return Value::of(!view.empty());
}

Value no_bytes(Runtime& r, const Value*, const Args&) {
  return r.fail({"bytes are not supported: chat templates are text"});
}

constexpr Builtin kTextRows[] = {
    {"isalnum", "/", all_are<kAlnum>},
    {"isalpha", "/", all_are<kAlpha>},
    {"isdecimal", "/", all_are<kDecimal>},
    {"isdigit", "/", all_are<kDigit>},
    {"isnumeric", "/", all_are<kNumeric>},
    {"isprintable", "/", all_are<kPrintable>},
    {"isspace", "/", all_are<kSpace>},
    {"islower", "/", cased<kLower, kUpper | kTitle>},
    {"isupper", "/", cased<kUpper, kLower | kTitle>},
    {"istitle", "/", is_title},
    {"isascii", "/", is_ascii},
    {"isidentifier", "/", is_identifier},
    {"encode", "*", no_bytes},
};

Value dict_get(Runtime& r, const Value* a, const Args&) {
  if (!hashable(r, a[1])) return Value::fail();
  const Value* found = find(*a[0].dict, a[1]);
  return found != nullptr ? *found : a[2].missing() ? Value::none() : a[2];
}

template <View::Kind kind>
Value dict_view(Runtime& r, const Value* a, const Args&) {
  return r.make(Type::kView, &Value::view, View{kind, a[0].dict});
}

Value dict_copy(Runtime& r, const Value* a, const Args&) {
  Dict* copy = copy_dict(r, *a[0].dict);
  return copy != nullptr ? Value::of(copy) : Value::fail();
}

Value dict_from_keys(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> keys;
  Dict* dict = r.create<Dict>();
  if (dict == nullptr || !collect(r, a[1], keys)) return Value::fail();
  for (const Value& key : keys)
    if (!hashable(r, key) || !insert(r, *dict, key, a[2].missing() ? Value::none() : a[2])) return Value::fail();
  return Value::of(dict);
}

constexpr Builtin kDictRows[] = {
    {"get", "/ key default?", dict_get},
    {"keys", "/", dict_view<View::Kind::kKeys>},
    {"values", "/", dict_view<View::Kind::kValues>},
    {"items", "/", dict_view<View::Kind::kItems>},
    {"copy", "/", dict_copy},
    {"fromkeys", "/ iterable value?", dict_from_keys},
};

Value list_count(Runtime& r, const Value* a, const Args&) {
  int64_t n = 0;
  for (int64_t i = 0; i < length_of(a[0]); ++i) {
    const Answer same_here = equal(r, element_at(r, a[0], i), a[1]);
    if (same_here == Answer::kFailed) return Value::fail();
    n += same_here == Answer::kYes;
  }
  return Value::of(n);
}

Value list_index(Runtime& r, const Value* a, const Args&) {
  const int64_t length = length_of(a[0]);
  int64_t bounds[] = {0, length};
  for (int i = 0; i < 2; ++i) {
    if (a[2 + i].missing()) continue;
    if (!a[2 + i].is_int()) return r.fail({"index wants integers, not ", type_name(a[2 + i])});
    bounds[i] = clamp_integer(a[2 + i]);
    if (bounds[i] < 0) bounds[i] = std::max<int64_t>(bounds[i] + length, 0);
  }
  for (int64_t i = bounds[0]; i < std::min(bounds[1], length); ++i) {
    const Answer same_here = equal(r, element_at(r, a[0], i), a[1]);
    if (same_here == Answer::kFailed) return Value::fail();
    if (same_here == Answer::kYes) return Value::of(i);
  }
  return r.fail({type_name(a[0]), " has no such element"});
}

Value list_copy(Runtime& r, const Value* a, const Args&) {
  return r.sequence(Type::kList, a[0].seq->items, a[0].seq->n);
}

constexpr Builtin kListRows[] = {
    {"count", "/ value", list_count},
    {"index", "/ value start? stop?", list_index},
    {"copy", "/", list_copy},
};

Value bits(Runtime& r, const Value* a, const Args&) {
  if (!a[0].is_int()) return r.fail({"a float has no bit_length"});
  return Value::of(int64_t{bit_length(a[0])});
}
Value is_integer(Runtime& r, const Value* a, const Args&) {
  if (a[0].is_int()) return r.fail({"an integer has no is_integer"});
  return Value::of(std::isfinite(a[0].real) && a[0].real == std::floor(a[0].real));
}
Value conjugate(Runtime& r, const Value* a, const Args&) { return negate(r, a[0], false); }

constexpr Builtin kNumberRows[] = {
    {"bit_length", "/", bits},
    {"is_integer", "/", is_integer},
    {"conjugate", "/", conjugate},
};

Value cycler_next(Runtime&, const Value* a, const Args&) {
  Cycler& cycler = *a[0].cycler;
  const Value current = cycler.items->items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items->n;
  return current;
}
Value cycler_reset(Runtime&, const Value* a, const Args&) {
  a[0].cycler->position = 0;
  return Value::none();
}
constexpr Builtin kCyclerRows[] = {{"next", "", cycler_next}, {"reset", "", cycler_reset}};

Value loop_cycle(Runtime& r, const Value* a, const Args& args) {
  if (args.n_keywords != 0) return r.fail({"cycle takes no named arguments"});
  if (args.n == 0) return r.fail({"cycle wants something to cycle through"});
  return args.positional[static_cast<uint64_t>(a[0].loop->index0) % args.n];
}
Value loop_changed(Runtime& r, const Value* a, const Args& args) {
  if (args.n_keywords != 0) return r.fail({"changed takes no named arguments"});
  Loop& loop = *a[0].loop;
  const Value now = r.sequence(Type::kTuple, args.positional, args.n);
  if (now.failed()) return now;
  const Answer same_as_before =
      loop.changed == nullptr ? Answer::kNo : equal(r, Value::of(Type::kTuple, loop.changed), now);
  if (same_as_before == Answer::kFailed) return Value::fail();
  if (same_as_before == Answer::kNo) loop.changed = now.seq;
  return Value::of(same_as_before == Answer::kNo);
}
constexpr Builtin kLoopRows[] = {{"cycle", "*", loop_cycle}, {"changed", "*", loop_changed}};

}  // namespace

constinit const std::span<const Builtin> kStrTests = kTextRows;
constinit const std::span<const Builtin> kDictMethods = kDictRows;
constinit const std::span<const Builtin> kListMethods = kListRows;
constinit const std::span<const Builtin> kNumberMethods = kNumberRows;
constinit const std::span<const Builtin> kCyclerMethods = kCyclerRows;
constinit const std::span<const Builtin> kLoopMethods = kLoopRows;

}  // namespace ggufscope::jinja
