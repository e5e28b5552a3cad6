// Parses GBNF to a syntax tree.
#include "engine/gbnf.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/utf8.hpp"
#include "text/unicode.hpp"

namespace ggufscope::gbnf {
namespace {

using Kind = Expression::Kind;

constexpr uint64_t kMaxText = 4u << 20;
constexpr int kMaxDepth = 100, kMaxRepeats = 4;
constexpr uint32_t kMaxCount = 1u << 31;             // of a repetition
constexpr size_t kMaxExpressions = size_t{1} << 20;  // some hundred bytes each
constexpr size_t kExpressionsOfRule = 4;             // what a rule takes besides its body
constexpr uint32_t kMaxCodePoint = 0x10FFFF, kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<CodePoints> sorted_apart(std::vector<CodePoints> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](CodePoints a, CodePoints b) { return a.first < b.first; });
  std::vector<CodePoints> out;
  for (const CodePoints r : ranges) {
    if (!out.empty() && r.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, r.last);
    else
      out.push_back(r);
  }
  return out;
}

// The complement of the sorted ranges.
std::vector<CodePoints> complement(const std::vector<CodePoints>& ranges) {
  std::vector<CodePoints> out;
  uint32_t next = 0;
  for (const CodePoints r : ranges) {
    if (r.first > next) out.push_back({next, r.first - 1});
    next = r.last + 1;
  }
  if (next <= kMaxCodePoint) out.push_back({next, kMaxCodePoint});
  return out;
}

// Surrogates are excluded, because they are not characters.
std::vector<CodePoints> without_surrogates(const std::vector<CodePoints>& ranges) {
  std::vector<CodePoints> out;
  for (const CodePoints r : ranges) {
    if (r.first < kFirstSurrogate) out.push_back({r.first, std::min(r.last, kFirstSurrogate - 1)});
    if (r.last > kLastSurrogate) out.push_back({std::max(r.first, kLastSurrogate + 1), r.last});
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Rules> parse(std::string_view root) {
    if (text_.size() > kMaxText)
      return fail(ErrorCode::kOutOfRange, "a grammar of " + std::to_string(text_.size()) + " bytes is too long");
    if (!utf16_length({reinterpret_cast<const uint8_t*>(text_.data()), text_.size()}))
      return fail(ErrorCode::kInvalidArgument, "the grammar is not UTF-8");
    for (skip_space(true); at_ < text_.size(); skip_space(true))
      if (!rule()) return std::unexpected(error_);
    Rules out{std::move(rules_), std::move(tokens_), 0};
    const auto found = ids_.find(std::string(root));
    if (found == ids_.end() || !out.rules[found->second].defined)
      return fail(ErrorCode::kInvalidArgument, "the grammar has no rule " + std::string(root));
    out.root = found->second;
    for (const Rule& rule : out.rules)
      if (!rule.defined) return fail(ErrorCode::kInvalidArgument, rule.offset, "no rule " + rule.name, "the grammar");
    return out;
  }

 private:
  // Records an error and returns false, which the parsing functions then return, too.
  bool complain(std::string_view what, ErrorCode code = ErrorCode::kInvalidArgument) {
    return complain(at_, what, code);
  }
  bool complain(size_t offset, std::string_view what, ErrorCode code = ErrorCode::kInvalidArgument) {
    error_ = ggufscope::fail(code, offset, what, "the grammar").error();
    return false;
  }
  [[nodiscard]] bool here(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n' && text_[at_ + 1] != '\r') ++at_;
      } else if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r'))) {
        return;
      }
    }
  }

  std::string_view name() {
    const size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  uint32_t rule_id(std::string_view name, size_t offset) {
    const auto [found, added] = ids_.try_emplace(std::string(name), static_cast<uint32_t>(rules_.size()));
    if (added) rules_.push_back({.name = std::string(name), .offset = offset});
    return found->second;
  }

  bool rule() {
    const size_t start = at_;
    const std::string_view named = name();
    if (named.empty()) return complain("expected a rule's name");
    skip_space(false);
    if (text_.substr(at_, 3) != "::=") return complain("expected ::=");
    at_ += 3;
    skip_space(true);
    if (!count_expression(kExpressionsOfRule)) return false;
    const uint32_t id = rule_id(named, start);
    if (rules_[id].defined) return complain(start, "a second rule " + std::string(named));
    Expression body{.kind = Kind::kChoice};
    if (!alternatives(body, 0)) return false;
    rules_[id].defined = true;
    rules_[id].body = std::move(body);
    if (at_ < text_.size() && !here('\n') && !here('\r') && !starts_line())
      return complain("expected the end of the line");
    return true;
  }

  [[nodiscard]] bool starts_line() const {
    size_t i = at_;
    while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t')) --i;
    return i == 0 || text_[i - 1] == '\n' || text_[i - 1] == '\r';
  }

  bool alternatives(Expression& out, int depth) {
    for (;;) {
      if (!count_expression()) return false;
      Expression& sequence = out.items.emplace_back(Expression{.kind = Kind::kSequence});
      if (!items(sequence, depth)) return false;
      const size_t end = at_;
      skip_space(true);
      if (!here('|')) {
        if (depth == 0) at_ = end;
        return true;
      }
      ++at_;
      skip_space(true);
    }
  }

  bool items(Expression& out, int depth) {
    for (;;) {
      skip_space(depth > 0);
      const size_t start = at_;
      Expression item{.kind = Kind::kSequence};
      const char c = now();
      if (c == '"') {
        if (!quoted(item)) return false;
      } else if (c == '[') {
        if (!char_class(item)) return false;
      } else if (c == '.') {
        ++at_;
        item.kind = Kind::kClass;
        item.ranges = without_surrogates({{0, kMaxCodePoint}});
      } else if (c == '(') {
        if (depth == kMaxDepth) return complain("parentheses nested too deep", ErrorCode::kTooDeep);
        ++at_;
        item.kind = Kind::kChoice;
        if (!alternatives(item, depth + 1)) return false;
        if (!here(')'))
          return complain(at_ < text_.size() ? at_ : start, at_ < text_.size() ? "expected )" : "unclosed (");
        ++at_;
      } else if (is_name(c)) {
        const std::string_view called = name();
        const size_t after = at_;
        skip_space(depth > 0);
        const bool defines = text_.substr(at_, 3) == "::=";
        at_ = after;
        if (defines) {  // this is the name of the next rule; the rule before ended with its line
          at_ = start;
          return depth == 0 || complain("expected ) before the next rule");
        }
        item.kind = Kind::kRule;
        item.rule = rule_id(called, start);
      } else if (c == '<' || c == '!') {
        if (!token(item)) return false;
      } else {
        return true;
      }
      if (!repeats(item) || !count_expression()) return false;
      out.items.push_back(std::move(item));
    }
  }

  bool count_expression(size_t n = 1) {
    n_expressions_ += n;
    return n_expressions_ <= kMaxExpressions ||
           complain("the grammar is too large: more than " + std::to_string(kMaxExpressions) + " items",
                    ErrorCode::kOutOfRange);
  }

  // <name>, <[id]>, or either with ! before it.
  bool token(Expression& out) {
    const size_t start = at_;
    out.kind = Kind::kToken;
    out.negated = here('!');
    if (out.negated) ++at_;
    if (!here('<')) return complain("expected a token in <>");
    gbnf::Token named{.text = {}, .offset = start};
    if (text_.substr(at_ + 1, 1) == "[") {
      at_ += 2;
      if (!number(named.id)) return false;
      if (text_.substr(at_, 2) != "]>") return complain("expected ]>");
      at_ += 2;
    } else {
      const size_t end = text_.find_first_of(">\n", at_);
      if (end == std::string_view::npos || text_[end] != '>') return complain(start, "a token without its >");
      named.text = text_.substr(at_, end + 1 - at_);
      at_ = end + 1;
    }
    out.rule = static_cast<uint32_t>(tokens_.size());
    tokens_.push_back(std::move(named));
    return true;
  }

  bool repeats(Expression& item) {
    for (int n = 0;; ++n) {
      const size_t end = at_;
      skip_space(false);
      uint32_t min = 0, max = kNoLimit;
      if (here('*')) {
      } else if (here('+')) {
        min = 1;
      } else if (here('?')) {
        max = 1;
      } else if (here('{')) {
        ++at_;
        if (!counts(min, max)) return false;
      } else {
        at_ = end;
        return true;
      }
      if (!count_expression()) return false;
      if (n == kMaxRepeats) return complain("repetitions nested too deep", ErrorCode::kTooDeep);
      ++at_;
      Expression outer{.kind = Kind::kRepeat, .min = min, .max = max};
      outer.items.push_back(std::move(item));
      item = std::move(outer);
    }
  }

  bool count(uint32_t& out) {
    const size_t start = at_;
    if (!number(out)) return false;
    return out <= kMaxCount || complain(start, "a count too large", ErrorCode::kOutOfRange);
  }

  bool counts(uint32_t& min, uint32_t& max) {
    skip_space(false);
    if (!count(min)) return false;
    max = min;
    skip_space(false);
    if (here(',')) {
      ++at_;
      skip_space(false);
      max = kNoLimit;
      if (!here('}') && !count(max)) return false;
      skip_space(false);
    }
    if (!here('}')) return complain("expected }");
    return max >= min || complain("a largest count below the smallest");
  }

  bool number(uint32_t& out) {
    if (!is_digit(now())) return complain("expected a number");
    uint64_t value = 0;
    for (; is_digit(now()); ++at_) {
      value = 10 * value + static_cast<uint64_t>(now() - '0');
      if (value >= kNoLimit) return complain("a count too large", ErrorCode::kOutOfRange);
    }
    out = static_cast<uint32_t>(value);
    return true;
  }

  bool quoted(Expression& out) {
    const size_t start = at_++;
    out.kind = Kind::kText;
    while (!here('"')) {
      uint32_t code_point = 0;
      if (at_ >= text_.size()) return complain(start, "unclosed text");
      if (!character(code_point)) return false;
      append_utf8(out.text, code_point);
    }
    ++at_;
    return true;
  }

  bool char_class(Expression& out) {
    const size_t start = at_++;
    const bool negated = here('^');
    if (negated) ++at_;
    std::vector<CodePoints> ranges;
    while (!here(']')) {
      if (at_ >= text_.size()) return complain(start, "unclosed class");
      const size_t first_at = at_;
      CodePoints range{};
      if (!character(range.first)) return false;
      range.last = range.first;
      if (here('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        if (at_ >= text_.size()) return complain(start, "unclosed class");
        if (!character(range.last)) return false;
        if (range.last < range.first) return complain(first_at, "a range that ends before it starts");
      }
      ranges.push_back(range);
    }
    ++at_;
    // To llama.cpp, [^] is the empty text, not any character.
    if (ranges.empty()) return complain(start, "a class without characters");
    ranges = sorted_apart(std::move(ranges));
    if (negated) ranges = complement(ranges);
    out.kind = Kind::kClass;
    out.ranges = without_surrogates(ranges);
    return !out.ranges.empty() || complain(start, "a class without characters");
  }

  bool character(uint32_t& out) {
    if (!here('\\')) {
      const Decoded decoded = decode_utf8(text_, at_);
      out = decoded.code_point;
      at_ += decoded.length;
      return true;
    }
    const size_t start = at_++;
    const char c = now();
    ++at_;
    switch (c) {
      case 'n':
        return out = '\n', true;
      case 'r':
        return out = '\r', true;
      case 't':
        return out = '\t', true;
      case 'x':
        return hex(start, 2, out);
      case 'u':
        return hex(start, 4, out);
      case 'U':
        return hex(start, 8, out);
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^':
        return out = static_cast<unsigned char>(c), true;
      default:
        return complain(start, "an unknown escape");
    }
  }

  bool hex(size_t start, size_t n_digits, uint32_t& out) {
    out = 0;
    for (size_t i = 0; i < n_digits; ++i, ++at_) {
      const char c = now(), lower = static_cast<char>(c | 0x20);
      if (is_digit(c))
        out = 16 * out + static_cast<uint32_t>(c - '0');
      else if (lower >= 'a' && lower <= 'f')
        out = 16 * out + static_cast<uint32_t>(lower - 'a' + 10);
      else
        return complain(start, "an escape without its " + std::to_string(n_digits) + " hexadecimal digits");
    }
    if (out > kMaxCodePoint || (out >= kFirstSurrogate && out <= kLastSurrogate))
      return complain(start, "an escape that is not a character");
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t n_expressions_ = 0;
  std::vector<Rule> rules_;
  std::vector<gbnf::Token> tokens_;
  std::unordered_map<std::string, uint32_t> ids_;
  Error error_{};
};

}  // namespace

Result<Rules> parse(std::string_view text, std::string_view root) { return Parser(text).parse(root); }

}  // namespace ggufscope::gbnf
