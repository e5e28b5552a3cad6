// Grammars: what they accept, what is wrong with them, what tokens they let follow, and that hostile ones end.
#include "engine/grammar.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "text/unicode.hpp"

using namespace ggufscope;
namespace bdata = boost::unit_test::data;

namespace {

Grammar compiled(std::string_view text) {
  Result<Grammar> grammar = Grammar::compile(text);
  BOOST_REQUIRE_MESSAGE(grammar.has_value(), grammar.error().message << "\n" << text);
  return std::move(*grammar);
}

bool reads(GrammarMatcher& matcher, std::string_view text) {
  const Result<bool> read = matcher.read(text);
  BOOST_REQUIRE_MESSAGE(read.has_value(), read.error().message);
  return *read;
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

BOOST_DATA_TEST_CASE(accepts_and_rejects, bdata::make(kGrammarCases), c) {
  const Grammar g = compiled(c.grammar);
  GrammarMatcher matcher(g);
  const auto accepts = [&](const std::string& text, size_t portion) {
    matcher.reset();
    for (size_t i = 0; i < text.size(); i += portion)
      if (!reads(matcher, std::string_view(text).substr(i, portion))) return false;
    return matcher.may_end();
  };
  for (const size_t portion : {size_t{1}, size_t{2}, size_t{3}, size_t{1000}}) {
    for (const std::string& text : c.accepted) BOOST_TEST(accepts(text, portion), "accepts " << text);
    for (const std::string& text : c.rejected) BOOST_TEST(!accepts(text, portion), "rejects " << text);
  }
}

BOOST_AUTO_TEST_CASE(what_is_refused_leaves_the_text_as_it_was) {
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

constexpr ErrorCode kInvalid = ErrorCode::kInvalidArgument;
const Wrong kWrong[] = {
    {"", kInvalid, "no rule root"},
    {"a ::= \"b\"", kInvalid, "no rule root"},
    {"root ::= a", kInvalid, "no rule a at byte 9"},
    {"root = \"a\"", kInvalid, "expected ::= at byte 5"},
    {"::= \"a\"", kInvalid, "expected a rule's name at byte 0"},
    {"root ::= \"a", kInvalid, "unclosed text at byte 9"},
    {"root ::= \"a\nb\"", kInvalid, "unclosed text at byte 9"},
    {"root ::= [a-", kInvalid, "unclosed class at byte 9"},
    {"root ::= [z-a]", kInvalid, "ends before it starts at byte 10"},
    {"root ::= []", kInvalid, "nothing is in at byte 9"},
    {"root ::= [^\\x00-\\U0010FFFF]", kInvalid, "nothing is in at byte 9"},
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
    {"root ::= \"\\ud800\"", kInvalid, "an escape of no character at byte 10"},
    {"root ::= \"\\U00110000\"", kInvalid, "an escape of no character at byte 10"},
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
    {"root ::= ((\"ab\"{1000000} \"c\"){1000000} \"d\"){1000000}", ErrorCode::kOutOfRange, "too large"},
    {"root ::= \"" + times("a", 2000000) + "\"", ErrorCode::kOutOfRange, "too large"},
    {times("#", 5 << 20), ErrorCode::kOutOfRange, "too long"},
};

}  // namespace

BOOST_DATA_TEST_CASE(says_what_is_wrong, bdata::make(kWrong), w) {
  const std::string text = w.message == "left recursion" ? w.grammar + "\nx ::= \"x\"" : w.grammar;
  const Result<Grammar> g = Grammar::compile(text);
  BOOST_REQUIRE(!g.has_value());
  BOOST_TEST((g.error().code == w.code));
  BOOST_TEST(g.error().message.find(w.message) != std::string::npos, g.error().message);
}

BOOST_AUTO_TEST_CASE(hostile_grammars_end) {
  // Each is read for a while, in bounded time and memory, whatever comes of it.
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
    const auto began = std::chrono::steady_clock::now();
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
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    BOOST_TEST_MESSAGE(text.substr(0, 60) << ": " << took.count() << " s");
  }
}

namespace {

// A grammar as a test sees it, and an independent way to read by it: from every position to the set of ends.
struct Node {
  enum Kind { kText, kClass, kRule, kSequence, kChoice, kRepeat } kind;
  std::u32string text;  // kText; kClass: its characters
  bool negated = false;
  size_t rule = 0;
  size_t min = 0, max = 0;  // SIZE_MAX: no limit
  std::vector<Node> items;
};

const std::u32string kAlphabet = U"abc\u00E9\u20AC\U0001F41D";

class RandomGrammar {
 public:
  explicit RandomGrammar(uint32_t seed) : random_(seed), rules_(1 + pick(4)) {
    for (; current_ < rules_.size(); ++current_) rules_[current_] = choice(3);
  }

  [[nodiscard]] std::string text() {
    std::string out;
    for (size_t i = 0; i < rules_.size(); ++i)
      out += name(i) + " ::=" + (pick(4) == 0 ? "\n " : " ") + show(rules_[i], true) + "\n";
    return out;
  }

  [[nodiscard]] bool accepts(const std::u32string& text) {
    known_.clear();
    loops_ = false;
    return ends(rule(0), text, 0).contains(text.size());
  }
  [[nodiscard]] bool loops() const { return loops_; }

  size_t pick(size_t n) { return random_() % n; }

 private:
  static std::string name(size_t i) { return i == 0 ? "root" : "r-" + std::to_string(i); }
  static Node rule(size_t i) {
    Node node{Node::kRule, {}, false, i, 0, 0, {}};
    return node;
  }

  Node choice(int depth) {
    Node out{Node::kChoice, {}, false, 0, 0, 0, {}};
    for (size_t n = 1 + pick(3); n > 0; --n) {
      Node sequence{Node::kSequence, {}, false, 0, 0, 0, {}};
      for (size_t k = pick(4); k > 0; --k) sequence.items.push_back(item(depth));
      out.items.push_back(std::move(sequence));
    }
    return out;
  }

  Node item(int depth) {
    Node out{Node::kText, {}, false, 0, 0, 0, {}};
    const size_t kind = pick(depth > 0 ? 8 : 5);
    if (kind < 2) {
      for (size_t n = pick(3); n > 0 || out.text.empty(); n -= n > 0) out.text += kAlphabet[pick(kAlphabet.size())];
    } else if (kind < 4) {
      out.kind = Node::kClass;
      out.negated = pick(3) == 0;
      for (size_t n = 1 + pick(2); n > 0; --n) out.text += kAlphabet[pick(kAlphabet.size())];
    } else if (kind == 4) {
      // Mostly a later rule: recursion with every breath can be read in too many ways.
      const size_t later = rules_.size() - 1 - current_;
      out = rule(later == 0 || pick(5) == 0 ? pick(rules_.size()) : current_ + 1 + pick(later));
    } else if (kind == 5) {
      out = choice(depth - 1);
    } else {
      out.kind = Node::kRepeat;
      out.items.push_back(item(depth - 1));
      out.min = pick(3);
      out.max = pick(2) == 0 ? SIZE_MAX : out.min + pick(3);
    }
    return out;
  }

  std::string character(char32_t c) {
    if (pick(3) != 0) {
      std::string out;
      append_utf8(out, c);
      return out;
    }
    char hex[16];
    if (c < 0x100 && pick(2) == 0)
      std::snprintf(hex, sizeof hex, "\\x%02X", static_cast<unsigned>(c));
    else if (c < 0x10000 && pick(2) == 0)
      std::snprintf(hex, sizeof hex, "\\u%04x", static_cast<unsigned>(c));
    else
      std::snprintf(hex, sizeof hex, "\\U%08X", static_cast<unsigned>(c));
    return hex;
  }

  std::string show(const Node& n, bool bare) {
    std::string out;
    switch (n.kind) {
      case Node::kText:
        for (const char32_t c : n.text) out += character(c);
        return "\"" + out + "\"";
      case Node::kClass:
        for (const char32_t c : n.text) out += character(c);
        return (n.negated ? "[^" : "[") + out + "]";
      case Node::kRule:
        return name(n.rule);
      case Node::kSequence:
        for (const Node& item : n.items) out += show(item, false) + " ";
        return out;
      case Node::kChoice:
        for (const Node& item : n.items)
          out += (out.empty() ? "" : "| ") + show(item, false) + (pick(5) == 0 && !bare ? "\n" : " ");
        return bare ? out : "(" + out + ")";
      case Node::kRepeat: {
        out = show(n.items[0], false);
        if (n.items[0].kind == Node::kRepeat) out = "(" + out + ")";
        if (n.min == 0 && n.max == SIZE_MAX) return out + "*";
        if (n.min == 1 && n.max == SIZE_MAX) return out + "+";
        if (n.min == 0 && n.max == 1) return out + "?";
        if (n.min == n.max) return out + "{" + std::to_string(n.min) + "}";
        return out + "{" + std::to_string(n.min) + "," + (n.max == SIZE_MAX ? "" : std::to_string(n.max)) + "}";
      }
    }
    return out;
  }

  std::set<size_t> ends(const Node& n, const std::u32string& text, size_t at) {
    std::set<size_t> out;
    switch (n.kind) {
      case Node::kText:
        if (text.compare(at, n.text.size(), n.text) == 0) out.insert(at + n.text.size());
        break;
      case Node::kClass:
        if (at < text.size() && (n.text.find(text[at]) == std::u32string::npos) == n.negated) out.insert(at + 1);
        break;
      case Node::kRule: {
        const auto [known, first] = known_.try_emplace({n.rule, at});
        if (!first) {
          loops_ |= !known->second.second;
          return known->second.first;
        }
        out = ends(rules_[n.rule], text, at);
        known_[{n.rule, at}] = {out, true};
        break;
      }
      case Node::kSequence:
        out.insert(at);
        for (const Node& item : n.items) out = all_ends(item, text, out);
        break;
      case Node::kChoice:
        for (const Node& item : n.items) out.merge(ends(item, text, at));
        break;
      case Node::kRepeat: {
        std::set<size_t> now{at};
        for (size_t i = 0; i < n.min; ++i) now = all_ends(n.items[0], text, now);
        out = now;
        for (size_t i = n.min; i < n.max && !now.empty(); ++i) {
          std::set<size_t> fresh;
          for (const size_t end : all_ends(n.items[0], text, now))
            if (out.insert(end).second) fresh.insert(end);
          now = fresh;
        }
        break;
      }
    }
    return out;
  }
  std::set<size_t> all_ends(const Node& n, const std::u32string& text, const std::set<size_t>& starts) {
    std::set<size_t> out;
    for (const size_t at : starts) out.merge(ends(n, text, at));
    return out;
  }

  std::mt19937 random_;
  std::vector<Node> rules_;
  size_t current_ = 0;  // the rule in the making
  std::map<std::pair<size_t, size_t>, std::pair<std::set<size_t>, bool>> known_;
  bool loops_ = false;
};

std::u32string decoded(std::string_view text) {
  std::u32string out;
  for (size_t i = 0; i < text.size();) {
    const Decoded d = decode_utf8(text, i);
    out += d.code_point;
    i += d.length;
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_grammars_accept_what_an_independent_reader_accepts) {
  size_t n_used = 0, n_accepted = 0, n_walked = 0, n_ambiguous = 0;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    RandomGrammar random(seed);
    const std::string text = random.text();
    const Result<Grammar> g = Grammar::compile(text);
    if (!g) {
      BOOST_TEST(g.error().message.find("left recursion") != std::string::npos, g.error().message << "\n" << text);
      continue;
    }
    ++n_used;
    // Tokens: pieces of the alphabet's bytes, so that characters are cut at any byte.
    std::vector<std::string> words;
    std::string all;
    for (const char32_t c : kAlphabet) append_utf8(all, c);
    for (size_t i = 0; i < all.size(); ++i) words.push_back(all.substr(i, 1));
    for (int i = 0; i < 40; ++i) {
      std::string word;
      for (size_t n = 1 + random.pick(4); n > 0; --n) append_utf8(word, kAlphabet[random.pick(kAlphabet.size())]);
      const size_t from = random.pick(2), cut = random.pick(2);
      if (from + cut < word.size()) words.push_back(word.substr(from, word.size() - from - cut));
    }
    const TokenTrie trie(std::vector<std::string_view>(words.begin(), words.end()));
    GrammarMatcher matcher(*g), other(*g);
    for (int round = 0; round < 6; ++round) {
      matcher.reset();
      std::string said;
      while (said.size() < 24) {
        const auto whole = [&] { return unfinished_utf8(said) == 0; };
        if (whole()) {
          const bool accepts = random.accepts(decoded(said));
          BOOST_REQUIRE_MESSAGE(!random.loops(), text);
          BOOST_REQUIRE_MESSAGE(matcher.may_end() == accepts, "'" << said << "' by\n" << text);
          n_accepted += accepts;
        } else {
          BOOST_TEST(!matcher.may_end());
        }
        const Result<const std::vector<bool>*> allowed = matcher.allowed(trie);
        if (!allowed) {  // stacks of calls that differ and read the same
          BOOST_TEST((allowed.error().code == ErrorCode::kOutOfRange));
          ++n_ambiguous;
          round = 6;
          break;
        }
        std::vector<size_t> ids;
        for (size_t t = 0; t < words.size(); ++t) {
          other.reset();
          BOOST_REQUIRE(reads(other, said));
          BOOST_REQUIRE_MESSAGE(reads(other, words[t]) == (**allowed)[t], "'" << said << "' + '" << words[t] << "' by\n"
                                                                              << text);
          if ((**allowed)[t]) ids.push_back(t);
        }
        if (ids.empty()) break;
        const std::string& word = words[ids[random.pick(ids.size())]];
        said += word;
        BOOST_REQUIRE(reads(matcher, word));
        ++n_walked;
      }
    }
    // And texts that no grammar led to.
    for (int round = 0; round < 30; ++round) {
      std::string said;
      for (size_t n = random.pick(6); n > 0; --n) append_utf8(said, kAlphabet[random.pick(kAlphabet.size())]);
      matcher.reset();
      const bool read = reads(matcher, said);
      BOOST_REQUIRE_MESSAGE((read && matcher.may_end()) == random.accepts(decoded(said)), "'" << said << "' by\n"
                                                                                              << text);
    }
  }
  BOOST_TEST(n_used > 40u);
  BOOST_TEST(n_accepted > 800u);
  BOOST_TEST(n_walked > 800u);
  BOOST_TEST(n_ambiguous < 20u);
}

BOOST_AUTO_TEST_SUITE_END()
