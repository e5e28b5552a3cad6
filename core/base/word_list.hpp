// Lists of words in one text, as tables hold them: with spaces between the words.
#pragma once

#include <string_view>

namespace ggufscope {

/// Cuts text at the first separator and returns the part before it.
constexpr std::string_view cut_off(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view first = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return first;
}

/// The words of a text, for a range-based loop. Several spaces are as one.
class WordList {
 public:
  constexpr explicit WordList(std::string_view text) : text_(text) {}

  struct End {};
  class Iterator {
   public:
    constexpr explicit Iterator(std::string_view text) : rest_(text) { ++*this; }
    constexpr std::string_view operator*() const { return word_; }
    constexpr Iterator& operator++() {
      do {
        word_ = cut_off(rest_, ' ');
      } while (word_.empty() && !rest_.empty());
      return *this;
    }
    constexpr bool operator==(End) const { return word_.empty(); }

   private:
    std::string_view word_, rest_;
  };
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(text_); }
  [[nodiscard]] constexpr End end() const { return {}; }

 private:
  std::string_view text_;
};

/// True if the text contains the word.
constexpr bool has_word(std::string_view text, std::string_view word) {
  for (const std::string_view each : WordList(text))
    if (each == word) return true;
  return false;
}

}  // namespace ggufscope
