// Optional tensors have an effect only where llama.cpp's computation reads them. That was determined for each
// architecture with llama.cpp 0.7.0, by adding a tensor to a valid model and comparing the logits.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "made_variants.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_tensors)

namespace {

const std::vector<int32_t> kTokens = {3, 1, 4, 1, 5, 9, 2, 6};

std::vector<float> logits(const MadeModel& made) {
  auto pool = make_pool();
  const auto file = parse_file(made.bytes());
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
  auto state = make_state(*loaded.model, *pool, {.n_ctx = 16});
  return evaluate(*loaded.model, *state, *pool, kTokens);
}

MadeModel with_tensor(MadeModel made, const std::string& name, std::vector<uint64_t> shape) {
  made.tensors["zz." + name] = shape;  // the last one, so that the others' weights stay the same
  return made;
}

/// The logits of a model with one additional tensor, whose weights are 1.7 times random ones.
std::vector<float> logits_with(const MadeModel& made, const std::string& name, const std::vector<uint64_t>& shape) {
  const MadeModel more = with_tensor(made, name, shape);
  auto pool = make_pool();
  const auto file = parse_file(more.bytes());
  const Gguf gguf = file->gguf();
  const ModelFile files[] = {{&gguf, file->bytes.size()}};
  auto entries = tensor_entries(files);
  BOOST_REQUIRE(entries.has_value());
  for (TensorEntry& entry : *entries)
    if (entry.name.starts_with("zz.")) entry.name.erase(0, 3);
  const Architecture& row = **find_architecture(made.architecture);
  auto hparams = read_hparams(gguf, row);
  BOOST_REQUIRE(hparams.has_value());
  auto model = Model::open(row, std::move(*hparams), std::move(*entries));
  BOOST_REQUIRE_MESSAGE(model.has_value(), name << ": " << (model ? "" : model.error().message));
  BOOST_REQUIRE(load_weights(**model, *pool, file->bytes).has_value());
  auto state = make_state(**model, *pool, {.n_ctx = 16});
  return evaluate(**model, *state, *pool, kTokens);
}

MadeModel named(const std::string& architecture) { return made_decoder(architecture); }

MadeModel normed(MadeModel made) {
  head_norms(made, 4);
  return made;
}

struct Case {
  MadeModel made;
  const char* tensor;
  std::vector<uint64_t> shape;
  bool counts;
};

}  // namespace

BOOST_AUTO_TEST_CASE(optional_tensors_change_logits_where_llama_cpp_reads_them) {
  MadeModel falcon_like = named("qwen2");
  falcon_like.tensors.erase("output.weight");
  MadeModel dream = named("dream"), qwen2vl = named("qwen2vl");
  dream.tensors.erase("output.weight"), qwen2vl.tensors.erase("output.weight");
  MadeModel experts = made_experts(), olmoe = made_experts();
  olmoe.architecture = "ernie4_5-moe";
  olmoe.integers["interleave_moe_layer_step"] = 1;
  qwen2vl.arrays["rope.dimension_sections"] = {1, 1, 0, 0};
  const Case cases[] = {
      {named("llama"), "blk.0.ffn_up.scale", {1}, true},
      {named("qwen2"), "blk.0.ffn_up.scale", {1}, false},
      {named("qwen2"), "blk.1.ffn_gate.scale", {1}, false},
      {named("qwen2"), "blk.1.ffn_down.scale", {1}, false},
      {named("qwen2"), "blk.1.attn_v.scale", {1}, true},
      {normed(named("qwen3")), "blk.0.ffn_down.scale", {1}, true},
      {named("mistral3"), "blk.0.ffn_gate.scale", {1}, true},
      {experts, "blk.0.ffn_up_exps.scale", {4}, true},
      {olmoe, "blk.0.ffn_up_exps.scale", {4}, false},
      {olmoe, "blk.0.ffn_down_exps.scale", {4}, false},
      {named("llama"), "blk.0.attn_output.bias", {16}, true},
      {named("ernie4_5"), "blk.0.attn_output.bias", {16}, false},
      {named("ernie4_5"), "blk.0.attn_q.bias", {16}, true},
      {named("llada"), "blk.0.ffn_down.bias", {16}, false},
      {named("llada"), "blk.0.attn_output.bias", {16}, false},
      {named("refact"), "blk.0.ffn_gate.bias", {24}, false},
      {falcon_like, "output.bias", {32}, true},
      {dream, "output.bias", {32}, false},
      {qwen2vl, "output.bias", {32}, false},
      {made_laguna(), "blk.0.attn_gate.scale", {1}, false},
      {made_step35(), "blk.0.attn_gate.scale", {1}, false},
      {made_mimo2(), "blk.0.attn_q.bias", {16}, false},
      {made_mimo2(), "blk.0.attn_v.scale", {1}, false},
      {made_talkie(), "blk.0.ffn_down.scale", {1}, true},
      {made_talkie(), "blk.0.ffn_up.scale", {1}, false},
      {made_kimi_linear(), "blk.0.attn_q.scale", {1}, false},
      {made_minimax01(), "blk.0.attn_output.scale", {1}, false},
      {made_cogvlm(), "blk.0.attn_qkv.scale", {1}, false},
  };
  for (const Case& c : cases) {
    const double difference = max_difference(logits(c.made), logits_with(c.made, c.tensor, c.shape));
    const std::string what = c.made.architecture + " " + c.tensor;
    if (c.counts) {
      BOOST_TEST(difference > 1e-4, what);
    } else {
      BOOST_TEST(difference == 0.0, what);
    }
  }
}

// llama.cpp reads the scales of T5's decoder by names without "dec.", and does not use those of its networks.
BOOST_AUTO_TEST_CASE(scales_of_t5_count_in_the_decoders_own_attention,
                     *boost::unit_test::precondition(needs_shared("vectors/arch/t5"))) {
  const auto folder = shared("vectors/arch/t5");
  const std::string tokens_text = read_text(folder / "tokens.json");
  const auto pool = make_pool();
  const auto file = parse_file(read_file(folder / "model.gguf"));
  const Gguf gguf = file->gguf();
  const auto run = [&](const std::string& scale) {
    const ModelFile files[] = {{&gguf, file->bytes.size()}};
    auto entries = tensor_entries(files);
    BOOST_REQUIRE(entries.has_value());
    if (!scale.empty()) {  // its value: the first of a norm
      const auto norm = std::ranges::find(*entries, "dec.output_norm.weight", &TensorEntry::name);
      BOOST_REQUIRE(norm != entries->end());
      TensorEntry one = *norm;
      one.name = scale;
      one.shape = {1, 1, 1, 1};
      one.n_bytes = sizeof(float);
      entries->push_back(one);
    }
    const Architecture& row = **find_architecture("t5");
    auto model = Model::open(row, *read_hparams(gguf, row), std::move(*entries));
    BOOST_REQUIRE_MESSAGE(model.has_value(), scale << ": " << (model ? "" : model.error().message));
    BOOST_REQUIRE(load_weights(**model, *pool, file->bytes).has_value());
    auto state = make_state(**model, *pool, {.n_ctx = 64});
    BOOST_REQUIRE(encode(**model, *state, *pool, json_integers(tokens_text, "encoder"), nullptr).has_value());
    return evaluate(**model, *state, *pool, json_integers(tokens_text, "decoder"));
  };
  const std::vector<float> base = run("");
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"})
    BOOST_TEST(max_difference(base, run("blk.0." + std::string(name) + ".scale")) > 1e-4, name);
  for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"})
    BOOST_TEST(max_difference(base, run("blk.0." + std::string(name) + ".scale")) == 0.0, name);
}

// A list of tensors without effect must not contain tensors that the architecture's plan requires.
BOOST_AUTO_TEST_CASE(tensors_without_effect_are_optional) {
  for (const Architecture& row : all_architectures()) {
    for (std::string_view rest = row.unread; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      BOOST_TEST(!reads_tensor(row, name), row.name << " " << name);
      BOOST_TEST(!reads_tensor(row, "blk.11." + std::string(name)), row.name << " " << name);
      BOOST_TEST((name.ends_with(".bias") || name.ends_with(".scale")), row.name << " " << name);
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    }
    BOOST_TEST(reads_tensor(row, "blk.0.ffn_up.weight"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
