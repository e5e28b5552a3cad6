// Optional keys have an effect only for architectures whose row names them. llama.cpp ignores the others, too.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/word_list.hpp"
#include "gguf/access.hpp"
#include "model_data.hpp"
#include "tiny_llama.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

namespace loader_table {
#include "gguf/required_keys.inc"
}  // namespace loader_table

namespace {

std::vector<float> logits(const MadeModel& made) {
  auto pool = make_pool();
  const auto file = parse_file(made.bytes());
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
  auto state = make_state(*loaded.model, *pool, {.n_ctx = 16});
  const std::vector<int32_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
  return evaluate(*loaded.model, *state, *pool, tokens);
}

MadeModel with(MadeModel made, const std::string& key, float value) {
  made.floats[key] = value;
  return made;
}

MadeModel named(const std::string& architecture) {
  MadeModel made = made_llama();
  made.architecture = architecture;
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_keys)

BOOST_AUTO_TEST_CASE(keys_of_other_architectures_are_ignored) {
  const std::pair<const char*, float> kKeys[] = {
      {"logit_scale", 0.5f},     {"attention.scale", 0.11f},         {"attention.clamp_kqv", 0.01f},
      {"embedding_scale", 2.0f}, {"attention.max_alibi_bias", 4.0f}, {"residual_scale", 0.5f},
  };
  const std::vector<float> base = logits(made_llama());
  for (const auto& [key, value] : kKeys)
    BOOST_TEST(max_difference(base, logits(with(made_llama(), key, value))) == 0.0, key);
  MadeModel halved = made_llama();
  halved.integers["rescale_every_n_layers"] = 1;
  BOOST_TEST(max_difference(base, logits(halved)) == 0.0);
}

BOOST_AUTO_TEST_CASE(keys_that_the_architecture_reads_change_the_logits) {
  const MadeModel granite = with(named("granite"), "logit_scale", 1);
  const std::vector<float> base = logits(granite);
  for (const char* key : {"logit_scale", "attention.scale", "embedding_scale", "residual_scale"})
    BOOST_TEST(max_difference(base, logits(with(granite, key, 0.3f))) > 1e-3, key);
  // Without the key, MiniCPM divides by 256 / n_embd.
  const std::vector<float> implied = logits(named("minicpm"));
  BOOST_TEST(max_difference(implied, logits(with(named("minicpm"), "logit_scale", 256.0f / 16.0f))) < 1e-6);
}

BOOST_AUTO_TEST_CASE(encoders_ignore_the_key_for_causal_attention) {
  MadeModel encoder = named("eurobert");
  encoder.tensors.erase("output.weight");
  const std::vector<float> base = logits(encoder);
  encoder.booleans["attention.causal"] = true;
  BOOST_TEST(max_difference(base, logits(encoder)) == 0.0);
}

BOOST_AUTO_TEST_CASE(missing_expert_width_is_derived_from_experts_used) {
  MadeModel made = made_experts();  // 24 wide
  const std::vector<float> base = logits(made);
  made.integers["feed_forward_length"] = 48;
  BOOST_TEST(max_difference(base, logits(made)) == 0.0);
}

BOOST_AUTO_TEST_CASE(sizes_of_experts_may_be_repeated_for_each_layer) {
  MadeModel made = made_experts();
  made.integers["expert_feed_forward_length"] = 24;
  const std::vector<float> base = logits(made);
  for (const char* key : {"expert_used_count", "expert_feed_forward_length"}) {
    const auto value = static_cast<int32_t>(made.integers.at(key));
    made.integers.erase(key);
    made.arrays[key] = {value, value};
    BOOST_TEST(max_difference(base, logits(made)) == 0.0, key);
  }
  made.arrays["expert_used_count"] = {2, 1};
  const auto file = parse_file(made.bytes());
  const auto h = read_hparams(file->gguf(), **find_architecture(made.architecture));
  BOOST_REQUIRE(!h.has_value());
  BOOST_TEST(h.error().message == "expert_used_count is not the same in every layer");
}

BOOST_AUTO_TEST_CASE(missing_epsilon_is_0_where_llama_cpp_allows_it) {
  MadeModel made = named("qwen2vl");
  made.arrays["rope.dimension_sections"] = {1, 1, 0, 0};
  const std::vector<float> base = logits(made);
  made.floats.erase("attention.layer_norm_rms_epsilon");
  BOOST_TEST(max_difference(base, logits(made)) == 0.0);
}

namespace {

Hparams hparams_of(const MadeModel& made) {
  const auto file = parse_file(made.bytes());
  auto h = read_hparams(file->gguf(), **find_architecture(made.architecture));
  BOOST_REQUIRE_MESSAGE(h.has_value(), (h ? "" : h.error().message));
  return *std::move(h);
}

}  // namespace

// These architectures multiply by a key's value without a test for 0. Others take 0 for an absent factor.
BOOST_AUTO_TEST_CASE(factors_of_0_are_factors_where_llama_cpp_multiplies) {
  MadeModel gemma = named("gemma2");
  for (const std::string block : {"blk.0.", "blk.1."})
    for (const char* norm : {"post_attention_norm.weight", "post_ffw_norm.weight"}) gemma.tensors[block + norm] = {16};
  const std::vector<float> base = logits(gemma), capped = logits(with(gemma, "final_logit_softcapping", 0));
  BOOST_TEST(max_difference(base, capped) > 1e-3);
  BOOST_TEST(max_difference(capped, std::vector<float>(capped.size(), 0.0f)) == 0.0);
  BOOST_TEST(!hparams_of(with(named("gemma3"), "final_logit_softcapping", 0)).logit_soft_cap.has_value());

  const Hparams grok = hparams_of(with(with(named("grok"), "attention.output_scale", 0), "logit_scale", 0));
  BOOST_REQUIRE(grok.attention_scale.has_value());
  BOOST_TEST(*grok.attention_scale == 0.0f);
  BOOST_TEST(grok.logit_scale == 0.0f);
  BOOST_TEST(!hparams_of(with(named("llama"), "attention.scale", 0)).attention_scale.has_value());

  MadeModel yarn = with(with(named("deepseek2"), "rope.scaling.factor", 4), "rope.scaling.attn_factor", 0);
  yarn.strings["rope.scaling.type"] = "yarn";
  yarn.integers["attention.kv_lora_rank"] = 8;
  const Hparams latent = hparams_of(yarn);
  BOOST_REQUIRE(latent.attention_scale.has_value());
  BOOST_TEST(*latent.attention_scale == 0.0f);
}

BOOST_AUTO_TEST_CASE(the_order_of_rope_sections_is_checked) {
  MadeModel made = named("llama");
  const auto read = [&](const char* order) {
    made.strings["rope.section_order"] = order;
    const auto file = parse_file(made.bytes());
    return read_hparams(file->gguf(), **find_architecture(made.architecture));
  };
  const auto usual = read("tyxz"), canvas = read("zyxt"), unknown = read("xyzt");
  BOOST_REQUIRE((usual.has_value() && canvas.has_value()));
  BOOST_TEST((!usual->canvas_time && canvas->canvas_time));
  made.arrays["rope.dimension_sections"] = {1, 0, 0, 1};
  const auto fourth = read("zyxt");
  BOOST_REQUIRE((!unknown.has_value() && fourth.has_value()));
  BOOST_TEST((unknown.error().code == ErrorCode::kUnsupported && fourth->rope_sections[3] == 1));
}

// llama.cpp refuses each of these changes.
BOOST_DATA_TEST_CASE(keys_that_others_require_are_required,
                     boost::unit_test::data::make({"hy_v4-sparse", "k2-horizon-mova", "lfm2-decision",
                                                   "modern-bert-decision", "qwen4exp-ple"}),
                     name) {
  const auto path = models_folder() / "../new/arch" / name / "model.gguf";
  if (!std::filesystem::exists(path)) return;
  const auto file = parse_file(read_file(path));
  const std::string architecture(get_string(file->gguf(), "general.architecture").value_or(""));
  const auto takes = [&] { return read_hparams(file->gguf(), **find_architecture(architecture)).has_value(); };
  BOOST_REQUIRE(takes());
  const std::vector<KeyValue> all = file->state.header.key_values;
  size_t n_keys = 0;
  for (const auto& row : loader_table::kDependentKeys) {
    if (!has_word(row.architectures, architecture)) continue;
    for (const std::string_view suffix : WordList(row.suffixes)) {
      const std::string key = Keys(file->gguf(), architecture).full(suffix);
      file->state.header.key_values = all;
      n_keys += std::erase_if(file->state.header.key_values,
                              [&](const KeyValue& kv) { return file->gguf().text(kv.key) == key; });
      BOOST_TEST(!takes(), key);
    }
  }
  BOOST_TEST(n_keys > 0);
}

BOOST_AUTO_TEST_CASE(decision_heads_need_their_blocks_and_attention_both_ways) {
  MadeModel made = named("lfm2");
  made.arrays["attention.head_count_kv"] = {2, 2};
  made.integers["shortconv.l_cache"] = 3;
  made.integers["decision.block_count"] = 1;
  made.floats["attention.layer_norm_epsilon"] = 1e-5f;
  const auto refusal = [&](bool causal) {
    made.booleans["attention.causal"] = causal;
    const auto file = parse_file(made.bytes());
    const auto h = read_hparams(file->gguf(), **find_architecture(made.architecture));
    return h ? std::string() : h.error().message;
  };
  BOOST_TEST(!refusal(false).contains("attention.causal"));
  BOOST_TEST(refusal(true).contains("attention.causal"));
  made.integers.erase("decision.block_count");
  BOOST_TEST(refusal(false) == "");
  made.tensors["token_types.weight"] = {16, 3};
  BOOST_TEST(refusal(false).contains("decision.block_count"));
}

BOOST_AUTO_TEST_SUITE_END()
