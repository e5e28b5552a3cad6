// Filters that return generators. They run lazily, when an element is requested.
#include <algorithm>

#include "jinja/select.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

using IterKind = Iter::Kind;

// A generator over a[0] that keeps the call's arguments.
Iter* generator(Runtime& r, IterKind kind, const Value* a, uint32_t n_bound, const Args& args) {
  Iter* iter = r.create<Iter>();
  Value* bound = r.create<Value>(n_bound);
  Value* positional = r.create<Value>(args.n);
  Keyword* keywords = r.create<Keyword>(args.n_keywords);
  if (iter == nullptr || bound == nullptr || positional == nullptr || keywords == nullptr) return nullptr;
  std::copy(a, a + n_bound, bound);
  std::copy(args.positional, args.positional + args.n, positional);
  std::copy(args.keywords, args.keywords + args.n_keywords, keywords);
  iter->kind = kind;
  iter->source = a[0];
  iter->a = bound;
  iter->args = {positional, args.n, keywords, args.n_keywords};
  return iter;
}

template <IterKind kind, uint32_t n_bound>
Value generate(Runtime& r, const Value* a, const Args& args) {
  return r.iterator(generator(r, kind, a, n_bound, args));
}

// by_attribute: the first argument is the attribute to test.
template <bool reject, bool by_attribute>
Value select(Runtime& r, const Value* a, const Args& args) {
  Iter* iter = generator(r, IterKind::kSelect, a, 1, args);
  if (iter == nullptr) return Value::fail();
  iter->reject = reject;
  iter->by_attribute = by_attribute;
  return r.iterator(iter);
}

const Builtin* named(Runtime& r, const Value& name, bool is_filter) {
  const std::string_view text = name.is(Type::kString) ? name.str->view() : std::string_view();
  const Builtin* found = is_filter ? find_filter(text) : find_test(text);
  if (found == nullptr) r.fail({"there is no ", is_filter ? "filter " : "test ", Quoted{text}});
  return found;
}

bool prepare_map(Runtime& r, Iter& iter) {
  Args& args = iter.args;
  const auto is_attribute = [](const Keyword& k) { return k.name->view() == "attribute"; };
  iter.by_attribute = args.n == 0 && std::any_of(args.keywords, args.keywords + args.n_keywords, is_attribute);
  if (!iter.by_attribute) {
    if (args.n == 0) return r.fail({"map wants the name of a filter, or an attribute"}).is(Type::kNone);
    iter.builtin = named(r, args.positional[0], true);
    args.positional++;
    args.n--;
    return iter.builtin != nullptr;
  }
  Value* path = r.create<Value>(2);
  Keyword* room = r.create<Keyword>(args.n_keywords);
  if (path == nullptr || room == nullptr) return false;
  path[0] = take_keyword(args, "attribute", room);
  path[1] = take_keyword(args, "default", room);
  iter.a = path;
  return args.n_keywords == 0 ||
         r.fail({"map takes no argument named ", Quoted{args.keywords[0].name->view()}}).is(Type::kNone);
}

bool prepare_select(Runtime& r, Iter& iter) {
  Args& args = iter.args;
  if (iter.by_attribute) {
    if (args.n == 0) return r.fail({"the name of the attribute is missing"}).is(Type::kNone);
    iter.a = args.positional++;
    args.n--;
  }
  if (args.n == 0) return true;
  iter.builtin = named(r, args.positional[0], false);
  args.positional++;
  args.n--;
  return iter.builtin != nullptr;
}

Value next_mapped(Runtime& r, Iter& iter) {
  const Value item = next(r, *iter.inner);
  if (item.failed() || item.missing()) return item;
  return iter.by_attribute ? get_path(r, item, iter.a[0], iter.a[1]) : call_builtin(r, *iter.builtin, item, iter.args);
}

Value next_selected(Runtime& r, Iter& iter) {
  for (;;) {
    const Value item = next(r, *iter.inner);
    if (item.failed() || item.missing()) return item;
    const Value looked_at = iter.by_attribute ? get_path(r, item, iter.a[0], Value()) : item;
    const Value passes = looked_at.failed() || iter.builtin == nullptr
                             ? looked_at
                             : call_builtin(r, *iter.builtin, looked_at, iter.args);
    if (passes.failed()) return passes;
    if (truth(passes) != iter.reject) return item;
  }
}

Value next_unique(Runtime& r, Iter& iter) {
  for (;;) {
    const Value item = next(r, *iter.inner);
    if (item.failed() || item.missing()) return item;
    const Value value = get_path(r, item, iter.a[2], Value());
    const Value key = value.failed() ? value : folded(r, value, iter.a[1]);
    if (key.failed() || !hashable(r, key)) return Value::fail();
    if (find(*iter.seen, key) != nullptr) continue;
    return insert(r, *iter.seen, key, Value::none()) ? item : Value::fail();
  }
}

// Rows of linecount elements, the last one filled.
bool make_batches(Runtime& r, const Iter& iter, std::vector<Value>& rows) {
  const Value &count = iter.a[1], &fill = iter.a[2];
  std::vector<Value> row;
  const auto flush = [&] {
    rows.push_back(r.sequence(Type::kList, row));
    row.clear();
    return !rows.back().failed();
  };
  for (;;) {
    const Value item = next(r, *iter.inner);
    if (item.failed()) return false;
    if (item.missing()) break;
    const Answer full = equal(r, Value::of(static_cast<int64_t>(row.size())), count);
    if (full == Answer::kFailed || (full == Answer::kYes && !flush())) return false;
    row.push_back(item);
  }
  if (row.empty()) return true;
  if (!fill.missing() && !fill.is_none()) {
    if (!count.is_int()) return r.fail({"batch wants an integer, not ", type_name(count)}).is(Type::kNone);
    const int64_t more = clamp_integer(count) - static_cast<int64_t>(row.size());
    if (more > 0 && !r.spend(static_cast<uint64_t>(more))) return false;
    if (more > 0) row.insert(row.end(), static_cast<size_t>(more), fill);
  }
  return flush();
}

bool make_slices(Runtime& r, const Iter& iter, std::vector<Value>& rows) {
  const Value &count = iter.a[1], &fill = iter.a[2];
  std::vector<Value> items;
  if (!collect(r, iter.source, items)) return false;
  if (!count.is_int()) return r.fail({"slice wants an integer, not ", type_name(count)}).is(Type::kNone);
  const int64_t slices = clamp_integer(count), n = static_cast<int64_t>(items.size());
  if (slices == 0) return r.fail({"slice wants a count that is not 0"}).is(Type::kNone);
  if (slices < 0) return true;
  if (!r.spend(static_cast<uint64_t>(slices))) return false;
  int64_t begin = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const bool longer = i < n % slices;
    const int64_t end = begin + n / slices + (longer ? 1 : 0);
    std::vector<Value> row(items.data() + begin, items.data() + end);
    if (!longer && !fill.missing() && !fill.is_none()) row.push_back(fill);
    rows.push_back(r.sequence(Type::kList, row));
    if (rows.back().failed()) return false;
    begin = end;
  }
  return true;
}

bool prepare(Runtime& r, Iter& iter) {
  const bool asks_truth = iter.kind == IterKind::kMap || iter.kind == IterKind::kSelect;
  if (asks_truth && !truth(iter.source)) {
    iter.done = true;
    return true;
  }
  if (iter.kind == IterKind::kMap && !prepare_map(r, iter)) return false;
  if (iter.kind == IterKind::kSelect && !prepare_select(r, iter)) return false;
  if ((iter.inner = iterate(r, iter.source)) == nullptr) return false;
  if (iter.kind == IterKind::kUnique) return (iter.seen = r.create<Dict>()) != nullptr;
  if (iter.kind != IterKind::kBatch && iter.kind != IterKind::kSlices) return true;
  std::vector<Value> rows;
  if (!(iter.kind == IterKind::kBatch ? make_batches(r, iter, rows) : make_slices(r, iter, rows))) return false;
  iter.source = r.sequence(Type::kList, rows);
  iter.kind = IterKind::kSeq;
  return !iter.source.failed();
}

constexpr Builtin kSelectFilterRows[] = {
    {"batch", "linecount fill_with?", generate<IterKind::kBatch, 3>},
    {"items", "", generate<IterKind::kItems, 1>},
    {"map", "*", generate<IterKind::kMap, 1>},
    {"reject", "*", select<true, false>},
    {"rejectattr", "*", select<true, true>},
    {"select", "*", select<false, false>},
    {"selectattr", "*", select<false, true>},
    {"slice", "slices fill_with?", generate<IterKind::kSlices, 3>},
    {"unique", "case_sensitive? attribute?", generate<IterKind::kUnique, 3>},
};

}  // namespace

Value next_generated(Runtime& r, Iter& iter) {
  if (iter.inner == nullptr) {
    if (!prepare(r, iter)) return Value::fail();
    if (iter.done) return {};
    if (iter.kind == IterKind::kSeq) return next(r, iter);
  }
  if (iter.kind == IterKind::kMap) return next_mapped(r, iter);
  return iter.kind == IterKind::kUnique ? next_unique(r, iter) : next_selected(r, iter);
}

constinit const std::span<const Builtin> kSelectFilters = kSelectFilterRows;

}  // namespace ggufscope::jinja
