// Small vocabularies for tests: the keys of a header, and the ones that several tests share.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "data.hpp"
#include "gguf/parse.hpp"
#include "gguf_bytes.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope::test {

struct Maker {
  GgufBytes bytes{0, 0};
  uint64_t keys = 0;

  Maker& text(std::string_view key, std::string_view value) {
    ++keys;
    bytes.kv(key, value);
    return *this;
  }
  Maker& flag(std::string_view key, bool value) {
    ++keys;
    bytes.kv<uint8_t>(key, ValueType::kBool, value ? 1 : 0);
    return *this;
  }
  Maker& number(std::string_view key, uint32_t value) {
    ++keys;
    bytes.kv(key, ValueType::kU32, value);
    return *this;
  }
  Maker& strings(std::string_view key, const std::vector<std::string>& values) {
    ++keys;
    bytes.array(key, ValueType::kString, values.size());
    for (const std::string& value : values) bytes.string(value);
    return *this;
  }
  template <class T>
  Maker& array(std::string_view key, ValueType type, const std::vector<T>& values) {
    ++keys;
    bytes.array(key, type, values.size());
    for (const T value : values) bytes.put(value);
    return *this;
  }
  Maker& tokens(const std::vector<std::string>& values) { return strings("tokenizer.ggml.tokens", values); }
  Maker& types(const std::vector<int32_t>& values) {
    return array("tokenizer.ggml.token_type", ValueType::kI32, values);
  }
  Maker& scores(const std::vector<float>& values) { return array("tokenizer.ggml.scores", ValueType::kF32, values); }
  Maker& merges(const std::vector<std::string>& values) { return strings("tokenizer.ggml.merges", values); }

  Result<Tokenizer> make() {
    store<uint64_t>(bytes.out.data() + 16, keys);
    ParseState state;
    BOOST_REQUIRE(parse_header(bytes.out, bytes.out.size(), state).value().complete);
    return Tokenizer::create({state.header, bytes.out});
  }
  Tokenizer get() {
    auto made = make();
    BOOST_REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
    bytes.out.assign(bytes.out.size(), 0xAA);  // the tokenizer must not refer to these bytes
    return std::move(*made);
  }
};

inline Maker model(std::string_view name) {
  Maker maker;
  maker.text("tokenizer.ggml.model", name);
  return maker;
}

inline std::string byte_name(int byte) {
  constexpr char kHex[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
}

// <unk> <s> </s>, the 256 bytes, then words of SentencePiece.
inline Maker spm(const std::vector<std::string>& words) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};
  std::vector<float> scores = {0, 0, 0};
  for (int b = 0; b < 256; ++b) {
    tokens.push_back(byte_name(b));
    types.push_back(6);
    scores.push_back(0);
  }
  for (size_t i = 0; i < words.size(); ++i) {
    tokens.push_back(words[i]);
    types.push_back(1);
    scores.push_back(-static_cast<float>(i));
  }
  Maker maker = model("llama");
  maker.tokens(tokens).types(types).scores(scores);
  return maker;
}

// The 256 bytes as GPT-2 spells them.
inline std::vector<std::string> printable_bytes() {
  std::vector<std::string> tokens;
  for (uint32_t b = 0, next = 256; b < 256; ++b) {
    const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    std::string spelled;
    const uint32_t c = itself ? b : next++;
    if (c < 0x80) {
      spelled.push_back(static_cast<char>(c));
    } else {
      spelled.push_back(static_cast<char>(0xC0 | c >> 6));
      spelled.push_back(static_cast<char>(0x80 | (c & 63)));
    }
    tokens.push_back(spelled);
  }
  return tokens;
}

inline Tokenizer open_tokenizer(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  ParseState state;
  BOOST_REQUIRE_MESSAGE(parse_header(bytes, bytes.size(), state).value().complete, path.string());
  Result<Tokenizer> tokenizer = Tokenizer::create({state.header, bytes});
  BOOST_REQUIRE_MESSAGE(tokenizer.has_value(), (tokenizer ? "" : tokenizer.error().message));
  return std::move(*tokenizer);
}

}  // namespace ggufscope::test
