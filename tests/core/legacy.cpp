// Files in the containers before GGUF: ggml, ggmf, ggjt.
#include "gguf/legacy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "base/half.hpp"
#include "data.hpp"
#include "gguf/access.hpp"
#include "gguf/arrays.hpp"
#include "gguf/ftype.hpp"
#include "quant/legacy.hpp"
#include "quant/registry.hpp"

using namespace ggufscope;

namespace {

using Bytes = std::vector<uint8_t>;

struct Writer {
  Bytes out;
  Writer& words(std::initializer_list<uint32_t> values) {
    for (const uint32_t value : values) {
      out.resize(out.size() + 4);
      store(out.data() + out.size() - 4, value);
    }
    return *this;
  }
  Writer& text(std::string_view text) {
    out.insert(out.end(), text.begin(), text.end());
    return *this;
  }
  Writer& token(std::string_view token) { return words({static_cast<uint32_t>(token.size())}).text(token); }
  Writer& scored(std::string_view token, float score) {
    return this->token(token).words({std::bit_cast<uint32_t>(score)});
  }
  Writer& tensor(std::string_view name, uint32_t type, std::initializer_list<uint32_t> shape, size_t n_bytes,
                 size_t alignment = 1) {
    words({static_cast<uint32_t>(shape.size()), static_cast<uint32_t>(name.size()), type}).words(shape).text(name);
    while (out.size() % alignment != 0) out.push_back(0);
    for (size_t i = 0; i < n_bytes; ++i) out.push_back(static_cast<uint8_t>(i * 37));
    return *this;
  }
};

constexpr uint32_t kGgml = 0x67676d6c, kGgmf = 0x67676d66, kGgjt = 0x67676a74, kGgla = 0x67676c61;

Bytes llama(uint32_t magic, uint32_t version, uint32_t file_type = 2) {
  Writer writer;
  writer.words({magic});
  if (version != 0) writer.words({version});
  writer.words({6, 64, 32, 4, 1, 16, file_type});
  for (const std::string_view token : {"<unk>", "", "</s>", "\x41", " a", "bc"})
    version != 0 ? writer.scored(token, -1.5f) : writer.token(token);
  const size_t alignment = magic == kGgjt ? 32 : 1;
  const size_t row = magic == kGgjt && version == 3 ? 18 : 20;
  writer.tensor("tok_embeddings.weight", 2, {64, 6}, 6 * 2 * row, alignment);
  writer.tensor("norm.weight", 0, {64}, 256, alignment);
  return writer.out;
}

/// Reads everything at once, in windows of n bytes, or in the smallest windows that the reader requests.
Result<LegacyHeader> read(const Bytes& file, size_t window = SIZE_MAX, std::optional<uint64_t> size = {}) {
  LegacyState state;
  uint64_t wanted = 0;
  for (;;) {
    const uint64_t left = state.position > file.size() ? 0 : file.size() - state.position;
    if (wanted > left) return fail(ErrorCode::kTruncated, "the test has no more bytes");
    const size_t n = static_cast<size_t>(std::max(wanted, std::min<uint64_t>(window, left)));
    // An exact-size copy: the sanitizers see any byte too many.
    const auto begin = file.end() - static_cast<ptrdiff_t>(left);
    const Bytes bytes(begin, begin + static_cast<ptrdiff_t>(n));
    const Result<LegacyProgress> progress = read_legacy(bytes, size.value_or(file.size()), state);
    if (!progress) return std::unexpected(progress.error());
    if (progress->complete) return legacy_header(state);
    wanted = progress->at_least;
  }
}

std::vector<float> dequantize(const Bytes& file, const TensorInfo& tensor) {
  const QuantKernels* kernels = find_kernels(tensor.type);
  BOOST_REQUIRE(kernels != nullptr);
  const TypeGeometry* geometry = find_type(tensor.type);
  std::vector<float> values(static_cast<size_t>(tensor.n_elements));
  BOOST_REQUIRE(tensor.offset + tensor.n_bytes <= file.size());
  kernels->dequantize(file.data() + tensor.offset, values.data(), values.size() / geometry->block_size);
  return values;
}

Gguf view(const LegacyHeader& header) { return {header.header, header.bytes}; }

struct Sample {
  std::string name;
  Bytes file;
  uint32_t embedding_type;
};

std::vector<Sample> samples() {
  return {{"ggml", llama(kGgml, 0), 1002},
          {"ggmf", llama(kGgmf, 1), 1002},
          {"ggjt 1", llama(kGgjt, 1), 1002},
          {"ggjt 2", llama(kGgjt, 2), 2002},
          {"ggjt 3", llama(kGgjt, 3), 2}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(legacy)

BOOST_AUTO_TEST_CASE(llama_is_read_from_each_container) {
  for (const Sample& sample : samples()) {
    for (const size_t window : {SIZE_MAX, size_t{1}, size_t{7}, size_t{64}}) {
      BOOST_TEST_CONTEXT(sample.name << " by " << window) {
        const Result<LegacyHeader> header = read(sample.file, window);
        BOOST_REQUIRE_MESSAGE(header.has_value(), header.error().message);
        BOOST_TEST(sample.name.starts_with(header->container));
        const Gguf gguf = view(*header);
        BOOST_TEST(*get_string(gguf, "general.architecture") == "llama");
        BOOST_TEST(*get_u64(gguf, "llama.embedding_length") == 64u);
        BOOST_TEST(*get_u64(gguf, "llama.feed_forward_length") == 192u);
        const auto tokens = get_strings(gguf, "tokenizer.ggml.tokens");
        const std::vector<std::string_view> expected = {"<unk>",
                                                        "",
                                                        "</s>",
                                                        "<0x41>",
                                                        "\xe2\x96\x81"
                                                        "a",
                                                        "bc"};
        BOOST_TEST(*tokens == expected, boost::test_tools::per_element());
        const std::vector<int64_t> types = {2, 3, 3, 6, 1, 1};
        BOOST_TEST(*get_integers(gguf, "tokenizer.ggml.token_type") == types, boost::test_tools::per_element());
        const auto scores = get_floats(gguf, "tokenizer.ggml.scores");
        BOOST_TEST(scores.has_value() == (sample.name != "ggml"));
        if (scores) BOOST_TEST((*scores)[4] == -1.5f);
        const TensorInfo* embedding = find_tensor(gguf, "tok_embeddings.weight");
        BOOST_REQUIRE(embedding != nullptr);
        BOOST_TEST(embedding->type == sample.embedding_type);
        BOOST_TEST(embedding->n_elements == 384u);
        BOOST_TEST(sample.file[static_cast<size_t>(embedding->offset) + 1] == 37);
        if (sample.name.starts_with("ggjt")) BOOST_TEST(embedding->offset % 32 == 0u);
        const TensorInfo* norm = find_tensor(gguf, "norm.weight");
        BOOST_TEST(norm->offset + norm->n_bytes == sample.file.size());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(files_of_other_programs_are_read) {
  const Bytes gpt2 = Writer()
                         .words({kGgml, 2, 1024, 32, 4, 1, 2002, 2})
                         .token("a")
                         .token("bc")
                         .tensor("model/wte", 2, {32, 2}, 36)
                         .out;
  const Bytes gptj = Writer().words({kGgml, 1, 1024, 32, 4, 1, 8, 1000, 1}).token("a").tensor("w", 2, {32}, 20).out;
  const Bytes rwkv = Writer().words({kGgmf, 100, 256, 32, 1, 7}).tensor("emb.weight", 7, {32, 1}, 22).out;
  const Bytes lora = Writer().words({kGgla, 1, 16, 32}).tensor("layers.0.wq.loraA", 1, {16}, 32, 32).out;
  struct Case {
    std::string architecture;
    const Bytes& file;
    uint32_t type;
  };
  for (const Case& c : {Case{"gpt2", gpt2, 2}, {"gptj", gptj, 2002}, {"rwkv4", rwkv, 1006}, {"llama", lora, 1}}) {
    BOOST_TEST_CONTEXT(c.architecture) {
      const Result<LegacyHeader> header = read(c.file);
      BOOST_REQUIRE_MESSAGE(header.has_value(), header.error().message);
      BOOST_TEST(*get_string(view(*header), "general.architecture") == c.architecture);
      BOOST_REQUIRE_EQUAL(header->header.tensors.size(), 1u);
      BOOST_TEST(header->header.tensors[0].type == c.type);
    }
  }
}

// rwkv.cpp numbers files as its tensors; programs on ggml alone as ggml does, which differs from llama.cpp beyond Q2_K.
BOOST_AUTO_TEST_CASE(file_types_follow_the_numbering_of_the_program) {
  const auto rwkv = [](uint32_t code) {
    return Writer().words({kGgmf, 101, 256, 32, 1, code}).tensor("emb.weight", 0, {32, 1}, 128).out;
  };
  const auto gpt2 = [](uint32_t code) {
    return Writer().words({kGgml, 1, 1024, 32, 4, 1, code, 1}).token("a").tensor("model/wte", 0, {32}, 128).out;
  };
  struct Case {
    Bytes file;
    std::optional<uint64_t> file_type;
    std::string_view name;
  };
  const Case cases[] = {
      {rwkv(0), 0, "F32"},      {rwkv(1), 1, "F16"},    {rwkv(2), 2, "Q4_0"},    {rwkv(3), 3, "Q4_1"},
      {rwkv(4), {}, ""},        {rwkv(7), 8, "Q5_0"},   {rwkv(8), 9, "Q5_1"},    {rwkv(9), 7, "Q8_0"},
      {rwkv(13), 15, "Q4_K_M"}, {rwkv(99), {}, ""},     {gpt2(2002), 2, "Q4_0"}, {gpt2(2007), 7, "Q8_0"},
      {gpt2(11), 12, "Q3_K_M"}, {gpt2(14), 18, "Q6_K"}, {gpt2(21), 28, "IQ2_S"}, {gpt2(24), 32, "BF16"},
  };
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.name) {
      const Result<LegacyHeader> header = read(c.file);
      BOOST_REQUIRE_MESSAGE(header.has_value(), (header ? "" : header.error().message));
      const std::optional<uint64_t> got = get_u64(view(*header), "general.file_type");
      BOOST_TEST((got == c.file_type));
      if (got) BOOST_TEST(find_file_type(static_cast<uint32_t>(*got))->name == c.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_prefix_is_an_error_or_ends_with_a_whole_tensor) {
  for (const Sample& sample : samples()) {
    const size_t all = read(sample.file)->header.tensors.size();
    for (size_t n = 0; n < sample.file.size(); ++n) {
      const Bytes prefix(sample.file.begin(), sample.file.begin() + static_cast<ptrdiff_t>(n));
      const Result<LegacyHeader> cut = read(prefix);
      if (!cut) BOOST_TEST(cut.error().offset <= n);
      if (cut) BOOST_TEST(cut->header.tensors.size() < all);
      // A prefix of a longer file is not an error: more bytes are requested, except for the data of the last tensor.
      const Result<LegacyHeader> part = read(prefix, SIZE_MAX, sample.file.size());
      if (part)
        BOOST_TEST((part->header.tensors.size() == all && n + 256 + 32 > sample.file.size()));
      else
        BOOST_TEST(part.error().message == "the test has no more bytes", sample.name << " " << n);
    }
  }
}

BOOST_AUTO_TEST_CASE(hostile_files_are_errors) {
  const uint32_t max = 0xffffffffu;
  struct Case {
    std::string name;
    Bytes file;
    ErrorCode code;
  };
  const auto tensor = [](std::initializer_list<uint32_t> words) {
    return Writer().words({kGgla, 1, 16, 32}).words(words).text("name").out;
  };
  const Case cases[] = {
      {"empty", {}, ErrorCode::kTruncated},
      {"magic alone", Writer().words({kGgjt}).out, ErrorCode::kTruncated},
      {"unknown version", Writer().words({kGgjt, 4, 0, 0}).out, ErrorCode::kBadVersion},
      {"noise", Writer().words({kGgml, max, max, max, max, max, max, max, max, max}).out, ErrorCode::kUnsupported},
      {"vocabulary beyond the file", Writer().words({kGgjt, 3, 1 << 20, 0, 0, 0, 0, 0, 0}).out, ErrorCode::kBadCount},
      {"vocabulary of 2^32", Writer().words({kGgjt, 3, max, 0, 0, 0, 0, 0, 0}).out, ErrorCode::kBadCount},
      {"token of 4 GiB", Writer().words({kGgjt, 3, 1, 0, 0, 0, 0, 0, 0, max, 0, 0}).out, ErrorCode::kBadLength},
      {"token beyond the file", Writer().words({kGgjt, 3, 1, 0, 0, 0, 0, 0, 0, 99, 0, 0}).out, ErrorCode::kTruncated},
      {"mel filters of 2^64", Writer().words({kGgml, 9, 1, 2, 3, 4, 5, 2, 7, 8, max, 1, max, max, 0, 0, 0, 0}).out,
       ErrorCode::kBadCount},
      {"2^32 dimensions", tensor({max, 4, 0, 1}), ErrorCode::kBadShape},
      {"five dimensions", tensor({5, 4, 0, 1, 1, 1, 1, 1}), ErrorCode::kBadShape},
      {"name of 4 GiB", tensor({1, max, 0, 1}), ErrorCode::kBadLength},
      {"unknown type", tensor({1, 4, 99, 1}), ErrorCode::kUnsupported},
      {"removed type", tensor({1, 4, 4, 32}), ErrorCode::kUnsupported},
      {"an id of our own", tensor({1, 4, 1002, 32}), ErrorCode::kUnsupported},
      {"dimension 0", tensor({1, 4, 0, 0}), ErrorCode::kBadShape},
      {"dimension -1", tensor({1, 4, 0, max}), ErrorCode::kBadShape},
      {"product past 2^64", tensor({4, 4, 0, 1u << 30, 1u << 30, 1u << 30, 1u << 30}), ErrorCode::kOverflow},
      {"bytes past 2^64", tensor({3, 4, 0, 1u << 30, 1u << 30, 1u << 3}), ErrorCode::kOverflow},
      {"half a block", tensor({1, 4, 2, 16}), ErrorCode::kBadShape},
      {"data beyond the file", tensor({1, 4, 0, 1000}), ErrorCode::kTruncated},
  };
  for (const Case& c : cases) {
    const Result<LegacyHeader> header = read(c.file);
    BOOST_REQUIRE_MESSAGE(!header.has_value(), c.name);
    BOOST_TEST(error_name(header.error().code) == error_name(c.code), c.name << ": " << header.error().message);
  }
}

BOOST_AUTO_TEST_CASE(random_damage_never_crashes) {
  uint32_t seed = 1;
  const auto random = [&] { return seed = seed * 1664525u + 1013904223u, seed >> 8; };
  for (const Sample& sample : samples()) {
    for (int run = 0; run < 400; ++run) {
      Bytes file = sample.file;
      for (uint32_t i = random() % 4 + 1; i > 0; --i)
        file[random() % std::min<size_t>(file.size(), 220)] = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random());
      const Result<LegacyHeader> header = read(file, random() % 2 == 0 ? SIZE_MAX : 16);
      if (header) BOOST_TEST(header->bytes.size() < 8 * file.size() + 4096);
    }
  }
}

BOOST_AUTO_TEST_CASE(types_and_kernels_are_the_same_list) {
  BOOST_REQUIRE_EQUAL(legacy_types().size(), legacy_kernels().size());
  for (const TypeGeometry& type : legacy_types()) {
    BOOST_TEST(find_type(type.id) == &type);
    BOOST_TEST(find_type(type.name) == &type);
    BOOST_REQUIRE(find_kernels(type.id) != nullptr);
    // Random blocks in exact-size memory: nothing is read beyond them.
    Bytes blocks(3 * size_t{type.block_bytes}, 0x5a);
    std::vector<float> values(3 * size_t{type.block_size}, NAN);
    find_kernels(type.id)->dequantize(blocks.data(), values.data(), 3);
    for (const float value : values) BOOST_TEST(!std::isnan(value), type.name);
  }
}

// Current blocks, converted to the older layouts, must give the same floats.
BOOST_AUTO_TEST_CASE(older_layouts_give_the_same_values) {
  struct Case {
    uint32_t today, older;
    size_t n_scales;
    bool wide, fifth, split;
  };
  for (const Case& c : {Case{2, 1002, 1, true, false, false}, Case{2, 2002, 1, true, false, true},
                        Case{3, 1003, 2, true, false, false}, Case{3, 2003, 2, true, false, true},
                        Case{6, 1006, 1, false, true, false}, Case{7, 1007, 2, false, true, false}}) {
    Bytes block, older;
    for (size_t i = 0; i < c.n_scales; ++i) {
      const uint16_t half = f32_to_f16(i == 0 ? 0.125f : -3.5f);
      const float wide = f16_to_f32(half);
      block.resize(block.size() + 2);
      store(block.data() + block.size() - 2, half);
      older.resize(older.size() + (c.wide ? 4 : 2));
      if (c.wide)
        store(older.data() + older.size() - 4, wide);
      else
        store(older.data() + older.size() - 2, half);
    }
    if (c.fifth) {
      for (Bytes* bytes : {&block, &older}) {
        bytes->resize(bytes->size() + 4);
        store(bytes->data() + bytes->size() - 4, 0x9c5a31e7u);
      }
    }
    uint8_t nibbles[32];
    for (uint8_t i = 0; i < 32; ++i) nibbles[i] = static_cast<uint8_t>((i * 7 + 3) % 16);
    for (size_t j = 0; j < 16; ++j) {
      block.push_back(static_cast<uint8_t>(nibbles[j] | nibbles[j + 16] << 4));
      older.push_back(c.split ? block.back() : static_cast<uint8_t>(nibbles[2 * j] | nibbles[2 * j + 1] << 4));
    }
    std::vector<float> expected(32), got(32);
    find_kernels(c.today)->dequantize(block.data(), expected.data(), 1);
    find_kernels(c.older)->dequantize(older.data(), got.data(), 1);
    BOOST_TEST(expected == got, c.older);
  }
  // Q4_2 is Q4_0 of half the length, Q4_3 is Q4_1, with the nibbles in pairs; Q8_0 had an f32 scale.
  const Bytes q4_3 = {0x00, 0x3c, 0x00, 0xc0, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
  std::vector<float> values(16);
  find_kernels(1005)->dequantize(q4_3.data(), values.data(), 1);
  for (size_t i = 0; i < 16; ++i) BOOST_TEST(values[i] == static_cast<float>(i) - 2.0f);
  Bytes q4_2 = q4_3;
  q4_2.erase(q4_2.begin() + 2, q4_2.begin() + 4);
  find_kernels(1004)->dequantize(q4_2.data(), values.data(), 1);
  for (size_t i = 0; i < 16; ++i) BOOST_TEST(values[i] == static_cast<float>(i) - 8.0f);
  Bytes q8_0 = {0, 0, 0, 0x40};
  for (uint8_t i = 0; i < 32; ++i) q8_0.push_back(static_cast<uint8_t>(i * 8 - 128));
  std::vector<float> eight(32);
  find_kernels(1008)->dequantize(q8_0.data(), eight.data(), 1);
  for (int i = 0; i < 32; ++i) BOOST_TEST(eight[static_cast<size_t>(i)] == 2.0f * static_cast<float>(i * 8 - 128));
}

BOOST_AUTO_TEST_CASE(real_files_are_read, *boost::unit_test::precondition(test::needs_shared("data"))) {
  struct Case {
    std::string file, architecture;
    size_t tokens, tensors;
  };
  for (const Case& c : {
           Case{"history/20230321-3651f708-ggml-vocab.bin", "llama", 32000, 0},
           Case{"history/20230330-38f63493-ggml-vocab.bin", "llama", 32000, 0},
           Case{"history/20230806-c1a3194c-ggml-vocab-llama.bin", "llama", 32000, 0},
           Case{"rwkv/tiny-rwkv-4v0-660K-FP32.bin", "rwkv4", 0, 78},
           Case{"rwkv/tiny-rwkv-4v0-660K-FP16.bin", "rwkv4", 0, 78},
           Case{"rwkv/tiny-rwkv-4v0-660K-Q5_0.bin", "rwkv4", 0, 78},
           Case{"rwkv/tiny-rwkv-4v0-660K-Q5_1.bin", "rwkv4", 0, 78},
           Case{"rwkv/tiny-rwkv-5v2-730K-FP32.bin", "rwkv5", 0, 270},
           Case{"rwkv/tiny-rwkv-5v2-730K-Q5_1.bin", "rwkv5", 0, 270},
           Case{"rwkv/tiny-rwkv-7v0-834K-FP32.bin", "rwkv7", 0, 339},
           Case{"rwkv/tiny-rwkv-7v0-834K-FP16.bin", "rwkv7", 0, 339},
           Case{"rwkv/tiny-rwkv-7v0-834K-Q5_0.bin", "rwkv7", 0, 339},
           Case{"whisper/for-tests-ggml-tiny.bin", "whisper", 50257, 0},
           Case{"whisper/for-tests-ggml-tiny.en.bin", "whisper", 50257, 0},
           Case{"whisper/for-tests-ggml-parakeet-tdt-bad-nfft0.bin", "parakeet", 10, 51},
       }) {
    BOOST_TEST_CONTEXT(c.file) {
      const Bytes file = test::read_file(test::shared("data/" + c.file));
      const Result<LegacyHeader> header = read(file, 65536);
      BOOST_REQUIRE_MESSAGE(header.has_value(), header.error().message);
      const Gguf gguf = view(*header);
      BOOST_TEST(*get_string(gguf, "general.architecture") == c.architecture);
      const KeyValue* tokens = find_key(gguf, "tokenizer.ggml.tokens");
      BOOST_TEST((tokens != nullptr ? tokens->count : 0) == c.tokens);
      BOOST_TEST(header->header.tensors.size() == c.tensors);
      for (const TensorInfo& tensor : header->header.tensors)
        BOOST_TEST(std::ranges::all_of(dequantize(file, tensor), [](float x) { return std::isfinite(x); }));
    }
  }
}

// Quantized values must differ by at most half a step from the FP32 originals.
BOOST_AUTO_TEST_CASE(quantized_files_approximate_their_exact_file,
                     *boost::unit_test::precondition(test::needs_shared("data/rwkv"))) {
  for (const auto& [exact_name, name] : {
           std::pair{"4v0-660K-FP32", "4v0-660K-FP16"},
           {"4v0-660K-FP32", "4v0-660K-Q5_0"},
           {"4v0-660K-FP32", "4v0-660K-Q5_1"},
           {"5v2-730K-FP32", "5v2-730K-Q5_1"},
           {"7v0-834K-FP32", "7v0-834K-FP16"},
           {"7v0-834K-FP32", "7v0-834K-Q5_0"},
       }) {
    const Bytes exact_file = test::read_file(test::shared(std::string("data/rwkv/tiny-rwkv-") + exact_name + ".bin"));
    const Bytes file = test::read_file(test::shared(std::string("data/rwkv/tiny-rwkv-") + name + ".bin"));
    const Result<LegacyHeader> exact_header = read(exact_file), header = read(file);
    BOOST_REQUIRE(exact_header && header);
    BOOST_TEST(header->header.tensors.size() == exact_header->header.tensors.size());
    size_t quantized = 0;
    for (const TensorInfo& tensor : header->header.tensors) {
      const TensorInfo* twin = find_tensor(view(*exact_header), view(*header).text(tensor.name));
      BOOST_REQUIRE(twin != nullptr);
      const std::vector<float> values = dequantize(file, tensor), exact = dequantize(exact_file, *twin);
      BOOST_REQUIRE_EQUAL(values.size(), exact.size());
      const TypeGeometry& type = *find_type(tensor.type);
      quantized += type.block_size > 1 ? 1 : 0;
      const size_t block = type.block_size > 1 ? type.block_size : 32;
      float worst = -1;
      for (size_t i = 0; i < exact.size(); i += block) {
        float low = 0, high = 0;
        for (size_t k = i; k < std::min(i + block, exact.size()); ++k)
          low = std::min(low, exact[k]), high = std::max(high, exact[k]);
        // Q5: 32 levels over the range (Q5_0: over twice the largest magnitude), scales rounded to f16, perhaps a
        // subnormal one.
        const float magnitude = std::max(-low, high);
        const float step = type.block_size == 1 ? magnitude * 0x1p-10f : 2 * magnitude / 31 * 1.01f;
        for (size_t k = i; k < std::min(i + block, exact.size()); ++k)
          worst = std::max(worst, std::abs(values[k] - exact[k]) - step);
      }
      BOOST_TEST(worst <= 32 * 0x1p-25f, name << " " << view(*header).text(tensor.name));
    }
    BOOST_TEST_MESSAGE(name << ": " << quantized << " quantized tensors");
    BOOST_TEST((quantized > 0) == (std::string_view(name).find("Q5") != std::string_view::npos));
  }
}

BOOST_AUTO_TEST_SUITE_END()
