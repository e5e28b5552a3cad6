// Unicode properties that Python's str methods use (Unicode 14, as in Python 3.11).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ggufscope::jinja {

/// Properties of a code point, named after the str methods.
enum Property : uint16_t {
  kAlpha = 1,
  kLower = 2,
  kUpper = 4,
  kDecimal = 8,
  kDigit = 16,
  kNumeric = 32,
  kSpace = 64,
  kPrintable = 128,
  kIdentifierStart = 256,
  kIdentifier = 512,
  kTitle = 1024,
  kCaseIgnorable = 2048,
  kAlnum = kAlpha | kDecimal | kDigit | kNumeric,
  kCased = kLower | kUpper | kTitle
};

/// The properties of a code point as bits.
[[nodiscard]] uint16_t properties(uint32_t code_point);
[[nodiscard]] inline bool has(uint32_t code_point, uint16_t bits) { return (properties(code_point) & bits) != 0; }
/// Python's \w.
[[nodiscard]] inline bool is_word(uint32_t code_point) { return code_point == '_' || has(code_point, kAlnum); }

enum class CaseMap : uint8_t { kLower, kUpper, kTitle, kFold };
struct CaseImage {
  uint32_t code_points[3];
  uint32_t n;
};
[[nodiscard]] CaseImage map_case(uint32_t code_point, CaseMap map);

struct CodePoint {
  uint32_t value;
  uint32_t length;  ///< bytes, at least 1
};
/// The code point at text[pos]. An invalid byte is its own code point.
[[nodiscard]] CodePoint code_point_at(std::string_view text, size_t pos);
/// The code point that ends before text[end], end > 0.
[[nodiscard]] CodePoint code_point_before(std::string_view text, size_t end);
void append_code_point(std::string& out, uint32_t code_point);
[[nodiscard]] uint32_t count_code_points(std::string_view text);

}  // namespace ggufscope::jinja
