// Finds the longest prefix, or all prefixes, of a text among many words. The words are sorted, and each byte narrows
// the range of matching words. There are no nodes: 4 bytes for each word.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/string_index.hpp"

namespace ggufscope {

class PrefixTable {
 public:
  /// Words are compared up to this length only. It bounds the time for each byte of text.
  static constexpr size_t kMaxDepth = 4096;

  /// ids of words in texts, in any order; of equal words the first counts. Empty words are left out.
  void build(const std::vector<uint32_t>& ids, const TextList& texts);

  /// visit(length, id) for each word that text begins with (texts: those of build), shortest first, while it returns
  /// true. Returns the bytes of text that are the beginning of some word.
  template <class Visit>
  size_t visit_prefixes(std::string_view text, const TextList& texts, Visit&& visit) const {
    if (text.empty()) return 0;
    const auto lead = static_cast<uint8_t>(text[0]);
    uint32_t low = first_[lead], high = first_[lead + 1u];
    if (low == high) return 0;
    const size_t limit = std::min(text.size(), kMaxDepth);
    size_t depth = 1;
    for (; low < high; ++depth) {
      // All words of [low, high) begin with text[0, depth).
      if (texts[ids_[low]].size() == depth) {
        if (!visit(depth, ids_[low])) return depth;
        if (++low == high) return depth;
      }
      if (depth == limit) return depth;
      const auto wanted = static_cast<uint8_t>(text[depth]);
      const auto byte_of = [&](uint32_t i) { return static_cast<uint8_t>(texts[ids_[i]][depth]); };
      const auto from = [&](unsigned byte) {
        uint32_t a = low, b = high;
        while (a < b) {
          const uint32_t middle = a + (b - a) / 2;
          if (byte_of(middle) < byte)
            a = middle + 1;
          else
            b = middle;
        }
        return a;
      };
      const uint32_t begin = from(wanted);
      if (begin == high || byte_of(begin) != wanted) return depth;
      low = begin;
      if (byte_of(high - 1) != wanted) high = from(wanted + 1u);
    }
    return depth;
  }

 private:
  std::vector<uint32_t> ids_;          // sorted by their words' bytes
  std::array<uint32_t, 257> first_{};  // [first_[b], first_[b + 1]): words that begin with byte b
};

}  // namespace ggufscope
