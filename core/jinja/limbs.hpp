// Integers of any size as limbs, for big integers and exact decimals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ggufscope::jinja {

/// Sign and magnitude, least significant limb first, no leading zeros.
struct Limbs {
  std::vector<uint32_t> m;
  bool negative = false;
};

void trim(Limbs& x);
/// Compares magnitudes: -1, 0 or 1.
[[nodiscard]] int compare_magnitudes(const Limbs& a, const Limbs& b);
/// a| - |b|, where |a| >= |b|.
[[nodiscard]] Limbs subtract_magnitudes(const Limbs& a, const Limbs& b);
/// x = x * factor + more
void multiply_small(Limbs& x, uint32_t factor, uint32_t more);
/// x = x / divisor; returns the remainder
uint32_t divide_small(Limbs& x, uint32_t divisor);
/// Divides magnitudes bit by bit, which is enough for the short numbers here.
void divide_magnitudes(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& rest);
[[nodiscard]] size_t bits_of(const Limbs& x);
[[nodiscard]] Limbs shift_left(Limbs x, size_t bits);
/// x * 2^exponent, correctly rounded, ties to even; infinite on overflow. sticky: non-zero bits were dropped below.
[[nodiscard]] double to_double(const Limbs& x, bool sticky, int exponent);
/// |a| / |b|, correctly rounded.
[[nodiscard]] double ratio_of_limbs(Limbs a, const Limbs& b);

}  // namespace ggufscope::jinja
