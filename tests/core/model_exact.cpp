// Further tests of models: encoders without half precision, RWKV 5.1, several sequences in models with bidirectional
// attention.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>

#include "made_more.hpp"
#include "model/mixers/rwkv.hpp"
#include "session_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_exact, *boost::unit_test::label("floats"))

namespace {

const std::vector<int32_t> kTokens{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11};

struct Loaded {
  std::unique_ptr<ParsedFile> file;
  std::unique_ptr<Model> model;
};

Loaded loaded(const Bytes& bytes, Pool& pool) {
  Loaded out;
  auto file = parse_file(bytes);
  LoadedModel model = load_model(*file, pool);
  BOOST_REQUIRE_MESSAGE(model.model != nullptr, model.error);
  out.model = std::move(model.model);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(encoders_do_not_use_half_precision) {
  const auto pool = make_pool();
  // An encoder and a decoder of the same model.
  const Loaded t5 = loaded(made_t5(true).bytes(), *pool);
  const auto encoded = [&](CacheType type) {
    const auto state = make_state(*t5.model, *pool, {.n_ctx = 32, .n_batch = 32, .cache_types = {type, type}});
    std::vector<float> out(kTokens.size() * t5.model->hparams().n_embd);
    BOOST_REQUIRE(encode(*t5.model, *state, *pool, kTokens, out.data()).has_value());
    return out;
  };
  BOOST_TEST(max_difference(encoded(CacheType::kF16), encoded(CacheType::kF32)) == 0.0);
  // The decoder's first token also reads the encoder's output in full precision. Its own single key has no effect.
  const auto first_logits = [&](CacheType type) {
    const auto state = make_state(*t5.model, *pool, {.n_ctx = 32, .n_batch = 32, .cache_types = {type, type}});
    BOOST_REQUIRE(encode(*t5.model, *state, *pool, kTokens, nullptr).has_value());
    return evaluate(*t5.model, *state, *pool, std::span(kTokens).first(1));
  };
  BOOST_TEST(max_difference(first_logits(CacheType::kF16), first_logits(CacheType::kF32)) < 2e-3);

  // Models with only an encoder, with any options of the session.
  for (const MadeModel& made : {made_t5(false)}) {
    const Bytes bytes = made.bytes();
    const auto embedded = [&](CacheType type) {
      const auto session =
          test::loaded(bytes, {.n_ctx = 32, .n_batch = 32, .cache_types = {type, type}}, Precision::kExact);
      const auto out = session->evaluate(kTokens);
      BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
      return std::vector<float>(out->as<float>(), out->as<float>() + out->size() / sizeof(float));
    };
    BOOST_TEST(max_difference(embedded(CacheType::kF16), embedded(CacheType::kF32)) == 0.0);
  }
}

// The layers of decoder and encoder share one array of layer parameters.
BOOST_AUTO_TEST_CASE(an_encoder_may_have_more_layers_than_its_decoder) {
  const auto pool = make_pool();
  MadeModel shallow = made_t5(true);
  shallow.integers["decoder_block_count"] = 1;
  std::erase_if(shallow.tensors, [](const auto& tensor) { return tensor.first.starts_with("dec.blk.1."); });
  const Loaded t5 = loaded(shallow.bytes(), *pool);
  const Hparams& h = t5.model->hparams();
  BOOST_TEST(h.n_layer == 1u);
  BOOST_REQUIRE(h.layers.size() == h.n_encoder_layer);
  const auto state = make_state(*t5.model, *pool, {.n_ctx = 32, .n_batch = 32});
  for (size_t il = 0; il < h.n_encoder_layer; ++il) BOOST_TEST(h.layers[il].kv_layer == il);
  BOOST_REQUIRE(encode(*t5.model, *state, *pool, kTokens, nullptr).has_value());
  const std::vector<float> logits = evaluate(*t5.model, *state, *pool, std::span(kTokens).first(2));
  BOOST_TEST(std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }));
}

// Two sequences in one batch, their tokens interleaved: neither attends to the other.
BOOST_AUTO_TEST_CASE(bidirectional_sequences_are_independent) {
  const auto pool = make_pool();
  for (MadeModel made : {made_lfm2(), made_gemma4()}) {
    made.booleans["attention.causal"] = false;
    const Loaded m = loaded(made.bytes(), *pool);
    const std::vector<int32_t> first{1, 17, 5, 9}, second{30, 2, 8};
    const auto alone = [&](const std::vector<int32_t>& tokens) {
      const auto state = make_state(*m.model, *pool, {.n_ctx = 32, .n_sequences = 2});
      return evaluate(*m.model, *state, *pool, tokens);
    };
    Batch batch;
    const std::vector<int32_t> tokens{1, 30, 17, 2, 5, 8, 9}, sequences{0, 1, 0, 1, 0, 1, 0};
    batch.tokens = tokens;
    batch.sequences = sequences;
    const auto state = make_state(*m.model, *pool, {.n_ctx = 32, .n_sequences = 2});
    const size_t n = m.model->n_output();
    std::vector<float> together(tokens.size() * n);
    BOOST_REQUIRE(forward(*m.model, *state, *pool, batch, together.data()).has_value());
    const std::vector<float> one = alone(first), two = alone(second);
    for (size_t t = 0; t < tokens.size(); ++t) {
      const std::vector<float>& of = sequences[t] == 0 ? one : two;
      BOOST_TEST(max_difference(std::span(together).subspan(t * n, n), std::span(of).subspan(t / 2 * n, n)) < 1e-5);
    }
  }
}

namespace {

constexpr uint64_t kWidth = 16, kHeads = 4;

struct Checkpoint {
  std::vector<std::pair<std::string, std::vector<uint64_t>>> shapes;
  std::map<std::string, std::vector<float>> values;
};

void put(Checkpoint& c, const std::string& name, std::vector<uint64_t> shape, std::vector<float> values) {
  c.shapes.emplace_back(name, std::move(shape));
  c.values[name] = std::move(values);
}

/// A checkpoint of two layers as rwkv.cpp has them; version 5.1 (one decay and bonus a head, no gate), or its twin of
/// version 5.2: the same values for each channel of a head, and a gate that is 1 for every token. Channel 0 of the
/// normalized input is 1, and the gate reads nothing else.
Checkpoint rwkv5(bool gated) {
  constexpr float kUnit = 1.2784645f;  // its SiLU is 1
  Checkpoint c;
  uint32_t seed = 1;
  const auto values = [&](size_t n, float scale, float plus = 0) {
    std::vector<float> out = random_floats(n, seed++);
    for (float& x : out) x = plus + scale * x;
    return out;
  };
  constexpr size_t n = kWidth, size = kWidth / kHeads;
  const auto norm = [&](const std::string& name) {
    put(c, name + ".weight", {n}, values(n, 0.2f, 1));
    put(c, name + ".bias", {n}, values(n, 0.2f));
  };
  put(c, "emb.weight", {n, 32}, values(n * 32, 1));
  norm("blocks.0.ln0");
  for (const std::string il : {"0", "1"}) {
    const std::string block = "blocks." + il + ".", att = block + "att.", ffn = block + "ffn.";
    norm(block + "ln1"), norm(block + "ln2"), norm(att + "ln_x");
    c.values[block + "ln1.weight"][0] = 0;
    c.values[block + "ln1.bias"][0] = 1;
    for (const char* part : {"time_mix_k", "time_mix_v", "time_mix_r"}) put(c, att + part, {n}, values(n, 0.5f, 0.5f));
    const auto by_head = [&](const std::string& name, std::vector<float> of) {
      if (!gated) return put(c, att + name, {1, 1, kHeads}, of);
      std::vector<float> all(n);
      for (size_t i = 0; i < n; ++i) all[i] = of[i / size];
      put(c, att + name, {1, size, kHeads}, all);
    };
    const std::vector<float> bonus = values(kHeads, 0.5f, 1), decay = values(kHeads, 0.2f, 0.7f);
    by_head(gated ? "time_faaaa" : "time_first", bonus);
    by_head("time_decay", decay);
    for (const char* part : {"key", "value", "receptance", "output"})
      put(c, att + part + ".weight", {n, n}, values(n * n, 0.4f));
    if (gated) {
      put(c, att + "time_mix_g", {n}, std::vector<float>(n, 1));
      std::vector<float> gate(n * n, 0);
      for (size_t row = 0; row < n; ++row) gate[row * n] = kUnit;
      put(c, att + "gate.weight", {n, n}, gate);
    }
    for (const char* part : {"time_mix_k", "time_mix_r"}) put(c, ffn + part, {n}, values(n, 0.5f, 0.5f));
    put(c, ffn + "key.weight", {n, 24}, values(n * 24, 0.4f));
    put(c, ffn + "value.weight", {24, n}, values(n * 24, 0.4f));
    put(c, ffn + "receptance.weight", {n, n}, values(n * n, 0.4f));
  }
  norm("ln_out");
  put(c, "head.weight", {n, 32}, values(n * 32, 0.5f));
  return c;
}

Bytes file_of(const Checkpoint& c) {
  GgufBytes b(c.shapes.size(), 1);
  b.kv("general.architecture", std::string("rwkv"));
  uint64_t offset = 0;
  for (const auto& [name, shape] : c.shapes) {
    b.tensor(name, shape, 0, offset);
    offset += (c.values.at(name).size() * 4 + 31) / 32 * 32;
  }
  b.pad();
  for (const auto& [name, shape] : c.shapes) {
    for (const float value : c.values.at(name)) b.put(value);
    b.out.resize((b.out.size() + 31) / 32 * 32);
  }
  return b.out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(rwkv_5_1_has_one_decay_a_head_and_no_gate) {
  const auto pool = make_pool();
  const auto logits = [&](const Checkpoint& c) {
    const Loaded m = loaded(file_of(c), *pool);
    BOOST_TEST(m.model->hparams().part<RwkvSizes>().head_size == kWidth / kHeads);
    const auto state = make_state(*m.model, *pool, {.n_ctx = 32});
    return evaluate(*m.model, *state, *pool, kTokens);
  };
  const Checkpoint old = rwkv5(false);
  const std::vector<float> want = logits(rwkv5(true)), got = logits(old);
  BOOST_TEST(max_difference(got, want) < 1e-4);
  BOOST_TEST(max_difference(got, std::vector<float>(got.size(), 0)) > 0.1);
  Checkpoint faster = old;
  faster.values["blocks.1.att.time_decay"][2] += 0.2f;
  BOOST_TEST(max_difference(got, logits(faster)) > 1e-4);
}

BOOST_AUTO_TEST_SUITE_END()
