// Tokenizes for PLaMo-2.
#include "text/plamo2.hpp"

#include <cmath>

#include "base/sentence.hpp"
#include "text/token_spelling.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr int32_t kUnknownCost = 10000000;
constexpr double kNoCost = 20000000;  // tokens with this cost are never used

}  // namespace

Plamo2Model::Plamo2Model(Vocabulary& v) {
  byte_tokens_.fill(kNoToken);
  std::vector<uint32_t> ids;
  costs_.resize(v.texts.size());
  for (TokenId id = 0; id < v.size(); ++id) {
    if (v.is(id, kAttrByte)) {
      if (const int byte = parse_byte_token(v.text(id)); byte >= 0) byte_tokens_[static_cast<size_t>(byte)] = id;
      continue;
    }
    const double cost = -std::round(static_cast<double>(v.score(id)) * 1e4);
    if (!(std::fabs(cost) < kNoCost)) continue;
    costs_[static_cast<size_t>(id)] = static_cast<int32_t>(cost);
    ids.push_back(static_cast<uint32_t>(id));
  }
  table_.build(ids, v.texts);
  int missing = 0;
  for (const TokenId token : byte_tokens_) missing += token == kNoToken ? 1 : 0;
  if (missing != 0) v.note(true, "byte-token-missing", counted(missing, "byte has", "bytes have") + " no token");
}

void Plamo2Model::encode(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  std::string canonical;
  if (!is_canonical_utf8(text)) {
    canonical = canonical_utf8(text);
    text = canonical;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  steps_.resize(text.size() + 1);
  steps_[text.size()] = {0, kNoToken, 0};
  for (size_t pos = text.size(); pos-- > 0;) {
    if ((static_cast<uint8_t>(text[pos]) & 0xC0) == 0x80) continue;
    const auto character = static_cast<uint32_t>(utf8_length(static_cast<uint8_t>(text[pos])));
    Step best{steps_[pos + character].cost + kUnknownCost, kNoToken, character};
    table_.visit_prefixes(text.substr(pos), v.texts, [&](size_t n, uint32_t id) {
      // Among equal costs, the longest token is used.
      const size_t end = pos + n;
      const bool whole = end == text.size() || (static_cast<uint8_t>(text[end]) & 0xC0) != 0x80;
      if (whole && steps_[end].cost + costs_[id] <= best.cost)
        best = {steps_[end].cost + costs_[id], static_cast<TokenId>(id), static_cast<uint32_t>(n)};
      return true;
    });
    steps_[pos] = best;
  }
  for (size_t pos = 0; pos < text.size(); pos += steps_[pos].length) {
    if (steps_[pos].token != kNoToken) {
      out.push_back(steps_[pos].token);
      continue;
    }
    for (const char c : text.substr(pos, steps_[pos].length))
      if (const TokenId token = byte_tokens_[static_cast<uint8_t>(c)]; token != kNoToken) out.push_back(token);
  }
}

}  // namespace ggufscope
