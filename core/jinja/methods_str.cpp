// Methods of strings that return texts.
#include <algorithm>

#include "jinja/format_spec.hpp"
#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

template <Casing casing>
Value with_case(Runtime& r, const Value* a, const Args&) {
  return change_case(r, *a[0].str, casing);
}

template <Justify how>
Value pad(Runtime& r, const Value* a, const Args&) {
  return justify(r, *a[0].str, a[1], a[2], how);
}

template <bool left, bool right>
Value strip_ends(Runtime& r, const Value* a, const Args&) {
  return strip(r, *a[0].str, a[1], left, right);
}

// A bound argument of a str method: none, or a character index; negative ones count from the end.
bool text_bound(Runtime& r, const Value& value, int64_t length, int64_t fallback, int64_t& out) {
  out = fallback;
  if (value.missing() || value.is_none()) return true;
  if (!value.is_int()) return r.fail({"a place in a text is an integer, not ", type_name(value)}).is(Type::kNone);
  out = clamp_integer(value);
  if (out < 0) out = std::max<int64_t>(out + length, 0);
  return true;
}

// The byte range between two such bounds; begin > end if it is empty.
bool text_range(Runtime& r, const Value& text, const Value& from, const Value& to, size_t& begin, size_t& end) {
  const int64_t length = length_of(text);
  int64_t first = 0, last = length;
  if (!text_bound(r, from, length, 0, first) || !text_bound(r, to, length, length, last)) return false;
  last = std::min(last, length);
  begin = first > length ? text.str->size + 1 : byte_of(*text.str, first);
  end = byte_of(*text.str, last);
  return true;
}

bool wants_string(Runtime& r, const Value& value, const char* what) {
  return value.is(Type::kString) || r.fail({what, " wants a string, not ", type_name(value)}).is(Type::kNone);
}

template <bool last, bool must>
Value find_part(Runtime& r, const Value* a, const Args&) {
  size_t begin = 0, end = 0;
  if (!wants_string(r, a[1], "a search") || !text_range(r, a[0], a[2], a[3], begin, end)) return Value::fail();
  const size_t at = find_text(r, *a[0].str, *a[1].str, begin, end, last);
  if (r.problem.code != Problem::Code::kNone) return Value::fail();
  if (at != std::string_view::npos) return Value::of(character_of(*a[0].str, at));
  return must ? r.fail({"the text has no such part"}) : Value::of(int64_t{-1});
}

Value count(Runtime& r, const Value* a, const Args&) {
  size_t begin = 0, end = 0;
  if (!wants_string(r, a[1], "count") || !text_range(r, a[0], a[2], a[3], begin, end)) return Value::fail();
  if (begin > end) return Value::of(int64_t{0});
  const Str& text = *a[0].str;
  if (a[1].str->size == 0) return Value::of(int64_t{count_code_points(text.view().substr(begin, end - begin))} + 1);
  int64_t n = 0;
  for (size_t at; (at = find_text(r, text, *a[1].str, begin, end, false)) != std::string_view::npos;
       begin = at + a[1].str->size)
    ++n;
  return r.problem.code != Problem::Code::kNone || !r.spend(static_cast<uint64_t>(n)) ? Value::fail() : Value::of(n);
}

template <bool at_end>
Value has_affix(Runtime& r, const Value* a, const Args&) {
  size_t begin = 0, end = 0;
  if (!text_range(r, a[0], a[2], a[3], begin, end)) return Value::fail();
  const Value* choices = a[1].is(Type::kTuple) ? a[1].seq->items : &a[1];
  const uint32_t n = a[1].is(Type::kTuple) ? a[1].seq->n : 1;
  bool found = false;
  for (uint32_t i = 0; i < n; ++i) {
    if (!wants_string(r, choices[i], at_end ? "endswith" : "startswith")) return Value::fail();
    if (begin > end) continue;
    const std::string_view view = a[0].str->view().substr(begin, end - begin);
    found = found || (at_end ? view.ends_with(choices[i].str->view()) : view.starts_with(choices[i].str->view()));
    if (found) break;
  }
  return Value::of(found);
}

template <bool at_end>
Value remove_affix(Runtime& r, const Value* a, const Args&) {
  if (!wants_string(r, a[1], at_end ? "removesuffix" : "removeprefix")) return Value::fail();
  const Str &text = *a[0].str, &affix = *a[1].str;
  const bool there = at_end ? text.view().ends_with(affix.view()) : text.view().starts_with(affix.view());
  if (!there) return a[0];
  return at_end ? r.part(text, 0, text.size - affix.size) : r.part(text, affix.size, text.size);
}

Value replace_part(Runtime& r, const Value* a, const Args&) {
  if (!wants_string(r, a[1], "replace") || !wants_string(r, a[2], "replace")) return Value::fail();
  if (!a[3].missing() && !a[3].is_int()) return r.fail({"replace wants an integer as count, not ", type_name(a[3])});
  const Value with = a[0].str->markup ? escape(r, a[2]) : a[2];
  return with.failed() ? with : replace(r, *a[0].str, *a[1].str, *with.str, a[3].missing() ? -1 : clamp_integer(a[3]));
}

template <bool from_right>
Value split_text(Runtime& r, const Value* a, const Args&) {
  const bool words = a[1].missing() || a[1].is_none();
  if (!words && !wants_string(r, a[1], "split")) return Value::fail();
  if (!words && a[1].str->size == 0) return r.fail({"split wants a separator that is not empty"});
  if (!a[2].missing() && !a[2].is_int()) return r.fail({"split wants an integer as maxsplit, not ", type_name(a[2])});
  std::vector<Value> parts;
  if (!split(r, *a[0].str, words ? nullptr : a[1].str, a[2].missing() ? -1 : clamp_integer(a[2]), from_right, parts))
    return Value::fail();
  return r.sequence(Type::kList, parts);
}

Value lines(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> parts;
  if (!split_lines(r, *a[0].str, truth(a[1]), parts)) return Value::fail();
  return r.sequence(Type::kList, parts);
}

template <bool last>
Value partition(Runtime& r, const Value* a, const Args&) {
  if (!wants_string(r, a[1], "partition")) return Value::fail();
  if (a[1].str->size == 0) return r.fail({"partition wants a separator that is not empty"});
  const Str& text = *a[0].str;
  const size_t at = find_text(r, text, *a[1].str, 0, text.size, last);
  const bool none = at == std::string_view::npos;
  const Value empty = r.part(text, 0, 0);
  Value parts[] = {none && last ? empty : r.part(text, 0, none ? text.size : at),
                   none ? empty : r.part(text, at, at + a[1].str->size),
                   none ? (last ? a[0] : empty) : r.part(text, at + a[1].str->size, text.size)};
  return r.problem.code != Problem::Code::kNone ? Value::fail() : r.sequence(Type::kTuple, parts, 3);
}

Value join_parts(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> parts;
  return collect(r, a[1], parts) ? join(r, *a[0].str, parts) : Value::fail();
}

Value expand_tabs(Runtime& r, const Value* a, const Args&) {
  if (!a[1].missing() && !a[1].is_int()) return r.fail({"expandtabs wants an integer, not ", type_name(a[1])});
  const int64_t size = std::min<int64_t>(a[1].missing() ? 8 : clamp_integer(a[1]), 1 << 20);
  Writer out = r.writer();
  int64_t column = 0;
  const Str& text = *a[0].str;
  for (size_t i = 0; i < text.size;) {
    const CodePoint c = code_point_at(text.view(), i);
    if (c.value == '\t') {
      const int64_t spaces = size > 0 ? size - column % size : 0;
      out.put(std::string(static_cast<size_t>(spaces), ' '));
      column += spaces;
    } else {
      out.put_part(text, i, i + c.length);
      column = c.value == '\n' || c.value == '\r' ? 0 : column + 1;
    }
    if (out.over()) break;
    i += c.length;
  }
  return r.string(out, text.markup);
}

Value zero_fill(Runtime& r, const Value* a, const Args&) {
  if (!a[1].is_int()) return r.fail({"zfill wants an integer, not ", type_name(a[1])});
  const Str& text = *a[0].str;
  const int64_t missing = clamp_integer(a[1]) - length_of(a[0]);
  if (missing <= 0) return a[0];
  if (missing > static_cast<int64_t>(r.limits.output_bytes)) return r.limit("it makes a text that is too long");
  const size_t sign = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+') ? 1 : 0;
  Writer out = r.writer();
  out.put_part(text, 0, sign);
  out.put(std::string(static_cast<size_t>(missing), '0'));
  out.put_part(text, sign, text.size);
  return r.string(out, text.markup);
}

Value format_braces(Runtime& r, const Value* a, const Args& args) { return brace_format(r, *a[0].str, args); }

Value format_map(Runtime& r, const Value* a, const Args&) {
  if (!a[1].is(Type::kDict)) return r.fail({"format_map wants a mapping, not ", type_name(a[1])});
  std::vector<Keyword> keywords;
  for (uint32_t i = 0; i < a[1].dict->n; ++i)
    if (a[1].dict->entries[i].key.is(Type::kString))
      keywords.push_back({a[1].dict->entries[i].key.str, a[1].dict->entries[i].value});
  return brace_format(r, *a[0].str, {nullptr, 0, keywords.data(), static_cast<uint32_t>(keywords.size())});
}

Value translate(Runtime& r, const Value* a, const Args&) {
  if (!a[1].is(Type::kDict)) return r.fail({"translate wants a mapping, not ", type_name(a[1])});
  Writer out = r.writer();
  const Str& text = *a[0].str;
  for (size_t i = 0; i < text.size;) {
    const CodePoint c = code_point_at(text.view(), i);
    const Value* image = find(*a[1].dict, Value::of(int64_t{c.value}));
    if (image == nullptr)
      out.put_part(text, i, i + c.length);
    else if (image->is(Type::kString))
      out.put(*image->str);
    else if (image->is_int() && clamp_integer(*image) >= 0 && clamp_integer(*image) < 0x110000)
      out.put_code_point(static_cast<uint32_t>(clamp_integer(*image)), text.is_content(i));
    else if (!image->is_none())
      return r.fail({"translate wants characters, strings or none as values"});
    i += c.length;
  }
  return r.string(out, text.markup);
}

Value make_translation(Runtime& r, const Value* a, const Args&) {
  Dict* dict = r.create<Dict>();
  if (dict == nullptr) return Value::fail();
  const auto code = [](const Value& v) { return Value::of(int64_t{code_point_at(v.str->view(), 0).value}); };
  if (a[2].missing()) {
    if (!a[1].is(Type::kDict)) return r.fail({"maketrans wants a mapping, or two strings"});
    for (uint32_t i = 0; i < a[1].dict->n; ++i) {
      const Entry& entry = a[1].dict->entries[i];
      const bool text = entry.key.is(Type::kString);
      if (text ? length_of(entry.key) != 1 : !entry.key.is_int())
        return r.fail({"keys of maketrans are single characters"});
      if (!insert(r, *dict, text ? code(entry.key) : entry.key, entry.value)) return Value::fail();
    }
    return Value::of(dict);
  }
  for (int i = 1; i <= 2; ++i)
    if (!wants_string(r, a[i], "maketrans")) return Value::fail();
  if (length_of(a[1]) != length_of(a[2])) return r.fail({"maketrans wants two strings of the same length"});
  for (int64_t i = 0; i < length_of(a[1]); ++i) {
    const Value from = element_at(r, a[1], i), to = element_at(r, a[2], i);
    if (from.failed() || to.failed() || !insert(r, *dict, code(from), code(to))) return Value::fail();
  }
  if (a[3].missing()) return Value::of(dict);
  if (!wants_string(r, a[3], "maketrans")) return Value::fail();
  for (int64_t i = 0; i < length_of(a[3]); ++i) {
    const Value gone = element_at(r, a[3], i);
    if (gone.failed() || !insert(r, *dict, code(gone), Value::none())) return Value::fail();
  }
  return Value::of(dict);
}

constexpr Builtin kStrRows[] = {
    {"capitalize", "/", with_case<Casing::kCapitalize>},
    {"casefold", "/", with_case<Casing::kFold>},
    {"lower", "/", with_case<Casing::kLower>},
    {"swapcase", "/", with_case<Casing::kSwap>},
    {"title", "/", with_case<Casing::kTitle>},
    {"upper", "/", with_case<Casing::kUpper>},
    {"center", "/ width fillchar?", pad<Justify::kCenter>},
    {"ljust", "/ width fillchar?", pad<Justify::kLeft>},
    {"rjust", "/ width fillchar?", pad<Justify::kRight>},
    {"zfill", "/ width", zero_fill},
    {"strip", "/ chars?", strip_ends<true, true>},
    {"lstrip", "/ chars?", strip_ends<true, false>},
    {"rstrip", "/ chars?", strip_ends<false, true>},
    {"count", "/ sub start? end?", count},
    {"find", "/ sub start? end?", find_part<false, false>},
    {"rfind", "/ sub start? end?", find_part<true, false>},
    {"index", "/ sub start? end?", find_part<false, true>},
    {"rindex", "/ sub start? end?", find_part<true, true>},
    {"startswith", "/ prefix start? end?", has_affix<false>},
    {"endswith", "/ suffix start? end?", has_affix<true>},
    {"removeprefix", "/ prefix", remove_affix<false>},
    {"removesuffix", "/ suffix", remove_affix<true>},
    {"replace", "/ old new count?", replace_part},
    {"split", "sep? maxsplit?", split_text<false>},
    {"rsplit", "sep? maxsplit?", split_text<true>},
    {"splitlines", "keepends?", lines},
    {"partition", "/ sep", partition<false>},
    {"rpartition", "/ sep", partition<true>},
    {"join", "/ iterable", join_parts},
    {"expandtabs", "tabsize?", expand_tabs},
    {"format", "*", format_braces},
    {"format_map", "/ mapping", format_map},
    {"translate", "/ table", translate},
    {"maketrans", "/ x y? z?", make_translation},
};

}  // namespace

constinit const std::span<const Builtin> kStrMethods = kStrRows;

}  // namespace ggufscope::jinja
