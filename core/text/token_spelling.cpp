// Converts between bytes and their spelling in tokens.
#include "text/token_spelling.hpp"

#include <algorithm>
#include <array>

#include "text/unicode.hpp"

namespace ggufscope {
namespace {
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int letter = c | 32;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}
}  // namespace

int parse_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = hex_digit(text[3]), low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

namespace {
constexpr bool is_printable_byte(uint32_t b) {
  return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
}
struct PrintableBytes {
  std::array<uint16_t, 256> of_byte{};
  std::array<int16_t, 0x144> to_byte{};
};
constexpr PrintableBytes kPrintable = [] {
  PrintableBytes table;
  for (int16_t& byte : table.to_byte) byte = -1;
  uint16_t next = 0x100;
  for (uint16_t b = 0; b < 256; ++b) {
    table.of_byte[b] = is_printable_byte(b) ? b : next++;
    table.to_byte[table.of_byte[b]] = static_cast<int16_t>(b);
  }
  return table;
}();
}  // namespace

uint32_t printable_of_byte(uint8_t byte) { return kPrintable.of_byte[byte]; }

int byte_of_printable(uint32_t code_point) {
  return code_point < kPrintable.to_byte.size() ? kPrintable.to_byte[code_point] : -1;
}

bool append_printable_bytes(std::string& out, std::string_view text) {
  const size_t before = out.size();
  // There are at most as many bytes as characters, so the buffer does not grow again.
  out.resize(before + text.size());
  char* to = out.data() + before;
  for (size_t pos = 0; pos < text.size();) {
    const auto lead = static_cast<uint8_t>(text[pos]);
    const Decoded decoded = lead < 0x80 ? Decoded{lead, 1} : decode_utf8(text, pos);
    const int byte = byte_of_printable(decoded.code_point);
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    *to++ = static_cast<char>(byte);
    pos += decoded.length;
  }
  out.resize(static_cast<size_t>(to - out.data()));
  return true;
}

void append_unescaped_spaces(std::string& out, std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    const size_t mark = std::min(text.find(kSpaceMark, pos), text.size());
    out += text.substr(pos, mark - pos);
    if (mark < text.size()) out.push_back(' ');
    pos = mark + kSpaceMark.size();
  }
}

void append_escaped_spaces(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == ' ')
      out += kSpaceMark;
    else
      out.push_back(c);
  }
}

size_t end_of_marked_word(std::string_view text, size_t start) {
  while (text.substr(start).starts_with(kSpaceMark)) start += kSpaceMark.size();
  return std::min(text.find(kSpaceMark, start), text.size());
}

bool has_inner_mark(std::string_view text) { return end_of_marked_word(text, 0) != text.size(); }

std::string unescape_rwkv(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      if (text[i] != '\\') out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    if (c == 'x') {
      const int high = text.size() - i < 3 ? -1 : hex_digit(text[i + 1]);
      const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
      if (low < 0) continue;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c);
    }
  }
  return out;
}

}  // namespace ggufscope
