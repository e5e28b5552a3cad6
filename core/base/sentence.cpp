// Joins the parts of a message.
#include "base/sentence.hpp"

namespace ggufscope {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  constexpr size_t kMaxLength = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '\'';
  for (const char c : text.substr(0, kMaxLength)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  out += text.size() > kMaxLength ? "...'" : "'";
}

}  // namespace

void Part::append_to(std::string& out) const {
  if (kind_ == Kind::kText) {
    out.append(text_, length_);
  } else if (kind_ == Kind::kTerminated) {
    out += text_;
  } else if (kind_ == Kind::kQuoted) {
    append_quoted(out, {text_, length_});
  } else {
    if (kind_ == Kind::kNegative) out += '-';
    out += std::to_string(kind_ == Kind::kNegative ? 0 - number_ : number_);
    if (kind_ == Kind::kCounted) {
      const bool plural = number_ != 1;
      out += ' ';
      out += plural && many_ != nullptr ? many_ : text_;
      if (plural && many_ == nullptr) out += 's';
    }
  }
}

std::string sentence(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) part.append_to(out);
  return out;
}

}  // namespace ggufscope
