// Sessions on the trained sample: prompts, streams of text, stop strings, saved states, refusals.
#include "engine/session.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "json.hpp"
#include "session_data.hpp"
#include "tiny_llama.hpp"

using namespace ggufscope;
using test::Answer;
using test::generate;
using test::greedy;
using test::loaded;
using test::prompt_of;

BOOST_AUTO_TEST_SUITE(session)

BOOST_AUTO_TEST_CASE(answers_do_not_depend_on_threads_batches_or_the_cache) {
  const auto one = loaded(384), three = loaded(384, Precision::kFast, 3);
  const std::vector<TokenId> prompt = prompt_of(*one, "<|user|>Tell me a story about an owl.<|end|><|assistant|>");
  const Answer first = generate(*one, prompt, greedy());
  BOOST_TEST((first.finish == Finish::kEnd));
  BOOST_TEST(first.text.size() > 100u);
  BOOST_TEST(one->tokenizer()->decode(std::span(first.tokens).first(first.tokens.size() - 1)) == first.text);
  BOOST_TEST(generate(*three, prompt, greedy()).text == first.text);

  BOOST_TEST(generate(*one, prompt, greedy()).text == first.text);
  BOOST_TEST(one->n_reused() == prompt.size() - 1);
  BOOST_REQUIRE(three->begin_answer(prompt, greedy()).has_value());
  while (three->n_waiting() > 0) BOOST_REQUIRE(three->advance(3).has_value());
  std::string text;
  for (Finish finish = Finish::kNone; finish == Finish::kNone;) {
    const Result<Step> step = three->next();
    BOOST_REQUIRE(step.has_value());
    text += step->text;
    finish = step->finish;
  }
  BOOST_TEST(text == first.text);
  BOOST_TEST(!three->next().has_value());
}

BOOST_AUTO_TEST_CASE(stop_strings_match_names_of_control_tokens) {
  const auto s = loaded(128);
  const Tokenizer& tokenizer = *s->tokenizer();
  const std::vector<TokenId> ids = tokenizer.encode("Bees sleep.<|user|>Who?<|end|>", {.special = true});
  const auto told = [&](std::vector<std::string> stops, size_t n = SIZE_MAX) {
    AnswerText answer(tokenizer, std::move(stops));
    std::string all;
    for (size_t i = 0; i < std::min(n, ids.size()) && !answer.stopped(); ++i) all += answer.push(ids[i]);
    all += answer.flush();
    return all + (answer.stopped() ? "|" : "");
  };
  const std::string text = tokenizer.decode(ids, {.special = false});
  const std::string before = text.substr(0, text.find("Who"));
  BOOST_TEST(before.find("<|user|>") == std::string::npos);
  BOOST_TEST(told({}) == text);
  BOOST_TEST(told({"never"}) == text);
  BOOST_TEST(told({"<|user|>"}) == before + "|");
  BOOST_TEST(told({"eep.<|user|>W"}) == before.substr(0, before.find("eep")) + "|");
  BOOST_TEST(told({"<|end|>"}) == text + "|");
  // The answer gets a partial stop string that is not completed, and never a control token's name.
  BOOST_TEST(told({".<|user|>Where"}) == text);
  const auto user = std::find(ids.begin(), ids.end(), tokenizer.find("<|user|>")) - ids.begin();
  BOOST_TEST(told({".<|user|>W"}, static_cast<size_t>(user) + 1) == before);
  // The limit of an answer delivers what was held back.
  GenerateOptions options = greedy();
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  const std::string whole = generate(*s, prompt, options, 6).text;
  options.stop = {whole.substr(whole.size() - 3) + "and never this"};
  const std::string held = generate(*s, prompt, options, 6).text;
  BOOST_TEST(held.size() < whole.size());
  BOOST_TEST(held + s->end_answer().text == whole);
  BOOST_TEST(s->end_answer().text.empty());
}

BOOST_AUTO_TEST_CASE(stop_strings_need_not_end_with_a_token) {
  const auto s = loaded(384);
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  const std::string whole = generate(*s, prompt, greedy()).text;
  for (size_t from = 5; from + 12 < whole.size(); from += test::kSanitized ? 111 : 37) {
    for (const size_t length : {size_t{1}, size_t{4}, size_t{12}}) {
      GenerateOptions options = greedy();
      options.stop = {"never to be seen", whole.substr(from, length)};
      const Answer answer = generate(*s, prompt, options);
      BOOST_TEST((answer.finish == Finish::kStop));
      BOOST_TEST(s->stop_index() == 1);
      BOOST_TEST(answer.text == whole.substr(0, whole.find(options.stop[1])));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_end_token_is_chosen_if_ends_are_ignored) {
  const auto s = loaded(128);
  const std::vector<TokenId> prompt = prompt_of(*s, "Bees make honey.");
  GenerateOptions options = greedy();
  BOOST_TEST((generate(*s, prompt, options).finish == Finish::kEnd));
  BOOST_TEST(s->stop_index() == -1);
  options.ignore_end = true;
  const Answer going = generate(*s, prompt, options, 60);
  BOOST_TEST(going.tokens.size() == 60u);
  for (const TokenId id : going.tokens) BOOST_TEST(!s->tokenizer()->is_end_of_generation(id));
}

BOOST_AUTO_TEST_CASE(a_full_context_ends_or_shifts) {
  const auto s = loaded(32);
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  GenerateOptions options = greedy();
  options.ignore_end = true;
  const Answer ended = generate(*s, prompt, options);
  BOOST_TEST((ended.finish == Finish::kContext));
  BOOST_TEST(ended.tokens.size() == 33 - prompt.size());
  options.shift = true;
  const Answer shifted = generate(*s, prompt, options, 200);
  BOOST_TEST(shifted.tokens.size() == 200u);
  BOOST_TEST(shifted.text.substr(0, ended.text.size()) == ended.text);
}

BOOST_AUTO_TEST_CASE(generation_continues_from_a_saved_state) {
  const auto s = loaded(384), other = loaded(384);
  const std::vector<TokenId> prompt = prompt_of(*s, "Long ago, in a garden full of flowers,");
  const std::string text = generate(*s, prompt, greedy()).text;
  const Result<std::vector<uint8_t>> saved = s->save_state();
  BOOST_REQUIRE(saved.has_value());
  BOOST_REQUIRE(other->load_state(*saved).has_value());
  BOOST_TEST(generate(*other, prompt, greedy()).text == text);
  BOOST_TEST(other->n_reused() == prompt.size() - 1);
  for (size_t n = 0; n < saved->size(); n += 1 + saved->size() / 40)
    BOOST_TEST(!other->load_state(ByteView(*saved).first(n)).has_value());
  BOOST_TEST(generate(*other, prompt, greedy()).text == text);
}

BOOST_AUTO_TEST_CASE(fast_and_exact_precision_give_the_same_answer) {
  const auto fast = loaded(128), exact = loaded(128, Precision::kExact);
  const std::vector<TokenId> tokens =
      prompt_of(*fast, "<|user|>What do bees make?<|end|><|assistant|>Bees make honey.");
  const Result<Buffer> a = fast->evaluate(tokens), b = exact->evaluate(tokens);
  BOOST_REQUIRE(a.has_value() && b.has_value());
  const size_t n_vocab = fast->model().n_output();
  BOOST_REQUIRE_EQUAL(a->size(), tokens.size() * n_vocab * sizeof(float));
  double squares = 0, differences = 0;
  for (size_t i = 0; i < tokens.size() * n_vocab; ++i) {
    const double want = b->as<float>()[i], got = a->as<float>()[i];
    squares += want * want;
    differences += (got - want) * (got - want);
  }
  BOOST_TEST(differences / squares < 1e-3);
}

BOOST_AUTO_TEST_CASE(answers_match_the_grammar) {
  const auto s = loaded(384);
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  // Uses high and low temperatures, mirostat and XTC.
  for (uint32_t seed = 0; seed < (test::kSanitized ? 10u : 40u); ++seed) {
    GenerateOptions options;
    options.sampler.seed = seed;
    options.sampler.temperature = seed % 4 == 0 ? 0.0f : seed % 4 == 1 ? 1.0f : 30.0f;
    options.sampler.top_k = seed % 3 == 0 ? 0 : 40;
    options.sampler.mirostat = seed % 7 == 6 ? 2 : 0;
    options.sampler.xtc_probability = seed % 5 == 4 ? 0.5f : 0.0f;
    options.grammar = R"(root ::= "{\"name\": \"" [A-Z\u00c4] [a-z]{1,8} "\", \"legs\": " [1-9] [0-9]? "}" " "{0,3})";
    const Answer answer = generate(*s, prompt, options);
    BOOST_TEST((answer.finish == Finish::kEnd));
    char name[16];
    int legs = 0, length = 0;
    BOOST_TEST(std::sscanf(answer.text.c_str(), "{\"name\": \"%*[A-Z\xC3\x84]%8[a-z]\", \"legs\": %2d} %n", name, &legs,
                           &length) == 2,
               answer.text);
    BOOST_TEST((legs >= 1 && legs <= 99 && static_cast<size_t>(length) == answer.text.size()), answer.text);
  }
  // A grammar of any text has no effect. A grammar that is complete ends the answer at once, without an end token.
  GenerateOptions options = greedy();
  const Answer free = generate(*s, prompt, options);
  options.grammar = "root ::= .*";
  const Answer any = generate(*s, prompt, options);
  BOOST_TEST(any.text == free.text);
  BOOST_TEST((any.finish == Finish::kEnd && any.tokens == free.tokens));
  options.grammar = R"(root ::= ", a small " ("owl" | "bee"))";
  options.ignore_end = true;
  const Answer choice = generate(*s, prompt, options);
  BOOST_TEST((choice.text == ", a small owl" || choice.text == ", a small bee"), choice.text);
  BOOST_TEST((choice.finish == Finish::kEnd));
  BOOST_TEST(s->tokenizer()->decode(choice.tokens) == choice.text);

  options.grammar = "root ::= \"a";
  const Result<void> wrong = s->begin_answer(prompt, options);
  BOOST_REQUIRE(!wrong.has_value());
  BOOST_TEST((wrong.error().code == ErrorCode::kInvalidArgument && wrong.error().offset == 9));
  BOOST_TEST(generate(*s, prompt, greedy()).text == free.text);
}

// A profile's counts follow from the model's shape.
BOOST_AUTO_TEST_CASE(a_profile_counts_all_products) {
  for (const size_t n_threads : {size_t{1}, size_t{2}}) {
    const auto s = loaded(64, Precision::kFast, n_threads);
    const Model& model = s->model();
    const Hparams& h = model.hparams();
    const std::vector<TokenId> prompt = {1, 2, 3, 4, 5, 6, 7};
    GenerateOptions options = greedy();
    options.ignore_end = true;
    (void)generate(*s, prompt, options, 3);
    BOOST_TEST(s->take_profile().empty());  // it begins here
    s->drop();
    const size_t n_more = 5, n_one = n_more - 1;  // the first one is sampled from the prompt's logits
    (void)generate(*s, prompt, options, n_more);
    double layers = 0, output = 0;
    for (const TensorRequest& request : model.plan()) {
      const std::string_view name = request.entry.name;
      const double elements = static_cast<double>(request.n_rows * request.entry.shape[0]);
      if (request.n_rows > 1 && name.starts_with("blk.")) layers += elements;
      if (name == "token_embd.weight" && output == 0) output = elements;
      if (name == "output.weight") output = elements;
    }
    double products[2] = {}, bytes[2] = {}, parts[2] = {}, passes[2] = {}, pass_ms[2] = {}, scores[2] = {};
    double n_sampled = 0;
    for (const Profile::Row& row : s->take_profile()) {
      const size_t one = row.key.one_token ? 1 : 0;
      BOOST_TEST((row.calls > 0 && row.ms >= 0));
      if (row.key.operation == Operation::kPass) {
        passes[one] += static_cast<double>(row.calls);
        pass_ms[one] += row.ms;
      } else if (row.key.operation == Operation::kSampling) {
        n_sampled += static_cast<double>(row.calls);
      } else {
        parts[one] += row.ms;
      }
      if (row.key.operation == Operation::kProducts) {
        BOOST_TEST((row.key.types[0] != Profile::kNone && row.key.n_in > 0 && row.key.n_out > 0));
        products[one] += row.products;
        bytes[one] += row.bytes;
      }
      if (row.key.operation == Operation::kAttention) scores[one] += row.products;
    }
    BOOST_TEST(passes[0] == 1);
    BOOST_TEST(passes[1] == static_cast<double>(n_one));
    BOOST_TEST(n_sampled == static_cast<double>(n_more));
    // In the last layer of a prompt, only rows of the output mask are computed after attention.
    BOOST_TEST(products[1] == static_cast<double>(n_one) * (layers + output));
    BOOST_TEST(products[0] <= static_cast<double>(prompt.size()) * layers + output);
    BOOST_TEST(products[0] > static_cast<double>(prompt.size()) * layers * (h.n_layer - 1) / h.n_layer);
    BOOST_TEST(bytes[1] == static_cast<double>(n_one) * bytes[0]);
    const LayerParameters& layer = h.layers[0];
    const double of_cell = static_cast<double>(h.n_layer * layer.n_head * (layer.d_k + layer.d_v));
    double n_seen = 0;
    for (size_t i = 1; i <= n_one; ++i) n_seen += static_cast<double>(prompt.size() + i);
    BOOST_TEST(scores[1] == of_cell * n_seen);
    for (size_t one = 0; one < 2; ++one) BOOST_TEST(parts[one] <= pass_ms[one] + 1e-3);
    BOOST_TEST(s->take_profile().empty());
  }
}

BOOST_AUTO_TEST_CASE(measured_peak_rates_are_plausible) {
  const auto s = loaded(16, Precision::kFast, 2);
  const Result<Peaks> peaks = s->measure_peaks();
  BOOST_REQUIRE(peaks.has_value());
  for (const double peak : {peaks->int8, peaks->int16, peaks->float32, peaks->l2, peaks->dram})
    BOOST_TEST((peak > 1e6 && peak < 1e14));
}

BOOST_AUTO_TEST_CASE(results_that_are_not_numbers_are_errors_with_the_layer) {
  struct Case {
    const char* tensor;
    const char* where;
  };
  const Case cases[] = {{"token_embd.weight", "the embeddings of its tokens"},
                        {"blk.0.attn_norm.weight", "layer 0 (counted from 0)"},
                        {"blk.1.ffn_norm.weight", "layer 1 (counted from 0)"},
                        {"output_norm.weight", "its output"}};
  const std::vector<TokenId> tokens{1, 2, 3};
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const Case& c : cases) {
      test::MadeModel made = test::made_llama();
      made.constants[c.tensor] = value;
      const auto s = loaded(made.bytes(), {.n_ctx = 16});
      const auto logits = s->evaluate(tokens);
      // Infinite logits are no NaN, and samplers take them.
      if (value != value || logits.has_value() == false) {
        BOOST_REQUIRE(!logits.has_value());
        BOOST_TEST((logits.error().code == ErrorCode::kOutOfRange));
        BOOST_TEST(logits.error().message.find(c.where) != std::string::npos, logits.error().message);
      }
      const auto vector = s->embed(tokens, Pooling::kMean);
      BOOST_REQUIRE(!vector.has_value());
      BOOST_TEST((vector.error().code == ErrorCode::kOutOfRange));
      BOOST_TEST(vector.error().message.find(c.where) != std::string::npos, vector.error().message);
    }
  const auto s = loaded(test::tiny_llama(), {.n_ctx = 16});
  BOOST_TEST(s->evaluate(tokens).has_value());
  BOOST_TEST(s->embed(tokens, Pooling::kMean).has_value());
}

BOOST_AUTO_TEST_CASE(invalid_prompts_states_and_files_are_refused) {
  const auto s = loaded(16);
  const std::vector<TokenId> cases[] = {{}, {-1}, {1024}, {0, INT32_MAX}, std::vector<TokenId>(17, 1)};
  for (const std::vector<TokenId>& tokens : cases) {
    BOOST_TEST(!s->begin_answer(tokens, greedy()).has_value());
    BOOST_TEST(!s->evaluate(tokens).has_value());
    BOOST_TEST(!s->embed(tokens).has_value());
  }
  BOOST_TEST(!s->load_state({}).has_value());
  const std::vector<uint8_t> file = test::read_file(test::fixture("stories.gguf"));
  BOOST_TEST(!Session::open(ByteView(file).first(1000), file.size(), 1).has_value());
  const Result<std::unique_ptr<Session>> cut = Session::open(ByteView(file).first(100000), 100000, 1);
  BOOST_REQUIRE(!cut.has_value());
  BOOST_TEST((cut.error().code == ErrorCode::kTruncated));
}

BOOST_AUTO_TEST_SUITE_END()
