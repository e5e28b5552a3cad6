// Functions that every template has.
#include <algorithm>

#include "jinja/big_int.hpp"
#include "jinja/runtime.hpp"
#include "jinja/strftime.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

Value range(Runtime& r, const Value* a, const Args& args) {
  constexpr int64_t kMaxRange = 100'000;
  int64_t parts[3] = {0, 0, 1};
  for (uint32_t i = 0; i < args.n; ++i) {
    if (a[i + 1].is(Type::kUndefined)) return r.undefined_error(a[i + 1]);
    if (!a[i + 1].is_int()) return r.fail({"range wants integers, not ", type_name(a[i + 1])});
    if (a[i + 1].is(Type::kBig)) return r.fail({"range has more than ", kMaxRange, " elements"});
    parts[i] = clamp_integer(a[i + 1]);
  }
  if (args.n == 1) std::swap(parts[0], parts[1]);
  const auto [start, stop, step] = parts;
  if (step == 0) return r.fail({"the step of range is not 0"});
  const bool any = step > 0 ? start < stop : start > stop;
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t by = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t n = any ? (distance - 1) / by + 1 : 0;
  if (n > kMaxRange) return r.fail({"range has more than ", kMaxRange, " elements"});
  return r.make(Type::kRange, &Value::range, Range{start, stop, step, static_cast<int64_t>(n)});
}

// Python's dict(): from a mapping or from pairs, then from keyword arguments.
Dict* make_dict(Runtime& r, const Args& args) {
  if (args.n > 1) return r.fail({"dict takes at most one argument by position"}), nullptr;
  Dict* dict = r.create<Dict>();
  if (dict == nullptr) return nullptr;
  if (args.n == 1) {
    const Value& from = args.positional[0];
    if (from.is(Type::kUndefined)) return r.undefined_error(from), nullptr;
    if (from.is(Type::kDict)) {
      if ((dict = copy_dict(r, *from.dict)) == nullptr) return nullptr;
    } else {
      std::vector<Value> pairs;
      if (!collect(r, from, pairs)) return nullptr;
      for (const Value& one : pairs) {
        std::vector<Value> pair;
        if (!collect(r, one, pair)) return nullptr;
        if (pair.size() != 2) return r.fail({"dict wants pairs"}), nullptr;
        if (!hashable(r, pair[0]) || !insert(r, *dict, pair[0], pair[1])) return nullptr;
      }
    }
  }
  for (uint32_t i = 0; i < args.n_keywords; ++i)
    if (!insert(r, *dict, Value::of(args.keywords[i].name), args.keywords[i].value)) return nullptr;
  return dict;
}

Value dict(Runtime& r, const Value*, const Args& args) {
  Dict* made = make_dict(r, args);
  return made != nullptr ? Value::of(made) : Value::fail();
}

Value name_space(Runtime& r, const Value*, const Args& args) {
  Value v = dict(r, nullptr, args);
  if (!v.failed()) v.type = Type::kNamespace;
  return v;
}

Value cycler(Runtime& r, const Value*, const Args& args) {
  if (args.n_keywords != 0) return r.fail({"cycler takes no named arguments"});
  if (args.n == 0) return r.fail({"cycler wants something to cycle through"});
  const Value items = r.sequence(Type::kTuple, args.positional, args.n);
  return items.failed() ? items : r.make(Type::kCycler, &Value::cycler, Cycler{.items = items.seq});
}

Value joiner(Runtime& r, const Value* a, const Args&) {
  return r.make(Type::kJoiner, &Value::joiner, Joiner{.separator = a[1].missing() ? r.string(", ") : a[1]});
}

Value raise(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[1]);
  return text.failed() ? text : r.fail({text.str->view()});
}

Value time_now(Runtime& r, const Value* a, const Args&) {
  if (!a[1].is(Type::kString)) return r.fail({"strftime_now wants a format, not ", type_name(a[1])});
  std::string out;
  if (!strftime(r.now, a[1].str->view(), r.limits.output_bytes, out))
    return r.limit("it makes a text that is too long");
  return r.string(out);
}

Value no_lipsum(Runtime& r, const Value*, const Args&) {
  return r.fail({"lipsum is not supported: its text is random"});
}

constexpr Builtin kGlobalRows[] = {
    {"range", "/ start stop? step?", range},
    {"dict", "*", dict},
    {"namespace", "*", name_space},
    {"cycler", "*", cycler},
    {"joiner", "sep?", joiner},
    {"lipsum", "*", no_lipsum},
    {"raise_exception", "m", raise},
    {"strftime_now", "f", time_now},
};

}  // namespace

constinit const std::span<const Builtin> kGlobals = kGlobalRows;

}  // namespace ggufscope::jinja
