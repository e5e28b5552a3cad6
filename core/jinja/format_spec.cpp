// Formats values as str.format and the format filter do.
#include "jinja/format_spec.hpp"

#include <algorithm>
#include <cmath>

#include "jinja/big_int.hpp"

namespace ggufscope::jinja {
namespace {

struct Spec {
  std::string fill = " ";
  bool has_fill = false;
  char align = '\0', sign = '\0', grouping = '\0', type = '\0';
  bool coerce_zero = false, alternate = false, zero = false;
  int64_t width = -1, precision = -1;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

bool parse_number(std::string_view text, size_t& i, int64_t& out) {
  if (i >= text.size() || text[i] < '0' || text[i] > '9') return false;
  for (out = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    out = std::min<int64_t>(out * 10 + (text[i] - '0'), 1 << 30);
  return true;
}

bool parse_spec(Runtime& r, std::string_view text, Spec& spec) {
  size_t i = 0;
  if (!text.empty()) {
    const uint32_t length = code_point_at(text, 0).length;
    if (length < text.size() && is_align(text[length])) {
      spec.fill = text.substr(0, length);
      spec.has_fill = true;
      spec.align = text[length];
      i = length + 1;
    } else if (is_align(text[0])) {
      spec.align = text[i++];
    }
  }
  const auto at = [&](std::string_view any) { return i < text.size() && any.find(text[i]) != any.npos; };
  if (at("+- ")) spec.sign = text[i++];
  if (at("z")) spec.coerce_zero = text[i++] == 'z';
  if (at("#")) spec.alternate = text[i++] == '#';
  if (at("0")) {
    spec.zero = true;
    ++i;
    if (!spec.has_fill) spec.fill = "0";
  }
  parse_number(text, i, spec.width);
  if (at(",_")) spec.grouping = text[i++];
  if (at(".")) {
    ++i;
    if (!parse_number(text, i, spec.precision)) {
      r.fail({"a format has no precision after ."});
      return false;
    }
  }
  if (i < text.size()) spec.type = text[i++];
  const std::string_view groups = spec.grouping == '_' ? "deEfFgG%boxX" : "deEfFgG%";
  const bool groupless = spec.grouping != '\0' && spec.type != '\0' && groups.find(spec.type) == groups.npos;
  if (i < text.size() || groupless) r.fail({"invalid format ", Quoted{text}});
  const auto max = static_cast<int64_t>(r.limits.output_bytes / 8);
  if (spec.width > max || spec.precision > max) r.limit("it makes a text that is too long");
  return r.problem.code == Problem::Code::kNone;
}

Value wrong_type(Runtime& r, const Spec& spec, const Value& value) {
  return r.fail({"the format ", Quoted{std::string_view(&spec.type, 1)}, " does not suit ", type_name(value)});
}

void put_fill(Writer& out, const Spec& spec, size_t n) {
  for (size_t i = 0; i < n; ++i) out.put(spec.fill);
}

Value padded(Runtime& r, const Spec& spec, std::string_view head, const Str& body, char align) {
  Writer out = r.writer();
  const size_t size = count_code_points(body.view()) + head.size();
  const size_t missing = spec.width > static_cast<int64_t>(size) ? static_cast<size_t>(spec.width) - size : 0;
  const size_t before = align == '<' || align == '=' ? 0 : align == '^' ? missing / 2 : missing;
  put_fill(out, spec, before);
  out.put(head);
  if (align == '=') put_fill(out, spec, missing);
  out.put(body);
  if (align != '=') put_fill(out, spec, missing - before);
  return r.string(out);
}

// Inserts separators every few digits. With zero padding, fills up with zeros to the width.
std::string grouped(const std::string& digits, char separator, size_t every, size_t width) {
  std::string reversed;
  size_t n = 0;
  const auto add = [&](char c) {
    if (n > 0 && n % every == 0) reversed += separator;
    reversed += c;
    ++n;
  };
  for (size_t i = digits.size(); i-- > 0;) add(digits[i]);
  while (reversed.size() < width) add('0');
  return {reversed.rbegin(), reversed.rend()};
}

char number_align(const Spec& spec) { return spec.align != '\0' ? spec.align : spec.zero ? '=' : '>'; }

Value finish_number(Runtime& r, const Spec& spec, bool negative, const std::string& prefix, std::string digits,
                    size_t every) {
  std::string head = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
  head += prefix;
  size_t whole = 0;
  while (whole < digits.size() && digit_value(static_cast<uint8_t>(digits[whole])) < 16 &&
         (every == 4 || digits[whole] <= '9'))
    ++whole;
  if (spec.grouping != '\0' && whole > 0) {
    const size_t rest = head.size() + digits.size() - whole;
    const bool zeros = spec.fill == "0" && number_align(spec) == '=';
    const size_t width = zeros && spec.width > static_cast<int64_t>(rest) ? static_cast<size_t>(spec.width) - rest : 0;
    digits = grouped(digits.substr(0, whole), spec.grouping, every, width) + digits.substr(whole);
  }
  const Value body = r.string(digits);
  return body.failed() ? body : padded(r, spec, head, *body.str, number_align(spec));
}

Value format_float_value(Runtime& r, const Spec& spec, double value) {
  std::string digits;
  const double size = std::fabs(value);
  const char type = spec.type;
  if (type == '\0' && spec.precision < 0) {
    digits = float_text(size);
    const size_t e = digits.find('e');
    if (spec.alternate && e != digits.npos && digits.find('.') == digits.npos) digits.insert(e, ".");
  } else if (type == '\0') {
    const int precision = std::max(1, static_cast<int>(spec.precision));
    digits = format_float(size, 'e', precision - 1, spec.alternate);
    const size_t e = digits.find('e');
    // Like "g", but with at least one digit after the point, and with an exponent one digit earlier.
    if (e != digits.npos && std::atoi(digits.c_str() + e + 1) == precision - 1) {
      std::string mantissa = digits.substr(0, e);
      if (!spec.alternate && mantissa.find('.') != mantissa.npos) mantissa.erase(mantissa.find_last_not_of('0') + 1);
      if (!spec.alternate && mantissa.ends_with('.')) mantissa.pop_back();
      digits = mantissa + digits.substr(e);
    } else {
      digits = format_float(size, 'g', precision, spec.alternate);
      if (digits.find_first_of(".en") == digits.npos) digits += ".0";
    }
  } else {
    const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
    digits = format_float(type == '%' ? size * 100 : size,
                          type == '%'   ? 'f'
                          : type == 'n' ? 'g'
                                        : type,
                          precision, spec.alternate);
    if (type == '%') digits += '%';
  }
  const bool zero = digits.find_first_of("123456789in") == digits.npos;
  const bool negative = std::signbit(value) && !std::isnan(value) && !(spec.coerce_zero && zero);
  return finish_number(r, spec, negative, {}, digits, 3);
}

Value format_integer(Runtime& r, const Spec& spec, const Value& value) {
  if (spec.precision >= 0 || spec.coerce_zero)
    return r.fail({"a format of integers has no ", spec.coerce_zero ? "z" : "precision"});
  if (spec.type == 'c') {
    if (spec.sign != '\0' || spec.alternate) return wrong_type(r, spec, value);
    const int64_t code = clamp_integer(value);
    if (code < 0 || code >= 0x110000) return r.fail({"there is no such character"});
    Writer out = r.writer();
    out.put_code_point(static_cast<uint32_t>(code), false);
    const Value text = r.string(out);
    return text.failed() ? text : padded(r, spec, {}, *text.str, number_align(spec));
  }
  const char type = spec.type;
  const uint32_t base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
  std::string digits = integer_text(value, base);
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  std::string prefix = !spec.alternate || base == 10 ? ""
                       : base == 2                   ? "0b"
                       : base == 8                   ? "0o"
                       : type == 'X'                 ? "0X"
                                                     : "0x";
  if (type == 'X')
    for (char& c : digits) c = c >= 'a' ? static_cast<char>(c - 32) : c;
  return finish_number(r, spec, negative, prefix, digits, base == 10 ? 3 : 4);
}

Value format_text(Runtime& r, const Spec& spec, const Value& value) {
  const bool plain = spec.sign == '\0' && !spec.coerce_zero && !spec.alternate && spec.grouping == '\0';
  if (!plain || spec.align == '=' || (spec.type != '\0' && spec.type != 's')) return wrong_type(r, spec, value);
  Value text = value;
  if (spec.precision >= 0) {
    size_t end = 0;
    for (int64_t n = 0; n < spec.precision && end < text.str->size; ++n)
      end += code_point_at(text.str->view(), end).length;
    text = r.part(*text.str, 0, end);
    if (text.failed()) return text;
  }
  return padded(r, spec, {}, *text.str, spec.align == '\0' ? '<' : spec.align);
}

}  // namespace

Value format_value(Runtime& r, const Value& value, const Str& spec_text) {
  if (spec_text.size == 0) return to_text(r, value);
  Spec spec;
  if (!parse_spec(r, spec_text.view(), spec)) return Value::fail();
  if (value.is(Type::kString)) return format_text(r, spec, value);
  if (!value.is_number()) return r.fail({"a format does not suit ", type_name(value)});
  const std::string_view type(&spec.type, spec.type == '\0' ? 0 : 1);
  constexpr std::string_view kFloats = "eEfFgG%", kIntegers = "dboxXnc";
  if (value.is_int() && (type.empty() || kIntegers.find(spec.type) != kIntegers.npos))
    return format_integer(r, spec, value);
  if (!type.empty() && spec.type != 'n' && kFloats.find(spec.type) == kFloats.npos) return wrong_type(r, spec, value);
  const double real = number(value);
  if (value.is_int() && std::isinf(real)) return r.fail({"an integer is too large for a float"});
  return format_float_value(r, spec, real);
}

namespace {

// Iterates over replacement fields, like Python's string.Formatter.
class Braces {
 public:
  Braces(Runtime& r, const Args& args) : r_(r), args_(args) {}

  bool run(const Str& format, Writer& out, int depth) {
    if (depth < 0) return fail("a format nests too deep");
    const std::string_view text = format.view();
    for (size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c != '{' && c != '}') {
        size_t end = text.find_first_of("{}", i);
        if (end == text.npos) end = text.size();
        out.put_part(format, i, end);
        i = end;
      } else if (i + 1 < text.size() && text[i + 1] == c) {
        out.put_part(format, i, i + 1);
        i += 2;
      } else if (c == '}') {
        return fail("a format has a single }");
      } else if (!field(format, i, out, depth)) {
        return false;
      }
    }
    return true;
  }

 private:
  bool fail(std::string_view what) {
    r_.fail({what});
    return false;
  }

  bool field(const Str& format, size_t& i, Writer& out, int depth) {
    const std::string_view text = format.view();
    const size_t begin = ++i;
    size_t end = begin, open = 1;
    for (bool bracket = false; end < text.size(); ++end) {
      const char c = text[end];
      if (c == '[') bracket = true;
      if (c == ']') bracket = false;
      if (bracket) continue;
      if (c == '{') ++open;
      if (c == '}' && --open == 0) break;
    }
    if (end >= text.size()) return fail("a format has a { without }");
    i = end + 1;
    size_t name_end = begin;
    for (bool bracket = false; name_end < end; ++name_end) {
      const char c = text[name_end];
      if (c == '[') bracket = true;
      if (c == ']') bracket = false;
      if (!bracket && (c == ':' || c == '!')) break;
      if (!bracket && c == '{') return fail("a format has an unexpected {");
    }
    Value value = look_up(text.substr(begin, name_end - begin));
    if (value.failed()) return false;
    size_t spec_begin = name_end;
    if (spec_begin < end && text[spec_begin] == '!') {
      const char conversion = spec_begin + 1 < end ? text[spec_begin + 1] : '\0';
      spec_begin += 2;
      if (spec_begin < end && text[spec_begin] != ':') return fail("a format expects : after the conversion");
      value = converted(value, conversion);
      if (value.failed()) return false;
    }
    Writer spec = r_.writer();
    if (spec_begin < end) {
      const Value inner = r_.part(format, spec_begin + 1, end);
      if (inner.failed() || !run(*inner.str, spec, depth - 1)) return false;
    }
    const Value spec_text = r_.string(spec);
    if (spec_text.failed()) return false;
    const Value formatted = format_value(r_, value, *spec_text.str);
    if (formatted.failed()) return false;
    out.put(*formatted.str);
    return true;
  }

  Value converted(const Value& value, char conversion) {
    if (conversion == 's') return to_text(r_, value);
    if (conversion != 'r' && conversion != 'a') return fail("a format has an unknown conversion"), Value::fail();
    Writer out = r_.writer();
    if (!write_repr(r_, value, out)) return Value::fail();
    const Value text = r_.string(out);
    return text.failed() || conversion == 'r' ? text : ascii_only(r_, *text.str);
  }

  static bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos && text.size() < 10;
  }

  Value first(std::string_view name, bool whole) {
    if (name.empty() || all_digits(name)) {
      if (whole) {  // Python checks only {} and {0}, neither {.name} nor {0.name}
        if ((name.empty() ? numbered_ : automatic_)) return fail("a format mixes {} and {0}"), Value::fail();
        (name.empty() ? automatic_ : numbered_) = true;
      }
      const uint32_t index = name.empty() ? next_++ : static_cast<uint32_t>(std::atoi(std::string(name).c_str()));
      return index < args_.n ? args_.positional[index] : r_.fail({"the format has too few arguments"});
    }
    for (uint32_t i = 0; i < args_.n_keywords; ++i)
      if (args_.keywords[i].name->view() == name) return args_.keywords[i].value;
    return r_.fail({"the format's key ", Quoted{name}, " is not there"});
  }

  Value look_up(std::string_view name) {
    size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, end), end == name.size());
    while (!value.failed() && end < name.size()) {
      if (name[end] == '.') {
        const size_t begin = end + 1;
        end = std::min(name.find_first_of(".[", begin), name.size());
        if (begin == end) return fail("a format has an empty attribute"), Value::fail();
        const Value key = r_.string(name.substr(begin, end - begin));
        value = key.failed() ? key : get_attribute(r_, value, *key.str);
      } else if (name[end] == '[') {
        const size_t begin = end + 1;
        const size_t close = name.find(']', begin);
        if (close == name.npos || close == begin) return fail("a format has a [ without ]"), Value::fail();
        const std::string_view key = name.substr(begin, close - begin);
        end = close + 1;
        const Value index = all_digits(key) ? Value::of(int64_t{std::atoi(std::string(key).c_str())}) : r_.string(key);
        value = index.failed() ? index : get_item(r_, value, index);
      } else {
        return fail("a format expects . or [ after ]"), Value::fail();
      }
    }
    return value;
  }

  Runtime& r_;
  const Args& args_;
  uint32_t next_ = 0;
  bool automatic_ = false, numbered_ = false;
};

}  // namespace

Value brace_format(Runtime& r, const Str& format, const Args& args) {
  Writer out = r.writer();
  return Braces(r, args).run(format, out, 2) ? r.string(out, format.markup) : Value::fail();
}

}  // namespace ggufscope::jinja
