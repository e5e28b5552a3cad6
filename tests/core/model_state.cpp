// States: batches, sequences, saved bytes, cancelled work, shifted positions, and sizes.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "model/kv_cells.hpp"
#include "model/mixers/indexer.hpp"
#include "model_data.hpp"
#include "tiny_llama.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_state, *boost::unit_test::label("floats"))

namespace {

struct Subject {
  std::string name;
  LoadedModel loaded;
  std::vector<int32_t> tokens;
  double tolerance;
  [[nodiscard]] const Model& model() const { return *loaded.model; }
};

// The generated models, and every model of the vectors that the engine supports; in npm test every third.
template <class Check>
void for_subjects(Pool& pool, bool causal_only, Check check) {
  for (const MadeModel& tiny : {made_llama(), made_experts(), made_gemma2(), made_mamba()}) {
    const auto file = parse_file(tiny.bytes());
    Subject made{tiny.architecture, load_model(*file, pool), {1, 5, 9, 2, 30, 7, 7, 11, 3, 19, 24, 8}, 1e-4};
    BOOST_REQUIRE_MESSAGE(made.loaded.model != nullptr, made.loaded.error);
    check(made);
  }
  std::vector<std::filesystem::directory_entry> entries;
  for (const auto& folder : {models_folder(), shared("vectors/new/arch")})
    if (std::filesystem::exists(folder))
      entries.insert(entries.end(), std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  std::ranges::sort(entries);
  EveryNth taken{3};
  for (const auto& entry : entries) {
    if (!entry.is_directory() || !taken.takes_next()) continue;
    const auto file = parse_file(read_file(entry.path() / "model.gguf"));
    Subject s{entry.path().filename().string(), load_model(*file, pool),
              json_integers(read_text(entry.path() / "tokens.json"), ""), 0};
    if (s.loaded.model == nullptr || s.model().has_encoder() || s.model().has_decision_head() ||
        (causal_only && !s.model().hparams().causal))
      continue;
    const std::string meta = read_text(entry.path() / "meta.json");
    s.tolerance = json_number(meta.substr(meta.find("\"tolerance\"")), "max_abs");
    BOOST_TEST_CONTEXT(s.name) check(s);
  }
}

Result<std::vector<float>> run(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens,
                               std::span<const int32_t> sequences = {}, const std::atomic<bool>* cancel = nullptr) {
  std::vector<float> out(tokens.size() * model.n_output());
  Batch batch;
  batch.tokens = tokens;
  batch.sequences = sequences;
  if (const auto r = forward(model, state, pool, batch, out.data(), cancel); !r) return std::unexpected(r.error());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(logits_do_not_depend_on_the_batch_size) {
  const auto pool = make_pool();
  for_subjects(*pool, true, [&](const Subject& s) {
    const auto whole =
        evaluate(s.model(), *make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 64}), *pool, s.tokens);
    for (const uint32_t n_batch : {1u, 5u}) {
      const auto parts =
          evaluate(s.model(), *make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = n_batch}), *pool, s.tokens);
      BOOST_TEST(max_difference(whole, parts) == 0.0, s.name << " in batches of " << n_batch);
    }
  });
}

BOOST_AUTO_TEST_CASE(only_wanted_rows_are_returned) {
  const auto pool = make_pool();
  for_subjects(*pool, true, [&](const Subject& s) {
    const auto whole =
        evaluate(s.model(), *make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 64}), *pool, s.tokens);
    const size_t n = s.model().n_output();
    std::vector<uint8_t> wanted(s.tokens.size(), 0);
    wanted[3] = wanted.back() = 1;
    std::vector<float> out(2 * n);
    Batch batch;
    batch.tokens = s.tokens;
    batch.output_mask = wanted;
    const auto state = make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 7});
    BOOST_REQUIRE(forward(s.model(), *state, *pool, batch, out.data()).has_value());
    BOOST_TEST(max_difference(std::span(out).first(n), std::span(whole).subspan(3 * n, n)) == 0.0, s.name);
    BOOST_TEST(max_difference(std::span(out).last(n), std::span(whole).last(n)) == 0.0, s.name);
  });
}

BOOST_AUTO_TEST_CASE(logits_do_not_depend_on_the_number_of_threads) {
  const auto one = make_pool(1), three = make_pool(3);
  for_subjects(*one, false, [&](const Subject& s) {
    const StateOptions options{.n_ctx = 256, .n_batch = 64};
    const auto a = evaluate(s.model(), *make_state(s.model(), *one, options), *one, s.tokens);
    // Loading uses the pool's scratch memory, so the model is loaded again with the other pool.
    const auto state = make_state(s.model(), *three, options);
    (void)three->reserve_scratch(0, 1 << 20);
    const auto b = evaluate(s.model(), *state, *three, s.tokens);
    BOOST_TEST(a == b, s.name);
  });
}

BOOST_AUTO_TEST_CASE(sequences_in_one_batch_are_independent) {
  const auto pool = make_pool();
  for_subjects(*pool, true, [&](const Subject& s) {
    const size_t n = s.model().n_output();
    std::vector<int32_t> other(s.tokens.rbegin(), s.tokens.rend()), mixed, sequences;
    for (size_t i = 0; i < s.tokens.size(); ++i) {
      mixed.push_back(s.tokens[i]), sequences.push_back(0);
      mixed.push_back(other[i]), sequences.push_back(2);
    }
    const StateOptions options{.n_ctx = 256, .n_batch = 11, .n_sequences = 3};
    const auto state = make_state(s.model(), *pool, options);
    const auto both = run(s.model(), *state, *pool, mixed, sequences);
    BOOST_REQUIRE_MESSAGE(both.has_value(), (both ? "" : both.error().message));
    const auto alone = evaluate(s.model(), *make_state(s.model(), *pool, options), *pool, s.tokens);
    const auto alone2 = evaluate(s.model(), *make_state(s.model(), *pool, options), *pool, other);
    double d = 0;
    for (size_t i = 0; i < s.tokens.size(); ++i) {
      d = std::max(d, max_difference(std::span(*both).subspan(2 * i * n, n), std::span(alone).subspan(i * n, n)));
      d = std::max(d,
                   max_difference(std::span(*both).subspan((2 * i + 1) * n, n), std::span(alone2).subspan(i * n, n)));
    }
    BOOST_TEST(d == 0.0, s.name << " differs by " << d);
  });
}

BOOST_AUTO_TEST_CASE(sequences_can_be_copied_and_saved) {
  const auto pool = make_pool();
  for_subjects(*pool, true, [&](const Subject& s) {
    const StateOptions options{.n_ctx = 256, .n_batch = 16, .n_sequences = 2};
    const auto state = make_state(s.model(), *pool, options);
    const std::span<const int32_t> tokens = s.tokens;
    const size_t half = tokens.size() / 2;
    const auto whole = evaluate(s.model(), *make_state(s.model(), *pool, options), *pool, tokens);
    (void)evaluate(s.model(), *state, *pool, tokens.first(half));
    const size_t n_free = state->n_free_cells();
    BOOST_REQUIRE(state->copy(0, 1, 0, -1));
    BOOST_TEST(state->n_free_cells() == n_free, "copies take no cells");
    const auto saved = state->save(s.model(), 0);
    BOOST_REQUIRE(saved.has_value());

    // Sequence 0 continues differently; sequence 1 continues like the whole prompt.
    std::vector<int32_t> sequence1(tokens.size() - half, 1);
    (void)evaluate(s.model(), *state, *pool, tokens.first(4));
    const auto rest = run(s.model(), *state, *pool, tokens.subspan(half), sequence1);
    BOOST_REQUIRE(rest.has_value());
    const auto want = std::span(whole).subspan(half * s.model().n_output());
    BOOST_TEST(max_difference(*rest, want) == 0.0, s.name);
    BOOST_TEST(state->last_position(1) == static_cast<int32_t>(tokens.size()) - 1);

    // Restored in another state, as another sequence.
    const auto second = make_state(s.model(), *pool, options);
    const auto restored = second->restore(s.model(), 1, *saved);
    BOOST_REQUIRE_MESSAGE(restored.has_value(), (restored ? "" : restored.error().message));
    BOOST_TEST(second->last_position(1) == static_cast<int32_t>(half) - 1);
    const auto again = run(s.model(), *second, *pool, tokens.subspan(half), sequence1);
    BOOST_REQUIRE(again.has_value());
    BOOST_TEST(max_difference(*again, want) == 0.0, s.name);
  });
}

BOOST_AUTO_TEST_CASE(damaged_saved_states_are_refused) {
  const auto pool = make_pool();
  const auto file = parse_file(tiny_llama());
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE(loaded.model != nullptr);
  const Model& model = *loaded.model;
  const auto state = make_state(model, *pool, {.n_ctx = 32});
  (void)evaluate(model, *state, *pool, std::vector<int32_t>{1, 2, 3});
  const std::vector<uint8_t> saved = *state->save(model, 0);
  for (size_t n = 0; n < saved.size(); n += 1 + n / 16)
    BOOST_TEST(!state->restore(model, 0, ByteView(saved).first(n)).has_value());
  for (size_t at = 0; at < 36; ++at) {  // the head and the positions
    std::vector<uint8_t> damaged = saved;
    damaged[at] ^= 0x81;
    const auto r = state->restore(model, 0, damaged);
    if (at < 16 || (at >= 20 && at < 24)) BOOST_TEST(!r.has_value(), "byte " << at);
  }
  std::vector<uint8_t> many = saved;
  many[20] = many[21] = many[22] = many[23] = 0xff;
  BOOST_TEST(!state->restore(model, 0, many).has_value());
  BOOST_TEST(state->restore(model, 0, saved).has_value());
}

BOOST_AUTO_TEST_CASE(cancelled_tokens_do_not_change_the_state) {
  const auto pool = make_pool();
  for_subjects(*pool, true, [&](const Subject& s) {
    const auto state = make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 16});
    const std::span<const int32_t> tokens = s.tokens;
    const auto whole = evaluate(s.model(), *make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 16}), *pool, tokens);
    (void)evaluate(s.model(), *state, *pool, tokens.first(5));
    const std::atomic<bool> cancel{true};
    const auto cancelled = run(s.model(), *state, *pool, tokens.subspan(5), {}, &cancel);
    BOOST_REQUIRE(!cancelled.has_value());
    BOOST_TEST(cancelled.error().message == "cancelled");
    BOOST_TEST(state->last_position(0) == 4);
    const auto rest = evaluate(s.model(), *state, *pool, tokens.subspan(5));
    BOOST_TEST(max_difference(rest, std::span(whole).subspan(5 * s.model().n_output())) == 0.0, s.name);
  });
}

BOOST_AUTO_TEST_CASE(half_precision_caches_give_close_logits) {
  const auto pool = make_pool();
  for_subjects(*pool, false, [&](const Subject& s) {
    const auto exact =
        evaluate(s.model(), *make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 64}), *pool, s.tokens);
    const auto state =
        make_state(s.model(), *pool, {.n_ctx = 256, .n_batch = 64, .cache_types = {CacheType::kF16, CacheType::kF16}});
    const auto half = evaluate(s.model(), *state, *pool, s.tokens);
    // llama.cpp's own logits change by this with such a cache: up to 0.5 if another expert is chosen, more if other
    // positions are, and 0.22 if attention is not scaled.
    const Hparams& h = s.model().hparams();
    BOOST_TEST(max_difference(exact, half) <= (h.part<IndexerSizes>().n_head != 0 ? 12.0
                                               : h.n_expert != 0                  ? 1.0
                                               : h.attention_scale == 1.0f        ? 0.25
                                                                                  : 0.1),
               s.name << max_difference(exact, half));
  });
}

BOOST_AUTO_TEST_CASE(sequences_can_be_truncated_and_positions_shifted) {
  const auto pool = make_pool();
  for_subjects(*pool, true, [&](const Subject& s) {
    const Model& model = s.model();
    const std::span<const int32_t> tokens = s.tokens;
    const auto state = make_state(model, *pool, {.n_ctx = 256, .n_batch = 64});
    const auto whole = evaluate(model, *state, *pool, tokens);
    const size_t n = model.n_output();
    if (model.is_recurrent()) {
      BOOST_TEST(!state->remove(0, 5, -1), "a recurrent state cannot be rewound");
      BOOST_TEST(state->remove(0, 0, -1));
      BOOST_TEST(state->last_position(0) == -1);
      return;
    }
    BOOST_REQUIRE(state->remove(0, 8, -1));
    BOOST_TEST(state->last_position(0) == 7);
    const auto rest = evaluate(model, *state, *pool, tokens.subspan(8));
    BOOST_TEST(max_difference(rest, std::span(whole).subspan(8 * n)) <= s.tolerance, s.name);

    // Attention depends only on distances, so the same text at later positions gives the same logits.
    const Hparams& h = model.hparams();
    if (model.weights().position_embedding || h.temperature_scale != 0 || h.window_kind == WindowKind::kChunked) return;
    const Architecture& a = model.architecture();
    const bool in_blocks = std::ranges::any_of(h.layers, [&](const LayerParameters& layer) {
      return layer.compress_ratio != 0 || (layer.has_indexer && h.part<IndexerSizes>().block != 0);
    });
    if (in_blocks || (a.qk_norm_after_rope && a.qk_norm != QkNorm::kUnweighted)) {
      BOOST_TEST(!state->shift(model, 0, 0, -1, 9).has_value());
      return;
    }
    BOOST_REQUIRE(state->remove(0, static_cast<int32_t>(tokens.size()) - 1, -1));
    const auto shifted = state->shift(model, 0, 0, -1, 9);
    BOOST_REQUIRE_MESSAGE(shifted.has_value(), (shifted ? "" : shifted.error().message));
    BOOST_TEST(state->last_position(0) == static_cast<int32_t>(tokens.size()) + 7);
    const auto last = evaluate(model, *state, *pool, tokens.last(1));
    BOOST_TEST(max_difference(last, std::span(whole).last(n)) <= 10 * s.tolerance,
               s.name << max_difference(last, std::span(whole).last(n)));
  });
}

// Windowed layers keep only the window's cells: less memory, the same logits, and limited removal of tokens.
BOOST_AUTO_TEST_CASE(windowed_layers_keep_the_cells_inside_the_window) {
  const auto pool = make_pool();
  size_t n_windowed = 0;
  for_subjects(*pool, true, [&](const Subject& s) {
    const Model& model = s.model();
    const Hparams& h = model.hparams();
    const auto windowed = [](const LayerParameters& layer) { return layer.windowed; };
    if (h.window == 0 || h.window > 64 || std::none_of(h.layers.begin(), h.layers.end(), windowed)) return;
    const size_t n = model.n_output(), n_tokens = 3 * h.window + 20;
    std::vector<int32_t> tokens;
    for (size_t i = 0; i < n_tokens; ++i) tokens.push_back(s.tokens[(i * i + i / 7) % s.tokens.size()]);
    const auto context = static_cast<uint32_t>(n_tokens);
    // A batch as long as the context leaves nothing to spare.
    const StateOptions all{.n_ctx = context, .n_batch = context}, few{.n_ctx = context, .n_batch = 6};
    const auto want = evaluate(model, *make_state(model, *pool, all), *pool, tokens);
    const auto state = make_state(model, *pool, few);
    const auto memory = [&](const StateOptions& options) { return model.memory(options, Precision::kExact, 1)->cache; };
    if (model.is_recurrent()) return;
    // Compressed attention keeps the cells from which it compresses.
    if (model.architecture().mixer == MixerKind::kCompressedAttention) return;
    ++n_windowed;
    BOOST_TEST(memory(few) < memory(all));
    // Sums have the same order in every batch, and in slots that were used before.
    BOOST_TEST(max_difference(evaluate(model, *state, *pool, tokens), want) == 0.0, s.name);

    // Tokens can be removed as far as a batch left spare cells, but not beyond the kept window.
    const auto end = static_cast<int32_t>(n_tokens);
    BOOST_REQUIRE(state->remove(0, end - 3, -1));
    const auto last = evaluate(model, *state, *pool, std::span(tokens).last(3));
    BOOST_TEST(max_difference(last, std::span(want).last(3 * n)) == 0.0, s.name);
    BOOST_TEST(!state->remove(0, end / 2, -1));
    BOOST_TEST(state->last_position(0) == end - 1);

    // Saves the state, restores it with other windows, and continues.
    const auto first = std::span(tokens).first(n_tokens - 8);
    for (const StateOptions& from : {all, few}) {
      const auto one = make_state(model, *pool, from);
      (void)evaluate(model, *one, *pool, first);
      const auto saved = one->save(model, 0);
      BOOST_REQUIRE(saved.has_value());
      for (const StateOptions& to : {all, few}) {
        const auto other = make_state(model, *pool, to);
        (void)evaluate(model, *other, *pool, std::span(tokens).first(9));
        const auto restored = other->restore(model, 0, *saved);
        BOOST_REQUIRE_MESSAGE(restored.has_value(), (restored ? "" : restored.error().message));
        const auto rest = evaluate(model, *other, *pool, std::span(tokens).last(8));
        BOOST_TEST(max_difference(rest, std::span(want).last(8 * n)) == 0.0, s.name);
      }
    }
  });
  BOOST_TEST(n_windowed > 0u);
  BOOST_TEST_MESSAGE(n_windowed << " models with windows");
}

BOOST_AUTO_TEST_CASE(memory_estimate_equals_allocated_bytes) {
  const auto pool = make_pool(2);
  for_subjects(*pool, false, [&](const Subject& s) {
    for (const CacheTypes types :
         {CacheTypes{}, CacheTypes{CacheType::kF16, CacheType::kF16}, CacheTypes{CacheType::kQ8_0, CacheType::kQ4_0}}) {
      const StateOptions options{.n_ctx = 100, .n_batch = 13, .n_sequences = 3, .cache_types = types};
      const auto estimate = s.model().memory(options, Precision::kExact, pool->n_threads());
      BOOST_REQUIRE(estimate.has_value());
      const auto state = make_state(s.model(), *pool, options);
      BOOST_TEST(state->allocated_bytes() == estimate->cache + estimate->recurrent, s.name);
      BOOST_REQUIRE(state->reserve_scratch().has_value());
      BOOST_TEST(state->allocated_bytes() == estimate->cache + estimate->recurrent + estimate->scratch, s.name);
      BOOST_TEST(s.model().loaded_bytes() == estimate->weights, s.name);
    }
  });
}

// Two states are given the same batches. One computes them, the other only keeps the table of cells.
BOOST_AUTO_TEST_CASE(a_state_of_cells_only_places_batches_like_any_other) {
  const auto pool = make_pool();
  for_subjects(*pool, false, [&](const Subject& s) {
    const Model& model = s.model();
    StateOptions options{.n_ctx = 32, .n_batch = 4, .n_sequences = 2};
    if (!model.hparams().causal) options.n_batch = 32;
    const auto whole = make_state(model, *pool, options);
    options.cells_only = true;
    const auto cells = make_state(model, *pool, options);
    BOOST_TEST(cells->allocated_bytes() == 0u);
    const auto estimate = model.memory(options, Precision::kExact, 1);
    BOOST_REQUIRE(estimate.has_value());
    BOOST_TEST(estimate->total() == estimate->weights);

    const std::vector<int32_t> sequences{0, 1, 0, 0, 1, 0};
    const size_t n = std::min<size_t>(options.n_batch, sequences.size());
    const auto place_and_compare = [&] {
      Batch batch;
      batch.tokens = std::span(s.tokens).first(n);
      batch.sequences = std::span(sequences).first(n);
      const auto a = place_batch(model, *whole, *pool, batch, 0, n), b = place_batch(model, *cells, *pool, batch, 0, n);
      BOOST_REQUIRE_MESSAGE(a.has_value(), (a ? "" : a.error().message));
      BOOST_REQUIRE(b.has_value());
      BOOST_TEST(b->tokens == batch.tokens.data());
      BOOST_TEST(std::ranges::equal(a->positions, b->positions));
      BOOST_TEST(std::ranges::equal(b->sequences, batch.sequences));
      BOOST_TEST(whole->batch_cells == cells->batch_cells);
      BOOST_TEST(whole->batch_slots == cells->batch_slots);
      BOOST_TEST(whole->visible_full.size() == cells->visible_full.size());
      const auto same_runs = [](const std::vector<CellRun>& x, const std::vector<CellRun>& y) {
        return std::ranges::equal(
            x, y, [](const CellRun& p, const CellRun& q) { return p.begin == q.begin && p.end == q.end; });
      };
      BOOST_TEST(same_runs(whole->runs_full, cells->runs_full));
      BOOST_TEST(same_runs(whole->runs_windowed, cells->runs_windowed));
      commit_batch(*a, true), commit_batch(*b, true);
    };
    place_and_compare();
    place_and_compare();
    for (State* state : {whole.get(), cells.get()}) {
      BOOST_TEST(state->remove(1, 0, -1));
      (void)state->copy(0, 1, 0, -1);
    }
    place_and_compare();
    for (uint32_t sequence : {0u, 1u}) BOOST_TEST(cells->last_position(sequence) == whole->last_position(sequence));

    std::vector<float> out(n * model.n_output());
    Batch batch;
    batch.tokens = std::span(s.tokens).first(n);
    const size_t n_free = cells->n_free_cells();
    for (const Result<void>& refused : {forward(model, *cells, *pool, batch, out.data()),
                                        cells->shift(model, 0, 0, -1, 1), cells->restore(model, 0, {})}) {
      BOOST_REQUIRE(!refused.has_value());
      BOOST_TEST(static_cast<int>(refused.error().code) == static_cast<int>(ErrorCode::kUnsupported));
    }
    BOOST_TEST(!cells->save(model, 0).has_value());
    BOOST_TEST(cells->n_free_cells() == n_free);
  });
}

BOOST_AUTO_TEST_CASE(counted_scratch_memory_is_what_a_batch_takes) {
  const auto pool = make_pool();
  constexpr uint32_t kBatch = 8;
  const StateOptions options{.n_ctx = 64, .n_batch = kBatch};
  const auto check = [&](const Model& model, State& state, const std::string& name) {
    BOOST_TEST(state.arena.peak() == State::count_scratch(model, options), name);
  };
  for_subjects(*pool, false, [&](const Subject& s) {
    const auto state = make_state(s.model(), *pool, options);
    (void)evaluate(s.model(), *state, *pool, std::span(s.tokens).first(kBatch));
    check(s.model(), *state, s.name);
  });
  if (!std::filesystem::exists(models_folder() / "t5")) return;
  const auto file = parse_file(read_file(models_folder() / "t5/model.gguf"));
  const LoadedModel t5 = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(t5.model != nullptr, t5.error);
  const auto state = make_state(*t5.model, *pool, options);
  const std::vector<int32_t> tokens(kBatch, 3);
  BOOST_REQUIRE(encode(*t5.model, *state, *pool, tokens, nullptr).has_value());
  (void)evaluate(*t5.model, *state, *pool, tokens);
  check(*t5.model, *state, "t5");
}

// Keys that must have an effect, on generated models: both spellings of a rope scale, windows, soft caps, experts.
BOOST_AUTO_TEST_CASE(optional_keys_change_the_logits) {
  const auto pool = make_pool();
  const auto logits = [&](const MadeModel& made) {
    const auto file = parse_file(made.bytes());
    const LoadedModel loaded = load_model(*file, *pool);
    BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
    const std::vector<int32_t> tokens{1, 5, 9, 2, 30, 7, 7, 11, 3, 19, 24, 8};
    return evaluate(*loaded.model, *make_state(*loaded.model, *pool, {}), *pool, tokens);
  };
  MadeModel plain = made_llama(), old_name = made_llama(), new_name = made_llama();
  old_name.floats["rope.scale_linear"] = 4.0f;
  new_name.floats["rope.scaling.factor"] = 4.0f;
  BOOST_TEST(max_difference(logits(old_name), logits(new_name)) == 0);
  BOOST_TEST(max_difference(logits(plain), logits(new_name)) > 1e-3);

  for (const auto& [key, value] :
       {std::pair("attention.sliding_window", 5), std::pair("attention.sliding_window_pattern", 1)}) {
    MadeModel other = made_gemma2();
    other.integers[key] = static_cast<uint64_t>(value);
    BOOST_TEST(max_difference(logits(made_gemma2()), logits(other)) > 1e-3, key);
  }
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    MadeModel other = made_gemma2();
    other.floats[key] = 1.0f;
    BOOST_TEST(max_difference(logits(made_gemma2()), logits(other)) > 1e-3, key);
  }
  MadeModel one = made_experts();
  one.integers["expert_used_count"] = 1;
  BOOST_TEST(max_difference(logits(made_experts()), logits(one)) > 1e-3);

  // A layer for multi-token prediction is ignored.
  MadeModel next = made_llama();
  next.integers["block_count"] = 3;
  next.integers["nextn_predict_layers"] = 1;
  next.tensors["blk.2.nextn.eh_proj.weight"] = {32, 16};
  next.tensors["blk.2.attn_norm.weight"] = {16};
  const auto file = parse_file(next.bytes());
  BOOST_TEST(load_model(*file, *pool).error == "");
}

BOOST_AUTO_TEST_CASE(bad_batches_are_refused) {
  const auto pool = make_pool();
  const auto file = parse_file(tiny_llama());
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE(loaded.model != nullptr);
  const Model& model = *loaded.model;
  const auto state = make_state(model, *pool, {.n_ctx = 8, .n_batch = 4, .n_sequences = 2});
  const auto refused = [&](std::vector<int32_t> tokens, std::vector<int32_t> positions, std::vector<int32_t> sequences,
                           ErrorCode code) {
    std::vector<float> out(tokens.size() * model.n_output());
    Batch batch;
    batch.tokens = tokens;
    batch.positions = positions;
    batch.sequences = sequences;
    const auto r = forward(model, *state, *pool, batch, out.data());
    BOOST_REQUIRE(!r.has_value());
    BOOST_TEST((r.error().code == code), r.error().message);
    state->clear();
  };
  const auto n_vocab = static_cast<int32_t>(model.hparams().n_vocab);
  refused({1, n_vocab}, {}, {}, ErrorCode::kOutOfRange);
  refused({-1}, {}, {}, ErrorCode::kOutOfRange);
  refused({1, 2}, {0, 0}, {}, ErrorCode::kOutOfRange);
  refused({1}, {-3}, {}, ErrorCode::kOutOfRange);
  refused({1}, {INT32_MAX}, {}, ErrorCode::kOutOfRange);
  refused({1}, {}, {2}, ErrorCode::kOutOfRange);
  refused({1}, {}, {-1}, ErrorCode::kOutOfRange);
  refused({1, 2}, {0}, {}, ErrorCode::kInvalidArgument);
  refused({1, 2, 3, 4, 5, 6, 7, 8, 9}, {}, {}, ErrorCode::kOutOfMemory);
  for (const StateOptions& bad : {StateOptions{.n_ctx = 8, .n_batch = 0}, StateOptions{.n_ctx = 8, .n_sequences = 65},
                                  StateOptions{.n_ctx = 8, .n_sequences = 0}, StateOptions{.n_ctx = UINT32_MAX}})
    BOOST_TEST(!State::create(model, *pool, bad).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
