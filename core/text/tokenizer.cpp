// Puts vocabulary, special tokens and algorithm together.
#include "text/tokenizer.hpp"

#include <algorithm>
#include <variant>

#include "text/bpe.hpp"
#include "text/plamo2.hpp"
#include "text/prefix_table.hpp"
#include "text/rwkv.hpp"
#include "text/spm.hpp"
#include "text/unicode.hpp"
#include "text/unigram.hpp"
#include "text/vocabulary.hpp"
#include "text/wordpiece.hpp"

namespace ggufscope {
namespace {

using Model = std::variant<SpmModel, BpeModel, WordPieceModel, UnigramModel, RwkvModel, Plamo2Model>;

Model make_model(const Gguf& gguf, Vocabulary& v) {
  switch (v.kind) {
    case TokenizerKind::kSpm:
      return SpmModel(v);
    case TokenizerKind::kBpe:
      return BpeModel(gguf, v);
    case TokenizerKind::kWordPiece:
      return WordPieceModel(v);
    case TokenizerKind::kUnigram:
      return UnigramModel(gguf, v);
    case TokenizerKind::kRwkv:
      return RwkvModel(v);
    default:
      return Plamo2Model(v);
  }
}

constexpr bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// llama.cpp's clean_up_tokenization_spaces: three passes in sequence.
void clean_spaces(std::string& text) {
  std::string out;
  const auto pass = [&](auto&& drops_space_before) {
    out.clear();
    for (size_t i = 0; i < text.size(); ++i) {
      const size_t skip = i > 0 && text[i - 1] == ' ' ? drops_space_before(i) : 0;
      if (skip != 0) out.pop_back();
      out.push_back(text[i]);
      // A NUL marks a removed character, so that later passes ignore it.
      if (skip == 2) text[++i] = '\0';
    }
    text.swap(out);
  };
  const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
  pass([&](size_t i) { return text[i] == '?' || text[i] == '!' || text[i] == '.' || text[i] == ',' ? 1u : 0u; });
  pass([&](size_t i) { return text[i] == '\'' && at(i + 1) == ' ' ? 2u : 0u; });
  pass([&](size_t i) {
    if (text[i] != '\'') return 0u;
    const char a = at(i + 1), b = at(i + 2);
    return a == 's' || a == 'm' || ((a == 'r' || a == 'v') && b == 'e') ? 1u : 0u;
  });
}

}  // namespace

struct TokenizerImpl {
  Vocabulary vocabulary;
  Model model;
  PrefixTable special_table;          // over the texts of special tokens
  std::vector<uint32_t> order;        // for each token, its index in vocabulary.special_tokens
  std::vector<TokenId> long_special;  // special tokens longer than the table can compare

  TokenizerImpl(const Gguf& gguf, Vocabulary&& v) : vocabulary(std::move(v)), model(make_model(gguf, vocabulary)) {
    std::vector<uint32_t> ids;
    for (const TokenId id : vocabulary.special_tokens) {
      if (vocabulary.text(id).size() > PrefixTable::kMaxDepth)
        long_special.push_back(id);
      else
        ids.push_back(static_cast<uint32_t>(id));
    }
    special_table.build(ids, vocabulary.texts);
    if (vocabulary.special_tokens.empty()) return;
    order.resize(vocabulary.texts.size());
    for (uint32_t i = 0; i < vocabulary.special_tokens.size(); ++i)
      order[static_cast<size_t>(vocabulary.special_tokens[i])] = i;
  }

  // A piece of the text, or a special token that replaces one.
  struct Fragment {
    size_t begin = 0, end = 0;
    TokenId token = kNoToken;
  };

  // The special tokens that occur in the text, in the order in which they split it: longest first.
  [[nodiscard]] std::vector<TokenId> present(std::string_view text, bool parse_special) const {
    const Vocabulary& v = vocabulary;
    const auto applies = [&](TokenId id) { return parse_special || !v.is(id, kAttrControl | kAttrUnknown); };
    std::vector<bool> seen(v.special_tokens.size());
    for (size_t pos = 0; pos < text.size(); ++pos) {
      special_table.visit_prefixes(text.substr(pos), v.texts, [&](size_t, uint32_t id) {
        seen[order[id]] = true;
        return true;
      });
    }
    for (const TokenId id : long_special) seen[order[static_cast<size_t>(id)]] = true;
    std::vector<TokenId> ids;
    for (size_t place = 0; place < seen.size(); ++place)
      if (seen[place] && applies(v.special_tokens[place])) ids.push_back(v.special_tokens[place]);
    return ids;
  }

  [[nodiscard]] std::vector<Fragment> cut(std::string_view text, bool parse_special) const {
    const Vocabulary& v = vocabulary;
    std::vector<Fragment> fragments, next;
    if (!text.empty()) fragments.push_back({0, text.size()});
    if (v.special_tokens.empty()) return fragments;
    for (const TokenId id : present(text, parse_special)) {
      const std::string_view special = v.text(id);
      next.clear();
      for (const Fragment& fragment : fragments) {
        size_t begin = fragment.begin;
        if (fragment.token == kNoToken) {
          const std::string_view upto = text.substr(0, fragment.end);
          for (size_t match; (match = upto.find(special, begin)) != std::string_view::npos;) {
            size_t left_end = match;
            if (v.is(id, kAttrLeftStrip))
              while (left_end > begin && is_ascii_space(text[left_end - 1])) --left_end;
            if (left_end > begin) next.push_back({begin, left_end});
            next.push_back({match, match, id});
            begin = match + special.size();
            if (v.is(id, kAttrRightStrip))
              while (begin < fragment.end && is_ascii_space(text[begin])) ++begin;
          }
          if (begin < fragment.end) next.push_back({begin, fragment.end});
        } else {
          next.push_back(fragment);
        }
      }
      fragments.swap(next);
    }
    return fragments;
  }

  void encode_fragment(std::string_view text, bool after_special, std::vector<TokenId>& out) {
    const Vocabulary& v = vocabulary;
    switch (v.kind) {
      case TokenizerKind::kSpm:
        return std::get_if<SpmModel>(&model)->encode(v, text, after_special, out);
      case TokenizerKind::kBpe:
        return std::get_if<BpeModel>(&model)->encode(v, text, out);
      case TokenizerKind::kWordPiece:
        return std::get_if<WordPieceModel>(&model)->encode(v, text, out);
      case TokenizerKind::kUnigram:
        return std::get_if<UnigramModel>(&model)->encode(v, text, out);
      case TokenizerKind::kRwkv:
        return std::get_if<RwkvModel>(&model)->encode(v, text, out);
      case TokenizerKind::kPlamo2:
        return std::get_if<Plamo2Model>(&model)->encode(v, text, out);
    }
  }
};

Result<Tokenizer> Tokenizer::create(const Gguf& gguf) {
  Result<Vocabulary> vocabulary = load_vocabulary(gguf);
  if (!vocabulary) return std::unexpected(std::move(vocabulary.error()));
  return Tokenizer(std::make_unique<TokenizerImpl>(gguf, std::move(*vocabulary)));
}

Tokenizer::Tokenizer(std::unique_ptr<TokenizerImpl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const Vocabulary& v = impl_->vocabulary;
  // Whether the kind adds BOS, and EOS or SEP.
  const bool word_piece = v.kind == TokenizerKind::kWordPiece;
  const bool never = v.kind == TokenizerKind::kRwkv;
  const bool first = options.bos && (word_piece || (v.add_bos && !never));
  const bool last = options.bos && (word_piece || (v.add_eos && !never));
  const TokenId last_id = word_piece ? v.special.sep : v.special.eos;

  std::vector<TokenId> out;
  if (first && v.special.bos != kNoToken) out.push_back(v.special.bos);
  bool after_special = true;
  for (const TokenizerImpl::Fragment& fragment : impl_->cut(text, options.special)) {
    if (fragment.token != kNoToken) {
      out.push_back(fragment.token);
      after_special = true;
    } else {
      impl_->encode_fragment(text.substr(fragment.begin, fragment.end - fragment.begin), after_special, out);
      after_special = false;
    }
  }
  if (last && last_id != kNoToken) out.push_back(last_id);
  return out;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  const Vocabulary& v = impl_->vocabulary;
  bool remove_space = v.add_space_prefix;
  if (options.remove_special && v.add_bos && !ids.empty() && ids.front() == v.special.bos) {
    remove_space = false;
    ids = ids.subspan(1);
  }
  if (options.remove_special && v.add_eos && !ids.empty() && ids.back() == v.special.eos)
    ids = ids.first(ids.size() - 1);
  std::string out;
  for (const TokenId id : ids) {
    std::string_view bytes = piece(id);
    if (!options.special && is_special(id)) bytes = {};
    if (remove_space && bytes.starts_with(' ')) bytes.remove_prefix(1);
    remove_space = false;
    out += bytes;
  }
  if (v.clean_spaces) clean_spaces(out);
  return out;
}

TokenizerKind Tokenizer::kind() const { return impl_->vocabulary.kind; }
std::string_view Tokenizer::model() const { return impl_->vocabulary.model; }
std::string_view Tokenizer::pre() const { return impl_->vocabulary.pre_name; }
const SpecialIds& Tokenizer::special() const { return impl_->vocabulary.special; }
bool Tokenizer::adds_bos() const { return impl_->vocabulary.add_bos; }
bool Tokenizer::adds_eos() const { return impl_->vocabulary.add_eos; }
bool Tokenizer::adds_sep() const { return impl_->vocabulary.add_sep; }
std::span<const TokenizerNote> Tokenizer::notes() const { return impl_->vocabulary.notes; }
uint32_t Tokenizer::size() const { return static_cast<uint32_t>(impl_->vocabulary.texts.size()); }

bool Tokenizer::is_end_of_generation(TokenId id) const {
  const std::vector<TokenId>& end = impl_->vocabulary.end_of_generation;
  return std::find(end.begin(), end.end(), id) != end.end();
}

std::string_view Tokenizer::text(TokenId id) const {
  return impl_->vocabulary.has(id) ? impl_->vocabulary.text(id) : std::string_view();
}
std::string_view Tokenizer::piece(TokenId id) const {
  return impl_->vocabulary.has(id) ? impl_->vocabulary.pieces()[static_cast<size_t>(id)] : std::string_view();
}
float Tokenizer::score(TokenId id) const { return impl_->vocabulary.has(id) ? impl_->vocabulary.score(id) : 0.0f; }
bool Tokenizer::is_special(TokenId id) const {
  return impl_->vocabulary.has(id) && impl_->vocabulary.is(id, kAttrControl | kAttrUnknown);
}
TokenId Tokenizer::find(std::string_view text) const { return impl_->vocabulary.find(text); }

TokenType Tokenizer::type(TokenId id) const {
  const Vocabulary& v = impl_->vocabulary;
  if (!v.has(id)) return TokenType::kUndefined;
  constexpr std::pair<uint16_t, TokenType> kTypes[] = {
      {kAttrControl, TokenType::kControl},         {kAttrUnknown, TokenType::kUnknown},
      {kAttrUserDefined, TokenType::kUserDefined}, {kAttrByte, TokenType::kByte},
      {kAttrUnused, TokenType::kUnused},           {kAttrNormal, TokenType::kNormal}};
  for (const auto& [attr, type] : kTypes)
    if (v.is(id, attr)) return type;
  return TokenType::kUndefined;
}

std::string StreamDecoder::push(TokenId id) {
  if (special_ || !tokenizer_.is_special(id)) pending_ += tokenizer_.piece(id);
  const size_t held = unfinished_utf8(pending_);
  std::string whole = valid_utf8(std::string_view(pending_).substr(0, pending_.size() - held));
  pending_.erase(0, pending_.size() - held);
  return whole;
}

std::string StreamDecoder::flush() {
  std::string rest = valid_utf8(pending_);
  pending_.clear();
  return rest;
}

}  // namespace ggufscope
