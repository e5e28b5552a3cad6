// Matrices for tests of gemm, and the references of their products.
#pragma once

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
#include "nn/gemm/gemm.hpp"
#include "nn/gemm/int8_dot.hpp"
#include "quant/registry.hpp"
#include "random_weights.hpp"
#include "types/types.hpp"

namespace ggufscope::test {

inline std::unique_ptr<Pool> pool_of(size_t n_threads) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(n_threads);
  BOOST_REQUIRE(pool.has_value());
  return std::move(*pool);
}

inline PackedMatrix packed(Pool& pool, const RandomWeights& w, Precision precision) {
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

// Selects the formats and kernels of another CPU until the end of the scope.
struct Int8DotOverride {
  explicit Int8DotOverride(Int8Dot dot) { override_int8_dot(dot); }
  ~Int8DotOverride() { override_int8_dot(own); }
  Int8DotOverride(const Int8DotOverride&) = delete;
  Int8DotOverride& operator=(const Int8DotOverride&) = delete;
  const Int8Dot own = int8_dot();
};

// Decode gives the same result as the token's row in a larger batch, with any number of memory streams.
inline void check_decode(Pool& pool, const PackedMatrix& matrix, const float* x, std::span<const float> expected) {
  std::vector<float> y(matrix.n_out());
  for (size_t streams = 0; streams < std::size(kMemoryStreams); ++streams) {
    use_memory_streams(streams);
    matmul(pool, matrix, x, 1, y.data());
    BOOST_TEST(std::ranges::equal(y, expected), kMemoryStreams[streams] << " memory streams");
  }
  use_memory_streams(0);
}

// Computes y [n_tokens, n_out] with one thread, and checks that three threads give the same.
inline std::vector<float> multiplied(Pool& one, Pool& three, const RandomWeights& w, const PackedMatrix& matrix,
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
inline void check_reference(const PackedMatrix& matrix, const float* x, const float* y,
                            [[maybe_unused]] float noise = 0) {
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

// Limits of scales: one for every format, and one above the range of half_scales, for which the wide format is chosen.
constexpr float kLimits[] = {16.0f, 1e4f};
inline const PackedFormat& format_for(const PackedFormat& format, float limit) {
  return format.half_scales && format.bits != 16 && limit > 16 ? wide_format(format) : format;
}

// get_rows gives the file's values; in block floating point, rounded to the exponent of the largest of 32.
inline void check_rows(const PackedFormat& f, const float* values, const float* rows, size_t n) {
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

// Tests every format with each int8 dot product that this CPU has or can emulate.
inline std::vector<FormatCase> formats_here() {
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

}  // namespace ggufscope::test
