// The catalogues: standardized keys, file types, kinds of files.
#include "gguf/keys.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "data.hpp"
#include "gguf/ftype.hpp"
#include "gguf/parse.hpp"
#include "gguf_bytes.hpp"
#include "types/types.hpp"

using namespace ggufscope;
using test::Bytes;
using test::GgufBytes;
using enum ggufscope::ValueType;

namespace {

std::string kind_of(const Bytes& bytes) {
  ParseState state;
  BOOST_REQUIRE(parse_header(bytes, bytes.size(), state).has_value());
  return std::string(file_kind_name(file_kind({state.header, bytes})));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keys)

BOOST_AUTO_TEST_CASE(every_standard_key_is_found_and_has_a_description) {
  std::set<std::string_view> patterns;
  for (const StandardKey& row : standard_keys()) {
    BOOST_TEST_CONTEXT(row.pattern) {
      BOOST_TEST(patterns.insert(row.pattern).second);
      std::string key(row.pattern);
      for (const auto& [placeholder, text] :
           {std::pair{"{arch}", "qwen2-x"}, std::pair{"{id}", "17"}, std::pair{"{name}", "dense_2"},
            std::pair{"{tensor}", "blk.0.attn_q.weight"}})
        for (size_t at = 0; (at = key.find(placeholder)) != std::string::npos;)
          key.replace(at, std::string_view(placeholder).size(), text);
      BOOST_TEST(find_standard_key(key) == &row);
      const std::string_view meaning = find_key_meaning(key)->meaning;
      BOOST_TEST(meaning.size() > 10u);
      BOOST_TEST(meaning.ends_with('.'));
      if (!row.pattern.ends_with('}')) BOOST_TEST(find_standard_key(key + "x") != &row);
    }
  }
  BOOST_TEST(patterns.size() > 250u);
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_not_found) {
  for (const char* key : {"", "general", "general.", "general.nam", "general.names", ".context_length", "llama.",
                          "general.base_model.x.name", "general.base_model..name", "a.b.context_length", "__proto__",
                          "llama.attention.", "_feat_in", "tokenizer.chat_template.", "comfy.gguf.orig_shape."})
    BOOST_TEST(find_standard_key(key) == nullptr, key);
}

BOOST_AUTO_TEST_CASE(value_types_are_checked) {
  const auto fits = [](std::string_view key, ValueType type, ValueType element) {
    KeyValue kv;
    kv.type = type;
    kv.element_type = element;
    return has_type_of(kv, *find_standard_key(key));
  };
  BOOST_TEST(fits("llama.context_length", kU32, kU32));
  BOOST_TEST(fits("llama.context_length", kU64, kU64));
  BOOST_TEST(!fits("llama.context_length", kI32, kI32));
  BOOST_TEST(!fits("llama.context_length", kF32, kF32));
  BOOST_TEST(!fits("llama.context_length", kArray, kU32));
  BOOST_TEST(fits("llama.attention.head_count", kArray, kU32));
  BOOST_TEST(fits("llama.attention.head_count", kArray, kI32));
  BOOST_TEST(fits("tokenizer.ggml.tokens", kArray, kString));
  BOOST_TEST(!fits("tokenizer.ggml.tokens", kString, kString));
  BOOST_TEST(!fits("tokenizer.ggml.scores", kArray, kF64));
}

BOOST_AUTO_TEST_CASE(file_types_have_their_name_and_tensor_type) {
  BOOST_TEST(find_file_type(15)->name == "Q4_K_M");
  BOOST_TEST(find_file_type(15 | kFileTypeGuessed)->name == "Q4_K_M");
  BOOST_TEST(find_file_type(42) == nullptr);
  BOOST_TEST(find_file_type(~0u) == nullptr);
  for (const FileType& row : file_types()) {
    BOOST_REQUIRE(find_type(row.type) != nullptr);
    if (!row.removed) BOOST_TEST(!find_type(row.type)->removed);
  }
}

BOOST_AUTO_TEST_CASE(kinds_of_files_are_recognized) {
  BOOST_TEST(kind_of(GgufBytes(0, 0).out) == "metadata");
  BOOST_TEST(kind_of(GgufBytes(0, 1).kv("tokenizer.ggml.model", "llama").out) == "vocabulary");
  BOOST_TEST(kind_of(GgufBytes(1, 0).tensor("a", {1}, 0, 0).out) == "model");
  BOOST_TEST(kind_of(GgufBytes(0, 1).kv("split.tensors.count", kI32, int32_t{4}).out) == "model");
  BOOST_TEST(kind_of(GgufBytes(1, 1).kv("adapter.type", "lora").tensor("a", {1}, 0, 0).out) == "adapter");
  BOOST_TEST(kind_of(GgufBytes(1, 1).kv("general.type", "imatrix").tensor("a", {1}, 0, 0).out) == "imatrix");
  BOOST_TEST(kind_of(GgufBytes(1, 1).kv("general.architecture", "clip").tensor("a", {1}, 0, 0).out) == "projector");
  BOOST_TEST(kind_of(GgufBytes(1, 1).kv("general.type", "mmproj").tensor("a", {1}, 0, 0).out) == "projector");
}

BOOST_AUTO_TEST_CASE(kinds_of_real_files_are_recognized,
                     *boost::unit_test::precondition(test::needs_shared("data/misc"))) {
  BOOST_TEST(kind_of(test::read_file(test::shared("data/misc/control_vector.gguf"))) == "control-vector");
  BOOST_TEST(kind_of(test::read_file(test::shared("data/vocab/ggml-vocab-gpt-2.gguf"))) == "vocabulary");
  BOOST_TEST(kind_of(test::read_file(test::shared("data/misc/superpoint.gguf"))) == "model");
}

BOOST_AUTO_TEST_SUITE_END()
