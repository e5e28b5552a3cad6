// Tokenizes for BERT.
#include "text/wordpiece.hpp"

#include "text/token_spelling.hpp"

namespace ggufscope {
namespace {

// The ideographs that BERT separates. As in the reference, the first block of extension E is missing.
constexpr bool stands_alone(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

}  // namespace

WordPieceModel::WordPieceModel(const Vocabulary& v) {
  std::vector<uint32_t> ids(v.texts.size());
  for (uint32_t id = 0; id < ids.size(); ++id) ids[id] = id;
  table_.build(ids, v.texts);
}

void WordPieceModel::encode(const Vocabulary& v, std::string_view text, std::vector<TokenId>& out) {
  word_ = kSpaceMark;
  const auto end_word = [&] {
    if (word_.size() > kSpaceMark.size()) encode_word(v, out);
    word_.resize(kSpaceMark.size());
  };
  for (size_t pos = 0; pos < text.size();) {
    const auto byte = static_cast<uint8_t>(text[pos]);
    if ((byte | 32) >= 'a' && (byte | 32) <= 'z') {
      word_.push_back(static_cast<char>(v.lowercase ? byte | 32 : byte));
      ++pos;
      continue;
    }
    Decoded decoded = decode_utf8(text, pos);
    pos += decoded.length;
    const uint32_t c = v.strip_accents ? bases_.base_of(decoded.code_point) : decoded.code_point;
    const CharClass kind = char_class(c);
    if (kind == CharClass::kWhitespace) {
      end_word();
      continue;
    }
    if (c == 0 || c == kReplacement || kind == CharClass::kControl) continue;
    if (v.strip_accents && kind == CharClass::kMark) continue;
    const bool alone = kind == CharClass::kPunctuation || (c < 0x7F && kind == CharClass::kSymbol) || stands_alone(c);
    if (alone) end_word();
    append_utf8(word_, v.lowercase ? to_lower(c) : c);
    if (alone) end_word();
  }
  end_word();
}

void WordPieceModel::encode_word(const Vocabulary& v, std::vector<TokenId>& out) {
  const std::string_view word = word_;
  const uint64_t hash = hash_text(word);
  // The longest possible token is the whole word.
  const uint32_t whole = v.index.find(word, hash, [&](uint32_t id) { return v.texts[id]; });
  if (whole != StringIndex::kAbsent) return out.push_back(static_cast<TokenId>(whole));
  if (cache_.find(word, hash, out)) return;
  const size_t before = out.size();
  for (size_t pos = 0; pos < word.size();) {
    size_t length = 0;
    uint32_t longest = 0;
    table_.visit_prefixes(word.substr(pos), v.texts, [&](size_t n, uint32_t id) {
      length = n;
      longest = id;
      return true;
    });
    if (length == 0) {
      out.resize(before);
      break;
    }
    out.push_back(static_cast<TokenId>(longest));
    pos += length;
  }
  if (out.size() == before && v.special.unk != kNoToken) out.push_back(v.special.unk);
  cache_.keep(word, hash, out.data() + before, out.size() - before);
}

}  // namespace ggufscope
