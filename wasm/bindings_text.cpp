// The JavaScript interface of the text module: tokenizers. Each is built from a GGUF header with the vocabulary's keys.
// Texts are passed as bytes in the heap, ids as 32-bit integers.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstring>

#include "gguf/parse.hpp"
#include "object.hpp"
#include "span.hpp"
#include "text/tokenizer.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

constexpr std::string_view kKinds[] = {"spm", "bpe", "wordpiece", "unigram", "rwkv", "plamo2"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

class TextTokenizer {
 public:
  explicit TextTokenizer(ByteView header) : made_(open(header)) {}

  [[nodiscard]] std::string error_code() const { return made_ ? "" : std::string(error_name(made_.error().code)); }
  [[nodiscard]] std::string error_message() const { return made_ ? "" : made_.error().message; }
  [[nodiscard]] double error_offset() const { return made_ ? 0 : static_cast<double>(made_.error().offset); }

  [[nodiscard]] std::string kind() const { return std::string(kKinds[static_cast<size_t>(made_->kind())]); }
  [[nodiscard]] std::string model() const { return std::string(made_->model()); }
  [[nodiscard]] std::string pre() const { return std::string(made_->pre()); }
  [[nodiscard]] uint32_t size() const { return made_->size(); }
  [[nodiscard]] bool adds_bos() const { return made_->adds_bos(); }
  [[nodiscard]] bool adds_eos() const { return made_->adds_eos(); }
  [[nodiscard]] bool adds_sep() const { return made_->adds_sep(); }

  /// bos eos eot eom unk sep pad mask, then FIM: pre suf mid pad rep sep. -1: none.
  Span special() {
    const SpecialIds& s = made_->special();
    ids_ = {s.bos,  s.eos,     s.eot,     s.eom,     s.unk,     s.sep,     s.pad,
            s.mask, s.fim_pre, s.fim_suf, s.fim_mid, s.fim_pad, s.fim_rep, s.fim_sep};
    return span_of(ids_);
  }

  /// Reserves a buffer for n bytes of the next call's text or ids.
  uintptr_t reserve(uint32_t n) {
    if (input_.size() < n) input_.resize(n);
    return reinterpret_cast<uintptr_t>(input_.data());
  }

  Span encode(uint32_t n, bool special, bool bos) {
    ids_ = made_->encode({input_.data(), n}, {.special = special, .bos = bos});
    return span_of(ids_);
  }

  /// Decodes n ids in the reserved buffer.
  Span decode(uint32_t n, bool remove_special, bool special) {
    ids_.resize(n);
    std::memcpy(ids_.data(), input_.data(), size_t{n} * sizeof(TokenId));
    const std::string text = made_->decode(ids_, {.remove_special = remove_special, .special = special});
    output_.assign(text.begin(), text.end());
    return span_of(output_);
  }

  Span text(TokenId id) { return view(made_->text(id)); }
  Span piece(TokenId id) { return view(made_->piece(id)); }
  [[nodiscard]] uint32_t type(TokenId id) const { return static_cast<uint32_t>(made_->type(id)); }
  [[nodiscard]] double score(TokenId id) const { return made_->score(id); }
  [[nodiscard]] bool is_special(TokenId id) const { return made_->is_special(id); }
  [[nodiscard]] bool is_end(TokenId id) const { return made_->is_end_of_generation(id); }
  TokenId find(uint32_t n) const { return made_->find({input_.data(), n}); }

  /// Up to `limit` ids, starting at `from`, whose bytes contain the n bytes in the reserved buffer. ASCII letters match
  /// in either case. Only token types whose bits are set in `types` count.
  Span search(uint32_t n, uint32_t types, TokenId from, uint32_t limit) {
    std::string needle(input_.data(), n);
    for (char& c : needle) c = lower(c);
    ids_.clear();
    const auto matches = [](char a, char b) { return lower(a) == b; };
    for (TokenId id = std::max(from, 0); id < static_cast<TokenId>(made_->size()) && ids_.size() < limit; ++id) {
      if ((types >> type(id) & 1) == 0) continue;
      const std::string_view bytes = made_->piece(id);
      if (needle.empty() ||
          std::search(bytes.begin(), bytes.end(), needle.begin(), needle.end(), matches) != bytes.end())
        ids_.push_back(id);
    }
    return span_of(ids_);
  }

  [[nodiscard]] uint32_t note_count() const { return static_cast<uint32_t>(made_->notes().size()); }
  [[nodiscard]] bool note_strict(uint32_t i) const { return made_->notes()[i].strict; }
  [[nodiscard]] std::string note_code(uint32_t i) const { return made_->notes()[i].code; }
  [[nodiscard]] std::string note_message(uint32_t i) const { return made_->notes()[i].message; }

 private:
  static Result<Tokenizer> open(ByteView bytes) {
    ParseState state;
    if (auto parsed = parse_header(bytes, std::nullopt, state); !parsed) return std::unexpected(parsed.error());
    return Tokenizer::create({state.header, bytes});
  }

  static Span view(std::string_view bytes) {
    return {reinterpret_cast<uintptr_t>(bytes.data()), static_cast<uint32_t>(bytes.size())};
  }

  Result<Tokenizer> made_;
  std::vector<char> input_, output_;
  std::vector<TokenId> ids_;
};

/// Builds a tokenizer from a header of n bytes at an address from malloc.
uintptr_t make_tokenizer(uintptr_t bytes, uint32_t n) {
  return reinterpret_cast<uintptr_t>(new TextTokenizer({reinterpret_cast<const uint8_t*>(bytes), n}));
}

}  // namespace

EMSCRIPTEN_BINDINGS(text) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  function("TextTokenizer_new", &make_tokenizer);
  function("TextTokenizer_delete", &remove<TextTokenizer>);
  function("TextTokenizer_errorCode", method<TextTokenizer, &TextTokenizer::error_code>);
  function("TextTokenizer_errorMessage", method<TextTokenizer, &TextTokenizer::error_message>);
  function("TextTokenizer_errorOffset", method<TextTokenizer, &TextTokenizer::error_offset>);
  function("TextTokenizer_kind", method<TextTokenizer, &TextTokenizer::kind>);
  function("TextTokenizer_model", method<TextTokenizer, &TextTokenizer::model>);
  function("TextTokenizer_pre", method<TextTokenizer, &TextTokenizer::pre>);
  function("TextTokenizer_size", method<TextTokenizer, &TextTokenizer::size>);
  function("TextTokenizer_addsBos", method<TextTokenizer, &TextTokenizer::adds_bos>);
  function("TextTokenizer_addsEos", method<TextTokenizer, &TextTokenizer::adds_eos>);
  function("TextTokenizer_addsSep", method<TextTokenizer, &TextTokenizer::adds_sep>);
  function("TextTokenizer_special", method<TextTokenizer, &TextTokenizer::special>);
  function("TextTokenizer_reserve", method<TextTokenizer, &TextTokenizer::reserve>);
  function("TextTokenizer_encode", method<TextTokenizer, &TextTokenizer::encode>);
  function("TextTokenizer_decode", method<TextTokenizer, &TextTokenizer::decode>);
  function("TextTokenizer_text", method<TextTokenizer, &TextTokenizer::text>);
  function("TextTokenizer_piece", method<TextTokenizer, &TextTokenizer::piece>);
  function("TextTokenizer_type", method<TextTokenizer, &TextTokenizer::type>);
  function("TextTokenizer_score", method<TextTokenizer, &TextTokenizer::score>);
  function("TextTokenizer_isSpecial", method<TextTokenizer, &TextTokenizer::is_special>);
  function("TextTokenizer_isEnd", method<TextTokenizer, &TextTokenizer::is_end>);
  function("TextTokenizer_find", method<TextTokenizer, &TextTokenizer::find>);
  function("TextTokenizer_search", method<TextTokenizer, &TextTokenizer::search>);
  function("TextTokenizer_noteCount", method<TextTokenizer, &TextTokenizer::note_count>);
  function("TextTokenizer_noteStrict", method<TextTokenizer, &TextTokenizer::note_strict>);
  function("TextTokenizer_noteCode", method<TextTokenizer, &TextTokenizer::note_code>);
  function("TextTokenizer_noteMessage", method<TextTokenizer, &TextTokenizer::note_message>);
}

}  // namespace ggufscope
