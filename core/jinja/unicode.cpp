// Unpacks the Unicode tables and looks characters up.
#include "jinja/unicode.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace ggufscope::jinja {
namespace {

struct Special {
  uint32_t code_point;
  uint32_t map;
  uint32_t image[3];
};

#include "jinja/unicode_tables.inc"

uint32_t varint(const uint8_t*& p) {
  uint32_t value = 0;
  for (uint32_t shift = 0;; shift += 7) {
    const uint8_t byte = *p++;
    value |= static_cast<uint32_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
}

struct CaseRun {
  uint32_t first, last, stride;
  int32_t delta;
};

// The unpacked tables (60 KB), in which a binary search is possible. Built when the first text beyond ASCII is used.
struct Tables {
  std::vector<uint32_t> ends;
  std::vector<uint8_t> kinds;
  std::vector<CaseRun> runs[4];

  Tables() {
    uint32_t at = 0;
    for (const uint8_t* p = std::begin(kKindRuns); p != std::end(kKindRuns);) {
      kinds.push_back(*p++);
      at += varint(p);
      ends.push_back(at);
    }
    unpack(0, kLowerRuns, std::end(kLowerRuns));
    unpack(1, kUpperRuns, std::end(kUpperRuns));
    unpack(2, kTitleRuns, std::end(kTitleRuns));
    unpack(3, kFoldRuns, std::end(kFoldRuns));
  }

  void unpack(size_t map, const uint8_t* p, const uint8_t* end) {
    uint32_t at = 0;
    while (p != end) {
      const uint32_t first = at + varint(p);
      const uint32_t shape = varint(p);
      const uint32_t zigzag = varint(p);
      const uint32_t stride = (shape & 1) + 1;
      at = first + (shape / 2 - 1) * stride;
      const auto half = static_cast<int32_t>(zigzag >> 1);
      runs[map].push_back({first, at, stride, (zigzag & 1) != 0 ? -half - 1 : half});
    }
  }
};

const Tables& tables() {
  static const Tables* made = new Tables();
  return *made;
}

bool find_run(const std::vector<CaseRun>& runs, uint32_t c, uint32_t& image) {
  const auto run =
      std::lower_bound(runs.begin(), runs.end(), c, [](const CaseRun& r, uint32_t x) { return r.last < x; });
  if (run == runs.end() || c < run->first || (c - run->first) % run->stride != 0) return false;
  image = static_cast<uint32_t>(static_cast<int32_t>(c) + run->delta);
  return true;
}

}  // namespace

uint16_t properties(uint32_t code_point) {
  static const std::vector<uint16_t>* first = [] {
    auto* made = new std::vector<uint16_t>(128);
    for (uint32_t c = 0; c < 128; ++c) {
      const auto& ends = tables().ends;
      (*made)[c] =
          kKinds[tables().kinds[static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), c) - ends.begin())]];
    }
    return made;
  }();
  if (code_point < 128) return (*first)[code_point];
  const auto& ends = tables().ends;
  const auto found = std::upper_bound(ends.begin(), ends.end(), code_point);
  return found == ends.end() ? uint16_t{0} : kKinds[tables().kinds[static_cast<size_t>(found - ends.begin())]];
}

CaseImage map_case(uint32_t c, CaseMap map) {
  if (c < 128) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool upper = c >= 'A' && c <= 'Z';
    const bool up = map == CaseMap::kUpper || map == CaseMap::kTitle;
    return {{up && lower ? c - 32 : !up && upper ? c + 32 : c, 0, 0}, 1};
  }
  for (const Special& special : kSpecial) {
    if (special.code_point != c || special.map != static_cast<uint32_t>(map)) continue;
    return {{special.image[0], special.image[1], special.image[2]}, special.image[2] != 0 ? 3u : 2u};
  }
  uint32_t image = c;
  if (find_run(tables().runs[static_cast<size_t>(map)], c, image)) return {{image, 0, 0}, 1};
  if (map == CaseMap::kTitle) return map_case(c, CaseMap::kUpper);
  if (map == CaseMap::kFold) return map_case(c, CaseMap::kLower);
  return {{c, 0, 0}, 1};
}

CodePoint code_point_at(std::string_view text, size_t pos) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[pos + i])); };
  const uint32_t lead = byte(0);
  const uint32_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1 || text.size() - pos < length) return {lead, 1};
  uint32_t value = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1};
    value = value << 6 | (byte(i) & 0x3F);
  }
  return {value, length};
}

CodePoint code_point_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) --begin;
  const CodePoint whole = code_point_at(text, begin);
  if (begin + whole.length == end) return whole;
  return {static_cast<uint8_t>(text[end - 1]), 1};
}

void append_code_point(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const uint32_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xFF00u >> (more + 1) & 0xFF) | c >> (6 * more));
  for (uint32_t i = more; i-- > 0;) out += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
}

uint32_t count_code_points(std::string_view text) {
  uint32_t n = 0;
  for (const char byte : text) n += (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
  return n;
}

}  // namespace ggufscope::jinja
