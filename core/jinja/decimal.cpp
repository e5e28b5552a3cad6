// Converts between floats and decimal digits, exactly.
#include "jinja/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "jinja/limbs.hpp"

namespace ggufscope::jinja {
namespace {

// A double has at most 767 significant digits. Further digits only decide whether a value is above or below a tie.
constexpr size_t kMaxSignificant = 800;
constexpr int kMaxExponent = 100000;

/// digits[0].digits[1]... * 10^exponent, exactly. Of 0: "0", 0.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

void multiply_by_power(Limbs& x, uint32_t base, int n) {
  for (int i = 0; i < n; ++i) multiply_small(x, base, 0);
}

/// The exact decimal expansion of a finite value that is not negative.
Decimal exact(double value) {
  if (value == 0) return {"0", 0};
  int exponent = 0;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  Limbs x;
  x.m = {static_cast<uint32_t>(mantissa), static_cast<uint32_t>(mantissa >> 32)};
  trim(x);
  // m / 2^n = m * 5^n / 10^n
  if (exponent < 0)
    multiply_by_power(x, 5, -exponent);
  else
    x = shift_left(std::move(x), static_cast<size_t>(exponent));
  Decimal out;
  while (!x.m.empty()) {
    uint32_t group = divide_small(x, 1000000000);
    for (int i = 0; i < 9; ++i, group /= 10) out.digits += static_cast<char>('0' + group % 10);
  }
  while (out.digits.back() == '0') out.digits.pop_back();
  std::reverse(out.digits.begin(), out.digits.end());
  out.exponent = static_cast<int>(out.digits.size()) - 1 + std::min(exponent, 0);
  return out;
}

/// Rounds to n significant digits, ties to even; n may be 0 or negative. Missing digits are filled with zeros.
void round_to(Decimal& d, int n) {
  if (n < 0) {
    d = {"0", d.exponent - n};
    return;
  }
  const auto keep = static_cast<size_t>(n);
  if (d.digits.size() <= keep) return d.digits.append(keep - d.digits.size(), '0'), void();
  const char next = d.digits[keep];
  const bool more = d.digits.find_first_not_of('0', keep + 1) != d.digits.npos;
  const bool odd = keep > 0 && (d.digits[keep - 1] & 1) != 0;
  d.digits.resize(keep);
  if (next < '5' || (next == '5' && !more && !odd)) return;
  size_t i = keep;
  while (i > 0 && d.digits[i - 1] == '9') d.digits[--i] = '0';
  if (i > 0) {
    ++d.digits[i - 1];
  } else {
    d.digits.insert(0, "1");
    ++d.exponent;
  }
}

std::string with_exponent(Decimal d, int precision, bool upper, bool point) {
  round_to(d, precision + 1);
  d.digits.resize(static_cast<size_t>(precision) + 1, '0');
  std::string out = d.digits.substr(0, 1);
  if (precision > 0 || point) out += '.';
  out.append(d.digits, 1);
  const int size = d.exponent < 0 ? -d.exponent : d.exponent;
  out.append(upper ? "E" : "e").append(d.exponent < 0 ? "-" : "+").append(size < 10 ? "0" : "");
  return out + std::to_string(size);
}

std::string fixed(Decimal d, int precision, bool point) {
  round_to(d, d.exponent + 1 + precision);
  const auto after = static_cast<size_t>(precision);
  // The value as an integer number of units of 10^-precision.
  std::string units = d.digits;
  if (units.size() <= after) units.insert(0, after + 1 - units.size(), '0');
  std::string out = units.substr(0, units.size() - after);
  if (precision > 0 || point) out += '.';
  return out.append(units, units.size() - after);
}

std::string general(const Decimal& d, int precision, bool upper, bool alternate) {
  const int significant = std::max(precision, 1);
  Decimal rounded = d;
  round_to(rounded, significant);
  const bool plain = rounded.exponent >= -4 && rounded.exponent < significant;
  std::string out = plain ? fixed(d, significant - 1 - rounded.exponent, alternate)
                          : with_exponent(d, significant - 1, upper, alternate);
  if (alternate) return out;
  const size_t end = std::min(out.find_first_of("eE"), out.size());
  if (out.find('.') >= end) return out;
  size_t kept = end;
  while (out[kept - 1] == '0') --kept;
  if (out[kept - 1] == '.') --kept;
  return out.erase(kept, end - kept);
}

/// Converts digits * 10^exponent, where digits is an integer.
double value_of(std::string_view digits, int exponent) {
  if (digits.size() <= 15 && std::abs(exponent) <= 22) {
    // Both operands are exact, so one operation rounds correctly.
    double value = 0, power = 1;
    for (const char c : digits) value = value * 10 + (c - '0');
    for (int i = std::abs(exponent); i > 0; --i) power *= 10;
    return exponent < 0 ? value / power : value * power;
  }
  const int magnitude = static_cast<int>(digits.size()) + exponent;
  if (magnitude > 310) return HUGE_VAL;
  if (magnitude < -330) return 0;
  Limbs x, unit;
  for (const char c : digits) multiply_small(x, 10, static_cast<uint32_t>(c - '0'));
  unit.m = {1};
  multiply_by_power(exponent < 0 ? unit : x, 10, std::abs(exponent));
  return ratio_of_limbs(std::move(x), unit);
}

}  // namespace

double parse_float(std::string_view text) {
  size_t i = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++i;
  std::string digits;
  int exponent = 0;
  bool fraction = false, more = false;
  for (; i < text.size() && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9')); ++i) {
    if (text[i] == '.') {
      if (fraction) break;
      fraction = true;
    } else if (digits.size() < kMaxSignificant) {
      if (!digits.empty() || text[i] != '0') digits += text[i];
      if (fraction) --exponent;
    } else {
      more = more || text[i] != '0';
      if (!fraction) ++exponent;
    }
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const bool minus = i + 1 < text.size() && text[i + 1] == '-';
    if (minus || (i + 1 < text.size() && text[i + 1] == '+')) ++i;
    int written = 0;
    for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      written = std::min(written * 10 + (text[i] - '0'), kMaxExponent);
    exponent += minus ? -written : written;
  }
  if (more) {
    digits += '1';
    --exponent;
  }
  const double value = digits.empty() ? 0 : value_of(digits, exponent);
  return negative ? -value : value;
}

std::string print_float(double value, char type, int precision, bool alternate) {
  const Decimal d = exact(std::fabs(value));
  const bool upper = type < 'a';
  const char kind = static_cast<char>(type | 32);
  const std::string text = kind == 'e'   ? with_exponent(d, precision, upper, alternate)
                           : kind == 'f' ? fixed(d, precision, alternate)
                                         : general(d, precision, upper, alternate);
  return std::signbit(value) ? "-" + text : text;
}

std::string shortest_digits(double value, int& exponent) {
  const Decimal whole = exact(value);
  for (int n = 1;; ++n) {
    Decimal d = whole;
    round_to(d, n);
    exponent = d.exponent;
    d.digits.resize(static_cast<size_t>(n));
    if (n >= 17 || value_of(d.digits, d.exponent + 1 - n) == value) return d.digits;
  }
}

}  // namespace ggufscope::jinja
