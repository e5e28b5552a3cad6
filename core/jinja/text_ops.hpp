// Python's str methods, shared by methods and filters. Characters keep their content marks.
#pragma once

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

enum class Casing : uint8_t { kLower, kUpper, kTitle, kCapitalize, kSwap, kFold };
[[nodiscard]] Value change_case(Runtime& r, const Str& text, Casing casing);

/// chars: kNone or kMissing means white space.
[[nodiscard]] Value strip(Runtime& r, const Str& text, const Value& chars, bool left, bool right);

/// count < 0: replace all.
[[nodiscard]] Value replace(Runtime& r, const Str& text, const Str& old, const Str& with, int64_t count);

/// Left: the text comes first, then the fill.
enum class Justify : uint8_t { kLeft, kRight, kCenter };
[[nodiscard]] Value justify(Runtime& r, const Str& text, const Value& width, const Value& fill, Justify how);

/// Splits at the separator, or at white space if it is nullptr. The separator must not be empty. most < 0: no limit.
[[nodiscard]] bool split(Runtime& r, const Str& text, const Str* separator, int64_t max, bool from_right,
                         std::vector<Value>& out);
[[nodiscard]] bool split_lines(Runtime& r, const Str& text, bool keep_ends, std::vector<Value>& out);

/// True if the text is empty or ends with a line break, so that a new line begins there. In "\r\n" the \r alone does
/// not end a line.
[[nodiscard]] bool ends_line(std::string_view text);
[[nodiscard]] Value plain(Runtime& r, const Value& text);  ///< without the Markup flag

/// Offset of the first (or last) occurrence between two offsets; npos if there is none.
[[nodiscard]] size_t find_text(Runtime& r, const Str& text, const Str& part, size_t begin, size_t end, bool last);

[[nodiscard]] size_t byte_of(const Str& text, int64_t character);  ///< 0 <= character <= length
[[nodiscard]] int64_t character_of(const Str& text, size_t byte);

/// Joins strings with a separator.
[[nodiscard]] Value join(Runtime& r, const Str& separator, const std::vector<Value>& parts);

}  // namespace ggufscope::jinja
