// Compares every step of every pre-tokenizer with its regular expression, evaluated as in llama.cpp: non-ASCII
// characters are replaced by one byte for each category, and std::regex cuts one piece after another.
#include "text/pretokenizer.hpp"

#include <boost/test/unit_test.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // inside <regex>, under the sanitizers
#endif

#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "data.hpp"
#include "text/splitters.hpp"
#include "text/unicode.hpp"

using namespace ggufscope;

namespace {

#ifdef __GLIBCXX__
constexpr const char* kWord = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
constexpr const char* kEnd = "|\\s+(?!\\S)|\\s+";
const std::string kL = "A-Za-z\xD2", kN = "0-9\xD1", kM = "\xD4";
const std::string kP = "!-#%-*,-/:-;?-@\\[-\\]_\\{\\}\xD3", kS = "$+<-=>^`|~\xD5";
const std::string kLead = "[^\\r\\n" + kL + kN + "]?";
const std::string kSymbols = "| ?[^\\s" + kL + kN + "]+";
const std::string kLines = "|\\s*[\\r\\n]+";
const std::string kUpper = "(?:(?=[" + kL + "])[^a-z])", kLower = "(?:(?=[" + kL + "])[^A-Z])";
const std::string kUpperMarks = "(?:(?=[" + kL + kM + "])[^a-z])", kLowerMarks = "(?:(?=[" + kL + kM + "])[^A-Z])";
const std::string kAsciiWord =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n" + kL + kP + kS + "]?[" + kL + kM + "]+";

// Evaluated on the bytes of categories.
struct Row {
  SplitStep step;
  std::string pattern;
};
const std::vector<Row> kRows = {
    {split::gpt2, "'s|'t|'re|'ve|'m|'ll|'d| ?[" + kL + "]+| ?[" + kN + "]+" + kSymbols + kEnd},
    {split::llama3, kWord + ("|" + kLead) + "[" + kL + "]+|[" + kN + "]{1,3}" + kSymbols + "[\\r\\n]*" + kLines + kEnd},
    {split::minicpm5, kWord + ("|" + kLead) + "[" + kL + "]+|[" + kN + "]+" + kSymbols + "[\\r\\n]*" + kLines + kEnd},
    {split::qwen2, kWord + ("|" + kLead) + "[" + kL + "]+|[" + kN + "]" + kSymbols + "[\\r\\n]*" + kLines + kEnd},
    {split::qwen35,
     kWord + ("|" + kLead) + "[" + kL + kM + "]+|[" + kN + "]| ?[^\\s" + kL + kM + kN + "]+[\\r\\n]*" + kLines + kEnd},
    {split::ufakzeka, kLead + "[" + kL + "]+|[" + kN + "]" + kSymbols + "[\\r\\n]*" + kLines + kEnd},
    {split::seed_coder, kWord + ("|" + kLead) + "[" + kL + "]+|[" + kN + "]" + kSymbols + kLines + kEnd},
    {split::exaone_moe, kWord + ("|" + kLead) + "(?:[" + kL + "][" + kM + "]*(?: [" + kL + "][" + kM + "]*)*)+|[" + kN +
                            "]" + kSymbols + "[\\r\\n/]?|\\s*[\\r\\n]" + kEnd},
    {split::tekken, kLead + kUpper + "*" + kLower + "+|" + kLead + kUpper + "+" + kLower + "*|[" + kN + "]" + kSymbols +
                        "[\\r\\n/]*" + kLines + kEnd},
    {split::gpt4o, kLead + kUpper + "*" + kLower + "+" + kWord + "?|" + kLead + kUpper + "+" + kLower + "*" + kWord +
                       "?|[" + kN + "]{1,3}" + kSymbols + "[\\r\\n/]*" + kLines + kEnd},
    {split::granite_multi, kLead + kUpperMarks + "*" + kLowerMarks + "+" + kWord + "?|" + kLead + kUpperMarks + "+" +
                               kLowerMarks + "*" + kWord + "?|[" + kN + "]{1,3}" + kSymbols + "[\\r\\n/]*" + kLines +
                               kEnd},
    {split::tiny_aya, kLead + "[" + kL + kM + "]*[" + kL + kM + "]+" + kWord + "?|[" + kN + "]{1,3}" + kSymbols +
                          "[\\r\\n/]*" + kLines + kEnd},
    {split::youtu, kLead + "[" + kL + kM + "]*[" + kL + kM + "]+" + kWord + "?|[" + kN + "]" + kSymbols + "[\\r\\n/]*" +
                       kLines + kEnd},
    {split::jais2, kWord + ("|" + kLead) + "[" + kL + "]+|[" + kN + "]{1,3}" + kSymbols + "[\\r\\n]*" + kLines +
                       "|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|"
                       "\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}"},
    {split::deepseek3, kAsciiWord + "| ?[" + kP + kS + "]+[\\r\\n]*" + kLines + kEnd},
    {split::spark, kAsciiWord + "| ?[" + kP + kS + "]+|[\\r\\n]" + kEnd},
    {split::number, "[" + kN + "]"},
    {split::numbers, "[" + kN + "]+"},
    {split::numbers_of_three, "[" + kN + "]{1,3}"},
    {split::default_symbols, "[" + kP + "\\$\\+<=>\\^~\\|]+"},
    {split::falcon_symbols, "[" + kP + "\\$\\+<=>\\^~\\|`]+"},
    {split::any_punctuation, "[" + kP + "!-/:-@\\[-`{-~]"},
    {split::letter_words, "\\s?[" + kL + "]+"},
    {split::punctuation_words, "\\s?[" + kP + "]+"},
    {split::non_spaces, "\\S+"},
    {split::newline, "[\\r\\n]"},
    {split::lines, "[^\\n]+|[\\n]+"},
    {split::trailing_spaces, "\\s+$"},
    {split::digit_triples, "[0-9][0-9][0-9]"},
    {split::digits_from_right_if_whole, "(?=(?:[0-9]{3})+(?![0-9]))"},
    {split::sentinels, "<sentinel:[0-9]+>"},
    {split::image_codes, "IMGIMG[A-I]{1,4}Z"},
    {split::chameleon_spaces, "[\\t\\n]|    |  "},
};

char category(char32_t c) {
  if (c < 0x80) return static_cast<char>(c);
  constexpr std::string_view kBytes = "\xD0\xD2\xD1\xD3\xD4\xD5\x0B\xD0";  // in the order of CharClass
  return kBytes[static_cast<size_t>(char_class(c))];
}

#endif

std::string to_utf8(const std::u32string& text) {
  std::string out;
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

#ifdef __GLIBCXX__
std::vector<std::string> by_regex(const std::u32string& text, const std::regex& pattern) {
  std::string collapsed;
  for (const char32_t c : text) collapsed.push_back(category(c));
  std::vector<std::string> pieces;
  const auto add = [&](size_t begin, size_t end) {
    if (end > begin) pieces.push_back(to_utf8(text.substr(begin, end - begin)));
  };
  size_t start = 0;
  for (std::cregex_iterator it(collapsed.data(), collapsed.data() + collapsed.size(), pattern), none; it != none;
       ++it) {
    const auto begin = static_cast<size_t>(it->position());
    add(start, begin);
    start = begin + static_cast<size_t>(it->length());
    add(begin, start);
  }
  add(start, text.size());
  return pieces;
}
#endif

std::vector<std::string> by_step(const std::string& text, SplitStep step) {
  std::vector<std::string> pieces;
  const WordSink sink{
      [](void* out, std::string_view word) { static_cast<std::vector<std::string>*>(out)->emplace_back(word); },
      &pieces};
  Pieces{{&step, 1}, sink}.add(text);
  return pieces;
}

std::u32string random_text(std::mt19937& random) {
  // Characters that occur in rules, and some of every category.
  constexpr char32_t kPool[] =
      U"aZzAsTmdrevlLE''  \n\r\t/09.,!?$+<=>^`|~-_(){}[]@#\"\\;:"
      U"\u00E9\u00C9\u4E2D\u3042\uAC00\u0660\u2160\u00BD\u0301\u093E\u3002\uFF01\u2026\u00A0\u3000\u2028\u20AC\u00D7"
      U"\u200D\uE000\u0378\U0001F600\U00020000\u1E9E\u01C5\u02B0";
  constexpr size_t kCount = sizeof(kPool) / sizeof(kPool[0]) - 1;
  constexpr const char32_t* kWords[] = {U"<sentinel:12>", U"IMGIMGABZ",   U"don't",      U"I'LL",     U"12345678",
                                        U"    ",          U"hello world", U"HELLOworld", U"\r\n\r\n", U"  \n"};
  std::u32string text;
  for (size_t i = 0, length = random() % 40; i < length; ++i) {
    if (random() % 8 == 0)
      text += kWords[random() % std::size(kWords)];
    else
      text.append(random() % 16 == 0 ? 1 + random() % 6 : 1, kPool[random() % kCount]);
  }
  if (random() % 20 == 0) text.append(random() % 700, U' ');
  if (random() % 2 == 0) text += U'x';
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pretokenizer)

// llama.cpp's results depend on this standard library: others treat non-ASCII bytes in sets differently.
#ifdef __GLIBCXX__
BOOST_AUTO_TEST_CASE(steps_split_like_their_regular_expressions) {
  const int n_texts = test::whole_run() ? 300 : 100;
  for (size_t row = 0; row < kRows.size(); ++row) {
    const std::regex pattern(kRows[row].pattern, std::regex::ECMAScript | std::regex::optimize | std::regex::nosubs);
    std::mt19937 random(static_cast<uint32_t>(row + 1));
    for (int i = 0; i < n_texts; ++i) {
      const std::u32string text = random_text(random);
      const auto wanted = by_regex(text, pattern), got = by_step(to_utf8(text), kRows[row].step);
      if (got == wanted) continue;
      std::string message = "row " + std::to_string(row) + " of '" + to_utf8(text) + "':";
      for (const auto& piece : got) message += " [" + piece + "]";
      message += " not";
      for (const auto& piece : wanted) message += " [" + piece + "]";
      BOOST_ERROR(message);
      break;
    }
  }
}
#endif

BOOST_AUTO_TEST_CASE(steps_that_need_script_properties_split_correctly) {
  struct Example {
    SplitStep step;
    std::string text;
    std::vector<std::string> pieces;
  };
  const Example kExamples[] = {
      {split::kimi_k2,
       "Hi\u4E2D\u6587abc's 1234 \u3042!!\n\n x",
       {"Hi", "\u4E2D\u6587", "abc's", " ", "123", "4", " \u3042", "!!\n\n", " x"}},
      {split::k2_horizon, "x'\u017Fe '\u017Fe 'l\u017F", {"x", "'\u017F", "e", " '", "\u017Fe", " '", "l\u017F"}},
      {split::cjk, "a\u4E2D\u30ABb\uAC00", {"a", "\u4E2D\u30AB", "b\uAC00"}},
      {split::east_asian, "a\u4E2D\uAC00\u0905 b", {"a", "\u4E2D\uAC00\u0905", " b"}},
      {split::asian_scripts, "x\u0E40\u0E41 \u1000y", {"x", "\u0E40\u0E41", " ", "\u1000", "y"}},
      // From U+8C48 on, not U+F900.
      {split::asian_scripts, "\uA000x\uD7B0y\uF8FF", {"\uA000", "x", "\uD7B0", "y", "\uF8FF"}},
      {split::asian_scripts, "x\uA000\uE000\uFB00", {"x", "\uA000\uE000", "\uFB00"}},
      {split::cased_words, "a \u00C9b\u0436 \u4E2Dc", {"a", " \u00C9b\u0436", " \u4E2D", "c"}},
      {split::western_symbols, "a \uFF01!b\u3000\u3002", {"a", " \uFF01!b", "\u3000\u3002"}},
      {split::youtu_scripts,
       "a\uAC00\u3131\uFF01\u2026\u3105\u4E2D\u3042b",
       {"a", "\uAC00\u3131", "\uFF01\u2026", "\u3105", "\u4E2D\u3042", "b"}},
      {split::bloom, "Hello, world (x)\u3002y", {"Hello", ",", " world", " (", "x", ")\u3002", "y"}},
      {split::digits_from_right, "ab1234567 12 x", {"ab1", "234", "567", " 12", " x"}},
  };
  for (const Example& example : kExamples) {
    const auto got = by_step(example.text, example.step);
    BOOST_TEST(got == example.pieces, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(every_pre_tokenizer_keeps_every_byte) {
  std::set<std::string_view> names;
  std::mt19937 random(5);
  for (const PreTokenizer& pre : all_pre_tokenizers()) {
    BOOST_TEST(names.insert(pre.name).second);
    BOOST_TEST(find_pre_tokenizer(pre.name) == &pre);
    for (int i = 0; i < 30; ++i) {
      const std::string text = to_utf8(random_text(random));
      std::string joined;
      pre_tokenize(pre, text,
                   {[](void* out, std::string_view word) {
                      BOOST_REQUIRE(!word.empty());
                      *static_cast<std::string*>(out) += word;
                    },
                    &joined});
      BOOST_REQUIRE_EQUAL(joined, text);
    }
  }
  BOOST_TEST(names.size() >= 87u);
  BOOST_TEST(find_pre_tokenizer("no such") == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
