// Finds the longest prefix, or all prefixes, of a text in a list of words. The words are sorted, and each byte of the
// text narrows the range of matching words. There is no trie; it costs 4 bytes for each word.
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
  /// Only this many bytes of a word are compared, which limits the time for each byte of text.
  static constexpr size_t kMaxDepth = 4096;

  /// ids: indices into texts, in any order. Of equal words the first counts. Empty words are left out.
  void build(const std::vector<uint32_t>& ids, const TextList& texts);

  /// Calls visit(length, id) for each word that is a prefix of text, shortest first, until it returns false. texts must
  /// be the one passed to build. Returns how many bytes of text are the beginning of some word.
  template <class Visit>
  size_t visit_prefixes(std::string_view text, const TextList& texts, Visit&& visit) const {
    if (text.empty()) return 0;
    const auto lead = static_cast<uint8_t>(text[0]);
    uint32_t low = first_[lead], high = first_[lead + 1u];
    if (low == high) return 0;
    const size_t limit = std::min(text.size(), kMaxDepth);
    size_t depth = 1;
    for (; low < high; ++depth) {
      // All words in [low, high) begin with text[0, depth).
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
