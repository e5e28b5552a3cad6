// Compares the writer of headers with the parser, and with bytes written field by field.
#include "gguf/write.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "data.hpp"
#include "gguf/access.hpp"
#include "gguf/parse.hpp"
#include "gguf_bytes.hpp"

using namespace ggufscope;
using test::Bytes;
using test::everything;
using enum ggufscope::ValueType;

namespace {

/// Writes all entries of a file again.
Result<WrittenHeader> rewrite(ByteView bytes, Encoding target) {
  ParseState state;
  const auto parsed = parse_header(bytes, bytes.size(), state);
  if (!parsed) return std::unexpected(parsed.error());
  const Gguf gguf{state.header, bytes};
  std::vector<WriteKeyValue> key_values;
  std::vector<WriteTensor> tensors;
  for (const KeyValue& kv : state.header.key_values) key_values.push_back(copy_of(gguf, kv));
  for (const TensorInfo& tensor : state.header.tensors) tensors.push_back(copy_of(gguf, tensor));
  return write_header(target, key_values, tensors);
}

bool begins_with(const Bytes& bytes, const Bytes& prefix) {
  return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

template <class T>
ByteView bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(T)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(writing)

BOOST_AUTO_TEST_CASE(every_version_and_byte_order_converts_to_every_other) {
  for (const uint32_t from : {1u, 2u, 3u})
    for (const bool from_big : {false, true})
      for (const uint32_t to : {2u, 3u})
        for (const bool to_big : {false, true}) {
          const auto written = rewrite(everything(from, from_big), {to, to_big});
          BOOST_REQUIRE(written.has_value());
          BOOST_TEST(written->alignment == 64u);
          BOOST_TEST(begins_with(everything(to, to_big), written->bytes));
          BOOST_TEST(written->bytes.size() + 1024 == everything(to, to_big).size());
        }
}

BOOST_AUTO_TEST_CASE(offsets_are_laid_out_and_padded) {
  const uint32_t alignment = 16;
  const std::vector<WriteKeyValue> kvs = {{"general.alignment", kU32, kU32, 1, bytes_of(alignment), {}}};
  const std::vector<WriteTensor> tensors = {
      {"a", 1, {5}, 0, 20, {}}, {"b", 1, {1}, 0, 4, {}}, {"c", 1, {4}, 0, 16, {}}};
  const auto written = write_header({}, kvs, tensors);
  BOOST_REQUIRE(written.has_value());
  BOOST_TEST(written->relative_offsets == (std::vector<uint64_t>{0, 32, 48}));
  BOOST_TEST(written->data_bytes == 64u);
  ParseState state;
  BOOST_REQUIRE(parse_header(written->bytes, std::nullopt, state)->complete);
  BOOST_TEST(state.header.data_offset == written->bytes.size());
  BOOST_TEST(state.header.tensors[2].relative_offset == 48u);
}

BOOST_AUTO_TEST_CASE(headers_are_written_from_values) {
  const std::vector<std::string_view> words = {"one", "", "three"};
  const Bytes array = encode_strings(words);
  const double pi = 3.25;
  const std::string_view text = "hello";
  const std::vector<WriteKeyValue> kvs = {
      {"words", kArray, kString, 3, array, {}},
      {"pi", kF64, kF64, 1, bytes_of(pi), {}},
      {"text", kString, kString, 1, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {}}};
  for (const bool big_endian : {false, true}) {
    const auto written = write_header({3, big_endian}, kvs, {});
    BOOST_REQUIRE(written.has_value());
    ParseState state;
    BOOST_REQUIRE(parse_header(written->bytes, std::nullopt, state)->complete);
    const Gguf g{state.header, written->bytes};
    BOOST_TEST(*get_strings(g, "words") == words);
    BOOST_TEST(*get_f64(g, "pi") == 3.25);
    BOOST_TEST(*get_string(g, "text") == "hello");
  }
}

BOOST_AUTO_TEST_CASE(invalid_headers_are_refused) {
  const uint32_t zero = 0;
  const uint64_t eight = 8, huge = uint64_t{1} << 62;
  const Bytes lying = {255, 255, 255, 255, 255, 255, 255, 255, 'a'};
  const auto code = [](Encoding target, std::vector<WriteKeyValue> kvs, std::vector<WriteTensor> tensors) {
    const auto written = write_header(target, kvs, tensors);
    return written ? std::string("ok") : std::string(error_name(written.error().code));
  };
  BOOST_TEST(code({1, false}, {}, {}) == "unsupported");
  BOOST_TEST(code({4, false}, {}, {}) == "unsupported");
  BOOST_TEST(code({}, {{"general.alignment", kU32, kU32, 1, bytes_of(zero), {}}}, {}) == "bad-alignment");
  BOOST_TEST(code({}, {{"general.alignment", kU64, kU64, 1, bytes_of(eight), {}}}, {}) == "bad-alignment");
  BOOST_TEST(code({}, {{"a", kU16, kU16, 1, bytes_of(zero), {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {{"a", kArray, kU16, 3, bytes_of(zero), {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {{"a", kArray, kString, 1, lying, {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {{"a", kArray, kString, eight, lying, {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {{"a", kArray, kArray, 1, lying, {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {{"a", static_cast<ValueType>(77), kU8, 1, lying, {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {{"a", kArray, static_cast<ValueType>(77), 0, {}, {}}}, {}) == "invalid-argument");
  BOOST_TEST(code({}, {}, {{"t", 9, {}, 0, 0, {}}}) == "bad-shape");
  BOOST_TEST(code({}, {}, {{"t", 1, {1}, 0, huge, {}}, {"u", 1, {1}, 0, huge, {}}}) == "overflow");
  BOOST_TEST(code({}, {}, {{"t", 1, {1}, 0, 4, ~uint64_t{0}}}) == "overflow");
}

BOOST_AUTO_TEST_CASE(real_headers_are_rewritten_byte_for_byte,
                     *boost::unit_test::precondition(test::needs_shared("data"))) {
  int files = 0;
  for (const char* folder : {"data/vocab", "data/misc", "data/history", "data/stories260K"})
    for (const auto& entry : std::filesystem::directory_iterator(test::shared(folder))) {
      if (entry.path().extension() != ".gguf") continue;
      const Bytes bytes = test::read_file(entry.path());
      ParseState state;
      if (!parse_header(bytes, bytes.size(), state) || bytes[0] != 'G') continue;
      const Encoding encoding{std::max(2u, state.header.version), state.header.big_endian};
      const auto written = rewrite(bytes, encoding);
      BOOST_REQUIRE_MESSAGE(written.has_value(), entry.path().string());
      ++files;
      if (state.header.version == 1) continue;  // version 1 cannot be written
      const size_t n = static_cast<size_t>(state.header.info_end);
      BOOST_TEST(std::equal(written->bytes.begin(), written->bytes.begin() + static_cast<ptrdiff_t>(n), bytes.begin()),
                 entry.path().string());
      const auto turned = rewrite(bytes, {3, !encoding.big_endian});
      BOOST_REQUIRE(turned.has_value());
      const auto back = rewrite(turned->bytes, encoding);
      BOOST_REQUIRE(back.has_value());
      BOOST_TEST((back->bytes == written->bytes), entry.path().string());
    }
  BOOST_TEST(files >= 20);
}

BOOST_AUTO_TEST_SUITE_END()
