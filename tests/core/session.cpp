// Sessions on the trained sample: prompts, streams of text, stop strings, saved states, refusals.
#include "engine/session.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "json.hpp"
#include "model_data.hpp"

using namespace ggufscope;

namespace {

std::unique_ptr<Session> loaded(const std::vector<uint8_t>& file, const StateOptions& options,
                                Precision precision = Precision::kFast, size_t n_threads = 1) {
  Result<std::unique_ptr<Session>> session = Session::open(file, file.size(), n_threads);
  BOOST_REQUIRE_MESSAGE(session.has_value(), session.error().message);
  BOOST_REQUIRE((*session)->begin_load(precision).has_value());
  const std::vector<TensorRequest>& plan = (*session)->model().plan();
  for (size_t i = plan.size(); i-- > 0;) {
    const ByteView bytes = ByteView(file).subspan(static_cast<size_t>(plan[i].entry.offset));
    BOOST_REQUIRE(
        (*session)->set_rows(i, 0, bytes.first(static_cast<size_t>(plan[i].n_rows * plan[i].row_bytes))).has_value());
  }
  const Result<void> started = (*session)->start(options);
  BOOST_REQUIRE_MESSAGE(started.has_value(), started.error().message);
  return std::move(*session);
}

std::unique_ptr<Session> loaded(uint32_t n_ctx, Precision precision = Precision::kFast, size_t n_threads = 1) {
  return loaded(test::read_file(test::fixture("stories.gguf")), {.n_ctx = n_ctx}, precision, n_threads);
}

GenerateOptions greedy() {
  GenerateOptions options;
  options.sampler.temperature = 0;
  return options;
}

struct Answer {
  std::string text;
  std::vector<TokenId> tokens;
  Finish finish = Finish::kNone;
};

Answer generate(Session& s, std::span<const TokenId> prompt, const GenerateOptions& options, size_t most = 400) {
  const Result<void> begun = s.begin(prompt, options);
  BOOST_REQUIRE_MESSAGE(begun.has_value(), begun.error().message);
  Answer answer;
  while (answer.finish == Finish::kNone && answer.tokens.size() < most) {
    const Result<Step> step = s.next();
    BOOST_REQUIRE_MESSAGE(step.has_value(), step.error().message);
    answer.text += step->text;
    if (step->token != kNoToken) answer.tokens.push_back(step->token);
    answer.finish = step->finish;
  }
  return answer;
}

std::vector<TokenId> prompt_of(const Session& s, std::string_view text) {
  return s.tokenizer()->encode(text, {.special = true, .bos = true});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(session)

BOOST_AUTO_TEST_CASE(answers_do_not_depend_on_threads_portions_or_what_was_cached) {
  const auto one = loaded(384), three = loaded(384, Precision::kFast, 3);
  const std::vector<TokenId> prompt = prompt_of(*one, "<|user|>Tell me a story about an owl.<|end|><|assistant|>");
  const Answer first = generate(*one, prompt, greedy());
  BOOST_TEST((first.finish == Finish::kEnd));
  BOOST_TEST(first.text.size() > 100u);
  BOOST_TEST(one->tokenizer()->decode(std::span(first.tokens).first(first.tokens.size() - 1)) == first.text);
  BOOST_TEST(generate(*three, prompt, greedy()).text == first.text);

  BOOST_TEST(generate(*one, prompt, greedy()).text == first.text);
  BOOST_TEST(one->n_reused() == prompt.size() - 1);
  BOOST_REQUIRE(three->begin(prompt, greedy()).has_value());
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

BOOST_AUTO_TEST_CASE(control_tokens_end_the_answer_by_their_names) {
  const auto s = loaded(128);
  const Tokenizer& tokenizer = *s->tokenizer();
  const std::vector<TokenId> ids = tokenizer.encode("Bees sleep.<|user|>Who?<|end|>", {.special = true});
  const auto told = [&](std::vector<std::string> stops, size_t n = SIZE_MAX) {
    AnswerText answer(tokenizer, std::move(stops));
    std::string all;
    for (size_t i = 0; i < std::min(n, ids.size()) && !answer.stopped(); ++i) all += answer.push(ids[i]);
    all += answer.finish();
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
  BOOST_TEST(held + s->end().text == whole);
  BOOST_TEST(s->end().text.empty());
}

BOOST_AUTO_TEST_CASE(stop_strings_end_the_answer_wherever_tokens_end) {
  const auto s = loaded(384);
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  const std::string whole = generate(*s, prompt, greedy()).text;
  for (size_t from = 5; from + 12 < whole.size(); from += test::kSanitized ? 111 : 37) {
    for (const size_t length : {size_t{1}, size_t{4}, size_t{12}}) {
      GenerateOptions options = greedy();
      options.stop = {"never to be seen", whole.substr(from, length)};
      const Answer answer = generate(*s, prompt, options);
      BOOST_TEST((answer.finish == Finish::kStop));
      BOOST_TEST(answer.text == whole.substr(0, whole.find(options.stop[1])));
    }
  }
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

BOOST_AUTO_TEST_CASE(saved_states_go_on_where_they_were) {
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

BOOST_AUTO_TEST_CASE(fast_products_say_what_exact_ones_say) {
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

BOOST_AUTO_TEST_CASE(answers_keep_to_a_grammar) {
  const auto s = loaded(384);
  const std::vector<TokenId> prompt = prompt_of(*s, "Once upon a time");
  // Whatever the logits: hot and cold, with mirostat and with XTC.
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
  // A grammar of any text changes nothing; one that must end ends at once, without the tokens that say so.
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
  const Result<void> wrong = s->begin(prompt, options);
  BOOST_REQUIRE(!wrong.has_value());
  BOOST_TEST((wrong.error().code == ErrorCode::kInvalidArgument && wrong.error().offset == 9));
  BOOST_TEST(generate(*s, prompt, greedy()).text == free.text);
}

BOOST_AUTO_TEST_CASE(forks_go_on_from_the_same_beginning) {
  const std::vector<uint8_t> file = test::read_file(test::fixture("stories.gguf"));
  const auto s = loaded(file, {.n_ctx = 384, .n_sequences = 3}), alone = loaded(384);
  const std::string beginning = "Once upon a time, in a garden full of flowers, there lived a small ";
  const std::vector<TokenId> shared = prompt_of(*s, beginning);
  const auto with = [&](std::string_view end) { return prompt_of(*s, beginning + std::string(end)); };
  BOOST_REQUIRE(s->begin(shared, greedy()).has_value());
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
  // Steps of two texts in turns.
  BOOST_REQUIRE(s->begin(with("bee"), greedy()).has_value());
  std::string texts[2];
  BOOST_REQUIRE(s->select(0).has_value());
  BOOST_REQUIRE(s->begin(with("owl"), greedy()).has_value());
  BOOST_REQUIRE(s->select(1).has_value());
  BOOST_REQUIRE(s->begin(with("bee"), greedy()).has_value());
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
  // A text that is evaluated takes the room of all; they come back.
  BOOST_REQUIRE(s->evaluate(shared).has_value());
  BOOST_TEST(generate(*s, with("bee"), greedy(), 20).text == texts[1]);
}

BOOST_AUTO_TEST_CASE(forks_share_the_room) {
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
  // The first text keeps its tokens; the prompt is there once.
  BOOST_TEST(prompt.size() - 1 + n_first - 1 + rest.tokens.size() <= 49u);
  BOOST_TEST(rest.tokens.size() + n_first + prompt.size() >= 48u);
  s->drop();
  BOOST_REQUIRE(s->select(0).has_value());
  BOOST_TEST(generate(*s, prompt, options).tokens.size() == 49 - prompt.size());
}

BOOST_AUTO_TEST_CASE(recurrent_texts_fork_too) {
  const std::filesystem::path path = test::shared("vectors/arch/mamba/model.gguf");
  if (!std::filesystem::exists(path)) return;
  const auto s = loaded(test::read_file(path), {.n_ctx = 64, .n_sequences = 2}, Precision::kExact);
  const std::vector<TokenId> prompt{1, 5, 9, 2}, more{1, 5, 9, 2, 7, 3};
  BOOST_REQUIRE(s->begin(prompt, greedy()).has_value());
  BOOST_REQUIRE(s->advance(prompt.size()).has_value());
  BOOST_REQUIRE(s->fork(0, 1).has_value());
  const Answer first = generate(*s, more, greedy(), 8);
  BOOST_TEST(s->n_reused() == prompt.size());
  BOOST_REQUIRE(s->select(1).has_value());
  BOOST_TEST(generate(*s, more, greedy(), 8).tokens == first.tokens);
  BOOST_TEST(s->n_reused() == prompt.size());
}

// The model itself against llama.cpp's logits: model.cpp.
BOOST_AUTO_TEST_CASE(encoder_decoders_begin_with_a_token_of_their_own,
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
  small.n_batch = 4;  // the encoder takes the prompt as a whole all the same
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

BOOST_AUTO_TEST_CASE(guesses_change_no_token) {
  const auto plain = loaded(384), s = loaded(384, Precision::kFast, 3), other = loaded(384);
  const std::string beginning = "Once upon a time";
  const std::string story = generate(*plain, prompt_of(*plain, beginning), greedy()).text;
  const std::vector<TokenId> prompt = prompt_of(*plain, beginning + story + beginning);
  size_t n_guessed = 0;
  for (uint32_t seed = 0; seed < (test::kSanitized ? 2u : 4u); ++seed) {
    GenerateOptions options = greedy();
    options.sampler.temperature = 0.25f * static_cast<float>(seed);
    options.sampler.seed = seed;
    options.ignore_end = true;
    const Answer want = generate(*plain, prompt, options, 60);
    options.n_guesses = 1 + 5 * seed;
    const Answer got = generate(*s, prompt, options, 60);
    BOOST_TEST(got.tokens == want.tokens, boost::test_tools::per_element());
    BOOST_TEST(got.text == want.text);
    n_guessed += s->n_guessed();
    // Guesses that were not yet drawn are in no saved state, and in no text that goes on from here.
    const Result<std::vector<uint8_t>> saved = s->save_state();
    BOOST_REQUIRE(saved.has_value());
    BOOST_REQUIRE(other->load_state(*saved).has_value());
    BOOST_TEST(generate(*other, prompt, options, 60).tokens == want.tokens, boost::test_tools::per_element());
    BOOST_TEST(generate(*s, prompt_of(*s, beginning), greedy()).text == story);
  }
  BOOST_TEST(n_guessed > (test::kSanitized ? 5u : 20u));

  const auto small = loaded(48);
  GenerateOptions options = greedy();
  options.ignore_end = options.shift = true;
  const std::vector<TokenId> twice = prompt_of(*small, beginning + ", " + beginning);
  const Answer want = generate(*small, twice, options, 150);
  options.n_guesses = 8;
  BOOST_TEST(generate(*small, twice, options, 150).tokens == want.tokens, boost::test_tools::per_element());
  options.shift = false;
  const Answer full = generate(*small, twice, options);
  BOOST_TEST((full.finish == Finish::kContext));
  BOOST_TEST(full.tokens.size() == 49 - twice.size());
}

// Windows whose slots are fewer than the context's cells, experts, and states that cannot go back.
BOOST_AUTO_TEST_CASE(guesses_of_other_models, *boost::unit_test::precondition(test::needs_shared("vectors/arch"))) {
  size_t n_guessed = 0;
  for (const std::string name : {"gemma2", "gemma3", "gpt-oss", "llama4", "llama-moe", "mamba", "falcon-h1"}) {
    const std::vector<uint8_t> file = test::read_file(test::shared("vectors/arch/" + name + "/model.gguf"));
    const auto s = loaded(file, {.n_ctx = 128, .n_batch = 6});
    std::vector<TokenId> prompt;
    for (TokenId i = 0; i < 30; ++i) prompt.push_back(3 + i * i % 7);
    GenerateOptions options = greedy();
    options.ignore_end = true;
    const Answer want = generate(*s, prompt, options, 90);
    s->drop();
    options.n_guesses = 8;
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(generate(*s, prompt, options, 90).tokens == want.tokens, boost::test_tools::per_element());
      if (s->model().is_recurrent()) BOOST_TEST(s->n_guessed() == 0u);
      n_guessed += s->n_guessed();
    }
  }
  BOOST_TEST(n_guessed > 100u);
}

// llama.cpp's greedy tokens and how many of a drafter's it takes a round; then draws, which a draft does not change
// either.
BOOST_AUTO_TEST_CASE(draft_models_change_no_token,
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
      BOOST_TEST(generate(*target, prompt, drafted, want.size()).tokens == want, boost::test_tools::per_element());
      // llama.cpp quantizes a Q4_0 drafter's activations, which moves a few of its proposals.
      const auto accepted = row["accepted_per_round_of_4"].integers();
      const int64_t theirs = std::accumulate(accepted.begin(), accepted.end(), 0);
      BOOST_TEST(std::abs(static_cast<int64_t>(target->n_guessed()) - theirs) <= 3, target->n_guessed());
      // The other text, of which the drafter knows nothing yet.
      BOOST_REQUIRE(target->fork(0, 1).has_value() && target->select(1).has_value());
      for (const uint32_t seed : {1u, 2u}) {
        plain.sampler.temperature = drafted.sampler.temperature = 1;
        plain.sampler.seed = drafted.sampler.seed = seed;
        BOOST_TEST(generate(*target, prompt, drafted, 48).tokens == generate(*target, prompt, plain, 48).tokens,
                   boost::test_tools::per_element());
      }
    }
  }
  const auto stories = loaded(64), other = loaded(test::read_file(folder / "qwen3-draft.gguf"), {.n_ctx = 64});
  BOOST_TEST((stories->set_draft(*other).error().code == ErrorCode::kInvalidArgument));
}

// What a profile counts is what the model's shape says.
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
    const size_t n_more = 5, n_one = n_more - 1;  // the first is drawn of what the prompt gave
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
    // Of the last layer of a prompt only what is wanted goes on beyond attention.
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

BOOST_AUTO_TEST_CASE(what_the_machine_allows) {
  const auto s = loaded(16, Precision::kFast, 2);
  const Result<Peaks> peaks = s->measure_peaks();
  BOOST_REQUIRE(peaks.has_value());
  for (const double peak : {peaks->bytes, peaks->words, peaks->floats, peaks->near, peaks->far})
    BOOST_TEST((peak > 1e6 && peak < 1e14));
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_prompt) {
  const auto s = loaded(16);
  const std::vector<TokenId> cases[] = {{}, {-1}, {1024}, {0, INT32_MAX}, std::vector<TokenId>(17, 1)};
  for (const std::vector<TokenId>& tokens : cases) {
    BOOST_TEST(!s->begin(tokens, greedy()).has_value());
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
