#include "nn/matmul.hpp"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>
#include <vector>

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
  // Out of order and in odd portions, as a loader delivers them.
  const size_t third = w.n_out / 3;
  BOOST_REQUIRE(matrix->pack_rows(third, bytes.subspan(third * row)).has_value());
  for (size_t r = 0; r < third; ++r) BOOST_REQUIRE(matrix->pack_rows(r, bytes.subspan(r * row, row)).has_value());
  return std::move(*matrix);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(matmul_)

BOOST_AUTO_TEST_CASE(exact_products_of_every_type) {
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

BOOST_AUTO_TEST_CASE(products_of_one_input_together_are_the_products_alone) {
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
}

BOOST_AUTO_TEST_CASE(refuses_what_cannot_be) {
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
  BOOST_TEST(!matrix->pack_rows(0, bytes).has_value());
  BOOST_TEST(!matrix->pack_rows(3, ByteView(bytes).first(18)).has_value());
  BOOST_TEST(!matrix->pack_rows(UINT64_MAX, ByteView(bytes).first(18)).has_value());
  BOOST_TEST(!matrix->pack_rows(0, ByteView(bytes).first(17)).has_value());
  BOOST_TEST(matrix->pack_rows(3, {}).has_value());
  BOOST_TEST(matrix->pack_rows(2, ByteView(bytes).first(18)).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
