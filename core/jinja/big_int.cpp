// Arithmetic of integers that do not fit 64 bits.
#include "jinja/big_int.hpp"

#include <algorithm>
#include <cmath>

#include "jinja/limbs.hpp"

namespace ggufscope::jinja {
namespace {

int64_t small(const Value& v) { return v.is(Type::kBool) ? (v.boolean ? 1 : 0) : v.integer; }

Limbs limbs_of(const Value& v) {
  Limbs out;
  if (v.is(Type::kBig)) {
    out.m.assign(v.big->limbs, v.big->limbs + v.big->n);
    out.negative = v.big->negative;
    return out;
  }
  const int64_t i = small(v);
  out.negative = i < 0;
  uint64_t u = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  for (; u != 0; u >>= 32) out.m.push_back(static_cast<uint32_t>(u));
  return out;
}

Value value_of(Arena& arena, Limbs x) {
  trim(x);
  if (x.m.size() <= 2) {
    uint64_t u = 0;
    for (size_t i = x.m.size(); i-- > 0;) u = u << 32 | x.m[i];
    if (u <= static_cast<uint64_t>(INT64_MAX))
      return Value::of(x.negative ? -static_cast<int64_t>(u) : static_cast<int64_t>(u));
    if (x.negative && u == uint64_t{1} << 63) return Value::of(INT64_MIN);
  }
  if (x.m.size() > kMaxBits / 32) return Value::fail();
  Big* big = arena.create<Big>();
  uint32_t* limbs = arena.create<uint32_t>(x.m.size());
  if (big == nullptr || limbs == nullptr) return Value::fail();
  std::copy(x.m.begin(), x.m.end(), limbs);
  *big = {x.negative, static_cast<uint32_t>(x.m.size()), limbs};
  return Value::of(Type::kBig, &Value::big, big);
}

/// Magnitudes of a + b, or of a - b where |a| >= |b|.
Limbs add_magnitudes(const Limbs& a, const Limbs& b) {
  Limbs out;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.m.size(), b.m.size()) || carry != 0; ++i) {
    carry += (i < a.m.size() ? a.m[i] : 0ull) + (i < b.m.size() ? b.m[i] : 0ull);
    out.m.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  return out;
}
Limbs add(const Limbs& a, const Limbs& b) {
  Limbs out;
  if (a.negative == b.negative) {
    out = add_magnitudes(a, b);
    out.negative = a.negative;
  } else if (compare_magnitudes(a, b) >= 0) {
    out = subtract_magnitudes(a, b);
    out.negative = a.negative;
  } else {
    out = subtract_magnitudes(b, a);
    out.negative = b.negative;
  }
  trim(out);
  return out;
}

}  // namespace

uint32_t digit_value(uint32_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 255;
}

Value parse_integer(Arena& arena, std::string_view digits, uint32_t base, bool negative) {
  Limbs x;
  for (const char c : digits) {
    const uint32_t digit = digit_value(static_cast<uint8_t>(c));
    multiply_small(x, base, digit);
    if (x.m.size() > kMaxBits / 32) return Value::fail();
  }
  x.negative = negative;
  return value_of(arena, std::move(x));
}

std::string integer_text(const Value& value, uint32_t base) {
  if (base == 10 && !value.is(Type::kBig)) return std::to_string(small(value));
  Limbs x = limbs_of(value);
  const bool negative = x.negative;
  std::string out;
  do {
    const uint32_t digit = divide_small(x, base);
    out += static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
  } while (!x.m.empty());
  if (negative) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

double integer_to_double(const Value& value) {
  return value.is(Type::kBig) ? to_double(limbs_of(value), false, 0) : static_cast<double>(small(value));
}

Value integer_of(Arena& arena, double whole) {
  whole = std::trunc(whole);
  if (std::fabs(whole) < 9e18) return Value::of(static_cast<int64_t>(whole));
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(whole), &exponent);
  const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  Limbs x;
  x.m = {static_cast<uint32_t>(mantissa), static_cast<uint32_t>(mantissa >> 32)};
  x = shift_left(std::move(x), static_cast<size_t>(exponent - 53));
  x.negative = whole < 0;
  return value_of(arena, std::move(x));
}

int compare_integers(const Value& a, const Value& b) {
  if (!a.is(Type::kBig) && !b.is(Type::kBig)) return small(a) < small(b) ? -1 : small(a) > small(b) ? 1 : 0;
  const Limbs x = limbs_of(a), y = limbs_of(b);
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  const int order = compare_magnitudes(x, y);
  return x.negative ? -order : order;
}

Value add_integers(Arena& arena, const Value& a, const Value& b) {
  int64_t sum = 0;
  if (!a.is(Type::kBig) && !b.is(Type::kBig) && !__builtin_add_overflow(small(a), small(b), &sum))
    return Value::of(sum);
  return value_of(arena, add(limbs_of(a), limbs_of(b)));
}

Value subtract_integers(Arena& arena, const Value& a, const Value& b) {
  int64_t sum = 0;
  if (!a.is(Type::kBig) && !b.is(Type::kBig) && !__builtin_sub_overflow(small(a), small(b), &sum))
    return Value::of(sum);
  Limbs minus = limbs_of(b);
  minus.negative = !minus.negative;
  return value_of(arena, add(limbs_of(a), minus));
}

Value multiply_integers(Arena& arena, const Value& a, const Value& b) {
  int64_t product = 0;
  if (!a.is(Type::kBig) && !b.is(Type::kBig) && !__builtin_mul_overflow(small(a), small(b), &product))
    return Value::of(product);
  const Limbs x = limbs_of(a), y = limbs_of(b);
  if (x.m.size() + y.m.size() > kMaxBits / 32) return Value::fail();
  Limbs out;
  out.m.assign(x.m.size() + y.m.size(), 0);
  for (size_t i = 0; i < x.m.size(); ++i) {
    uint64_t carry = 0;
    for (size_t k = 0; k < y.m.size() || carry != 0; ++k) {
      carry += static_cast<uint64_t>(out.m[i + k]) + static_cast<uint64_t>(x.m[i]) * (k < y.m.size() ? y.m[k] : 0);
      out.m[i + k] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  out.negative = x.negative != y.negative;
  return value_of(arena, std::move(out));
}

Quotient divide_integers(Arena& arena, const Value& a, const Value& b) {
  const bool short_ones = !a.is(Type::kBig) && !b.is(Type::kBig) && !(small(a) == INT64_MIN && small(b) == -1);
  if (short_ones) {
    int64_t quotient = small(a) / small(b);
    int64_t rest = small(a) % small(b);
    if (rest != 0 && (rest < 0) != (small(b) < 0)) {
      --quotient;
      rest += small(b);
    }
    return {Value::of(quotient), Value::of(rest)};
  }
  const Limbs x = limbs_of(a), y = limbs_of(b);
  Limbs quotient, rest;
  divide_magnitudes(x, y, quotient, rest);
  rest.negative = x.negative;
  quotient.negative = x.negative != y.negative;
  trim(rest);
  if (!rest.m.empty() && x.negative != y.negative) {
    Limbs one;
    one.m = {1};
    one.negative = true;
    quotient = add(quotient, one);
    rest = add(rest, y);
  }
  return {value_of(arena, std::move(quotient)), value_of(arena, std::move(rest))};
}

double ratio_of_integers(Arena&, const Value& a, const Value& b) {
  const double exact = 9007199254740992.0;
  const double p = integer_to_double(a), q = integer_to_double(b);
  if (std::fabs(p) <= exact && std::fabs(q) <= exact) return p / q;
  Limbs x = limbs_of(a);
  const Limbs y = limbs_of(b);
  const bool negative = x.negative != y.negative;
  const double ratio = ratio_of_limbs(std::move(x), y);
  return negative ? -ratio : ratio;
}

bool is_zero(const Value& value) { return !value.is(Type::kBig) && small(value) == 0; }
bool is_negative(const Value& value) { return value.is(Type::kBig) ? value.big->negative : small(value) < 0; }
uint32_t bit_length(const Value& value) { return static_cast<uint32_t>(bits_of(limbs_of(value))); }

}  // namespace ggufscope::jinja
