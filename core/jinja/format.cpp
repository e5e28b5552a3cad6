// % of strings, str.format and the format mini-language.
#include <algorithm>
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/decimal.hpp"
#include "jinja/format_spec.hpp"
#include "jinja/runtime.hpp"

namespace ggufscope::jinja {
namespace {

struct Directive {
  bool left = false, plus = false, space = false, zero = false, alternate = false;
  int64_t width = 0, precision = -1;
  char type = 's';
  const Value* value = nullptr;
};

void upper_case(std::string& text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

class Percent {
 public:
  Percent(Runtime& r, const Str& format, const Value& values)
      : r_(r), format_(format), values_(values), out_(r.writer()) {}

  Value run() {
    const std::string_view text = format_.view();
    for (size_t i = 0; i < text.size();) {
      size_t end = text.find('%', i);
      if (end == std::string_view::npos) end = text.size();
      out_.put_part(format_, i, end);
      i = end + 1;
      if (end < text.size() && !directive(text, i)) return Value::fail();
    }
    const bool single = !values_.is(Type::kTuple);
    const bool mapping =
        values_.is(Type::kDict) || values_.is(Type::kList) || values_.is(Type::kRange) || values_.is(Type::kUndefined);
    if (single ? next_ == 0 && !mapping : next_ < values_.seq->n)
      return r_.fail({"not all arguments of the format are used"});
    return r_.string(out_, format_.markup);
  }

 private:
  bool fail(std::initializer_list<Part> parts) {
    r_.fail(parts);
    return false;
  }

  const Value* take() {
    if (!values_.is(Type::kTuple)) return next_++ == 0 ? &values_ : nullptr;
    return next_ < values_.seq->n ? &values_.seq->items[next_++] : nullptr;
  }

  bool mapping_key(std::string_view text, size_t& i, Directive& d) {
    if (!values_.is(Type::kDict)) return fail({"the format needs a mapping"});
    const size_t begin = ++i;
    for (int open = 1; i < text.size(); ++i) {
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (open == 0) break;
    }
    if (i >= text.size()) return fail({"the format has a key without end"});
    d.value = find(*values_.dict, text.substr(begin, i - begin));
    if (d.value == nullptr) return fail({"the format's key ", Quoted{text.substr(begin, i - begin)}, " is not there"});
    next_ = 1;  // a key takes the place of the mapping as the one argument
    ++i;
    return true;
  }

  bool number_or_star(std::string_view text, size_t& i, int64_t& out) {
    if (i < text.size() && text[i] == '*') {
      ++i;
      const Value* value = take();
      if (value == nullptr || !value->is_int()) return fail({"* of a format wants an integer"});
      out = clamp_integer(*value);
    } else {
      for (out = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
        out = std::min<int64_t>(out * 10 + (text[i] - '0'), 1 << 30);
    }
    if (out > static_cast<int64_t>(r_.limits.output_bytes)) r_.limit("it makes a text that is too long");
    return r_.problem.code == Problem::Code::kNone;
  }

  bool directive(std::string_view text, size_t& i) {
    if (i < text.size() && text[i] == '%') {
      out_.put("%");
      ++i;
      return true;
    }
    Directive d;
    if (i < text.size() && text[i] == '(' && !mapping_key(text, i, d)) return false;
    for (; i < text.size() && std::string_view("-+ 0#").find(text[i]) != std::string_view::npos; ++i) {
      const char c = text[i];
      (c == '-' ? d.left : c == '+' ? d.plus : c == ' ' ? d.space : c == '0' ? d.zero : d.alternate) = true;
    }
    if (!number_or_star(text, i, d.width)) return false;
    if (d.width < 0) {
      d.left = true;
      d.width = -d.width;
    }
    if (i < text.size() && text[i] == '.') {
      ++i;
      if (!number_or_star(text, i, d.precision)) return false;
    }
    while (i < text.size() && (text[i] == 'h' || text[i] == 'l' || text[i] == 'L')) ++i;
    if (i >= text.size()) return fail({"the format ends within %"});
    d.type = text[i++];
    if (d.value == nullptr && (d.value = take()) == nullptr) return fail({"the format has too few arguments"});
    return convert(d);
  }

  bool convert(const Directive& d) {
    if (d.type == 's' || d.type == 'r' || d.type == 'a') return convert_text(d);
    if (d.type == 'c') return convert_character(d);
    constexpr std::string_view kNumbers = "diuoxXeEfFgG";
    if (kNumbers.find(d.type) == std::string_view::npos)
      return fail({"the format has the unknown conversion ", Quoted{std::string_view(&d.type, 1)}});
    if (d.value->is(Type::kUndefined)) return r_.undefined_error(*d.value), false;
    if (!d.value->is_number())
      return fail({"%", std::string_view(&d.type, 1), " wants a number, not ", type_name(*d.value)});
    if (std::string_view("eEfFgG").find(d.type) != std::string_view::npos) {
      const double value = number(*d.value);
      if (d.value->is_int() && std::isinf(value)) return fail({"an integer is too large for a float"});
      pad_number(
          d, std::signbit(value) && !std::isnan(value), {},
          format_float(std::fabs(value), d.type,
                       d.precision < 0 ? 6 : static_cast<int>(std::min<int64_t>(d.precision, 1 << 16)), d.alternate));
      return !out_.over() || r_.limit("it makes a text that is too long").is(Type::kNone);
    }
    return convert_integer(d);
  }

  bool convert_integer(const Directive& d) {
    Value value = *d.value;
    const bool decimal = d.type == 'd' || d.type == 'i' || d.type == 'u';
    if (value.is(Type::kFloat)) {
      if (!decimal || !std::isfinite(value.real))
        return fail({"%", std::string_view(&d.type, 1), " wants an integer, not a float"});
      value = r_.integer(integer_of(r_.arena, value.real));
    }
    std::string digits = integer_text(value, decimal ? 10 : d.type == 'o' ? 8 : 16);
    const bool negative = digits.starts_with('-');
    if (negative) digits.erase(0, 1);
    if (static_cast<int64_t>(digits.size()) < d.precision)
      digits.insert(0, static_cast<size_t>(d.precision) - digits.size(), '0');
    std::string prefix = d.alternate && !decimal ? (d.type == 'o' ? "0o" : "0x") : "";
    if (d.type == 'X') {
      upper_case(digits);
      upper_case(prefix);
    }
    pad_number(d, negative, prefix, digits);
    return true;
  }

  void pad_number(const Directive& d, bool negative, const std::string& prefix, const std::string& digits) {
    std::string text = negative ? "-" : d.plus ? "+" : d.space ? " " : "";
    text += prefix;
    const size_t size = text.size() + digits.size();
    const size_t missing = static_cast<size_t>(d.width) > size ? static_cast<size_t>(d.width) - size : 0;
    if (!d.left && !d.zero) text.insert(0, missing, ' ');
    if (!d.left && d.zero) text.append(missing, '0');
    text += digits;
    if (d.left) text.append(missing, ' ');
    out_.put(text);
  }

  bool put_padded(const Directive& d, const Str& text) {
    const size_t size = count_code_points(text.view());
    const std::string space(static_cast<size_t>(d.width) > size ? static_cast<size_t>(d.width) - size : 0, ' ');
    if (!d.left) out_.put(space);
    out_.put(text);
    if (d.left) out_.put(space);
    return true;
  }

  bool convert_text(const Directive& d) {
    Writer made = r_.writer();
    if (!(d.type == 's' ? write_text(r_, *d.value, made) : write_repr(r_, *d.value, made))) return false;
    Value text = r_.string(made, d.value->is(Type::kString) && d.value->str->markup);
    if (!text.failed() && d.type == 'a') text = ascii(text);
    if (!text.failed() && format_.markup) text = escape(r_, text);
    if (text.failed()) return false;
    if (d.precision >= 0) {
      size_t end = 0;
      for (int64_t n = 0; n < d.precision && end < text.str->size; ++n)
        end += code_point_at(text.str->view(), end).length;
      text = r_.part(*text.str, 0, end);
      if (text.failed()) return false;
    }
    return put_padded(d, *text.str);
  }

  Value ascii(const Value& text) { return ascii_only(r_, *text.str); }

  bool convert_character(const Directive& d) {
    Writer made = r_.writer();
    if (d.value->is(Type::kString) && count_code_points(d.value->str->view()) == 1) {
      made.put(*d.value->str);
    } else if (d.value->is_int() && clamp_integer(*d.value) >= 0 && clamp_integer(*d.value) < 0x110000) {
      made.put_code_point(static_cast<uint32_t>(clamp_integer(*d.value)), false);
    } else {
      return fail({"%c wants an integer or one character"});
    }
    const Value text = r_.string(made);
    return !text.failed() && put_padded(d, *text.str);
  }

  Runtime& r_;
  const Str& format_;
  const Value& values_;
  Writer out_;
  uint32_t next_ = 0;
};

}  // namespace

Value ascii_only(Runtime& r, const Str& text) {
  Writer out = r.writer();
  for (size_t i = 0; i < text.size;) {
    const CodePoint c = code_point_at(text.view(), i);
    if (c.value < 0x80) {
      out.put_part(text, i, i + 1);
    } else {
      const bool wide = c.value >= 0x10000;
      const std::string_view prefix = wide ? "\\U" : c.value < 0x100 ? "\\x" : "\\u";
      put_hex(out, prefix, c.value, wide ? 8 : c.value < 0x100 ? 2 : 4, text.is_content(i));
    }
    i += c.length;
  }
  return r.string(out);
}

std::string format_float(double value, char type, int precision, bool alternate) {
  if (!std::isfinite(value)) {
    std::string word = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    if (type == 'E' || type == 'F' || type == 'G') upper_case(word);
    return word;
  }
  return print_float(value, type, precision, alternate);
}

Value percent_format(Runtime& r, const Str& format, const Value& values) { return Percent(r, format, values).run(); }

}  // namespace ggufscope::jinja
