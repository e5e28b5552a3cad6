// Changes each architecture's distinguishing feature: the logits must change by much more than model.cpp's tolerance.
#include <boost/test/unit_test.hpp>

#include "model/mixers/mamba.hpp"
#include "model/mixers/rwkv.hpp"
#include "model_data.hpp"
using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_features, *boost::unit_test::label("floats"))

namespace {

struct Alteration {
  const char* model;  ///< folder of the vectors
  const char* feature;
  void (*alter)(Architecture& a, Hparams& h);
  const char* emptied = "";  ///< the tensors with this in their names are set to zeros
};

void flip_rope(Architecture&, Hparams& h) {
  h.rope_kind = h.rope_kind == RopeKind::kHalves ? RopeKind::kAdjacent : RopeKind::kHalves;
}
void no_rope(Architecture&, Hparams& h) {
  for (LayerParameters& layer : h.layers) layer.use_rope = false;
}
void all_rope(Architecture&, Hparams& h) {
  for (LayerParameters& layer : h.layers) layer.use_rope = true;
}
void no_window(Architecture&, Hparams& h) {
  for (LayerParameters& layer : h.layers) layer.windowed = false;
}
void wider_window(Architecture&, Hparams& h) { h.window += 2; }
void one_expert(Architecture&, Hparams& h) { h.n_expert_used = 1; }
void other_weights(Architecture&, Hparams& h) { h.normalize_expert_weights = !h.normalize_expert_weights; }
void other_gating(Architecture&, Hparams& h) {
  h.gating = h.gating == Gating::kSigmoid ? Gating::kSoftmax : Gating::kSigmoid;
}
void not_parallel(Architecture&, Hparams& h) { h.parallel = !h.parallel; }
void gentler_alibi(Architecture&, Hparams& h) { h.max_alibi_bias /= 2; }
void silu(Architecture&, Hparams& h) { h.activation = Activation::kSilu; }
void gelu(Architecture&, Hparams& h) { h.activation = Activation::kGelu; }
void other_norm(Architecture&, Hparams& h) { h.norm = h.norm == NormKind::kRms ? NormKind::kLayer : NormKind::kRms; }
void nothing(Architecture&, Hparams&) {}
void causal(Architecture&, Hparams& h) { h.causal = !h.causal; }

// clang-format off
const Alteration kAlterations[] = {
    {"llama", "rope kind", flip_rope},
    {"llama", "activation", gelu},
    {"llama-gqa", "rope base", [](Architecture&, Hparams& h) { h.rope.freq_base = 10000.0f; }},
    {"llama-moe", "experts used", one_expert},
    {"llama-moe", "weights normalized", other_weights},
    {"llama-rope-linear", "rope scale", [](Architecture&, Hparams& h) { h.rope.freq_scale = 1.0f; }},
    {"llama-rope-yarn", "yarn", [](Architecture&, Hparams& h) { h.rope.ext_factor = 0.0f; }},
    {"llama-rope-yarn", "yarn's magnitude", [](Architecture&, Hparams& h) { h.rope.attn_factor *= 1.1f; }},
    {"llama-rope-yarn", "yarn's context", [](Architecture&, Hparams& h) { h.rope.n_ctx_original = 256; }},
    {"mpt", "ALiBi slope", gentler_alibi},
    {"mpt-full", "clamp", [](Architecture&, Hparams& h) { h.clamp_kqv = 0; }},
    {"gptneox", "parallel residual", not_parallel},
    {"gptneox", "rope kind", flip_rope},
    {"gptneox-serial", "serial residual", not_parallel},
    {"gpt2", "activation", silu},
    {"gpt2", "norm", other_norm},
    {"bloom", "ALiBi slope", gentler_alibi},
    {"falcon-7b", "parallel residual", not_parallel},
    {"falcon-7b", "rope kind", flip_rope},
    {"falcon-40b", "rope kind", flip_rope},
    {"mamba", "norms of dt, B, C", [](Architecture&, Hparams& h) { h.parts.edit<MambaSizes>().norms = true; }},
    {"rwkv6", "rescaling", [](Architecture&, Hparams& h) { h.parts.edit<RwkvSizes>().rescale_every = 0; }},
    {"rwkv7", "norm", other_norm},
    {"rwkv7", "head size", [](Architecture&, Hparams& h) { h.parts.edit<RwkvSizes>().head_size /= 2; }},
    {"rwkv7", "bonus of the token itself", nothing, "time_mix_r_k.weight"},
    {"rwkv7", "removal of keys", nothing, "time_mix_k_k.weight"},
    {"rwkv7", "rate of learning", nothing, "time_mix_a2.weight"},
    {"rwkv7", "decay", nothing, "time_mix_w2.weight"},
    {"rwkv7", "values of the first layer", nothing, "time_mix_v0.weight"},
    {"rwkv7", "gate", nothing, "time_mix_g2.weight"},
    {"rwkv7", "token shift", nothing, "time_mix_lerp_fused.weight"},
    {"rwkv7", "channel mix", nothing, "channel_mix_lerp_k.weight"},
    {"qwen2", "rope kind", flip_rope},
    {"qwen3", "norm before rope", [](Architecture& a, Hparams&) { a.qk_norm_after_rope = true; }},
    {"qwen2moe", "experts used", one_expert},
    {"qwen2moe", "weights not normalized", other_weights},
    {"qwen3moe", "weights normalized", other_weights},
    {"qwen3moe", "gating", other_gating},
    {"gemma", "embedding scale", [](Architecture&, Hparams& h) { h.embedding_scale = 1; }},
    {"gemma", "activation", silu},
    {"gemma2", "attention soft cap", [](Architecture&, Hparams& h) { h.attention_soft_cap = 0; }},
    {"gemma2", "logit soft cap", [](Architecture&, Hparams& h) { h.logit_soft_cap.reset(); }},
    {"gemma2", "window", no_window},
    {"gemma2", "window's width", wider_window},
    {"gemma3", "window", no_window},
    {"gemma3", "rope of windowed layers", [](Architecture&, Hparams& h) { h.rope_windowed = h.rope; }},
    {"phi2", "parallel residual", not_parallel},
    {"phi2", "rope kind", flip_rope},
    {"phi3", "rope kind", flip_rope},
    {"phi3-longrope-long", "magnitude", [](Architecture&, Hparams& h) { h.rope.attn_factor = 1; }},
    {"phi3-longrope-long", "which factors", [](Architecture&, Hparams& h) { h.rope.n_ctx_original = 1024; }},
    {"stablelm", "rope kind", flip_rope},
    {"stablelm-parallel", "kind of head norm", [](Architecture& a, Hparams&) { a.qk_norm_kind = NormKind::kRms; }},
    {"starcoder2", "activation", silu},
    {"olmo2", "norm placement", [](Architecture& a, Hparams&) { a.norm_after_residual = true; }},
    {"granite", "residual scale", [](Architecture&, Hparams& h) { h.residual_scale = 1; }},
    {"granite", "attention scale", [](Architecture&, Hparams& h) { h.attention_scale.reset(); }},
    {"granite", "logit scale", [](Architecture&, Hparams& h) { h.logit_scale = 1; }},
    {"smollm3", "layers without rope", all_rope},
    {"smollm3", "layers with rope", no_rope},
    {"bert", "norm placement", [](Architecture& a, Hparams&) { a.norm_after_residual = false; }},
    {"bert", "both ways", causal},
    {"nomic-bert", "rope kind", flip_rope},
    {"nomic-bert", "both ways", causal},
    {"nomic-bert-moe", "experts used", one_expert},
    {"cohere2", "layers without rope", all_rope},
    {"gpt-oss", "window's width", wider_window},
    {"gpt-oss", "softmax of the chosen", other_gating},
    {"llama4", "weight before the experts", [](Architecture& a, Hparams&) { a.weigh_before_experts = false; }},
    {"mistral3", "temperature", [](Architecture&, Hparams& h) { h.temperature_scale = 0; }},
    {"modern-bert", "window's width", wider_window},
    {"apertus", "xIELU", [](Architecture&, Hparams& h) { for (LayerParameters& layer : h.layers) layer.xielu.alpha_n = 0; }},
    {"hunyuan-dense", "norm after rope", [](Architecture& a, Hparams&) { a.qk_norm_after_rope = false; }},
    {"deepseek2", "gating", other_gating},
    {"t5encoder", "position buckets", [](Architecture&, Hparams& h) { h.causal = true; }},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(changing_a_feature_changes_the_logits,
                     *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  const auto pool = make_pool();
  for (const Alteration& alteration : kAlterations) {
    BOOST_TEST_CONTEXT(alteration.model << ": " << alteration.feature) {
      const auto folder = shared("vectors/arch") / alteration.model;
      const std::string meta = read_text(folder / "meta.json");
      const auto file = parse_file(read_file(folder / "model.gguf"));
      size_t n_emptied = 0;
      for (const TensorInfo& tensor : file->state.header.tensors) {
        if (*alteration.emptied == 0 || !file->gguf().text(tensor.name).ends_with(alteration.emptied)) continue;
        std::memset(file->bytes.data() + tensor.offset, 0, static_cast<size_t>(tensor.n_bytes));
        ++n_emptied;
      }
      BOOST_TEST((n_emptied > 0) == (*alteration.emptied != 0));
      Architecture row = **find_architecture(json_string(meta, "arch"));
      auto hparams = read_hparams(file->gguf(), row);
      const Gguf gguf = file->gguf();
      const ModelFile whole{&gguf, file->bytes.size()};
      auto tensors = tensor_entries({&whole, 1});
      BOOST_REQUIRE(hparams.has_value() && tensors.has_value());
      alteration.alter(row, *hparams);
      auto model = Model::open(row, std::move(*hparams), *tensors);
      BOOST_REQUIRE_MESSAGE(model.has_value(), (model ? "" : model.error().message));
      BOOST_REQUIRE(load_weights(**model, *pool, file->bytes).has_value());
      const auto state = make_state(**model, *pool, {.n_ctx = 256, .n_batch = 64});
      const auto tokens = json_integers(read_text(folder / "tokens.json"), "");
      const auto got = evaluate(**model, *state, *pool, tokens);
      const auto want = read_floats(folder / json_string(meta, "compare_with"));
      const double tolerance = json_number(meta.substr(meta.find("\"tolerance\"")), "max_abs");
      BOOST_TEST(max_difference(got, want) > 10 * tolerance);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
