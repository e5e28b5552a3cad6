// str() and repr() of values.
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/decimal.hpp"
#include "jinja/runtime.hpp"

namespace ggufscope::jinja {
namespace {

bool write_items(Runtime& r, const Value* items, size_t n, Writer& out) {
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) out.put(", ");
    if (!write_repr(r, items[i], out)) return false;
  }
  return true;
}

bool write_dict(Runtime& r, const Dict& dict, Writer& out) {
  out.put("{");
  for (uint32_t i = 0; i < dict.n; ++i) {
    if (i > 0) out.put(", ");
    if (!write_repr(r, dict.entries[i].key, out)) return false;
    out.put(": ");
    if (!write_repr(r, dict.entries[i].value, out)) return false;
  }
  out.put("}");
  return true;
}

bool write_view(Runtime& r, const View& view, Writer& out) {
  using Kind = View::Kind;
  out.put(view.kind == Kind::kKeys ? "dict_keys([" : view.kind == Kind::kValues ? "dict_values([" : "dict_items([");
  for (uint32_t i = 0; i < view.dict->n; ++i) {
    if (i > 0) out.put(", ");
    const Entry& entry = view.dict->entries[i];
    if (view.kind == Kind::kItems) out.put("(");
    if (view.kind != Kind::kValues && !write_repr(r, entry.key, out)) return false;
    if (view.kind == Kind::kItems) out.put(", ");
    if (view.kind != Kind::kKeys && !write_repr(r, entry.value, out)) return false;
    if (view.kind == Kind::kItems) out.put(")");
  }
  out.put("])");
  return true;
}

void write_range(const Range& range, Writer& out) {
  out.put("range(");
  out.put(std::to_string(range.start));
  out.put(", ");
  out.put(std::to_string(range.stop));
  if (range.step != 1) {
    out.put(", ");
    out.put(std::to_string(range.step));
  }
  out.put(")");
}

bool write_loop(Runtime& r, Loop& loop, Writer& out) {
  const Value length = loop_length(r, loop);
  if (length.failed()) return false;
  out.put("<LoopContext ");
  out.put(std::to_string(loop.index0 + 1));
  out.put("/");
  out.put(integer_text(length));
  out.put(">");
  return true;
}

bool write_integer(Runtime& r, const Value& value, Writer& out) {
  const std::string text = integer_text(value);
  if (text.size() > kMaxDigits) {
    r.fail({"an integer of more than ", kMaxDigits, " digits cannot be printed"});
    return false;
  }
  out.put(text);
  return true;
}

bool write_seq(Runtime& r, const Value& value, Writer& out) {
  const bool tuple = value.is(Type::kTuple);
  out.put(tuple ? "(" : "[");
  if (!write_items(r, value.seq->items, value.seq->n, out)) return false;
  if (tuple && value.seq->n == 1) out.put(",");
  out.put(tuple ? ")" : "]");
  return true;
}

void write_macro(const Macro& macro, Writer& out) {
  if (macro.node->text == nullptr) return out.put("<Macro anonymous>");
  out.put("<Macro ");
  write_repr(*macro.node->text, out);
  out.put(">");
}

}  // namespace

void put_hex(Writer& out, std::string_view prefix, uint32_t value, uint32_t digits, bool content) {
  std::string text(prefix);
  for (uint32_t i = digits; i-- > 0;) text += "0123456789abcdef"[value >> (4 * i) & 15];
  out.put(text, content);
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const bool negative = std::signbit(value);
  int exponent = 0;
  std::string digits = shortest_digits(std::fabs(value), exponent);
  std::string out = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    const int size = std::abs(exponent);
    out.append(exponent < 0 ? "e-" : "e+").append(size < 10 ? "0" : "").append(std::to_string(size));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    out.append(digits, 0, whole).append(".").append(digits.size() > whole ? digits.substr(whole) : "0");
  }
  return out;
}

void write_repr(const Str& text, Writer& out) {
  const std::string_view view = text.view();
  const char quote = view.find('\'') != view.npos && view.find('"') == view.npos ? '"' : '\'';
  if (text.markup) out.put("Markup(");
  out.put(std::string_view(&quote, 1));
  for (size_t i = 0; i < view.size();) {
    const CodePoint c = code_point_at(view, i);
    const bool content = text.is_content(i);
    const char byte = view[i];
    if (c.value == static_cast<uint8_t>(quote) || c.value == '\\') {
      out.put("\\", content);
      out.put_part(text, i, i + 1);
    } else if (byte == '\n' || byte == '\r' || byte == '\t') {
      out.put(byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t", content);
    } else if (has(c.value, kPrintable)) {
      out.put_part(text, i, i + c.length);
    } else if (c.value < 0x100) {
      put_hex(out, "\\x", c.value, 2, content);
    } else {
      put_hex(out, c.value < 0x10000 ? "\\u" : "\\U", c.value, c.value < 0x10000 ? 4 : 8, content);
    }
    i += c.length;
  }
  out.put(std::string_view(&quote, 1));
  if (text.markup) out.put(")");
}

bool write_repr(Runtime& r, const Value& value, Writer& out) {
  const Nesting nesting(r);
  if (nesting.over() || !r.spend()) return false;
  switch (value.type) {
    case Type::kMissing:
    case Type::kFail:
      return false;
    case Type::kUndefined:
      return out.put("Undefined"), true;
    case Type::kNone:
      return out.put("None"), true;
    case Type::kBool:
      return out.put(value.boolean ? "True" : "False"), true;
    case Type::kInt:
    case Type::kBig:
      return write_integer(r, value, out);
    case Type::kFloat:
      return out.put(float_text(value.real)), true;
    case Type::kString:
      if (!r.spend(value.str->size / 16)) return false;
      return write_repr(*value.str, out), true;
    case Type::kList:
    case Type::kTuple:
      return write_seq(r, value, out);
    case Type::kDict:
      return write_dict(r, *value.dict, out);
    case Type::kView:
      return write_view(r, *value.view, out);
    case Type::kRange:
      return write_range(*value.range, out), true;
    case Type::kIterator:
      return out.put("<generator object>"), true;
    case Type::kNamespace:
      out.put("<Namespace ");
      if (!write_dict(r, *value.dict, out)) return false;
      return out.put(">"), true;
    case Type::kLoop:
      return write_loop(r, *value.loop, out);
    case Type::kMacro:
      return write_macro(*value.macro, out), true;
    case Type::kFunction:
      out.put("<function ");
      out.put(value.function->builtin->name);
      return out.put(">"), true;
    case Type::kCycler:
      return out.put("<jinja2.utils.Cycler object>"), true;
    case Type::kJoiner:
      return out.put("<jinja2.utils.Joiner object>"), true;
    case Type::kBlocks:
      return out.put("<TemplateReference None>"), true;
    case Type::kBlock:
      return out.put("<jinja2.runtime.BlockReference object>"), true;
  }
  return false;
}

bool write_text(Runtime& r, const Value& value, Writer& out) {
  if (value.is(Type::kString)) {
    out.put(*value.str);
    return r.spend(value.str->size / 64);
  }
  return value.is(Type::kUndefined) || write_repr(r, value, out);
}

Value to_text(Runtime& r, const Value& value) {
  if (value.is(Type::kString)) return value;
  Writer out = r.writer();
  return write_text(r, value, out) ? r.string(out) : Value::fail();
}

void write_escaped(const Str& text, Writer& out) {
  for (size_t i = 0; i < text.size; ++i) {
    const char c = text.data[i];
    const char* entity = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '\'' ? "&#39;"
                         : c == '"'  ? "&#34;"
                                     : nullptr;
    if (entity != nullptr)
      out.put(entity, text.is_content(i));
    else
      out.put_part(text, i, i + 1);
  }
}

Value escape(Runtime& r, const Value& value) {
  const Value text = to_text(r, value);
  if (text.failed() || text.str->markup) return text;
  if (!r.spend(text.str->size / 16)) return Value::fail();
  Writer out = r.writer();
  write_escaped(*text.str, out);
  return r.string(out, true);
}

}  // namespace ggufscope::jinja
