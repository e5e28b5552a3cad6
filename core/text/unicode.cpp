// Decodes UTF-8 and looks characters up.
#include "text/unicode.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace ggufscope {
namespace {

struct CaseRun {
  uint32_t first;
  uint16_t count;
  uint16_t stride;
  int32_t delta;
};
#include "text/unicode_tables.inc"

constexpr uint32_t kLimit = 0x110000;
constexpr uint32_t kBlockBits = 7;

constexpr auto kClassIndex = [] {
  std::array<uint8_t, (kLimit >> kBlockBits)> index{};
  size_t at = 0;
  for (const auto& run : kClassIndexRuns) {
    for (uint16_t i = 0; i < run[1]; ++i) index[at++] = static_cast<uint8_t>(run[0]);
  }
  return index;
}();

}  // namespace

CharClass char_class(uint32_t code_point) {
  if (code_point >= kLimit) return CharClass::kUnassigned;
  const size_t half = (static_cast<size_t>(kClassIndex[code_point >> kBlockBits]) << kBlockBits) +
                      (code_point & ((1u << kBlockBits) - 1));
  return static_cast<CharClass>((kClassBlocks[half >> 1] >> ((half & 1) * 4)) & 0xF);
}

uint32_t to_lower(uint32_t code_point) {
  if (code_point < 0xC0) return code_point - 'A' < 26u ? code_point + 32 : code_point;
  const CaseRun* run = std::upper_bound(std::begin(kLowercase), std::end(kLowercase), code_point,
                                        [](uint32_t c, const CaseRun& r) { return c < r.first; }) -
                       1;
  const uint32_t distance = code_point - run->first;
  if (distance % run->stride != 0 || distance / run->stride >= run->count) return code_point;
  return static_cast<uint32_t>(static_cast<int32_t>(code_point) + run->delta);
}

BaseTable::BaseTable() {
  size_t at = 0;
  const auto next = [&] {
    uint32_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
      const uint8_t byte = kPackedBases[at++];
      value |= (byte & 0x7Fu) << shift;
      if (byte < 0x80) return value;
    }
  };
  uint32_t end = 0, base = 0;
  while (at < std::size(kPackedBases)) {
    const uint32_t first = end + next(), count = next(), distance = next();
    base += (distance & 1) != 0 ? ~(distance >> 1) : distance >> 1;
    end = first + count;
    runs_.push_back({first, count, base});
  }
}

uint32_t BaseTable::base_of(uint32_t code_point) const {
  const auto above = std::upper_bound(runs_.begin(), runs_.end(), code_point,
                                      [](uint32_t c, const Run& run) { return c < run.first; });
  if (above == runs_.begin()) return code_point;
  const Run& run = above[-1];
  return code_point - run.first < run.count ? run.base : code_point;
}

bool is_han(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2EBEF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

Decoded decode_utf8(std::string_view text, size_t pos) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[pos + i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = utf8_length(lead);
  if (length == 1 || lead >= 0xF8 || length > text.size() - pos) return {kReplacement, 1};
  uint32_t value = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kReplacement, 1};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value >= kLimit || value < kSmallest[length]) return {kReplacement, 1};
  return {value, static_cast<uint32_t>(length)};
}

void append_utf8(std::string& out, uint32_t c) {
  const auto push = [&](uint32_t byte) { out.push_back(static_cast<char>(static_cast<uint8_t>(byte))); };
  if (c < 0x80) {
    push(c);
  } else if (c < 0x800) {
    push(0xC0 | (c >> 6));
    push(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    push(0xE0 | (c >> 12));
    push(0x80 | ((c >> 6) & 0x3F));
    push(0x80 | (c & 0x3F));
  } else {
    push(0xF0 | (c >> 18));
    push(0x80 | ((c >> 12) & 0x3F));
    push(0x80 | ((c >> 6) & 0x3F));
    push(0x80 | (c & 0x3F));
  }
}

bool is_canonical_utf8(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    if (static_cast<uint8_t>(text[pos]) < 0x80) {
      ++pos;
      continue;
    }
    const Decoded decoded = decode_utf8(text, pos);
    if (decoded.length == 1) return false;
    pos += decoded.length;
  }
  return true;
}

std::string canonical_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t pos = 0; pos < text.size();) {
    const Decoded decoded = decode_utf8(text, pos);
    append_utf8(out, decoded.code_point);
    pos += decoded.length;
  }
  return out;
}

namespace {

// The bytes of the longest beginning of a valid sequence at text[pos], and whether it is a whole one.
std::pair<size_t, bool> longest_beginning(std::string_view text, size_t pos) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(pos);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t length = utf8_length(lead);
  // Excludes overlong forms, surrogates and code points above U+10FFFF.
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t n = 1; n < length; ++n) {
    if (pos + n == text.size() || byte(pos + n) < low || byte(pos + n) > high) return {n, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const auto [length, whole] = longest_beginning(text, pos);
    if (whole)
      out += text.substr(pos, length);
    else
      append_utf8(out, kReplacement);
    pos += length;
  }
  return out;
}

size_t unfinished_utf8(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    return byte >= 0xC2 && byte < 0xF5 && utf8_length(byte) > back ? back : 0;
  }
  return 0;
}

}  // namespace ggufscope
