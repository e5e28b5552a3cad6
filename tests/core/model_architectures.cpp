// Architectures without a reference vector, on models made here: what llama.cpp (0.7.0, CPU) gives for the same bytes.
#include <boost/test/unit_test.hpp>

#include "made_architectures.hpp"
#include "model/architecture.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_architectures)

namespace {

struct Case {
  MadeModel model;
  std::vector<float> logits;  ///< the first ones of the last token
  double tolerance;           ///< of llama.cpp's numbers; its GELU goes by a table of 16-bit floats
  void (*alter)(Hparams& h);  ///< takes away what makes it this architecture
};

const std::vector<int32_t> kTokens{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11};

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
  };
  const auto pool = make_pool();
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.model.architecture) {
      const auto file = parse_file(c.model.bytes());
      const LoadedModel loaded = load_model(*file, *pool);
      BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
      const std::vector<float> got = last_logits(*loaded.model, *pool, kTokens.size());
      BOOST_TEST(max_difference(std::span(got).first(c.logits.size()), c.logits) <= c.tolerance);
      for (const size_t n_batch : {size_t{1}, size_t{5}})
        BOOST_TEST(max_difference(last_logits(*loaded.model, *pool, n_batch), got) <= 1e-3);

      const Architecture& row = **find_architecture(c.model.architecture);
      auto hparams = read_hparams(file->gguf(), row);
      BOOST_REQUIRE(hparams.has_value());
      c.alter(*hparams);
      const Gguf gguf = file->gguf();
      const ModelFile files[] = {{&gguf, file->bytes.size()}};
      auto entries = tensor_entries(files);
      BOOST_REQUIRE(entries.has_value());
      auto altered = Model::open(row, *hparams, std::move(*entries));
      BOOST_REQUIRE_MESSAGE(altered.has_value(), (altered ? "" : altered.error().message));
      BOOST_REQUIRE(load_weights(**altered, *pool, file->bytes).has_value());
      BOOST_TEST(max_difference(last_logits(**altered, *pool, kTokens.size()), got) > 2 * c.tolerance);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
