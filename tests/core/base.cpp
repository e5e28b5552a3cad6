// Bytes in both orders, half precision, relaxed dot products, errors, counts, word lists, types.
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/half.hpp"
#include "base/sentence.hpp"
#include "base/simd.hpp"
#include "base/word_list.hpp"
#include "data.hpp"
#include "types/types.hpp"

using namespace ggufscope;

BOOST_AUTO_TEST_SUITE(base)

BOOST_AUTO_TEST_CASE(loads_and_stores_in_both_byte_orders) {
  const uint8_t bytes[] = {0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
  BOOST_TEST(load<uint32_t>(bytes + 1) == 0x04030201u);
  BOOST_TEST(load<uint32_t>(bytes + 1, true) == 0x01020304u);
  BOOST_TEST(load<uint64_t>(bytes + 1, true) == 0x0102030405060708ull);
  BOOST_TEST(load<uint16_t>(bytes + 1, true) == 0x0102u);
  uint8_t out[4];
  store(out, 1.0f, true);
  BOOST_TEST(load<float>(out, true) == 1.0f);
  BOOST_TEST(out[0] == 0x3f);
}

BOOST_AUTO_TEST_CASE(half_round_trips_every_bit_pattern) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const uint16_t bits = static_cast<uint16_t>(h);
    const float f16 = f16_to_f32(bits);
    const float bf16 = bf16_to_f32(bits);
    if (std::isnan(f16)) {
      BOOST_REQUIRE((f32_to_f16(f16) & 0x7c00u) == 0x7c00u);
    } else {
      BOOST_REQUIRE_EQUAL(f32_to_f16(f16), bits);
    }
    if (std::isnan(bf16)) {
      BOOST_REQUIRE(std::isnan(bf16_to_f32(f32_to_bf16(bf16))));
    } else {
      BOOST_REQUIRE_EQUAL(f32_to_bf16(bf16), bits);
    }
  }
}

BOOST_AUTO_TEST_CASE(half_rounds_to_nearest_even) {
  BOOST_TEST(f32_to_f16(1.0f + 0x1p-11f) == f32_to_f16(1.0f));          // tie, even below
  BOOST_TEST(f32_to_f16(1.0f + 3 * 0x1p-11f) == f32_to_f16(1.0f) + 2);  // tie, even above
  BOOST_TEST(f32_to_f16(65519.9f) == 0x7bffu);
  BOOST_TEST(f32_to_f16(65520.0f) == 0x7c00u);
  BOOST_TEST(f32_to_f16(0x1p-25f) == 0u);
  BOOST_TEST(f32_to_f16(0x1.8p-25f) == 1u);
  BOOST_TEST(f32_to_f16(-0.0f) == 0x8000u);
}

BOOST_AUTO_TEST_CASE(half_agrees_with_ggml, *boost::unit_test::precondition(test::needs_shared("vectors/quant"))) {
  const auto expected = test::read_file(test::shared("vectors/quant/F16.all65536.f32"));
  for (uint32_t h = 0; h < 65536; ++h) {
    const float want = load<float>(expected.data() + 4 * h);
    const float got = f16_to_f32(static_cast<uint16_t>(h));
    BOOST_REQUIRE((std::isnan(want) ? std::isnan(got) : std::bit_cast<uint32_t>(want) == std::bit_cast<uint32_t>(got)));
  }
}

BOOST_AUTO_TEST_CASE(relaxed_dots_agree_with_scalar) {
  int8_t a[16], b[16];
  for (int i = 0; i < 16; ++i) {
    a[i] = static_cast<int8_t>(i * 37 - 128);
    b[i] = static_cast<int8_t>((i * 29) & 127);
  }
  const v128_t va = wasm_v128_load(a), vb = wasm_v128_load(b);
  int32_t got[4];
  wasm_v128_store(got, relaxed_dot_i32(va, vb, wasm_i32x4_splat(7)));
  for (int lane = 0; lane < 4; ++lane) {
    int want = 7;
    for (int i = 0; i < 4; ++i) want += a[4 * lane + i] * b[4 * lane + i];
    BOOST_TEST(got[lane] == want);
  }
}

BOOST_AUTO_TEST_CASE(errors_have_code_offset_and_context) {
  const Result<int> result = fail(ErrorCode::kTruncated, 1048560, "truncated", "tensor name 812");
  BOOST_REQUIRE(!result.has_value());
  BOOST_TEST(result.error().message == "truncated at byte 1048560 in tensor name 812");
  BOOST_TEST(error_name(result.error().code) == "truncated");
}

BOOST_AUTO_TEST_CASE(counts_have_singular_and_plural) {
  BOOST_TEST(counted(0, "row") == "0 rows");
  BOOST_TEST(counted(1, "row") == "1 row");
  BOOST_TEST(counted(1u << 30, "row") == "1073741824 rows");
  BOOST_TEST(counted(1, "byte lies", "bytes lie") == "1 byte lies");
  BOOST_TEST(sentence({Counted{2, "byte lies", "bytes lie"}, " at ", -3}) == "2 bytes lie at -3");
}

BOOST_AUTO_TEST_CASE(word_lists_end_where_their_text_ends) {
  for (const std::string_view text : {"", " ", "   "})
    for (const std::string_view word : WordList(text)) BOOST_ERROR("there is no word '" << word << "'");
  for (const std::string_view text : {"a bc a", " a  bc a "}) {
    std::string joined;
    for (const std::string_view word : WordList(text)) joined.append(word).append(",");
    BOOST_TEST(joined == "a,bc,a,");
    BOOST_TEST((has_word(text, "bc") && !has_word(text, "b") && !has_word(text, "")));
  }
}

BOOST_AUTO_TEST_CASE(every_type_id_has_geometry_or_is_marked_removed) {
  BOOST_TEST(all_types().size() == 43u);
  BOOST_TEST(find_type(12)->name == "Q4_K");
  BOOST_TEST(find_type("MXFP4")->id == 39u);
  BOOST_TEST(find_type(43) == nullptr);
  int live = 0;
  for (const TypeGeometry& type : all_types()) {
    BOOST_TEST(type.removed == (type.block_bytes == 0));
    live += type.removed ? 0 : 1;
  }
  BOOST_TEST(live == 35);
}

BOOST_AUTO_TEST_SUITE_END()
