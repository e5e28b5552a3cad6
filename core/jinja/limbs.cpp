// Arithmetic of integers as arrays of 32-bit limbs.
#include "jinja/limbs.hpp"

#include <cmath>

namespace ggufscope::jinja {

void trim(Limbs& x) {
  while (!x.m.empty() && x.m.back() == 0) x.m.pop_back();
  if (x.m.empty()) x.negative = false;
}

int compare_magnitudes(const Limbs& a, const Limbs& b) {
  if (a.m.size() != b.m.size()) return a.m.size() < b.m.size() ? -1 : 1;
  for (size_t i = a.m.size(); i-- > 0;)
    if (a.m[i] != b.m[i]) return a.m[i] < b.m[i] ? -1 : 1;
  return 0;
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

void multiply_small(Limbs& x, uint32_t factor, uint32_t more) {
  uint64_t carry = more;
  for (uint32_t& limb : x.m) {
    carry += static_cast<uint64_t>(limb) * factor;
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) x.m.push_back(static_cast<uint32_t>(carry));
}
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

void divide_magnitudes(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& rest) {
  quotient.m.assign(a.m.size(), 0);
  rest.m.clear();
  for (size_t bit = a.m.size() * 32; bit-- > 0;) {
    multiply_small(rest, 2, a.m[bit / 32] >> (bit % 32) & 1);
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

double to_double(const Limbs& x, bool sticky, int exponent) {
  const size_t bits = bits_of(x);
  uint64_t top = 0;
  for (size_t i = 0; i < 64; ++i) {
    const size_t bit = bits - 1 - i;
    top = top << 1 | (i < bits ? x.m[bit / 32] >> (bit % 32) & 1 : 0);
  }
  if (bits > 64)
    for (size_t i = 0; i < bits - 64; ++i) sticky = sticky || (x.m[i / 32] >> (i % 32) & 1) != 0;
  // Sticky bit: the lowest of the 64 bits is set if any dropped bit was.
  if (sticky) top |= 1;
  // 53 bits are kept, or fewer if the result is subnormal.
  const int lowest = static_cast<int>(bits) - 53 + exponent;
  const int dropped = 11 + (lowest < -1074 ? -1074 - lowest : 0);
  if (bits == 0 || dropped > 64) return x.negative ? -0.0 : 0.0;
  uint64_t mantissa = dropped == 64 ? 0 : top >> dropped;
  const uint64_t below = dropped == 64 ? top : top & ((uint64_t{1} << dropped) - 1);
  const uint64_t half = uint64_t{1} << (dropped - 1);
  if (below > half || (below == half && (mantissa & 1) != 0)) ++mantissa;
  const double value = std::ldexp(static_cast<double>(mantissa), lowest + dropped - 11);
  return x.negative ? -value : value;
}

double ratio_of_limbs(Limbs a, const Limbs& b) {
  // At least 66 bits of quotient, which is enough for correct rounding.
  const auto more = static_cast<int>(bits_of(b)) - static_cast<int>(bits_of(a)) + 66;
  const size_t shift = more > 0 ? static_cast<size_t>(more) : 0;
  Limbs quotient, rest;
  divide_magnitudes(shift_left(std::move(a), shift), b, quotient, rest);
  return to_double(quotient, !rest.m.empty(), -static_cast<int>(shift));
}

}  // namespace ggufscope::jinja
