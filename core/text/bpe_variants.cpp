// The BPE kinds that transform the text first: hybriddna and whitespace.
#include <algorithm>

#include "text/bpe.hpp"
#include "text/unicode.hpp"

namespace ggufscope {

// <dna>...</dna> contains six-letter words of DNA bases, which have marked tokens. The rest is ordinary text.
void BpeModel::encode_dna(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  constexpr std::string_view kOpen = "<dna>", kClose = "</dna>";
  constexpr size_t kLength = 6;
  const TokenId open = v.find(kOpen), close = v.find(kClose), unknown = v.find("<oov>");
  if (open == kNoToken || close == kNoToken || unknown == kNoToken) return encode_text(v, text, out);
  for (size_t pos = 0; pos < text.size();) {
    const size_t start = std::min(text.find(kOpen, pos), text.size());
    if (start > pos) encode_text(v, text.substr(pos, start - pos), out);
    if (start == text.size()) return;
    out.push_back(open);
    const size_t content = start + kOpen.size();
    const size_t end = std::min(text.find(kClose, content), text.size());
    for (size_t i = content; i < end; i += kLength) {
      std::string word(text.substr(i, std::min(kLength, end - i)));
      for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
      word.append(kLength - word.size(), 'A');
      const TokenId token = v.find(word + "\xEE\x80\x80");
      out.push_back(token != kNoToken ? token : unknown);
    }
    if (end == text.size()) return;
    out.push_back(close);
    pos = end + kClose.size();
  }
}

// Splits at white space, which is dropped.
void BpeModel::encode_segments(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  std::string segment;
  for (size_t pos = 0; pos <= text.size();) {
    const Decoded c = pos < text.size() ? decode_utf8(text, pos) : Decoded{' ', 1};
    pos += c.length;
    if (char_class(c.code_point) != CharClass::kWhitespace) {
      append_utf8(segment, v.lowercase ? to_lower(c.code_point) : c.code_point);
      continue;
    }
    if (!segment.empty()) encode_text(v, segment, out);
    segment.clear();
  }
}

}  // namespace ggufscope
