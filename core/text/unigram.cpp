// Tokenizes by the best sum of scores.
#include "text/unigram.hpp"

#include <algorithm>
#include <limits>

#include "gguf/access.hpp"
#include "text/token_spelling.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr double kUnknownPenalty = 10.0;

}  // namespace

UnigramModel::UnigramModel(const Gguf& gguf, Vocabulary& v) {
  read_character_map(gguf, v);
  std::vector<uint32_t> tokens, user_defined;
  float lowest = std::numeric_limits<float>::max();
  for (TokenId id = 0; id < v.size(); ++id) {
    if (v.is(id, kAttrNormal)) lowest = std::min(lowest, v.score(id));
    const bool unused = v.is(id, kAttrUnused) && !v.is(id, kAttrControl);
    if (unused || v.is(id, kAttrNormal | kAttrUserDefined)) tokens.push_back(static_cast<uint32_t>(id));
    if (v.is(id, kAttrUserDefined)) user_defined.push_back(static_cast<uint32_t>(id));
  }
  unknown_score_ = static_cast<double>(static_cast<float>(lowest - static_cast<float>(kUnknownPenalty)));
  tokens_.build(tokens, v.texts);
  user_defined_.build(user_defined, v.texts);
}

void UnigramModel::read_character_map(const Gguf& gguf, Vocabulary& v) {
  constexpr std::string_view kKey = "tokenizer.ggml.precompiled_charsmap";
  const KeyValue* kv = find_key(gguf, kKey);
  if (kv == nullptr) return;
  const auto refuse = [&](std::string_view why) {
    v.note(true, "charsmap-malformed", std::string(kKey) + " " + std::string(why) + ": texts are not normalized");
  };
  if (kv->type != ValueType::kArray || (kv->element_type != ValueType::kU8 && kv->element_type != ValueType::kI8))
    return refuse("is no array of bytes");
  if (kv->count < 4) return refuse("is too short");
  const uint8_t* p = gguf.bytes.data() + kv->value.offset;
  const uint64_t n_bytes = load<uint32_t>(p);  // little endian in every file
  if (n_bytes >= kv->count - 4) return refuse("announces more than it holds");
  nodes_.resize(static_cast<size_t>(n_bytes / 4));
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = load<uint32_t>(p + 4 + 4 * i);
  replacements_.assign(reinterpret_cast<const char*>(p) + 4 + n_bytes, static_cast<size_t>(kv->count - 4 - n_bytes));
}

UnigramModel::Replacement UnigramModel::normalize_prefix(const Vocabulary& v, std::string_view text) const {
  // Like llama.cpp, does not normalize text that begins with a user-defined token.
  const size_t user = user_defined_.visit_prefixes(text, v.texts, [](size_t, uint32_t) { return true; });
  if (user > 0) return {text.substr(0, user), user};

  size_t matched = 0, offset = 0;
  if (!nodes_.empty()) {
    const auto base = [&](uint32_t node) { return (node >> 10) << ((node & (1u << 9)) >> 6); };
    uint32_t at = base(nodes_[0]);
    for (size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      at ^= byte;
      if (at >= nodes_.size() || (nodes_[at] & 0x800000FFu) != byte) break;
      const uint32_t node = nodes_[at];
      at ^= base(node);
      if ((node >> 8 & 1) == 0) continue;
      if (at >= nodes_.size()) break;
      matched = i + 1;
      offset = nodes_[at] & 0x7FFFFFFFu;
    }
  }
  if (matched > 0 && offset < replacements_.size()) {
    const size_t end = replacements_.find('\0', offset);
    if (end != std::string::npos) return {std::string_view(replacements_).substr(offset, end - offset), matched};
  }
  const Decoded decoded = decode_utf8(text, 0);
  if (decoded.code_point == kReplacement && decoded.length == 1) return {"\xEF\xBF\xBD", 1};
  return {text.substr(0, decoded.length), decoded.length};
}

void UnigramModel::normalize(const Vocabulary& v, std::string_view text) {
  const std::string_view space = v.escape_whitespaces ? kSpaceMark : " ";
  normalized_.clear();
  bool prepended = false, in_word = false;
  for (size_t pos = 0; pos < text.size();) {
    const Replacement next = normalize_prefix(v, text.substr(pos));
    pos += next.consumed;
    for (const char c : next.text) {
      if (c == ' ') {
        in_word = false;
        if (!v.remove_extra_whitespaces) normalized_ += space;
        continue;
      }
      if (!in_word) {
        in_word = true;
        if ((v.add_space_prefix && !prepended) || v.remove_extra_whitespaces) {
          normalized_ += space;
          prepended = true;
        }
      }
      normalized_.push_back(c);
    }
  }
}

void UnigramModel::encode(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  normalize(v, text);
  const std::string_view all = normalized_;
  if (all.empty()) return;
  const TokenId unknown = v.special.unk;
  best_.assign(all.size() + 1, {-std::numeric_limits<double>::max(), unknown, 0});
  best_[0].score = 0;
  for (size_t begin = 0; begin < all.size();) {
    const size_t length = std::min(utf8_length(static_cast<uint8_t>(all[begin])), all.size() - begin);
    const double here = best_[begin].score;
    const auto offer = [&](size_t end, TokenId token, double score) {
      if (here + score > best_[end].score) best_[end] = {here + score, token, static_cast<uint32_t>(begin)};
    };
    bool character_known = false;
    tokens_.visit_prefixes(all.substr(begin), v.texts, [&](size_t n, uint32_t id) {
      const auto token = static_cast<TokenId>(id);
      character_known = character_known || n == length;
      offer(begin + n, token, v.is(token, kAttrUserDefined) ? 0.0 : static_cast<double>(v.score(token)));
      return true;
    });
    if (!character_known) offer(begin + length, unknown, unknown_score_);
    begin += length;
  }
  // Walks back along the best path. Adjacent unknown characters become one token.
  const size_t before = out.size();
  bool was_unknown = false;
  for (size_t end = all.size();; end = best_[end].begin) {
    const bool is_unknown = best_[end].token == unknown;
    if (!(was_unknown && is_unknown) && best_[end].token != kNoToken) out.push_back(best_[end].token);
    if (best_[end].begin == 0) break;
    was_unknown = is_unknown;
  }
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}

}  // namespace ggufscope
