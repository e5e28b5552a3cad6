// decode(encode(x)) == x, at once and token by token, for any Unicode text, with the kinds that keep every byte:
// SentencePiece with byte tokens, byte-level BPE with every pre-tokenizer, RWKV, PLaMo-2. Input: a kind, then three
// bytes for each code point, of any plane.
#include "tokenizers.hpp"

using namespace ggufscope;
using namespace ggufscope::fuzz;

namespace {

std::string words(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<Tokenizer>& tokenizers = all_tokenizers();
  if (size == 0) return 0;
  const Tokenizer& tokenizer = tokenizers[data[0] % tokenizers.size()];
  std::string text;
  for (size_t i = 1; i + 3 <= size; i += 3) {
    // The upper bits of the last byte make most code points those of usual texts.
    const uint32_t plane = data[i + 2] % 32, low = data[i] | static_cast<uint32_t>(data[i + 1]) << 8;
    uint32_t point = plane < 16 ? low & 127u : plane < 28 ? low : low | (plane - 27) << 16;
    if (point >= 0xd800 && point < 0xe000) point -= 0x800;  // surrogates are no text
    append_utf8(text, point);
  }
  const std::vector<TokenId> ids = tokenizer.encode(text);
  const std::string back = tokenizer.decode(ids);
  StreamDecoder stream(tokenizer, true);
  std::string streamed;
  for (const TokenId id : ids) streamed += stream.push(id);
  streamed += stream.flush();
  switch (tokenizer.kind()) {
    case TokenizerKind::kSpm: {  // a space goes before, and U+2581 is a space
      std::string wanted;
      append_unescaped_spaces(wanted, text);
      require(back == wanted || back == " " + wanted);
      break;
    }
    case TokenizerKind::kBpe:
      if ((find_pre_tokenizer(tokenizer.pre())->flags & kRawBytes) != 0) return 0;
      [[fallthrough]];
    case TokenizerKind::kRwkv:
    case TokenizerKind::kPlamo2:
      require(streamed == text);
      // Some pre-tokenizers' files want " ." decoded as ".", as llama.cpp does.
      require(back == text || (tokenizer.kind() == TokenizerKind::kBpe && words(back) == words(text)));
      break;
    default:  // WordPiece and unigram normalize
      break;
  }
  return 0;
}
