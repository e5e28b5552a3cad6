// Floats as decimal text and back, exactly: what printf and strtod do, without their size.
#pragma once

#include <string>
#include <string_view>

namespace ggufscope::jinja {

/// [+-]digits[.digits][e[+-]digits], correctly rounded; infinite beyond the largest. What follows is not looked at.
[[nodiscard]] double parse_float(std::string_view text);
/// A finite value as printf writes it for the types e E f F g G; alternate: '#'.
[[nodiscard]] std::string print_float(double value, char type, int precision, bool alternate = false);
/// The fewest digits that read as the same value, and the exponent of the first: 0.00125 -> "125", -3. Of positive
/// values.
[[nodiscard]] std::string shortest_digits(double value, int& exponent);

}  // namespace ggufscope::jinja
