// Formats a date and time by strftime's codes.
#include "jinja/strftime.hpp"

#include <algorithm>

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

struct Code {
  char flag = '\0';  // _ - 0 ^ #
  int64_t width = -1;
};

class Printer {
 public:
  Printer(const Moment& now, size_t max_bytes, std::string& out)
      : now_(now), max_bytes_(max_bytes), out_(out), yday_(day_of_year(now)), wday_(weekday_of(now.year, yday_)) {}

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
    (void)Printer(now_, max_bytes_, made).run(format);
    text(made, {code.flag == '^' || code.flag == '#' ? '^' : code.flag, code.width});
  }

  bool put(char c, const Code& code) { return put_date(c, code) || put_time(c, code); }

  bool put_date(char c, const Code& code) {
    int64_t iso_year = 0, week = 0;
    iso_week(now_.year, yday_, wday_, iso_year, week);
    const std::string_view day = kDays[wday_], month = kMonths[(now_.month - 1) % 12];
    switch (c) {
      case 'a':
        return text(day.substr(0, 3), code), true;
      case 'A':
        return text(day, code), true;
      case 'b':
      case 'h':
        return text(month.substr(0, 3), code), true;
      case 'B':
        return text(month, code), true;
      case 'C':
        return number(now_.year / 100, 2, '0', code), true;
      case 'd':
        return number(now_.day, 2, '0', code), true;
      case 'e':
        return number(now_.day, 2, ' ', code), true;
      case 'g':
        return number(iso_year % 100, 2, '0', code), true;
      case 'G':
        return number(iso_year, 1, '0', code), true;
      case 'j':
        return number(yday_ + 1, 3, '0', code), true;
      case 'm':
        return number(now_.month, 2, '0', code), true;
      case 'u':
        return number(wday_ == 0 ? 7 : wday_, 1, '0', code), true;
      case 'U':
        return number((yday_ + 7 - wday_) / 7, 2, '0', code), true;
      case 'V':
        return number(week, 2, '0', code), true;
      case 'w':
        return number(wday_, 1, '0', code), true;
      case 'W':
        return number((yday_ + 7 - (wday_ + 6) % 7) / 7, 2, '0', code), true;
      case 'y':
        return number(now_.year % 100, 2, '0', code), true;
      case 'Y':
        return number(now_.year, 1, '0', code), true;
      case 'D':
        return composed("%m/%d/%y", code), true;
      case 'x':
        return composed("%m/%d/%y", code), true;
      case 'F':
        return composed("%Y-%m-%d", code), true;
      default:
        return false;
    }
  }

  bool put_time(char c, const Code& code) {
    const int64_t hour12 = now_.hour % 12 == 0 ? 12 : now_.hour % 12;
    switch (c) {
      case 'H':
        return number(now_.hour, 2, '0', code), true;
      case 'I':
        return number(hour12, 2, '0', code), true;
      case 'k':
        return number(now_.hour, 2, ' ', code), true;
      case 'l':
        return number(hour12, 2, ' ', code), true;
      case 'M':
        return number(now_.minute, 2, '0', code), true;
      case 'p':
        return text(now_.hour < 12 ? "AM" : "PM", code, true), true;
      case 'P':
        return text(now_.hour < 12 ? "am" : "pm", code), true;
      case 's':
        return number(now_.epoch_seconds, 1, '0', code), true;
      case 'S':
        return number(now_.second, 2, '0', code), true;
      case 'f':
        return number(now_.microsecond, 6, '0', {}), true;
      case 'R':
        return composed("%H:%M", code), true;
      case 'r':
        return composed("%I:%M:%S %p", code), true;
      case 'T':
      case 'X':
        return composed("%H:%M:%S", code), true;
      case 'c':
        return composed("%a %b %e %H:%M:%S %Y", code), true;
      case 'n':
        return text("\n", code), true;
      case 't':
        return text("\t", code), true;
      case '%':
        return text("%", code), true;
      case 'z':
      case 'Z':
        return text("", {}), true;
      default:
        return false;
    }
  }

  const Moment& now_;
  size_t max_bytes_;
  std::string& out_;
  int64_t yday_, wday_;
};

}  // namespace

bool strftime(const Moment& now, std::string_view format, size_t max_bytes, std::string& out) {
  return Printer(now, max_bytes, out).run(format);
}

}  // namespace ggufscope::jinja
