// Lowers all reference models, and runs their plans in the interpreter.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "../json.hpp"
#include "device.hpp"
#include "model/adapter.hpp"
#include "text/tokenizer.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_plans, *boost::unit_test::label("floats"))

namespace {

size_t dispatches_of_a_layer(const std::vector<gpu::PlanDispatch>& list) {
  std::map<uint32_t, size_t> n;
  for (const gpu::PlanDispatch& d : list)
    if (d.layer != gpu::kAbsent) ++n[d.layer];
  size_t max = 0;
  for (const auto& [layer, count] : n) max = std::max(max, count);
  return max;
}

// Dispatches of a layer for few tokens and for many, at most. A shared expert, or a network beside the experts, takes
// none of its own for few tokens.
struct Dispatches {
  size_t decode, prefill;
};
constexpr Dispatches kDense{6, 8}, kExperts{8, 10}, kBesideExperts{8, 12}, kLatentWithExperts{10, 14}, kRwkv{19, 19};
const std::map<std::string, Dispatches> kDispatches = {
    {"afmoe", kBesideExperts},
    {"arwkv7", kRwkv},
    {"bailingmoe", kBesideExperts},
    {"dbrx", kExperts},
    {"deepseek", kBesideExperts},
    {"deepseek2", kLatentWithExperts},
    {"deepseek2-fused-experts", kLatentWithExperts},
    {"deepseek2-mha", kLatentWithExperts},
    {"dots1", kBesideExperts},
    {"ernie4_5-moe", kBesideExperts},
    {"falcon-h1", {10, 12}},  // attention and a scan
    {"gemma4", {8, 11}},      // inputs of layers
    {"glm4moe", kBesideExperts},
    {"gpt-oss", kExperts},
    {"granitemoe", kExperts},
    {"grok", kExperts},
    {"hunyuan-moe", kBesideExperts},
    {"jamba", kExperts},
    {"lfm2moe", kExperts},
    {"llama-moe", kExperts},
    {"llama4", kBesideExperts},
    {"minicpm3", {8, 9}},  // latent attention
    {"minimax-m2", kExperts},
    {"minimax-m3", kBesideExperts},
    {"nomic-bert-moe", kExperts},
    {"olmoe", kExperts},
    {"phimoe", kExperts},
    {"qwen2moe", kBesideExperts},
    {"qwen3moe", kExperts},
    {"qwen3next", kBesideExperts},
    {"rwkv6", kRwkv},
    {"rwkv6qwen2", kRwkv},
    {"rwkv7", kRwkv},
    {"smallthinker", kExperts},
    {"t5", {10, 13}},  // attention to what the encoder returned
};

// What a plan reads of its matrices in one token, relative to their size. Tables of which a row is looked up are apart.
void check_bytes_read(const std::string& name, PlanDevice& device) {
  uint64_t bytes = 0;
  for (const gpu::Upload& upload : device.plan.uploads) {
    const TensorRequest& r = device.model.plan()[upload.request];
    const Weights& w = device.model.weights();
    const bool looked_up = (r.linear == &w.token_embedding && w.output) || r.linear == &w.position_embedding ||
                           r.linear == &w.per_layer_embedding;
    const Hparams& h = device.model.hparams();
    // An encoder's, and those that are multiplied by what it returned.
    const bool encodes = device.plan.encodes &&
                         (r.entry.name.starts_with("enc.") || r.entry.name.find("cross_attn_k") != std::string::npos ||
                          r.entry.name.find("cross_attn_v") != std::string::npos);
    if (upload.is_vector || looked_up || encodes) continue;
    const bool chosen = r.stack != nullptr && r.entry.name.find("exps") != std::string::npos;
    bytes += upload.n_rows * r.row_bytes * (chosen ? h.n_expert_used : 1) / (chosen ? h.n_expert : 1);
  }
  BOOST_TEST(static_cast<double>(device.interpreter.bytes_read()) <= 1.05 * static_cast<double>(bytes),
             name << " reads " << device.interpreter.bytes_read() << " bytes of " << bytes);
  BOOST_TEST(device.interpreter.bytes_marked() <= bytes, name);
  // Q8_1's and Q8_K's sums are not read; nothing else is left out.
  BOOST_TEST(static_cast<double>(device.interpreter.bytes_marked()) >= 0.98 * static_cast<double>(bytes), name);
}

void check_greedy(const std::string& name, PlanDevice& device, const std::filesystem::path& folder, size_t n_steps) {
  const std::string greedy = read_text(folder / "greedy.json");
  std::vector<int32_t> expected = json_integers(greedy, "tokens_exact");
  if (expected.empty()) expected = json_integers(greedy, "tokens");
  expected.resize(std::min(expected.size(), n_steps));
  const std::vector<uint32_t> output = first_n(1);
  for (size_t i = 0; i + 1 < expected.size(); ++i) {
    device.interpreter.clear_marks();
    device.evaluate(std::span(&expected[i], 1), output, true, true);
    const int32_t next = device.chosen(0);
    if (next == expected[i + 1]) continue;
    BOOST_CHECK_MESSAGE(false, name << ": greedy token " << i + 1 << " is " << next << ", not " << expected[i + 1]);
    return;
  }
  check_bytes_read(name, device);
}

// The reason why there is no plan; empty: there is one, and it gives the reference's logits.
// is_brief: only the prompt is computed.
std::string check_model(const std::string& name, const std::filesystem::path& folder, bool is_brief) {
  const std::string meta = read_text(folder / "meta.json");
  const auto pool = make_pool();
  const auto file = parse_file(read_file(folder / "model.gguf"));
  auto model = Model::open(file->gguf(), file->bytes.size());
  BOOST_REQUIRE_MESSAGE(model.has_value(), name << ": " << (model ? "" : model.error().message));
  const StateOptions options = options_of(meta);
  auto plan = gpu::lower(**model, options, {});
  if (!plan) {
    BOOST_TEST((plan.error().code == ErrorCode::kUnsupported));
    return plan.error().message;
  }
  const size_t in_decode = dispatches_of_a_layer(plan->decode), in_prefill = dispatches_of_a_layer(plan->prefill);
  PlanDevice device(**model, *pool, std::move(*plan), options, file->bytes);
  const std::string tokens_text = read_text(folder / "tokens.json");
  const std::vector<int32_t> encoder = json_integers(tokens_text, "encoder");
  const std::vector<int32_t> tokens = json_integers(tokens_text, encoder.empty() ? "" : "decoder");
  device.encode(encoder);
  const std::vector<float> want = read_floats(folder / json_string(meta, "compare_with"));
  const double tolerance = json_number(meta.substr(meta.find("\"tolerance\"")), "max_abs");
  const std::vector<float> got = device.evaluate(tokens, first_n(tokens.size()), false);
  const double difference = max_difference(got, want);
  BOOST_CHECK_MESSAGE(difference <= tolerance, name << ": logits differ by " << difference << " > " << tolerance);
  BOOST_TEST_MESSAGE(name << " | plan | " << in_decode << " | " << in_prefill << " | " << difference << " | "
                          << device.plan.variants.size());
  const auto known = kDispatches.find(name);
  const Dispatches most = known != kDispatches.end() ? known->second : kDense;
  BOOST_TEST(in_decode <= most.decode, name);
  BOOST_TEST(in_prefill <= most.prefill, name);
  if (device.plan.decode.empty() || (is_brief && encoder.empty())) return {};

  // The same tokens by the list for few tokens: three at a time, whose outputs are those of the last two.
  device.encode(encoder);
  const std::vector<uint32_t> outputs{1, 2};
  for (size_t t = 0; t + 3 <= tokens.size(); t += 3) {
    const std::vector<float> part = device.evaluate(std::span(tokens).subspan(t, 3), outputs, true);
    const double d = max_difference(part, std::span(want).subspan((t + 1) * (*model)->n_output(), part.size()));
    BOOST_CHECK_MESSAGE(d <= tolerance, name << ": decoded logits differ by " << d << " > " << tolerance);
  }
  device.encode(encoder);
  // Of the whole prompt only the last output.
  const std::vector<uint32_t> last{static_cast<uint32_t>(tokens.size() - 1)};
  const std::vector<float> end = device.evaluate(tokens, last, false);
  BOOST_TEST(max_difference(end, std::span(want).last(end.size())) <= tolerance, name);
  check_greedy(name, device, folder, whole_run() ? 32 : 6);
  return {};
}

void check_adapted(const Json& meta, const std::filesystem::path& folder, const std::string& name, const Json& run) {
  BOOST_TEST_CONTEXT(folder.filename().string() << " " << name) {
    const auto pool = make_pool();
    const auto file = parse_file(read_file(shared("vectors") / meta["base"].text));
    auto opened = Model::open(file->gguf(), file->bytes.size());
    BOOST_REQUIRE(opened.has_value());
    Model& model = **opened;
    const StateOptions options{.n_ctx = 256, .n_batch = 256};
    const auto plain = gpu::lower(model, options, {});
    BOOST_REQUIRE_MESSAGE(plain.has_value(), (plain ? "" : plain.error().message));
    std::vector<AdapterUse> uses;
    for (const Json& use : run["adapters"].items) {
      auto adapter = Adapter::open(model, *pool, read_file(folder / use.items[0].text), Precision::kExact);
      BOOST_REQUIRE_MESSAGE(adapter.has_value(), (adapter ? "" : adapter.error().message));
      uses.push_back({std::shared_ptr<const Adapter>(std::move(*adapter)), std::stof(use.items[1].text)});
    }
    BOOST_REQUIRE(use_adapters(model, uses).has_value());
    auto plan = gpu::lower(model, options, {});
    BOOST_REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : plan.error().message));
    BOOST_TEST(plan->decode.size() == plain->decode.size());
    const std::vector<TokenId> tokens = meta["tokens"].integers();
    PlanDevice device(model, *pool, std::move(*plan), options, file->bytes);
    const std::vector<float> got = device.evaluate(tokens, first_n(tokens.size()), false);
    const Json& tolerance = run["tolerance"];
    const std::string want = run[tolerance["compare_with"].text].text;
    const double difference = max_difference(got, read_floats(folder / want));
    BOOST_TEST(difference <= std::stod(tolerance["max_abs"].text));
    BOOST_TEST_MESSAGE(folder.filename().string() << " " << name << " | " << difference);
  }
}

// Reference models that run on the CPU, and why.
const std::map<std::string, std::string, std::less<>> kReasons = {
#include "reasons.inc"
};

// The same of the models that stand in for them: their states have odd sizes.
const std::map<std::string, std::string, std::less<>> kGoldenReasons = {
    {"mamba", "rows of dt, B and C have 18 elements"}};

}  // namespace

// Each model of the references has a plan that gives the reference's logits, or stands in the list with its reason.
BOOST_AUTO_TEST_CASE(reference_models_have_a_plan_or_a_reason) {
  size_t n_plans = 0;
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder()))
    if (entry.is_directory()) folders.insert(entry.path());
  EveryNth decoded{3};  // by the same kernels, which many architectures share
  const auto& reasons = std::filesystem::exists(shared("vectors/arch")) ? kReasons : kGoldenReasons;
  for (const std::filesystem::path& folder : folders) {
    const std::string name = folder.filename().string();
    const std::string reason = check_model(name, folder, !decoded.takes_next());
    const auto known = reasons.find(name);
    BOOST_TEST(reason == (known != reasons.end() ? known->second : ""), name << ": " << reason);
    if (reason.empty()) ++n_plans;
  }
  BOOST_TEST_MESSAGE(n_plans << " models have a plan");
  BOOST_TEST(n_plans > 0u);
  // No name in the list is left from a model that is gone.
  for (const auto& [name, reason] : reasons) BOOST_TEST(std::filesystem::exists(models_folder() / name), name);
}

// Adapters that a model has when it is lowered are part of the weights: no dispatch more.
BOOST_AUTO_TEST_CASE(plans_have_the_adapters_of_the_model,
                     *boost::unit_test::precondition(needs_shared("vectors/lora"))) {
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/lora"))) {
    const std::filesystem::path& folder = entry.path();
    if (folder.filename() == "odd") continue;
    const Json meta = JsonReader(read_text(folder / "meta.json")).value();
    EveryNth checked{3};  // they differ in scales
    for (const auto& [name, run] : meta["runs"].fields)
      if (checked.takes_next()) check_adapted(meta, folder, name, run);
  }
}

BOOST_AUTO_TEST_SUITE_END()
