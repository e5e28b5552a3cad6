// Tokenizers as JavaScript sees them. Texts go in and out as bytes of the heap; ids as 32-bit integers.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstring>

#include "document.hpp"
#include "span.hpp"
#include "text/tokenizer.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

constexpr std::string_view kKinds[] = {"spm", "bpe", "wordpiece", "unigram", "rwkv", "plamo2"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

class TextTokenizer {
 public:
  explicit TextTokenizer(const Document& document) : made_(Tokenizer::make(document.gguf())) {}

  [[nodiscard]] std::string error_code() const { return made_ ? "" : std::string(error_name(made_.error().code)); }
  [[nodiscard]] std::string error_message() const { return made_ ? "" : made_.error().message; }
  [[nodiscard]] double error_offset() const { return made_ ? 0 : static_cast<double>(made_.error().offset); }

  [[nodiscard]] std::string kind() const { return std::string(kKinds[static_cast<size_t>(made_->kind())]); }
  [[nodiscard]] std::string model() const { return std::string(made_->model()); }
  [[nodiscard]] std::string pre() const { return std::string(made_->pre()); }
  [[nodiscard]] uint32_t size() const { return made_->size(); }
  [[nodiscard]] bool adds_bos() const { return made_->adds_bos(); }
  [[nodiscard]] bool adds_eos() const { return made_->adds_eos(); }

  /// bos eos eot eom unk sep pad mask, then fim: pre suf mid pad rep sep. -1: none.
  Span special() {
    const SpecialIds& s = made_->special();
    ids_ = {s.bos,  s.eos,     s.eot,     s.eom,     s.unk,     s.sep,     s.pad,
            s.mask, s.fim_pre, s.fim_suf, s.fim_mid, s.fim_pad, s.fim_rep, s.fim_sep};
    return span_of(ids_);
  }

  /// Room for n bytes of the next call's text, or for its ids.
  uintptr_t reserve(uint32_t n) {
    if (input_.size() < n) input_.resize(n);
    return reinterpret_cast<uintptr_t>(input_.data());
  }

  Span encode(uint32_t n, bool special, bool bos) {
    ids_ = made_->encode({input_.data(), n}, {.special = special, .bos = bos});
    return span_of(ids_);
  }

  /// n ids in the reserved room.
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
  [[nodiscard]] float score(TokenId id) const { return made_->score(id); }
  [[nodiscard]] bool is_special(TokenId id) const { return made_->is_special(id); }
  [[nodiscard]] bool is_end(TokenId id) const { return made_->is_end_of_generation(id); }
  TokenId find(uint32_t n) const { return made_->find({input_.data(), n}); }

  /// Up to limit ids from one on whose bytes contain the n reserved ones, ASCII letters of either case; of the types
  /// whose bits are set.
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
  static Span view(std::string_view bytes) {
    return {reinterpret_cast<uintptr_t>(bytes.data()), static_cast<uint32_t>(bytes.size())};
  }

  Result<Tokenizer> made_;
  std::vector<char> input_, output_;
  std::vector<TokenId> ids_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(text) {
  class_<TextTokenizer>("TextTokenizer")
      .constructor<const Document&>()
      .function("errorCode", &TextTokenizer::error_code)
      .function("errorMessage", &TextTokenizer::error_message)
      .function("errorOffset", &TextTokenizer::error_offset)
      .function("kind", &TextTokenizer::kind)
      .function("model", &TextTokenizer::model)
      .function("pre", &TextTokenizer::pre)
      .function("size", &TextTokenizer::size)
      .function("addsBos", &TextTokenizer::adds_bos)
      .function("addsEos", &TextTokenizer::adds_eos)
      .function("special", &TextTokenizer::special)
      .function("reserve", &TextTokenizer::reserve)
      .function("encode", &TextTokenizer::encode)
      .function("decode", &TextTokenizer::decode)
      .function("text", &TextTokenizer::text)
      .function("piece", &TextTokenizer::piece)
      .function("type", &TextTokenizer::type)
      .function("score", &TextTokenizer::score)
      .function("isSpecial", &TextTokenizer::is_special)
      .function("isEnd", &TextTokenizer::is_end)
      .function("find", &TextTokenizer::find)
      .function("search", &TextTokenizer::search)
      .function("noteCount", &TextTokenizer::note_count)
      .function("noteStrict", &TextTokenizer::note_strict)
      .function("noteCode", &TextTokenizer::note_code)
      .function("noteMessage", &TextTokenizer::note_message);
}

}  // namespace ggufscope
