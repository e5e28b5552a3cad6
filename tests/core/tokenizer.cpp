// Compares tokenizers with llama.cpp's results if the shared vectors exist. tokenizer_own.cpp runs without them.
#include "text/tokenizer.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "json.hpp"
#include "made_vocabularies.hpp"

using namespace ggufscope;
using test::open_tokenizer;

namespace {

std::vector<std::string> split_at(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t at; (at = text.find(separator, begin)) != std::string::npos; begin = at + separator.size())
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::string show(const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) out += std::to_string(id) + " ";
  return out;
}

const std::string kInputs[] = {"bert-bge",  "deepseek-llm", "falcon", "gpt-2",    "llama-bpe",
                               "llama-spm", "mpt",          "phi-3",  "starcoder"};
const std::string kVectors[] = {"ggml-vocab-baichuan",
                                "ggml-vocab-bert-bge",
                                "ggml-vocab-deepseek-llm",
                                "ggml-vocab-falcon",
                                "ggml-vocab-gpt-2",
                                "ggml-vocab-gpt-neox",
                                "ggml-vocab-llama-spm",
                                "ggml-vocab-mpt",
                                "ggml-vocab-phi-3",
                                "ggml-vocab-starcoder",
                                "llama-bpe.derived",
                                "tiny-bert",
                                "tiny-gpt2",
                                "tiny-llama",
                                "tiny-rwkv6",
                                "tiny-t5"};

/// Encodes and decodes each text of a file as llama.cpp did. Returns the number of texts.
size_t check_answers(const std::string& name, const Tokenizer& tokenizer, const std::filesystem::path& file) {
  size_t cases = 0;
  for (const std::string& line : split_at(test::read_text(file), "\n")) {
    if (line.empty()) continue;
    const test::Json json = test::JsonReader(line).value();
    const std::string text = json["text"].bytes();
    const std::vector<TokenId> ids = json["ids"].integers(), ids_special = json["ids_special"].integers();
    const auto got = tokenizer.encode(text), got_special = tokenizer.encode(text, {.special = true, .bos = true});
    BOOST_CHECK_MESSAGE(got == ids, name << " '" << text << "': " << show(got) << "not " << show(ids));
    BOOST_CHECK_MESSAGE(got_special == ids_special,
                        name << " special '" << text << "': " << show(got_special) << "not " << show(ids_special));
    BOOST_CHECK_EQUAL(tokenizer.decode(ids), json["detok"].bytes());
    BOOST_CHECK_EQUAL(tokenizer.decode(ids_special), json["detok_special"].bytes());
    BOOST_CHECK_EQUAL(tokenizer.decode(ids_special, {.remove_special = true, .special = false}),
                      json["detok_special_removed"].bytes());
    ++cases;
  }
  return cases;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tokenizer)

BOOST_AUTO_TEST_CASE(ids_match_llama_cpp_test_files,
                     *boost::unit_test::precondition(test::needs_shared("data/vocab"))) {
  for (const std::string& name : kInputs) {
    const std::string file = "data/vocab/ggml-vocab-" + name + ".gguf";
    const Tokenizer tokenizer =
        open_tokenizer(test::shared(name == "llama-bpe" ? "data/vocab/llama-bpe.derived.gguf" : file));
    const auto inputs = split_at(test::read_text(test::shared(file + ".inp")), "\n__ggml_vocab_test__\n");
    const auto outputs = split_at(test::read_text(test::shared(file + ".out")), "\n");
    BOOST_REQUIRE(outputs.size() >= inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<TokenId> wanted;
      for (const std::string& id : split_at(outputs[i], " "))
        if (!id.empty()) wanted.push_back(std::stoi(id));
      const auto got = tokenizer.encode(inputs[i]);
      BOOST_CHECK_MESSAGE(got == wanted,
                          name << " case " << i << " '" << inputs[i] << "': " << show(got) << "not " << show(wanted));
    }
  }
}

BOOST_AUTO_TEST_CASE(ids_match_reference_vectors,
                     *boost::unit_test::precondition(test::needs_shared("vectors/tokenize"))) {
  test::EveryNth taken{2};  // the package's tests take all
  for (const std::string& name : kVectors) {
    if (!taken.takes_next()) continue;
    const bool tiny = name.starts_with("tiny-");
    const Tokenizer tokenizer = open_tokenizer(
        test::shared(tiny ? "vectors/arch/" + name.substr(5) + "/model.gguf" : "data/vocab/" + name + ".gguf"));
    BOOST_CHECK_EQUAL(check_answers(name, tokenizer, test::shared("vectors/tokenize/" + name + ".jsonl")), 150u);
  }
}

BOOST_AUTO_TEST_CASE(ids_match_the_vectors_of_newer_pre_tokenizers,
                     *boost::unit_test::precondition(test::needs_shared("vectors/new/tokenize"))) {
  for (const auto& entry : std::filesystem::directory_iterator(test::shared("vectors/new/tokenize"))) {
    if (entry.path().extension() != ".gguf") continue;
    std::filesystem::path answers = entry.path();
    const Tokenizer tokenizer = open_tokenizer(entry.path());
    BOOST_CHECK(check_answers(entry.path().stem().string(), tokenizer, answers.replace_extension(".jsonl")) > 0u);
  }
}

// The project contains a vocabulary of each kind, so this also runs without the shared vectors.
BOOST_AUTO_TEST_CASE(vocabularies_of_each_kind_match_llama_cpp) {
  for (const std::string name : {"arch/llama", "arch/mamba", "arch/qwen3moe", "vocab/wordpiece", "vocab/unigram",
                                 "vocab/rwkv", "vocab/plamo2"}) {
    const Tokenizer tokenizer = open_tokenizer(test::fixture("golden/" + name + "/model.gguf"));
    const std::string file = "golden/tokenize/" + name.substr(name.find('/') + 1) + ".jsonl";
    BOOST_CHECK_EQUAL(check_answers(name, tokenizer, test::fixture(file)), 10u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
