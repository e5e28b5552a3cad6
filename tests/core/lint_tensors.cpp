// Compares the table of tensors that llama.cpp requires (gguf/tensors.inc) with the engine's plan of every
// architecture, on the reference models and on generated ones.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gguf/access.hpp"
#include "gguf/lint/lint.hpp"
#include "gguf/lint/required.hpp"
#include "gguf/lint/rules.hpp"
#include "made_architectures.hpp"
#include "made_variants.hpp"
#include "model/architectures/architecture.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

/// The table, parsed independently of lint.
namespace lint_table {
struct TensorPart {
  std::string_view name, text;
};
struct TensorRow {
  std::string_view architectures, blocks, ends, block = {};
};
#include "gguf/tensors.inc"

/// The names of the tensors in a text. A pattern gives one matching name.
std::vector<std::string> names_in(std::string_view text, const std::string& before) {
  std::vector<std::string> names;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (word == ";" || word == "|" || word.starts_with('=')) continue;
    if (word.starts_with('@')) {
      const auto part = std::ranges::find(kTensorParts, std::string_view(word), &TensorPart::name);
      BOOST_REQUIRE_MESSAGE(part != std::end(kTensorParts), word << " is no part");
      for (const std::string& name : names_in(part->text, before)) names.push_back(name);
      continue;
    }
    if (word.starts_with('?')) word.erase(0, 1);
    word.resize(std::min(word.find(':'), word.size()));
    if (word.ends_with('*')) word.back() = 'x';
    if (word.ends_with('.'))
      word.pop_back();
    else if (!word.ends_with(".bias"))
      word += ".weight";
    names.push_back(before + word);
  }
  return names;
}
}  // namespace lint_table

namespace {

ParsedFile whole_header(Bytes bytes) {
  ParsedFile file{std::move(bytes), {}};
  const auto progress = parse_header(file.bytes, file.bytes.size(), file.state);
  BOOST_REQUIRE(progress.has_value() && progress->complete);
  return file;
}

/// Calls visit(name, file) for every model.
template <class Visit>
void each_small_model(Visit visit) {
  std::vector<MadeModel> made = made_variants();
  for (MadeModel (*make)() : {made_llama, made_arctic, made_deci, made_gemma3n, made_mistral4, made_plamo2})
    made.push_back(make());
  for (const MadeModel& model : made)
    // Chameleon is left out, because its tensors are larger than its keys say.
    if (model.architecture != "chameleon") visit("made " + model.architecture, whole_header(model.bytes()));
  std::vector<std::filesystem::path> folders = {models_folder()};
  if (const auto further = models_folder() / "../new/arch"; std::filesystem::exists(further))
    folders.push_back(further);
  for (const auto& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (std::filesystem::exists(entry.path() / "model.gguf"))
        visit(entry.path().filename().string(), whole_header(read_file(entry.path() / "model.gguf")));
}

/// The number of findings of one rule. No other runs: a vocabulary and a chat template take a hundred times as long.
size_t count_findings(const ParsedFile& file, std::string_view code) {
  static const std::vector<LintRule> rules = lint_rules();
  const Gguf gguf = file.gguf();
  const std::string_view architecture = get_string(gguf, "general.architecture").value_or(std::string_view());
  const LintFile checked{gguf, std::nullopt, {}, file_kind(gguf), architecture};
  std::vector<Finding> out;
  FindingList findings(out);
  const auto rule = std::ranges::find(rules, code, &LintRule::code);
  BOOST_REQUIRE(rule != rules.end());
  findings.start(*rule);
  rule->check(checked, findings);
  findings.end();
  return out.size();
}

bool engine_takes(const ParsedFile& file) { return Model::open(file.gguf(), std::nullopt).has_value(); }

/// Calls visit(i) for the first tensor of each name, ignoring the block.
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

BOOST_AUTO_TEST_SUITE(lint_of_tensors, *boost::unit_test::label("floats"))

BOOST_AUTO_TEST_CASE(complete_models_have_no_findings) {
  each_small_model([](const std::string& name, const ParsedFile& file) {
    for (const Finding& f : lint(file.gguf()))
      if (f.code.starts_with("tensor-") || f.code.starts_with("block-")) BOOST_ERROR(name << ": " << f.message);
  });
}

/// "architecture part": tensors that the engine requires, but llama.cpp's loader does not.
bool is_optional_for_loader(std::string_view architecture, std::string_view part) {
  static const std::set<std::string> all = {
      "arwkv7 blk..time_mix_g1.weight",
      "clef blk..attn_gate.weight",
      "clef blk..attn_qkv.weight",
      "falcon blk..attn_norm_2.bias",
      "falcon blk..attn_norm_2.weight",
      "gemma4 blk..attn_k.weight",
      "gemma4 blk..attn_k_norm.weight",
      "gemma4 per_layer_model_proj.weight",
      "gemma4 per_layer_proj_norm.weight",
      "gemma4 per_layer_token_embd.weight",
      "glm-dsa blk..indexer.attn_k.weight",
      "glm-dsa blk..indexer.attn_q_b.weight",
      "glm-dsa blk..indexer.k_norm.bias",
      "glm-dsa blk..indexer.k_norm.weight",
      "glm-dsa blk..indexer.proj.weight",
      "grok blk..layer_output_norm.weight",
      "kimi-k3 blk..ffn_down_shexp.weight",
      "kimi-k3 blk..ffn_up_shexp.weight",
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
      "phi3 blk..attn_qkv.weight",
      "plamo2 output.weight",
      // These load without, and cannot compute.
      "pockettts blk..attn_k.weight",
      "pockettts blk..attn_q.weight",
      "pockettts blk..attn_v.weight",
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
  // A separate rule checks the embeddings.
  return part == "token_embd.weight" || all.contains(std::string(architecture) + " " + std::string(part));
}

BOOST_AUTO_TEST_CASE(tensors_that_the_engine_requires_are_reported_missing) {
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

/// Keys that the engine requires, but not llama.cpp: it has a default, or uses 0 for an epsilon. It refuses the last
/// two by a shape that lint does not check.
bool has_other_default(std::string_view key) {
  static const std::set<std::string_view> all = {
      "qwen.attention.head_count",
      "modern-bert.attention.head_count",
      "smallthinker.expert_feed_forward_length",
      "qwen3next.expert_feed_forward_length",
      "rwkv6qwen2.attention.layer_norm_rms_epsilon",
      "arwkv7.attention.layer_norm_rms_epsilon",
      "qwen2vl.attention.layer_norm_rms_epsilon",
      "rwkv6.attention.layer_norm_epsilon",
      "rwkv7.attention.layer_norm_epsilon",
      "qwen3next.full_attention_interval",
      "qwen35.full_attention_interval",
      "deepseek4.attention.value_length",
      "gemma-embedding2.attention.sliding_window_pattern",
      "gemma-embedding2.rope.dimension_count_swa",
      "gemma4.attention.head_count_kv",
      "glm-dsa.attention.indexer.types",
  };
  return all.contains(key);
}

/// True if the engine reads from tensors what llama.cpp reads from a key that ends so.
bool is_elsewhere(std::string_view key) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".q_lora_rank", ".key_length_swa", ".value_length_swa",
                                              ".decay_lora_rank", ".iclr_lora_rank", ".value_residual_mix_lora_rank",
                                              ".gate_lora_rank", ".expert_feed_forward_length", ".expert_shared_count",
                                              ".leading_dense_block_count", ".token_type_count"},
      [&](std::string_view end) { return key.ends_with(end); });
}

BOOST_AUTO_TEST_CASE(keys_that_the_engine_requires_are_reported_missing,
                     *boost::unit_test::precondition(test::needs_shared("vectors/arch"))) {
  size_t n_missed = 0, n_keys = 0, n_required = 0;
  const size_t one_in = test::whole_run() ? 1 : 5;  // a prime, so that they are of all kinds
  each_small_model([&](const std::string& name, ParsedFile file) {
    if (!engine_takes(file)) return;
    const auto errors = [&] {
      const auto findings = lint(file.gguf());
      return std::ranges::count(findings, FindingLevel::kError, &Finding::level);
    };
    if (errors() > 0) return;  // generated models have no tokenizer
    const std::string prefix = std::string(get_string(file.gguf(), "general.architecture").value_or("")) + ".";
    const std::vector<KeyValue> all = file.state.header.key_values;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string key(file.gguf().text(all[i].key));
      const bool of_llama =
          key.starts_with(prefix) && requires_key(prefix.substr(0, prefix.size() - 1), key.substr(prefix.size()));
      if (++n_keys % one_in != 0 && !of_llama) continue;
      file.state.header.key_values = all;
      file.state.header.key_values.erase(file.state.header.key_values.begin() + static_cast<std::ptrdiff_t>(i));
      const bool runs = engine_takes(file);
      if (of_llama && !is_elsewhere(key)) {
        ++n_required;
        BOOST_TEST(!runs, name << " runs without " << key);
      }
      if (!runs) {
        ++n_missed;
        if (has_other_default(key)) continue;
        BOOST_TEST(errors() > 0, name << ": nothing said of " << key);
      }
    }
  });
  BOOST_TEST(n_missed > 200 / one_in);
  BOOST_TEST(n_required > 500u);
}

BOOST_AUTO_TEST_CASE(architectures_require_the_epsilon_of_their_norm) {
  const std::set<std::string_view> none = {"gptj",  "qwen2vl",    "cohere2moe", "rwkv",  "rwkv5",
                                           "rwkv6", "rwkv6qwen2", "rwkv7",      "arwkv7"};
  for (const Architecture& row : all_architectures()) {
    if (none.contains(row.name)) continue;
    const bool layer = requires_key(row.name, "attention.layer_norm_epsilon");
    BOOST_TEST((layer || requires_key(row.name, "attention.layer_norm_rms_epsilon")), row.name);
    // For nemotron_h, llama.cpp reads the epsilon of the other kind of norm.
    if (!row.name.starts_with("nemotron_h")) BOOST_TEST(layer == (row.norm == NormKind::kLayer), row.name);
  }
}

BOOST_AUTO_TEST_CASE(wrong_shapes_are_reported_where_keys_give_them) {
  size_t n_refused = 0, n_found = 0, n_tensors = 0;
  // A wrong shape takes longer than a right one, because its cause is searched for.
  const size_t one_in = test::whole_run() ? 1 : 7;
  each_small_model([&](const std::string& name, ParsedFile file) {
    if (!engine_takes(file)) return;
    const std::vector<TensorInfo> all = file.state.header.tensors;
    each_kind_of_tensor(file, [&](size_t i, const std::string& part) {
      // Models that are made have no vocabulary, which gives the rows of these.
      if (part == "token_embd.weight" || part == "output.weight") return;
      if (++n_tensors % one_in != 0) return;
      file.state.header.tensors = all;
      file.state.header.tensors[i].shape[all[i].n_dims - 1] *= 2;
      file.state.header.tensors[i].n_elements *= 2;
      if (!engine_takes(file)) {
        ++n_refused;
        const bool found = count_findings(file, "tensor-shape") > 0;
        n_found += found ? 1 : 0;
        if (!found) BOOST_TEST_MESSAGE(name << ": nothing said of the shape of " << part);
      }
      file.state.header.tensors = all;
    });
  });
  const size_t least = std::filesystem::exists(test::shared("vectors/arch")) ? 95 : 80;  // most are made for a part
  BOOST_TEST(n_found * 100 >= n_refused * least, n_found << " of " << n_refused);
}

/// A file of one block with these tensors, whose values are zero.
ParsedFile file_with(const std::string& architecture, const std::vector<std::string>& names, bool any_kind = false) {
  GgufBytes b(names.size(), any_kind ? 6 : 2);
  b.kv("general.architecture", architecture);
  if (any_kind) {
    b.kv("split.count", ValueType::kU16, uint16_t{2});
    for (const char* suffix : {".nextn_predict_layers", ".convnext.block_count", ".posnet.block_count"})
      b.kv(architecture + suffix, ValueType::kU32, 1u);
  }
  b.kv(architecture + ".block_count", ValueType::kU32, 1u);
  for (const std::string& name : names) b.tensor(name, {8}, 0, 0);
  b.pad();
  b.out.resize(b.out.size() + 32);
  return whole_header(std::move(b.out));
}

/// Tensors that the rows of one table name for an architecture.
void add_names(std::span<const lint_table::TensorRow> rows, const std::string& architecture,
               std::set<std::string>& names) {
  for (const lint_table::TensorRow& row : rows) {
    const std::string architectures(row.architectures), block = std::string(row.blocks) + "0.";
    std::istringstream words(architectures);
    for (std::string word; words >> word;)
      if (word == architecture)
        for (const auto& [text, before] : {std::pair(row.ends, std::string()), std::pair(row.block, block)})
          for (std::string& name : lint_table::names_in(text, before)) names.insert(std::move(name));
  }
}

// One file of several may have any of them, and a block that only predicts further tokens may be of any kind.
BOOST_AUTO_TEST_CASE(tensors_of_every_row_are_known) {
  for (const Architecture& row : all_architectures()) {
    const std::string architecture(row.name);
    std::set<std::string> all;
    add_names(lint_table::kTensorRows, architecture, all);
    if (all.empty()) continue;
    add_names(lint_table::kOptionalRows, architecture, all);
    const auto count_unknown = [&] {
      const ParsedFile file = file_with(architecture, {all.begin(), all.end()}, true);
      return count_findings(file, "tensor-unknown");
    };
    BOOST_TEST(count_unknown() == 0u, architecture);
    all.insert(std::string(architecture.starts_with("t5") ? "enc." : "") + "blk.0.nobodys.weight");
    BOOST_TEST(count_unknown() == 1u, architecture);
  }
}

/// Adds a tensor of F32 to a header.
void add_tensor(ParsedFile& file, const std::string& name, const std::vector<uint64_t>& shape) {
  TensorInfo tensor = file.state.header.tensors.back();
  tensor.name = {file.bytes.size(), name.size()};
  file.bytes.insert(file.bytes.end(), name.begin(), name.end());
  tensor.type = 0;
  tensor.n_dims = static_cast<uint32_t>(shape.size());
  tensor.n_elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) tensor.shape[i] = shape[i], tensor.n_elements *= shape[i];
  file.state.header.tensors.push_back(tensor);
}

bool is_refused(const ParsedFile& file) {
  return count_findings(file, "tensor-unknown") > 0 || count_findings(file, "tensor-shape") > 0;
}

// The fixture lists, for each reference model, every tensor that llama.cpp 0.7.0 takes in addition to those of the
// file. Its loader was given each name that it asks for in any model, with each suffix.
BOOST_AUTO_TEST_CASE(surplus_tensors_are_judged_as_by_the_loader,
                     *boost::unit_test::precondition(test::needs_shared("vectors/arch"))) {
  struct Line {
    std::vector<std::string> models;
    std::set<std::string> taken;  ///< "name:shape"
  };
  std::vector<Line> lines;
  std::set<std::string> names = {"v.patch_embd.weight",        "mm.0.bias",
                                 "a.conv1d.1.weight",          "rope_freqs.bias",
                                 "blk.0.attn_rot_embd.weight", "blk.0.nextn.eh_proj.weight",
                                 "blk.0.attn_q_b.scale"};
  std::istringstream text(read_text(fixture("surplus-tensors.txt")));
  for (std::string line; std::getline(text, line);) {
    const size_t tab = line.find('\t');
    std::istringstream models(line.substr(0, tab)), tensors(line.substr(tab + 1));
    Line& one = lines.emplace_back();
    for (std::string word; models >> word;) one.models.push_back(word);
    for (std::string word; tensors >> word;) one.taken.insert(word), names.insert(word.substr(0, word.find(':')));
  }
  size_t n_refused = 0, n_taken = 0;
  EveryNth judged{3};
  for (const Line& line : lines)
    for (size_t k = 0; k < (whole_run() ? line.models.size() : 1); ++k) {
      ParsedFile file = whole_header(read_file(models_folder() / line.models[k] / "model.gguf"));
      const std::vector<TensorInfo> own = file.state.header.tensors;
      std::set<std::string> taken;
      const auto judge = [&](const std::string& name, const std::vector<uint64_t>& shape) {
        file.state.header.tensors = own;
        add_tensor(file, name, shape);
        return is_refused(file);
      };
      for (const std::string& tensor : line.taken) {
        const size_t colon = tensor.find(':');
        const std::string name = taken.insert(tensor.substr(0, colon)).first->c_str();
        std::vector<uint64_t> shape;
        std::istringstream numbers(tensor.substr(colon + 1));
        for (std::string number; std::getline(numbers, number, 'x');) shape.push_back(std::stoull(number));
        BOOST_TEST(!judge(name, shape), line.models[k] << ": " << tensor);
        ++n_taken, ++shape.back();
        BOOST_TEST(judge(name, shape), line.models[k] << ": another shape than " << tensor);
      }
      for (const std::string& name : names) {
        file.state.header.tensors = own;
        if (taken.contains(name) || find_tensor(file.gguf(), name) != nullptr || !judged.takes_next()) continue;
        BOOST_TEST(judge(name, {32}), line.models[k] << ": nothing said of " << name);
        ++n_refused;
      }
    }
  BOOST_TEST(n_taken > 800u);
  BOOST_TEST(n_refused > 5000 / judged.n);
}

BOOST_AUTO_TEST_CASE(heads_attend_also_in_recurrent_models) {
  for (const std::string name :
       {"qwen35", "qwen35moe", "qwen3next", "bailingmoe3", "glm5-next", "nemotron_h_moe", "qwen4exp", "deepseek4"}) {
    ParsedFile file = whole_header(read_file(fixture("golden/draft/mtp-" + name + "/model.gguf")));
    BOOST_TEST(!is_refused(file), name);
    add_tensor(file, name == "nemotron_h_moe" ? "blk.3.ssm_out.weight" : "blk.2.ssm_out.weight", {32, 32});
    BOOST_TEST(is_refused(file), name);
  }
}

BOOST_AUTO_TEST_CASE(tensors_of_other_architectures_are_reported) {
  const std::pair<std::string, std::string> foreign[] = {
      {"llama", "blk.0.ssm_in.weight"},          {"llama", "blk.0.attn_sinks.weight"},
      {"llama", "blk.0.output.weight"},          {"llama", "blk.0.nextn.eh_proj.weight"},
      {"llama", "enc.blk.0.attn_q.weight"},      {"gemma2", "output.weight"},
      {"qwen3moe", "blk.0.ffn_up_shexp.weight"}, {"qwen3moe", "blk.0.ffn_up_chexps.weight"},
      {"gpt-oss", "blk.0.exp_probs_b.bias"},     {"mamba2", "blk.0.attn_q.weight"},
      {"mamba2", "blk.0.ssm_x.weight"},          {"rwkv7", "blk.0.time_mix_lerp_g.weight"},
      {"rwkv7", "blk.0.attn_q.weight"},          {"t5", "blk.0.attn_q.weight"},
      {"t5", "enc.blk.0.cross_attn_q.weight"},   {"t5", "dec.blk.0.attn_output.weight"},
      {"t5encoder", "dec.blk.0.attn_q.weight"},  {"deepseek2", "blk.0.indexer.proj.weight"},
      {"bert", "blk.0.ffn_gate_exps.weight"},    {"bert", "output.weight"},
  };
  for (const auto& [architecture, name] : foreign) {
    const ParsedFile file = file_with(architecture, {"token_embd.weight", name, "output_norm.weight"});
    const auto findings = lint(file.gguf());
    const auto found = std::ranges::find(findings, std::string_view("tensor-unknown"), &Finding::code);
    BOOST_TEST_CONTEXT(architecture << " " << name) {
      BOOST_REQUIRE(found != findings.end());
      BOOST_TEST((found->level == FindingLevel::kError));
      BOOST_TEST(found->offset == file.state.header.tensors[1].info_offset);
      BOOST_TEST(found->message.find(architecture) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(files_without_a_known_tensor_are_not_checked) {
  BOOST_TEST(count_findings(file_with("llama", {"encoder.0.weight", "decoder.0.weight"}), "tensor-unknown") == 0u);
}

BOOST_AUTO_TEST_CASE(draft_models_need_no_embeddings) {
  for (const std::string architecture : {"eagle3", "dflash", "llama"}) {
    GgufBytes b(2, 4);
    b.kv("general.architecture", architecture);
    b.kv(architecture + ".block_count", ValueType::kU32, 1u);
    b.kv(architecture + ".embedding_length", ValueType::kU32, 8u);
    b.array("tokenizer.ggml.tokens", ValueType::kString, 3).string("a").string("b").string("c");
    b.tensor("output_norm.weight", {8}, 0, 0);
    b.tensor("output.weight", {8, 2}, 0, 32);
    b.pad();
    b.out.resize(b.out.size() + 96);
    const ParsedFile file = whole_header(std::move(b.out));
    const size_t expected = architecture == "llama" ? 1 : 0;
    BOOST_TEST(count_findings(file, "embedding-missing") == expected, architecture);
    // Their outputs may be fewer than the tokens: d2t names those.
    BOOST_TEST(count_findings(file, "tensor-shape") == expected, architecture);
  }
}

BOOST_AUTO_TEST_CASE(every_architecture_is_in_the_table) {
  // llama.cpp cannot load these.
  const std::set<std::string_view> elsewhere = {"rwkv", "gptj"};
  for (const Architecture& architecture : all_architectures()) {
    const std::string name(architecture.name);
    const ParsedFile file = file_with(name, {"blk.0.attn_output.weight"});
    BOOST_TEST((count_findings(file, "tensor-missing") > 0) != elsewhere.contains(name), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
