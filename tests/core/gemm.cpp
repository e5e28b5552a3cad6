// Products of packed matrices: every type, kernel and number of threads against references.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "gemm_data.hpp"
#include "random_weights.hpp"

using namespace ggufscope;
using test::check_decode;
using test::check_reference;
using test::check_rows;
using test::format_for;
using test::formats_here;
using test::Int8DotOverride;
using test::kLimits;
using test::multiplied;
using test::packed;
using test::pool_of;

BOOST_AUTO_TEST_SUITE(gemm, *boost::unit_test::label("floats"))

BOOST_AUTO_TEST_CASE(int8_products_of_this_build) {
  for (const int seed : {1, 2, 5}) BOOST_TEST(int8_products_are_correct(seed));
}

BOOST_AUTO_TEST_CASE(exact_gemm_of_every_type) {
  const auto one = pool_of(1), three = pool_of(3);
  for (const QuantKernels& kernels : all_kernels()) {
    const uint32_t block = find_type(kernels.type)->block_size;
    const size_t n_in = block == 1 ? 77 : block == 256 ? 512 : size_t{block} * 3, n_out = 23, n_tokens = 5;
    const test::RandomWeights w = test::random_weights(kernels.type, n_in, n_out, 7);
    const std::vector<float> x = test::random_floats(n_tokens * n_in, 8);
    BOOST_TEST_CONTEXT(find_type(kernels.type)->name) {
      const PackedMatrix a = packed(*one, w, Precision::kExact), b = packed(*three, w, Precision::kExact);
      BOOST_TEST(a.packed_bytes() == *packed_bytes(kernels.type, n_in, n_out, Precision::kExact));
      std::vector<float> y(n_tokens * n_out), threaded(y.size()), single(n_out);
      matmul(*one, a, x.data(), n_tokens, y.data());
      matmul(*three, b, x.data(), n_tokens, threaded.data());
      BOOST_TEST((y == threaded));
      for (size_t t = 0; t < n_tokens; ++t) {
        matmul(*one, a, x.data() + t * n_in, 1, single.data());
        for (size_t r = 0; r < n_out; ++r) {
          double want = 0, size = 0;
          for (size_t i = 0; i < n_in; ++i) {
            want += double{w.values[r * n_in + i]} * x[t * n_in + i];
            size += std::abs(double{w.values[r * n_in + i]} * x[t * n_in + i]);
          }
          BOOST_REQUIRE_SMALL(y[t * n_out + r] - want, 1e-6 * size + 1e-30);
          BOOST_REQUIRE_EQUAL(std::bit_cast<uint32_t>(single[r]), std::bit_cast<uint32_t>(y[t * n_out + r]));
        }
      }
      const std::vector<int32_t> ids = {22, 0, 7, 7};
      std::vector<float> rows(ids.size() * n_in);
      get_rows(a, ids, rows.data());
      for (size_t i = 0; i < ids.size(); ++i)
        for (size_t k = 0; k < n_in; ++k)
          BOOST_REQUIRE_EQUAL(rows[i * n_in + k], w.values[static_cast<size_t>(ids[i]) * n_in + k]);
    }
  }
}

BOOST_AUTO_TEST_CASE(packing_keeps_every_weight) {
  const auto pool = pool_of(1);
  for (const auto& [format, int8_dot_kind] : formats_here()) {
    const Int8DotOverride override(int8_dot_kind);
    BOOST_TEST_CONTEXT(find_type(format.type)->name << ", int8 dot product " << static_cast<int>(int8_dot_kind)) {
      for (const float limit : kLimits) {
        const test::RandomWeights w = test::random_weights(format.type, 512, 13, 21, limit);
        const PackedMatrix matrix = packed(*pool, w, Precision::kFast);
        BOOST_TEST(matrix.format() == &format_for(format, limit));
        BOOST_TEST(matrix.packed_bytes() == 2 * packed_group_bytes(*matrix.format(), 512));
        if (matrix.format() == &format)
          BOOST_TEST(matrix.packed_bytes() == *packed_bytes(format.type, 512, 13, Precision::kFast));
        std::vector<int32_t> ids;
        for (int32_t i = 0; i < 13; ++i) ids.push_back(12 - i);
        std::vector<float> rows(512 * 13);
        get_rows(matrix, ids, rows.data());
        for (size_t i = 0; i < 13; ++i)
          check_rows(*matrix.format(), w.values.data() + (12 - i) * 512, rows.data() + i * 512, 512);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(packing_with_threads_gives_the_same_bytes) {
  const auto one = pool_of(1), three = pool_of(3);
  for (const char* type : {"Q4_0", "Q6_K", "F16"}) {
    const test::RandomWeights w = test::random_weights(find_type(type)->id, 512, 1501, 5);
    const PackedMatrix a = packed(*one, w, Precision::kFast), b = packed(*three, w, Precision::kFast);
    BOOST_REQUIRE(a.packed_bytes() == b.packed_bytes());
    BOOST_TEST(std::memcmp(a.data(), b.data(), a.packed_bytes()) == 0, type);
  }
}

// Weights and activations at the ends of their ranges reveal an int16 accumulator that overflows.
static test::RandomWeights extreme_weights(uint32_t type, size_t n_in, size_t n_out) {
  const Quantizer quantizer = find_quantizer(type);
  BOOST_REQUIRE(quantizer.quantize != nullptr);
  test::RandomWeights w = test::random_weights(type, n_in, n_out, 3);
  const size_t block = find_type(type)->block_size;
  for (size_t i = 0; i < w.values.size(); ++i) {
    const float sign = i / n_in % 2 == 0 ? 1.0f : -1.0f;
    w.values[i] = i % 32 == 0 ? -sign : sign * 0.99f;
  }
  const std::vector<float> importance(n_in, 1.0f);
  quantizer.quantize(w.values.data(), w.bytes.data(), w.values.size() / block,
                     quantizer.needs_importance ? importance.data() : nullptr, n_in / block);
  find_reference(type)(w.bytes.data(), w.values.data(), w.values.size() / block);
  return w;
}

// Rows of two or three panels give the same result as a row of one panel.
BOOST_AUTO_TEST_CASE(rows_longer_than_a_panel_match_the_reference) {
  const auto one = pool_of(1), three = pool_of(3);
  for (const auto& [format, int8_dot_kind] : formats_here()) {
    const Int8DotOverride override(int8_dot_kind);
    BOOST_TEST_CONTEXT(find_type(format.type)->name << ", int8 dot product " << static_cast<int>(int8_dot_kind)) {
      for (const auto& [n_in, limit] :
           {std::pair(size_t{2304}, kLimits[0]),
            {size_t{4352}, kLimits[1]},
            {kPanelDepth + std::max<size_t>(find_type(format.type)->block_size, format.block()) % 256, kLimits[0]}}) {
        const size_t n_out = 77, n_tokens = 5;
        const test::RandomWeights w = test::random_weights(format.type, n_in, n_out, 17, limit);
        const std::vector<float> x = test::random_floats(n_tokens * n_in, 8);
        const PackedMatrix matrix = packed(*one, w, Precision::kFast);
        size_t n_panels = 0, elements = 0;
        for_each_panel(*matrix.format(), n_in, 10, [&](const Panel& panel) {
          BOOST_TEST(panel.first == elements);
          BOOST_TEST((panel.n > 0 && panel.n <= kPanelDepth));
          ++n_panels, elements += panel.n;
        });
        BOOST_TEST(elements == n_in);
        BOOST_TEST(n_panels == (n_in + kPanelDepth - 1) / kPanelDepth);
        const std::vector<float> y = multiplied(*one, *three, w, matrix, x);
        for (size_t t = 0; t < n_tokens; ++t) {
          check_decode(*one, matrix, x.data() + t * n_in, std::span(y).subspan(t * n_out, n_out));
          // The others are products of the same group of four tokens.
          if (t % 4 == 0) check_reference(matrix, x.data() + t * n_in, y.data() + t * n_out, 2e-6f);
        }
        const std::vector<int32_t> ids = {76, 0};
        std::vector<float> rows(ids.size() * n_in);
        get_rows(matrix, ids, rows.data());
        for (size_t i = 0; i < ids.size(); ++i)
          check_rows(*matrix.format(), w.values.data() + static_cast<size_t>(ids[i]) * n_in, rows.data() + i * n_in,
                     n_in);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(microkernels_match_the_reference_and_approximate_exact_gemm) {
  const auto one = pool_of(1), three = pool_of(3);
  for (const auto& [format, int8_dot_kind] : formats_here()) {
    const Int8DotOverride override(int8_dot_kind);
    BOOST_TEST_CONTEXT(find_type(format.type)->name << ", int8 dot product " << static_cast<int>(int8_dot_kind)) {
      for (const float limit : {0.0f, kLimits[0], kLimits[1]}) {
        const bool extreme = limit == 0;
        // More row groups than memory streams: decode interleaves some and multiplies the rest one by one.
        const size_t n_in = 768, n_out = 77, n_tokens = 70;
        const test::RandomWeights w = extreme ? extreme_weights(format.type, n_in, n_out)
                                              : test::random_weights(format.type, n_in, n_out, 31, limit);
        std::vector<float> x = test::random_floats(n_tokens * n_in, 8);
        if (extreme)
          for (size_t i = 0; i < x.size(); ++i) x[i] = i / n_in % 2 == 0 ? 1.0f : -1.0f;
        const PackedMatrix matrix = packed(*one, w, Precision::kFast);
        const std::vector<float> y = multiplied(*one, *three, w, matrix, x);
        for (const size_t t : {size_t{0}, size_t{1}, size_t{5}, n_tokens - 1}) {
          check_decode(*one, matrix, x.data() + t * n_in, std::span(y).subspan(t * n_out, n_out));
          check_reference(matrix, x.data() + t * n_in, y.data() + t * n_out);
          for (size_t r = 0; r < n_out; ++r) {
            double want = 0, squares = 0;
            for (size_t i = 0; i < n_in; ++i) {
              want += double{w.values[r * n_in + i]} * x[t * n_in + i];
              squares += double{w.values[r * n_in + i]} * w.values[r * n_in + i];
            }
            // Activations are rounded by up to 1 / 254 (1 / 16382) of the largest: uniform noise, 1 / sqrt(12) of it
            // each. Block floating point rounds weights by 2^-14 of the largest of 32.
            const double rounding = format.bits == 16 ? 1.0 / 8191 + std::sqrt(32) * 0x1p-14 : 1.0 / 127;
            BOOST_REQUIRE_SMALL(y[t * n_out + r] - want,
                                6 * std::sqrt(squares / 12) * rounding + 1e-5 * std::abs(want));
          }
        }
      }
    }
  }
}

// Threads divide a batch into parts, and these into chunks.
BOOST_AUTO_TEST_CASE(prefill_gives_the_bits_of_decode_for_any_length_and_threads) {
  const auto one = pool_of(1);
  const size_t n_in = 256, n_out = 21, n_max = 520;
  for (const char* name : {"Q4_0", "Q6_K", "F16"}) {
    const test::RandomWeights w = test::random_weights(find_type(name)->id, n_in, n_out, 3);
    const std::vector<float> x = test::random_floats(n_max * n_in, 4);
    const PackedMatrix matrix = packed(*one, w, Precision::kFast);
    std::vector<float> decoded(n_max * n_out);
    for (size_t t = 0; t < n_max; ++t) matmul(*one, matrix, x.data() + t * n_in, 1, decoded.data() + t * n_out);
    for (const size_t n_threads : {1u, 2u, 3u, 5u}) {
      const auto pool = pool_of(n_threads);
      const PackedMatrix own = packed(*pool, w, Precision::kFast);
      for (const size_t n_tokens : {2u, 63u, 64u, 65u, 97u, 128u, 129u, 131u, 257u, 511u, 520u}) {
        std::vector<float> y(n_tokens * n_out, -1.0f);
        matmul(*pool, own, x.data(), n_tokens, y.data());
        BOOST_TEST_CONTEXT(name << ", " << n_threads << " threads, " << n_tokens << " tokens")
        BOOST_TEST(std::equal(y.begin(), y.end(), decoded.begin()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(types_without_a_packed_format_are_multiplied_as_floats) {
  const auto one = pool_of(1), three = pool_of(3);
  for (const auto& [name, n_in] : {std::pair("F32", size_t{768}),
                                   {"F32", size_t{775}},
                                   {"F16", size_t{776}},
                                   {"F16", size_t{775}},
                                   {"BF16", size_t{776}},
                                   {"Q8_K", size_t{768}}}) {
    BOOST_TEST_CONTEXT(name << ' ' << n_in) {
      const size_t n_out = 21, n_tokens = 8;
      const test::RandomWeights w = test::random_weights(find_type(name)->id, n_in, n_out, 5);
      const std::vector<float> x = test::random_floats(n_tokens * n_in, 8);
      const PackedMatrix matrix = packed(*one, w, Precision::kFast);
      BOOST_REQUIRE(matrix.format() == nullptr);
      const std::vector<float> y = multiplied(*one, *three, w, matrix, x);
      for (size_t t = 0; t < n_tokens; ++t) {
        check_decode(*one, matrix, x.data() + t * n_in, std::span(y).subspan(t * n_out, n_out));
        for (size_t r = 0; r < n_out; ++r) {
          double want = 0, size = 0;
          for (size_t i = 0; i < n_in; ++i) {
            const double product = double{w.values[r * n_in + i]} * x[t * n_in + i];
            want += product;
            size += std::abs(product);
          }
          BOOST_REQUIRE_SMALL(y[t * n_out + r] - want, 1e-6 * size);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
