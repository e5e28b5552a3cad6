// Texts that are not UTF-8. The rules, each the same as llama.cpp's:
//   BPE, WordPiece, Unigram and PLaMo-2 read code points: a byte that begins no sequence, and each byte of an overlong
//   or too large one, is U+FFFD; surrogates are read. WordPiece then drops U+FFFD.
//   SentencePiece BPE cuts characters by what their first byte announces, whatever follows; RWKV reads bytes.
#include <random>

#include "made_vocabularies.hpp"

using namespace ggufscope;
using test::Maker;
using test::model;
using test::open_tokenizer;
using test::printable_bytes;
using test::spm;

namespace {

using Ids = std::vector<TokenId>;

struct Repair {
  std::string_view broken, repaired;
};
constexpr Repair kRepairs[] = {
    {"a\x80z", "a\uFFFDz"},                                      // a continuation byte
    {"\xE2\x96", "\uFFFD\uFFFD"},                                // cut
    {"\xE2\x96 b", "\uFFFD\uFFFD b"},                            // cut by another character
    {"\xC0\x80", "\uFFFD\uFFFD"},                                // overlong forms
    {"\xC1\x81th", "\uFFFD\uFFFDth"},                            //
    {"x\xE0\x80\xA0y", "x\uFFFD\uFFFD\uFFFDy"},                  //
    {"\xF0\x80\x80\xA0", "\uFFFD\uFFFD\uFFFD\uFFFD"},            //
    {"\xF0\x8F\xBF\xBF", "\uFFFD\uFFFD\uFFFD\uFFFD"},            //
    {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},            // beyond U+10FFFF
    {"\xF8\x88\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},  // no lead byte
    {"\xFF the", "\uFFFD the"},                                  //
    {"\xC3\xA9\xE4\xB8\xAD", "\u00E9\u4E2D"},                    // sound
};

// An independent decoder, by the table of well-formed byte sequences. It accepts surrogates.
std::string repair(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto at = [&](size_t k) { return i + k < text.size() ? static_cast<uint8_t>(text[i + k]) : 0u; };
    const uint32_t a = at(0), b = at(1);
    const auto goes_on = [&](size_t k) { return at(k) >= 0x80 && at(k) <= 0xBF; };
    size_t length = 0;
    if (a < 0x80) length = 1;
    if (a >= 0xC2 && a <= 0xDF && goes_on(1)) length = 2;
    if (a >= 0xE0 && a <= 0xEF && goes_on(1) && goes_on(2) && (a != 0xE0 || b >= 0xA0)) length = 3;
    if (a >= 0xF0 && a <= 0xF4 && goes_on(1) && goes_on(2) && goes_on(3) && (a != 0xF0 || b >= 0x90) &&
        (a != 0xF4 || b <= 0x8F))
      length = 4;
    out += length != 0 ? text.substr(i, length) : std::string_view("\uFFFD");
    i += std::max<size_t>(length, 1);
  }
  return out;
}

// Valid text with changed, dropped and inserted bytes.
std::string damaged(std::mt19937& random) {
  constexpr std::string_view kParts[] = {"the ",         " th",          "\u2581",       "a\u2581b", "\u00E9",
                                         "\u4E2D\u6587", "\xED\xA0\x80", "\xC0\x80",     "\xE2\x96", "\xF4\x90\x80\x80",
                                         "\U0001F44D",   "12 345\n",     "\xE0\x80\xA0", "abab",     "\uFFFD"};
  std::string text;
  for (size_t i = 0, n = random() % 10; i < n; ++i) text += kParts[random() % std::size(kParts)];
  for (size_t i = 0, n = random() % 4; i < n && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    if (random() % 3 == 0)
      text.erase(at, 1);
    else if (random() % 2 == 0)
      text[at] = static_cast<char>(random());
    else
      text.insert(at, 1, static_cast<char>(0x80 | random()));
  }
  return text;
}

Tokenizer bpe(std::string_view pre) {
  auto tokens = printable_bytes();
  for (const char* token : {"th", "the", "ab", "abab"}) tokens.push_back(token);
  Maker maker = model("gpt2");
  return maker.text("tokenizer.ggml.pre", pre).tokens(tokens).merges({"t h", "th e", "a b", "ab ab"}).get();
}

// A simple SentencePiece BPE: repeatedly merges the adjacent pair whose union is the best token, the first of equals.
Ids merge_plainly(const Tokenizer& t, std::string_view text, std::string_view prefix) {
  std::string all(prefix);
  for (const char c : text) all += c == ' ' ? std::string("\u2581") : std::string(1, c);
  std::vector<std::string> parts;
  for (size_t i = 0; i < all.size();) {
    const auto lead = static_cast<uint8_t>(all[i]);
    const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    parts.push_back(all.substr(i, length));
    i += parts.back().size();
  }
  for (;;) {
    size_t best = parts.size();
    TokenId best_token = kNoToken;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const TokenId token = t.find(parts[i] + parts[i + 1]);
      if (token == kNoToken || (best_token != kNoToken && t.score(token) <= t.score(best_token))) continue;
      best = i;
      best_token = token;
    }
    if (best_token == kNoToken) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  Ids ids;
  for (const std::string& part : parts) {
    if (const TokenId token = t.find(part); token != kNoToken) {
      ids.push_back(token);
      continue;
    }
    for (const char c : part) ids.push_back(t.find(test::byte_name(static_cast<uint8_t>(c))));
  }
  return ids;
}

void same_as_repaired(const Tokenizer& t, const std::string& name, std::string_view text) {
  BOOST_TEST_CONTEXT(name << " of " << text)
  BOOST_TEST(t.encode(text) == t.encode(repair(text)), boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tokenizer_invalid)

BOOST_AUTO_TEST_CASE(invalid_utf8_becomes_replacement_characters) {
  for (const Repair& row : kRepairs) BOOST_TEST(repair(row.broken) == row.repaired);
  std::mt19937 random(1);
  for (const char* pre : {"default", "gpt-2", "llama-bpe", "deepseek-v3", "gemma4", "afmoe"}) {
    const Tokenizer t = bpe(pre);
    for (const Repair& row : kRepairs) same_as_repaired(t, pre, row.broken);
    for (int i = 0; i < 200; ++i) same_as_repaired(t, pre, damaged(random));
  }
  // The bytes of U+FFFD, spelled as GPT-2 does.
  const Tokenizer t = bpe("gpt-2");
  const auto id = [&](uint8_t byte) { return t.find(printable_bytes()[byte]); };
  BOOST_TEST(t.encode("\xC1\x81") == (Ids{id(0xEF), id(0xBF), id(0xBD), id(0xEF), id(0xBF), id(0xBD)}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(word_piece_drops_invalid_utf8) {
  const Tokenizer t = model("bert")
                          .tokens({"[UNK]", "[CLS]", "[SEP]", "\u2581the", "\u2581a", "b", "\u2581b"})
                          .number("tokenizer.ggml.unknown_token_id", 0)
                          .get();
  BOOST_TEST(t.encode("a\xE0\x80\xA0"
                      "b") == (Ids{4, 5}),
             boost::test_tools::per_element());  // no overlong space
  BOOST_TEST(t.encode("a\xFF b") == (Ids{4, 6}), boost::test_tools::per_element());
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) same_as_repaired(t, "bert", damaged(random));
}

BOOST_AUTO_TEST_CASE(sentence_piece_splits_invalid_utf8_by_lead_bytes) {
  const Tokenizer t =
      spm({"\u2581", "\u2581\u2581", "\u2581a", "b", "\u2581b", "the", "th", "t", "h", "e", "a", "ab"}).get();
  const auto byte = [](uint8_t b) { return static_cast<TokenId>(3 + b); };
  const TokenId mark = t.find("\u2581"), b = t.find("b");
  // E2 96 takes the first byte of the space after it.
  BOOST_TEST(t.encode("\xE2\x96 b") == (Ids{mark, byte(0xE2), byte(0x96), byte(0xE2), byte(0x96), byte(0x81), b}),
             boost::test_tools::per_element());
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const std::string text = damaged(random);
    if (!text.empty()) BOOST_TEST(t.encode(text) == merge_plainly(t, text, "\u2581"), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(real_vocabularies_handle_invalid_utf8,
                     *boost::unit_test::precondition(test::needs_shared("data/vocab"))) {
  std::mt19937 random(4);
  const int n = test::kSanitized ? 20 : 200;
  for (const auto& entry : std::filesystem::directory_iterator(test::shared("data/vocab"))) {
    if (entry.path().extension() != ".gguf") continue;
    const Tokenizer t = open_tokenizer(entry.path());
    for (int i = 0; i < n; ++i) {
      const std::string text = damaged(random);
      if (t.kind() == TokenizerKind::kSpm && !text.empty() && t.encode(" ").size() == 1)
        BOOST_TEST(t.encode(text) == merge_plainly(t, text, t.encode("a").size() == 1 ? "\u2581" : ""));
      if (t.kind() != TokenizerKind::kSpm) same_as_repaired(t, entry.path().filename().string(), text);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
