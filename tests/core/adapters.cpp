// LoRA adapters and control vectors against llama.cpp's logits: ../shared/vectors/lora has a folder a base model.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "gguf_bytes.hpp"
#include "json.hpp"
#include "session_data.hpp"
#include "tiny_llama.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_adapters,
                      *boost::unit_test::precondition(needs_shared("vectors/lora")) * boost::unit_test::label("floats"))

namespace {

const char* const kFolder = "vectors/lora";

std::unique_ptr<Session> start(const std::vector<uint8_t>& file, uint32_t n_sequences = 1) {
  return loaded(file, {.n_ctx = 256, .n_sequences = n_sequences}, Precision::kExact);
}

std::vector<float> logits(Session& session, std::span<const TokenId> tokens) {
  const auto out = session.evaluate(tokens);
  BOOST_REQUIRE_MESSAGE(out.has_value(), out.error().message);
  return {out->as<float>(), out->as<float>() + out->size() / sizeof(float)};
}

AdapterUse use_of(Session& session, const std::filesystem::path& path, float scale) {
  const auto adapter = session.open_adapter(read_file(path));
  BOOST_REQUIRE_MESSAGE(adapter.has_value(), path.string() << ": " << (adapter ? "" : adapter.error().message));
  BOOST_TEST((*adapter)->ignored().empty());
  return {*adapter, scale};
}

std::vector<TokenId> answer(Session& session, std::span<const TokenId> prompt, size_t n) {
  GenerateOptions options;
  options.sampler.temperature = 0;
  const auto begun = session.begin_answer(prompt, options);
  BOOST_REQUIRE_MESSAGE(begun.has_value(), begun.error().message);
  std::vector<TokenId> tokens;
  while (tokens.size() < n) {
    const auto step = session.next();
    BOOST_REQUIRE_MESSAGE(step.has_value(), step.error().message);
    tokens.push_back(step->token);
    if (step->finish != Finish::kNone) break;
  }
  return tokens;
}

/// The vectors' answers go on after an end token.
std::vector<TokenId> until_end(const Session& session, std::vector<TokenId> tokens) {
  const auto ends = [&](TokenId id) { return session.tokenizer() && session.tokenizer()->is_end_of_generation(id); };
  const auto end = std::ranges::find_if(tokens, ends);
  if (end != tokens.end()) tokens.erase(end + 1, tokens.end());
  return tokens;
}

std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(shared(kFolder)))
    if (entry.path().filename() != "odd") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

// With the adapters of one run of the vectors.
void check_run(Session& session, const std::filesystem::path& folder, const std::string& name, const Json& run,
               std::span<const TokenId> tokens) {
  BOOST_TEST_CONTEXT(folder.filename().string() << " " << name) {
    std::vector<AdapterUse> uses;
    for (const Json& use : run["adapters"].items)
      uses.push_back(use_of(session, folder / use.items[0].text, std::stof(use.items[1].text)));
    BOOST_REQUIRE(session.set_adapters(std::move(uses)).has_value());
    const Json& tolerance = run["tolerance"];
    const std::string file = run[tolerance["compare_with"].text].text;
    BOOST_TEST(max_difference(logits(session, tokens), read_floats(folder / file)) <=
               std::stod(tolerance["max_abs"].text));
    if (!run.fields.contains("greedy") || session.model().is_encoder()) return;
    const Json& greedy = run[run.fields.contains("greedy_exact") ? "greedy_exact" : "greedy"];
    BOOST_TEST(answer(session, tokens, 16) == until_end(session, greedy["tokens"].integers()),
               boost::test_tools::per_element());
  }
}

}  // namespace

// Tensors of integers are not used in matrix products, so an adapter of them has no effect.
BOOST_AUTO_TEST_CASE(pairs_of_integer_tables_are_ignored,
                     *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  size_t n_tables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/arch"))) {
    if (!entry.is_directory()) continue;
    const std::vector<uint8_t> file = read_file(entry.path() / "model.gguf");
    const auto session = Session::open(file, file.size(), 1);
    if (!session || !(*session)->begin_load(Precision::kExact)) continue;
    std::unique_ptr<Session> loaded;
    for (const TensorRequest& request : (*session)->model().plan()) {
      if (request.linear != nullptr || request.stack != nullptr || request.vector != nullptr) continue;
      if (loaded == nullptr) loaded = start(file);
      const auto& shape = request.entry.shape;
      GgufBytes b(2, 4);
      b.kv("general.type", "adapter")
          .kv("general.architecture", json_string(read_text(entry.path() / "meta.json"), "arch"));
      b.kv("adapter.type", "lora").kv("adapter.lora.alpha", ValueType::kF32, 1.0f);
      const std::string name(request.entry.name);
      const uint64_t n_a = shape[0] * shape[2] * 4, second = (n_a + 31) / 32 * 32;
      b.tensor(name + ".lora_a", {shape[0], 1, shape[2]}, 0, 0)
          .tensor(name + ".lora_b", {1, shape[1], shape[2]}, 0, second);
      b.pad(32, static_cast<size_t>(second + shape[1] * shape[2] * 4));
      const auto adapter = loaded->open_adapter(b.out);
      BOOST_REQUIRE_MESSAGE(adapter.has_value(), name << ": " << (adapter ? "" : adapter.error().message));
      BOOST_TEST(((*adapter)->ignored() == std::vector<std::string>{name}));
      ++n_tables;
    }
  }
  BOOST_TEST(n_tables > 0);
}

BOOST_AUTO_TEST_CASE(logits_with_adapters_match_llama_cpp) {
  for (const auto& folder : folders()) {
    const Json meta = JsonReader(read_text(folder / "meta.json")).value();
    const std::vector<TokenId> tokens = meta["tokens"].integers();
    const auto session = start(read_file(shared("vectors") / meta["base"].text));
    const std::vector<float> base = logits(*session, tokens);
    for (const auto& [name, run] : meta["runs"].fields) check_run(*session, folder, name, run, tokens);
    if (meta.fields.contains("control_vector")) {
      const Json& steered = meta["control_vector"];
      BOOST_REQUIRE(session->set_adapters({use_of(*session, folder / steered["vector"].text, 1)}).has_value());
      // The reference logits have llama.cpp's noise. It was recorded for a run without the control vector, which
      // changes the activations, so twice the noise is allowed.
      const Json& run = meta["runs"]["a-1.0"];
      double within = std::stod(run["tolerance"]["max_abs"].text);
      for (const char* noise : {"exact", "exact_gelu"})
        if (run["noise"].fields.contains(noise)) within = 2 * std::stod(run["noise"][noise].text);
      BOOST_TEST_CONTEXT(folder.filename().string())
      BOOST_TEST(max_difference(logits(*session, tokens), read_floats(folder / steered["file"].text)) <= within);
      // The control vector has no direction for the layers of this range.
      AdapterUse elsewhere = use_of(*session, folder / steered["vector"].text, 1);
      elsewhere.first_layer = 1000;
      BOOST_REQUIRE(session->set_adapters({elsewhere}).has_value());
      BOOST_TEST((logits(*session, tokens) == base));
    }
    BOOST_REQUIRE(session->set_adapters({}).has_value());
    BOOST_TEST((logits(*session, tokens) == base), folder.filename().string() << " is not as it was");
  }
}

BOOST_AUTO_TEST_CASE(activated_adapters_apply_from_their_invocation_tokens) {
  for (const auto& folder : folders()) {
    const Json meta = JsonReader(read_text(folder / "meta.json")).value();
    if (!meta.fields.contains("activated")) continue;
    const std::vector<TokenId> tokens = meta["tokens"].integers();
    const Json& variant = meta["activated"]["variants"]["from-invocation"];
    const auto session = start(read_file(shared("vectors") / meta["base"].text));
    const std::vector<float> base = logits(*session, tokens);
    const AdapterUse use = use_of(*session, folder / meta["activated"]["adapter"].text, 1);
    BOOST_REQUIRE(session->set_adapters({use}).has_value());
    const std::vector<float> given = logits(*session, tokens);
    BOOST_TEST(max_difference(given, read_floats(folder / variant["file"].text)) <= 3e-4);
    const size_t first = std::stoul(variant["first_token_with_adapter"].text) * session->model().n_output();
    BOOST_TEST(std::equal(base.begin(), base.begin() + static_cast<ptrdiff_t>(first), given.begin()));
    // The same answer after another text that shares only its beginning with the cache.
    const std::vector<TokenId> expected = until_end(*session, variant["greedy"]["tokens"].integers());
    BOOST_TEST(answer(*session, tokens, 16) == expected, boost::test_tools::per_element());
    const std::vector<TokenId> cut(tokens.begin(), tokens.begin() + 12);  // without the last of them
    const std::vector<TokenId> before = answer(*session, cut, 4);
    BOOST_TEST(answer(*session, tokens, 16) == expected, boost::test_tools::per_element());
    BOOST_REQUIRE(session->set_adapters({}).has_value());
    BOOST_TEST(answer(*session, cut, 4) == before, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(unusual_adapters_are_accepted_or_refused) {
  const auto folder = shared(kFolder) / "odd";
  const Json meta = JsonReader(read_text(folder / "meta.json")).value();
  const std::vector<TokenId> tokens = meta["tokens"].integers();
  const auto session = start(read_file(shared("vectors") / meta["base"].text));
  const std::vector<float> base = logits(*session, tokens);
  for (const Json& odd : meta["cases"].items) {
    BOOST_TEST_CONTEXT(odd["file"].text) {
      const auto adapter = session->open_adapter(read_file(folder / odd["file"].text));
      BOOST_REQUIRE(adapter.has_value() == (odd["outcome"].text == "taken"));
      if (!adapter) {
        BOOST_TEST(!adapter.error().message.empty());
        continue;
      }
      BOOST_REQUIRE(session->set_adapters({{*adapter, 1}}).has_value());
      BOOST_TEST(max_difference(logits(*session, tokens), read_floats(folder / odd["logits"].text)) <= 3e-4);
      const bool skips = odd["file"].text.starts_with("norm-tensor");
      BOOST_TEST((*adapter)->ignored().empty() != skips);
    }
  }
  BOOST_REQUIRE(session->set_adapters({}).has_value());
  BOOST_TEST((logits(*session, tokens) == base));
}

// An adapter of one pair with an alpha, whose tensors have a type.
std::vector<uint8_t> adapter_of(const std::string& architecture, const TensorRequest& weight, uint32_t type,
                                float alpha) {
  const auto& shape = weight.entry.shape;
  const uint64_t size = type == 24 ? 1 : 4, second = (shape[0] * size + 31) / 32 * 32;
  GgufBytes b(2, 4);
  b.kv("general.type", "adapter").kv("general.architecture", architecture);
  b.kv("adapter.type", "lora").kv("adapter.lora.alpha", ValueType::kF32, alpha);
  const std::string name(weight.entry.name);
  b.tensor(name + ".lora_a", {shape[0], 1}, type, 0).tensor(name + ".lora_b", {1, shape[1]}, type, second);
  b.pad(32, static_cast<size_t>(second + shape[1] * size));
  return b.out;
}

BOOST_AUTO_TEST_CASE(integers_and_factors_without_measure_are_refused) {
  const auto session = start(tiny_llama());
  const auto& plan = session->model().plan();
  const auto weight =
      std::ranges::find_if(plan, [](const TensorRequest& r) { return r.entry.name == "blk.0.ffn_up.weight"; });
  BOOST_REQUIRE(weight != plan.end());
  constexpr uint32_t kFloat32 = 0;
  for (const uint32_t type : {24u, 26u}) {  // I8, I32
    const auto adapter = session->open_adapter(adapter_of("llama", *weight, type, 1));
    BOOST_REQUIRE(!adapter.has_value());
    BOOST_TEST((adapter.error().code == ErrorCode::kUnsupported));
    BOOST_TEST(adapter.error().message.find("no integers") != std::string::npos, adapter.error().message);
  }
  for (const float alpha : {3e38f, -1e30f, 2e6f}) {
    const auto adapter = session->open_adapter(adapter_of("llama", *weight, kFloat32, alpha));
    BOOST_REQUIRE(!adapter.has_value());
    BOOST_TEST((adapter.error().code == ErrorCode::kOutOfRange));
  }
  const auto adapter = session->open_adapter(adapter_of("llama", *weight, kFloat32, 100));
  BOOST_REQUIRE_MESSAGE(adapter.has_value(), (adapter ? "" : adapter.error().message));
  for (const float scale : {3e38f, -3e38f, 2e6f, 2e4f}) {  // the last times 100 is above the limit
    const Result<void> set = session->set_adapters({{*adapter, scale}});
    BOOST_REQUIRE(!set.has_value());
    BOOST_TEST((set.error().code == ErrorCode::kInvalidArgument));
  }
  BOOST_TEST(session->set_adapters({{*adapter, -50}}).has_value());
}

BOOST_AUTO_TEST_CASE(each_sequence_has_its_own_adapters) {
  const auto folder = shared(kFolder) / "llama-gqa";
  const Json meta = JsonReader(read_text(folder / "meta.json")).value();
  const std::vector<TokenId> tokens = meta["tokens"].integers();
  const auto session = start(read_file(shared("vectors") / meta["base"].text), 2);
  const std::vector<TokenId> plain = answer(*session, tokens, 8);
  const AdapterUse a = use_of(*session, folder / "a.gguf", 1);
  BOOST_REQUIRE(session->set_adapters({a}).has_value());
  const std::vector<TokenId> adapted = answer(*session, tokens, 8);
  BOOST_TEST(session->n_reused() == 0u);  // tokens that were computed without it are not reused
  BOOST_TEST((adapted != plain));
  BOOST_REQUIRE(session->fork(0, 1).has_value());
  BOOST_REQUIRE(session->select(1).has_value());
  BOOST_TEST(answer(*session, tokens, 8) == adapted, boost::test_tools::per_element());
  BOOST_TEST(session->n_reused() != 0u);
  BOOST_REQUIRE(session->set_adapters({}).has_value());
  BOOST_TEST(answer(*session, tokens, 8) == plain, boost::test_tools::per_element());
  BOOST_REQUIRE(session->select(0).has_value());
  BOOST_TEST(answer(*session, tokens, 8) == adapted, boost::test_tools::per_element());
  const auto saved = session->save_state();
  BOOST_REQUIRE(saved.has_value());
  BOOST_TEST(session->load_state(*saved).has_value());
  BOOST_TEST(answer(*session, tokens, 8) == adapted, boost::test_tools::per_element());
  // A scale of zero equals no adapter. Another scale counts as another adapter.
  for (const float scale : {0.0f, 0.5f}) {
    BOOST_REQUIRE(session->set_adapters({{a.adapter, scale}}).has_value());
    BOOST_TEST(!session->load_state(*saved).has_value());
    BOOST_TEST((answer(*session, tokens, 8) == plain) == (scale == 0));
  }
  BOOST_TEST(!session->set_adapters({{a.adapter, NAN}}).has_value());
}

BOOST_AUTO_TEST_CASE(truncated_and_damaged_adapters_are_refused) {
  const auto folder = shared(kFolder) / "llama-gqa";
  const Json meta = JsonReader(read_text(folder / "meta.json")).value();
  const auto session = start(read_file(shared("vectors") / meta["base"].text));
  const std::vector<uint8_t> whole = read_file(folder / "b.gguf");
  for (size_t n = 0; n < whole.size(); n += 1 + whole.size() / 97)
    BOOST_TEST(!session->open_adapter(ByteView(whole).first(n)).has_value());
  // Headers with one changed byte are accepted or refused, but never cause a crash.
  for (size_t at = 0; at < std::min<size_t>(whole.size(), 4096); at += 7) {
    std::vector<uint8_t> broken = whole;
    broken[at] ^= 0xff;
    (void)session->open_adapter(broken);
  }
}

BOOST_AUTO_TEST_SUITE_END()
