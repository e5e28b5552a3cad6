// Compares random grammars with a second, simple implementation.
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "data.hpp"
#include "engine/grammar.hpp"
#include "grammar_data.hpp"
#include "text/unicode.hpp"

using namespace ggufscope;
using test::reads;

namespace {

// A grammar in the form of the test, and an independent matcher: it maps each position to the set of possible ends.
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
      // Mostly uses a later rule, because frequent recursion makes grammars too ambiguous.
      const size_t later = rules_.size() - 1 - current_;
      out = rule(later == 0 || pick(5) == 0 ? pick(rules_.size()) : current_ + 1 + pick(later));
    } else if (kind == 5) {
      out = choice(depth - 1);
    } else {
      out.kind = Node::kRepeat;
      out.items.push_back(item(depth - 1));
      // Long ones are counted, also those of single characters.
      out.min = pick(8) == 0 ? 5 + pick(20) : pick(3);
      out.max = pick(2) == 0 ? SIZE_MAX : out.min + (pick(4) == 0 ? 17 + pick(9) : pick(3));
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
  size_t current_ = 0;  // the rule that is being made
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

std::string random_text(RandomGrammar& random, size_t n) {
  std::string out;
  for (; n > 0; --n) append_utf8(out, kAlphabet[random.pick(kAlphabet.size())]);
  return out;
}

/// Tokens that are pieces of the alphabet's bytes, so that characters are cut at any byte.
std::vector<std::string> random_words(RandomGrammar& random) {
  std::vector<std::string> words;
  std::string all;
  for (const char32_t c : kAlphabet) append_utf8(all, c);
  for (size_t i = 0; i < all.size(); ++i) words.push_back(all.substr(i, 1));
  for (int i = 0; i < 40; ++i) {
    const std::string word = random_text(random, 1 + random.pick(4));
    const size_t from = random.pick(2), cut = random.pick(2);
    if (from + cut < word.size()) words.push_back(word.substr(from, word.size() - from - cut));
  }
  return words;
}

/// Compares texts that were not generated by the grammar.
void check_other_texts(RandomGrammar& random, GrammarMatcher& matcher, const std::string& grammar) {
  for (int round = 0; round < 30; ++round) {
    const std::string said = random_text(random, random.pick(6));
    BOOST_REQUIRE(matcher.reset().has_value());
    const bool read = reads(matcher, said);
    BOOST_REQUIRE_MESSAGE((read && matcher.may_end()) == random.accepts(decoded(said)), "'" << said << "' by\n"
                                                                                            << grammar);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(grammar)

BOOST_AUTO_TEST_CASE(random_grammars_accept_what_an_independent_reader_accepts) {
  size_t n_used = 0, n_accepted = 0, n_walked = 0, n_ambiguous = 0;
  const uint32_t n_seeds = test::whole_run() ? 120 : 40;
  for (uint32_t seed = 0; seed < n_seeds; ++seed) {
    RandomGrammar random(seed);
    const std::string text = random.text();
    const Result<Grammar> g = Grammar::compile(text);
    if (!g) {
      BOOST_TEST(g.error().message.find("left recursion") != std::string::npos, g.error().message << "\n" << text);
      continue;
    }
    ++n_used;
    const std::vector<std::string> words = random_words(random);
    const TokenTrie trie(std::vector<std::string_view>(words.begin(), words.end()));
    GrammarMatcher matcher(*g), other(*g);
    for (int round = 0; round < 6; ++round) {
      BOOST_REQUIRE(matcher.reset().has_value());
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
        if (!allowed) {  // too many different stacks for the same text
          BOOST_TEST((allowed.error().code == ErrorCode::kOutOfRange));
          ++n_ambiguous;
          round = 6;
          break;
        }
        std::vector<size_t> ids;
        for (size_t t = 0; t < words.size(); ++t) {
          BOOST_REQUIRE(other.reset().has_value());
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
    check_other_texts(random, matcher, text);
  }
  BOOST_TEST(n_used > n_seeds / 3);
  BOOST_TEST(n_accepted > n_seeds * 6);
  BOOST_TEST(n_walked > n_seeds * 6);
  BOOST_TEST(n_ambiguous < n_seeds / 6);
}

BOOST_AUTO_TEST_SUITE_END()
