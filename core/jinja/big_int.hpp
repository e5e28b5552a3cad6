// Integers as Python has them: 64 bits while they fit, limbs in the arena beyond. Bounded at kMaxBits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jinja/arena.hpp"
#include "jinja/value.hpp"

namespace ggufscope::jinja {

inline constexpr uint32_t kMaxBits = 1 << 14;
/// Python refuses to read or print integers of more decimal digits.
inline constexpr uint32_t kMaxDigits = 4300;

/// Value of a digit in bases up to 36; 255: none.
[[nodiscard]] uint32_t digit_value(uint32_t code_point);

/// Digits of the base, nothing else. Fails beyond kMaxBits or the arena's bound.
[[nodiscard]] Value parse_integer(Arena& arena, std::string_view digits, uint32_t base, bool negative = false);
/// Without a prefix. Of values that is_int() says.
[[nodiscard]] std::string integer_text(const Value& value, uint32_t base = 10);
[[nodiscard]] double integer_to_double(const Value& value);  ///< may be infinite
/// The whole part of a finite number.
[[nodiscard]] Value integer_of(Arena& arena, double whole);
/// -1, 0, 1
[[nodiscard]] int compare_integers(const Value& a, const Value& b);

/// + - * as Python; // and % floor. They fail beyond kMaxBits. The divisor is not 0.
[[nodiscard]] Value add_integers(Arena& arena, const Value& a, const Value& b);
[[nodiscard]] Value subtract_integers(Arena& arena, const Value& a, const Value& b);
[[nodiscard]] Value multiply_integers(Arena& arena, const Value& a, const Value& b);
struct Quotient {
  Value quotient, remainder;
};
[[nodiscard]] Quotient divide_integers(Arena& arena, const Value& a, const Value& b);
/// Correctly rounded a / b.
[[nodiscard]] double ratio_of_integers(Arena& arena, const Value& a, const Value& b);
[[nodiscard]] bool is_zero(const Value& value);
[[nodiscard]] bool is_negative(const Value& value);
[[nodiscard]] uint32_t bit_length(const Value& value);

}  // namespace ggufscope::jinja
