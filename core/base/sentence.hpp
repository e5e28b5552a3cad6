// Builds messages from texts and numbers. One function joins the parts, because chains of std::string and + in a
// hundred places would be most of the code size.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ggufscope {

/// A text from a file, quoted for a message: at most 60 bytes; bytes other than printable ASCII become \xNN.
struct Quoted {
  std::string_view text;
};

/// A count with its noun: "1 row", "2 rows".
struct Counted {
  uint64_t count;
  const char *one, *many = nullptr;  ///< many: the plural, if it is not `one` with an s
};

/// A part of a sentence: a view of a text, or a number. The members that a kind does not need stay without a value:
/// messages have a thousand parts, and each store is code.
class Part {
 public:
  Part(std::string_view text) : kind_(Kind::kText), text_(text.data()), length_(text.size()) {}  // NOLINT: as written
  Part(const std::string& text) : Part(std::string_view(text)) {}                                // NOLINT
  Part(const char* text) : kind_(Kind::kTerminated), text_(text) {}                              // NOLINT
  Part(Quoted quoted) : kind_(Kind::kQuoted), text_(quoted.text.data()), length_(quoted.text.size()) {}
  template <std::integral T>
  Part(T number) : kind_(number < 0 ? Kind::kNegative : Kind::kNumber), number_(static_cast<uint64_t>(number)) {}
  Part(Counted counted) : kind_(Kind::kCounted), text_(counted.one), many_(counted.many), number_(counted.count) {}

  void append_to(std::string& out) const;

 private:
  enum class Kind : uint8_t { kText, kTerminated, kQuoted, kNumber, kNegative, kCounted };
  Kind kind_;
  const char *text_, *many_;
  size_t length_;
  uint64_t number_;
};

[[nodiscard]] std::string sentence(std::initializer_list<Part> parts);

/// "1 row", "2 rows".
template <std::integral T>
[[nodiscard]] std::string counted(T count, const char* one, const char* many = nullptr) {
  return sentence({Counted{static_cast<uint64_t>(count), one, many}});
}

}  // namespace ggufscope
