// Draft models that keep keys and values of their target's states, or read its cache: Gemma 4's assistants and DFlash,
// compared with llama.cpp's results for models of the project (tests/fixtures/record-drafts.cpp).
#include "draft_data.hpp"
#include "model/mixers/block_draft.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_drafts_of_states, *boost::unit_test::label("floats"))

namespace {

struct StatePair {
  std::string_view draft, target;
};

constexpr StatePair kStatePairs[] = {{"draft/gemma4-assistant", "draft/gemma4"},
                                     {"draft/dflash-plain", "arch/llama"},
                                     {"draft/dflash-markov", "arch/llama"},
                                     {"draft/dflash-gemma4", "draft/gemma4"},
                                     {"draft/dflash-selector", "arch/llama"}};

std::filesystem::path golden(std::string_view name) { return fixture("golden") / std::string(name); }

// llama.cpp computes GELU with a table of halves.
constexpr double kGeluTolerance = 0.02;

constexpr int32_t kNext = 70;  // the token after the prompt in record-drafts.cpp

}  // namespace

BOOST_AUTO_TEST_CASE(an_assistant_agrees_with_llama_cpp) {
  const auto pool = make_pool(2);
  const auto folder = golden("draft/gemma4-assistant");
  const auto target_file = parse_file(read_file(golden("draft/gemma4") / "model.gguf"));
  const LoadedModel target = load_model(*target_file, *pool);
  const auto file = parse_file(read_file(folder / "model.gguf"));
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
  Model& draft = *loaded.model;
  BOOST_REQUIRE(draft.set_target(*target.model));
  const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
  const std::vector<int32_t> proposed = json_integers(read_text(folder / "proposed.json"), "");
  const auto cache = make_state(*target.model, *pool, {.n_batch = 10});
  Watched read = run_watched(*target.model, *cache, *pool, tokens, {}, {target.model->hparams().n_layer});
  std::vector<float> states(tokens.size() * kDraftWidth);
  fuse_states(draft, *pool, read.seen, states.data());
  BOOST_TEST(max_difference(states, read_floats(folder / "states.f32")) <= kGeluTolerance);

  const std::vector<float> logits = read_floats(folder / "logits.f32"), hidden = read_floats(folder / "hidden.f32");
  const auto state = make_state(draft, *pool, {});
  std::vector<float> last(states.end() - kDraftWidth, states.end()), out(draft.n_output()),
      seen(draft.hparams().n_embd);
  const int32_t position = static_cast<int32_t>(tokens.size());
  const std::vector<uint32_t> watched{draft.hparams().n_layer};
  for (size_t i = 0; i + 1 < proposed.size(); ++i) {
    Batch batch;
    batch.tokens = {&proposed[i], 1};
    batch.positions = {&position, 1};
    batch.inputs = last;
    batch.watched = watched;
    batch.seen = seen.data();
    BOOST_TEST((forward(draft, *state, *pool, batch, out.data()).error().code == ErrorCode::kUnsupported));
    batch.target = cache.get();
    const Result<void> done = forward(draft, *state, *pool, batch, out.data());
    BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
    BOOST_TEST(max_difference(out, std::span(logits).subspan(i * out.size(), out.size())) <= kGeluTolerance);
    BOOST_TEST(argmax(out) == proposed[i + 1]);
    next_states(draft, *pool, seen, last.data());
    BOOST_TEST(max_difference(last, std::span(hidden).subspan(i * kDraftWidth, kDraftWidth)) <= kGeluTolerance);
  }
}

BOOST_AUTO_TEST_CASE(block_drafts_agree_with_llama_cpp) {
  const auto pool = make_pool(2);
  for (const StatePair& pair : std::span(kStatePairs).subspan(1)) {
    BOOST_TEST_CONTEXT(std::string(pair.draft)) {
      const auto folder = golden(pair.draft);
      const auto target_file = parse_file(read_file(golden(pair.target) / "model.gguf"));
      const LoadedModel target = load_model(*target_file, *pool);
      const auto file = parse_file(read_file(folder / "model.gguf"));
      const LoadedModel loaded = load_model(*file, *pool);
      BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
      Model& draft = *loaded.model;
      BOOST_REQUIRE(draft.set_target(*target.model));
      const DraftSizes& d = draft.hparams().part<DraftSizes>();
      const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
      Watched read = run_watched(*target.model, *make_state(*target.model, *pool, {.n_batch = 10}), *pool, tokens, {},
                                 d.target_layers);
      std::vector<float> states(tokens.size() * kDraftWidth);
      fuse_states(draft, *pool, read.seen, states.data());
      const double tolerance = pair.target == "draft/gemma4" ? kGeluTolerance : 2e-4;
      BOOST_TEST(max_difference(read.seen, read_floats(folder / "features.f32")) <= tolerance);
      BOOST_TEST(max_difference(states, read_floats(folder / "states.f32")) <= tolerance);

      const auto state = make_state(draft, *pool, {.n_batch = 7});
      Batch batch;
      batch.tokens = tokens;
      batch.inputs = states;
      const std::vector<uint8_t> none(tokens.size(), 0);
      batch.output_mask = none;
      BOOST_REQUIRE(forward(draft, *state, *pool, batch, nullptr).has_value());
      std::vector<int32_t> block(5, static_cast<int32_t>(d.mask));
      block[0] = kNext;
      std::vector<float> out(block.size() * draft.n_output()), seen(block.size() * kDraftWidth);
      const std::vector<uint32_t> watched{draft.hparams().n_layer};
      Batch masks;
      masks.tokens = block;
      masks.both_ways = !d.causal;
      masks.watched = watched;
      masks.seen = seen.data();
      const Result<void> done = forward(draft, *state, *pool, masks, out.data());
      BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
      const std::vector<int32_t> chosen = choose_block(draft, *pool, kNext, out, seen);
      // llama.cpp's logits include DSpark's bias. A selector's are compared by what it chooses.
      const std::vector<float> want = finite_logits(read_floats(folder / "logits.f32"));
      for (float& x : out) x = std::max(x, -FLT_MAX);
      BOOST_TEST(max_difference(out, want) <= tolerance);
      BOOST_TEST(chosen == json_integers(read_text(folder / "proposed.json"), ""), boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(drafts_from_states_do_not_change_the_answer) {
  const StateOptions options{.n_ctx = 120, .n_batch = 10, .n_sequences = 2};
  for (const StatePair& pair : kStatePairs) {
    BOOST_TEST_CONTEXT(std::string(pair.draft)) {
      const auto file = read_file(golden(pair.draft) / "model.gguf");
      const std::vector<int32_t> prompt = json_integers(read_text(golden(pair.draft) / "tokens.json"), "");
      const auto draft = with_weights(file);
      BOOST_TEST((draft->start(options).error().code == ErrorCode::kUnsupported));  // without its target
      const auto target = loaded(read_file(golden(pair.target) / "model.gguf"), options, Precision::kExact);
      const Result<void> set = target->set_draft(*draft);
      BOOST_REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().message));
      BOOST_REQUIRE(draft->start(options).has_value());
      BOOST_TEST(draft->memory(options, Precision::kExact)->weights == draft->model().loaded_bytes());
      auto [plain, drafted] = with_and_without_draft();
      for (const float temperature : {0.0f, 1.5f}) {
        plain.sampler.temperature = drafted.sampler.temperature = temperature;
        check_same_answer(*target, prompt, {plain, drafted}, 60);
      }
      BOOST_REQUIRE(target->fork(0, 1).has_value() && target->select(1).has_value());
      std::vector<int32_t> other(prompt.begin(), prompt.begin() + 15);
      other.push_back(7);
      check_same_answer(*target, other, {plain, drafted}, 30);
      drafted.shift = true;
      BOOST_TEST(generate(*target, other, drafted, 200).tokens.size() == 200u);
    }
  }
}

// With an output of zeros for every token but one, draft and target agree.
BOOST_AUTO_TEST_CASE(proposals_from_states_are_accepted) {
  const StateOptions options{.n_ctx = 120, .n_batch = 10};
  for (const StatePair& pair : kStatePairs) {
    BOOST_TEST_CONTEXT(std::string(pair.draft)) {
      auto file = read_file(golden(pair.draft) / "model.gguf");
      const auto header = parse_file(file);
      for (const TensorInfo& info : header->state.header.tensors)
        if (header->gguf().text(info.name) == "output_norm.weight")
          std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(info.offset), static_cast<size_t>(info.n_bytes),
                      uint8_t{0});
      const auto draft = with_weights(file);
      const auto target = loaded(read_file(golden(pair.target) / "model.gguf"), options, Precision::kExact);
      BOOST_REQUIRE(target->set_draft(*draft).has_value() && draft->start(options).has_value());
      const std::vector<int32_t> prompt = json_integers(read_text(golden(pair.draft) / "tokens.json"), "");
      GenerateOptions drafted = greedy();
      drafted.n_draft = 4;
      drafted.fixed_drafts = true;
      drafted.ignore_end = true;
      // What the draft proposes without its norm does not depend on the text, but with DSpark on the token before.
      const int32_t token = pair.draft == "draft/dflash-selector" ? kNext : 0;
      drafted.sampler.logit_bias = {{token, 100.0f}};
      const Answer answer = generate(*target, prompt, drafted, 40);
      BOOST_TEST(answer.tokens == std::vector<TokenId>(40, token), boost::test_tools::per_element());
      if (!pair.draft.ends_with("markov") && !pair.draft.ends_with("-gemma4") && token == 0)
        BOOST_TEST(target->n_accepted_drafts() >= 28u);
    }
  }
}

BOOST_AUTO_TEST_CASE(drafts_from_states_of_other_models_are_refused) {
  for (const StatePair& pair : kStatePairs) {
    const auto file = read_file(golden(pair.draft) / "model.gguf");
    const auto draft = with_weights(file);
    const std::string_view other = pair.target == "arch/llama" ? "draft/mtp-glm4moe" : "arch/llama";
    const auto stories = loaded(64);
    BOOST_TEST((stories->set_draft(*draft).error().code == ErrorCode::kInvalidArgument));
    const auto mamba = loaded(read_file(golden("arch/mamba") / "model.gguf"), {.n_ctx = 64});
    BOOST_TEST((mamba->set_draft(*draft).error().code == ErrorCode::kInvalidArgument));
    if (!pair.draft.ends_with("assistant")) continue;
    const auto llama = loaded(read_file(golden(other) / "model.gguf"), {.n_ctx = 64});
    BOOST_TEST((llama->set_draft(*draft).error().code == ErrorCode::kInvalidArgument));
  }
}

BOOST_AUTO_TEST_SUITE_END()
