// Rounding of weights and activations, special values, and refused shapes.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gemm_data.hpp"
#include "random_weights.hpp"

using namespace ggufscope;
using test::check_rows;
using test::formats_here;
using test::Int8DotOverride;
using test::packed;
using test::pool_of;

BOOST_AUTO_TEST_SUITE(gemm, *boost::unit_test::label("floats"))

// Rows that packing would more than double are not packed. Results differ by the rounding of activations.
BOOST_AUTO_TEST_CASE(compact_precision_keeps_types_that_would_grow) {
  const auto pool = pool_of(1);
  const size_t n_in = 512, n_out = 19;
  const std::vector<float> x = test::random_floats(n_in, 8);
  for (const auto& [name, stays] : {std::pair("Q1_0", true),
                                    {"Q2_0", false},
                                    {"TQ1_0", true},
                                    {"TQ2_0", true},
                                    {"Q4_0", false},
                                    {"Q6_K", false},
                                    {"Q2_K", false},
                                    {"NVFP4", false},
                                    {"IQ1_S", true},
                                    {"IQ2_XXS", true},
                                    {"IQ2_XS", false},
                                    {"IQ3_S", false},
                                    {"F16", false},
                                    {"F32", true}}) {
    BOOST_TEST_CONTEXT(name) {
      const TypeGeometry& type = *find_type(name);
      const test::RandomWeights w = test::random_weights(type.id, n_in, n_out, 5);
      const PackedMatrix matrix = packed(*pool, w, Precision::kCompact), fast = packed(*pool, w, Precision::kFast);
      BOOST_TEST((matrix.format() == nullptr) == stays);
      const uint64_t file_bytes = uint64_t{n_out} * n_in / type.block_size * type.block_bytes;
      BOOST_TEST((packed_bytes(type.id, n_in, n_out, Precision::kCompact) ==
                  (stays ? file_bytes : packed_bytes(type.id, n_in, n_out, Precision::kFast).value())));
      BOOST_TEST((matrix.packed_bytes() == file_bytes) == stays);
      std::vector<float> y(n_out), near(n_out);
      matmul(*pool, matrix, x.data(), 1, y.data());
      matmul(*pool, fast, x.data(), 1, near.data());
      for (size_t r = 0; r < n_out; ++r) {
        double squares = 0;
        for (size_t i = 0; i < n_in; ++i) squares += double{w.values[r * n_in + i]} * w.values[r * n_in + i];
        BOOST_REQUIRE_SMALL(y[r] - near[r], static_cast<float>(6 * std::sqrt(squares / 12) / 127 + 1e-4));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(f16_weights_may_be_nan_infinite_or_subnormal) {
  const auto pool = pool_of(1);
  test::RandomWeights w = test::random_weights(find_type("F16")->id, 64, 9, 6);
  const std::vector<float> x(64, 1.0f);
  const auto set = [&](size_t row, size_t column, uint16_t bits) {
    std::memcpy(w.bytes.data() + (row * 64 + column) * 2, &bits, 2);
  };
  // A row of subnormals is exact: 64 times 2^-24. Only activations are rounded.
  for (size_t i = 0; i < 64; ++i) set(3, i, 1);
  std::vector<float> y(9);
  matmul(*pool, packed(*pool, w, Precision::kFast), x.data(), 1, y.data());
  BOOST_TEST(y[3] == 0x1p-18f, boost::test_tools::tolerance(1e-5f));
  set(1, 7, 0x7c00);
  set(8, 9, 0xfe00);
  matmul(*pool, packed(*pool, w, Precision::kFast), x.data(), 1, y.data());
  for (size_t r = 0; r < 9; ++r) BOOST_TEST(std::isfinite(y[r]) == (r != 1 && r != 8));
}

// Every exponent, subnormals and zeros of both signs; then a row with NaN or infinity, packed after the others.
BOOST_AUTO_TEST_CASE(f16_and_bf16_are_rounded_as_block_floating_point) {
  const auto pool = pool_of(1);
  for (const char* name : {"F16", "BF16"}) {
    const bool is_half = name[0] == 'F';
    test::RandomWeights w = test::random_weights(find_type(name)->id, 64, 24, 9);
    auto* const bits = reinterpret_cast<uint16_t*>(w.bytes.data());
    for (size_t i = 0; i < w.values.size(); ++i) {
      // A block has two adjacent exponents; the next block has others.
      const size_t exponent = (i / 32 * 7 + i % 2) % (is_half ? 31 : 255);
      bits[i] = static_cast<uint16_t>((i % 3 & 1) << 15 | exponent << (is_half ? 10 : 7) |
                                      (i * 2654435761u >> 9) % (is_half ? 1024 : 128));
      w.values[i] = is_half ? f16_to_f32(bits[i]) : bf16_to_f32(bits[i]);
    }
    Result<PackedMatrix> matrix = PackedMatrix::create(*pool, w.type, 64, 25, Precision::kFast);
    BOOST_REQUIRE(matrix.has_value());
    BOOST_REQUIRE(matrix->pack_rows(*pool, 0, w.bytes).has_value());
    const PackedFormat& format = *find_packed_format(w.type);
    BOOST_TEST((matrix->format() == &format));
    const auto check = [&] {
      for (int32_t row = 0; row < 24; ++row) {
        std::vector<float> values(64);
        get_rows(*matrix, std::span(&row, 1), values.data());
        check_rows(format, w.values.data() + static_cast<size_t>(row) * 64, values.data(), 64);
      }
    };
    check();
    std::vector<uint8_t> last(w.bytes.begin(), w.bytes.begin() + 128);
    last[65] = 0x7f, last[64] = 0x80;  // NaN as F16, infinity as BF16
    BOOST_REQUIRE(matrix->pack_rows(*pool, 24, last).has_value());
    BOOST_TEST((matrix->format() == &wide_format(format)));
    check();
    const std::vector<float> x(64, 1.0f);
    std::vector<float> y(25);
    matmul(*pool, *matrix, x.data(), 1, y.data());
    for (size_t r = 0; r < 25; ++r) BOOST_TEST((std::isnan(y[r]) == (r == 24)));
  }
}

// Compares the best of kMaxCodes with always 127, which has a seventh more squared error on Gaussian blocks.
BOOST_AUTO_TEST_CASE(activation_quant_takes_the_best_scale) {
  std::mt19937 random(7);
  std::normal_distribution<float> gaussian;
  constexpr uint16_t kBlocks[] = {16, 32, 128};
  for (const uint16_t block : kBlocks) {
    const size_t n_in = 128 * 1000;
    std::vector<float> x(n_in);
    for (float& value : x) value = gaussian(random);
    const ActivationQuant quant{block, ActivationLayout::kInt8};
    std::vector<uint8_t> tile(activation_tile_bytes(quant, n_in));
    quantize_tile(quant, x.data(), n_in, 1, n_in, tile.data());
    double ours = 0, plain = 0;
    bool max_is_exact = true;
    for (size_t first = 0; first < n_in; first += block) {
      const uint8_t* codes = tile.data() + activation_offset(quant, first, 1);
      const float scale = load<float>(codes + block);
      float max = 0;
      for (size_t i = 0; i < block; ++i) max = std::max(max, std::abs(x[first + i]));
      for (size_t i = 0; i < block; ++i) {
        const float value = x[first + i], step = max / 127;
        const float error = value - scale * static_cast<float>(static_cast<int8_t>(codes[i]));
        const float of_127 = value - step * std::nearbyint(value / step);
        ours += double{error} * error, plain += double{of_127} * of_127;
        if (std::abs(value) == max) max_is_exact &= std::abs(error) < 0.01f * scale;
      }
    }
    BOOST_TEST_CONTEXT("blocks of " << block) {
      BOOST_TEST(ours < (block == 128 ? 0.96 : 0.9) * plain);
      BOOST_TEST(max_is_exact);
    }
  }
}

BOOST_AUTO_TEST_CASE(activations_may_be_nan_infinite_or_tiny) {
  const auto pool = pool_of(1);
  for (const auto& [format, int8_dot_kind] : formats_here()) {
    const Int8DotOverride override(int8_dot_kind);
    BOOST_TEST_CONTEXT(find_type(format.type)->name << ", int8 dot product " << static_cast<int>(int8_dot_kind)) {
      const PackedMatrix matrix = packed(*pool, test::random_weights(format.type, 256, 8, 1), Precision::kFast);
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        std::vector<float> x(256, 1.0f), y(8);
        x[5] = bad;
        matmul(*pool, matrix, x.data(), 1, y.data());
        for (const float value : y) BOOST_TEST(!std::isfinite(value));
      }
      for (const float tiny : {0.0f, 1e-36f, -std::numeric_limits<float>::denorm_min()}) {
        std::vector<float> x(256, tiny), y(8, 1.0f);
        matmul(*pool, matrix, x.data(), 1, y.data());
        for (const float value : y) BOOST_TEST(std::abs(value) <= 1e6f * std::abs(tiny));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(products_of_one_input_match_single_products) {
  const auto pool = pool_of(2);
  const std::vector<float> x = test::random_floats(3 * 64, 5);
  const test::RandomWeights wide = test::random_weights(0, 64, 37, 1), narrow = test::random_weights(8, 64, 6, 2);
  const PackedMatrix a = packed(*pool, wide, Precision::kExact), b = packed(*pool, narrow, Precision::kExact);
  std::vector<float> ya(3 * 37), yb(3 * 6), together_a(ya.size()), together_b(yb.size());
  matmul(*pool, a, x.data(), 3, ya.data());
  matmul(*pool, b, x.data(), 3, yb.data());
  const Product both[] = {{&a, together_a.data()}, {&b, together_b.data()}};
  matmul(*pool, both, x.data(), 3);
  BOOST_TEST((ya == together_a));
  BOOST_TEST((yb == together_b));
  const PackedMatrix fast = packed(*pool, narrow, Precision::kFast);
  matmul(*pool, fast, x.data(), 3, yb.data());
  const Product mixed[] = {{&fast, together_b.data()}, {&a, together_a.data()}};
  matmul(*pool, mixed, x.data(), 3);
  BOOST_TEST((ya == together_a));
  BOOST_TEST((yb == together_b));
}

// All formats in one call need all quantizations of activations at once, in memory that grew with each matrix.
BOOST_AUTO_TEST_CASE(products_of_all_formats_share_scratch_memory) {
  constexpr size_t kIn = 512, kOut = 12;
  for (const bool reversed : {false, true}) {
    const auto pool = pool_of(2);
    std::vector<PackedMatrix> matrices;
    for (const PackedFormat& format : all_packed_formats())
      if (find_packed_format(format.type) == &format)
        matrices.push_back(packed(*pool, test::random_weights(format.type, kIn, kOut, format.type), Precision::kFast));
    if (reversed) std::ranges::reverse(matrices);
    for (const size_t n_tokens : {1u, 2u, 5u, 128u, 200u}) {
      const std::vector<float> x = test::random_floats(n_tokens * kIn, 5);
      std::vector<std::vector<float>> alone, together;
      std::vector<Product> products;
      for (const PackedMatrix& matrix : matrices) {
        matmul(*pool, matrix, x.data(), n_tokens, alone.emplace_back(n_tokens * kOut).data());
        together.emplace_back(n_tokens * kOut);
      }
      for (size_t i = 0; i < matrices.size(); ++i) products.push_back({&matrices[i], together[i].data()});
      matmul(*pool, products, x.data(), n_tokens);
      for (size_t i = 0; i < matrices.size(); ++i) BOOST_TEST((alone[i] == together[i]), matrices[i].type());
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_bad_shapes_types_and_rows) {
  const auto pool = pool_of(1);
  struct {
    uint32_t type;
    uint64_t n_in, n_out;
    ErrorCode code;
  } const cases[] = {
      {0, 0, 4, ErrorCode::kBadShape},
      {0, 4, 0, ErrorCode::kBadShape},
      {2, 33, 4, ErrorCode::kBadShape},
      {4, 32, 4, ErrorCode::kUnsupported},
      {99, 32, 4, ErrorCode::kUnsupported},
      {0, UINT64_MAX, UINT64_MAX, ErrorCode::kOutOfMemory},
      {0, uint64_t{1} << 39, 2, ErrorCode::kOutOfMemory},
      {12, uint64_t{1} << 63, uint64_t{1} << 63, ErrorCode::kOutOfMemory},
  };
  for (const auto& c : cases) {
    for (const Precision precision : {Precision::kExact, Precision::kFast}) {
      const Result<PackedMatrix> matrix = PackedMatrix::create(*pool, c.type, c.n_in, c.n_out, precision);
      BOOST_REQUIRE(!matrix.has_value());
      BOOST_TEST((matrix.error().code == c.code));
    }
  }
  Result<PackedMatrix> matrix = PackedMatrix::create(*pool, 2, 32, 3, Precision::kExact);
  BOOST_REQUIRE(matrix.has_value());
  const std::vector<uint8_t> bytes(18 * 4);
  BOOST_TEST(!matrix->pack_rows(*pool, 0, bytes).has_value());
  BOOST_TEST(!matrix->pack_rows(*pool, 3, ByteView(bytes).first(18)).has_value());
  BOOST_TEST(!matrix->pack_rows(*pool, UINT64_MAX, ByteView(bytes).first(18)).has_value());
  BOOST_TEST(!matrix->pack_rows(*pool, 0, ByteView(bytes).first(17)).has_value());
  BOOST_TEST(matrix->pack_rows(*pool, 3, {}).has_value());
  BOOST_TEST(matrix->pack_rows(*pool, 2, ByteView(bytes).first(18)).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
