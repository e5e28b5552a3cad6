// Parses the RWKV World vocabulary.
#include "text/rwkv_world.hpp"

#include <charconv>

#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr std::string_view kNoun = "tokenizer.rwkv.world";
constexpr uint32_t kNotANumber = 0xFFFFFFFF;

uint32_t parse_number(std::string_view digits, int base) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc{} && end == digits.data() + digits.size() ? value : kNotANumber;
}

// Reads the escape after a backslash at text[pos - 1]. Returns false for an escape that Python's repr() does not
// produce.
bool read_escape(std::string_view text, size_t& pos, bool is_bytes, std::string& out) {
  if (pos >= text.size()) return false;
  const char c = text[pos++];
  const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (digits == 0) {
    constexpr std::string_view kNames = "tnr\\'\"", kValues = "\t\n\r\\'\"";
    const size_t at = kNames.find(c);
    if (at == std::string_view::npos) return false;
    out.push_back(kValues[at]);
    return true;
  }
  if (text.size() - pos < digits) return false;
  const uint32_t value = parse_number(text.substr(pos, digits), 16);
  pos += digits;
  if (value > 0x10FFFF || (is_bytes && c != 'x')) return false;  // kNotANumber is larger, too
  if (is_bytes)
    out.push_back(static_cast<char>(value));
  else
    append_utf8(out, value);
  return true;
}

}  // namespace

Result<RwkvWorldToken> read_rwkv_world_line(std::string_view text, size_t& pos, uint64_t offset) {
  const size_t start = pos;
  const std::string_view rest = text.substr(start);
  std::string_view line = rest.substr(0, rest.find('\n'));
  pos = start + std::min(line.size() + 1, rest.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto wrong = [&](ErrorCode code, std::string_view what) { return fail(code, offset + start, what, kNoun); };

  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || last <= first + 1) return wrong(ErrorCode::kUnsupported, "no line of a token");
  RwkvWorldToken token;
  token.id = parse_number(line.substr(0, first), 10);
  std::string_view literal = line.substr(first + 1, last - first - 1);
  const bool is_bytes = literal.starts_with('b');
  if (is_bytes) literal.remove_prefix(1);
  const char quote = literal.empty() ? '\0' : literal.front();
  if (token.id == kNotANumber || literal.size() < 2 || (quote != '\'' && quote != '"') || !literal.ends_with(quote))
    return wrong(ErrorCode::kUnsupported, "no line of a token");
  literal = literal.substr(1, literal.size() - 2);
  for (size_t at = 0; at < literal.size();) {
    if (literal[at++] != '\\')
      token.bytes.push_back(literal[at - 1]);
    else if (!read_escape(literal, at, is_bytes, token.bytes))
      return wrong(ErrorCode::kUnsupported, "unknown escape");
  }
  if (parse_number(line.substr(last + 1), 10) != token.bytes.size())
    return wrong(ErrorCode::kBadLength, "a token is not as long as its line says");
  return token;
}

std::string escape_rwkv(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7F) {
      out.push_back(c);
    } else {
      out += "\\x";
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

}  // namespace ggufscope
