// Converts floats to text and back, and compares with the C library.
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "jinja/decimal.hpp"

using namespace ggufscope::jinja;

namespace {

constexpr std::array<double, 18> kValues = {
    0.0,  -0.0, 1,    0.1,  0.5,       1.5,    2.5,      9.995,   99999.5,
    1e15, 1e16, 1e22, 1e23, 123456789, 5e-324, 2.2e-308, 1.7e308, 9007199254740993.0,
};

std::string printed(double value, char type, int precision, bool alternate) {
  const char pattern[] = {'%', alternate ? '#' : '-', '.', '*', type, '\0'};
  char buffer[800];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::snprintf(buffer, sizeof buffer, pattern, precision, value);
#pragma GCC diagnostic pop
  return buffer;
}

void check_printing(double value) {
  for (const char type : {'e', 'f', 'g', 'E', 'G'})
    for (const int precision : {0, 1, 2, 6, 17, 30})
      for (const bool alternate : {false, true})
        BOOST_REQUIRE_EQUAL(print_float(value, type, precision, alternate), printed(value, type, precision, alternate));
}

void check_reading(const std::string& text) {
  BOOST_TEST_CONTEXT(text)
  BOOST_REQUIRE_EQUAL(std::bit_cast<uint64_t>(parse_float(text)),
                      std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr)));
}

double random_double(std::mt19937_64& random) {
  for (;;) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(jinja_decimal)

BOOST_AUTO_TEST_CASE(decimals_print_as_with_printf) {
  for (const double value : kValues) check_printing(value);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) check_printing(random_double(random));
  for (int i = 0; i < 400; ++i) {
    const auto whole = static_cast<double>(random() % 100000);
    check_printing(whole / std::pow(10.0, static_cast<double>(random() % 8)));
    check_printing(whole / 8);  // ties
  }
}

BOOST_AUTO_TEST_CASE(decimals_are_read_as_with_strtod) {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "1e5",
                           "-1.5E-3",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "1e99999999999",
                           "9007199254740993",
                           "9007199254740992.99999999999999999999999999999999",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "4.9406564584124654e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "0.000000000000000000000000000001",
                           "1x"})
    check_reading(text);
  check_reading("9007199254740992.9" + std::string(900, '9') + "1");
  check_reading("0." + std::string(400, '0') + "1e400");
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) {
    std::string text = std::to_string(random());
    text.resize(1 + random() % text.size());
    text.insert(random() % (text.size() + 1), ".");
    if (random() % 2 != 0) text += "e" + std::to_string(static_cast<int>(random() % 660) - 330);
    if (text != "." && text[0] != '.') check_reading(text);
  }
  // Halfway between two doubles, and one digit to either side.
  for (int i = 0; i < 200; ++i) {
    const double value =
        std::ldexp(static_cast<double>((random() >> 11) | (uint64_t{1} << 52)), static_cast<int>(random() % 100) - 80);
    const long double half = (static_cast<long double>(value) + std::nextafter(value, HUGE_VAL)) / 2;
    char buffer[400];
    std::snprintf(buffer, sizeof buffer, "%.200Lf", half);
    check_reading(buffer);
    check_reading(std::string(buffer) + "1");
  }
}

BOOST_AUTO_TEST_CASE(shortest_digits_round_trip) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const double value = i % 2 != 0 ? std::fabs(random_double(random)) : static_cast<double>(random() % 1000000) / 1000;
    if (value == 0) continue;
    int exponent = 0;
    const std::string digits = shortest_digits(value, exponent);
    char buffer[64];
    int precision = 0;
    do std::snprintf(buffer, sizeof buffer, "%.*e", precision, value);
    while (std::strtod(buffer, nullptr) != value && ++precision < 17);
    const std::string text =
        digits.substr(0, 1) + (digits.size() > 1 ? "." : "") + digits.substr(1) + "e" + std::to_string(exponent);
    BOOST_REQUIRE_EQUAL(std::strtod(text.c_str(), nullptr), value);
    BOOST_REQUIRE_EQUAL(digits.size(), static_cast<size_t>(precision) + 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
