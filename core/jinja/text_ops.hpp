// What Python's str methods do, for methods and filters alike. Marks of content follow the characters.
#pragma once

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

enum class Casing : uint8_t { kLower, kUpper, kTitle, kCapitalize, kSwap, kFold };
[[nodiscard]] Value change_case(Runtime& r, const Str& text, Casing casing);

/// chars: kNone or missing for white space.
[[nodiscard]] Value strip(Runtime& r, const Str& text, const Value& chars, bool left, bool right);

/// count < 0: all.
[[nodiscard]] Value replace(Runtime& r, const Str& text, const Str& old, const Str& with, int64_t count);

/// left: text first, then the fill.
enum class Justify : uint8_t { kLeft, kRight, kCenter };
[[nodiscard]] Value justify(Runtime& r, const Str& text, const Value& width, const Value& fill, Justify how);

/// By white space where the separator is none. A separator is not empty. most < 0: all.
[[nodiscard]] bool split(Runtime& r, const Str& text, const Str* separator, int64_t most, bool from_right,
                         std::vector<Value>& out);
[[nodiscard]] bool split_lines(Runtime& r, const Str& text, bool keep_ends, std::vector<Value>& out);

/// Whether it is empty or ends with a line's end, so that one more line begins there. A \r before a \n that follows
/// ends none.
[[nodiscard]] bool ends_line(std::string_view text);
[[nodiscard]] Value plain(Runtime& r, const Value& text);  ///< not as Markup

/// Byte of the first (last) occurrence between two bytes; npos: none.
[[nodiscard]] size_t find_text(Runtime& r, const Str& text, const Str& part, size_t begin, size_t end, bool last);

[[nodiscard]] size_t byte_of(const Str& text, int64_t character);  ///< 0 <= character <= length
[[nodiscard]] int64_t character_of(const Str& text, size_t byte);

/// The strings of an iterable, which has nothing else, with a separator between them.
[[nodiscard]] Value join(Runtime& r, const Str& separator, const std::vector<Value>& parts);

}  // namespace ggufscope::jinja
