// Reads texts as English words.
#include "engine/english_words.hpp"

#include <cstdint>

namespace ggufscope {
namespace {

constexpr std::string_view kSmall[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                       "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                       "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::string_view kTens[] = {"",      "",      "twenty",  "thirty", "forty",
                                      "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr struct {
  uint64_t unit;
  std::string_view name;
} kUnits[] = {{1'000'000'000, "billion"}, {1'000'000, "million"}, {1'000, "thousand"}, {1, ""}};
constexpr uint64_t kMaxNumber = INT32_MAX;  // as in llama.cpp

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append(std::string& words, std::string_view word) {
  if (word.empty()) return;
  if (!words.empty()) words += ' ';
  words += word;
}

void append_below_thousand(std::string& words, uint64_t n) {
  if (n >= 100) {
    append(words, kSmall[n / 100]);
    append(words, "hundred");
  }
  n %= 100;
  if (n >= 20) {
    append(words, kTens[n / 10]);
    n %= 10;
  }
  if (n != 0) append(words, kSmall[n]);
}

void append_digits(std::string& words, std::string_view digits) {
  for (const char digit : digits) append(words, kSmall[digit - '0']);
}

// A number of digits, with or without a decimal point. From 2^31 on its digits are read one by one.
std::string number_in_words(std::string_view number) {
  const size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string words;
  uint64_t n = 0;
  for (const char digit : whole)
    if (n <= kMaxNumber) n = 10 * n + static_cast<uint64_t>(digit - '0');
  if (n > kMaxNumber) {
    append_digits(words, whole);
  } else if (n == 0) {
    append(words, kSmall[0]);
  } else {
    for (const auto& [unit, name] : kUnits) {
      if (n < unit) continue;
      append_below_thousand(words, n / unit);
      append(words, name);
      n %= unit;
    }
    if (whole.ends_with("00")) words += ' ';  // "100m": no word "hundredm"
  }
  if (point != std::string_view::npos) {
    append(words, "point");
    append_digits(words, number.substr(point + 1));
  }
  return words;
}

}  // namespace

std::vector<std::string> english_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  const auto add = [&](char c) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') word += c;
    if (std::string_view("-_/,.\\ \t\n\v\f\r").find(c) != std::string_view::npos) end_word();
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == i) {
      add(text[i++]);
      continue;
    }
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1]))
      for (++end; end < text.size() && is_digit(text[end]);) ++end;
    // A number belongs to the letters beside it, as in llama.cpp.
    for (const char c : number_in_words(text.substr(i, end - i))) add(c);
    i = end;
  }
  end_word();
  return words;
}

}  // namespace ggufscope
