// Plans of generated models give what the CPU computes, with any cache, limits and order of batches.
#include <boost/test/unit_test.hpp>

#include "../made_architectures.hpp"
#include "../made_more.hpp"
#include "../made_variants.hpp"
#include "device.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_made_plans, *boost::unit_test::label("floats"))

namespace {

const std::vector<int32_t> kTokens{1, 17, 5, 9, 30, 2, 2, 8, 21, 13, 4, 11};

// Rows of weights have a multiple of 8 elements on a GPU: experts of 12 become ones of 16.
MadeModel wide(MadeModel made) {
  for (auto& [name, shape] : made.tensors)
    if (name.find("exp") != std::string::npos)
      for (uint64_t& n : shape) n = n == 12 ? 16 : n;
  if (made.integers.contains("expert_feed_forward_length")) made.integers["expert_feed_forward_length"] = 16;
  return made;
}

// More experts than the kernel chooses among.
MadeModel many_experts() {
  MadeModel m = made_experts();
  m.integers["expert_count"] = 1032;
  for (auto& [name, shape] : m.tensors)
    if (name.find("ffn_") != std::string::npos && shape.back() == 4) shape.back() = 1032;
  return m;
}

// Latent attention whose cache holds the latent vectors.
MadeModel made_latent() {
  MadeModel m = made_decoder("deepseek2");
  for (const auto& [key, value] : std::map<std::string, uint64_t>{{"attention.head_count_kv", 1},
                                                                  {"attention.kv_lora_rank", 16},
                                                                  {"attention.key_length", 20},
                                                                  {"attention.value_length", 16},
                                                                  {"attention.key_length_mla", 12},
                                                                  {"attention.value_length_mla", 8},
                                                                  {"rope.dimension_count", 4},
                                                                  {"leading_dense_block_count", 2}})
    m.integers[key] = value;
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    for (const char* part : {"attn_k.weight", "attn_v.weight"}) m.tensors.erase(blk + part);
    m.tensors[blk + "attn_q.weight"] = {16, 48};
    m.tensors[blk + "attn_kv_a_mqa.weight"] = {16, 20};
    m.tensors[blk + "attn_kv_a_norm.weight"] = {16};
    m.tensors[blk + "attn_k_b.weight"] = {8, 16, 4};
    m.tensors[blk + "attn_v_b.weight"] = {16, 8, 4};
    m.tensors[blk + "attn_output.weight"] = {32, 16};
  }
  return m;
}

// The head of vllm-decision2 on a decoder.
MadeModel made_decision() {
  MadeModel m = made_decoder("vllm-decision2");
  m.tensors["blk.0.attn_q_norm.weight"] = m.tensors["blk.0.attn_k_norm.weight"] = {4};
  m.tensors["blk.1.attn_q_norm.weight"] = m.tensors["blk.1.attn_k_norm.weight"] = {4};
  m.floats["attention.layer_norm_epsilon"] = 1e-5f;
  for (const std::string part : {"option", "query"}) {
    m.tensors["decision." + part + "_norm.weight"] = m.tensors["decision." + part + "_norm.bias"] = {16};
    m.tensors["decision." + part + "_mlp.weight"] = {16, 8};
  }
  m.tensors["decision.option_mlp.bias"] = {8};
  m.tensors["decision.key.weight"] = m.tensors["decision.query.weight"] = {16, 8};
  m.tensors["decision.scorer_out.weight"] = {8, 1};
  return m;
}

struct Opened {
  std::unique_ptr<ParsedFile> file;
  std::unique_ptr<Model> model;
};

Opened opened(const MadeModel& made) {
  Opened out{parse_file(made.bytes()), nullptr};
  auto model = Model::open(out.file->gguf(), out.file->bytes.size());
  BOOST_REQUIRE_MESSAGE(model.has_value(), (model ? "" : model.error().message));
  out.model = std::move(*model);
  return out;
}

std::string reason_of(const MadeModel& made, const StateOptions& options, const gpu::DeviceLimits& limits = {}) {
  const auto plan = gpu::lower(*opened(made).model, options, limits);
  return plan ? "" : plan.error().message;
}

std::vector<float> on_cpu(const MadeModel& made, std::span<const int32_t> tokens, const StateOptions& options) {
  const auto pool = make_pool();
  const Opened m = opened(made);
  BOOST_REQUIRE(load_weights(*m.model, *pool, m.file->bytes).has_value());
  const auto state = make_state(*m.model, *pool, options);
  return evaluate(*m.model, *state, *pool, tokens);
}

// All outputs, `n_batch` tokens at a time; up to kMaxColumns by the list for few tokens.
std::vector<float> on_device(const MadeModel& made, std::span<const int32_t> tokens, const StateOptions& options,
                             size_t n_batch, const gpu::DeviceLimits& limits = {}) {
  const auto pool = make_pool();
  const Opened m = opened(made);
  auto plan = gpu::lower(*m.model, options, limits);
  BOOST_REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : plan.error().message));
  PlanDevice device(*m.model, *pool, std::move(*plan), options, m.file->bytes);
  std::vector<float> out;
  for (size_t t = 0; t < tokens.size(); t += n_batch) {
    const size_t n = std::min(n_batch, tokens.size() - t);
    const bool decode = n <= gpu::kMaxColumns && !device.plan.decode.empty();
    const std::vector<float> part = device.evaluate(tokens.subspan(t, n), first_n(n), decode);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(made_models_agree_with_the_cpu) {
  const StateOptions options{.n_ctx = 32, .n_batch = 16};
  const std::pair<const char*, MadeModel> models[] = {
      {"llama", made_llama()},
      {"gemma2", made_gemma2()},
      {"dream", made_dream()},
      {"llada", made_llada()},
      {"muse-glimmer", made_muse_glimmer()},
      {"cogvlm", made_cogvlm()},
      {"experts", made_experts()},
      {"laguna", wide(made_laguna())},

      {"step35", wide(made_step35())},
      {"llada-moe", wide(made_llada_moe("llada-moe"))},
      {"ocr", wide(made_deepseek2_ocr())},
      {"granite_swa", made_granite_swa()},
      {"refact", made_decoder("refact")},
      {"latent", made_latent()},
      {"gemma4", made_gemma4()},
      {"t5encoder", made_t5(false)},
      {"lfm2", made_lfm2()},
      {"mamba", made_wide_mamba()},
      {"mamba2", made_mamba2()},
  };
  for (const auto& [name, made] : models) {
    BOOST_TEST_CONTEXT(name) {
      const std::vector<float> want = on_cpu(made, kTokens, options);
      const bool causal = opened(made).model->hparams().causal;
      for (const size_t n_batch : causal ? std::vector<size_t>{12, 1, 5} : std::vector<size_t>{12})
        BOOST_TEST(max_difference(on_device(made, kTokens, options, n_batch), want) <= 3e-5, "batches of " << n_batch);
    }
  }
}

BOOST_AUTO_TEST_CASE(models_without_a_plan_say_why) {
  const StateOptions options{.n_ctx = 32, .n_batch = 16};
  const std::pair<MadeModel, const char*> cases[] = {
      {made_grovemoe(), "neighbouring experts share smaller ones"},
      {made_cohere2moe(), "experts and attention are parallel"},
      {made_arctic(), "parts read the layer's input"},
      {made_gemma3n(), "it has several residual streams"},
      {made_talkie(), "layers add something else than their parts' outputs"},
      {made_chameleon(), "norms of parts follow them without the residual stream"},
      {made_nanbeige(), "the stream is normalized between runs of the layers"},
      {many_experts(), "layers have 1032 experts, more than 1024"},
      {made_decision(), "it has a decision head"},
      {made_kimi_linear(), "layers have a token mixer for which there are no kernels"},
      {made_mamba(), "rows of dt, B and C have 15 elements"},
  };
  for (const auto& [made, reason] : cases) BOOST_TEST(reason_of(made, options) == reason);
  BOOST_TEST(reason_of(made_llama(), {.n_ctx = 32, .cache_types = {CacheType::kQ8_0, CacheType::kQ8_0}}) ==
             "the cache is quantized; the kernels store f32 and f16");
  BOOST_TEST(reason_of(made_llama(), options, {.max_buffer_bytes = 1024, .max_binding_bytes = 1024}) != "");
}

// 200 tokens of a context of several splits, with windows kept in slots.
BOOST_AUTO_TEST_CASE(contexts_have_several_splits) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 200; ++i) tokens.push_back((i * 7 + 3) % 32);
  const StateOptions options{.n_ctx = 256, .n_batch = 32};
  for (const MadeModel& made : {made_llama(), made_granite_swa(), made_decoder("refact")}) {
    const std::vector<float> want = on_cpu(made, tokens, options);
    for (const size_t n_batch : {size_t{32}, size_t{7}})
      BOOST_TEST(max_difference(on_device(made, tokens, options, n_batch), want) <= 3e-5, made.architecture);
  }
}

BOOST_AUTO_TEST_CASE(the_cache_may_be_binary16) {
  const StateOptions options{.n_ctx = 32, .n_batch = 16, .cache_types = {CacheType::kF16, CacheType::kF16}};
  for (const MadeModel& made : {made_llama(), made_latent()}) {
    const std::vector<float> want = on_cpu(made, kTokens, options);
    for (const size_t n_batch : {size_t{12}, size_t{3}})
      BOOST_TEST(max_difference(on_device(made, kTokens, options, n_batch), want) <= 2e-5, made.architecture);
  }
}

// A table of embeddings and an output matrix larger than a binding.
BOOST_AUTO_TEST_CASE(tables_larger_than_a_binding_are_split) {
  MadeModel made = made_llama();
  made.tensors["token_embd.weight"] = made.tensors["output.weight"] = {16, 1600};
  const StateOptions options{.n_ctx = 32, .n_batch = 16};
  const gpu::DeviceLimits limits{.max_buffer_bytes = 100000, .max_binding_bytes = 100000};
  std::vector<int32_t> tokens = kTokens;
  tokens[3] = 1599, tokens[5] = 1535, tokens[6] = 1536;
  const auto plan = gpu::lower(*opened(made).model, options, limits);
  BOOST_REQUIRE(plan.has_value());
  BOOST_TEST(plan->decode_logits.size() == 2u);
  const std::vector<float> want = on_cpu(made, tokens, options);
  BOOST_TEST(max_difference(on_device(made, tokens, options, 12, limits), want) <= 2e-5);
  BOOST_TEST(max_difference(on_device(made, tokens, options, 2, limits), want) <= 2e-5);
}

// Whatever a device allows, a plan keeps within it, or is refused: limits about the size of each buffer.
BOOST_AUTO_TEST_CASE(buffers_are_within_what_the_device_allows) {
  size_t n_plans = 0, n_refused = 0;
  const auto check = [&](const Model& model, const StateOptions& options, const gpu::DeviceLimits& limits) {
    const auto plan = gpu::lower(model, options, limits);
    if (!plan) {
      ++n_refused;
      BOOST_TEST((plan.error().code == ErrorCode::kUnsupported));
      BOOST_TEST(plan.error().message.find("bind") != std::string::npos, plan.error().message);
      return;
    }
    ++n_plans;
    for (const gpu::PlanBuffer& buffer : plan->buffers) BOOST_TEST(buffer.bytes <= limits.max_buffer_bytes);
    for (const auto* list :
         {&plan->decode, &plan->decode_logits, &plan->prefill, &plan->prefill_logits, &plan->embeddings, &plan->choose})
      for (const gpu::PlanDispatch& dispatch : *list)
        for (const gpu::PlanBinding& binding : dispatch.bindings) BOOST_TEST(binding.bytes <= limits.max_binding_bytes);
  };
  for (const MadeModel& made : {made_llama(), wide(made_experts()), made_latent(), made_gemma4()}) {
    const Opened m = opened(made);
    for (const uint32_t n_batch : {1u, 16u}) {
      const StateOptions options{.n_ctx = 32, .n_batch = n_batch};
      const auto whole = gpu::lower(*m.model, options, {});
      BOOST_REQUIRE(whole.has_value());
      for (const gpu::PlanBuffer& buffer : whole->buffers)
        for (const uint64_t bytes : {buffer.bytes - 4, buffer.bytes})
          if (bytes >= 512) {
            check(*m.model, options, {.max_buffer_bytes = bytes});
            check(*m.model, options, {.max_binding_bytes = bytes});
          }
    }
  }
  BOOST_TEST(n_plans > 0u);
  BOOST_TEST(n_refused > 0u);
}

BOOST_AUTO_TEST_CASE(repacking_refuses_parts_of_rows) {
  const Opened m = opened(made_llama());
  const auto plan = gpu::lower(*m.model, {.n_ctx = 32}, {});
  BOOST_REQUIRE(plan.has_value());
  const std::vector<uint8_t> bytes(1 << 12);
  const auto code = [&](uint32_t request, uint64_t first, size_t n) {
    const auto writes = gpu::repack(*plan, *m.model, request, first, ByteView(bytes).first(n));
    return writes ? std::string("none") : std::string(writes.error().message);
  };
  uint32_t table = 0;
  while (m.model->plan()[table].entry.name != "token_embd.weight") ++table;
  BOOST_TEST(code(table, 0, 8 * 64) == "none");
  BOOST_TEST(code(table, 0, 8 * 64 - 1) != "none");
  BOOST_TEST(code(table, 4, 8 * 64) != "none");
  BOOST_TEST(code(table, 32, 8 * 64) != "none");
  BOOST_TEST(code(1000, 0, 64) != "none");
}

BOOST_AUTO_TEST_SUITE_END()
