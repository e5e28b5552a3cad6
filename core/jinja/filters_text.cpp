// Filters that give texts.
#include <algorithm>

#include "jinja/big_int.hpp"
#include "jinja/json.hpp"
#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

template <Casing casing>
Value recase(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  return text.failed() ? text : change_case(r, *text.str, casing);
}

bool is_word_edge(uint32_t c) { return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || has(c, kSpace); }

Value title(Runtime& r, const Value* a, const Args&) {
  const Value whole = to_text(r, a[0]);
  if (whole.failed()) return whole;
  const Str& text = *whole.str;
  Writer out = r.writer();
  for (size_t begin = 0; begin < text.size;) {
    const CodePoint first = code_point_at(text.view(), begin);
    const bool edge = is_word_edge(first.value);
    size_t end = begin;
    while (end < text.size) {
      const CodePoint c = code_point_at(text.view(), end);
      if (is_word_edge(c.value) != edge) break;
      end += c.length;
    }
    const Value head = r.part(text, begin, begin + first.length), tail = r.part(text, begin + first.length, end);
    if (tail.failed()) return tail;
    const Value upper = change_case(r, *head.str, Casing::kUpper), lower = change_case(r, *tail.str, Casing::kLower);
    if (upper.failed() || lower.failed()) return Value::fail();
    out.put(*upper.str);
    out.put(*lower.str);
    begin = end;
  }
  return r.string(out);
}

Value center(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  return text.failed()
             ? text
             : justify(r, *text.str, a[1].missing() ? Value::of(int64_t{80}) : a[1], Value(), Justify::kCenter);
}

Value trim(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  return text.failed() ? text : strip(r, *text.str, a[1], true, true);
}

Value as_string(Runtime& r, const Value* a, const Args&) { return to_text(r, a[0]); }

Value use_default(Runtime& r, const Value* a, const Args&) {
  const bool replace = a[0].is(Type::kUndefined) || (truth(a[2]) && !truth(a[0]));
  return !replace ? a[0] : a[1].missing() ? r.string({}) : a[1];
}

Value replace_text(Runtime& r, const Value* a, const Args&) {
  Value texts[3];
  for (int i = 0; i < 3; ++i) {
    texts[i] = to_text(r, a[i]);
    if (texts[i].failed()) return texts[i];
  }
  const bool none = a[3].missing() || a[3].is_none();
  if (!none && !a[3].is_int()) return r.fail({"replace wants an integer as count, not ", type_name(a[3])});
  const bool markup = r.autoescape && (texts[0].str->markup || texts[1].str->markup || texts[2].str->markup);
  if (markup) {
    texts[0] = texts[0].str->markup || !(texts[1].str->markup || texts[2].str->markup) ? texts[0] : escape(r, texts[0]);
    texts[2] = escape(r, texts[2]);
    if (texts[0].failed() || texts[2].failed()) return Value::fail();
  }
  const Value out = replace(r, *texts[0].str, *texts[1].str, *texts[2].str, none ? -1 : clamp_integer(a[3]));
  return markup || out.failed() || !out.str->markup ? out : plain(r, out);
}

Value join_values(Runtime& r, const Value* a, const Args&) {
  std::vector<Value> parts;
  const Value separator = a[1].missing() ? r.string({}) : to_text(r, a[1]);
  if (separator.failed() || !collect(r, a[0], parts)) return Value::fail();
  bool markup = r.autoescape && separator.str->markup;
  for (Value& part : parts) {
    part = get_path(r, part, a[2], Value());
    if (!part.failed()) part = to_text(r, part);
    if (part.failed()) return part;
    markup = markup || (r.autoescape && part.str->markup);
  }
  Value between = markup ? escape(r, separator) : plain(r, separator);
  return between.failed() ? between : join(r, *between.str, parts);
}

Value format(Runtime& r, const Value* a, const Args& args) {
  if (args.n > 0 && args.n_keywords > 0) return r.fail({"format takes arguments by position or by name, not both"});
  const Value text = to_text(r, a[0]);
  if (text.failed()) return text;
  if (args.n_keywords == 0) {
    const Value values = r.sequence(Type::kTuple, args.positional, args.n);
    return values.failed() ? values : percent_format(r, *text.str, values);
  }
  Dict* dict = r.create<Dict>();
  for (uint32_t i = 0; dict != nullptr && i < args.n_keywords; ++i)
    if (!insert(r, *dict, Value::of(args.keywords[i].name), args.keywords[i].value)) return Value::fail();
  return dict == nullptr ? Value::fail() : percent_format(r, *text.str, Value::of(dict));
}

Value indent(Runtime& r, const Value* a, const Args&) {
  if (a[0].is(Type::kUndefined)) return r.undefined_error(a[0]);
  if (!a[0].is(Type::kString)) return r.fail({"indent wants a string, not ", type_name(a[0])});
  Value margin = a[1];
  if (!margin.is(Type::kString)) {
    if (!margin.missing() && !margin.is_int())
      return r.fail({"indent wants an integer or a string as width, not ", type_name(margin)});
    margin = justify(r, {}, margin.missing() ? Value::of(int64_t{4}) : margin, Value(), Justify::kLeft);
    if (margin.failed()) return margin;
  }
  std::vector<Value> lines;
  const Str& text = *a[0].str;
  if (!split_lines(r, text, false, lines)) return Value::fail();
  // If the text ends with a newline, an empty last line follows.
  if (ends_line(text.view())) lines.push_back(r.string({}));
  if (r.problem.code != Problem::Code::kNone) return Value::fail();
  Writer out = r.writer();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.put("\n");
    const bool indents = i == 0 ? truth(a[2]) : truth(a[3]) || lines[i].str->size > 0;
    if (indents) out.put(*margin.str);
    out.put(*lines[i].str);
  }
  return r.string(out, text.markup);
}

Value truncate(Runtime& r, const Value* a, const Args&) {
  const Value end = a[3].missing() ? r.string("...") : a[3];
  const Value length = a[1].missing() ? Value::of(int64_t{255}) : a[1];
  const Value leeway = a[4].missing() || a[4].is_none() ? Value::of(int64_t{5}) : a[4];
  if (end.failed()) return end;
  if (!end.is(Type::kString) || !length.is_int() || !leeway.is_int())
    return r.fail({"truncate wants integers, and a string as end"});
  const int64_t max = clamp_integer(length), keep = max - length_of(end);
  if (keep < 0) return r.fail({"truncate wants a length of at least ", length_of(end)});
  if (is_negative(leeway)) return r.fail({"truncate wants a leeway that is not negative"});
  const Value size = length_value(r, a[0]);
  if (size.failed()) return size;
  if (size.integer <= max + std::min<int64_t>(clamp_integer(leeway), INT32_MAX)) return a[0];
  if (!a[0].is(Type::kString)) return r.fail({"truncate wants a string, not ", type_name(a[0])});
  size_t cut = byte_of(*a[0].str, keep);
  if (!truth(a[2])) {
    const size_t space = a[0].str->view().substr(0, cut).rfind(' ');
    if (space != std::string_view::npos) cut = space;
  }
  const Value head = r.part(*a[0].str, 0, cut);
  return head.failed() ? head : binary(r, Op::kAdd, head, end);
}

Value word_count(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  if (text.failed()) return text;
  int64_t words = 0;
  bool within = false;
  for (size_t i = 0; i < text.str->size;) {
    const CodePoint c = code_point_at(text.str->view(), i);
    const bool word = c.value == '_' || has(c.value, kAlnum);
    words += word && !within;
    within = word;
    i += c.length;
  }
  return Value::of(words);
}

Value attribute(Runtime& r, const Value* a, const Args&) {
  if (!a[1].is(Type::kString)) return r.fail({"attr wants a name, not ", type_name(a[1])});
  return get_attribute_only(r, a[0], *a[1].str);
}

Value to_json(Runtime& r, const Value* a, const Args&) {
  JsonStyle style;
  style.ascii = truth(a[1]);
  style.sort_keys = truth(a[4]);
  const Value &indent = a[2], &separators = a[3];
  if (!indent.missing() && !indent.is_none()) {
    style.indents = true;
    if (indent.is(Type::kString)) {
      style.indent = indent.str->view();
    } else {
      if (!indent.is_int()) return r.fail({"tojson wants an integer or a string as indent, not ", type_name(indent)});
      const int64_t width = clamp_integer(indent);
      if (width > 1000) return r.limit("tojson indents by more than 1000 blanks");
      style.indent.assign(width > 0 ? static_cast<size_t>(width) : 0, ' ');
    }
    style.item_separator = ",";
  }
  if (!separators.missing() && !separators.is_none()) {
    std::vector<Value> pair;
    if (!collect(r, separators, pair)) return Value::fail();
    if (pair.size() != 2 || !pair[0].is(Type::kString) || !pair[1].is(Type::kString))
      return r.fail({"tojson wants two strings as separators"});
    style.item_separator = pair[0].str->view();
    style.key_separator = pair[1].str->view();
  }
  Writer out = r.writer();
  return write_json(r, a[0], style, out) ? r.string(out) : Value::fail();
}

constexpr Builtin kTextFilterRows[] = {
    {"attr", "name", attribute},
    {"capitalize", "", recase<Casing::kCapitalize>},
    {"center", "width?", center},
    {"d", "default_value? boolean?", use_default},
    {"default", "default_value? boolean?", use_default},
    {"format", "*", format},
    {"indent", "width? first? blank?", indent},
    {"join", "d? attribute?", join_values},
    {"lower", "", recase<Casing::kLower>},
    {"replace", "old new count?", replace_text},
    {"string", "", as_string},
    {"title", "", title},
    {"tojson", "ensure_ascii? indent? separators? sort_keys?", to_json},
    {"trim", "chars?", trim},
    {"truncate", "length? killwords? end? leeway?", truncate},
    {"upper", "", recase<Casing::kUpper>},
    {"wordcount", "", word_count},
};

}  // namespace

constinit const std::span<const Builtin> kTextFilters = kTextFilterRows;

}  // namespace ggufscope::jinja
