// The naming convention: the specification's own examples, real names, and the edges of its pattern.
#include "gguf/names.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace ggufscope;

namespace {

struct NameCase {
  const char* name;
  bool conforms;
  const char *sidecar, *base, *size, *tune, *version, *encoding, *type;
  uint32_t shard = 0, n_shards = 0;
};

// clang-format off
constexpr NameCase kNames[] = {
    // The specification's examples.
    {"Mixtral-8x7B-v0.1-KQ2.gguf", true, "", "Mixtral", "8x7B", "", "v0.1", "KQ2", ""},
    {"Grok-100B-v1.0-Q4_0-00003-of-00009.gguf", true, "", "Grok", "100B", "", "v1.0", "Q4_0", "", 3, 9},
    {"Hermes-2-Pro-Llama-3-8B-v1.0-F16.gguf", true, "", "Hermes-2-Pro-Llama-3", "8B", "", "v1.0", "F16", ""},
    {"Phi-3-mini-3.8B-ContextLength4k-instruct-v1.0.gguf", true, "", "Phi-3-mini", "3.8B-ContextLength4k", "instruct", "v1.0", "", ""},
    {"mtp-Qwen3-27B-v1.0-Q4_K_M.gguf", true, "mtp", "Qwen3", "27B", "", "v1.0", "Q4_K_M", ""},
    {"mmproj-Qwen2-VL-7B-v1.0-F16.gguf", true, "mmproj", "Qwen2-VL", "7B", "", "v1.0", "F16", ""},
    {"not-a-known-arrangement.gguf", false, "", "not-a-known-arrangement", "", "", "", "", ""},
    {"Hermes-2-Pro-Llama-3-8B-F16.gguf", false, "", "Hermes-2-Pro-Llama-3", "8B", "", "", "F16", ""},
    // The edges of the pattern.
    {"Foo--v1.gguf", true, "", "Foo", "", "", "v1", "", ""},
    {"Foo-v1.gguf", false, "", "Foo", "", "", "v1", "", ""},
    {"A-1B-v1-v2.gguf", true, "", "A", "1B", "v1", "v2", "", ""},
    {"A-1B-v1.0-v2.gguf", true, "", "A", "1B", "", "v1.0", "v2", ""},
    {"A-1B-v1.0-LoRA.gguf", true, "", "A", "1B", "", "v1.0", "", "LoRA"},
    {"A-1B-v1.0-F16-LoRA.gguf", true, "", "A", "1B", "", "v1.0", "F16", "LoRA"},
    {"A-1B-v1.0-vocab-00001-of-00002.gguf", true, "", "A", "1B", "", "v1.0", "", "vocab", 1, 2},
    {"A-1B-v1.0-vocabulary.gguf", false, "", "A", "1B", "", "v1.0", "", ""},
    {"A b-1.5B-x y-v1.2.3-Q8_0.gguf", true, "", "A b", "1.5B", "x y", "v1.2.3", "Q8_0", ""},
    {"A-1B-v1.-Q8_0.gguf", false, "", "A", "1B", "v1.", "", "Q8_0", ""},
    {"A-1B-v1.0-00000-of-00002.gguf", false, "", "A", "1B", "", "v1.0", "", ""},
    {"A-1B-v1.0-00003-of-00002.gguf", false, "", "A", "1B", "", "v1.0", "", ""},
    {"8B-1B-v1.0.gguf", true, "", "8B", "1B", "", "v1.0", "", ""},
    {"A-8B-1B-v1.0.gguf", true, "", "A", "8B", "1B", "v1.0", "", ""},
    // Names of real files.
    {"Llama-3.2-1B-Instruct-Q4_K_M.gguf", false, "", "Llama-3.2", "1B", "Instruct", "", "Q4_K_M", ""},
    {"llama-2-7b-chat.Q4_K_M.gguf", false, "", "llama-2", "7b", "chat", "", "Q4_K_M", ""},
    {"gpt-oss-120b-mxfp4-00001-of-00003.gguf", false, "", "gpt-oss", "120b", "", "", "mxfp4", "", 1, 3},
    {"mmproj-model-f16.gguf", false, "mmproj", "model", "", "", "", "f16", ""},
    {"tinyllama.gguf", false, "", "tinyllama", "", "", "", "", ""},
    {"-.gguf", false, "", "-", "", "", "", "", ""},
    {".gguf", false, "", "", "", "", "", "", ""},
    {"mmproj-.gguf", false, "mmproj", "", "", "", "", "", ""},
    {"model.bin", false, "", "", "", "", "", "", ""},
    {"", false, "", "", "", "", "", "", ""},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(file_names_are_parsed) {
  for (const NameCase& c : kNames) {
    BOOST_TEST_CONTEXT(c.name) {
      const FileName name = parse_file_name(c.name);
      BOOST_TEST(name.conforms == c.conforms);
      BOOST_TEST(name.sidecar == c.sidecar);
      BOOST_TEST(name.base_name == c.base);
      BOOST_TEST(name.size_label == c.size);
      BOOST_TEST(name.fine_tune == c.tune);
      BOOST_TEST(name.version == c.version);
      BOOST_TEST(name.encoding == c.encoding);
      BOOST_TEST(name.type == c.type);
      BOOST_TEST(name.shard == c.shard);
      BOOST_TEST(name.n_shards == c.n_shards);
      if (name.conforms && !name.size_label.empty()) BOOST_TEST(format_file_name(name) == c.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(shard_names_are_parsed_and_listed) {
  const auto shard = parse_shard("big-Q4_K_M-00002-of-00003.gguf");
  BOOST_REQUIRE(shard.has_value());
  BOOST_TEST(shard->prefix == "big-Q4_K_M");
  BOOST_TEST(shard->number == 2u);
  const std::vector<std::string> expected = {"big-Q4_K_M-00001-of-00003.gguf", "big-Q4_K_M-00002-of-00003.gguf",
                                             "big-Q4_K_M-00003-of-00003.gguf"};
  BOOST_TEST(shard_names(*shard) == expected, boost::test_tools::per_element());
  for (const char* name : {"big.gguf", "00002-of-00003.gguf", "big-0002-of-00003.gguf", "big-00002-of-00003.bin",
                           "big-00002_of_00003.gguf", "big-00004-of-00003.gguf", "big-0000a-of-00003.gguf"})
    BOOST_TEST(!parse_shard(name).has_value(), name);
}

BOOST_AUTO_TEST_CASE(encodings_are_recognized) {
  for (const char* word : {"Q4_0", "Q4_K_M", "q8_0", "IQ2_XXS", "TQ1_0", "F16", "bf16", "MXFP4_MOE", "NVFP4", "Q6_K"})
    BOOST_TEST(is_encoding(word), word);
  for (const char* word : {"Qwen3", "Q", "Instruct", "F15", "", "Q4-K", "Quant"}) BOOST_TEST(!is_encoding(word), word);
}

BOOST_AUTO_TEST_SUITE_END()
