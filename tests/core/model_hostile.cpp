// Models with false sizes or values. Each one must cause a clear error before a large allocation, or be harmless.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "gguf/write.hpp"
#include "made_architectures.hpp"
#include "made_variants.hpp"
#include "model/architectures/architecture.hpp"
#include "model_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(model_hostile)

namespace {

struct Lie {
  const char* what;
  const char* message;  ///< part of the error
  std::function<void(MadeModel&)> tell;
};

// clang-format off
const Lie kLies[] = {
    {"no architecture's keys", "context_length", [](MadeModel& m) { m.integers.clear(); }},
    {"unknown architecture", "cannot run architecture nobody yet; can run: llama", [](MadeModel& m) { m.architecture = "nobody"; }},
    {"another architecture", "", [](MadeModel& m) { m.architecture = "mamba"; }},
    {"no layers", "block_count is 0", [](MadeModel& m) { m.integers["block_count"] = 0; }},
    {"more layers than tensors", "block_count", [](MadeModel& m) { m.integers["block_count"] = 1000000; }},
    {"one layer more than there is", "blk.2.attn_q.weight is missing", [](MadeModel& m) { m.integers["block_count"] = 3; }},
    {"one layer less than there is", "is not part", [](MadeModel& m) { m.integers["block_count"] = 1; }},
    {"2^63 layers", "block_count", [](MadeModel& m) { m.integers["block_count"] = uint64_t{1} << 63; }},
    {"zero width", "embedding_length is 0", [](MadeModel& m) { m.integers["embedding_length"] = 0; }},
    {"another width", "token_embd.weight has shape [16, 32]", [](MadeModel& m) { m.integers["embedding_length"] = 32; }},
    {"huge width", "embedding_length", [](MadeModel& m) { m.integers["embedding_length"] = uint64_t{1} << 40; }},
    {"huge context", "context_length", [](MadeModel& m) { m.integers["context_length"] = uint64_t{1} << 31; }},
    {"no heads", "no attention heads", [](MadeModel& m) { m.integers["attention.head_count"] = 0; }},
    {"heads that do not divide", "key heads", [](MadeModel& m) { m.integers["attention.head_count_kv"] = 3; }},
    {"no key heads", "no attention heads", [](MadeModel& m) { m.integers["attention.head_count_kv"] = 0; }},
    {"more key heads", "do not divide", [](MadeModel& m) { m.integers["attention.head_count_kv"] = 8; }},
    {"huge heads", "attention.head_count", [](MadeModel& m) { m.integers["attention.head_count"] = uint64_t{1} << 32; }},
    {"heads wider than the embedding", "", [](MadeModel& m) { m.integers["attention.head_count"] = 64; }},
    {"another head size", "blk.0.attn_q.weight has shape", [](MadeModel& m) { m.integers["attention.key_length"] = 8; }},
    {"huge head size", "key_length", [](MadeModel& m) { m.integers["attention.key_length"] = 1u << 30; }},
    {"odd rotation", "rope.dimension_count", [](MadeModel& m) { m.integers["rope.dimension_count"] = 3; }},
    {"rotation beyond the head", "rope.dimension_count", [](MadeModel& m) { m.integers["rope.dimension_count"] = 6; }},
    {"another feed-forward width", "feed_forward_length", [](MadeModel& m) { m.integers["feed_forward_length"] = 25; }},
    {"zero feed-forward width", "feed_forward_length", [](MadeModel& m) { m.integers["feed_forward_length"] = 0; }},
    {"no epsilon", "layer_norm_rms_epsilon", [](MadeModel& m) { m.floats.erase("attention.layer_norm_rms_epsilon"); }},
    {"NaN epsilon", "not a finite number", [](MadeModel& m) { m.floats["attention.layer_norm_rms_epsilon"] = NAN; }},
    {"infinite rope base", "not a finite number", [](MadeModel& m) { m.floats["rope.freq_base"] = INFINITY; }},
    {"zero rope base", "rope.freq_base", [](MadeModel& m) { m.floats["rope.freq_base"] = 0; }},
    {"negative rope scale", "rope.scaling.factor", [](MadeModel& m) { m.floats["rope.scaling.factor"] = -1; }},
    {"experts without tensors", "", [](MadeModel& m) { m.integers["expert_count"] = 4; m.integers["expert_used_count"] = 5; }},
    {"experts of which none is used", "expert_used_count", [](MadeModel& m) { m.integers["expert_count"] = 4; m.integers["expert_used_count"] = 0; }},
    {"experts without a count", "expert_count", [](MadeModel& m) { m.tensors["blk.0.ffn_gate_inp.weight"] = {16, 4}; }},
    {"a million experts", "expert_count", [](MadeModel& m) { m.integers["expert_count"] = 1000000; m.integers["expert_used_count"] = 2; }},
    {"all layers predict ahead", "nextn_predict_layers", [](MadeModel& m) { m.integers["nextn_predict_layers"] = 2; }},
    {"no embedding", "token_embd.weight is missing", [](MadeModel& m) { m.tensors.erase("token_embd.weight"); }},
    {"no norm", "output_norm.weight is missing", [](MadeModel& m) { m.tensors.erase("output_norm.weight"); }},
    {"a missing weight", "blk.1.ffn_down.weight is missing", [](MadeModel& m) { m.tensors.erase("blk.1.ffn_down.weight"); }},
    {"a missing key weight", "blk.0.attn_k.weight is missing", [](MadeModel& m) { m.tensors.erase("blk.0.attn_k.weight"); }},
    {"a missing layer norm", "blk.1.attn_norm.weight is missing", [](MadeModel& m) { m.tensors.erase("blk.1.attn_norm.weight"); }},
    {"a weight too many", "blk.0.surprise.weight is not part", [](MadeModel& m) { m.tensors["blk.0.surprise.weight"] = {16}; }},
    {"a narrower output", "output.weight has shape", [](MadeModel& m) { m.tensors["output.weight"] = {16, 31}; }},
    {"a transposed weight", "blk.0.attn_k.weight has shape [8, 16]", [](MadeModel& m) { m.tensors["blk.0.attn_k.weight"] = {8, 16}; }},
    {"a weight with a third dimension", "blk.0.attn_q.weight has shape", [](MadeModel& m) { m.tensors["blk.0.attn_q.weight"] = {16, 16, 2}; }},
    {"a short norm", "blk.0.attn_norm.weight has shape", [](MadeModel& m) { m.tensors["blk.0.attn_norm.weight"] = {8}; }},
    {"rope factors of another length", "rope_freqs.weight", [](MadeModel& m) { m.tensors["rope_freqs.weight"] = {3}; }},
    {"a bias of another length", "blk.0.attn_q.bias", [](MadeModel& m) { m.tensors["blk.0.attn_q.bias"] = {15}; }},
    {"an integer weight", "", [](MadeModel& m) { m.tensors["blk.0.attn_q.weight"] = {16, 16}; m.types["blk.0.attn_q.weight"] = 15; }},
};
// clang-format on

// Opens, loads and runs a model. A hostile one must fail in one of these steps with an error, or run.
std::string try_model(ByteView bytes, std::optional<uint64_t> file_size, Pool& pool) {
  ParseState state;
  const auto progress = parse_header(bytes, file_size, state);
  if (!progress) return progress.error().message;
  if (!progress->complete) return "incomplete";
  auto model = Model::open(Gguf{state.header, bytes}, file_size);
  if (!model) return model.error().message;
  if (const auto r = load_weights(**model, pool, bytes); !r) return r.error().message;
  auto made = State::create(**model, pool, {.n_ctx = 16, .n_batch = 8});
  if (!made) return made.error().message;
  const std::vector<int32_t> tokens{0, 1, 2, 1};
  std::vector<float> out(tokens.size() * (*model)->n_output());
  Batch batch;
  batch.tokens = tokens;
  if ((*model)->has_encoder())
    if (const auto r = encode(**model, **made, pool, tokens, nullptr); !r) return r.error().message;
  if (const auto r = forward(**model, **made, pool, batch, out.data()); !r) return r.error().message;
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(inconsistent_keys_and_shapes_are_refused) {
  const auto pool = make_pool();
  BOOST_TEST(try_model(tiny_llama(), tiny_llama().size(), *pool) == "");
  MadeModel zero_context = made_llama();  // runs in llama.cpp, too
  zero_context.integers["context_length"] = 0;
  const Bytes runs = zero_context.bytes();
  BOOST_TEST(try_model(runs, runs.size(), *pool) == "");
  for (const Lie& lie : kLies) {
    MadeModel made = made_llama();
    lie.tell(made);
    const Bytes bytes = made.bytes();
    const std::string error = try_model(bytes, bytes.size(), *pool);
    BOOST_TEST(!error.empty(), lie.what);
    BOOST_TEST(error.find(lie.message) != std::string::npos, lie.what << ": " << error);
  }
}

BOOST_AUTO_TEST_CASE(truncated_data_is_refused) {
  const auto pool = make_pool();
  const Bytes bytes = tiny_llama();
  const auto file = parse_file(bytes);
  const uint64_t data = file->state.header.data_offset;
  for (uint64_t size = data; size + 32 < bytes.size(); size += 97) {
    const auto model = Model::open(file->gguf(), size);
    BOOST_REQUIRE(!model.has_value());
    BOOST_TEST(model.error().message.find("beyond the file") != std::string::npos);
  }
  // Rows are missing.
  auto model = Model::open(file->gguf(), bytes.size());
  BOOST_REQUIRE(model.has_value());
  BOOST_REQUIRE((*model)->begin_load(*pool, Precision::kExact).has_value());
  const auto unfinished = (*model)->finish_load();
  BOOST_REQUIRE(!unfinished.has_value());
  BOOST_TEST(unfinished.error().message.starts_with("truncated at byte"));
  // Rows do not belong to the tensor.
  const Bytes some(1 << 16, 0);
  for (size_t i = 0; i < (*model)->plan().size(); ++i) {
    const TensorRequest& request = (*model)->plan()[i];
    const size_t row = static_cast<size_t>(request.row_bytes);
    BOOST_TEST(!(*model)->set_rows(*pool, i, 0, ByteView(some).first(row - 1)).has_value());
    BOOST_TEST(!(*model)->set_rows(*pool, i, request.n_rows, ByteView(some).first(row)).has_value());
    BOOST_TEST(!(*model)->set_rows(*pool, i, UINT64_MAX, ByteView(some).first(row)).has_value());
  }
  BOOST_TEST(!(*model)->set_rows(*pool, (*model)->plan().size(), 0, {}).has_value());
}

BOOST_AUTO_TEST_CASE(nan_and_infinite_weights_do_not_crash) {
  const auto pool = make_pool();
  for (const float poison : {NAN, INFINITY, -INFINITY, 3e38f, 0.0f}) {
    Bytes bytes = tiny_llama();
    const auto file = parse_file(bytes);
    for (size_t at = static_cast<size_t>(file->state.header.data_offset); at + 4 <= bytes.size(); at += 4)
      if (at % 28 == 0) store(bytes.data() + at, poison);
    BOOST_TEST(try_model(bytes, bytes.size(), *pool) == "");
  }
}

BOOST_AUTO_TEST_CASE(context_beyond_memory_is_refused) {
  const auto pool = make_pool();
  const auto file = parse_file(tiny_llama());
  const LoadedModel loaded = load_model(*file, *pool);
  BOOST_REQUIRE(loaded.model != nullptr);
  const StateOptions huge{.n_ctx = 1u << 30, .n_batch = 1u << 16, .n_sequences = 64};
  const auto estimate = loaded.model->memory(huge, Precision::kExact, 4);
  BOOST_REQUIRE(estimate.has_value());
  BOOST_TEST(estimate->cache == (uint64_t{1} << 30) * 2 * 2 * 8 * 4);  // 2 layers, keys and values of 8 floats
}

// Packed weights of one bit take four times the file's bytes.
BOOST_AUTO_TEST_CASE(compact_precision_keeps_weights_that_would_grow_most) {
  MadeModel m = made_llama();
  m.integers["embedding_length"] = 256;
  m.integers["rope.dimension_count"] = 64;
  m.integers["feed_forward_length"] = 1 << 18;
  for (auto& [name, shape] : m.tensors) {
    for (uint64_t& n : shape) n = n == 16 ? 256 : n == 8 ? 128 : n == 24 ? 1 << 18 : n;
    if (name.find("ffn_") != std::string::npos && shape.size() == 2) m.types[name] = find_type("Q1_0")->id;
  }
  const auto file = parse_file(m.bytes());
  const auto model = Model::open(file->gguf(), uint64_t{1} << 40);
  BOOST_REQUIRE_MESSAGE(model.has_value(), (model ? "" : model.error().message));
  const auto weights = [&](Precision precision) { return (*model)->memory({.n_ctx = 16}, precision, 1)->weights; };
  const uint64_t exact = weights(Precision::kExact), fast = weights(Precision::kFast);
  BOOST_TEST((fast > 3 * exact && fast < 5 * exact));
  BOOST_TEST(weights(Precision::kCompact) == exact);
}

// The embedding is packed only if it is also the output matrix.
BOOST_AUTO_TEST_CASE(embeddings_that_are_only_looked_up_are_not_packed) {
  const auto pool = make_pool();
  MadeModel m = made_llama();
  m.integers["embedding_length"] = 32;
  m.integers["rope.dimension_count"] = 8;
  for (auto& [name, shape] : m.tensors)
    for (uint64_t& n : shape) n = n == 16 ? 32 : n == 8 ? 16 : n;
  m.types["token_embd.weight"] = find_type("Q8_0")->id;
  for (const bool tied : {false, true}) {
    if (tied) m.tensors.erase("output.weight");
    const auto file = parse_file(m.bytes());
    for (const Precision precision : {Precision::kFast, Precision::kExact}) {
      const LoadedModel loaded = load_model(*file, *pool, precision);
      BOOST_REQUIRE_MESSAGE(loaded.model != nullptr, loaded.error);
      const PackedMatrix& embedding = loaded.model->weights().token_embedding.matrix;
      BOOST_TEST((embedding.format() != nullptr) == (tied && precision == Precision::kFast));
      BOOST_TEST(loaded.model->loaded_bytes() == loaded.model->memory({.n_ctx = 16}, precision, 1)->weights);
    }
  }
}

// Changes one key, one dimension or one tensor at a time in every generated model.
BOOST_AUTO_TEST_CASE(damaged_made_models_do_not_crash) {
  const auto pool = make_pool();
  std::vector<MadeModel> models = made_variants();
  for (MadeModel& m : std::vector{made_arctic(), made_deci(), made_mistral4(), made_plamo2()}) models.push_back(m);
  size_t n_altered = 0;
  const size_t one_in = whole_run() ? 1 : 3;
  for (MadeModel& m : models) {
    m.tensors["token_embd.weight"].back() = 32;
    m.weight_scale = 0;
    if (m.tensors.contains("output.weight")) m.tensors["output.weight"].back() = 32;
    BOOST_TEST_CONTEXT(m.architecture) {
      size_t n_refused = 0;
      const auto altered = [&](const auto& alter) {
        if (++n_altered % one_in != 0) return;
        MadeModel lie = m;
        alter(lie);
        const Bytes bytes = lie.bytes();
        if (!try_model(bytes, bytes.size(), *pool).empty()) ++n_refused;
      };
      const Bytes bytes = m.bytes();
      BOOST_TEST(try_model(bytes, bytes.size(), *pool) == "");
      for (const auto& [key, value] : m.integers)
        for (const uint64_t other : {uint64_t{0}, value + 1, uint64_t{0xffffffff}})
          altered([&](MadeModel& lie) { lie.integers[key] = other; });
      for (const auto& [key, value] : m.floats)
        for (const float other : {0.0f, -value}) altered([&](MadeModel& lie) { lie.floats[key] = other; });
      for (const auto& [key, values] : m.arrays)
        for (const int32_t other : {0, 1 << 20})
          altered([&](MadeModel& lie) { lie.arrays[key].assign(values.size(), other); });
      for (const auto& [name, shape] : m.tensors) {
        if (name.find("blk.1.") != std::string::npos && !m.arrays.contains("attention.head_count_kv")) continue;
        altered([&](MadeModel& lie) { lie.tensors[name][0] += 32; });
        altered([&](MadeModel& lie) { lie.tensors.erase(name); });
      }
      BOOST_TEST(n_refused > m.tensors.size() / (3 * one_in));
    }
  }
}

// Changes one key or one dimension at a time in every reference model.
BOOST_AUTO_TEST_CASE(damaged_reference_models_do_not_crash,
                     *boost::unit_test::precondition(needs_shared("vectors/arch"))) {
  const auto pool = make_pool();
  size_t n_altered = 0, n_refused = 0, n_run = 0;
  // With the sanitizers or as wasm, which take longer, only some of the changes are tested: a prime, so that they are
  // of all kinds.
  const size_t one_in = kWasm ? (whole_run() ? 7 : 31) : !kSanitized ? 1 : whole_run() ? 2 : 13;
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/arch"))) {
    if (!entry.is_directory()) continue;
    const auto file = parse_file(read_file(entry.path() / "model.gguf"));
    const Gguf gguf = file->gguf();
    std::vector<uint8_t> bytes = file->bytes;
    const auto try_altered = [&](size_t at, auto value) {
      if (++n_altered % one_in != 0) return;
      store(bytes.data() + at, value);
      try_model(bytes, bytes.size(), *pool).empty() ? ++n_run : ++n_refused;
      std::copy_n(file->bytes.begin() + static_cast<std::ptrdiff_t>(at), sizeof value, bytes.data() + at);
    };
    BOOST_TEST_CONTEXT(entry.path().filename().string()) {
      for (const KeyValue& kv : file->state.header.key_values) {
        const std::string_view key = gguf.text(kv.key);
        if (key.starts_with("tokenizer.") || key.starts_with("general.")) continue;
        const size_t at = static_cast<size_t>(kv.value.offset);
        if (kv.type == ValueType::kString || kv.type == ValueType::kBool || kv.value.length < 4) continue;
        for (const uint32_t value : {0u, 3u, 0xffffffffu, 0x7fc00000u}) try_altered(at, value);
      }
      for (const TensorInfo& tensor : file->state.header.tensors) {
        if (gguf.text(tensor.name).find("blk.1.") != std::string_view::npos) continue;  // like layer 0
        const size_t at = static_cast<size_t>(tensor.info_offset + 8 + tensor.name.length + 4);
        for (const uint64_t dim : {uint64_t{0}, tensor.shape[0] + 32}) try_altered(at, dim);
      }
    }
  }
  BOOST_TEST_MESSAGE(n_refused << " altered models refused, " << n_run << " run");
  BOOST_TEST(n_refused > (kWasm ? 200u : 500u));
}

BOOST_AUTO_TEST_SUITE_END()
