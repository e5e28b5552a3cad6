// Architectures without reference vectors: generated models, and llama.cpp's results (0.7.0, CPU) for the same bytes.
#include <boost/test/unit_test.hpp>
#include <cfloat>

#include "made_architectures.hpp"
#include "made_more.hpp"
#include "made_variants.hpp"
#include "model/architectures/architecture.hpp"
#include "model/mixers/kimi_delta.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_architectures, *boost::unit_test::label("floats"))

namespace {

struct Case {
  MadeModel model;
  std::vector<float> logits;  ///< of the last token
  double tolerance;           ///< of llama.cpp's numbers; its GELU goes by a table of 16-bit floats
  void (*alter)(Hparams& h);  ///< takes away what makes it this architecture
  size_t first_logit = 0;
};

const std::vector<int32_t> kTokens{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11};

MadeModel sees_both_ways(MadeModel made) {
  made.booleans["attention.causal"] = false;
  return made;
}

std::vector<float> last_logits(Model& model, Pool& pool, size_t n_batch) {
  const auto state = make_state(model, pool, {.n_ctx = 32});
  std::vector<float> out;
  for (size_t t = 0; t < kTokens.size(); t += n_batch)
    out = evaluate(model, *state, pool, std::span(kTokens).subspan(t, std::min(n_batch, kTokens.size() - t)));
  return {out.end() - static_cast<std::ptrdiff_t>(model.n_output()), out.end()};
}

}  // namespace

BOOST_AUTO_TEST_CASE(logits_agree_with_llama_cpp) {
  const Case cases[] = {
      {made_arctic(),
       {-0.0898808f, 1.36616f, 0.29923f, -0.672017f, 0.599837f, 0.329146f},
       1e-5,
       [](Hparams& h) { h.dense_and_experts_scale = 0.9f; }},
      {made_deci(),
       {-0.211007f, -1.43981f, -0.190116f, -0.859275f, -0.195797f, 1.19762f},
       1e-5,
       [](Hparams& h) { h.rope_kind = RopeKind::kHalves; }},
      {made_gemma3n(),
       {-0.364949f, 0.47957f, -0.236023f, -0.7088f, 0.00238349f, -0.0769803f},
       2e-2,
       [](Hparams& h) { h.layers[21].kv_layer = h.layers[20].kv_layer = 17; }},
      {made_mistral4(),
       {-1.43445f, -1.19704f, -0.734415f, 0.518507f, -0.793493f, 0.341076f},
       1e-5,
       [](Hparams& h) { h.temperature_scale = 0; }},
      {made_plamo2(),
       {-1.61372f, 0.410777f, -0.236306f, -0.271197f, 0.235767f, -0.408525f},
       2e-5,
       [](Hparams& h) { h.norm_eps = 0.1f; }},
      {made_dream(),
       {-1.42431f, 0.176947f, 0.32211f, 0.197227f, -0.314835f, -1.07156f},
       1e-5,
       [](Hparams& h) { h.causal = true; }},
      {made_llada(),
       {-2.00274f, 0.0482942f, 0.686479f, 0.450577f, -0.851994f, -0.03157f},
       1e-5,
       [](Hparams& h) { h.rope_kind = RopeKind::kHalves; }},
      {made_llada_moe("llada-moe"),
       {-0.0812573f, 0.619836f, 0.0488208f, -1.03635f, -0.49017f, -0.763077f},
       1e-5,
       [](Hparams& h) { h.normalize_expert_weights = true; }},
      {made_llada_moe("rnd1"),
       {-0.140835f, 0.678417f, 0.10274f, -1.04851f, -0.506631f, -0.756243f},
       1e-5,
       [](Hparams& h) { h.normalize_expert_weights = false; }},
      {made_grovemoe(),
       {0.0114865f, -0.168156f, 0.360328f, -0.329058f, -0.245252f, 0.793207f},
       1e-5,
       [](Hparams& h) { h.chunk_scale = 0; }},
      {made_cohere2moe(),
       {0.411312f, -0.103043f, -0.839248f, -1.08581f, 0.329944f, -0.657677f},
       1e-5,
       [](Hparams& h) { h.shared_expert_scale = 1; }},
      {made_mimo2(),
       {0.204539f, 0.118647f, -0.113176f, -1.22653f, -0.726152f, 0.167135f},
       1e-5,
       [](Hparams& h) { h.attention_value_scale = 1; }},
      {made_step35(),
       {0.0775811f, -0.947822f, -0.733419f, 1.3518f, 0.0276852f, -0.656662f},
       1e-5,
       [](Hparams& h) { h.layers[1].clamp_experts = 0; }},
      {made_kimi_linear(),
       {0.907244f, 0.628519f, -0.973488f, 0.459509f, -0.0813019f, 0.853974f},
       1e-5,
       [](Hparams& h) { h.layers[1].use_rope = true; }},
      {made_bailingmoe3(),
       {-0.334465f, 0.325445f, -1.11341f, 0.127496f, 1.0772f, -1.90214f},
       1e-5,
       [](Hparams& h) { h.parts.edit<KimiDeltaSizes>().gate_bound = -3.0f; }},
      {made_laguna(),
       {0.351684f, -0.927484f, -0.303415f, 0.848111f, -0.0267685f, -0.416951f},
       1e-5,
       [](Hparams& h) { h.rope_windowed = h.rope; }},
      {made_talkie(),
       {0.34705f, -0.378961f, 0.180511f, -0.250882f, -0.178016f, 0.348715f},
       1e-5,
       [](Hparams& h) { h.rope_kind = RopeKind::kAdjacent; }},
      {made_chameleon(),
       {-FLT_MAX, -FLT_MAX, -0.265601f, -1.21215f, 0.0941336f, 0.399847f},  // suppressed tokens have -FLT_MAX
       1e-5,
       [](Hparams& h) { h.norms_follow = false; },
       8194},
      {made_deepseek2_ocr(),
       {-0.322472f, -1.50908f, 0.793098f, -0.611275f, 1.83513f, -0.816467f},
       1e-5,
       [](Hparams& h) { h.expert_weights_scale = 1; }},
      {made_muse_glimmer(),
       {-0.713155f, -0.32676f, -0.837765f, -0.0669394f, -0.611283f, 0.297119f},
       1e-5,
       [](Hparams& h) { h.logit_soft_cap.reset(); }},
      {made_minimax01(),
       {-1.48905f, -1.83129f, 0.375401f, 0.0926761f, -1.54175f, -0.27892f},
       1e-5,
       [](Hparams& h) { h.residual_scale = 1; }},
      {made_nanbeige(),
       {-1.71446f, 0.452463f, 0.795233f, 0.224067f, -0.700188f, -0.21539f},
       1e-5,
       [](Hparams& h) { h.norm_between_loops = false; }},
      {made_cogvlm(),
       {0.930176f, -0.0681001f, 0.239777f, -0.0389772f, -0.328794f, -1.76814f},
       1e-5,
       [](Hparams& h) { h.rope.freq_base = 1000.0f; }},
      {made_granite_swa(),
       {-0.479653f, -0.78337f, -0.343445f, 0.294958f, -0.0161388f, 0.089448f},
       1e-5,
       [](Hparams& h) { h.window = 5; }},
      {made_minicpm3(),
       {-3.14583f, -7.0626f, 9.59571f, -3.56449f, -5.89649f, -18.5088f},
       2e-5,
       [](Hparams& h) { h.residual_scale = 1; }},
      {made_nemotron_h_moe(),
       {-0.432864f, -1.01215f, -0.264346f, 1.1425f, -0.322573f, 0.040584f},
       1e-5,
       [](Hparams& h) { h.expert_weights_scale = 1; }},
      {made_gemma4(),
       {-0.164988f, 0.267818f, 0.465679f, -1.04993f, 0.0624455f, -0.0657706f},
       2e-2,
       [](Hparams& h) { h.layers[4].kv_layer = 0; }},
      // Only its windowed layers attend in both directions.
      {sees_both_ways(made_gemma4()),
       {-0.151166f, -0.151532f, 0.272306f, -0.944687f, -0.0421199f, -0.428656f},
       2e-2,
       [](Hparams& h) { h.full_layers_causal = false; }},
      // The convolution's kernel is centred on the token.
      {sees_both_ways(made_lfm2()),
       {-1.58935f, 1.49033f, 0.344808f, 0.24537f, -0.0981632f, 0.941649f},
       1e-5,
       [](Hparams& h) { h.causal = true; }},
      {made_lfm2(),
       {-1.39967f, 1.82611f, 0.379584f, 0.25068f, -0.345936f, 0.981678f},
       1e-5,
       [](Hparams& h) { h.layers[0].mixer = MixerKind::kShortConvolution, h.rope.freq_base = 10.0f; }},
      {made_llama4(),
       {-0.00235356f, -0.265911f, -1.02689f, 0.136397f, 0.934385f, 0.3582f},
       1e-5,
       [](Hparams& h) { h.rope_factors = RopeFactors::kNone; }},
  };
  const auto pool = make_pool();
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.model.architecture) {
      const auto file = parse_file(c.model.bytes());
      const LoadedModel loaded = load_model(*file, *pool);
      BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
      const std::vector<float> got = last_logits(*loaded.model, *pool, kTokens.size());
      BOOST_TEST(max_difference(std::span(got).subspan(c.first_logit, c.logits.size()), c.logits) <= c.tolerance);
      // A model with bidirectional attention cannot process a prompt in parts.
      for (const size_t n_batch : {loaded.model->hparams().causal ? size_t{1} : kTokens.size(),
                                   loaded.model->hparams().causal ? size_t{5} : kTokens.size()})
        BOOST_TEST(max_difference(last_logits(*loaded.model, *pool, n_batch), got) <= 1e-3);

      const Architecture& row = **find_architecture(c.model.architecture);
      auto hparams = read_hparams(file->gguf(), row);
      BOOST_REQUIRE(hparams.has_value());
      c.alter(*hparams);
      const Gguf gguf = file->gguf();
      const ModelFile files[] = {{&gguf, file->bytes.size()}};
      auto entries = tensor_entries(files);
      BOOST_REQUIRE(entries.has_value());
      auto altered = Model::open(row, std::move(*hparams), std::move(*entries));
      BOOST_REQUIRE_MESSAGE(altered.has_value(), (altered ? "" : altered.error().message));
      BOOST_REQUIRE(load_weights(**altered, *pool, file->bytes).has_value());
      BOOST_TEST(max_difference(last_logits(**altered, *pool, kTokens.size()), got) > 2 * c.tolerance);
    }
  }
}

// llama.cpp ignores these keys for these architectures, but files may contain them.
BOOST_AUTO_TEST_CASE(keys_without_effect_in_llama_cpp_are_ignored) {
  MadeModel yarn = made_decoder("seed_oss");
  for (uint64_t il = 0; il < 2; ++il) {
    yarn.tensors[block(il) + "post_attention_norm.weight"] = {16};
    yarn.tensors.erase(block(il) + "ffn_norm.weight");
  }
  yarn.strings["rope.scaling.type"] = "yarn";
  yarn.floats["rope.scaling.factor"] = 4.0f;
  yarn.integers["rope.scaling.original_context_length"] = 8;
  const auto pool = make_pool();
  const auto logits = [&](const MadeModel& m) {
    const auto file = parse_file(m.bytes());
    const LoadedModel loaded = load_model(*file, *pool);
    BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
    return last_logits(*loaded.model, *pool, kTokens.size());
  };
  const auto difference = [&](const MadeModel& m, const std::string& key, float value) {
    MadeModel with = m;
    if (value == 1) {
      with.booleans[key] = true;
    } else {
      with.floats[key] = value;
    }
    return max_difference(logits(with), logits(m));
  };
  BOOST_TEST(difference(yarn, "rope.scaling.factor", 8.0f) > 1e-3);
  MadeModel unsaid = yarn, zero = yarn;
  unsaid.integers.erase("rope.scaling.original_context_length");
  zero.integers["rope.scaling.original_context_length"] = 0;
  BOOST_TEST(max_difference(logits(unsaid), logits(zero)) == 0);
  for (const char* key : {"rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow",
                          "rope.scaling.yarn_log_multiplier", "embedding_scale", "residual_scale"})
    BOOST_TEST(difference(yarn, key, 2.0f) == 0, key);
  yarn.architecture = "mistral3";
  for (uint64_t il = 0; il < 2; ++il) {
    yarn.tensors[block(il) + "ffn_norm.weight"] = {16};
    yarn.tensors.erase(block(il) + "post_attention_norm.weight");
  }
  BOOST_TEST(difference(yarn, "rope.scaling.yarn_log_multiplier", 2.0f) > 1e-3);
  BOOST_TEST(difference(made_llada_moe("llada-moe"), "expert_weights_norm", 1) == 0);
  BOOST_TEST(difference(made_cohere2moe(), "rope.freq_base_swa", 7.0f) == 0);
  BOOST_TEST(difference(made_laguna(), "rope.freq_base_swa", 7.0f) > 1e-3);
  BOOST_TEST(difference(made_minicpm3(), "embedding_scale", 2.0f) == 0);
  // Windowed layers with the full layers' RoPE follow its "none".
  MadeModel none = made_cohere2moe();
  BOOST_TEST(difference(none, "rope.scaling.factor", 4.0f) > 1e-3);
  none.strings["rope.scaling.type"] = "none";
  BOOST_TEST(difference(none, "rope.scaling.factor", 4.0f) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
