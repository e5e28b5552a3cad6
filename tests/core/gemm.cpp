#include "nn/gemm/gemm.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "base/half.hpp"
#include "nn/gemm/dispatch.hpp"
#include "nn/gemm/format.hpp"
#include "nn/gemm/int8_dot.hpp"
#include "quant/registry.hpp"
#include "random_weights.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

std::unique_ptr<Pool> pool_of(size_t n_threads) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(n_threads);
  BOOST_REQUIRE(pool.has_value());
  return std::move(*pool);
}

PackedMatrix packed(Pool& pool, const test::RandomWeights& w, Precision precision) {
  Result<PackedMatrix> matrix = PackedMatrix::create(pool, w.type, w.n_in, w.n_out, precision);
  BOOST_REQUIRE_MESSAGE(matrix.has_value(), matrix.error().message);
  const ByteView bytes = w.bytes;
  const size_t row = matrix->file_row_bytes();
  // Out of order and in pieces of odd sizes, as a loader delivers them.
  const size_t third = w.n_out / 3;
  BOOST_REQUIRE(matrix->pack_rows(pool, third, bytes.subspan(third * row)).has_value());
  for (size_t r = 0; r < third; ++r) BOOST_REQUIRE(matrix->pack_rows(pool, r, bytes.subspan(r * row, row)).has_value());
  return std::move(*matrix);
}

// Formats and kernels as on another CPU, until the end of the scope.
struct Int8DotOverride {
  explicit Int8DotOverride(Int8Dot dot) { override_int8_dot(dot); }
  ~Int8DotOverride() { override_int8_dot(own); }
  Int8DotOverride(const Int8DotOverride&) = delete;
  Int8DotOverride& operator=(const Int8DotOverride&) = delete;
  const Int8Dot own = int8_dot();
};

// Decode gives what the token's row of a larger batch has, with any number of memory streams.
void check_decode(Pool& pool, const PackedMatrix& matrix, const float* x, std::span<const float> expected) {
  std::vector<float> y(matrix.n_out());
  for (size_t streams = 0; streams < std::size(kMemoryStreams); ++streams) {
    use_memory_streams(streams);
    matmul(pool, matrix, x, 1, y.data());
    BOOST_TEST(std::ranges::equal(y, expected), kMemoryStreams[streams] << " memory streams");
  }
  use_memory_streams(0);
}

// y [n_tokens, n_out] with one thread, in whose pool the matrix was made. Three threads must give the same.
std::vector<float> multiplied(Pool& one, Pool& three, const test::RandomWeights& w, const PackedMatrix& matrix,
                              std::span<const float> x) {
  const size_t n_tokens = x.size() / w.n_in;
  std::vector<float> y(n_tokens * w.n_out), threaded(y.size());
  matmul(one, matrix, x.data(), n_tokens, y.data());
  matmul(three, packed(three, w, Precision::kFast), x.data(), n_tokens, threaded.data());
  BOOST_TEST((y == threaded));
  return y;
}

// One token's y equals the scalar reference's: to the bit where nothing is fused. Elsewhere roundings differ, in
// proportion to the terms of a dot product rather than to the result. noise: the difference allowed for long rows,
// relative to the largest y.
void check_reference(const PackedMatrix& matrix, const float* x, const float* y, [[maybe_unused]] float noise = 0) {
  const PackedFormat& f = *matrix.format();
  const size_t n_in = matrix.n_in(), n_groups = groups_of(matrix.n_out());
  std::vector<float> reference(n_groups * kGroupRows);
  for_each_panel(f, n_in, n_groups, [&](const Panel& panel) {
    for (size_t group = 0; group < n_groups; ++group)
      gemm_group_reference(f, matrix.data() + panel.at + group * packed_group_bytes(f, panel.n), panel.n,
                           x + panel.first, n_in, 1, panel.first == 0 ? Beta::kZero : Beta::kOne,
                           reference.data() + group * kGroupRows, 0, kGroupRows);
  });
#if defined(__wasm_relaxed_simd__)
  float max = 0;
  for (size_t r = 0; r < matrix.n_out(); ++r) max = std::max(max, std::abs(reference[r]));
  for (size_t r = 0; r < matrix.n_out(); ++r)
    BOOST_REQUIRE_SMALL(y[r] - reference[r], std::max(1e-4f * (std::abs(reference[r]) + 1), noise * max));
#else
  for (size_t r = 0; r < matrix.n_out(); ++r) BOOST_REQUIRE_EQUAL(y[r], reference[r]);
#endif
}

// Limits of scales: one that every format holds, and one beyond half_scales, where the matrix takes the wide format.
constexpr float kLimits[] = {16.0f, 1e4f};
const PackedFormat& format_for(const PackedFormat& format, float limit) {
  return format.half_scales && format.bits != 16 && limit > 16 ? wide_format(format) : format;
}

// get_rows gives the file's values; in block floating point, rounded to the exponent of the largest of 32.
void check_rows(const PackedFormat& f, const float* values, const float* rows, size_t n) {
  for (size_t block = 0; block < n; block += 32) {
    float max = f.half_scales ? 0x1p-11f : 0x1p-112f;
    for (size_t i = block; i < block + 32; ++i) max = std::max(max, std::abs(values[i]));
    const float step = std::ldexp(1.0f, std::ilogb(max) - 13);
    for (size_t i = block; i < block + 32; ++i)
      BOOST_REQUIRE_EQUAL(rows[i], f.bits == 16 ? std::nearbyint(values[i] / step) * step : values[i]);
  }
}

struct FormatCase {
  const PackedFormat& format;
  Int8Dot int8_dot_kind;
};

// Every format with each int8 dot product that this CPU has or can stand in for.
std::vector<FormatCase> formats_here() {
  std::vector<FormatCase> cases;
  const Int8Dot own = int8_dot();
  for (const Int8Dot int8_dot_kind : {own, Int8Dot::kSaturating}) {
    if (int8_dot_kind != own && own == Int8Dot::kNone) continue;
    const Int8DotOverride override(int8_dot_kind);
    for (const PackedFormat& format : all_packed_formats())
      if (find_packed_format(format.type) == &format) cases.push_back({format, int8_dot_kind});
  }
  return cases;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm)

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

// Weights and activations at the ends of their ranges: an int16 accumulator that overflows would show.
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

// Rows of two panels and of three give what a row of one panel would.
BOOST_AUTO_TEST_CASE(panels_of_long_rows) {
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
          check_reference(matrix, x.data() + t * n_in, y.data() + t * n_out, 2e-6f);
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
BOOST_AUTO_TEST_CASE(prefill_of_any_length_with_any_number_of_threads) {
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

BOOST_AUTO_TEST_CASE(fast_gemm_without_a_packed_format) {
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

// Rows that packing would make more than twice as long stay as they are. Results differ by the rounding of activations.
BOOST_AUTO_TEST_CASE(compact_precision) {
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

BOOST_AUTO_TEST_CASE(f16_weights_nan_infinity_and_subnormal) {
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
BOOST_AUTO_TEST_CASE(f16_and_bf16_as_block_floating_point) {
  const auto pool = pool_of(1);
  for (const char* name : {"F16", "BF16"}) {
    const bool is_half = name[0] == 'F';
    test::RandomWeights w = test::random_weights(find_type(name)->id, 64, 24, 9);
    auto* const bits = reinterpret_cast<uint16_t*>(w.bytes.data());
    for (size_t i = 0; i < w.values.size(); ++i) {
      // Two neighbouring exponents in a block, others in the next.
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

// The best of kMaxCodes against 127 always, which has a seventh more squared error on Gaussian blocks.
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

BOOST_AUTO_TEST_CASE(activations_nan_infinity_and_tiny) {
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

BOOST_AUTO_TEST_CASE(several_products_of_one_input) {
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
