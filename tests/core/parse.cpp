// The parser: accepted and refused headers, offsets of errors, and independence of chunks.
#include "gguf/parse.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "data.hpp"
#include "gguf/access.hpp"
#include "gguf/arrays.hpp"
#include "gguf_bytes.hpp"

using namespace ggufscope;
using test::everything;
using test::GgufBytes;
using enum ggufscope::ValueType;

namespace {

using test::Bytes;

std::string name_of(const Result<ParseProgress>& result) {
  if (!result) return std::string(error_name(result.error().code));
  return result->complete ? "ok" : "need-more";
}

Result<ParseProgress> parse_whole(const Bytes& bytes, ParseState& state) {
  return parse_header(bytes, bytes.size(), state);
}

bool same(Extent a, Extent b) { return a.offset == b.offset && a.length == b.length; }

bool same(const Header& a, const Header& b) {
  const auto same_kv = [](const KeyValue& x, const KeyValue& y) {
    return same(x.key, y.key) && x.type == y.type && x.element_type == y.element_type && x.count == y.count &&
           same(x.value, y.value);
  };
  const auto same_tensor = [](const TensorInfo& x, const TensorInfo& y) {
    return same(x.name, y.name) && x.n_dims == y.n_dims && x.shape == y.shape && x.type == y.type &&
           x.offset == y.offset && x.relative_offset == y.relative_offset && x.n_elements == y.n_elements &&
           x.n_bytes == y.n_bytes && x.info_offset == y.info_offset;
  };
  return a.version == b.version && a.big_endian == b.big_endian && a.alignment == b.alignment &&
         a.info_end == b.info_end && a.data_offset == b.data_offset &&
         std::ranges::equal(a.key_values, b.key_values, same_kv) &&
         std::ranges::equal(a.tensors, b.tensors, same_tensor);
}

/// The header's bytes in an allocation of exactly that size, so that ASan sees any byte read past it.
struct Exact {
  std::unique_ptr<uint8_t[]> data;
  size_t size;
  Exact(const Bytes& bytes, size_t n) : data(new uint8_t[n]), size(n) { std::copy_n(bytes.begin(), n, data.get()); }
  [[nodiscard]] ByteView view() const { return {data.get(), size}; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(parsing)

BOOST_AUTO_TEST_CASE(every_value_type_is_read_in_every_version_and_byte_order) {
  for (const uint32_t version : {1u, 2u, 3u}) {
    for (const bool big_endian : {false, true}) {
      const Bytes bytes = everything(version, big_endian);
      ParseState state;
      BOOST_REQUIRE_EQUAL(name_of(parse_whole(bytes, state)), "ok");
      const Gguf g{state.header, bytes};
      BOOST_TEST(g.header.version == version);
      BOOST_TEST(g.header.big_endian == big_endian);
      BOOST_TEST(g.header.alignment == 64u);
      BOOST_TEST(g.header.data_offset % 64 == 0u);
      BOOST_TEST(g.header.key_values.size() == 20u);
      BOOST_TEST(*get_string(g, "general.architecture") == "llama");
      BOOST_TEST(*get_u64(g, "u8") == 200u);
      BOOST_TEST(*get_i64(g, "i8") == -100);
      BOOST_TEST(!get_u64(g, "i8"));
      BOOST_TEST(*get_u64(g, "u16") == 60000u);
      BOOST_TEST(*get_i64(g, "i16") == -30000);
      BOOST_TEST(*get_u64(g, "u32") == 4000000000u);
      BOOST_TEST(*get_i64(g, "i32") == -2000000000);
      BOOST_TEST(*get_f64(g, "f32") == 1.5);
      BOOST_TEST(!get_u64(g, "f32"));
      BOOST_TEST(*get_bool(g, "bool"));
      BOOST_TEST(*get_u64(g, "bool") == 1u);
      BOOST_TEST(*get_u64(g, "u64") == uint64_t{1} << 60);
      BOOST_TEST(*get_i64(g, "i64") == -(int64_t{1} << 60));
      BOOST_TEST(*get_f64(g, "f64") == 0.1);
      BOOST_TEST(*get_string(g, "__proto__") == "harmless");
      BOOST_TEST(!get_string(g, "constructor"));

      const auto strings = get_strings(g, "strings");
      BOOST_REQUIRE(strings);
      BOOST_TEST(strings->size() == 200u);
      BOOST_TEST((*strings)[5] == "fffff");
      BOOST_TEST((*strings)[199] == "rrr");
      BOOST_TEST(get_strings(g, "none")->empty());
      BOOST_TEST(*get_floats(g, "floats") == (std::vector<float>{1.0f, -2.0f, 0.5f}));
      BOOST_TEST(*get_floats(g, "i8s") == (std::vector<float>{-1.0f, 127.0f}));
      BOOST_TEST(*get_integers(g, "i8s") == (std::vector<int64_t>{-1, 127}));
      BOOST_TEST(!get_integers(g, "u64s"));
      BOOST_TEST(!get_integers(g, "floats"));
      BOOST_TEST(!get_integers(g, "strings"));

      BOOST_REQUIRE(g.header.tensors.size() == 4u);
      const TensorInfo* embd = find_tensor(g, "token_embd.weight");
      BOOST_REQUIRE(embd != nullptr);
      BOOST_TEST(embd->n_elements == 1024u);
      BOOST_TEST(embd->n_bytes == 576u);
      BOOST_TEST(embd->offset == g.header.data_offset);
      BOOST_TEST(embd->shape[2] == 1u);
      BOOST_TEST(find_tensor(g, "scalar")->n_bytes == 4u);
      BOOST_TEST(find_tensor(g, "odd")->n_bytes == 0u);
      BOOST_TEST(find_tensor(g, "future")->n_bytes == 0u);
      BOOST_TEST(find_tensor(g, "future")->n_elements == 192u);
      BOOST_TEST(find_tensor(g, "future")->offset == g.header.data_offset + 704);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_prefix_needs_more_or_is_truncated) {
  for (const uint32_t version : {1u, 2u, 3u}) {
    const Bytes bytes = everything(version, version == 2);
    ParseState whole;
    BOOST_REQUIRE_EQUAL(name_of(parse_whole(bytes, whole)), "ok");
    for (size_t n = 0; n < whole.header.info_end; ++n) {
      const Exact prefix(bytes, n);
      ParseState open, cut;
      const auto more = parse_header(prefix.view(), std::nullopt, open);
      BOOST_REQUIRE_EQUAL(name_of(more), "need-more");
      BOOST_REQUIRE_GT(more->at_least, n);
      BOOST_REQUIRE_LE(more->at_least, whole.header.info_end);
      const auto error = parse_header(prefix.view(), n, cut);
      BOOST_REQUIRE_EQUAL(name_of(error), "truncated");
      BOOST_REQUIRE_EQUAL(error.error().offset, n);
    }
    for (size_t n = static_cast<size_t>(whole.header.info_end); n < bytes.size(); n += 7) {
      const Exact prefix(bytes, n);
      ParseState state;
      BOOST_REQUIRE_EQUAL(name_of(parse_header(prefix.view(), std::nullopt, state)), "ok");
      BOOST_REQUIRE(same(state.header, whole.header));
    }
  }
}

BOOST_AUTO_TEST_CASE(grown_by_chunks_equals_whole) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Bytes bytes = everything(1 + static_cast<uint32_t>(round % 3), round % 2 == 0);
    ParseState whole, grown;
    BOOST_REQUIRE_EQUAL(name_of(parse_whole(bytes, whole)), "ok");
    const bool size_known = round % 5 < 2;
    size_t n = 0;
    uint64_t walked = 0;
    for (;;) {
      n = std::min(bytes.size(), n + 1 + random() % (round % 4 == 0 ? 3u : 200u));
      const Exact prefix(bytes, n);
      const auto result =
          parse_header(prefix.view(), size_known ? std::optional<uint64_t>(bytes.size()) : std::nullopt, grown);
      BOOST_REQUIRE(result.has_value());
      BOOST_REQUIRE_GE(grown.position, walked);
      walked = grown.position;
      if (result->complete) break;
      BOOST_REQUIRE_GT(result->at_least, n);
    }
    BOOST_REQUIRE(same(grown.header, whole.header));
  }
}

BOOST_AUTO_TEST_CASE(lengths_and_counts_beyond_the_limits_of_ggml_are_refused) {
  struct Case {
    std::string_view what;
    std::string_view result;
    GgufBytes bytes;
  };
  const uint64_t limit = uint64_t{1} << 30;
  const auto file = [](uint64_t n_tensors, uint64_t n_key_values) { return GgufBytes(n_tensors, n_key_values); };
  const Case cases[] = {
      {"key of 1 GiB", "need-more", file(0, 1).length(limit)},
      {"key over 1 GiB", "bad-length", file(0, 1).length(limit + 1)},
      {"value of 1 GiB", "need-more", file(0, 1).string("k").type(kString).length(limit)},
      {"value over 1 GiB", "bad-length", file(0, 1).string("k").type(kString).length(limit + 1)},
      {"text of an array over 1 GiB", "bad-length", file(0, 1).array("k", kString, 1).length(limit + 1)},
      {"tensor name over 1 GiB", "bad-length", file(1, 0).length(limit + 1)},
      {"2^30 bytes", "need-more", file(0, 1).array("k", kU8, limit)},
      {"more than 2^30 bytes", "bad-count", file(0, 1).array("k", kU8, limit + 1)},
      {"more than 2^30 flags", "bad-count", file(0, 1).array("k", kBool, limit + 1)},
      {"2^30 strings", "need-more", file(0, 1).array("k", kString, limit)},
      {"more than 2^30 strings", "bad-count", file(0, 1).array("k", kString, limit + 1)},
      {"negative count of keys", "bad-count", file(0, ~uint64_t{0})},
      {"negative count of tensors", "bad-count", file(~uint64_t{0}, 0)},
  };
  for (const Case& c : cases) {
    ParseState state;
    // The file size is 1 TiB, so everything that is declared would fit.
    BOOST_TEST(name_of(parse_header(c.bytes.out, uint64_t{1} << 40, state)) == c.result, c.what);
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_key_or_the_tensor_once_its_name_is_read) {
  struct Case {
    std::string where;
    GgufBytes bytes;
  };
  const std::string name = "blk.0.attn_q.weight";
  const auto file = [](uint64_t n_tensors, uint64_t n_key_values) { return GgufBytes(n_tensors, n_key_values); };
  const auto begun = [&] { return file(0, 2).kv("a", "b"); };
  const Case cases[] = {
      {"key 1", begun().length(9)},
      {"value type of key 'k'", begun().string("k")},
      {"value of key 'k'", begun().string("k").type(kU64)},
      {"value of key 'k\\x0a'", begun().string("k\n").type(kString).length(9)},
      {"array of key 'k'", begun().string("k").type(kArray).type(kU8)},
      {"string array of key 'k'", begun().array("k", kString, 2).string("x").length(9)},
      {"nested array of key 'k'", begun().array("k", kArray, 1).type(kU8).length(9)},
      {"tensor name 0", file(1, 0).length(99).raw("a part of a longer name")},
      {"dimension count of tensor '" + name + "'", file(1, 0).string(name)},
      {"shape of tensor '" + name + "'", file(1, 0).string(name).put(1u)},
      {"type of tensor '" + name + "'", file(1, 0).string(name).put(0u)},
      {"offset of tensor '" + name + "'", file(1, 0).string(name).put(0u).put(0u)},
  };
  for (const Case& c : cases) {
    ParseState state;
    const auto result = parse_whole(c.bytes.out, state);
    BOOST_REQUIRE_EQUAL(name_of(result), "truncated");
    BOOST_TEST(result.error().message.ends_with(" in " + c.where), result.error().message);
  }
  ParseState state;
  const auto placed = parse_whole(file(1, 0).tensor("t", {32}, 0, ~uint64_t{0} / 2).out, state);
  BOOST_TEST(placed.error().message == "an offset past 2^63 at byte 24 in tensor 't'");
}

BOOST_AUTO_TEST_CASE(slices_of_arrays_are_read) {
  for (const uint32_t version : {1u, 3u}) {
    const Bytes bytes = everything(version, version == 3);
    ParseState state;
    BOOST_REQUIRE_EQUAL(name_of(parse_whole(bytes, state)), "ok");
    const Gguf g{state.header, bytes};
    const KeyValue& strings = *find_key(g, "strings");
    const auto all = *get_strings(g, "strings");
    for (const size_t from : {0u, 1u, 63u, 64u, 130u, 199u, 200u, 1000u}) {
      ArrayIndex fresh;
      const auto page = slice(g, strings, fresh, from, from + 10);
      BOOST_TEST(page.size() == (from >= 200 ? 0 : std::min<size_t>(10, 200 - from)));
      for (size_t i = 0; i < page.size(); ++i) BOOST_TEST(g.text(page[i].value) == all[from + i]);
    }
    ArrayIndex index;
    for (const size_t from : {199u, 5u, 64u, 63u, 128u, 0u})
      BOOST_TEST(g.text(slice(g, strings, index, from, from + 1)[0].value) == all[from]);
    BOOST_TEST(index.checkpoints.size() == 4u);

    ArrayIndex none, outer, inner;
    BOOST_TEST(slice(g, *find_key(g, "u64s"), none, 1, 9).size() == 1u);
    BOOST_TEST(slice(g, *find_key(g, "u32"), none, 0, 9).empty());
    const auto nested = slice(g, *find_key(g, "nested"), outer, 0, 9);
    BOOST_REQUIRE(nested.size() == 3u);
    BOOST_TEST((nested[0].element_type == kU16 && nested[0].count == 2 && nested[0].value.length == 4));
    BOOST_TEST(g.text(slice(g, nested[1], inner, 1, 2)[0].value) == "yz");
    BOOST_TEST((nested[2].element_type == kArray && nested[2].count == 2));
    ArrayIndex innermost;
    const auto leaves = slice(g, nested[2], innermost, 0, 2);
    BOOST_TEST((leaves[1].element_type == kBool && leaves[1].count == 1));
  }
}

BOOST_AUTO_TEST_CASE(super_blocks_of_64_are_recognized_by_tensor_offsets) {
  struct Case {
    std::string_view what;
    uint64_t second;  // where the second tensor begins
    size_t size;      // of the data
    bool with_size, small;
  };
  const Case cases[] = {{"both", 320, 624, true, true},
                        {"both, padded", 320, 640, true, true},
                        {"the second by the first", 320, 640, false, true},
                        {"256", 288, 592, true, false},
                        {"neither", 352, 656, true, false},
                        {"the end contradicts", 320, 700, true, false}};
  for (const Case& c : cases) {
    GgufBytes b(2, 0);
    b.tensor("a", {256, 2}, 12, 0).tensor("b", {64, 8}, 12, c.second).pad(32, c.size);
    ParseState state;
    const auto result = parse_header(b.out, c.with_size ? std::optional<uint64_t>(b.out.size()) : std::nullopt, state);
    BOOST_TEST_REQUIRE((result && result->complete), c.what);
    BOOST_TEST(state.header.small_blocks == c.small, c.what);
    BOOST_TEST(state.header.tensors[0].n_bytes == (c.small ? 304u : 288u), c.what);
    BOOST_TEST(state.header.tensors[1].n_bytes == (c.small ? 304u : 0u), c.what);
  }
}

BOOST_AUTO_TEST_CASE(legacy_types_are_unknown_in_gguf_files) {
  for (const uint32_t type : {1002u, 1008u, 2003u}) {
    GgufBytes b(1, 0);
    b.tensor("a", {64}, type, 0).pad(32, 128);
    ParseState state;
    BOOST_REQUIRE_EQUAL(name_of(parse_whole(b.out, state)), "ok");
    BOOST_TEST(state.header.tensors[0].n_bytes == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
