// UTF-8 and the Unicode properties that tokenizers need (Unicode 15.1, as in llama.cpp's tables).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ggufscope {

/// General category, in groups. White space (White_Space=yes) is a group of its own. C is Cc, Cf, Co and Cs.
enum class CharClass : uint8_t {
  kUnassigned = 0,
  kLetter,
  kNumber,
  kPunctuation,
  kMark,
  kSymbol,
  kWhitespace,
  kControl
};

[[nodiscard]] CharClass char_class(uint32_t code_point);

/// Simple lower case mapping, or the code point itself if it has none.
[[nodiscard]] uint32_t to_lower(uint32_t code_point);

/// The first code point of canonical decompositions, which llama.cpp calls NFD. Unpacked on construction: 22 KB.
class BaseTable {
 public:
  BaseTable();
  [[nodiscard]] uint32_t base_of(uint32_t code_point) const;

 private:
  struct Run {
    uint32_t first, count, base;
  };
  std::vector<Run> runs_;
};

/// Han ideographs, as llama.cpp lists them.
[[nodiscard]] bool is_han(uint32_t code_point);

inline constexpr uint32_t kReplacement = 0xFFFD;

/// Length in bytes of the sequence that a lead byte starts (1 for continuation bytes).
[[nodiscard]] constexpr size_t utf8_length(uint8_t lead) {
  return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

struct Decoded {
  uint32_t code_point;  ///< kReplacement if the byte does not begin a valid sequence
  uint32_t length;      ///< bytes read, at least 1
};

/// Decodes the code point at text[pos], pos < text.size(). Like llama.cpp, accepts surrogates but not overlong forms or
/// code points above U+10FFFF.
[[nodiscard]] Decoded decode_utf8(std::string_view text, size_t pos);

/// code_point must be below 0x110000.
void append_utf8(std::string& out, uint32_t code_point);

/// True if decoding and encoding the text again gives the same bytes.
[[nodiscard]] bool is_canonical_utf8(std::string_view text);
/// Decodes and encodes the text again: each byte that does not begin a valid sequence becomes U+FFFD.
[[nodiscard]] std::string canonical_utf8(std::string_view text);

/// The text as the web decodes it: valid UTF-8, with one U+FFFD for each broken character, however many of its bytes
/// are there.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// How many bytes at the end of text belong to an incomplete sequence: 0 to 3.
[[nodiscard]] size_t unfinished_utf8(std::string_view text);

}  // namespace ggufscope
