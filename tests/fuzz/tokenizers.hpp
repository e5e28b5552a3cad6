// Small tokenizers of every kind that the fuzz targets share: all bytes, a few words and merges, an added token.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/gguf_bytes.hpp"
#include "gguf/parse.hpp"
#include "text/pretokenizer.hpp"
#include "text/token_spelling.hpp"
#include "text/tokenizer.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"

namespace ggufscope::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline Tokenizer make_tokenizer(std::string_view model, std::string_view pre) {
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  const auto add = [&](std::string text, int32_t type) {
    tokens.push_back(std::move(text));
    types.push_back(type);
  };
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (uint32_t b = 0; b < 256; ++b) {
    std::string text;
    if (model == "gpt2")
      append_utf8(text, printable_of_byte(static_cast<uint8_t>(b)));
    else if (model == "rwkv")
      text = {'\\', 'x', "0123456789abcdef"[b >> 4], "0123456789abcdef"[b & 15]};
    else
      text = {'<', '0', 'x', kHex[b >> 4], kHex[b & 15], '>'};
    add(text, model == "gpt2" || model == "rwkv" ? 1 : 6);
  }
  for (const char* word : {"th", "the", "\u2581", "\u2581\u2581", "\u2581the", "ab", "abab"}) add(word, 1);
  add("<|x|>", 4);
  add("<unk>", 2);
  test::GgufBytes bytes(0, 6);
  bytes.kv("tokenizer.ggml.model", model).kv("tokenizer.ggml.pre", pre);
  bytes.array("tokenizer.ggml.tokens", ValueType::kString, tokens.size());
  for (const std::string& token : tokens) bytes.string(token);
  bytes.array("tokenizer.ggml.token_type", ValueType::kI32, types.size());
  for (const int32_t type : types) bytes.put(type);
  bytes.array("tokenizer.ggml.merges", ValueType::kString, 4)
      .string("t h")
      .string("th e")
      .string("a b")
      .string("ab ab");
  bytes.kv<uint32_t>("tokenizer.ggml.unknown_token_id", ValueType::kU32, static_cast<uint32_t>(tokens.size() - 1));
  ParseState state;
  require(parse_header(bytes.out, bytes.out.size(), state).value().complete);
  return std::move(*Tokenizer::create({state.header, bytes.out}));
}

/// One of each kind, and byte-level BPE with every pre-tokenizer.
inline const std::vector<Tokenizer>& all_tokenizers() {
  static const std::vector<Tokenizer> kAll = [] {
    std::vector<Tokenizer> all;
    for (const char* model : {"llama", "rwkv", "bert", "t5", "plamo2"}) all.push_back(make_tokenizer(model, "default"));
    for (const PreTokenizer& pre : all_pre_tokenizers()) all.push_back(make_tokenizer("gpt2", pre.name));
    return all;
  }();
  return kAll;
}

}  // namespace ggufscope::fuzz
