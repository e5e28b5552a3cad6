// Models that read more than tokens, or compute no text: EAGLE-3's draft models, MTP heads and WavTokenizer's decoder,
// compared with llama.cpp's results for models of the project (tests/fixtures/record-drafts.cpp).
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cfloat>

#include "draft_data.hpp"
#include "model/architectures/architecture.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/wavtokenizer.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_drafts, *boost::unit_test::label("floats"))

BOOST_AUTO_TEST_CASE(the_decoder_of_wavtokenizer_agrees_with_llama_cpp) {
  const auto folder = fixture("golden/codec/wavtokenizer-dec");
  const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
  const std::vector<float> want = read_floats(folder / "output.f32");
  for (const Precision precision : {Precision::kExact, Precision::kFast})
    for (const size_t n_threads : {1u, 3u}) {
      const auto pool = make_pool(n_threads);
      const auto file = parse_file(read_file(folder / "model.gguf"));
      const LoadedModel loaded = load_model(*file, *pool, precision);
      BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
      const StateOptions options{.n_ctx = 64, .n_batch = 64};
      const auto state = make_state(*loaded.model, *pool, options);
      const std::vector<float> got = evaluate(*loaded.model, *state, *pool, tokens);
      const double difference = max_difference(got, want);
      BOOST_TEST_MESSAGE("wavtokenizer-dec differs by " << difference);
      BOOST_TEST(difference <= (precision == Precision::kExact ? 2e-3 : 2e-2));
      BOOST_TEST(state->allocated_bytes() + loaded.model->loaded_bytes() ==
                 loaded.model->memory(options, precision, pool->n_threads())->total());
      // Only some of the frames.
      Batch batch;
      batch.tokens = tokens;
      std::vector<uint8_t> wanted(tokens.size());
      wanted[3] = wanted[20] = 1;
      batch.output_mask = wanted;
      std::vector<float> some(2 * loaded.model->n_output());
      BOOST_REQUIRE(forward(*loaded.model, *state, *pool, batch, some.data()).has_value());
      const size_t n = loaded.model->n_output();
      BOOST_TEST(max_difference(std::span(some).first(n), std::span(got).subspan(3 * n, n)) <= 1e-5);
      BOOST_TEST(max_difference(std::span(some).last(n), std::span(got).subspan(20 * n, n)) <= 1e-5);
    }
}

BOOST_AUTO_TEST_CASE(each_part_of_wavtokenizers_decoder_matters) {
  const auto folder = fixture("golden/codec/wavtokenizer-dec");
  const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
  const std::vector<float> want = read_floats(folder / "output.f32");
  const auto pool = make_pool();
  const auto file = parse_file(read_file(folder / "model.gguf"));
  const Architecture& row = **find_architecture("wavtokenizer-dec");
  const auto difference = [&](auto alter) {
    Hparams hparams = *read_hparams(file->gguf(), row);
    alter(hparams);
    const Gguf gguf = file->gguf();
    const ModelFile whole{&gguf, file->bytes.size()};
    auto model = Model::open(row, std::move(hparams), *tensor_entries({&whole, 1}));
    BOOST_REQUIRE(model.has_value());
    BOOST_REQUIRE(load_weights(**model, *pool, file->bytes).has_value());
    return max_difference(evaluate(**model, *make_state(**model, *pool, {.n_ctx = 64}), *pool, tokens), want);
  };
  BOOST_TEST(difference([](Hparams&) {}) <= 2e-3);
  BOOST_TEST(difference([](Hparams& h) { h.parts.edit<CodecSizes>().n_groups = 4; }) > 0.02);
  BOOST_TEST(difference([](Hparams& h) { h.parts.edit<CodecSizes>().group_eps = 0.1f; }) > 0.02);
  BOOST_TEST(difference([](Hparams& h) { h.norm_eps = 0.1f; }) > 0.02);
  BOOST_TEST(difference([](Hparams& h) { h.attention_scale = 3; }) > 0.02);
}

BOOST_AUTO_TEST_CASE(frames_of_two_sequences_are_refused) {
  const auto pool = make_pool();
  const auto file = parse_file(read_file(fixture("golden/codec/wavtokenizer-dec/model.gguf")));
  const LoadedModel loaded = load_model(*file, *pool);
  const auto state = make_state(*loaded.model, *pool, {.n_ctx = 64, .n_sequences = 2});
  const std::vector<int32_t> tokens{1, 2}, sequences{0, 1};
  std::vector<float> out(2 * loaded.model->n_output());
  Batch batch;
  batch.tokens = tokens;
  batch.sequences = sequences;
  BOOST_TEST((forward(*loaded.model, *state, *pool, batch, out.data()).error().code == ErrorCode::kUnsupported));
}

BOOST_AUTO_TEST_CASE(eagle3_agrees_with_llama_cpp) {
  const auto pool = make_pool(2);
  const auto target_file = parse_file(read_file(fixture("golden/arch/llama/model.gguf")));
  const LoadedModel target = load_model(*target_file, *pool);
  for (const std::string name : {"eagle3", "eagle3-own"}) {
    const auto folder = fixture("golden/draft") / name;
    const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
    const std::vector<int32_t> proposed = json_integers(read_text(folder / "proposed.json"), "");
    const auto file = parse_file(read_file(folder / "model.gguf"));
    const LoadedModel loaded = load_model(*file, *pool);
    BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
    Model& draft = *loaded.model;
    BOOST_REQUIRE(draft.set_target(*target.model));
    const DraftSizes& sizes = draft.hparams().part<DraftSizes>();

    const std::vector<uint32_t> layers(sizes.target_layers.begin(), sizes.target_layers.end());
    Watched read =
        run_watched(*target.model, *make_state(*target.model, *pool, {.n_batch = 10}), *pool, tokens, {}, layers);
    const double d_read = max_difference(read.seen, read_floats(folder / "features.f32"));
    std::vector<float> states(tokens.size() * kDraftWidth);
    fuse_states(draft, *pool, read.seen, states.data());
    const double d_states = max_difference(states, read_floats(folder / "states.f32"));

    const auto state = make_state(draft, *pool, {.n_batch = 7});
    const auto first = std::span(states).first((tokens.size() - 1) * kDraftWidth);
    const Watched got = run_watched(draft, *state, *pool, std::span(tokens).subspan(1), first, {1});
    const double d_logits = max_difference(got.out, finite_logits(read_floats(folder / "logits.f32")));
    const double d_hidden = max_difference(got.seen, read_floats(folder / "hidden.f32"));
    BOOST_TEST_MESSAGE(name << " differs by " << d_read << ", " << d_states << ", " << d_logits << ", " << d_hidden);
    BOOST_TEST(std::max({d_read, d_states, d_logits, d_hidden}) <= 2e-4, name);

    // What it proposes reads its own states.
    std::vector<float> logits(got.out.end() - static_cast<std::ptrdiff_t>(draft.n_output()), got.out.end());
    std::vector<float> last(got.seen.end() - kDraftWidth, got.seen.end());
    for (const int32_t id : proposed) {
      BOOST_REQUIRE(argmax(logits) == id);
      Watched next = run_watched(draft, *state, *pool, std::span(&id, 1), last, {1});
      logits = next.out;
      last = next.seen;
    }
  }
}

BOOST_AUTO_TEST_CASE(drafts_of_eagle3_do_not_change_the_answer) {
  const auto target_file = read_file(fixture("golden/arch/llama/model.gguf"));
  const std::vector<int32_t> prompt = json_integers(read_text(fixture("golden/draft/eagle3/tokens.json")), "");
  const StateOptions options{.n_ctx = 120, .n_batch = 10, .n_sequences = 2};
  for (const std::string name : {"eagle3", "eagle3-own"}) {
    const auto file = read_file(fixture("golden/draft") / name / "model.gguf");
    const auto draft = with_weights(file);
    BOOST_TEST((draft->start(options).error().code == ErrorCode::kUnsupported));  // without its target
    const auto target = loaded(target_file, options, Precision::kExact);
    const Result<void> set = target->set_draft(*draft);
    BOOST_REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().message));
    BOOST_REQUIRE(draft->start(options).has_value());
    auto [plain, drafted] = with_and_without_draft();
    for (const float temperature : {0.0f, 1.5f}) {
      plain.sampler.temperature = drafted.sampler.temperature = temperature;
      check_same_answer(*target, prompt, {plain, drafted}, 60);
    }
    // A copy, a prompt that begins alike, and a text that outgrows the context.
    BOOST_REQUIRE(target->fork(0, 1).has_value() && target->select(1).has_value());
    std::vector<int32_t> other(prompt.begin(), prompt.begin() + 15);
    other.push_back(7);
    check_same_answer(*target, other, {plain, drafted}, 30);
    drafted.shift = true;
    BOOST_TEST(generate(*target, other, drafted, 300).tokens.size() == 300u);
    // A restored text has no states, so nothing is proposed for it.
    const auto saved = target->save_state();
    BOOST_REQUIRE(saved.has_value());
    BOOST_REQUIRE(target->select(0).has_value() && target->load_state(*saved).has_value());
    BOOST_TEST(generate(*target, other, drafted, 20).tokens.size() == 20u);
  }
}

// A draft model that knows only one token, which the sampler prefers: each of its proposals is accepted.
BOOST_AUTO_TEST_CASE(proposals_of_eagle3_are_accepted) {
  constexpr int32_t kToken = 77;
  auto file = read_file(fixture("golden/draft/eagle3/model.gguf"));
  const auto header = parse_file(file);
  for (const TensorInfo& info : header->state.header.tensors)
    for (uint64_t i = 0; header->gguf().text(info.name) == "d2t" && i < info.shape[0]; ++i)
      store(&file[static_cast<size_t>(info.offset + 8 * i)], int64_t{kToken});
  const StateOptions options{.n_ctx = 120, .n_batch = 10};
  const auto draft = with_weights(file);
  const auto target = loaded(read_file(fixture("golden/arch/llama/model.gguf")), options, Precision::kExact);
  BOOST_REQUIRE(target->set_draft(*draft).has_value() && draft->start(options).has_value());
  GenerateOptions drafted = greedy();
  drafted.n_draft = 4;
  drafted.fixed_drafts = true;
  drafted.sampler.logit_bias = {{kToken, 100.0f}};
  const std::vector<int32_t> prompt = json_integers(read_text(fixture("golden/draft/eagle3/tokens.json")), "");
  const Answer answer = generate(*target, prompt, drafted, 50);
  BOOST_TEST(answer.tokens == std::vector<TokenId>(50, kToken), boost::test_tools::per_element());
  BOOST_TEST(target->n_accepted_drafts() >= 38u);  // four of five tokens
}

BOOST_AUTO_TEST_CASE(a_draft_model_of_another_target_is_refused) {
  const auto file = read_file(fixture("golden/draft/eagle3/model.gguf"));
  const auto draft = with_weights(file);
  const auto stories = loaded(64);
  BOOST_TEST((stories->set_draft(*draft).error().code == ErrorCode::kInvalidArgument));
  const auto mamba = loaded(read_file(fixture("golden/arch/mamba/model.gguf")), {.n_ctx = 64});
  BOOST_TEST((mamba->set_draft(*draft).error().code == ErrorCode::kInvalidArgument));
  BOOST_TEST((stories->set_draft(*mamba).error().code == ErrorCode::kUnsupported));
  const auto codec = with_weights(read_file(fixture("golden/codec/wavtokenizer-dec/model.gguf")));
  BOOST_TEST(stories->set_draft(*codec).error().message ==
             "wavtokenizer-dec computes a text as a whole: it can be neither a draft model nor have one");
  std::vector<float> out(draft->model().n_output());
  const auto pool = make_pool();
  const std::vector<int32_t> token{1};
  Batch batch;
  batch.tokens = token;
  const auto state = make_state(draft->model(), *pool, {});
  BOOST_TEST((forward(draft->model(), *state, *pool, batch, out.data()).error().code == ErrorCode::kUnsupported));
}

namespace {

constexpr std::string_view kMtpModels[] = {
    "glm4moe",    "deepseek2", "hy_v3",      "mimo2",       "step35",    "qwen35",         "qwen35moe", "qwen3next",
    "deepseek32", "glm-dsa",   "cohere2moe", "bailingmoe3", "glm5-next", "nemotron_h_moe", "qwen4exp",  "deepseek4"};

std::filesystem::path mtp_folder(std::string_view name) {
  return fixture("golden/draft") / ("mtp-" + std::string(name));
}

}  // namespace

BOOST_AUTO_TEST_CASE(mtp_heads_agree_with_llama_cpp) {
  const auto pool = make_pool(2);
  for (const std::string_view name : kMtpModels) {
    const auto folder = mtp_folder(name);
    const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
    const auto file = parse_file(read_file(folder / "model.gguf"));
    const LoadedModel target = load_model(*file, *pool);
    BOOST_REQUIRE_MESSAGE(target.model != nullptr, target.error);
    const Gguf gguf = file->gguf();
    const ModelFile whole{&gguf, file->bytes.size()};
    auto head = Model::open({&whole, 1}, true);
    BOOST_REQUIRE_MESSAGE(head.has_value(), (head ? "" : head.error().message));
    Model& draft = **head;
    BOOST_REQUIRE(load_weights(draft, *pool, file->bytes).has_value());
    BOOST_REQUIRE(draft.set_target(*target.model));

    const uint32_t n_layer = target.model->hparams().n_layer;
    Watched read =
        run_watched(*target.model, *make_state(*target.model, *pool, {.n_batch = 10}), *pool, tokens, {}, {n_layer});
    const size_t width = draft.n_input();
    std::vector<float> states(tokens.size() * width);
    fuse_states(draft, *pool, read.seen, states.data());
    const double d_states = max_difference(states, read_floats(folder / "states.f32"));

    const auto state = make_state(draft, *pool, {.n_batch = 7});
    const auto first = std::span(states).first((tokens.size() - 1) * width);
    Watched got = run_watched(draft, *state, *pool, std::span(tokens).subspan(1), first, {1});
    norm_mtp_states(draft, draft, *pool, got.seen, got.seen.data());
    const double d_logits = max_difference(got.out, read_floats(folder / "logits.f32"));
    const double d_hidden = max_difference(got.seen, read_floats(folder / "hidden.f32"));
    BOOST_TEST_MESSAGE(name << " differs by " << d_states << ", " << d_logits << ", " << d_hidden);
    BOOST_TEST(std::max({d_states, d_logits, d_hidden}) <= 2e-4, name);

    // What it proposes reads its own states.
    std::vector<float> logits(got.out.end() - static_cast<std::ptrdiff_t>(draft.n_output()), got.out.end());
    std::vector<float> last(got.seen.end() - static_cast<std::ptrdiff_t>(width), got.seen.end());
    for (const int32_t id : json_integers(read_text(folder / "proposed.json"), "")) {
      BOOST_REQUIRE(argmax(logits) == id);
      Watched next = run_watched(draft, *state, *pool, std::span(&id, 1), last, {1});
      logits = next.out;
      norm_mtp_states(draft, draft, *pool, next.seen, last.data());
    }
  }
}

BOOST_AUTO_TEST_CASE(drafts_of_mtp_heads_do_not_change_the_answer) {
  const StateOptions options{.n_ctx = 160, .n_batch = 10, .n_sequences = 2};
  for (const std::string_view name : kMtpModels) {
    const auto file = read_file(mtp_folder(name) / "model.gguf");
    const std::vector<int32_t> prompt = json_integers(read_text(mtp_folder(name) / "tokens.json"), "");
    const auto head = with_weights(file, Precision::kExact, 1, true);
    BOOST_TEST((head->start(options).error().code == ErrorCode::kUnsupported));  // without its target
    const auto target = loaded(file, options, Precision::kExact);
    BOOST_TEST(head->model().loaded_bytes() < target->model().loaded_bytes());
    const Result<void> set = target->set_draft(*head);
    BOOST_REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().message));
    BOOST_REQUIRE(head->start(options).has_value());
    BOOST_TEST(head->memory(options, Precision::kExact)->weights == head->model().loaded_bytes());
    auto [plain, drafted] = with_and_without_draft();
    for (const float temperature : {0.0f, 1.5f}) {
      plain.sampler.temperature = drafted.sampler.temperature = temperature;
      check_same_answer(*target, prompt, {plain, drafted}, 60);
    }
    BOOST_REQUIRE(target->fork(0, 1).has_value() && target->select(1).has_value());
    check_same_answer(*target, prompt, {plain, drafted}, 30);
  }
}

// An output of zeros prefers the first token. If the sampler does, too, each proposal is accepted.
BOOST_AUTO_TEST_CASE(proposals_of_mtp_heads_are_accepted_or_pause) {
  for (const auto& [name, output] : {std::pair("hy_v3", "shared_head_head.weight"),
                                     {"qwen35", "output.weight"},
                                     {"glm5-next", "output.weight"},
                                     {"nemotron_h_moe", "output.weight"},
                                     {"qwen4exp", "output.weight"},
                                     {"deepseek4", "output.weight"}}) {
    auto file = read_file(mtp_folder(name) / "model.gguf");
    const auto header = parse_file(file);
    for (const TensorInfo& info : header->state.header.tensors)
      if (const auto tensor = header->gguf().text(info.name); tensor.ends_with(output) && !tensor.contains("attn"))
        std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(info.offset), static_cast<size_t>(info.n_bytes),
                    uint8_t{0});
    const StateOptions options{.n_ctx = 120, .n_batch = 10};
    const auto head = with_weights(file, Precision::kExact, 1, true);
    const auto target = loaded(file, options, Precision::kExact);
    BOOST_REQUIRE(target->set_draft(*head).has_value() && head->start(options).has_value());
    GenerateOptions drafted = greedy();
    drafted.n_draft = 4;
    drafted.fixed_drafts = true;
    drafted.ignore_end = true;
    drafted.sampler.logit_bias = {{0, 100.0f}};
    const std::vector<int32_t> prompt = json_integers(read_text(mtp_folder(name) / "tokens.json"), "");
    BOOST_TEST(generate(*target, prompt, drafted, 50).tokens == std::vector<TokenId>(50, 0),
               boost::test_tools::per_element());
    BOOST_TEST(target->n_accepted_drafts() >= 38u, name);  // four of five tokens
    drafted.fixed_drafts = false;
    BOOST_TEST(generate(*target, prompt, drafted, 50).tokens == std::vector<TokenId>(50, 0),
               boost::test_tools::per_element());
    BOOST_TEST(target->n_accepted_drafts() >= 1u, name);
    // If each proposal is refused, at most every ninth round has one.
    drafted.sampler.logit_bias = {{1, 100.0f}};
    (void)target->take_profile();
    BOOST_TEST(generate(*target, prompt, drafted, 50).tokens == std::vector<TokenId>(50, 1),
               boost::test_tools::per_element());
    BOOST_TEST(target->n_accepted_drafts() == 0u, name);
    uint64_t n_passes = 0;  // over several tokens, also of the prompt and of tokens that the head had not computed
    for (const Profile::Row& row : target->take_profile())
      if (row.key.operation == Operation::kPass && !row.key.one_token) n_passes += row.calls;
    BOOST_TEST(n_passes < 40u, name << ": " << n_passes);
  }
}

BOOST_AUTO_TEST_CASE(an_mtp_head_of_another_model_is_refused) {
  const auto file = read_file(mtp_folder("glm4moe") / "model.gguf");
  const auto head = with_weights(file, Precision::kExact, 1, true);
  for (const auto& other : {mtp_folder("hy_v3") / "model.gguf", fixture("golden/arch/llama/model.gguf")})
    BOOST_TEST((loaded(read_file(other), {.n_ctx = 64})->set_draft(*head).error().code == ErrorCode::kInvalidArgument));
  // A file without heads is a whole draft model.
  BOOST_TEST(!with_weights(read_file(fixture("golden/arch/llama/model.gguf")), Precision::kExact, 1, true)
                  ->model()
                  .hparams()
                  .part<DraftSizes>()
                  .n_features);
}

BOOST_AUTO_TEST_SUITE_END()
