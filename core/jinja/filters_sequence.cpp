// Filters that need the whole sequence.
#include <algorithm>

#include "jinja/select.hpp"
#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {

Value folded(Runtime& r, const Value& value, const Value& case_sensitive) {
  if (truth(case_sensitive) || !value.is(Type::kString)) return value;
  return change_case(r, *value.str, Casing::kLower);
}

namespace {

Value length(Runtime& r, const Value* a, const Args&) { return length_value(r, a[0]); }

Value list(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> items;
  return collect(r, a[0], items) ? r.sequence(Type::kList, items) : Value::fail();
}

Value first(Runtime& r, const Value* a, const Args&) {
  Iter* iter = iterate(r, a[0]);
  if (iter == nullptr) return Value::fail();
  const Value item = next(r, *iter);
  return item.missing() ? r.undefined("there is no first item: the sequence is empty") : item;
}

Value last(Runtime& r, const Value* a, const Args&) {
  if (length_of(a[0]) < 0) return r.fail({type_name(a[0]), " cannot be walked backwards"});
  if (length_of(a[0]) == 0) return r.undefined("there is no last item: the sequence is empty");
  if (!a[0].is(Type::kDict) && !a[0].is(Type::kView)) return element_at(r, a[0], length_of(a[0]) - 1);
  std::vector<Value> items;
  return collect(r, a[0], items) ? items.back() : Value::fail();
}

Value reverse(Runtime& r, const Value* a, const Args&) {
  if (a[0].is(Type::kString)) return get_slice(r, a[0], Value(), Value(), Value::of(int64_t{-1}));
  Value source = a[0];
  const bool walks = source.is_seq() || source.is(Type::kRange) || source.is(Type::kUndefined);
  if (!walks) {
    std::vector<Value> items;
    if (!collect(r, source, items)) return Value::fail();
    const bool backwards = source.is(Type::kIterator);
    if (backwards) std::reverse(items.begin(), items.end());
    source = r.sequence(Type::kList, items);
    if (backwards || source.failed()) return source;
  }
  Iter* iter = r.create<Iter>();
  if (iter == nullptr) return Value::fail();
  iter->kind = source.is(Type::kUndefined) ? Iter::Kind::kEmpty : Iter::Kind::kReversed;
  iter->source = source;
  iter->at = length_of(source);
  return r.iterator(iter);
}

Value pick(Runtime& r, const Value* a, const Args&) {
  // The choice depends only on the number of earlier choices, so that renderings are reproducible.
  const int64_t n = length_of(a[0]);
  if (n == 0) return r.undefined("there is no random item: the sequence is empty");
  if (n < 0 || (!a[0].is(Type::kString) && !a[0].is_seq() && !a[0].is(Type::kRange)))
    return r.fail({"random wants a sequence, not ", type_name(a[0])});
  r.seed = r.seed * 1664525u + 1013904223u;
  return element_at(r, a[0], static_cast<int64_t>(r.seed >> 8) % n);
}

// Parses "a,b.c" into paths. An integer or none is a single path.
bool split_paths(Runtime& r, const Value& attribute, std::vector<Value>& out) {
  if (!attribute.is(Type::kString)) return out.push_back(attribute), true;
  const Value comma = r.string(",");
  return !comma.failed() && split(r, *attribute.str, comma.str, -1, false, out);
}

Value sort(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> items, keys, paths;
  if (!collect(r, a[0], items) || !split_paths(r, a[3], paths)) return Value::fail();
  for (const Value& item : items) {
    std::vector<Value> parts;
    for (const Value& path : paths) {
      const Value value = get_path(r, item, path, Value());
      parts.push_back(value.failed() ? value : folded(r, value, a[2]));
      if (parts.back().failed()) return Value::fail();
    }
    keys.push_back(r.sequence(Type::kList, parts));
    if (keys.back().failed()) return Value::fail();
  }
  return sort_values(r, keys, items, truth(a[1])) ? r.sequence(Type::kList, items) : Value::fail();
}

Value dict_sort(Runtime& r, const Value* a, const Args&) {
  const bool by_key = a[2].missing() || (a[2].is(Type::kString) && a[2].str->view() == "key");
  if (!by_key && !(a[2].is(Type::kString) && a[2].str->view() == "value"))
    return r.fail({"dictsort sorts by 'key' or by 'value'"});
  if (a[0].is(Type::kUndefined)) return r.undefined_error(a[0]);
  if (!a[0].is(Type::kDict)) return r.fail({"dictsort wants a mapping, not ", type_name(a[0])});
  std::vector<Value> keys, items;
  for (uint32_t i = 0; i < a[0].dict->n; ++i) {
    const Entry& entry = a[0].dict->entries[i];
    const Value pair[] = {entry.key, entry.value};
    keys.push_back(folded(r, by_key ? entry.key : entry.value, a[1]));
    items.push_back(r.sequence(Type::kTuple, pair, 2));
    if (keys.back().failed() || items.back().failed()) return Value::fail();
  }
  return sort_values(r, keys, items, truth(a[3])) ? r.sequence(Type::kList, items) : Value::fail();
}

template <Op better>
Value extreme(Runtime& r, const Value* a, const Args&) {
  Iter* iter = iterate(r, a[0]);
  if (iter == nullptr) return Value::fail();
  Value best, best_key;
  for (;;) {
    const Value item = next(r, *iter);
    if (item.failed()) return item;
    if (item.missing()) break;
    const Value value = get_path(r, item, a[2], Value());
    const Value key = value.failed() ? value : folded(r, value, a[1]);
    if (key.failed()) return key;
    const Answer wins = best.missing() ? Answer::kYes : compare(r, better, key, best_key);
    if (wins == Answer::kFailed) return Value::fail();
    if (wins == Answer::kNo) continue;
    best = item;
    best_key = key;
  }
  return best.missing() ? r.undefined("there is no such item: the sequence is empty") : best;
}

Value sum(Runtime& r, const Value* a, const Args&) {
  Iter* iter = iterate(r, a[0]);
  Value total = a[2].missing() ? Value::of(int64_t{0}) : a[2];
  if (iter == nullptr) return Value::fail();
  if (total.is(Type::kString)) return r.fail({"sum cannot add strings: use join"});
  for (;;) {
    const Value item = next(r, *iter);
    if (item.failed()) return item;
    if (item.missing()) return total;
    const Value value = get_path(r, item, a[1], Value());
    total = value.failed() ? value : binary(r, Op::kAdd, total, value);
    if (total.failed()) return total;
  }
}

Value group(Runtime& r, const Value& name, const std::vector<Value>& items) {
  const Value list = r.sequence(Type::kList, items);
  const Value pair[] = {name, list};
  const Value tuple = list.failed() ? list : r.sequence(Type::kTuple, pair, 2);
  if (!tuple.failed()) tuple.seq->group = true;
  return tuple;
}

Value group_by(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> items, keys, groups, members;
  if (!collect(r, a[0], items)) return Value::fail();
  for (const Value& item : items) {
    const Value value = get_path(r, item, a[1], a[2]);
    keys.push_back(value.failed() ? value : folded(r, value, a[3]));
    if (keys.back().failed()) return Value::fail();
  }
  if (!sort_values(r, keys, items, false)) return Value::fail();
  for (size_t i = 0; i < items.size(); ++i) {
    members.push_back(items[i]);
    const Answer goes_on = i + 1 == items.size() ? Answer::kNo : equal(r, keys[i], keys[i + 1]);
    if (goes_on == Answer::kFailed) return Value::fail();
    if (goes_on == Answer::kYes) continue;
    const Value name = truth(a[3]) ? keys[i] : get_path(r, members[0], a[1], a[2]);
    groups.push_back(name.failed() ? name : group(r, name, members));
    if (groups.back().failed()) return Value::fail();
    members.clear();
  }
  return r.sequence(Type::kList, groups);
}

constexpr Builtin kSequenceFilterRows[] = {
    {"count", "/", length},
    {"dictsort", "case_sensitive? by? reverse?", dict_sort},
    {"first", "", first},
    {"groupby", "attribute default? case_sensitive?", group_by},
    {"last", "", last},
    {"length", "/", length},
    {"list", "", list},
    {"max", "case_sensitive? attribute?", extreme<Op::kGt>},
    {"min", "case_sensitive? attribute?", extreme<Op::kLt>},
    {"random", "", pick},
    {"reverse", "", reverse},
    {"sort", "reverse? case_sensitive? attribute?", sort},
    {"sum", "attribute? start?", sum},
};

}  // namespace

constinit const std::span<const Builtin> kSequenceFilters = kSequenceFilterRows;

}  // namespace ggufscope::jinja
