// Sessions whose model runs on a device answer as on the CPU. The device is the interpreter.
#include "device_session.hpp"

#include <boost/test/unit_test.hpp>
#include <type_traits>

#include "../made_more.hpp"
#include "../made_variants.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_sessions, *boost::unit_test::label("floats"))

namespace {

std::vector<TokenId> encoded(const Session& session, const std::string& text) {
  return session.tokenizer()->encode(text, {.bos = true});
}

const std::string kPrompt = "Once upon a time, there was a";
constexpr size_t kMost = 16;

void check_equal(const Answer& got, const Answer& want) {
  BOOST_TEST(got.text == want.text);
  BOOST_TEST(got.tokens == want.tokens, boost::test_tools::per_element());
  BOOST_TEST((got.finish == want.finish));
}

}  // namespace

BOOST_AUTO_TEST_CASE(answers_are_those_of_the_cpu) {
  const StateOptions options{.n_ctx = 128, .n_batch = 32};
  DeviceSession device(options);
  const auto cpu = loaded(device.file, options, Precision::kExact);
  const std::vector<TokenId> prompt = encoded(*cpu, kPrompt);
  GenerateOptions sampled;
  sampled.sampler.seed = 7;
  sampled.sampler.repeat_penalty = 1.1f;
  sampled.n_probabilities = 2;
  GenerateOptions looked_up = greedy();
  looked_up.n_lookup = 4;
  GenerateOptions stopped = greedy();
  stopped.stop = {"."};
  GenerateOptions grammar = greedy();
  grammar.grammar = "root ::= [a-z ]+ \".\"";
  for (const GenerateOptions& o : {greedy(), sampled, looked_up, stopped, grammar})
    for (const size_t n_batch : {size_t{512}, size_t{3}})
      check_equal(device.answer(prompt, o, kMost, n_batch), generate(*cpu, prompt, o, kMost));
  BOOST_TEST(!device.session->prepare_chosen().has_value());
}

BOOST_AUTO_TEST_CASE(the_device_may_choose_with_passes_in_flight) {
  const StateOptions options{.n_ctx = 128, .n_batch = 32};
  DeviceSession device(options);
  const auto cpu = loaded(device.file, options, Precision::kExact);
  const std::vector<TokenId> prompt = encoded(*cpu, kPrompt);
  const Answer want = generate(*cpu, prompt, greedy(), kMost);
  for (const size_t depth : {size_t{1}, size_t{2}, size_t{3}}) {
    check_equal(device.chosen(prompt, kMost, depth), want);
    // What was in flight at the end is no longer in the cache.
    check_equal(device.answer(prompt, greedy(), kMost), want);
  }
}

BOOST_AUTO_TEST_CASE(a_context_may_fill_up) {
  const StateOptions options{.n_ctx = 24, .n_batch = 16};
  DeviceSession device(options);
  const auto cpu = loaded(device.file, options, Precision::kExact);
  const std::vector<TokenId> prompt = encoded(*cpu, kPrompt);
  const Answer want = generate(*cpu, prompt, greedy(), 100);
  BOOST_TEST((want.finish == Finish::kContext));
  check_equal(device.answer(prompt, greedy(), 100), want);
  check_equal(device.chosen(prompt, 100, 3), want);
}

BOOST_AUTO_TEST_CASE(sequences_share_the_cells_of_a_fork) {
  const StateOptions options{.n_ctx = 128, .n_batch = 32, .n_sequences = 2};
  DeviceSession device(options);
  const auto cpu = loaded(device.file, options, Precision::kExact);
  const std::vector<TokenId> prompt = encoded(*cpu, kPrompt), other = encoded(*cpu, kPrompt + " big dog");
  const Answer want = generate(*cpu, other, greedy(), 20);
  (void)device.answer(prompt, greedy(), 5);
  BOOST_REQUIRE(device.session->fork(0, 1).has_value());
  BOOST_REQUIRE(device.session->select(1).has_value());
  check_equal(device.answer(other, greedy(), 20), want);
  BOOST_TEST(device.session->n_reused() > 0u);
}

// The states of recurrent layers cannot be rewound, but passes on their way can be discarded.
BOOST_AUTO_TEST_CASE(recurrent_states_follow_the_text) {
  const StateOptions options{.n_ctx = 128, .n_batch = 16, .n_sequences = 3};
  const std::vector<TokenId> prompt{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11};
  for (const MadeModel& made : {made_lfm2(), made_wide_mamba(), made_mamba2()}) {
    BOOST_TEST_CONTEXT(made.architecture) {
      DeviceSession device(options, made.bytes());
      Session& s = *device.session;
      const auto cpu = loaded(device.file, options, Precision::kExact);
      const Answer want = generate(*cpu, prompt, greedy(), kMost);
      std::vector<TokenId> longer = prompt;
      longer.insert(longer.end(), want.tokens.begin(), want.tokens.end());
      longer.push_back(7);
      const Answer more = generate(*loaded(device.file, options, Precision::kExact), longer, greedy(), kMost);
      for (const size_t depth : {size_t{1}, size_t{2}, size_t{3}}) {
        check_equal(device.chosen(prompt, kMost, depth), want);
        // The next text continues this one: nothing that was discarded is in the states.
        check_equal(device.chosen(longer, kMost, depth), more);
        BOOST_TEST(s.n_reused() == prompt.size() + want.tokens.size() - 1);
        // A text that leaves the last one before its end is computed anew.
        check_equal(device.answer(longer, greedy(), kMost, 5), more);
        BOOST_TEST(s.n_reused() == 0u);
      }
      // A fork continues beside its origin, and both with their own states.
      check_equal(device.chosen(prompt, kMost, 3), want);
      for (const uint32_t to : {1u, 2u}) BOOST_REQUIRE(s.fork(0, to).has_value());
      for (const uint32_t sequence : {1u, 0u, 2u}) {
        BOOST_REQUIRE(s.select(sequence).has_value());
        check_equal(device.chosen(longer, kMost, 2), more);
        BOOST_TEST(s.n_reused() == prompt.size() + want.tokens.size() - 1);
      }
      s.drop();
      check_equal(device.chosen(prompt, kMost, 3), want);
    }
  }
}

namespace {

// Everything that a session computes of a text, on the device as on the CPU.
void check_text(DeviceSession& device, Session& cpu, std::span<const TokenId> tokens, double tolerance) {
  const auto check_rows = [&](auto&& got, auto&& want) {
    BOOST_REQUIRE_MESSAGE(got.has_value(), (got ? "" : got.error().message));
    BOOST_REQUIRE(want.has_value());
    using Rows = std::remove_cvref_t<decltype(*got)>;
    std::span<const float> a, b;
    if constexpr (std::is_same_v<Rows, Buffer>) {
      a = {got->template as<float>(), got->size() / 4}, b = {want->template as<float>(), want->size() / 4};
    } else {
      a = *got, b = *want;
    }
    BOOST_REQUIRE_EQUAL(a.size(), b.size());
    BOOST_TEST(max_difference(a, b) <= tolerance, "differ by " << max_difference(a, b));
  };
  for (const Pooling pooling : {Pooling::kUnspecified, Pooling::kNone, Pooling::kRank}) {
    const auto want = cpu.embed(tokens, pooling);
    device.compute_text(tokens, TextOutputs::kEmbeddings);
    const auto got = device.session->embed(tokens, pooling);
    BOOST_TEST(got.has_value() == want.has_value());
    if (want) check_rows(got, want);
  }
  device.compute_text(tokens, TextOutputs::kLogits);
  check_rows(device.session->evaluate(tokens), cpu.evaluate(tokens));
  if (cpu.model().is_encoder()) {
    BOOST_TEST(!device.session->open_text(tokens, TextOutputs::kLastLogits).has_value());
  } else {
    device.compute_text(tokens, TextOutputs::kLastLogits);
    check_rows(device.session->evaluate_last(tokens), cpu.evaluate_last(tokens));
  }
}

}  // namespace

// In passes of a few tokens, with recurrent states, and of models that read a text as a whole.
BOOST_AUTO_TEST_CASE(texts_have_the_outputs_of_the_cpu) {
  const StateOptions options{.n_ctx = 128, .n_batch = 10};
  std::vector<TokenId> tokens{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11, 3};
  for (const MadeModel& made : {made_decoder("llama"), made_lfm2(), made_mamba2(), made_dream()})
    BOOST_TEST_CONTEXT(made.architecture) {
      DeviceSession device(options, made.bytes());
      const auto cpu = loaded(device.file, options, Precision::kExact);
      check_text(device, *cpu, tokens, 1e-4);
      // An answer after it begins anew.
      if (cpu->model().hparams().causal)
        check_equal(device.answer(tokens, greedy(), 5), generate(*cpu, tokens, greedy(), 5));
      // More outputs than a pass returns.
      if (!cpu->model().hparams().causal)
        for (size_t i = 0; i < 100; ++i) tokens.push_back(static_cast<TokenId>(i % 30));
      if (tokens.size() > 64) check_text(device, *cpu, tokens, 1e-4);
    }
}

// The encoder reads the prompt in a pass of its own, anew for each answer. Half of the context is a split of cells.
BOOST_AUTO_TEST_CASE(encoder_decoders_answer_as_on_the_cpu) {
  std::vector<TokenId> prompt{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11}, other{7, 3, 3, 12};
  for (size_t i = 0; i < 80; ++i) prompt.push_back(static_cast<TokenId>(i * 5 % 32));
  for (const CacheType type : {CacheType::kF32, CacheType::kF16}) {
    const StateOptions options{.n_ctx = 128, .n_batch = 16, .n_sequences = 2, .cache_types = {type, type}};
    DeviceSession device(options, made_t5(true).bytes());
    Session& s = *device.session;
    const auto cpu = loaded(device.file, options, Precision::kExact);
    GenerateOptions sampled;
    sampled.sampler.seed = 7;
    for (const std::vector<TokenId>& tokens : {prompt, other, prompt}) {
      const Answer want = generate(*cpu, tokens, greedy(), kMost);
      check_equal(device.answer(tokens, greedy(), kMost), want);
      check_equal(device.chosen(tokens, kMost, 3), want);
      check_equal(device.answer(tokens, sampled, kMost), generate(*cpu, tokens, sampled, kMost));
    }
    BOOST_TEST(device.session->device_plan()->encodes);
    // A pass that was discarded is placed again, and the answer after a text encodes its prompt anew.
    const Answer want = generate(*cpu, prompt, greedy(), kMost);
    BOOST_REQUIRE(s.begin_answer(prompt, greedy()).has_value());
    BOOST_REQUIRE(s.prepare(100).has_value());
    s.discard();
    Answer again;
    while (again.tokens.size() < kMost) device.compute(100), device.add(again);
    BOOST_TEST(again.tokens == want.tokens, boost::test_tools::per_element());
    const auto vector = cpu->embed(other);
    device.compute_text(other, TextOutputs::kEmbeddings);
    const auto got = s.embed(other);
    BOOST_REQUIRE(vector.has_value() && got.has_value());
    BOOST_TEST(max_difference(*got, *vector) <= 1e-4);
    BOOST_REQUIRE(s.select(1).has_value());
    check_equal(device.answer(prompt, greedy(), kMost), want);
    for (const TextOutputs outputs : {TextOutputs::kLogits, TextOutputs::kLastLogits})
      BOOST_TEST((s.open_text(other, outputs).error().code == ErrorCode::kUnsupported));
    BOOST_TEST(!s.fork(0, 1).has_value());
  }
  // A context that an answer has filled is free again.
  const StateOptions small{.n_ctx = 20, .n_batch = 16};
  DeviceSession device(small, made_t5(true).bytes());
  const auto cpu = loaded(device.file, small, Precision::kExact);
  const Answer full = generate(*cpu, other, greedy(), 100);
  BOOST_TEST((full.finish == Finish::kContext));
  for (size_t turn = 0; turn < 2; ++turn) check_equal(device.answer(other, greedy(), 100), full);
}

// On the CPU, too, an answer fails where all logits are NaN.
BOOST_AUTO_TEST_CASE(a_device_chooses_no_token_without_logits) {
  const StateOptions options{.n_ctx = 32, .n_batch = 16};
  std::vector<uint8_t> file = made_llama().bytes();
  const auto whole = loaded(file, options, Precision::kExact);
  for (size_t i = 0; i < whole->n_planned(); ++i)
    if (const TensorEntry& entry = whole->planned(i).entry; entry.name == "output_norm.weight")
      std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(entry.offset), entry.n_bytes, uint8_t{255});
  const std::vector<TokenId> prompt{1, 2, 3};
  const auto cpu = loaded(file, options, Precision::kExact);
  BOOST_REQUIRE(cpu->begin_answer(prompt, greedy()).has_value());
  BOOST_REQUIRE(cpu->advance(prompt.size()).has_value());
  const auto want = cpu->next();
  DeviceSession device(options, file);
  BOOST_REQUIRE(device.session->begin_answer(prompt, greedy()).has_value());
  const auto pass = device.session->prepare(prompt.size());
  BOOST_REQUIRE(pass.has_value());
  device.run(*pass);
  const uint32_t chosen = device.device->words(device.session->device_plan()->chosen)[0];
  const Result<void> got = device.session->accept_chosen(static_cast<TokenId>(chosen));
  BOOST_REQUIRE(!want.has_value());
  BOOST_REQUIRE(!got.has_value());
  BOOST_TEST(got.error().message == want.error().message);
}

BOOST_AUTO_TEST_CASE(pooled_vectors_are_those_of_the_cpu,
                     *boost::unit_test::precondition(needs_shared("vectors/pooling"))) {
  const StateOptions options{.n_ctx = 64, .n_batch = 16};
  const std::vector<TokenId> tokens{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11};
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/pooling"))) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    BOOST_TEST_CONTEXT(name) {
      const auto file = read_file(entry.path() / "model.gguf");
      const auto cpu = loaded(file, options, Precision::kExact);
      if (cpu->model().has_encoder()) continue;
      DeviceSession device(options, file);
      check_text(device, *cpu, tokens, 2e-4);
    }
  }
}

// A context in which an indexer selects all positions.
BOOST_AUTO_TEST_CASE(short_contexts_need_no_selection, *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  const std::vector<TokenId> prompt{5, 9, 30, 2};
  for (const auto& [name, n_ctx] :
       {std::pair("deepseek32", 6u), std::pair("glm-dsa-shared-indexer", 6u), std::pair("minimax-m3-sparse", 8u)})
    BOOST_TEST_CONTEXT(name) {
      const auto file = read_file(shared("vectors/arch") / name / "model.gguf");
      const StateOptions options{.n_ctx = n_ctx, .n_batch = 4};
      DeviceSession device(options, file);
      const auto cpu = loaded(file, options, Precision::kExact);
      check_equal(device.answer(prompt, greedy(), 2), generate(*cpu, prompt, greedy(), 2));
      check_text(device, *cpu, prompt, 2e-4);
      const HeaderBytes header{file, file.size()};
      auto longer = Session::open({&header, 1}, 1);
      BOOST_REQUIRE(longer.has_value());
      BOOST_TEST(!(*longer)->plan_device({.n_ctx = n_ctx + 1, .n_batch = 4}, {}).has_value());
    }
}

// A session on the CPU continues where one on a device stopped.
BOOST_AUTO_TEST_CASE(another_session_continues_an_answer) {
  const StateOptions options{.n_ctx = 128, .n_batch = 32};
  const auto file = read_file(fixture("stories.gguf"));
  const auto first = loaded(file, options, Precision::kExact), second = loaded(file, options, Precision::kExact);
  const std::vector<TokenId> prompt = encoded(*first, kPrompt);
  GenerateOptions sampled;
  sampled.sampler.seed = 7;
  sampled.sampler.repeat_penalty = 1.3f;
  GenerateOptions stopped = greedy();
  stopped.stop = {"little girl"};
  GenerateOptions grammar = greedy();
  grammar.grammar = "root ::= [a-z ]+ \".\"";
  for (const GenerateOptions& o : {greedy(), sampled, stopped, grammar}) {
    const Answer want = generate(*first, prompt, o, kMost);
    for (const size_t n : {size_t{1}, want.tokens.size() / 2}) {
      BOOST_REQUIRE(second->begin_answer(prompt, o).has_value());
      BOOST_REQUIRE(second->resume_answer(std::span(want.tokens).first(n)).has_value());
      BOOST_TEST(second->n_waiting() >= n);
      std::vector<TokenId> tokens(want.tokens.begin(), want.tokens.begin() + static_cast<std::ptrdiff_t>(n));
      std::string text;
      Finish finish = Finish::kNone;
      while (finish == Finish::kNone && tokens.size() < kMost) {
        const Result<Step> step = second->next();
        BOOST_REQUIRE_MESSAGE(step.has_value(), (step ? "" : step.error().message));
        if (step->token != kNoToken) tokens.push_back(step->token);
        text += step->text;
        finish = step->finish;
      }
      BOOST_TEST(tokens == want.tokens, boost::test_tools::per_element());
      BOOST_TEST(want.text.ends_with(text));
      BOOST_TEST((finish == want.finish));
    }
  }
  BOOST_REQUIRE(second->begin_answer(prompt, grammar).has_value());
  const TokenId bad[] = {-1}, many[] = {1 << 30}, digit[] = {encoded(*second, "7").back()};
  BOOST_TEST(!second->resume_answer(bad).has_value());
  BOOST_TEST(!second->resume_answer(many).has_value());
  BOOST_TEST(!second->resume_answer(digit).has_value());
}

BOOST_AUTO_TEST_CASE(misuse_is_an_error) {
  DeviceSession device({.n_ctx = 64, .n_batch = 16});
  Session& s = *device.session;
  const std::vector<TokenId> prompt = encoded(s, kPrompt);
  BOOST_TEST(!s.accept({}).has_value());
  BOOST_REQUIRE(s.begin_answer(prompt, greedy()).has_value());
  BOOST_TEST(!s.next().has_value());
  const auto pass = s.prepare(100);
  BOOST_REQUIRE(pass.has_value());
  BOOST_TEST(!s.prepare(1).has_value());
  BOOST_TEST(!s.accept({}).has_value());
  BOOST_TEST(!s.accept_chosen(1 << 30).has_value());
  s.discard();
  BOOST_TEST(s.n_in_flight() == 0u);
  // A discarded pass is placed again.
  device.compute(100);
  BOOST_TEST(s.next().has_value());
  BOOST_TEST(!s.save_state().has_value());
  BOOST_TEST(!s.evaluate(prompt).has_value());
  // A text that the device has not computed, or not as a whole, or another one.
  BOOST_TEST(!s.open_text({}, TextOutputs::kLogits).has_value());
  BOOST_REQUIRE(s.open_text(prompt, TextOutputs::kLogits).has_value());
  BOOST_REQUIRE(s.prepare_text().has_value());
  BOOST_TEST(!s.prepare_text().has_value());
  BOOST_TEST(!s.accept_text({}).has_value());
  BOOST_TEST(!s.evaluate(prompt).has_value());
  device.compute_text(prompt, TextOutputs::kLogits);
  BOOST_TEST(!s.embed(prompt).has_value());
  device.compute_text(prompt, TextOutputs::kEmbeddings);
  BOOST_TEST(!s.embed(std::span(prompt).first(3)).has_value());
  BOOST_TEST(!s.embed(prompt).has_value());
  device.compute_text(prompt, TextOutputs::kEmbeddings);
  BOOST_TEST(s.embed(prompt).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
