// Exact conversion between floats and decimal text, as printf and strtod do it, in less code.
#pragma once

#include <string>
#include <string_view>

namespace ggufscope::jinja {

/// Parses [+-]digits[.digits][e[+-]digits], correctly rounded; infinite on overflow. The rest of the text is ignored.
[[nodiscard]] double parse_float(std::string_view text);
/// Prints a finite value as printf does for the types e E f F g G; alternate: the flag '#'.
[[nodiscard]] std::string print_float(double value, char type, int precision, bool alternate = false);
/// The shortest digits that parse to the same value, and the exponent of the first digit: 0.00125 gives "125" and -3.
/// The value must be positive.
[[nodiscard]] std::string shortest_digits(double value, int& exponent);

}  // namespace ggufscope::jinja
