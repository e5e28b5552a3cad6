// Compares every architecture of the registry with llama.cpp's logits, and tests that states keep everything.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "model/architectures/architecture.hpp"
#include "model/pooling.hpp"
#include "model/rwkv_container.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model, *boost::unit_test::label("floats"))

namespace {

// Folders with a model and llama.cpp's results, relative to shared/vectors.
std::vector<std::string> vector_names() {
  std::vector<std::string> names;
  for (const std::string pack : {"arch", "new/arch"}) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(shared("vectors") / pack, missing))
      if (entry.is_directory()) names.push_back(pack + "/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool can_run(const std::string& name) {
  const std::string meta = read_text(shared("vectors") / name / "meta.json");
  return find_architecture(json_string(meta, "arch")).has_value();
}

// The outputs of the tokens, or the scores of their options if tokens.json says where these are.
std::vector<float> results(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens,
                           const std::string& tokens_text) {
  std::vector<float> out = evaluate(model, state, pool, tokens);
  const std::vector<int32_t> order = json_integers(tokens_text, "order");
  if (order.empty()) return out;
  std::vector<DecisionPart> parts;
  for (const int32_t part : order) parts.push_back(static_cast<DecisionPart>(part));
  auto scores = score_options(model, pool, tokens, parts, out.data());
  BOOST_REQUIRE_MESSAGE(scores.has_value(), (scores ? "" : scores.error().message));
  return *scores;
}

void check_model(const std::string& name, const std::filesystem::path& folder) {
  const std::string meta = read_text(folder / "meta.json"), tokens_text = read_text(folder / "tokens.json");
  const auto pool = make_pool();
  const auto file = parse_file(read_file(folder / "model.gguf"));
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, name << ": " << loaded.error);
  const Model& model = *loaded.model;
  const auto state = make_state(model, *pool, options_of(meta));
  const std::vector<float> want = read_floats(folder / json_string(meta, "compare_with"));
  const double tolerance = json_number(meta.substr(meta.find("\"tolerance\"")), "max_abs");

  std::vector<int32_t> tokens = json_integers(tokens_text, "");
  const std::vector<int32_t> encoder = json_integers(tokens_text, "encoder");
  if (!encoder.empty()) {
    tokens = json_integers(tokens_text, "decoder");
    const auto r = encode(model, *state, *pool, encoder, nullptr);
    BOOST_REQUIRE_MESSAGE(r.has_value(), name << ": " << (r ? "" : r.error().message));
  }
  const std::vector<float> got = results(model, *state, *pool, tokens, tokens_text);
  const double difference = max_difference(got, want);
  BOOST_CHECK_MESSAGE(difference <= tolerance, name << ": logits differ by " << difference << " > " << tolerance);

  if (model.is_encoder() && !std::filesystem::exists(folder / "pooled.f32")) return;
  if (model.is_encoder()) {
    const std::vector<float> pooled = read_floats(folder / "pooled.f32");
    std::vector<float> mine(pooled.size());
    BOOST_REQUIRE(
        pool_embeddings(model, *pool, Pooling::kUnspecified, got.data(), tokens.size(), mine.data()).has_value());
    const double d = max_difference(mine, pooled);
    // pooled.f32 comes from llama.cpp's logits, in which a table of GELU may have rounded.
    const double rounded = max_difference(want, read_floats(folder / "logits.f32"));
    BOOST_CHECK_MESSAGE(d <= std::max({tolerance, 2e-3, rounded}), name << ": pooled embedding differs by " << d);
    return;
  }
  // The greedy continuation, one token at a time.
  const std::string greedy = read_text(folder / "greedy.json");
  std::vector<int32_t> expected = json_integers(greedy, "tokens_exact");
  if (expected.empty()) expected = json_integers(greedy, "tokens");
  const size_t n_vocab = model.n_output();
  int32_t next = argmax(std::span(got).last(n_vocab));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (next != expected[i]) {
      BOOST_CHECK_MESSAGE(next == expected[i],
                          name << ": greedy token " << i << " is " << next << ", not " << expected[i]);
      break;
    }
    const std::vector<float> logits = evaluate(model, *state, *pool, std::span(&expected[i], 1));
    next = argmax(logits);
  }
}

}  // namespace

// The fast products quantize activations to 8 bits, like llama.cpp's. The tolerance is derived from the effect on
// llama.cpp's own logits (noise.exact). Greedy text may differ if two tokens are about equally likely.
BOOST_AUTO_TEST_CASE(logits_of_fast_precision_are_close_to_exact,
                     *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  const auto pool = make_pool(2);
  for (const std::string& name : vector_names()) {
    const auto folder = shared("vectors") / name;
    const std::string meta = read_text(folder / "meta.json");
    const std::string tokens_text = read_text(folder / "tokens.json");
    const std::vector<int32_t> tokens = json_integers(tokens_text, "");
    if (!can_run(name) || meta.find("\"encoder\"") != std::string::npos) continue;
    BOOST_TEST_CONTEXT(name) {
      const auto file = parse_file(read_file(folder / "model.gguf"));
      const LoadedModel loaded = load_model(*file, *pool, Precision::kFast);
      BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
      if (loaded.model->has_encoder()) continue;
      const auto state = make_state(*loaded.model, *pool, options_of(meta));
      const auto got = results(*loaded.model, *state, *pool, tokens, tokens_text);
      const auto want = read_floats(folder / json_string(meta, "compare_with"));
      const size_t exact = meta.find("\"exact\":");
      const double moved = exact == std::string::npos ? 0 : json_number(meta.substr(exact), "max");
      const double tolerance = std::max(json_number(meta.substr(meta.find("\"tolerance\"")), "max_abs"), 2 * moved);
      BOOST_TEST(max_difference(got, want) <= tolerance,
                 "differs by " << max_difference(got, want) << " > " << tolerance);
    }
  }
}

namespace {

/// KL(softmax(want) || softmax(got)) of each token, in double.
std::vector<double> divergences(std::span<const float> want, std::span<const float> got, size_t n_vocab) {
  const auto log_sum = [](std::span<const float> logits) {
    const double most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float x : logits) sum += std::exp(static_cast<double>(x) - most);
    return most + std::log(sum);
  };
  std::vector<double> out;
  for (size_t at = 0; at < want.size(); at += n_vocab) {
    const auto w = want.subspan(at, n_vocab), g = got.subspan(at, n_vocab);
    const double log_w = log_sum(w), log_g = log_sum(g);
    double sum = 0;
    for (size_t i = 0; i < n_vocab; ++i) {
      const double log_p = static_cast<double>(w[i]) - log_w;
      sum += std::exp(log_p) * (log_p - (static_cast<double>(g[i]) - log_g));
    }
    out.push_back(sum);
  }
  return out;
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

// logits_exact.f32 are llama.cpp's logits with weights as floats, logits.f32 with its quantized activations. Another
// order of summation changes float logits by less than 1e-6.
BOOST_AUTO_TEST_CASE(fast_precision_diverges_no_more_than_llama_cpp,
                     *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  const auto pool = make_pool(2);
  size_t n_run = 0;
  for (const std::string& name : vector_names()) {
    const auto folder = shared("vectors") / name;
    if (!std::filesystem::exists(folder / "logits_exact.f32")) continue;
    const auto file = parse_file(read_file(folder / "model.gguf"));
    const LoadedModel loaded = load_model(*file, *pool, Precision::kFast);
    BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, name << ": " << loaded.error);
    // For files of floats, exact logits exist because of llama.cpp's GELU table.
    if (std::ranges::all_of(loaded.model->plan(),
                            [](const TensorRequest& r) { return r.entry.type == static_cast<uint32_t>(TypeId::kF32); }))
      continue;
    const auto state = make_state(*loaded.model, *pool, {.n_ctx = 256, .n_batch = 64});
    const auto got = evaluate(*loaded.model, *state, *pool, json_integers(read_text(folder / "tokens.json"), ""));
    const auto exact = read_floats(folder / "logits_exact.f32"), llama = read_floats(folder / "logits.f32");
    BOOST_REQUIRE(got.size() == exact.size() && llama.size() == exact.size());
    const size_t n_vocab = loaded.model->n_output();
    const std::vector<double> ours = divergences(exact, got, n_vocab), theirs = divergences(exact, llama, n_vocab);
    BOOST_TEST_MESSAGE(name << ": mean KL " << mean(ours) << ", llama.cpp's " << mean(theirs));
    BOOST_TEST(mean(ours) <= mean(theirs) + 1e-6,
               name << ": mean KL " << mean(ours) << ", llama.cpp's " << mean(theirs));
    ++n_run;
  }
  BOOST_TEST(n_run > 0);
}

BOOST_AUTO_TEST_CASE(logits_and_greedy_text_agree_with_llama_cpp,
                     *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  size_t n_run = 0, n_refused = 0;
  for (const std::string& name : vector_names()) {
    if (can_run(name)) {
      ++n_run;
      BOOST_TEST_CONTEXT(name) check_model(name, shared("vectors") / name);
      continue;
    }
    ++n_refused;
    const auto file = parse_file(read_file(shared("vectors") / name / "model.gguf"));
    const auto refused = Model::open(file->gguf(), file->bytes.size());
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST(static_cast<int>(refused.error().code) == static_cast<int>(ErrorCode::kUnsupported), name);
  }
  BOOST_TEST_MESSAGE(n_run << " models run, " << n_refused << " refused");
}

// The same for three architectures whose models are in the project, so it also runs without the shared vectors.
BOOST_AUTO_TEST_CASE(models_of_the_project_agree_with_llama_cpp) {
  for (const std::string name : {"llama", "mamba", "qwen3moe"})
    BOOST_TEST_CONTEXT(name) check_model(name, fixture("golden/arch") / name);
}

BOOST_AUTO_TEST_CASE(architectures_that_cannot_run_are_refused_with_the_reason) {
  for (const char* name : {"clip"}) {
    const auto refused = find_architecture(name);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST(static_cast<int>(refused.error().code) == static_cast<int>(ErrorCode::kUnsupported));
    BOOST_TEST(refused.error().message.starts_with(std::string("cannot run architecture ") + name + ": "));
  }
}

// Compressed keys and the values that make them outlive their batches: 2,048 tokens in batches of two
// sizes, and what follows from a saved state.
BOOST_AUTO_TEST_CASE(long_compressed_attention_agrees_with_llama_cpp,
                     *boost::unit_test::precondition(needs_shared("vectors/long/deepseek4-long"))) {
  const auto folder = shared("vectors/long/deepseek4-long");
  const std::string meta = read_text(folder / "meta.json");
  const auto pool = make_pool(2);
  const auto file = parse_file(read_file(folder / "model.gguf"));
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
  const std::vector<int32_t> tokens = json_integers(meta, "tokens");
  const std::vector<int32_t> greedy = json_integers(meta.substr(meta.find("\"greedy\"")), "tokens");
  const std::vector<float> want = read_floats(folder / "last8.f32");
  const double tolerance = json_number(meta.substr(meta.find("\"tolerance\"")), "max_abs");
  const size_t n_vocab = loaded.model->n_output();
  for (const uint32_t n_batch : {512u, 100u}) {
    const auto state = make_state(*loaded.model, *pool, {.n_ctx = 4096, .n_batch = n_batch});
    const auto got = evaluate(*loaded.model, *state, *pool, tokens);
    BOOST_TEST(max_difference(std::span(got).last(8 * n_vocab), want) <= tolerance);
    // The text continues from a saved state.
    const auto saved = state->save(*loaded.model, 0);
    BOOST_REQUIRE(saved.has_value());
    const auto other = make_state(*loaded.model, *pool, {.n_ctx = 4096, .n_batch = n_batch});
    BOOST_REQUIRE(other->restore(*loaded.model, 0, *saved).has_value());
    int32_t next = argmax(std::span(got).last(n_vocab));
    for (const int32_t token : greedy) {
      BOOST_REQUIRE(next == token);
      next = argmax(evaluate(*loaded.model, *other, *pool, std::span(&token, 1)));
    }
    BOOST_TEST(!other->shift(*loaded.model, 0, 0, -1, 1).has_value());
  }
}

// Made by scripts/make-gptj-fixture.py: a forward pass in float64 of GPT-J's definition.
BOOST_AUTO_TEST_CASE(gptj_agrees_with_an_independent_forward_pass) {
  const auto pool = make_pool();
  const auto file = parse_file(read_file(fixture("gptj/model.gguf")));
  const std::string expected = read_text(fixture("gptj/expected.json"));
  const std::vector<float> want = read_floats(fixture("gptj/logits.f32"));
  const std::vector<int32_t> tokens = json_integers(expected, "tokens"), greedy = json_integers(expected, "greedy");
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
  const auto state = make_state(*loaded.model, *pool, {});
  std::vector<float> got = evaluate(*loaded.model, *state, *pool, tokens);
  BOOST_TEST(max_difference(got, want) <= 2e-5);
  for (const int32_t token : greedy) {
    BOOST_REQUIRE(argmax(std::span(got).last(loaded.model->n_output())) == token);
    got = evaluate(*loaded.model, *state, *pool, std::span(&token, 1));
  }

  // Changes the features that distinguish GPT-J.
  const Architecture& row = **find_architecture("gptj");
  const auto difference = [&](auto alter) {
    Architecture altered = row;
    Hparams hparams = *read_hparams(file->gguf(), row);
    alter(altered, hparams);
    const Gguf gguf = file->gguf();
    const ModelFile whole{&gguf, file->bytes.size()};
    auto model = Model::open(altered, std::move(hparams), *tensor_entries({&whole, 1}));
    BOOST_REQUIRE(model.has_value());
    BOOST_REQUIRE(load_weights(**model, *pool, file->bytes).has_value());
    return max_difference(evaluate(**model, *make_state(**model, *pool, {}), *pool, tokens), want);
  };
  BOOST_TEST(difference([](Architecture&, Hparams&) {}) <= 2e-5);
  BOOST_TEST(difference([](Architecture&, Hparams& h) { h.rope_kind = RopeKind::kHalves; }) > 0.01);
  BOOST_TEST(difference([](Architecture&, Hparams& h) { h.parallel = false; }) > 0.01);
  BOOST_TEST(difference([](Architecture&, Hparams& h) { h.activation = Activation::kSilu; }) > 0.01);
  BOOST_TEST(difference([](Architecture&, Hparams& h) { h.norm = NormKind::kRms; }) > 0.01);
}

namespace {

// rwkv.cpp's container: u32 magic, version, n_vocab, n_embd, n_layer, type; then tensors: u32 n_dims, name length,
// type; n_dims u32 dimensions, fastest first; the name; the data.
std::vector<TensorEntry> rwkv_tensors(ByteView bytes) {
  constexpr uint32_t kTypes[] = {0, 1, 2, 3, 99, 99, 99, 6, 7, 8};  // of its enumeration, as ggml's ids
  std::vector<TensorEntry> tensors;
  for (size_t at = 24; at + 12 <= bytes.size();) {
    TensorEntry entry;
    entry.n_dims = load<uint32_t>(&bytes[at]);
    const size_t name_length = load<uint32_t>(&bytes[at + 4]);
    entry.type = kTypes[load<uint32_t>(&bytes[at + 8]) % 10];
    at += 12;
    uint64_t n = 1;
    for (size_t d = 0; d < entry.n_dims; ++d, at += 4) n *= entry.shape[d] = load<uint32_t>(&bytes[at]);
    entry.name.assign(reinterpret_cast<const char*>(&bytes[at]), name_length);
    entry.offset = at + name_length;
    const TypeGeometry& geometry = *find_type(entry.type);
    entry.n_bytes = n / geometry.block_size * geometry.block_bytes;
    at = static_cast<size_t>(entry.offset + entry.n_bytes);
    tensors.push_back(std::move(entry));
  }
  return tensors;
}

}  // namespace

BOOST_AUTO_TEST_CASE(rwkv_checkpoints_agree_with_rwkv_cpp, *boost::unit_test::precondition(needs_shared("data/rwkv"))) {
  struct Case {
    const char* name;
    const char* expected;
    double tolerance;
  };
  const Case cases[] = {
      {"tiny-rwkv-4v0-660K-FP32.bin", "expected-logits-4v0-660K.bin", 2e-4},
      {"tiny-rwkv-5v2-730K-FP32.bin", "expected-logits-5v2-730K.bin", 2e-4},
      {"tiny-rwkv-7v0-834K-FP32.bin", "expected-logits-7v0-834K.bin", 2e-4},
      {"tiny-rwkv-4v0-660K-FP16.bin", "expected-logits-4v0-660K.bin", 0.01},
      {"tiny-rwkv-7v0-834K-FP16.bin", "expected-logits-7v0-834K.bin", 0.01},
      {"tiny-rwkv-4v0-660K-Q5_0.bin", "expected-logits-4v0-660K.bin", 0.2},
      {"tiny-rwkv-4v0-660K-Q5_1.bin", "expected-logits-4v0-660K.bin", 0.2},
      {"tiny-rwkv-5v2-730K-Q5_1.bin", "expected-logits-5v2-730K.bin", 0.5},
      {"tiny-rwkv-7v0-834K-Q5_0.bin", "expected-logits-7v0-834K.bin", 0.01},
  };
  const auto pool = make_pool();
  const std::string prompt = "\"in";
  for (const Case& c : cases) {
    const auto bytes = read_file(shared("data/rwkv") / c.name);
    auto model = open_rwkv_checkpoint(rwkv_tensors(bytes));
    BOOST_REQUIRE_MESSAGE(model.has_value(), c.name << (model ? "" : model.error().message));
    BOOST_REQUIRE(load_weights(**model, *pool, bytes).has_value());
    const auto state = make_state(**model, *pool, {.n_ctx = 64});
    const std::vector<int32_t> tokens(prompt.begin(), prompt.end());
    const auto got = evaluate(**model, *state, *pool, tokens);
    const auto want = read_floats(shared("data/rwkv") / c.expected);
    const double d = max_difference(std::span(got).last(want.size()), want);
    BOOST_TEST(d <= c.tolerance, c.name << " differs by " << d);
  }
}

BOOST_AUTO_TEST_CASE(stories260K_generates_the_published_text,
                     *boost::unit_test::precondition(needs_shared("data/stories260K"))) {
  const std::string oracle = read_text(shared("data/stories260K/oracle-own-numpy.json"));
  const std::vector<int32_t> greedy = json_integers(oracle, "greedy_ids");
  const auto pool = make_pool(2);
  for (const char* name : {"stories260K.llamacpp.gguf", "stories260K.tied.gguf"}) {
    const auto file = parse_file(read_file(shared("data/stories260K") / name));
    const LoadedModel loaded = load_model(*file, *pool);
    BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
    for (const CacheType cache : {CacheType::kF32, CacheType::kF16}) {
      const auto state = make_state(*loaded.model, *pool, {.n_ctx = 512, .cache_types = {cache, cache}});
      for (size_t i = 0; i + 1 < greedy.size(); ++i) {
        const int32_t next = argmax(evaluate(*loaded.model, *state, *pool, std::span(&greedy[i], 1)));
        BOOST_REQUIRE_MESSAGE(next == greedy[i + 1],
                              name << ": token " << i + 1 << " is " << next << ", not " << greedy[i + 1]);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
