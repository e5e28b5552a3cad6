// Prompts of 2,048 tokens, quantized caches, shared prefixes and shifted contexts, against llama.cpp.
#include <boost/test/unit_test.hpp>

#include "json.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(long_contexts, *boost::unit_test::label("floats"))

namespace {

struct Subject {
  std::filesystem::path folder;
  const Model& model;
  Json meta;
  std::vector<int32_t> tokens;
  double tolerance;
  [[nodiscard]] std::vector<float> floats(const Json& of) const { return read_floats(folder / of["file"].text); }
};

double number(const Json& json) { return std::stod(json.text); }

/// Every model of the vectors that the engine supports.
template <class Check>
void for_subjects(Pool& pool, Check check) {
  if (!std::filesystem::exists(shared("vectors/long"))) {
    BOOST_TEST_MESSAGE("skipped: no vectors of long contexts");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/long"))) {
    if (!std::filesystem::exists(entry.path() / "model.gguf")) continue;  // drafters are tested with their targets
    const std::string name = entry.path().filename().string(), text = read_text(entry.path() / "meta.json");
    const auto file = parse_file(read_file(entry.path() / "model.gguf"));
    const LoadedModel loaded = load_model(*file, pool);
    if (loaded.model == nullptr) {
      BOOST_TEST_MESSAGE("skipped: " << name << ": " << loaded.error);
      continue;
    }
    Subject s{entry.path(), *loaded.model, JsonReader(text).value(), {}, 0};
    s.tokens = s.meta["tokens"].integers();
    s.tolerance = number(s.meta["prompt"]["tolerance"]["max_abs"]);
    BOOST_TEST_CONTEXT(name) check(s);
  }
}

/// Logits of the last n_last tokens, which continue a sequence.
std::vector<float> last_logits(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens,
                               size_t n_last, int32_t sequence = 0) {
  std::vector<float> out(n_last * model.n_output());
  std::vector<uint8_t> output_mask(tokens.size(), 0);
  std::fill(output_mask.end() - static_cast<ptrdiff_t>(n_last), output_mask.end(), uint8_t{1});
  const std::vector<int32_t> sequences(tokens.size(), sequence);
  const auto done =
      forward(model, state, pool,
              {.tokens = tokens, .positions = {}, .sequences = sequences, .output_mask = output_mask}, out.data());
  BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  return out;
}

double root_mean_square(std::span<const float> a, std::span<const float> b) {
  BOOST_REQUIRE(a.size() == b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

// llama.cpp shifts by rotating all cells with a table that includes YaRN's magnitude, so that each shift scales all
// keys once more. The engine does not, so this function does the same to its keys for the comparison.
void lengthen_keys(const Model& model, State& state) {
  const Hparams& h = model.hparams();
  for (size_t il = 0; il < h.n_layer; ++il) {
    const LayerParameters& layer = h.layers[il];
    const float magnitude = state.rope_tables[layer.windowed ? 1 : 0].magnitude;
    if (layer.mixer != MixerKind::kAttention || magnitude == 1) continue;
    BOOST_REQUIRE(layer.n_rot == layer.d_k);
    const CacheView cache = state.cache(il);
    float* const keys = reinterpret_cast<float*>(cache.keys);
    for (size_t i = 0; i < layer.n_head_kv * cache.n_cells * layer.d_k; ++i) keys[i] *= magnitude;
  }
}

struct CacheCase {
  const char* name;  ///< of meta.json's caches
  CacheTypes types;
};
constexpr CacheCase kCaches[] = {{"f16", {CacheType::kF16, CacheType::kF16}},
                                 {"q8_0-fa", {CacheType::kQ8_0, CacheType::kQ8_0}},
                                 {"q4_0-fa", {CacheType::kQ4_0, CacheType::kQ4_0}},
                                 {"k-q8_0", {CacheType::kQ8_0, CacheType::kF16}},
                                 {"q8_0-q4_0-fa", {CacheType::kQ8_0, CacheType::kQ4_0}}};

}  // namespace

BOOST_AUTO_TEST_CASE(logits_after_2048_tokens_match_for_every_cache_type) {
  const auto pool = make_pool();
  EveryNth taken{2};  // for each model others
  for_subjects(*pool, [&](const Subject& s) {
    // With the sanitizers, every kind of cache is tested, but with short prompts.
    const auto tokens = std::span(s.tokens).first(kSanitized ? 128 : s.tokens.size());
    const auto logits = [&](CacheTypes types) {
      const auto state = make_state(s.model, *pool, {.n_ctx = 2048, .cache_types = types});
      return last_logits(s.model, *state, *pool, tokens, 8);
    };
    const std::vector<float> exact = logits({}), want = kSanitized ? exact : s.floats(s.meta["prompt"]);
    BOOST_TEST(max_difference(exact, want) <= s.tolerance, max_difference(exact, want));
    for (const auto& [name, types] : kCaches) {
      if (!taken.takes_next()) continue;
      const auto found = s.meta["caches"].fields.find(name);
      if (found == s.meta["caches"].fields.end() || found->second.fields.contains("refused")) continue;
      const double noise = root_mean_square(logits(types), want), theirs = number(found->second["rms_from_f32"]);
      BOOST_TEST_MESSAGE(s.folder.filename().string() << " " << name << ": " << noise << ", llama.cpp " << theirs);
      // If another expert is chosen, a row changes by 1. Both implementations have such rows by chance.
      BOOST_TEST((kSanitized || noise <= 2 * theirs + (s.model.hparams().n_expert != 0 ? 0.15 : s.tolerance)),
                 name << ": " << noise);
    }
  });
}

// A copy of the cells of 100 tokens continues differently. Both continuations must be the same as alone.
BOOST_AUTO_TEST_CASE(sequences_with_a_shared_prefix_match_llama_cpp) {
  const auto pool = make_pool();
  for_subjects(*pool, [&](const Subject& s) {
    const Json& shared_prefix = s.meta["shared_prefix"];
    const auto prefix = shared_prefix["prefix"].integers(), first = shared_prefix["first"].integers(),
               second = shared_prefix["second"].integers();
    const auto state = make_state(s.model, *pool, {.n_ctx = 256, .n_batch = 64, .n_sequences = 2});
    (void)last_logits(s.model, *state, *pool, prefix, 1);
    BOOST_REQUIRE(state->copy(0, 1, 0, -1));
    std::vector<float> got = last_logits(s.model, *state, *pool, first, first.size(), 0);
    const std::vector<float> other = last_logits(s.model, *state, *pool, second, second.size(), 1);
    got.insert(got.end(), other.begin(), other.end());
    const double difference = max_difference(got, s.floats(shared_prefix));
    BOOST_TEST(difference <= s.tolerance + number(shared_prefix["equal_to_alone"]), difference);
  });
}

// A part in the middle is removed, and the tokens after it move down. Recurrent states keep what they have read.
BOOST_AUTO_TEST_CASE(shifted_contexts_match_llama_cpp) {
  const auto pool = make_pool();
  for_subjects(*pool, [&](const Subject& s) {
    const Json& shift = s.meta["context_shift"];
    const auto state = make_state(s.model, *pool, {.n_ctx = 256, .n_batch = 64});
    (void)last_logits(s.model, *state, *pool, std::span(s.tokens).first(96), 1);
    if (shift.fields.contains("refused")) {
      BOOST_TEST(!(state->remove(0, 4, 36) && state->shift(s.model, 0, 36, -1, -32)));
      return;
    }
    BOOST_REQUIRE(state->remove(0, 4, 36));
    const auto moved = state->shift(s.model, 0, 36, -1, -32);
    BOOST_REQUIRE_MESSAGE(moved.has_value(), (moved ? "" : moved.error().message));
    BOOST_TEST(state->last_position(0) == 63);
    lengthen_keys(s.model, *state);
    const auto got = last_logits(s.model, *state, *pool, shift["then"].integers(), 8);
    const double difference = max_difference(got, s.floats(shift));
    BOOST_TEST(difference <= 2 * s.tolerance, difference);

    // Moved keys equal those computed at the new positions, so a text that moves completely continues the same.
    const auto go_on = [&](int32_t delta) {
      const auto whole = make_state(s.model, *pool, {.n_ctx = 256, .n_batch = 64});
      (void)last_logits(s.model, *whole, *pool, std::span(s.tokens).first(96), 1);
      BOOST_REQUIRE(whole->remove(0, 0, 32) && whole->shift(s.model, 0, 32, -1, delta).has_value());
      return last_logits(s.model, *whole, *pool, shift["then"].integers(), 8);
    };
    if (s.model.hparams().temperature_length == 0)  // otherwise queries depend on their positions
      BOOST_TEST(max_difference(go_on(-32), go_on(0)) <= 2 * s.tolerance, max_difference(go_on(-32), go_on(0)));

    // Quantized keys are rotated too, and a saved state of them continues the same.
    const StateOptions few{.n_ctx = 256, .n_batch = 64, .cache_types = {CacheType::kQ8_0, CacheType::kQ8_0}};
    const auto quantized = make_state(s.model, *pool, few), restored = make_state(s.model, *pool, few);
    (void)last_logits(s.model, *quantized, *pool, std::span(s.tokens).first(96), 1);
    BOOST_REQUIRE(quantized->remove(0, 4, 36) && quantized->shift(s.model, 0, 36, -1, -32));
    const auto saved = quantized->save(s.model, 0);
    BOOST_REQUIRE(saved.has_value() && restored->restore(s.model, 0, *saved).has_value());
    const auto then = shift["then"].integers();
    const auto noisy = last_logits(s.model, *quantized, *pool, then, 8);
    const bool experts = s.model.hparams().n_expert != 0;  // another choice changes a row by 1
    if (state->rope_tables[0].magnitude == 1)
      BOOST_TEST(root_mean_square(noisy, got) <= (experts ? 0.5 : 0.2), root_mean_square(noisy, got));
    // Its cells have another order, so sums are rounded differently, and then also a few cached numbers.
    BOOST_TEST(max_difference(last_logits(s.model, *restored, *pool, then, 8), noisy) <= 0.01);
  });
}

BOOST_AUTO_TEST_CASE(sequences_continue_after_removing_their_end) {
  const auto pool = make_pool();
  for_subjects(*pool, [&](const Subject& s) {
    const std::span<const int32_t> tokens = s.tokens;
    const auto state = make_state(s.model, *pool, {.n_ctx = 256, .n_batch = 64});
    (void)last_logits(s.model, *state, *pool, tokens.first(60), 1);
    // Compressed blocks of positions can be removed too, which llama.cpp refuses.
    const bool refused = s.meta["going_back"].fields.contains("refused"), back = state->remove(0, 40, -1);
    BOOST_TEST(back == (!refused || !s.model.is_recurrent()));
    if (!back) return;
    const auto got = last_logits(s.model, *state, *pool, tokens.subspan(100, 20), 8);
    const auto fresh = make_state(s.model, *pool, {.n_ctx = 256, .n_batch = 64});
    (void)last_logits(s.model, *fresh, *pool, tokens.first(40), 1);
    BOOST_TEST(max_difference(got, last_logits(s.model, *fresh, *pool, tokens.subspan(100, 20), 8)) <= s.tolerance);
  });
}

// The root mean square of each row's differences; of these, the lower quartile.
double quartile_noise(std::span<const float> a, std::span<const float> b, size_t n_rows) {
  const size_t n = a.size() / n_rows;
  std::vector<double> noise;
  for (size_t row = 0; row < n_rows; ++row)
    noise.push_back(root_mean_square(a.subspan(row * n, n), b.subspan(row * n, n)));
  std::ranges::sort(noise);
  return noise[n_rows / 4];
}

// Layers that choose positions read single rows of the cache. Where another position or expert is chosen, a row and
// those after it move by 1 and more, from which row on depends on how the platform rounds. The quarter of the rows with
// the least noise shows whether the cache is right: a row that is read wrongly moves all of them.
BOOST_AUTO_TEST_CASE(sparse_attention_works_with_quantized_caches,
                     *boost::unit_test::precondition(needs_shared("vectors/arch/deepseek32"))) {
  const auto pool = make_pool();
  for (const char* const name : {"deepseek32", "glm-dsa", "minimax-m3-sparse", "deepseek4"}) {
    const auto folder = shared("vectors/arch") / name;
    const auto file = parse_file(read_file(folder / "model.gguf"));
    const LoadedModel loaded = load_model(*file, *pool);
    BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
    const std::vector<int32_t> tokens = json_integers(read_text(folder / "tokens.json"), "");
    const auto logits = [&](CacheTypes types) {
      const auto state = make_state(*loaded.model, *pool, {.n_ctx = 64, .cache_types = types});
      return last_logits(*loaded.model, *state, *pool, tokens, tokens.size());
    };
    const std::vector<float> exact = logits({});
    for (const CacheType values : {CacheType::kQ8_0, CacheType::kQ4_0}) {
      const double noise = quartile_noise(logits({CacheType::kQ8_0, values}), exact, tokens.size());
      BOOST_TEST_MESSAGE(name << ": " << noise);
      BOOST_TEST((noise > 0 && noise < 0.5), name << ": " << noise);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
