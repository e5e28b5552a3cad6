// Small generated vocabularies: every kind, decoding, streaming, and hostile vocabularies.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/answer_text.hpp"
#include "made_vocabularies.hpp"

using namespace ggufscope;
using test::byte_name;
using test::GgufBytes;
using test::Maker;
using test::model;
using test::printable_bytes;
using test::spm;

namespace {

using Ids = std::vector<TokenId>;

std::string random_bytes(std::mt19937& random, bool utf8) {
  std::string text;
  for (size_t i = 0, length = random() % 60; i < length; ++i) {
    const auto kind = static_cast<uint32_t>(random() % 6);
    const auto c = static_cast<uint32_t>(kind < 3    ? 0x20 + random() % 95
                                         : kind == 3 ? random() % 0x80
                                         : kind == 4 ? 0x80 + random() % 0x3000
                                                     : 0x10000 + random() % 0x10000);
    if (!utf8 && random() % 8 == 0) {
      text.push_back(static_cast<char>(random()));
    } else if (c < 0x80) {
      text.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
      text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    } else if (c < 0x10000) {
      text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
               static_cast<char>(0x80 | (c & 63))};
    } else {
      text += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
               static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    }
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tokenizer_own)

BOOST_AUTO_TEST_CASE(spm_merges_by_score_and_falls_back_to_bytes) {
  const Tokenizer t = spm({"\u2581a", "ab", "b", "a", "c", "\u2581", "abc"}).get();
  constexpr TokenId kFirst = 259;
  BOOST_TEST(t.encode("abc") == (Ids{kFirst, kFirst + 2, kFirst + 4}),
             boost::test_tools::per_element());  // "\u2581a" first
  BOOST_TEST(t.encode("z") == (Ids{kFirst + 5, 3 + 'z'}), boost::test_tools::per_element());
  BOOST_TEST(t.encode("</s>") != (Ids{2}));
  BOOST_TEST(t.encode("</s>", {.special = true}) == (Ids{2}), boost::test_tools::per_element());
  BOOST_TEST(t.encode("", {.bos = true}) == (Ids{1}), boost::test_tools::per_element());
  BOOST_TEST(t.decode(t.encode("a\xC3(", {.bos = true}), {.remove_special = true}) == " a\xC3(");
  BOOST_TEST(t.decode(t.encode("ab c")) == "ab c");
  BOOST_TEST(t.is_end_of_generation(2));
  BOOST_TEST(!t.is_end_of_generation(1));
}

BOOST_AUTO_TEST_CASE(bpe_merges_by_rank_short_and_long) {
  auto tokens = printable_bytes();
  for (const char* token : {"ab", "abab", "\u0120a", "ba", "<|x|>"}) tokens.push_back(token);
  Maker maker = model("gpt2");
  maker.text("tokenizer.ggml.pre", "gpt-2").tokens(tokens).merges({"a b", "ab ab", "\u0120 a", "b a", "b a"});
  maker.number("tokenizer.ggml.bos_token_id", 0).number("tokenizer.ggml.eos_token_id", 0);
  std::vector<int32_t> types(tokens.size(), 1);
  types.back() = 4;
  const Tokenizer t = maker.types(types).get();
  BOOST_TEST(t.encode("ababa") == (Ids{257, 'a'}), boost::test_tools::per_element());
  BOOST_TEST(t.encode("x ab") == (Ids{'x', ' ', 256}), boost::test_tools::per_element());
  BOOST_TEST(t.encode("a<|x|>b") == (Ids{'a', 260, 'b'}), boost::test_tools::per_element());
  // The heap for long words gives the same result as the scan for short ones.
  std::string word;
  for (int i = 0; i < 2000; ++i) word += "ab";
  BOOST_TEST(t.encode(word) == (Ids(1000, 257)), boost::test_tools::per_element());
  BOOST_TEST(t.decode(t.encode("Hello,\xE4\xBD\xA0 world !")) ==
             "Hello,\xE4\xBD\xA0 world!");  // tidied, as llama.cpp does
}

BOOST_AUTO_TEST_CASE(pre_tokenizer_names_select_their_flags) {
  auto tokens = printable_bytes();
  for (const char* token : {"the", "\u2581a", "\u2581", "<0x7A>"}) tokens.push_back(token);
  const auto make = [&](std::string_view pre) {
    Maker maker = model("gpt2");
    return maker.text("tokenizer.ggml.pre", pre)
        .tokens(tokens)
        .merges({"\u2581 a"})
        .number("tokenizer.ggml.bos_token_id", 0)
        .get();
  };
  // A word that is a token needs no merges.
  for (const char* pre : {"llama-bpe", "glm4", "glm5"})
    BOOST_TEST(make(pre).encode("the") == (Ids{256}), boost::test_tools::per_element());
  BOOST_TEST(make("chatglm-bpe").encode("the").size() == 3u);
  BOOST_TEST(make("llama-bpe").adds_bos());
  BOOST_TEST(!make("glm5").adds_bos());
  // Spaces become marks, and unknown characters become byte tokens.
  for (const char* pre : {"mmbert", "sarvam-moe"})
    BOOST_TEST(make(pre).encode(" a\u4E2D") == make("sarvam-moe").encode(" a\u4E2D"), boost::test_tools::per_element());
  BOOST_TEST(make("mmbert").encode(" a").size() == 1u);
}

BOOST_AUTO_TEST_CASE(word_piece_normalizes_and_takes_the_longest) {
  const Tokenizer t =
      model("bert")
          .tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581caf", "\u2581cafe", "s", "\u2581,", "\u2581\u4E2D"})
          .types({3, 3, 3, 3, 1, 1, 1, 1, 1})
          .number("tokenizer.ggml.bos_token_id", 2)
          .number("tokenizer.ggml.seperator_token_id", 3)
          .number("tokenizer.ggml.unknown_token_id", 1)
          .get();
  BOOST_TEST(t.encode("Caf\u00E9s,\u4E2Dqq", {.bos = true}) == (Ids{2, 5, 6, 7, 8, 1, 3}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(unigram_takes_the_best_path_through_its_character_map) {
  // Root: base 1 << ... one replacement: "A" -> "a". Node 0 has BASE b; the child for 'A' lies at b ^ 'A'.
  std::vector<uint32_t> nodes(512, 0);
  constexpr uint32_t kBase = 256, kChild = kBase ^ 'A', kValue = 300;
  nodes[0] = kBase << 10;
  nodes[kChild] = (kChild ^ kValue) << 10 | 1u << 8 | 'A';
  nodes[kValue] = 0;  // offset of the replacement
  std::vector<uint8_t> map(4 + nodes.size() * 4);
  store<uint32_t>(map.data(), static_cast<uint32_t>(nodes.size() * 4));
  for (size_t i = 0; i < nodes.size(); ++i) store<uint32_t>(map.data() + 4 + 4 * i, nodes[i]);
  map.push_back('a');
  map.push_back(0);
  const Tokenizer t = model("t5")
                          .tokens({"<pad>", "</s>", "<unk>", "\u2581", "a", "aa", "\u2581a"})
                          .types({3, 3, 2, 1, 1, 1, 1})
                          .scores({0, 0, 0, -2, -2, -3, -5})
                          .array("tokenizer.ggml.precompiled_charsmap", ValueType::kU8, map)
                          .flag("tokenizer.ggml.add_space_prefix", true)
                          .flag("tokenizer.ggml.remove_extra_whitespaces", true)
                          .get();
  BOOST_TEST(t.encode("Aa") == (Ids{3, 5}), boost::test_tools::per_element());
  BOOST_TEST(t.encode("  a   zz a ", {.bos = true}) == (Ids{3, 4, 3, 2, 3, 4, 1}), boost::test_tools::per_element());
  BOOST_TEST(t.notes().empty());
}

BOOST_AUTO_TEST_CASE(rwkv_world_vocabulary_is_read_from_text) {
  const auto world = [](std::string_view text) { return Maker().text("tokenizer.rwkv.world", text).make(); };
  const auto t = world(
      "1 '\\x00' 1\n2 'a' 1\n3 \"'\" 1\n4 b'\\xe4\\xbd' 2\n5 '\\xe9' 2\n6 '\\u4f60' 3\n"
      "8 ' a b' 4\n9 '\\\\\\n' 2\n10 '\xE4\xBD\xA0\xE5\xA5\xBD' 6\r\n");
  BOOST_REQUIRE(t.has_value());
  BOOST_TEST(t->size() == 11u);
  BOOST_TEST((t->kind() == TokenizerKind::kRwkv));
  const std::string text("a\0'\xC3\xA9\xE4\xBD\xA0 a b\\\n\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xBD", 22);
  BOOST_TEST(t->encode(text) == (Ids{2, 1, 3, 5, 6, 8, 9, 10, 4}), boost::test_tools::per_element());
  BOOST_TEST(t->decode(t->encode(text)) == text);
  BOOST_TEST(t->text(7) == "[EMPTY_7]");

  const std::pair<const char*, ErrorCode> broken[] = {
      {"1 'a' 2\n", ErrorCode::kBadLength},
      {"1 'a\n", ErrorCode::kUnsupported},
      {"x 'a' 1\n", ErrorCode::kUnsupported},
      {"1 a 1\n", ErrorCode::kUnsupported},
      {"1 b'\\u0041' 1\n", ErrorCode::kUnsupported},
      {"1 '\\q' 1\n", ErrorCode::kUnsupported},
      {"2 'a' 1\n2 'b' 1\n", ErrorCode::kOutOfRange},
      {"4000000000 'a' 1\n", ErrorCode::kOutOfRange},
      {"1 '\\U00110000' 4\n", ErrorCode::kUnsupported},
      {"\n", ErrorCode::kUnsupported},
  };
  for (const auto& [lines, code] : broken) {
    BOOST_TEST_CONTEXT(lines) {
      const auto made = world(lines);
      BOOST_REQUIRE(!made.has_value());
      BOOST_TEST((made.error().code == code));
      BOOST_TEST(made.error().offset > 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(rwkv_and_plamo2_encode_and_decode) {
  const Tokenizer r = model("rwkv").tokens({"\\x00", "a", "ab", "\\n", "\\xe4\\xbd", "\\\\"}).get();
  BOOST_TEST(r.encode("aba\n\xE4\xBD\\") == (Ids{2, 1, 3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(r.decode(Ids{3, 4, 5}) == "\n\xE4\xBD\\");

  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "<pad>"};
  std::vector<int32_t> types = {2, 3, 3, 3};
  for (int b = 0; b < 256; ++b) {
    tokens.push_back(byte_name(b));
    types.push_back(6);
  }
  for (const char* token : {"a", "b", "ab", "abc"}) {
    tokens.push_back(token);
    types.push_back(1);
  }
  std::vector<float> scores(tokens.size(), 0);
  scores[260] = -3, scores[261] = -3, scores[262] = -4, scores[263] = -20;
  const Tokenizer p = model("plamo2").tokens(tokens).types(types).scores(scores).get();
  BOOST_TEST(p.encode("\xEF\xBB\xBF"
                      "abab\xE4\xBD\xA0"
                      "a") == (Ids{262, 262, 4 + 0xE4, 4 + 0xBD, 4 + 0xA0, 260}),
             boost::test_tools::per_element());
  const Tokenizer flagged = model("plamo2")
                                .tokens(tokens)
                                .types(types)
                                .scores(scores)
                                .flag("tokenizer.ggml.add_bos_token", true)
                                .flag("tokenizer.ggml.add_eos_token", true)
                                .get();
  BOOST_TEST(flagged.encode("ab", {.bos = true}) == (Ids{1, 262, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(byte_exact_kinds_round_trip) {
  std::mt19937 random(3);
  auto tokens = printable_bytes();
  tokens.push_back("the");
  const Tokenizer bpe = model("gpt2").text("tokenizer.ggml.pre", "qwen2").tokens(tokens).merges({"t h", "th e"}).get();
  const Tokenizer sp = spm({"\u2581", "t", "h", "th"}).get();
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_bytes(random, true);
    BOOST_REQUIRE_EQUAL(bpe.decode(bpe.encode(text)), text);
    BOOST_REQUIRE_EQUAL(sp.decode(sp.encode(text)), text);
    // A lead byte without its continuation bytes takes the space after it, which then decodes as U+2581.
    std::string any = random_bytes(random, false);
    std::erase(any, ' ');
    BOOST_REQUIRE_EQUAL(sp.decode(sp.encode(any)), any);
    StreamDecoder stream(bpe);
    std::string streamed;
    for (const TokenId id : bpe.encode(text)) streamed += stream.push(id);
    BOOST_REQUIRE_EQUAL(streamed + stream.flush(), text);
  }
}

BOOST_AUTO_TEST_CASE(streaming_decoder_holds_back_incomplete_characters) {
  const Tokenizer t = spm({}).get();
  StreamDecoder stream(t);
  BOOST_TEST(stream.push(3 + 0xE4) == "");
  BOOST_TEST(stream.push(3 + 0xBD) == "");
  BOOST_TEST(stream.push(3 + 0xA0) == "\xE4\xBD\xA0");
  BOOST_TEST(stream.push(3 + 0xF0) == "");
  BOOST_TEST(stream.push(3 + 'a') == "\uFFFDa");
  BOOST_TEST(stream.push(2) == "");  // hidden
  BOOST_TEST(stream.push(3 + 0xC3) == "");
  BOOST_TEST(stream.flush() == "\uFFFD");
}

BOOST_AUTO_TEST_CASE(a_broken_character_is_one_replacement_character) {
  const Tokenizer t = spm({}).get();
  const auto id = [](uint8_t byte) { return static_cast<TokenId>(3 + byte); };
  struct Broken {
    std::string bytes, decoded, cut;  // as decode() reads it, and as the text of an answer that a limit ended
  };
  const Broken kBroken[] = {
      {"a\xF0", "a\uFFFD", "a"},
      {"a\xF0\x9F", "a\uFFFD", "a"},
      {"a\xF0\x9F\x98", "a\uFFFD", "a"},
      {"a\xE4\xBD", "a\uFFFD", "a"},
      {"\xF0\x9F\x98z", "\uFFFDz", "\uFFFDz"},
      {"\xE4\xBD\xE4\xBD\xA0", "\uFFFD\u4F60", "\uFFFD\u4F60"},
      // Not the beginning of any character: each byte is one of its own, as the web decodes it.
      {"\xC0\xAF", "\uFFFD\uFFFD", "\uFFFD\uFFFD"},
      {"\xED\xA0\x80z", "\uFFFD\uFFFD\uFFFDz", "\uFFFD\uFFFD\uFFFDz"},
      {"\xF4\x90z", "\uFFFD\uFFFDz", "\uFFFD\uFFFDz"},
      {"\xE2\x82\x28", "\uFFFD(", "\uFFFD("},
  };
  for (const Broken& one : kBroken) {
    StreamDecoder stream(t);
    AnswerText ended(t, {}), limited(t, {"stop"});
    std::string streamed, whole, cut;
    for (const char c : one.bytes) {
      const TokenId token = id(static_cast<uint8_t>(c));
      streamed += stream.push(token);
      whole += ended.push(token);
      cut += limited.push(token);
    }
    BOOST_TEST(streamed + stream.flush() == one.decoded);
    BOOST_TEST(whole + ended.flush() == one.decoded);
    BOOST_TEST(cut + limited.flush(true) == one.cut);
  }
}

BOOST_AUTO_TEST_CASE(hostile_vocabularies_do_not_crash) {
  const std::string long_token(5000, 'a');
  const std::vector<std::string> few = {"<unk>", "a", "b", "ab", "<0x0A>"};
  struct Hostile {
    std::string name;
    std::function<void(Maker&)> fill;
    std::string note;  // the expected note, or "" for any
  };
  const std::vector<Hostile> kHostile = {
      {"nothing", [](Maker&) {}, "error"},
      {"tokens of numbers",
       [](Maker& m) {
         m.array<uint32_t>("tokenizer.ggml.tokens", ValueType::kU32, {1, 2});
       },
       "error"},
      {"no tokens", [](Maker& m) { m.tokens({}); }, ""},
      {"empty tokens",
       [](Maker& m) {
         m.tokens({"", "", "a"});
       },
       "token-empty"},
      {"giant tokens",
       [&](Maker& m) {
         m.tokens({long_token, long_token + "b", "a"});
       },
       ""},
      {"equal tokens",
       [](Maker& m) {
         m.tokens({"a", "a", "b", "b"});
       },
       "token-duplicate"},
      {"broken UTF-8",
       [](Maker& m) {
         m.tokens({"\xFF\xFE", "\xC0\x80", "\xE4\xBD", "a"});
       },
       ""},
      {"short scores", [&](Maker& m) { m.tokens(few).scores({1}); }, "scores-short"},
      {"scores that are texts", [&](Maker& m) { m.tokens(few).strings("tokenizer.ggml.scores", {"x"}); },
       "scores-type"},
      {"scores that are no numbers",
       [&](Maker& m) {
         m.tokens(few).scores({NAN, INFINITY, -INFINITY, NAN, 1e38f});
       },
       ""},
      {"short types", [&](Maker& m) { m.tokens(few).types({1}); }, "types-short"},
      {"types that are texts", [&](Maker& m) { m.tokens(few).strings("tokenizer.ggml.token_type", {"x"}); },
       "types-type"},
      {"unknown types",
       [&](Maker& m) {
         m.tokens(few).types({-1, 99, 7, 0, 2147483647});
       },
       ""},
      {"byte tokens that are none",
       [](Maker& m) {
         m.tokens({"<0x-1>", "<0xZZ>", "<0x", "<", "<0x100>", "a"}).types({6, 6, 6, 6, 6, 6});
       },
       "byte-token-malformed"},
      {"special ids beyond the end",
       [&](Maker& m) {
         m.tokens(few).number("tokenizer.ggml.bos_token_id", 4000000000u).number("tokenizer.ggml.eos_token_id", 5);
       },
       "special-id-out-of-range"},
      {"a special id that is a text", [&](Maker& m) { m.tokens(few).text("tokenizer.ggml.unknown_token_id", "x"); },
       "special-id-out-of-range"},
      {"flags that are texts",
       [&](Maker& m) {
         m.tokens(few).text("tokenizer.ggml.add_bos_token", "x").text("tokenizer.ggml.add_space_prefix", "y");
       },
       ""},
      {"merges of numbers",
       [&](Maker& m) { m.tokens(few).array<uint32_t>("tokenizer.ggml.merges", ValueType::kU32, {1}); }, ""},
      {"merges of unknown tokens",
       [&](Maker& m) {
         m.tokens(few).merges({"x y", "xy z", "a b", "q q"});
       },
       ""},
      {"merges in a circle",
       [&](Maker& m) {
         m.tokens(few).merges({"a b", "ab a", "aba b", "a b", "b a", "a a"});
       },
       ""},
      {"malformed merges",
       [&](Maker& m) {
         m.tokens(few).merges({"", " ", "  ", "ab", "a ", " b", "a b c"});
       },
       ""},
      {"every token special",
       [&](Maker& m) {
         m.tokens({"a", "aa", "aaa", "aaaa", " ", "  "}).types({4, 4, 4, 4, 3, 3});
       },
       ""},
      {"a special token of nothing",
       [&](Maker& m) {
         m.tokens({"", "a"}).types({4, 4});
       },
       "token-empty"},
      {"a giant special token",
       [&](Maker& m) {
         m.tokens({long_token, "a"}).types({4, 1});
       },
       ""},
      {"a short character map",
       [&](Maker& m) {
         m.tokens(few).array<uint8_t>("tokenizer.ggml.precompiled_charsmap", ValueType::kU8, {1, 2});
       },
       ""},
      {"a character map of texts",
       [&](Maker& m) { m.tokens(few).strings("tokenizer.ggml.precompiled_charsmap", {"x"}); }, ""},
      {"a character map that promises more",
       [&](Maker& m) {
         m.tokens(few).array<uint8_t>("tokenizer.ggml.precompiled_charsmap", ValueType::kU8,
                                      {255, 255, 255, 255, 0, 0, 0, 0});
       },
       ""},
      {"a character map that points out",
       [&](Maker& m) {
         std::vector<uint8_t> map(4 + 4 * 300, 0xFF);
         store<uint32_t>(map.data(), 4 * 299);
         m.tokens(few).array("tokenizer.ggml.precompiled_charsmap", ValueType::kI8, map);
       },
       ""},
      {"a character map without an end",
       [&](Maker& m) {
         std::vector<uint8_t> map(4 + 4 * 256 + 3, 'x');
         store<uint32_t>(map.data(), 4 * 256);
         for (uint32_t i = 0; i < 256; ++i) store<uint32_t>(map.data() + 4 + 4 * i, i | 1u << 8);
         m.tokens(few).array("tokenizer.ggml.precompiled_charsmap", ValueType::kU8, map);
       },
       ""},
      {"escapes without an end",
       [](Maker& m) {
         m.tokens({"\\", "\\x", "\\x0", "\\xZZ", "a\\"});
       },
       ""},
      {"an unknown pre-tokenizer",
       [&](Maker& m) { m.tokens(few).merges({"a b"}).text("tokenizer.ggml.pre", "no such"); }, ""},
      {"added tokens that are none",
       [&](Maker& m) {
         m.tokens(few).strings("tokenizer.ggml.added_tokens", {"a", "zzz"});
       },
       ""},
  };
  const std::vector<std::string> kTexts = {"",
                                           "a",
                                           "ab ab\n  aaaa b",
                                           std::string(3000, 'a'),
                                           std::string(3000, ' '),
                                           "\xFF\xC0\x80\xE4",
                                           "\u4E2D\u6587 \u00E9<0x0A><unk>",
                                           std::string(2000, 'a') + "b" + std::string(2000, 'b')};
  for (const char* kind : {"llama", "gpt2", "gemma4", "hybriddna", "whitespace", "bert", "t5", "replit", "rwkv",
                           "plamo2", "none", "no such kind"}) {
    for (const Hostile& hostile : kHostile) {
      BOOST_TEST_CONTEXT(kind << ": " << hostile.name) {
        Maker maker = model(kind);
        hostile.fill(maker);
        const auto made = maker.make();
        if (!made) {
          BOOST_TEST(!made.error().message.empty());
          continue;
        }
        BOOST_TEST(hostile.note != "error");
        bool noted = hostile.note.empty();
        for (const TokenizerNote& note : made->notes()) noted = noted || note.code == hostile.note;
        // An invalid byte token does not matter for kinds without byte tokens, but it is noted.
        BOOST_TEST(noted);
        for (const std::string& text : kTexts) {
          for (const bool special : {false, true}) {
            const Ids ids = made->encode(text, {.special = special, .bos = true});
            const auto size = static_cast<TokenId>(made->size());
            BOOST_REQUIRE(std::ranges::all_of(ids, [&](TokenId id) { return id >= 0 && id < size; }));
            (void)made->decode(ids, {.remove_special = special, .special = !special});
          }
        }
        (void)made->decode(Ids{-1, 0, 1, 1000000, 2147483647, -2147483648});
        BOOST_TEST(made->text(-1).empty());
        BOOST_TEST(made->piece(static_cast<TokenId>(made->size())).empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(long_texts_take_near_linear_time) {
  auto tokens = printable_bytes();
  std::vector<std::string> merges;
  std::string run = "a";
  for (int i = 0; i < 12; ++i) {
    merges.push_back(run + " " + run);
    run += run;
    tokens.push_back(run);
  }
  const Tokenizer bpe = model("gpt2").text("tokenizer.ggml.pre", "gpt-2").tokens(tokens).merges(merges).get();
  BOOST_TEST(bpe.encode(std::string(1 << 20, 'a')).size() == (1u << 20) / run.size());
  const Tokenizer sp = spm({"a", "aa", "aaaa", "aaaaaaaa", "\u2581", "\u2581\u2581"}).get();
  BOOST_TEST(sp.encode(std::string(1 << 18, 'a')).size() > 0u);
  BOOST_TEST(sp.decode(sp.encode(std::string(1 << 18, ' '))).size() == 1u << 18);
}

BOOST_AUTO_TEST_SUITE_END()
