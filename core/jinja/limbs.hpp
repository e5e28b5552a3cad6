// Integers of any size as limbs, for big integers and for exact decimals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ggufscope::jinja {

/// Sign and magnitude, least limb first, no leading zeros.
struct Limbs {
  std::vector<uint32_t> m;
  bool negative = false;
};

void trim(Limbs& x);
/// -1, 0, 1, of the magnitudes
[[nodiscard]] int compare_magnitudes(const Limbs& a, const Limbs& b);
/// Of |a| >= |b|.
[[nodiscard]] Limbs subtract_magnitudes(const Limbs& a, const Limbs& b);
/// x = x * factor + more
void multiply_small(Limbs& x, uint32_t factor, uint32_t more);
/// x = x / divisor; what is left over
uint32_t divide_small(Limbs& x, uint32_t divisor);
/// Magnitudes, bit by bit: numbers are short here.
void divide_magnitudes(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& rest);
[[nodiscard]] size_t bits_of(const Limbs& x);
[[nodiscard]] Limbs shift_left(Limbs x, size_t bits);
/// x * 2^exponent, correctly rounded, ties to even, infinite beyond the largest; sticky: something non-zero was dropped
/// below.
[[nodiscard]] double to_double(const Limbs& x, bool sticky, int exponent);
/// |a| / |b|, correctly rounded.
[[nodiscard]] double ratio_of_limbs(Limbs a, const Limbs& b);

}  // namespace ggufscope::jinja
