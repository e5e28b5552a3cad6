// The table of tensors that llama.cpp wants (gguf/tensors.inc) against the engine's own plan of every architecture, on
// the reference models and on those made here.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "gguf/access.hpp"
#include "gguf/lint.hpp"
#include "made_architectures.hpp"
#include "made_variants.hpp"
#include "model/architecture.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

namespace {

ParsedFile whole_header(Bytes bytes) {
  ParsedFile file{std::move(bytes), {}};
  const auto progress = parse_header(file.bytes, file.bytes.size(), file.state);
  BOOST_REQUIRE(progress.has_value() && progress->complete);
  return file;
}

/// visit(name, file) for every model there is.
template <class Visit>
void each_small_model(Visit visit) {
  std::vector<MadeModel> made = made_variants();
  for (MadeModel (*make)() : {made_llama, made_arctic, made_deci, made_gemma3n, made_mistral4, made_plamo2})
    made.push_back(make());
  for (const MadeModel& model : made)
    // Its tensors are larger than this one says.
    if (model.architecture != "chameleon") visit("made " + model.architecture, whole_header(model.bytes()));
  if (!std::filesystem::exists(shared("vectors/arch"))) return;
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/arch")))
    if (entry.is_directory())
      visit(entry.path().filename().string(), whole_header(read_file(entry.path() / "model.gguf")));
}

size_t count_findings(const ParsedFile& file, std::string_view code) {
  const auto findings = lint(file.gguf());
  return static_cast<size_t>(std::ranges::count(findings, code, &Finding::code));
}

bool engine_takes(const ParsedFile& file) { return Model::open(file.gguf(), std::nullopt).has_value(); }

/// visit(i) for the first tensor of each name, without its block.
template <class Visit>
void each_kind_of_tensor(const ParsedFile& file, Visit visit) {
  std::set<std::string> seen;
  for (size_t i = 0; i < file.state.header.tensors.size(); ++i) {
    std::string name(file.gguf().text(file.state.header.tensors[i].name));
    if (const size_t at = name.find("blk."); at != std::string::npos)
      name.erase(at + 4, name.find('.', at + 4) - at - 4);
    if (seen.insert(name).second) visit(i, name);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lint_of_tensors)

BOOST_AUTO_TEST_CASE(whole_models_have_no_findings) {
  each_small_model([](const std::string& name, const ParsedFile& file) {
    for (const Finding& f : lint(file.gguf()))
      if (f.code.starts_with("tensor-") || f.code.starts_with("block-")) BOOST_ERROR(name << ": " << f.message);
  });
}

/// "architecture part": the engine cannot do without them, but llama.cpp's loader asks for none of them.
bool is_optional_for_loader(std::string_view architecture, std::string_view part) {
  static const std::set<std::string> all = {
      "arwkv7 blk..time_mix_g1.weight",
      "falcon blk..attn_norm_2.bias",
      "falcon blk..attn_norm_2.weight",
      "gemma4 blk..attn_k.weight",
      "gemma4 blk..attn_k_norm.weight",
      "gemma4 per_layer_model_proj.weight",
      "gemma4 per_layer_proj_norm.weight",
      "gemma4 per_layer_token_embd.weight",
      "grok blk..layer_output_norm.weight",
      "kimi-linear blk..ffn_down_shexp.weight",
      "kimi-linear blk..ffn_up_shexp.weight",
      "kimi-linear blk..ssm_a",
      "kimi-linear blk..ssm_conv1d_k.weight",
      "kimi-linear blk..ssm_conv1d_q.weight",
      "kimi-linear blk..ssm_conv1d_v.weight",
      "mimo2 blk..ffn_down.weight",
      "mimo2 blk..ffn_down_exps.weight",
      "mimo2 blk..ffn_gate_inp.weight",
      "mimo2 blk..ffn_up.weight",
      "mimo2 blk..ffn_up_exps.weight",
      "nemotron_h_moe blk..ffn_latent_down.weight",
      "nemotron_h_moe blk..ffn_latent_up.weight",
      "plamo2 output.weight",
      "qwen35 blk..attn_gate.weight",
      "qwen35 blk..attn_qkv.weight",
      "qwen3next blk..attn_gate.weight",
      "qwen3next blk..attn_qkv.weight",
      "rwkv6 blk..time_mix_lerp_fused.weight",
      "stablelm blk..ffn_norm.bias",
      "stablelm blk..ffn_norm.weight",
      "step35 blk..ffn_down.weight",
      "step35 blk..ffn_down_exps.weight",
      "step35 blk..ffn_down_shexp.weight",
      "step35 blk..ffn_gate_inp.weight",
      "step35 blk..ffn_up.weight",
      "step35 blk..ffn_up_exps.weight",
      "step35 blk..ffn_up_shexp.weight",
      "t5 dec.blk..attn_rel_b.weight",
      "t5 enc.blk..attn_rel_b.weight",
      "t5encoder enc.blk..attn_rel_b.weight",
  };
  // A rule of its own speaks of the embeddings.
  return part == "token_embd.weight" || all.contains(std::string(architecture) + " " + std::string(part));
}

BOOST_AUTO_TEST_CASE(what_the_engine_cannot_do_without_is_missed) {
  size_t n_missed = 0;
  each_small_model([&](const std::string& name, ParsedFile file) {
    if (!engine_takes(file)) return;
    const std::vector<TensorInfo> all = file.state.header.tensors;
    each_kind_of_tensor(file, [&](size_t i, const std::string& part) {
      file.state.header.tensors = all;
      file.state.header.tensors.erase(file.state.header.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      if (!engine_takes(file)) {
        ++n_missed;
        if (!is_optional_for_loader(*get_string(file.gguf(), "general.architecture"), part))
          BOOST_TEST(count_findings(file, "tensor-missing") > 0u, name << ": nothing said of " << part);
      }
      file.state.header.tensors = all;
    });
  });
  BOOST_TEST(n_missed > 200u);
}

BOOST_AUTO_TEST_CASE(most_wrong_shapes_are_found) {
  size_t n_refused = 0, n_found = 0;
  each_small_model([&](const std::string&, ParsedFile file) {
    if (!engine_takes(file)) return;
    const std::vector<TensorInfo> all = file.state.header.tensors;
    each_kind_of_tensor(file, [&](size_t i, const std::string&) {
      file.state.header.tensors = all;
      file.state.header.tensors[i].shape[all[i].n_dims - 1] *= 2;
      if (!engine_takes(file)) ++n_refused, n_found += count_findings(file, "tensor-shape") > 0 ? 1 : 0;
      file.state.header.tensors = all;
    });
  });
  BOOST_TEST(n_found * 2 > n_refused);
}

BOOST_AUTO_TEST_CASE(every_architecture_is_in_the_table) {
  // llama.cpp cannot load these.
  const std::set<std::string_view> elsewhere = {"rwkv", "gptj"};
  for (const Architecture& architecture : all_architectures()) {
    const std::string name(architecture.name);
    GgufBytes b(1, 2);
    b.kv("general.architecture", name);
    b.kv(name + ".block_count", ValueType::kU32, 1u);
    b.tensor("blk.0.attn_output.weight", {8}, 0, 0);
    b.pad();
    b.out.resize(b.out.size() + 32);
    BOOST_TEST((count_findings(whole_header(std::move(b.out)), "tensor-missing") > 0) != elsewhere.contains(name),
               name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
