#include "jinja/big_int.hpp"

#include <algorithm>
#include <cmath>

namespace ggufscope::jinja {
namespace {

/// Sign and magnitude, least limb first, no leading zeros.
struct Limbs {
  std::vector<uint32_t> m;
  bool negative = false;
};

void trim(Limbs& x) {
  while (!x.m.empty() && x.m.back() == 0) x.m.pop_back();
  if (x.m.empty()) x.negative = false;
}

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
  Big* big = arena.make<Big>();
  uint32_t* limbs = arena.make<uint32_t>(x.m.size());
  if (big == nullptr || limbs == nullptr) return Value::fail();
  std::copy(x.m.begin(), x.m.end(), limbs);
  *big = {x.negative, static_cast<uint32_t>(x.m.size()), limbs};
  Value v = Value::of(Type::kBig);
  v.big = big;
  return v;
}

int compare_magnitudes(const Limbs& a, const Limbs& b) {
  if (a.m.size() != b.m.size()) return a.m.size() < b.m.size() ? -1 : 1;
  for (size_t i = a.m.size(); i-- > 0;)
    if (a.m[i] != b.m[i]) return a.m[i] < b.m[i] ? -1 : 1;
  return 0;
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
Limbs subtract_magnitudes(const Limbs& a, const Limbs& b) {
  Limbs out;
  int64_t borrow = 0;
  for (size_t i = 0; i < a.m.size(); ++i) {
    int64_t d = static_cast<int64_t>(a.m[i]) - (i < b.m.size() ? static_cast<int64_t>(b.m[i]) : 0) - borrow;
    borrow = d < 0 ? 1 : 0;
    if (d < 0) d += int64_t{1} << 32;
    out.m.push_back(static_cast<uint32_t>(d));
  }
  trim(out);
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

/// x = x * factor + more
void multiply_small(Limbs& x, uint32_t factor, uint32_t more) {
  uint64_t carry = more;
  for (uint32_t& limb : x.m) {
    carry += static_cast<uint64_t>(limb) * factor;
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) x.m.push_back(static_cast<uint32_t>(carry));
}
/// x = x / divisor; what is left over
uint32_t divide_small(Limbs& x, uint32_t divisor) {
  uint64_t rest = 0;
  for (size_t i = x.m.size(); i-- > 0;) {
    rest = rest << 32 | x.m[i];
    x.m[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  trim(x);
  return static_cast<uint32_t>(rest);
}

/// Magnitudes, bit by bit: numbers are short here, and there are at most kMaxBits.
void divide_magnitudes(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& rest) {
  quotient.m.assign(a.m.size(), 0);
  rest.m.clear();
  for (size_t bit = a.m.size() * 32; bit-- > 0;) {
    multiply_small(rest, 2, a.m[bit / 32] >> (bit % 32) & 1);
    if (rest.m.empty() && (a.m[bit / 32] >> (bit % 32) & 1) != 0) rest.m.push_back(1);
    trim(rest);
    if (compare_magnitudes(rest, b) < 0) continue;
    rest = subtract_magnitudes(rest, b);
    quotient.m[bit / 32] |= 1u << (bit % 32);
  }
  trim(quotient);
}

size_t bits_of(const Limbs& x) {
  if (x.m.empty()) return 0;
  size_t bits = x.m.size() * 32;
  for (uint32_t top = x.m.back(); (top & 0x80000000u) == 0; top <<= 1) --bits;
  return bits;
}

Limbs shift_left(Limbs x, size_t bits) {
  x.m.insert(x.m.begin(), bits / 32, 0);
  if (bits % 32 != 0) multiply_small(x, 1u << (bits % 32), 0);
  return x;
}

/// Correctly rounded, ties to even; sticky: something non-zero was dropped below.
double to_double(const Limbs& x, bool sticky, int exponent) {
  const size_t bits = bits_of(x);
  uint64_t top = 0;
  for (size_t i = 0; i < 64; ++i) {
    const size_t bit = bits - 1 - i;
    top = top << 1 | (i < bits ? x.m[bit / 32] >> (bit % 32) & 1 : 0);
  }
  if (bits > 64)
    for (size_t i = 0; i < bits - 64; ++i) sticky = sticky || (x.m[i / 32] >> (i % 32) & 1) != 0;
  // 53 bits are kept; of the 11 below, the last one also stands for all that was dropped.
  if (sticky) top |= 1;
  uint64_t mantissa = top >> 11;
  const uint64_t below = top & 2047;
  if (below > 1024 || (below == 1024 && (mantissa & 1) != 0)) ++mantissa;
  const double value = std::ldexp(static_cast<double>(mantissa), static_cast<int>(bits) - 53 + exponent);
  return x.negative ? -value : value;
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
    if (x.m.empty() && digit != 0) x.m.push_back(digit);
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
  // At least 66 bits of quotient, so that rounding sees enough of it.
  const auto more = static_cast<int>(bits_of(y)) - static_cast<int>(bits_of(x)) + 66;
  const size_t shift = more > 0 ? static_cast<size_t>(more) : 0;
  Limbs quotient, rest;
  x = shift_left(std::move(x), shift);
  divide_magnitudes(x, y, quotient, rest);
  quotient.negative = x.negative != y.negative;
  return quotient.m.empty() ? 0.0 : to_double(quotient, !rest.m.empty(), -static_cast<int>(shift));
}

bool is_zero(const Value& value) { return !value.is(Type::kBig) && small(value) == 0; }
bool is_negative(const Value& value) { return value.is(Type::kBig) ? value.big->negative : small(value) < 0; }
uint32_t bit_length(const Value& value) { return static_cast<uint32_t>(bits_of(limbs_of(value))); }

}  // namespace ggufscope::jinja
