// Grammars of answers with the trained sample's vocabulary: tokens by name, triggers, control tokens as text.
#include "engine/answer_grammar.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/answer_text.hpp"
#include "gguf/parse.hpp"
#include "model_data.hpp"

using namespace ggufscope;

namespace {

struct Vocabulary {
  std::vector<uint8_t> file = test::read_file(test::fixture("stories.gguf"));
  ParseState parsed;
  std::unique_ptr<Tokenizer> tokenizer;
  TokenTrie trie;

  Vocabulary() {
    const Result<ParseProgress> done = parse_header(file, file.size(), parsed);
    BOOST_REQUIRE(done.has_value());
    Result<Tokenizer> made = Tokenizer::create(Gguf{parsed.header, file});
    BOOST_REQUIRE(made.has_value());
    tokenizer = std::make_unique<Tokenizer>(std::move(*made));
    trie = AnswerGrammar::trie_of(*tokenizer);
  }
  [[nodiscard]] TokenId named(std::string_view text) const {
    const std::vector<TokenId> ids = tokenizer->encode(text, {.special = true});
    BOOST_REQUIRE_EQUAL(ids.size(), 1u);
    return ids[0];
  }
  [[nodiscard]] std::vector<TokenId> ids(std::string_view text) const { return tokenizer->encode(text); }
};

AnswerGrammar begun(const Vocabulary& v, const std::string& gbnf, std::vector<GrammarTrigger> triggers = {}) {
  AnswerGrammar grammar;
  const Result<void> good = grammar.start(gbnf, std::move(triggers), *v.tokenizer, v.trie, false);
  BOOST_REQUIRE_MESSAGE(good.has_value(), good.error().message);
  return grammar;
}

bool accepts(AnswerGrammar& grammar, TokenId id) {
  const Result<std::vector<bool>> allowed = grammar.allowed();
  BOOST_REQUIRE_MESSAGE(allowed.has_value(), allowed.error().message);
  const Result<bool> good = grammar.read(id);
  BOOST_REQUIRE_MESSAGE(good.has_value(), good.error().message);
  BOOST_TEST((*allowed)[static_cast<size_t>(id)] == *good, "token " << id << " is allowed or not as it is read");
  return *good;
}
bool accepts(AnswerGrammar& grammar, const std::vector<TokenId>& ids) {
  for (const TokenId id : ids)
    if (!accepts(grammar, id)) return false;
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(answer_grammar)

BOOST_AUTO_TEST_CASE(tokens_can_be_given_by_name_and_by_id) {
  const Vocabulary v;
  const TokenId user = v.named("<|user|>"), assistant = v.named("<|assistant|>");
  for (const std::string& name : {std::string("<|user|>"), "<[" + std::to_string(user) + "]>"}) {
    AnswerGrammar grammar = begun(v, "root ::= " + name + " \"a\"+");
    BOOST_TEST(!accepts(grammar, assistant));
    BOOST_TEST(!accepts(grammar, v.ids("a")));
    BOOST_TEST(accepts(grammar, user));
    BOOST_TEST(!grammar.may_end());
    BOOST_TEST(accepts(grammar, v.ids("a")));
    BOOST_TEST(grammar.may_end());
    BOOST_TEST(!accepts(grammar, user));
  }
}

BOOST_AUTO_TEST_CASE(excluding_a_token_allows_all_others) {
  const Vocabulary v;
  const TokenId user = v.named("<|user|>"), assistant = v.named("<|assistant|>"), end = v.named("<|end|>");
  BOOST_REQUIRE(v.tokenizer->is_end_of_generation(end));
  AnswerGrammar grammar = begun(v, "root ::= <|user|> !<|user|>* <|user|>");
  BOOST_TEST(accepts(grammar, user));
  BOOST_TEST(accepts(grammar, v.ids("Bees make honey.")));
  BOOST_TEST(accepts(grammar, assistant));
  BOOST_TEST(!accepts(grammar, end));
  BOOST_TEST(accepts(grammar, user));
  BOOST_TEST(grammar.must_end());
}

BOOST_AUTO_TEST_CASE(a_token_can_match_by_text_and_by_name) {
  const Vocabulary v;
  const std::vector<TokenId> ids = v.ids(" bees");
  AnswerGrammar grammar = begun(v, "root ::= <[" + std::to_string(ids[0]) + "]> \"x\" | \" bees\"");
  BOOST_TEST(accepts(grammar, ids));
  BOOST_TEST(grammar.may_end());
  AnswerGrammar other = begun(v, "root ::= <[" + std::to_string(ids[0]) + "]> \"x\" | \" bees\"");
  BOOST_TEST(accepts(other, ids[0]));
  BOOST_TEST(accepts(other, v.ids("x")));
}

BOOST_AUTO_TEST_CASE(end_tokens_in_the_grammar_are_allowed) {
  const Vocabulary v;
  const TokenId end = v.named("<|end|>");
  AnswerGrammar grammar = begun(v, "root ::= \"a\" <|end|>");
  BOOST_TEST(!accepts(grammar, end));
  BOOST_TEST(accepts(grammar, v.ids("a")));
  BOOST_TEST(!grammar.may_end());
  BOOST_TEST(accepts(grammar, end));
}

BOOST_AUTO_TEST_CASE(unknown_tokens_in_a_grammar_are_errors) {
  const Vocabulary v;
  const std::pair<const char*, const char*> wrong[] = {
      {"root ::= <nothing>", "<nothing> is not one token"},
      {"root ::= <[99999]>", "no token 99999"},
      {"root ::= <[5]", "expected ]>"},
      {"root ::= <[x]>", "expected a number"},
      {"root ::= <open", "without its >"},
      {"root ::= !\"a\"", "expected a token"},
  };
  for (const auto& [gbnf, message] : wrong) {
    AnswerGrammar grammar;
    const Result<void> done = grammar.start(gbnf, {}, *v.tokenizer, v.trie, false);
    BOOST_REQUIRE_MESSAGE(!done.has_value(), gbnf);
    BOOST_TEST((done.error().code == ErrorCode::kInvalidArgument));
    BOOST_TEST(done.error().message.find(message) != std::string::npos, done.error().message);
  }
  BOOST_TEST(!Grammar::compile("root ::= <[5]>").has_value());
}

BOOST_AUTO_TEST_CASE(lazy_grammars_begin_at_their_trigger) {
  const Vocabulary v;
  AnswerGrammar grammar = begun(v, "root ::= \"honey\" [.!]", {{.text = "honey"}});
  BOOST_TEST(grammar.may_end());
  BOOST_TEST(accepts(grammar, v.ids("Bees make wax, and bees make")));
  BOOST_TEST(grammar.may_end());
  BOOST_TEST(accepts(grammar, v.ids(" honey")));
  BOOST_TEST(!grammar.may_end());
  BOOST_TEST(!accepts(grammar, v.ids("?")));
  BOOST_TEST(accepts(grammar, v.ids("!")));
  BOOST_TEST(grammar.must_end());
}

BOOST_AUTO_TEST_CASE(tokens_that_complete_a_trigger_must_match_the_grammar) {
  const Vocabulary v;
  const std::vector<TokenId> ids = v.ids(" honey.");
  AnswerGrammar grammar = begun(v, "root ::= \"ney\" \"!\"", {{.text = "ney"}});
  BOOST_TEST(accepts(grammar, ids[0]));
  if (ids.size() > 1) BOOST_TEST(!accepts(grammar, std::vector<TokenId>(ids.begin() + 1, ids.end())));
}

BOOST_AUTO_TEST_CASE(triggers_can_be_tokens_or_apply_only_at_the_start) {
  const Vocabulary v;
  const TokenId user = v.named("<|user|>");
  AnswerGrammar grammar = begun(v, "root ::= <|user|> \"a\"", {{.text = "", .token = user}});
  BOOST_TEST(accepts(grammar, v.ids("Bees")));
  BOOST_TEST(accepts(grammar, user));
  BOOST_TEST(!accepts(grammar, v.ids("b")));
  BOOST_TEST(accepts(grammar, v.ids("a")));
  const std::vector<GrammarTrigger> at_start{{.text = "{", .at_start = true}};
  AnswerGrammar first = begun(v, "root ::= \"{}\"", at_start);
  BOOST_TEST(accepts(first, v.ids(" \n")));
  BOOST_TEST(accepts(first, v.ids("{")));
  BOOST_TEST(!accepts(first, v.ids("a")));
  AnswerGrammar later = begun(v, "root ::= \"{}\"", at_start);
  BOOST_TEST(accepts(later, v.ids("so {a")));
}

BOOST_AUTO_TEST_CASE(requested_control_tokens_appear_in_the_text) {
  const Vocabulary v;
  const TokenId user = v.named("<|user|>"), assistant = v.named("<|assistant|>");
  AnswerText hidden(*v.tokenizer, {}), shown(*v.tokenizer, {}, {user}), stopping(*v.tokenizer, {"er|>a"}, {user});
  std::string texts[3];
  for (const TokenId id : {user, v.ids("ab")[0], assistant}) {
    texts[0] += hidden.push(id);
    texts[1] += shown.push(id);
    texts[2] += stopping.push(id);
  }
  BOOST_TEST(texts[1] == "<|user|>" + texts[0]);
  BOOST_TEST(stopping.stopped());
  BOOST_TEST(texts[2] + stopping.flush() == "<|us");
}

BOOST_AUTO_TEST_SUITE_END()
