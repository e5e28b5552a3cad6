// Tests that one fault gives one finding, which names what depends on it.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "gguf/lint/lint.hpp"
#include "gguf/parse.hpp"
#include "lint_recipes.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

namespace {

/// A change, and the findings after it, as "code: message".
struct Fault {
  const char* name;
  void (*change)(Recipe&);
  std::vector<std::string> findings;
};

/// Two blocks, so that several tensors depend on each key.
Recipe two_blocks() {
  Recipe r = sound();
  r.name = "";
  r.u32("llama.block_count", 2);
  const std::vector<Recipe::Tensor> first = r.tensors;
  for (Recipe::Tensor tensor : first) {
    if (!tensor.name.starts_with("blk.0.")) continue;
    tensor.name[4] = '1';
    tensor.offset = r.data;
    uint64_t n = 4;
    for (const uint64_t extent : tensor.shape) n *= extent;
    r.data += n;
    r.tensors.push_back(tensor);
  }
  return r;
}

std::vector<Finding> findings_in(const Recipe& r) {
  const Bytes bytes = r.bytes();
  ParseState state;
  const auto progress = parse_header(bytes, bytes.size(), state);
  BOOST_REQUIRE(progress.has_value() && progress->complete);
  return lint({state.header, bytes}, bytes.size(), r.name);
}

const Fault kFaults[] = {
    {"nothing", [](Recipe&) {}, {}},
    {"a required key is missing",
     [](Recipe& r) { r.keys.erase("llama.embedding_length"); },
     {"spec required-key: the specification requires llama.embedding_length",
      "error loader-key: llama.cpp requires llama.embedding_length, on which the shapes of 20 tensors depend"}},
    {"the count of heads is missing",
     [](Recipe& r) { r.keys.erase("llama.attention.head_count"); },
     {"spec required-key: the specification requires llama.attention.head_count",
      "error tensor-shape: llama.attention.head_count is missing, on which depend the shapes of 8 tensors"}},
    {"the feed-forward width is missing",
     [](Recipe& r) { r.keys.erase("llama.feed_forward_length"); },
     {"spec required-key: the specification requires llama.feed_forward_length",
      "error tensor-shape: llama.feed_forward_length is missing, on which depend the shapes of 6 tensors"}},
    {"the width is another one",
     [](Recipe& r) { r.u32("llama.embedding_length", 64), r.u32("llama.rope.dimension_count", 16); },
     {"error tensor-shape: tensor 'token_embd.weight' has 32 in dimension 0: llama.cpp wants 64; so it is in 19 more "
      "tensors"}},
    {"the feed-forward width is another one",
     [](Recipe& r) { r.u32("llama.feed_forward_length", 96); },
     {"error tensor-shape: tensor 'blk.0.ffn_up.weight' has 64 in dimension 1: llama.cpp wants 96; so it is in 5 more "
      "tensors"}},
    {"the count of key-value heads is another one",
     [](Recipe& r) { r.u32("llama.attention.head_count_kv", 2); },
     {"error tensor-shape: tensor 'blk.0.attn_k.weight' has 32 in dimension 1: llama.cpp wants 16; so it is in 3 more "
      "tensors"}},
    {"a converter for another program writes long names",
     [](Recipe& r) {
       r.text("general.architecture", "flux");
       for (const size_t i : {3u, 4u, 5u}) r.tensors[i].name = std::string(63, 'n') + std::to_string(i);
     },
     {"error architecture-keys: the architecture is 'flux', but there is llama.block_count",
      "note architecture-other: architecture 'flux' is not for llama.cpp but for ComfyUI-GGUF and "
      "stable-diffusion.cpp",
      "note beyond-ggml: 3 tensors, '" + std::string(60, 'n') +
          "...' first: ggml takes names of 63 bytes and 4 dimensions"}},
    {"the vocabulary is too short",
     [](Recipe& r) {
       r.strings("tokenizer.ggml.tokens", {"<unk>", "<0x0A>", "a"});
       r.tensors.push_back({"output.weight", {32, 4}, 0, r.data});
       r.data += 512;
     },
     {"error tensor-shape: tensor 'token_embd.weight' has 4 in dimension 1: llama.cpp wants 3; so it is in 1 more "
      "tensor"}},
    {"the vocabulary is too long",
     [](Recipe& r) {
       r.strings("tokenizer.ggml.tokens", {"<unk>", "<0x0A>", "a", "b", "c"});
     },
     {"error tensor-shape: tensor 'token_embd.weight' has 4 in dimension 1: llama.cpp wants 5"}},
    {"two arrays of the vocabulary are too long",
     [](Recipe& r) {
       r.array<float>("tokenizer.ggml.scores", kF32, {0, 0, -1, -2, -3});
       r.array<int32_t>("tokenizer.ggml.token_type", kI32, {2, 6, 1, 1, 1});
     },
     {"spec tokenizer-array-long: tokenizer.ggml.scores and tokenizer.ggml.token_type have 5 elements for 4 tokens"}},
    {"one tensor has another shape",
     [](Recipe& r) {
       r.tensors[3] = {"output_norm.weight", {16}, 0, 12800};
     },
     {"error tensor-shape: tensor 'output_norm.weight' has 16 in dimension 0: llama.cpp wants 32",
      "error tensor-gap: 64 bytes lie unused before tensor 'blk.0.attn_norm.weight'"}},
    {"the architecture has another known name",
     [](Recipe& r) { r.text("general.architecture", "qwen3"); },
     {"error architecture-keys: the architecture is 'qwen3', but there is llama.block_count"}},
    {"the architecture has an unknown name",
     [](Recipe& r) { r.text("general.architecture", "lama"); },
     {"spec architecture-unknown: architecture 'lama' is not among those of llama.cpp that this build knows",
      "error architecture-keys: the architecture is 'lama', but there is llama.block_count"}},
    {"the file is cut",
     [](Recipe& r) { r.data = 20000; },
     {"error data-truncated: the file is cut: 63072 of 85120 bytes are missing, and the data of 14 of "
      "20 tensors is not whole, from tensor 'blk.0.attn_v.weight' on"}},
    {"an offset points beyond the end of the file",
     [](Recipe& r) { r.tensors.back().offset = uint64_t{1} << 40; },
     {"error data-truncated: tensor 'blk.1.ffn_down.weight' begins beyond the end of the file"}},
    {"there are fewer blocks",
     [](Recipe& r) { r.u32("llama.block_count", 1); },
     {"error block-number: 9 tensors belong to none of the 1 block, the first is tensor 'blk.1.attn_q.weight'"}},
    {"there are more blocks",
     [](Recipe& r) { r.u32("llama.block_count", 5); },
     {"error block-missing: blocks 2 to 4 have no tensors"}},
    {"there is one more block",
     [](Recipe& r) { r.u32("llama.block_count", 3); },
     {"error block-missing: block 2 has no tensors"}},
    {"no row is whole blocks of the type that a quantizer was asked for",
     [](Recipe& r) { r.u32("general.file_type", 15); },
     {}},
    {"a type is unknown",
     [](Recipe& r) {
       for (Recipe::Tensor& tensor : r.tensors) tensor.type = 99999;
     },
     {"note file-type-present: general.file_type says F32, but no tensor is F32",
      "error unknown-type: tensor 'token_embd.weight' and 19 more are of type 99999, which ggml does not know"}},
    {"the name is not the convention's", [](Recipe& r) { r.name = "model.gguf"; }, {}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lint_faults)

BOOST_AUTO_TEST_CASE(one_fault_is_one_finding) {
  for (const Fault& fault : kFaults) {
    Recipe r = two_blocks();
    fault.change(r);
    std::vector<std::string> found;
    for (const Finding& f : findings_in(r))
      found.push_back(std::string(finding_level_name(f.level)) + " " + std::string(f.code) + ": " + f.message);
    std::vector<std::string> expected = fault.findings;
    std::ranges::sort(found);
    std::ranges::sort(expected);
    BOOST_TEST_CONTEXT(fault.name) { BOOST_TEST(found == expected, boost::test_tools::per_element()); }
  }
}

BOOST_AUTO_TEST_CASE(what_is_missing_has_no_place) {
  Recipe r = two_blocks();
  r.keys.erase("llama.embedding_length");
  for (const Finding& f : findings_in(r)) BOOST_TEST(f.offset == kNoPlace, f.message);
  r = two_blocks();
  r.name = "model.gguf";
  const Bytes bytes = r.bytes();
  ParseState state;
  BOOST_REQUIRE(parse_header(bytes, bytes.size(), state).has_value());
  const auto strict = lint({state.header, bytes}, bytes.size(), r.name, kStrict);
  BOOST_REQUIRE(strict.size() == 1u);
  BOOST_TEST(strict[0].code == "file-name");
  BOOST_TEST(strict[0].offset == kNoPlace);
}

BOOST_AUTO_TEST_SUITE_END()
