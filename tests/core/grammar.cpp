// Grammars: accepted texts, errors, allowed next tokens, and bounded time for hostile grammars.
#include "engine/grammar.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "grammar_data.hpp"

using namespace ggufscope;
using test::reads;
namespace bdata = boost::unit_test::data;

namespace {

Grammar compiled(std::string_view text) {
  Result<Grammar> grammar = Grammar::compile(text);
  BOOST_REQUIRE_MESSAGE(grammar.has_value(), grammar.error().message << "\n" << text);
  return std::move(*grammar);
}

struct GrammarCase {
  const char* name;
  const char* grammar;
  std::vector<std::string> accepted, rejected;
};
std::ostream& operator<<(std::ostream& out, const GrammarCase& c) { return out << c.name; }

const char* const kArithmetic = R"gbnf(
# as llama.cpp's examples write it
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*)gbnf";

const GrammarCase kGrammarCases[] = {
    {"text", R"(root ::= "hello")", {"hello"}, {"", "hell", "hello!", "Hello"}},
    {"empty", "root ::=", {""}, {" ", "a"}},
    {"empty text", R"(root ::= "" "a" "")", {"a"}, {"", "aa"}},
    {"alternatives", R"(root ::= "a" | "bc" |)", {"a", "bc", ""}, {"b", "ab", "c"}},
    {"groups", R"(root ::= ("a" | "b" ("c" | "d")) "e")", {"ae", "bce", "bde"}, {"be", "ace", "bc"}},
    {"class", "root ::= [a-cx0-9_-]", {"a", "c", "x", "5", "_", "-"}, {"d", "", "ab", "y"}},
    {"class of a bracket", R"(root ::= [\]\[\\^-]+)", {"]", "[", "\\", "^", "-", "][-"}, {"a", "", "]a"}},
    {"negated class",
     R"(root ::= [^a-c"])",
     {"d", "\xC3\xA4", "\xF0\x9F\x90\x9D", "\n"},
     {"a", "\"", "", "\xC3", "dd"}},
    {"any",
     "root ::= . .",
     {"ab", "\xC3\xA4\xE2\x82\xAC", "\xF0\x9F\x90\x9D\n"},
     {"a", "abc", "a\x80", "\xED\xA0\x80z"}},
    {"line ends as themselves", "root ::= \"a\nb\" [^\n]\nb ::= [\n]", {"a\nbc"}, {"ab", "a\nb\n"}},
    {"star", R"(root ::= "ab"*)", {"", "ab", "abab"}, {"a", "aba", "abb"}},
    {"plus", R"(root ::= "ab"+)", {"ab", "abab", "ababab"}, {"", "a", "aba"}},
    {"plus of a group", R"(root ::= ("ab" | "c" "d"?)+)", {"ab", "c", "cdab", "abccd"}, {"", "d", "abd"}},
    {"maybe", R"(root ::= "a"? "b")", {"ab", "b"}, {"a", "aab", ""}},
    {"n", R"(root ::= ("a" | "bb"){3})", {"aaa", "abba", "bbbbbb"}, {"aa", "aaaa", "bbb", ""}},
    {"n and more", "root ::= [ab]{2,}", {"ab", "aaa", "babab"}, {"", "a", "abc"}},
    {"n to m", "root ::= [a]{2,4}", {"aa", "aaa", "aaaa"}, {"", "a", "aaaaa"}},
    {"zero to m", R"(root ::= "x" "ab"{0,2})", {"x", "xab", "xabab"}, {"", "xababab", "xa"}},
    {"none", R"(root ::= "x" "a"{0})", {"x"}, {"xa", ""}},
    {"repeated repeats", R"(root ::= ("a"{2}){2}* "b")", {"b", "aaaab", "aaaaaaaab"}, {"aab", "aaaaaab", ""}},
    {"star of what may be empty", R"(root ::= ("a"? "b"?)* "c")", {"c", "abc", "bac", "aaabbbc"}, {"", "ab", "cc"}},
    {"escapes", R"(root ::= "\x41\u00e9\U0001F41D\n\r\t\\\"")", {"A\xC3\xA9\xF0\x9F\x90\x9D\n\r\t\\\""}, {"A"}},
    {"ranges across lengths",
     R"(root ::= [\x7f-\u0801])",
     {"\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xE0\xA0\x81"},
     {"~", "\xE0\xA0\x82", "\xE1\x80\x80"}},
    {"ranges of four bytes",
     R"(root ::= [\uFFFE-\U00010403\U0010FFFF])",
     {"\xEF\xBF\xBE", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF0\x90\x90\x83", "\xF4\x8F\xBF\xBF"},
     {"\xEF\xBF\xBD", "\xF0\x90\x90\x84", "\xF4\x8F\xBF\xBE"}},
    {"comments and lines",
     "# one\r\nroot ::= # two\n  a   # three\n  | ( # four\n b )\n\n# five\na ::= \"a#\"\nb::=[#]",
     {"a#", "#"},
     {"a", ""}},
    {"names", "root ::= a-1 b_2 C\na-1 ::= \"1\"\nb_2 ::= \"2\"\nC ::= \"3\"", {"123"}, {"12"}},
    {"empty last alternatives", "root ::= a |\n\n  a ::=\nb ::= |\n", {""}, {"a"}},
    {"recursion",
     "root ::= \"(\" root \")\" root | \"\"",
     {"", "()", "(())()", "((()())())"},
     {"(", ")", "())", "(()"}},
    {"recursion at the end", "root ::= \"a\" root | \"b\"", {"b", "ab", "aaaaaab"}, {"", "a", "ba"}},
    {"palindromes",
     "root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"c\"",
     {"c", "abcba", "bacab"},
     {"abcab", "", "aca b"}},
    {"dangling else",
     "root ::= \"i\" root (\"e\" root)? | \"x\"",
     {"x", "ix", "ixex", "iixex", "iixexex", "iiixexexex"},
     {"i", "ixexex", "xe"}},
    {"ambiguous", "root ::= a+\na ::= \"x\" | \"xx\" | b\nb ::= \"x\"", {"x", "xx", "xxxxxxxxxxxxxxxxxxx"}, {"", "xy"}},
    {"arithmetic", kArithmetic, {"a=1\n", "x1 +2*(y -3)= z\n", "1=1\n2=2\n"}, {"", "1=\n", "a+=1\n", "(1=1\n"}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(grammar)

BOOST_DATA_TEST_CASE(grammars_accept_and_reject_texts, bdata::make(kGrammarCases), c) {
  const Grammar g = compiled(c.grammar);
  GrammarMatcher matcher(g);
  const auto accepts = [&](const std::string& text, size_t portion) {
    BOOST_REQUIRE(matcher.reset().has_value());
    for (size_t i = 0; i < text.size(); i += portion)
      if (!reads(matcher, std::string_view(text).substr(i, portion))) return false;
    return matcher.may_end();
  };
  for (const size_t portion : {size_t{1}, size_t{2}, size_t{3}, size_t{1000}}) {
    for (const std::string& text : c.accepted) BOOST_TEST(accepts(text, portion), "accepts " << text);
    for (const std::string& text : c.rejected) BOOST_TEST(!accepts(text, portion), "rejects " << text);
  }
}

BOOST_AUTO_TEST_CASE(rejected_text_does_not_change_the_matcher) {
  const Grammar g = compiled("root ::= \"a\" [bc]+ \"d\"");
  GrammarMatcher matcher(g);
  BOOST_TEST(reads(matcher, "ab"));
  BOOST_TEST(!reads(matcher, "cda"));
  BOOST_TEST(!matcher.may_end());
  BOOST_TEST(reads(matcher, "cd"));
  BOOST_TEST((matcher.may_end() && matcher.must_end()));
  BOOST_TEST(reads(matcher, ""));
  BOOST_TEST(!reads(matcher, "d"));
}

namespace {

struct Wrong {
  std::string grammar;
  ErrorCode code;
  std::string message;
};
std::ostream& operator<<(std::ostream& out, const Wrong& w) { return out << w.grammar.substr(0, 60); }

std::string times(std::string_view text, size_t n) {
  std::string out;
  while (n-- > 0) out += text;
  return out;
}

std::string nested(std::string_view item, std::string_view count, size_t n) {
  return times("(", n) + std::string(item) + times(")" + std::string(count), n);
}

// A chain of n rules, each of which is the next one with something behind it.
std::string rules_that_call(int n, std::string_view behind) {
  std::string out = "root ::= r0\n";
  for (int i = 0; i < n; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    out += "r" + std::to_string(i) + " ::= " + next + std::string(behind) + "\n";
  }
  return out + "r" + std::to_string(n) + " ::= \"a\"";
}

constexpr ErrorCode kInvalid = ErrorCode::kInvalidArgument;
const Wrong kWrong[] = {
    {"", kInvalid, "no rule root"},
    {"a ::= \"b\"", kInvalid, "no rule root"},
    {"root ::= a", kInvalid, "no rule a at byte 9"},
    {"root = \"a\"", kInvalid, "expected ::= at byte 5"},
    {"::= \"a\"", kInvalid, "expected a rule's name at byte 0"},
    {"root ::= \"a", kInvalid, "unclosed text at byte 9"},
    {"root ::= [a-", kInvalid, "unclosed class at byte 9"},
    {"root ::= [z-a]", kInvalid, "ends before it starts at byte 10"},
    {"root ::= []", kInvalid, "a class without characters at byte 9"},
    {"root ::= [^]", kInvalid, "a class without characters at byte 9"},
    {"root ::= [^\\x00-\\U0010FFFF]", kInvalid, "a class without characters at byte 9"},
    {"root ::= (\"a\" | \"b\"", kInvalid, "unclosed ( at byte 9"},
    {"root ::= (\"a\"\nb ::= \"c\"", kInvalid, "expected ) before the next rule at byte 14"},
    {"root ::= \"a\" b ::= \"c\"", kInvalid, "expected the end of the line at byte 13"},
    {"root ::= \"a\")", kInvalid, "expected the end of the line at byte 12"},
    {"root ::= *", kInvalid, "expected the end of the line at byte 9"},
    {"root ::= \"a\"{", kInvalid, "expected a number at byte 13"},
    {"root ::= \"a\"{2", kInvalid, "expected } at byte 14"},
    {"root ::= \"a\"{3,2}", kInvalid, "a largest count below the smallest at byte 16"},
    {"root ::= \"a\"{99999999999}", ErrorCode::kOutOfRange, "a count too large"},
    {"root ::= \"\\q\"", kInvalid, "an unknown escape at byte 10"},
    {"root ::= \"\\x4\"", kInvalid, "2 hexadecimal digits at byte 10"},
    {"root ::= \"\\ud800\"", kInvalid, "an escape that is not a character at byte 10"},
    {"root ::= \"\\U00110000\"", kInvalid, "an escape that is not a character at byte 10"},
    {"root ::= \"\xFF\"", kInvalid, "not UTF-8"},
    {"root ::= \"a\"\nroot ::= \"b\"", kInvalid, "a second rule root at byte 13"},
    {"root ::= <think>", ErrorCode::kInvalidArgument, "at byte 9"},
    {"root ::= root \"a\"", kInvalid, "the rule root may begin with itself"},
    {"root ::= \"a\" | x? root", kInvalid, "left recursion"},
    {"root ::= a\na ::= b\nb ::= \"\" c\nc ::= \"x\" | [y]* a", kInvalid, "left recursion"},
    {"root ::= (\"a\" | root){2,3}", kInvalid, "left recursion"},
    {"root ::= \"x\" a\na ::= (\"b\"? \"c\"?)* a", kInvalid, "the rule a may begin with itself"},
    // hostile
    {"root ::= " + times("(", 100000), ErrorCode::kTooDeep, "parentheses nested too deep"},
    {"root ::= \"a\"" + times("*", 100000), ErrorCode::kTooDeep, "repetitions nested too deep"},
    {"root ::= \"a\"{4000000000}", ErrorCode::kOutOfRange, "too large"},
    {"root ::= \"a\"{2147483649}", ErrorCode::kOutOfRange, "a count too large at byte 13"},
    {"root ::= \"a\"{2,2147483649}", ErrorCode::kOutOfRange, "a count too large at byte 15"},
    {"root ::= " + times("a ", 1100000), ErrorCode::kOutOfRange, "too large: more than 1048576 items at byte"},
    {"root ::= " + times("|", 1100000), ErrorCode::kOutOfRange, "too large: more than 1048576 items at byte"},
    {"root ::= " + times(".", 300000), ErrorCode::kOutOfRange, "too large: more than 1048576 states"},
    {"root ::= \"" + times("a", 2000000) + "\"", ErrorCode::kOutOfRange, "too large"},
    {times("#", 5 << 20), ErrorCode::kOutOfRange, "too long"},
};

}  // namespace

BOOST_DATA_TEST_CASE(errors_say_what_is_wrong, bdata::make(kWrong), w) {
  const std::string text = w.message == "left recursion" ? w.grammar + "\nx ::= \"x\"" : w.grammar;
  const Result<Grammar> g = Grammar::compile(text);
  BOOST_REQUIRE(!g.has_value());
  BOOST_TEST((g.error().code == w.code));
  BOOST_TEST(g.error().message.find(w.message) != std::string::npos, g.error().message);
}

BOOST_AUTO_TEST_CASE(nested_repetitions_are_counted) {
  struct Case {
    const char* item;
    const char* count;
    size_t depth, min, max;  // the number of "a" that is accepted
  };
  const Case cases[] = {
      {"\"a\"", "{0,99}", 7, 0, SIZE_MAX}, {"\"a\"", "{0,3}", 3, 0, 27},       {"\"a\"", "{2,3}", 3, 8, 27},
      {"\"a\"", "{3}", 4, 81, 81},         {"\"a\"?", "{4}", 2, 0, 16},        {"\"a\"", "{40}", 2, 1600, 1600},
      {"\"a\"", "{2,}", 7, 128, SIZE_MAX}, {"\"a\"?", "{9,}", 5, 0, SIZE_MAX}, {"(\"a\"{17,20})", "{2}", 2, 68, 80},
  };
  for (const Case& c : cases) {
    const std::string text = "root ::= " + nested(c.item, c.count, c.depth);
    const Grammar g = compiled(text);
    BOOST_TEST(g.n_states() < 64u, text);
    GrammarMatcher matcher(g);
    for (size_t n = 0; n < 2000; ++n) {
      BOOST_TEST_REQUIRE(matcher.may_end() == (n >= c.min && n <= c.max), n << " by " << text);
      if (!reads(matcher, "a")) {
        BOOST_TEST(n == c.max, n << " by " << text);
        break;
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(grammars_that_begin_in_too_many_ways_are_refused) {
  // Each rule calls the next one twice, and the last one may be empty: 2^40 stacks before the first byte.
  std::string text = "root ::= r0\n";
  for (int i = 0; i < 40; ++i) {
    const std::string next = " r" + std::to_string(i + 1);
    text += "r" + std::to_string(i) + " ::=" + next + next + "\n";
  }
  text += "r40 ::= \"a\"?";
  const Grammar g = compiled(text);
  GrammarMatcher matcher(g);
  const std::vector<std::string_view> words{"a"};
  const TokenTrie trie(words);
  for (int round = 0; round < 2; ++round) {
    const Result<void> started = matcher.reset();
    BOOST_REQUIRE(!started.has_value());
    BOOST_TEST((started.error().code == ErrorCode::kOutOfRange));
    BOOST_TEST(!matcher.read("a").has_value());
    BOOST_TEST(!matcher.read(0, "a").has_value());
    BOOST_TEST(!matcher.allowed(trie).has_value());
    BOOST_TEST(!matcher.accepts_at_start("a").has_value());
  }
}

BOOST_AUTO_TEST_CASE(hostile_grammars_finish) {
  // Each is matched for a while, in bounded time and memory. The result does not matter.
  std::string chain = "root ::= r0\n";
  for (int i = 0; i < 50000; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    chain += "r" + n + " ::= r" + next + "? \"" + static_cast<char>('a' + i % 26) + "\"\n";
  }
  chain += "r50000 ::= \"x\"";
  std::string choice = "root ::= \"x\"";
  for (int i = 0; i < 60000; ++i) choice += "|\"" + std::to_string(i * 7919) + "\"";
  const std::string grammars[] = {
      chain,
      choice,
      "root ::= ((\"a\"{1000}){1000}){1000}",
      "root ::= ([a-z]{0,100}){0,100}",
      "root ::= s\ns ::= \"a\" s s | \"a\" t s | \"a\"\nt ::= \"a\" s t | \"a\"",
      "root ::= (a | b | c)* \nc ::= [a-z] root? root?\na ::= \"a\"* b*\nb ::= \"a\" a?",
      "root ::= \"a\" root",
      "root ::= \"a\" root \"b\" | \"\"",
      "root ::= (\"a\" | \"b\")* \"a\" (\"a\" | \"b\"){30}",
      "root ::= ((\"ab\"{1000000} \"c\"){1000000} \"d\"){1000000}",
      "root ::= " + nested("\"a\"", "{0,99}", 7),
      "root ::= " + nested("(\"a\" | \"aa\" | \"ab\")", "{3,99}", 7),
      "root ::= " + nested("[ab]", "{2,9}", 20),
      "root ::= " + nested("\"a\"", "{0,2}", 90),
      rules_that_call(40, "{0,9}"),
      rules_that_call(40, "? x?") + "\nx ::= \"b\"",
  };
  std::vector<std::string> words;
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string word;
    for (size_t n = 1 + random() % 12; n > 0; --n) word += static_cast<char>(random() % 3 == 0 ? 'b' : 'a');
    words.push_back(word);
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  const TokenTrie trie(views);
  for (const std::string& text : grammars) {
    const Result<Grammar> g = Grammar::compile(text);
    BOOST_REQUIRE_MESSAGE(g.has_value(), text.substr(0, 100));
    GrammarMatcher matcher(*g);
    for (int i = 0; i < 12; ++i) {
      const Result<const std::vector<bool>*> allowed = matcher.allowed(trie);
      if (!allowed) {
        BOOST_TEST((allowed.error().code == ErrorCode::kOutOfRange));
        break;
      }
      std::vector<size_t> ids;
      for (size_t t = 0; t < words.size(); ++t)
        if ((**allowed)[t]) ids.push_back(t);
      if (ids.empty()) break;
      const Result<bool> read = matcher.read(words[ids[random() % ids.size()]]);
      BOOST_REQUIRE((!read || *read));
      if (!read) break;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
