// UTF-8 (RFC 3629), checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "base/bytes.hpp"

namespace ggufscope {

/// The number of UTF-16 code units of a UTF-8 text. nullopt if it is not valid UTF-8: overlong forms, surrogates, code
/// points beyond U+10FFFF, truncated sequences.
[[nodiscard]] inline std::optional<uint64_t> utf16_length(ByteView text) {
  uint64_t units = 0;
  size_t i = 0;
  const size_t n = text.size();
  while (i < n) {
    if (n - i >= 8 && (load<uint64_t>(&text[i]) & 0x8080808080808080u) == 0) {
      i += 8;
      units += 8;
      continue;
    }
    const uint8_t lead = text[i];
    if (lead < 0x80) {
      ++i;
      ++units;
      continue;
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || n - i < length) return std::nullopt;
    for (size_t k = 1; k < length; ++k)
      if ((text[i + k] & 0xC0) != 0x80) return std::nullopt;
    const uint8_t second = text[i + 1];
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
        (lead == 0xF4 && second > 0x8F))
      return std::nullopt;
    units += length == 4 ? 2 : 1;
    i += length;
  }
  return units;
}

}  // namespace ggufscope
