// Python's arithmetic operators, and int() and float().
#include <algorithm>
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/decimal.hpp"
#include "jinja/runtime.hpp"

namespace ggufscope::jinja {
namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

Value unsupported(Runtime& r, Op op, const Value& a, const Value& b) {
  if (a.is(Type::kUndefined)) return r.undefined_error(a);
  if (b.is(Type::kUndefined)) return r.undefined_error(b);
  return r.fail(
      {"unsupported operands of ", kSymbols[static_cast<size_t>(op)], ": ", type_name(a), " and ", type_name(b)});
}

// Converts a number to a float. An integer that is too large is an error.
bool to_float(Runtime& r, const Value& value, double& out) {
  out = number(value);
  if (!value.is_int() || !std::isinf(out)) return true;
  r.fail({"an integer is too large for a float"});
  return false;
}

Value power_of_integers(Runtime& r, Value base, const Value& exponent) {
  const int64_t n = clamp_integer(exponent);
  Value result = Value::of(int64_t{1});
  const uint32_t bits = bit_length(base);
  if (bits > 1 && n > static_cast<int64_t>(kMaxBits)) return r.limit("a number has too many digits");
  for (int64_t rest = bits <= 1 ? std::min<int64_t>(n, 2 + (n & 1)) : n; rest != 0;) {
    if (!r.spend(1 + bit_length(base) / 8)) return Value::fail();
    if ((rest & 1) != 0) result = multiply_integers(r.arena, result, base);
    rest >>= 1;
    if (rest != 0) base = multiply_integers(r.arena, base, base);
    if (result.failed() || base.failed()) return r.integer(Value::fail());
  }
  return result;
}

Value power(Runtime& r, const Value& a, const Value& b) {
  if (a.is_int() && b.is_int() && !is_negative(b)) return power_of_integers(r, a, b);
  double x = 0, y = 0;
  if (!to_float(r, a, x) || !to_float(r, b, y)) return Value::fail();
  if (x == 0 && y < 0) return r.fail({"0 cannot be raised to a negative power"});
  if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y))
    return r.fail({"complex numbers are not supported"});
  const double result = std::pow(x, y);
  if (std::isinf(result) && std::isfinite(x) && std::isfinite(y)) return r.fail({"the result of ** is too large"});
  return Value::of(result);
}

Value divide(Runtime& r, Op op, const Value& a, const Value& b) {
  const bool zero = b.is_int() ? is_zero(b) : b.real == 0;
  if (zero) return r.fail({"division by zero"});
  if (a.is_int() && b.is_int()) {
    if (a.is(Type::kBig) || b.is(Type::kBig))
      if (!r.spend(uint64_t{bit_length(a)} * bit_length(b) / 256)) return Value::fail();
    if (op == Op::kDiv) {
      const double ratio = ratio_of_integers(r.arena, a, b);
      return std::isinf(ratio) ? r.fail({"the result of / is too large for a float"}) : Value::of(ratio);
    }
    const Quotient both = divide_integers(r.arena, a, b);
    return r.integer(op == Op::kMod ? both.remainder : both.quotient);
  }
  double x = 0, y = 0;
  if (!to_float(r, a, x) || !to_float(r, b, y)) return Value::fail();
  if (op == Op::kDiv) return Value::of(x / y);
  double rest = std::fmod(x, y);
  double quotient = (x - rest) / y;
  if (rest != 0) {
    if ((y < 0) != (rest < 0)) {
      rest += y;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, y);
  }
  if (op == Op::kMod) return Value::of(rest);
  if (quotient == 0) return Value::of(std::copysign(0.0, x / y));
  const double whole = std::floor(quotient);
  return Value::of(quotient - whole > 0.5 ? whole + 1 : whole);
}

Value numbers(Runtime& r, Op op, const Value& a, const Value& b) {
  if (op == Op::kPow) return power(r, a, b);
  if (op == Op::kDiv || op == Op::kFloorDiv || op == Op::kMod) return divide(r, op, a, b);
  if (a.is_int() && b.is_int()) {
    if (op == Op::kAdd) return r.integer(add_integers(r.arena, a, b));
    if (op == Op::kSub) return r.integer(subtract_integers(r.arena, a, b));
    if (!r.spend(a.is(Type::kBig) && b.is(Type::kBig) ? uint64_t{a.big->n} * b.big->n / 16 : 1)) return Value::fail();
    return r.integer(multiply_integers(r.arena, a, b));
  }
  double x = 0, y = 0;
  if (!to_float(r, a, x) || !to_float(r, b, y)) return Value::fail();
  return Value::of(op == Op::kAdd ? x + y : op == Op::kSub ? x - y : x * y);
}

Value concatenate(Runtime& r, Value a, Value b) {
  const bool markup = a.str->markup || b.str->markup;
  if (markup) {
    a = escape(r, a);
    b = escape(r, b);
    if (a.failed() || b.failed()) return Value::fail();
  }
  Writer out = r.writer();
  out.put(*a.str);
  out.put(*b.str);
  return r.string(out, markup);
}

Value join_sequences(Runtime& r, const Value& a, const Value& b) {
  std::vector<Value> items(a.seq->items, a.seq->items + a.seq->n);
  items.insert(items.end(), b.seq->items, b.seq->items + b.seq->n);
  return r.sequence(a.type, items);
}

Value repeat(Runtime& r, const Value& what, const Value& times) {
  const int64_t n = std::max<int64_t>(clamp_integer(times), 0);
  const size_t size = what.is(Type::kString) ? what.str->size : what.seq->n;
  if (size == 0 || n == 0)
    return what.is(Type::kString) ? r.string({}, false, what.str->markup) : r.sequence(what.type, nullptr, 0);
  if (static_cast<uint64_t>(n) > r.limits.output_bytes / size) return r.limit("it makes a text that is too long");
  if (!r.spend((static_cast<uint64_t>(n) + static_cast<uint64_t>(n) * size / 8) / 2)) return Value::fail();
  if (what.is(Type::kString)) {
    Writer out = r.writer();
    for (int64_t i = 0; i < n; ++i) out.put(*what.str);
    return r.string(out, what.str->markup);
  }
  std::vector<Value> items;
  for (int64_t i = 0; i < n; ++i) items.insert(items.end(), what.seq->items, what.seq->items + size);
  return r.sequence(what.type, items);
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && has(code_point_at(text, 0).value, kSpace)) text.remove_prefix(code_point_at(text, 0).length);
  while (!text.empty() && has(code_point_before(text, text.size()).value, kSpace))
    text.remove_suffix(code_point_before(text, text.size()).length);
  return text;
}

// Removes underscores, which may only separate digits. Returns false if they do not.
bool without_underscores(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool between = i > 0 && i + 1 < text.size() && digit_value(static_cast<uint8_t>(text[i - 1])) < 36 &&
                         digit_value(static_cast<uint8_t>(text[i + 1])) < 36;
    if (!between) return false;
  }
  return true;
}

// The text of a number without white space around it, with decimal digits of any script as ASCII.
std::string ascii_number(std::string_view text) {
  text = stripped(text);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    if (c.value < 128 || !has(c.value, kDecimal)) {
      out += text.substr(i, c.length);
    } else {
      uint32_t before = 0;  // Unicode has the ten digits of a script in a row, and such rows directly one after another
      while (has(c.value - before - 1, kDecimal)) ++before;
      out += static_cast<char>('0' + before % 10);
    }
    i += c.length;
  }
  return out;
}

}  // namespace

double number(const Value& value) { return value.is(Type::kFloat) ? value.real : integer_to_double(value); }

int64_t clamp_integer(const Value& value) {
  if (value.is(Type::kBig)) return value.big->negative ? INT64_MIN : INT64_MAX;
  return value.is(Type::kBool) ? (value.boolean ? 1 : 0) : value.integer;
}

Value binary(Runtime& r, Op op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return numbers(r, op, a, b);
  if (op == Op::kMod && a.is(Type::kString)) return percent_format(r, *a.str, b);
  if (op == Op::kAdd && a.is(Type::kString) && b.is(Type::kString)) return concatenate(r, a, b);
  if (op == Op::kAdd && a.is_seq() && a.type == b.type) return join_sequences(r, a, b);
  const auto repeats = [](const Value& v) { return v.is(Type::kString) || v.is_seq(); };
  if (op == Op::kMul && repeats(a) && b.is_int()) return repeat(r, a, b);
  if (op == Op::kMul && repeats(b) && a.is_int()) return repeat(r, b, a);
  return unsupported(r, op, a, b);
}

Value negate(Runtime& r, const Value& a, bool minus) {
  if (a.is(Type::kUndefined)) return r.undefined_error(a);
  if (!a.is_number()) return r.fail({"unsupported operand of ", minus ? "-" : "+", ": ", type_name(a)});
  if (a.is(Type::kFloat)) return minus ? Value::of(-a.real) : a;
  const Value zero = Value::of(int64_t{0});
  return r.integer(minus ? subtract_integers(r.arena, zero, a) : add_integers(r.arena, zero, a));
}

Value parse_python_integer(Runtime& r, std::string_view source, uint32_t base) {
  const std::string ascii = ascii_number(source);
  std::string_view text = ascii;
  bool negative = false;
  if (text.starts_with('-') || text.starts_with('+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const uint32_t asked = base;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 32);
    const uint32_t named = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (named != 0 && (base == 0 || base == named)) {
      base = named;
      text.remove_prefix(2);
      if (text.starts_with('_')) text.remove_prefix(1);
    }
  }
  if (base == 0) base = 10;
  std::string digits;
  if (text.empty() || !without_underscores(text, digits)) return {};
  for (const char c : digits)
    if (digit_value(static_cast<uint8_t>(c)) >= base) return {};
  // Python rejects "010" without a base, because other languages read it as octal.
  if (asked == 0 && base == 10 && digits[0] == '0' && digits.find_first_not_of('0') != digits.npos) return {};
  if ((base & (base - 1)) != 0 && digits.size() > kMaxDigits) return {};
  if (!r.spend(digits.size() * digits.size() / 512)) return Value::fail();
  return r.integer(parse_integer(r.arena, digits, base, negative));
}

bool parse_python_float(std::string_view source, double& out) {
  const std::string text = ascii_number(source);
  std::string plain;
  if (text.empty() || !without_underscores(text, plain)) return false;
  size_t i = plain[0] == '-' || plain[0] == '+' ? 1 : 0;
  std::string word = plain.substr(i);
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (word == "inf" || word == "infinity" || word == "nan") {
    out = word == "nan" ? std::nan("") : plain[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return true;
  }
  const auto digits = [&] {
    const size_t begin = i;
    while (i < plain.size() && plain[i] >= '0' && plain[i] <= '9') ++i;
    return i - begin;
  };
  size_t n = digits();
  if (i < plain.size() && plain[i] == '.') {
    ++i;
    n += digits();
  }
  if (n == 0) return false;
  if (i < plain.size() && (plain[i] == 'e' || plain[i] == 'E')) {
    ++i;
    if (i < plain.size() && (plain[i] == '-' || plain[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  out = parse_float(plain);
  return i == plain.size();
}

Value round_half_even(Runtime& r, const Value& value, int64_t digits) {
  if (value.is_int()) {
    if (digits >= 0) return value.is(Type::kBool) ? Value::of(clamp_integer(value)) : value;
    const Value unit = power_of_integers(r, Value::of(int64_t{10}), Value::of(-digits));
    if (unit.failed()) return unit;
    const Quotient both = divide_integers(r.arena, value, unit);
    const Value twice = add_integers(r.arena, both.remainder, both.remainder);
    const int order = compare_integers(twice, unit);
    const bool odd = !is_zero(divide_integers(r.arena, both.quotient, Value::of(int64_t{2})).remainder);
    const bool up = order > 0 || (order == 0 && odd);
    const Value quotient = up ? add_integers(r.arena, both.quotient, Value::of(int64_t{1})) : both.quotient;
    return r.integer(multiply_integers(r.arena, quotient, unit));
  }
  const double x = value.real;
  if (!std::isfinite(x) || digits > 322) return value;
  if (digits < -308) return Value::of(std::copysign(0.0, x));
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    return Value::of(std::nearbyint(x / unit) * unit);
  }
  return Value::of(parse_float(print_float(x, 'f', static_cast<int>(digits))));
}

}  // namespace ggufscope::jinja
