// Formats a date and time by strftime's codes.
#include "jinja/strftime.hpp"

#include <algorithm>
#include <utility>

namespace ggufscope::jinja {
namespace {

constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

bool is_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int64_t day_of_year(const Moment& now) {  // 0 for the first of January
  constexpr int64_t kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return kBefore[(now.month - 1) % 12] + now.day - 1 + (now.month > 2 && is_leap(now.year) ? 1 : 0);
}

int64_t weekday_of(int64_t year, int64_t yday) {  // 0: Sunday
  const int64_t before = year - 1;
  const int64_t days = before * 365 + before / 4 - before / 100 + before / 400 + yday;
  return (days + 1) % 7;
}

// ISO 8601: weeks begin on Monday; the first week contains the year's first Thursday.
void iso_week(int64_t year, int64_t yday, int64_t wday, int64_t& iso_year, int64_t& week) {
  const int64_t monday = (wday + 6) % 7;
  iso_year = year;
  week = (yday - monday + 10) / 7;
  const auto weeks_of = [](int64_t y) {
    const int64_t first = weekday_of(y, 0);
    return first == 4 || (first == 3 && is_leap(y)) ? int64_t{53} : int64_t{52};
  };
  if (week < 1) {
    --iso_year;
    week = weeks_of(iso_year);
  } else if (week > weeks_of(year)) {
    ++iso_year;
    week = 1;
  }
}

/// What codes say of a moment.
struct Date {
  const Moment& now;
  int64_t yday = day_of_year(now);
  int64_t wday = weekday_of(now.year, yday);
  int64_t iso_year = 0, iso_week = 0;
};

struct NumberCode {
  char code;
  int64_t digits;
  char pad;
  int64_t (*value)(const Date&);
};
constexpr NumberCode kNumbers[] = {
    {'C', 2, '0', [](const Date& d) { return d.now.year / 100; }},
    {'d', 2, '0', [](const Date& d) { return int64_t{d.now.day}; }},
    {'e', 2, ' ', [](const Date& d) { return int64_t{d.now.day}; }},
    {'g', 2, '0', [](const Date& d) { return d.iso_year % 100; }},
    {'G', 1, '0', [](const Date& d) { return d.iso_year; }},
    {'H', 2, '0', [](const Date& d) { return int64_t{d.now.hour}; }},
    {'I', 2, '0', [](const Date& d) { return int64_t{(d.now.hour + 11) % 12 + 1}; }},
    {'j', 3, '0', [](const Date& d) { return d.yday + 1; }},
    {'k', 2, ' ', [](const Date& d) { return int64_t{d.now.hour}; }},
    {'l', 2, ' ', [](const Date& d) { return int64_t{(d.now.hour + 11) % 12 + 1}; }},
    {'m', 2, '0', [](const Date& d) { return int64_t{d.now.month}; }},
    {'M', 2, '0', [](const Date& d) { return int64_t{d.now.minute}; }},
    {'s', 1, '0', [](const Date& d) { return d.now.epoch_seconds; }},
    {'S', 2, '0', [](const Date& d) { return int64_t{d.now.second}; }},
    {'u', 1, '0', [](const Date& d) { return d.wday == 0 ? int64_t{7} : d.wday; }},
    {'U', 2, '0', [](const Date& d) { return (d.yday + 7 - d.wday) / 7; }},
    {'V', 2, '0', [](const Date& d) { return d.iso_week; }},
    {'w', 1, '0', [](const Date& d) { return d.wday; }},
    {'W', 2, '0', [](const Date& d) { return (d.yday + 7 - (d.wday + 6) % 7) / 7; }},
    {'y', 2, '0', [](const Date& d) { return d.now.year % 100; }},
    {'Y', 1, '0', [](const Date& d) { return d.now.year; }},
};

std::string_view month_of(const Date& d) { return kMonths[(d.now.month - 1) % 12]; }

struct TextCode {
  char code;
  std::string_view (*text)(const Date&);
  bool swaps_case = false;
};
constexpr TextCode kTexts[] = {
    {'a', [](const Date& d) { return kDays[d.wday].substr(0, 3); }},
    {'A', [](const Date& d) { return kDays[d.wday]; }},
    {'b', [](const Date& d) { return month_of(d).substr(0, 3); }},
    {'B', month_of},
    {'h', [](const Date& d) { return month_of(d).substr(0, 3); }},
    {'n', [](const Date&) { return std::string_view("\n"); }},
    {'p', [](const Date& d) { return std::string_view(d.now.hour < 12 ? "AM" : "PM"); }, true},
    {'P', [](const Date& d) { return std::string_view(d.now.hour < 12 ? "am" : "pm"); }},
    {'t', [](const Date&) { return std::string_view("\t"); }},
    {'%', [](const Date&) { return std::string_view("%"); }},
};

/// Codes that stand for a format.
constexpr std::pair<char, std::string_view> kComposed[] = {
    {'c', "%a %b %e %H:%M:%S %Y"},
    {'D', "%m/%d/%y"},
    {'F', "%Y-%m-%d"},
    {'r', "%I:%M:%S %p"},
    {'R', "%H:%M"},
    {'T', "%H:%M:%S"},
    {'x', "%m/%d/%y"},
    {'X', "%H:%M:%S"},
};

struct Code {
  char flag = '\0';  // _ - 0 ^ #
  int64_t width = -1;
};

class Printer {
 public:
  Printer(const Moment& now, size_t max_bytes, std::string& out) : date_{now}, max_bytes_(max_bytes), out_(out) {
    iso_week(now.year, date_.yday, date_.wday, date_.iso_year, date_.iso_week);
  }

  bool run(std::string_view format) {
    for (size_t i = 0; i < format.size();) {
      if (format[i] != '%' || i + 1 == format.size()) {
        out_ += format[i++];
        continue;
      }
      const size_t begin = i++;
      Code code;
      for (; i < format.size() && std::string_view("_-0^#").find(format[i]) != std::string_view::npos; ++i)
        code.flag = format[i];
      if (i < format.size() && format[i] >= '0' && format[i] <= '9')
        for (code.width = 0; i < format.size() && format[i] >= '0' && format[i] <= '9'; ++i)
          code.width = std::min<int64_t>(code.width * 10 + (format[i] - '0'), 1 << 30);
      if (i < format.size() && (format[i] == 'E' || format[i] == 'O')) ++i;
      if (code.width > static_cast<int64_t>(max_bytes_)) return false;
      if (i >= format.size() || !put(format[i], code)) {
        i = std::min(i + 1, format.size());
        out_ += format.substr(begin, i - begin);
      } else {
        ++i;
      }
      if (out_.size() > max_bytes_) return false;
    }
    return out_.size() <= max_bytes_;
  }

 private:
  void number(int64_t value, int64_t digits, char pad, const Code& code) {
    if (code.flag == '_') pad = ' ';
    if (code.flag == '0') pad = '0';
    std::string text = std::to_string(value < 0 ? -value : value);
    const int64_t width = code.width >= 0 ? code.width : code.flag == '-' ? 0 : digits;
    const int64_t missing = width - static_cast<int64_t>(text.size()) - (value < 0 ? 1 : 0);
    if (missing > 0 && (code.flag != '-' || code.width >= 0)) text.insert(0, static_cast<size_t>(missing), pad);
    if (value < 0) out_ += '-';
    out_ += text;
  }

  void text(std::string_view word, const Code& code, bool swaps_case = false) {
    std::string cased(word);
    const bool upper = code.flag == '^' || (code.flag == '#' && !swaps_case);
    for (char& c : cased) {
      if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
      if (code.flag == '#' && swaps_case && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    const int64_t missing = code.width - static_cast<int64_t>(cased.size());
    if (missing > 0) out_.append(static_cast<size_t>(missing), code.flag == '0' ? '0' : ' ');
    out_ += cased;
  }

  void composed(std::string_view format, const Code& code) {
    std::string made;
    (void)Printer(date_.now, max_bytes_, made).run(format);
    text(made, {code.flag == '^' || code.flag == '#' ? '^' : code.flag, code.width});
  }

  bool put(char c, const Code& code) {
    for (const NumberCode& row : kNumbers)
      if (row.code == c) return number(row.value(date_), row.digits, row.pad, code), true;
    for (const TextCode& row : kTexts)
      if (row.code == c) return text(row.text(date_), code, row.swaps_case), true;
    for (const auto& [name, format] : kComposed)
      if (name == c) return composed(format, code), true;
    if (c == 'f') return number(date_.now.microsecond, 6, '0', {}), true;
    return c == 'z' || c == 'Z';
  }

  Date date_;
  size_t max_bytes_;
  std::string& out_;
};

}  // namespace

bool strftime(const Moment& now, std::string_view format, size_t max_bytes, std::string& out) {
  return Printer(now, max_bytes, out).run(format);
}

}  // namespace ggufscope::jinja
