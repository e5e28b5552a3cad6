// Splits a template into tokens.
#include "jinja/lexer.hpp"

#include "base/sentence.hpp"
#include "jinja/big_int.hpp"
#include "jinja/decimal.hpp"
#include "jinja/unicode.hpp"

namespace ggufscope::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Operator {
  std::string_view text;
  Token type;
};
constexpr Operator kOperators[] = {
    {"//", Token::kFloorDiv},   {"**", Token::kPow},         {"==", Token::kEq},       {"!=", Token::kNe},
    {">=", Token::kGe},         {"<=", Token::kLe},          {"+", Token::kAdd},       {"-", Token::kSub},
    {"/", Token::kDiv},         {"*", Token::kMul},          {"%", Token::kMod},       {"~", Token::kTilde},
    {"[", Token::kLeftBracket}, {"]", Token::kRightBracket}, {"(", Token::kLeftParen}, {")", Token::kRightParen},
    {"{", Token::kLeftBrace},   {"}", Token::kRightBrace},   {">", Token::kGt},        {"<", Token::kLt},
    {"=", Token::kAssign},      {".", Token::kDot},          {":", Token::kColon},     {"|", Token::kPipe},
    {",", Token::kComma},       {";", Token::kSemicolon}};

class Lexer {
 public:
  Lexer(std::string_view source, Arena& arena, std::vector<Lexeme>& out, Problem& problem)
      : source_(source), arena_(arena), out_(out), problem_(problem) {}

  bool run() {
    while (pos_ < source_.size())
      if (!root()) return false;
    out_.push_back({.at = static_cast<uint32_t>(source_.size())});
    return true;
  }

 private:
  bool fail(size_t at, std::initializer_list<Part> parts) {
    problem_ = {Problem::Code::kTemplate, sentence(parts), static_cast<uint32_t>(at), true};
    return false;
  }
  [[nodiscard]] bool at(size_t pos, std::string_view text) const { return source_.substr(pos).starts_with(text); }
  [[nodiscard]] char peek(size_t pos) const { return pos < source_.size() ? source_[pos] : '\0'; }

  [[nodiscard]] size_t skip_space(size_t pos) const {
    while (pos < source_.size()) {
      const CodePoint c = code_point_at(source_, pos);
      if (!has(c.value, kSpace)) break;
      pos += c.length;
    }
    return pos;
  }

  void push(Token type, size_t at) { out_.push_back({.type = type, .at = static_cast<uint32_t>(at)}); }

  bool push_text(Token type, size_t at, std::string_view text) {
    Str* str = arena_.create<Str>();
    char* copy = static_cast<char*>(arena_.allocate(text.size()));
    if (str == nullptr || copy == nullptr) return too_large(at);
    std::copy(text.begin(), text.end(), copy);
    str->data = copy;
    str->size = static_cast<uint32_t>(text.size());
    out_.push_back({.type = type, .at = static_cast<uint32_t>(at), .value = Value::of(str)});
    return true;
  }
  bool too_large(size_t at) {
    problem_ = {Problem::Code::kLimit, "it takes too much memory", static_cast<uint32_t>(at), true};
    return false;
  }

  /// The end of a tag such as "{%-? raw %}"; npos if there is none here.
  [[nodiscard]] size_t raw_tag(size_t pos, std::string_view name, bool begin) const {
    if (!at(pos, "{%")) return std::string_view::npos;
    pos += 2;
    if (peek(pos) == '-' || peek(pos) == '+') ++pos;
    pos = skip_space(pos);
    if (!at(pos, name)) return std::string_view::npos;
    pos = skip_space(pos + name.size());
    if (at(pos, "-%}")) return skip_space(pos + 3);
    if (at(pos, "%}")) return !begin && peek(pos + 2) == '\n' ? pos + 3 : pos + 2;
    if (!begin && at(pos, "+%}")) return pos + 3;
    return std::string_view::npos;
  }

  /// Adds the data from begin to end, after the whitespace control of the tag that follows it.
  bool data(size_t begin, size_t end, char sign, bool variable) {
    std::string_view text = source_.substr(begin, end - begin);
    if (sign == '-') {
      while (!text.empty()) {
        const CodePoint c = code_point_before(text, text.size());
        if (!has(c.value, kSpace)) break;
        text.remove_suffix(c.length);
      }
    } else if (sign != '+' && !variable) {
      const size_t newline = text.rfind('\n');
      const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line > 0 || line_starting_) && skip_space(begin + line) >= end) text = text.substr(0, line);
    }
    return text.empty() || push_text(Token::kData, begin, text);
  }

  bool root() {
    const size_t begin = pos_;
    size_t open = begin;
    for (;; ++open) {
      open = source_.find('{', open);
      if (open == std::string_view::npos) {
        pos_ = source_.size();
        return push_text(Token::kData, begin, source_.substr(begin));
      }
      const char kind = peek(open + 1);
      if (kind == '{' || kind == '%' || kind == '#') break;
    }
    const char kind = source_[open + 1];
    const char sign = peek(open + 2) == '-' || peek(open + 2) == '+' ? source_[open + 2] : '\0';
    if (!data(begin, open, sign, kind == '{')) return false;
    if (kind == '%') {
      if (const size_t end = raw_tag(open, "raw", true); end != std::string_view::npos) {
        pos_ = end;
        line_starting_ = source_[end - 1] == '\n';
        return raw(open);
      }
    }
    pos_ = open + (sign != '\0' ? 3 : 2);
    line_starting_ = false;
    if (kind == '#') return comment(open);
    push(kind == '{' ? Token::kVariableBegin : Token::kBlockBegin, open);
    return tag(kind == '{', open);
  }

  bool raw(size_t open) {
    const size_t begin = pos_;
    for (size_t found = begin; (found = source_.find("{%", found)) != std::string_view::npos; ++found) {
      const size_t end = raw_tag(found, "endraw", false);
      if (end == std::string_view::npos) continue;
      const char sign = peek(found + 2);
      if (!data(begin, found, sign == '-' || sign == '+' ? sign : '\0', false)) return false;
      pos_ = end;
      line_starting_ = source_[end - 1] == '\n';
      return true;
    }
    // Jinja2 does not miss the end of an empty {% raw %} or comment that ends the template.
    return pos_ == source_.size() || fail(open, {"{% raw %} has no {% endraw %}"});
  }

  bool comment(size_t open) {
    const size_t end = source_.find("#}", pos_);
    if (end == std::string_view::npos) return pos_ == source_.size() || fail(open, {"this comment has no end, #}"});
    const char sign = end > pos_ ? source_[end - 1] : '\0';
    pos_ = end + 2;
    if (sign == '-')
      pos_ = skip_space(pos_);
    else if (sign != '+' && peek(pos_) == '\n')
      ++pos_;
    line_starting_ = source_[pos_ - 1] == '\n';
    return true;
  }

  bool tag_end(bool variable) {
    size_t end = pos_;
    if (at(pos_, variable ? "-}}" : "-%}"))
      end = skip_space(pos_ + 3);
    else if (at(pos_, variable ? "}}" : "%}"))
      end = pos_ + (!variable && peek(pos_ + 2) == '\n' ? 3 : 2);
    else if (!variable && at(pos_, "+%}"))
      end = pos_ + 3;
    else
      return false;
    push(variable ? Token::kVariableEnd : Token::kBlockEnd, pos_);
    pos_ = end;
    line_starting_ = source_[end - 1] == '\n';
    return true;
  }

  bool tag(bool variable, size_t open) {
    std::string brackets;
    while (pos_ < source_.size()) {
      if (brackets.empty() && tag_end(variable)) return true;
      const size_t next = skip_space(pos_);
      if (next != pos_) {
        pos_ = next;
        continue;
      }
      const char c = source_[pos_];
      if (is_digit(c)) {
        if (!number()) return false;
      } else if (c == '"' || c == '\'') {
        if (!string()) return false;
      } else if (!name() && !op(brackets)) {
        return problem_.code == Problem::Code::kNone ? fail(pos_, {"unexpected character ", Quoted{character()}})
                                                     : false;
      }
    }
    // As in Jinja2, the parser reports a tag that is cut off by the template's end.
    (void)open;
    return true;
  }

  [[nodiscard]] std::string_view character() const { return source_.substr(pos_, code_point_at(source_, pos_).length); }

  bool op(std::string& brackets) {
    for (const Operator& one : kOperators) {
      if (!at(pos_, one.text)) continue;
      const char c = one.text[0];
      if (c == '{' || c == '(' || c == '[') brackets += c == '{' ? '}' : c == '(' ? ')' : ']';
      if (c == '}' || c == ')' || c == ']') {
        if (brackets.empty()) return fail(pos_, {"unexpected ", one.text});
        if (brackets.back() != c)
          return fail(pos_, {"unexpected ", one.text, ", expected ", std::string_view(&brackets.back(), 1)});
        brackets.pop_back();
      }
      push(one.type, pos_);
      pos_ += one.text.size();
      return true;
    }
    return false;
  }

  bool name() {
    size_t end = pos_;
    while (end < source_.size()) {
      const CodePoint c = code_point_at(source_, end);
      if (c.value != '_' && !has(c.value, kAlnum | kIdentifier)) break;
      end += c.length;
    }
    if (end == pos_) return false;
    const std::string_view text = source_.substr(pos_, end - pos_);
    for (size_t i = 0; i < text.size();) {
      const CodePoint c = code_point_at(text, i);
      const bool valid = c.value == '_' || has(c.value, i == 0 ? kIdentifierStart : kIdentifier);
      if (!valid) return fail(pos_, {"invalid character in the name ", Quoted{text}});
      i += c.length;
    }
    out_.push_back({.type = Token::kName, .at = static_cast<uint32_t>(pos_), .text = text});
    pos_ = end;
    return true;
  }

  /// Matches (\d+_)*\d+ at pos and returns its end, or pos if there is no digit.
  [[nodiscard]] size_t digits(size_t pos) const {
    while (is_digit(peek(pos)) ||
           (peek(pos) == '_' && pos > 0 && is_digit(source_[pos - 1]) && is_digit(peek(pos + 1))))
      ++pos;
    return pos;
  }

  [[nodiscard]] size_t float_end() const {
    if (pos_ > 0 && source_[pos_ - 1] == '.') return pos_;
    size_t end = digits(pos_);
    bool is_float = false;
    if (peek(end) == '.' && is_digit(peek(end + 1))) {
      end = digits(end + 1);
      is_float = true;
    }
    if (peek(end) == 'e' || peek(end) == 'E') {
      size_t exponent = end + 1;
      if (peek(exponent) == '+' || peek(exponent) == '-') ++exponent;
      if (is_digit(peek(exponent))) return digits(exponent);
    }
    return is_float ? end : pos_;
  }

  bool number() {
    const size_t begin = pos_;
    if (const size_t end = float_end(); end != begin) {
      const std::string text = without_underscores(begin, end);
      out_.push_back(
          {.type = Token::kNumber, .at = static_cast<uint32_t>(begin), .value = Value::of(parse_float(text))});
      pos_ = end;
      return true;
    }
    uint32_t base = 10;
    size_t end = begin;
    if (source_[begin] == '0') {
      const char kind = static_cast<char>(peek(begin + 1) | 32);
      base = kind == 'b' ? 2 : kind == 'o' ? 8 : kind == 'x' ? 16 : 10;
      if (base != 10) {
        end = begin + 2;
        const auto is = [&](size_t i) { return digit_value(static_cast<uint8_t>(peek(i))) < base; };
        while (is(end) || (peek(end) == '_' && is(end + 1))) ++end;
        if (end == begin + 2) base = 10;
      }
      if (base == 10) {
        end = begin + 1;
        while (peek(end) == '0' || (peek(end) == '_' && peek(end + 1) == '0')) ++end;
      }
    } else {
      end = digits(begin);
    }
    const std::string text = without_underscores(base == 10 ? begin : begin + 2, end);
    const Value value = parse_integer(arena_, text, base);
    if (value.failed()) return too_large(begin);
    out_.push_back({.type = Token::kNumber, .integer = true, .at = static_cast<uint32_t>(begin), .value = value});
    pos_ = end;
    return true;
  }

  [[nodiscard]] std::string without_underscores(size_t begin, size_t end) const {
    std::string text;
    for (size_t i = begin; i < end; ++i)
      if (source_[i] != '_') text += source_[i];
    return text;
  }

  bool string() {
    const size_t begin = pos_;
    const char quote = source_[begin];
    size_t end = begin + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return fail(begin, {"this string has no end"});
    std::string text;
    for (size_t i = begin + 1; i < end;) {
      if (source_[i] != '\\')
        text += source_[i++];
      else if (!escape(i, end, text))
        return false;
    }
    pos_ = end + 1;
    return push_text(Token::kString, begin, text);
  }

  /// Decodes the escape at i like Python's unicode-escape.
  bool escape(size_t& i, size_t end, std::string& text) {
    constexpr std::string_view kLetters = "ntrabfv\\'\"";
    constexpr std::string_view kMeanings = "\n\t\r\a\b\f\v\\'\"";
    const size_t begin = i;
    const char c = source_[i + 1];
    i += 2;
    if (const size_t known = kLetters.find(c); known != std::string_view::npos) {
      text += kMeanings[known];
    } else if (c == '\n') {
    } else if (c >= '0' && c <= '7') {
      uint32_t value = 0;
      --i;
      for (size_t max = i + 3; i < end && i < max && source_[i] >= '0' && source_[i] <= '7'; ++i)
        value = value * 8 + static_cast<uint32_t>(source_[i] - '0');
      append_code_point(text, value);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t max = i + (c == 'x' ? 2 : c == 'u' ? 4 : 8);
      uint32_t value = 0;
      for (; i < max; ++i) {
        const uint32_t digit = i < end ? digit_value(static_cast<uint8_t>(source_[i])) : 16;
        if (digit >= 16) return fail(begin, {"the escape \\", std::string_view(&c, 1), " of this string is cut"});
        value = value * 16 + digit;
      }
      if (value > 0x10FFFF) return fail(begin, {"this string has an escape beyond \\U0010ffff"});
      append_code_point(text, value);
    } else if (c == 'N') {
      return fail(begin, {"strings may not name characters by \\N{...}: write the character"});
    } else {
      text += '\\';
      text += c;
    }
    return true;
  }

  std::string_view source_;
  Arena& arena_;
  std::vector<Lexeme>& out_;
  Problem& problem_;
  size_t pos_ = 0;
  bool line_starting_ = true;
};

}  // namespace

std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool tokenize(std::string_view source, Arena& arena, std::vector<Lexeme>& out, Problem& problem) {
  return Lexer(source, arena, out, problem).run();
}

}  // namespace ggufscope::jinja
