// The first byte chooses a kind and, for byte-level BPE, a pre-tokenizer; the rest is a text. Byte-exact kinds must
// decode to the same text, and every id must be in the vocabulary.
#include "tokenizers.hpp"

using namespace ggufscope;
using namespace ggufscope::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<Tokenizer>& tokenizers = all_tokenizers();
  if (size == 0) return 0;
  const Tokenizer& tokenizer = tokenizers[data[0] % tokenizers.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<TokenId> ids = tokenizer.encode(text, {.special = true});
  for (const TokenId id : ids) require(id >= 0 && static_cast<uint32_t>(id) < tokenizer.size());
  std::string whole;
  for (const TokenId id : ids) whole += tokenizer.piece(id);
  if (tokenizer.kind() == TokenizerKind::kSpm) {
    std::string wanted;
    append_unescaped_spaces(wanted, text);
    std::string got;
    append_unescaped_spaces(got, whole);
    require(got == wanted || got == " " + wanted || text.find("<") != std::string_view::npos);
  } else if (tokenizer.kind() == TokenizerKind::kRwkv && text.find("<unk>") == std::string_view::npos) {
    require(whole == text);
  }
  const PreTokenizer* pre = find_pre_tokenizer(tokenizer.pre());
  if (tokenizer.kind() == TokenizerKind::kBpe && (pre->flags & kRawBytes) == 0) require(whole == canonical_utf8(text));
  return 0;
}
