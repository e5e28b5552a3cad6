// Forked sessions that share a prompt, and speculative decoding.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "engine/session.hpp"
#include "json.hpp"
#include "session_data.hpp"

using namespace ggufscope;
using test::Answer;
using test::generate;
using test::greedy;
using test::loaded;
using test::prompt_of;

BOOST_AUTO_TEST_SUITE(session)

BOOST_AUTO_TEST_CASE(forks_continue_from_the_shared_prompt) {
  const std::vector<uint8_t> file = test::read_file(test::fixture("stories.gguf"));
  const auto s = loaded(file, {.n_ctx = 384, .n_sequences = 3}), alone = loaded(384);
  const std::string beginning = "Once upon a time, in a garden full of flowers, there lived a small ";
  const std::vector<TokenId> shared = prompt_of(*s, beginning);
  const auto with = [&](std::string_view end) { return prompt_of(*s, beginning + std::string(end)); };
  BOOST_REQUIRE(s->begin_answer(shared, greedy()).has_value());
  BOOST_REQUIRE(s->advance(shared.size()).has_value());
  BOOST_REQUIRE(s->fork(0, 1).has_value());
  BOOST_REQUIRE(s->fork(1, 2).has_value());
  const char* const ends[] = {"owl", "bee", "fox named Max"};
  for (uint32_t text : {2u, 0u, 1u, 2u}) {
    BOOST_REQUIRE(s->select(text).has_value());
    const std::vector<TokenId> prompt = with(ends[text]);
    const Answer answer = generate(*s, prompt, greedy(), 30);
    BOOST_TEST(s->n_reused() >= shared.size() - 2);
    BOOST_TEST(answer.text == generate(*alone, prompt, greedy(), 30).text);
  }
  // Alternates steps of two sequences.
  BOOST_REQUIRE(s->begin_answer(with("bee"), greedy()).has_value());
  std::string texts[2];
  BOOST_REQUIRE(s->select(0).has_value());
  BOOST_REQUIRE(s->begin_answer(with("owl"), greedy()).has_value());
  BOOST_REQUIRE(s->select(1).has_value());
  BOOST_REQUIRE(s->begin_answer(with("bee"), greedy()).has_value());
  for (int i = 0; i < 20; ++i)
    for (const uint32_t text : {0u, 1u}) {
      BOOST_REQUIRE(s->select(text).has_value());
      const Result<Step> step = s->next();
      BOOST_REQUIRE(step.has_value());
      texts[text] += step->text;
    }
  BOOST_TEST(texts[0] == generate(*alone, with("owl"), greedy(), 20).text);
  BOOST_TEST(texts[1] == generate(*alone, with("bee"), greedy(), 20).text);
  BOOST_TEST(!s->select(3).has_value());
  BOOST_TEST((!s->fork(0, 3).has_value() && !s->fork(3, 0).has_value() && !s->fork(1, 1).has_value()));
  // Evaluating one sequence takes the cells of all others, which are restored afterwards.
  BOOST_REQUIRE(s->evaluate(shared).has_value());
  BOOST_TEST(generate(*s, with("bee"), greedy(), 20).text == texts[1]);
}

BOOST_AUTO_TEST_CASE(forks_share_the_context) {
  const std::vector<uint8_t> file = test::read_file(test::fixture("stories.gguf"));
  const auto s = loaded(file, {.n_ctx = 48, .n_sequences = 2});
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  GenerateOptions options = greedy();
  options.ignore_end = true;
  const size_t n_first = generate(*s, prompt, options, 20).tokens.size();
  BOOST_REQUIRE(s->fork(0, 1).has_value());
  BOOST_REQUIRE(s->select(1).has_value());
  const Answer rest = generate(*s, prompt, options);
  BOOST_TEST((rest.finish == Finish::kContext));
  // The first sequence keeps its tokens, and the prompt is stored once.
  BOOST_TEST(prompt.size() - 1 + n_first - 1 + rest.tokens.size() <= 49u);
  BOOST_TEST(rest.tokens.size() + n_first + prompt.size() >= 48u);
  s->drop();
  BOOST_REQUIRE(s->select(0).has_value());
  BOOST_TEST(generate(*s, prompt, options).tokens.size() == 49 - prompt.size());
}

BOOST_AUTO_TEST_CASE(recurrent_models_can_fork) {
  const std::filesystem::path path = test::shared("vectors/arch/mamba/model.gguf");
  if (!std::filesystem::exists(path)) return;
  const auto s = loaded(test::read_file(path), {.n_ctx = 64, .n_sequences = 2}, Precision::kExact);
  const std::vector<TokenId> prompt{1, 5, 9, 2}, more{1, 5, 9, 2, 7, 3};
  BOOST_REQUIRE(s->begin_answer(prompt, greedy()).has_value());
  BOOST_REQUIRE(s->advance(prompt.size()).has_value());
  BOOST_REQUIRE(s->fork(0, 1).has_value());
  const Answer first = generate(*s, more, greedy(), 8);
  BOOST_TEST(s->n_reused() == prompt.size());
  BOOST_REQUIRE(s->select(1).has_value());
  BOOST_TEST(generate(*s, more, greedy(), 8).tokens == first.tokens);
  BOOST_TEST(s->n_reused() == prompt.size());
}

// The model itself against llama.cpp's logits: model.cpp.
BOOST_AUTO_TEST_CASE(encoder_decoders_begin_with_the_decoder_start_token,
                     *boost::unit_test::precondition(test::needs_shared("vectors/arch"))) {
  const std::filesystem::path folder = test::shared("vectors/arch/t5");
  std::vector<uint8_t> bytes = test::read_file(folder / "model.gguf");
  const std::string key = "t5.decoder_start_token_id";
  const auto at = std::search(bytes.begin(), bytes.end(), key.begin(), key.end());
  BOOST_REQUIRE((at != bytes.end()));
  const uint32_t start = 7;
  std::memcpy(&*at + key.size() + 4, &start, sizeof start);  // behind the value's type
  const std::vector<TokenId> prompt = test::json_integers(test::read_text(folder / "tokens.json"), "encoder");

  const auto pool = test::make_pool();
  const auto file = test::parse_file(bytes);
  const test::LoadedModel loaded_model = test::load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded_model.model != nullptr, loaded_model.error);
  const auto state = test::make_state(*loaded_model.model, *pool, {.n_ctx = 64, .n_batch = 64});
  BOOST_REQUIRE(encode(*loaded_model.model, *state, *pool, prompt, nullptr).has_value());
  std::vector<TokenId> want;
  for (TokenId token = static_cast<TokenId>(start); want.size() < 8; want.push_back(token))
    token = argmax(test::evaluate(*loaded_model.model, *state, *pool, std::span(&token, 1)));

  StateOptions small;
  small.n_ctx = 64;
  small.n_batch = 4;  // the encoder still processes the whole prompt at once
  const auto s = loaded(bytes, small, Precision::kExact);
  GenerateOptions options = greedy();
  options.ignore_end = true;
  for (int round = 0; round < 2; ++round) {
    const Answer answer = generate(*s, prompt, options, 8);
    BOOST_TEST(answer.tokens == want, boost::test_tools::per_element());
  }
  BOOST_TEST(s->embed(prompt).has_value());
  BOOST_TEST(!s->evaluate(prompt).has_value());
  BOOST_TEST(!s->save_state().has_value());
  BOOST_TEST(!s->fork(0, 0).has_value());
}

BOOST_AUTO_TEST_CASE(prompt_lookup_does_not_change_the_answer) {
  const auto plain = loaded(384), s = loaded(384, Precision::kFast, 3), other = loaded(384);
  const std::string beginning = "Once upon a time";
  const std::string story = generate(*plain, prompt_of(*plain, beginning), greedy()).text;
  const std::vector<TokenId> prompt = prompt_of(*plain, beginning + story + beginning);
  size_t n_accepted = 0;
  for (uint32_t seed = 0; seed < (test::kSanitized ? 2u : 4u); ++seed) {
    GenerateOptions options = greedy();
    options.sampler.temperature = 0.25f * static_cast<float>(seed);
    options.sampler.seed = seed;
    options.ignore_end = true;
    const Answer want = generate(*plain, prompt, options, 60);
    options.n_lookup = 1 + 5 * seed;
    options.fixed_drafts = seed != 1;
    const Answer got = generate(*s, prompt, options, 60);
    BOOST_TEST(got.tokens == want.tokens, boost::test_tools::per_element());
    BOOST_TEST(got.text == want.text);
    n_accepted += s->n_accepted_drafts();
    // Draft tokens that were not accepted are neither in a saved state nor in a sequence that continues from here.
    const Result<std::vector<uint8_t>> saved = s->save_state();
    BOOST_REQUIRE(saved.has_value());
    BOOST_REQUIRE(other->load_state(*saved).has_value());
    BOOST_TEST(generate(*other, prompt, options, 60).tokens == want.tokens, boost::test_tools::per_element());
    BOOST_TEST(generate(*s, prompt_of(*s, beginning), greedy()).text == story);
  }
  BOOST_TEST(n_accepted > (test::kSanitized ? 5u : 20u));

  const auto small = loaded(48);
  GenerateOptions options = greedy();
  options.ignore_end = options.shift = true;
  const std::vector<TokenId> twice = prompt_of(*small, beginning + ", " + beginning);
  const Answer want = generate(*small, twice, options, 150);
  options.n_lookup = 8;
  options.fixed_drafts = true;
  BOOST_TEST(generate(*small, twice, options, 150).tokens == want.tokens, boost::test_tools::per_element());
  options.shift = false;
  const Answer full = generate(*small, twice, options);
  BOOST_TEST((full.finish == Finish::kContext));
  BOOST_TEST(full.tokens.size() == 49 - twice.size());
}

// Windows with fewer cells than the context, experts, and recurrent states, which go back to before refused tokens.
BOOST_AUTO_TEST_CASE(prompt_lookup_works_for_other_architectures,
                     *boost::unit_test::precondition(test::needs_shared("vectors/arch"))) {
  size_t n_accepted = 0;
  for (const std::string name :
       {"gemma2", "gemma3", "gpt-oss", "llama4", "llama-moe", "mamba", "rwkv7", "lfm2", "falcon-h1"}) {
    const std::vector<uint8_t> file = test::read_file(test::shared("vectors/arch/" + name + "/model.gguf"));
    const auto s = loaded(file, {.n_ctx = 128, .n_batch = 6});
    std::vector<TokenId> prompt;
    for (TokenId i = 0; i < 30; ++i) prompt.push_back(3 + i * i % 7);
    GenerateOptions options = greedy();
    options.ignore_end = true;
    const Answer want = generate(*s, prompt, options, 90);
    s->drop();
    options.n_lookup = 8;
    options.fixed_drafts = true;
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(generate(*s, prompt, options, 90).tokens == want.tokens, boost::test_tools::per_element());
      n_accepted += s->n_accepted_drafts();
    }
  }
  BOOST_TEST(n_accepted > 100u);
}

// Two tokens in random order: some proposals are accepted in part, so the states go back to those before them.
BOOST_AUTO_TEST_CASE(prompt_lookup_does_not_change_the_answer_of_recurrent_models,
                     *boost::unit_test::precondition(test::needs_shared("vectors/arch"))) {
  for (const std::string name : {"mamba", "mamba2", "jamba", "falcon-h1", "rwkv6", "rwkv7", "lfm2", "qwen35"}) {
    const std::vector<uint8_t> file = test::read_file(test::shared("vectors/arch/" + name + "/model.gguf"));
    const auto s = loaded(file, {.n_ctx = 128, .n_batch = 6});
    std::vector<TokenId> prompt;
    for (TokenId i = 0; i < 30; ++i) prompt.push_back(5 + i * i % 2);
    GenerateOptions options;
    options.sampler.seed = 9;
    options.sampler.logit_bias = {{5, 100.0f}, {6, 100.0f}};
    options.ignore_end = true;
    const Answer want = generate(*s, prompt, options, 90);
    s->drop();
    options.n_lookup = 4;
    options.fixed_drafts = true;
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(generate(*s, prompt, options, 90).tokens == want.tokens, boost::test_tools::per_element());
      const size_t n_accepted = s->n_accepted_drafts();
      BOOST_TEST((n_accepted > 10u && n_accepted < 85u), n_accepted);
    }
  }
}

// Compares llama.cpp's greedy tokens and the number of draft tokens that it accepts in each round. A draft must not
// change sampled tokens, either.
BOOST_AUTO_TEST_CASE(draft_models_do_not_change_the_answer,
                     *boost::unit_test::precondition(test::needs_shared("vectors/long"))) {
  const std::filesystem::path folder = test::shared("vectors/long/draft");
  const test::Json meta = test::JsonReader(test::read_text(folder / "meta.json")).value();
  for (const auto& [name, row] : meta["models"].fields) {
    BOOST_TEST_CONTEXT(name) {
      const StateOptions options{.n_ctx = 128, .n_batch = 64, .n_sequences = 2};
      const auto target =
          loaded(test::read_file(test::shared("vectors") / row["target"].text), options, Precision::kExact);
      const auto draft = loaded(test::read_file(folder / row["draft"].text), options, Precision::kExact);
      BOOST_REQUIRE(target->set_draft(*draft).has_value());
      BOOST_REQUIRE(draft->start(options).has_value());
      const std::vector<int32_t> prompt = row["tokens"].integers(), want = row["greedy"]["tokens"].integers();
      GenerateOptions plain = greedy(), drafted = plain;
      plain.ignore_end = drafted.ignore_end = true;
      drafted.n_draft = 4;
      drafted.fixed_drafts = true;
      BOOST_TEST(generate(*target, prompt, drafted, want.size()).tokens == want, boost::test_tools::per_element());
      // llama.cpp quantizes a Q4_0 draft model's activations, which changes a few of its proposals.
      const auto accepted = row["accepted_per_round_of_4"].integers();
      const int64_t theirs = std::accumulate(accepted.begin(), accepted.end(), 0);
      BOOST_TEST(std::abs(static_cast<int64_t>(target->n_accepted_drafts()) - theirs) <= 3,
                 target->n_accepted_drafts());
      // The other sequence, which the draft model has not seen yet.
      BOOST_REQUIRE(target->fork(0, 1).has_value() && target->select(1).has_value());
      for (const uint32_t seed : {1u, 2u}) {
        plain.sampler.temperature = drafted.sampler.temperature = 1;
        plain.sampler.seed = drafted.sampler.seed = seed;
        drafted.fixed_drafts = seed == 1;
        BOOST_TEST(generate(*target, prompt, drafted, 48).tokens == generate(*target, prompt, plain, 48).tokens,
                   boost::test_tools::per_element());
      }
    }
  }
  const auto stories = loaded(64), other = loaded(test::read_file(folder / "qwen3-draft.gguf"), {.n_ctx = 64});
  BOOST_TEST((stories->set_draft(*other).error().code == ErrorCode::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()
