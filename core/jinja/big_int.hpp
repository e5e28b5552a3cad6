// Python's integers: 64 bits while they fit, otherwise limbs in the arena. At most kMaxBits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jinja/arena.hpp"
#include "jinja/value.hpp"

namespace ggufscope::jinja {

inline constexpr uint32_t kMaxBits = 1 << 14;
/// Python refuses to parse or print integers with more decimal digits.
inline constexpr uint32_t kMaxDigits = 4300;

/// The value of a digit in bases up to 36; 255 if it is none.
[[nodiscard]] uint32_t digit_value(uint32_t code_point);

/// Parses digits of the base and nothing else. Fails above kMaxBits or if the arena is full.
[[nodiscard]] Value parse_integer(Arena& arena, std::string_view digits, uint32_t base, bool negative = false);
/// The digits without a prefix. The value must satisfy is_int().
[[nodiscard]] std::string integer_text(const Value& value, uint32_t base = 10);
[[nodiscard]] double integer_to_double(const Value& value);  ///< may be infinite
/// The integer part of a finite number.
[[nodiscard]] Value integer_of(Arena& arena, double whole);
/// Returns -1, 0 or 1.
[[nodiscard]] int compare_integers(const Value& a, const Value& b);

/// Python's + - * and floored // and %. They fail above kMaxBits. The divisor must not be 0.
[[nodiscard]] Value add_integers(Arena& arena, const Value& a, const Value& b);
[[nodiscard]] Value subtract_integers(Arena& arena, const Value& a, const Value& b);
[[nodiscard]] Value multiply_integers(Arena& arena, const Value& a, const Value& b);
struct Quotient {
  Value quotient, remainder;
};
[[nodiscard]] Quotient divide_integers(Arena& arena, const Value& a, const Value& b);
/// a / b, correctly rounded.
[[nodiscard]] double ratio_of_integers(Arena& arena, const Value& a, const Value& b);
[[nodiscard]] bool is_zero(const Value& value);
[[nodiscard]] bool is_negative(const Value& value);
[[nodiscard]] uint32_t bit_length(const Value& value);

}  // namespace ggufscope::jinja
