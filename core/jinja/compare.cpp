// Python's comparisons, and the stable sort that uses them.
#include <algorithm>
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/runtime.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

// Returns -1, 0 or 1, or 2 if one value is not a number.
int compare_numbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return compare_integers(a, b);
  const double x = number(a), y = number(b);
  if (std::isnan(x) || std::isnan(y)) return 2;
  const bool exact = std::fabs(x) < 9007199254740992.0 && std::fabs(y) < 9007199254740992.0;
  if (exact || std::isinf(x) || std::isinf(y)) return x < y ? -1 : x > y ? 1 : 0;
  Arena arena(1 << 16);
  const Value whole_a = a.is_int() ? a : integer_of(arena, x), whole_b = b.is_int() ? b : integer_of(arena, y);
  const int order = compare_integers(whole_a, whole_b);
  return order != 0 ? order : x < y ? -1 : x > y ? 1 : 0;
}

Answer equal_items(Runtime& r, const Seq& a, const Seq& b) {
  if (a.n != b.n) return Answer::kNo;
  for (uint32_t i = 0; i < a.n; ++i)
    if (const Answer one = equal(r, a.items[i], b.items[i]); one != Answer::kYes) return one;
  return Answer::kYes;
}

Answer equal_dicts(Runtime& r, const Dict& a, const Dict& b) {
  if (a.n != b.n) return Answer::kNo;
  for (uint32_t i = 0; i < a.n; ++i) {
    const Value* other = find(b, a.entries[i].key);
    if (other == nullptr) return Answer::kNo;
    if (const Answer one = equal(r, a.entries[i].value, *other); one != Answer::kYes) return one;
  }
  return Answer::kYes;
}

// Lists compare like their first elements that differ.
Answer compare_items(Runtime& r, Op op, const Seq& a, const Seq& b) {
  for (uint32_t i = 0; i < std::min(a.n, b.n); ++i) {
    const Answer same_here = equal(r, a.items[i], b.items[i]);
    if (same_here == Answer::kFailed) return same_here;
    if (same_here == Answer::kNo) return compare(r, op, a.items[i], b.items[i]);
  }
  const bool yes = op == Op::kLt ? a.n < b.n : op == Op::kLe ? a.n <= b.n : op == Op::kGt ? a.n > b.n : a.n >= b.n;
  return answer(yes);
}

Answer contains_item(Runtime& r, const Value& container, const Value& item) {
  Iter* iter = iterate(r, container);
  if (iter == nullptr) return Answer::kFailed;
  for (;;) {
    const Value one = next(r, *iter);
    if (one.failed()) return Answer::kFailed;
    if (one.missing()) return Answer::kNo;
    if (const Answer found = equal(r, one, item); found != Answer::kNo) return found;
  }
}

}  // namespace

bool truth(const Value& value) {
  switch (value.type) {
    case Type::kBool:
      return value.boolean;
    case Type::kInt:
      return value.integer != 0;
    case Type::kFloat:
      return value.real != 0;
    case Type::kString:
      return value.str->size != 0;
    case Type::kList:
    case Type::kTuple:
      return value.seq->n != 0;
    case Type::kDict:
      return value.dict->n != 0;
    case Type::kView:
      return value.view->dict->n != 0;
    case Type::kRange:
      return value.range->n != 0;
    case Type::kMissing:
    case Type::kFail:
    case Type::kUndefined:
    case Type::kNone:
      return false;
    default:
      return true;
  }
}

bool same(const Value& a, const Value& b) {
  if (a.type != b.type) return false;
  switch (a.type) {
    case Type::kBool:
      return a.boolean == b.boolean;
    case Type::kInt:
      return a.integer == b.integer;
    case Type::kNone:
      return true;
    case Type::kFloat:
      return a.real == b.real;
    case Type::kString:
      return a.str == b.str || (a.str->data == b.str->data && a.str->size == b.str->size);
    case Type::kTuple:
      return a.seq == b.seq || (a.seq->n == 0 && b.seq->n == 0);
    default:
      return a.dict == b.dict;
  }
}

Answer equal(Runtime& r, const Value& a, const Value& b) {
  const Nesting nesting(r);
  if (nesting.over() || !r.spend()) return Answer::kFailed;
  if (a.is_number() && b.is_number()) return answer(compare_numbers(a, b) == 0);
  if (a.type != b.type) return Answer::kNo;
  switch (a.type) {
    case Type::kNone:
    case Type::kUndefined:
      return Answer::kYes;
    case Type::kString:
      if (!r.spend(std::min(a.str->size, b.str->size) / kBytesPerStep)) return Answer::kFailed;
      return answer(a.str->view() == b.str->view());
    case Type::kList:
    case Type::kTuple:
      return equal_items(r, *a.seq, *b.seq);
    case Type::kDict:
      return equal_dicts(r, *a.dict, *b.dict);
    case Type::kRange: {
      const Range &x = *a.range, &y = *b.range;
      return answer(x.n == y.n && (x.n == 0 || (x.start == y.start && (x.n == 1 || x.step == y.step))));
    }
    case Type::kView:
      return answer(a.view->kind != View::Kind::kValues && a.view->kind == b.view->kind &&
                    equal_dicts(r, *a.view->dict, *b.view->dict) == Answer::kYes);
    case Type::kFunction:
      return answer(a.function->builtin == b.function->builtin && same(a.function->self, b.function->self));
    default:
      return answer(a.dict == b.dict);
  }
}

Answer less(Runtime& r, const Value& a, const Value& b) { return compare(r, Op::kLt, a, b); }

Answer compare(Runtime& r, Op op, const Value& a, const Value& b) {
  const Nesting nesting(r);
  if (nesting.over() || !r.spend()) return Answer::kFailed;
  if (op == Op::kEq) return equal(r, a, b);
  if (op == Op::kNe) {
    const Answer is_equal = equal(r, a, b);
    return is_equal == Answer::kFailed ? is_equal : answer(is_equal == Answer::kNo);
  }
  if (op == Op::kIn || op == Op::kNotIn) {
    const Answer found = contains(r, b, a);
    return found == Answer::kFailed || op == Op::kIn ? found : answer(found == Answer::kNo);
  }
  int order = 0;
  if (a.is_number() && b.is_number()) {
    order = compare_numbers(a, b);
    if (order == 2) return Answer::kNo;
  } else if (a.is(Type::kString) && b.is(Type::kString)) {
    if (!r.spend(std::min(a.str->size, b.str->size) / kBytesPerStep)) return Answer::kFailed;
    order = a.str->view().compare(b.str->view());
  } else if (a.is_seq() && a.type == b.type) {
    return compare_items(r, op, *a.seq, *b.seq);
  } else {
    if (a.is(Type::kUndefined) || b.is(Type::kUndefined))
      r.undefined_error(a.is(Type::kUndefined) ? a : b);
    else
      r.fail({"cannot order ", type_name(a), " and ", type_name(b)});
    return Answer::kFailed;
  }
  return answer(op == Op::kLt ? order < 0 : op == Op::kLe ? order <= 0 : op == Op::kGt ? order > 0 : order >= 0);
}

Answer contains(Runtime& r, const Value& container, const Value& item) {
  const bool keys = container.is(Type::kView) && container.view->kind == View::Kind::kKeys;
  if (container.is(Type::kDict) || keys) {
    if (!hashable(r, item)) return Answer::kFailed;
    return answer(find(keys ? *container.view->dict : *container.dict, item) != nullptr);
  }
  if (container.is(Type::kString)) {
    if (!item.is(Type::kString)) {
      r.fail({"cannot look for ", type_name(item), " in a string"});
      return Answer::kFailed;
    }
    if (!r.spend(container.str->size / kBytesPerStep)) return Answer::kFailed;
    const size_t at = find_text(r, *container.str, *item.str, 0, container.str->size, false);
    if (r.problem.code != Problem::Code::kNone) return Answer::kFailed;
    return answer(at != std::string_view::npos);
  }
  return contains_item(r, container, item);
}

// Bottom-up merge sort. It is stable in both directions.
bool sort_values(Runtime& r, std::vector<Value>& keys, std::vector<Value>& values, bool reverse) {
  const size_t n = keys.size();
  std::vector<uint32_t> order(n), merged(n);
  for (uint32_t i = 0; i < n; ++i) order[i] = i;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * width) {
      const size_t middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
      size_t left = begin, right = middle;
      for (size_t i = begin; i < end; ++i) {
        bool take_right = left == middle;
        if (left < middle && right < end) {
          const Value &a = keys[order[left]], &b = keys[order[right]];
          const Answer before = reverse ? less(r, a, b) : less(r, b, a);
          if (before == Answer::kFailed) return false;
          take_right = before == Answer::kYes;
        }
        merged[i] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  std::vector<Value> sorted_keys(n), sorted(n);
  for (size_t i = 0; i < n; ++i) {
    sorted_keys[i] = keys[order[i]];
    sorted[i] = values[order[i]];
  }
  keys.swap(sorted_keys);
  values.swap(sorted);
  return true;
}

}  // namespace ggufscope::jinja
