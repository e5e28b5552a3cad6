// Statistics of tensors.
#include "quant/stats.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/bytes.hpp"
#include "base/half.hpp"

using namespace ggufscope;

BOOST_AUTO_TEST_SUITE(stats)

BOOST_AUTO_TEST_CASE(statistics_of_known_values) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {1, -3, 0, -0.0f, nan, inf, -inf, 8};
  TensorStats stats(4, 2);
  stats.add(values, 8);
  BOOST_TEST(stats.count == 8u);
  BOOST_TEST(stats.zeros == 2u);
  BOOST_TEST(stats.nans == 1u);
  BOOST_TEST(stats.infinities == 2u);
  BOOST_TEST(stats.min == -3.0f);
  BOOST_TEST(stats.max == 8.0f);
  BOOST_TEST(stats.moments.mean == 6.0 / 5, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(stats.moments.deviation() == std::sqrt(74.0 / 5 - 1.44), boost::test_tools::tolerance(1e-14));
  BOOST_TEST(stats.rows[0].absolute_maximum == 3.0f);
  BOOST_TEST(stats.rows[1].sum_of_squares == 64.0);
  BOOST_TEST(stats.column(3).absolute_maximum == 8.0f);
  BOOST_TEST(stats.column(0).count == 1u);
  // 8 needs [-16, 16): bins of 1/8.
  BOOST_TEST(stats.histogram.exponent == 4);
  BOOST_TEST(stats.histogram.counts[128] == 2u);
  BOOST_TEST(stats.histogram.counts[128 + 8] == 1u);
  BOOST_TEST(stats.histogram.counts[128 - 24] == 1u);
  BOOST_TEST(stats.histogram.counts[128 + 64] == 1u);
}

BOOST_AUTO_TEST_CASE(statistics_do_not_depend_on_pieces_or_order) {
  std::mt19937 random(3);
  std::vector<float> values(35 * 40);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(static_cast<float>(random() % 2001) - 1000.0f, static_cast<int>(random() % 60) - 40);
  TensorStats whole(35, 40), parts(35, 40), backwards(1, values.size());
  whole.add(values.data(), values.size());
  for (size_t i = 0; i < values.size();) {
    const size_t n = std::min<size_t>(random() % 50, values.size() - i);
    parts.add(values.data() + i, n);
    i += n;
  }
  for (size_t i = values.size(); i > 0; --i) backwards.add(&values[i - 1], 1);
  for (const TensorStats* other : {&parts, &backwards}) {
    BOOST_TEST(other->histogram.exponent == whole.histogram.exponent);
    BOOST_TEST(
        std::equal(std::begin(whole.histogram.counts), std::end(whole.histogram.counts), other->histogram.counts));
    BOOST_TEST(other->min == whole.min);
    BOOST_TEST(other->moments.mean == whole.moments.mean, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(other->moments.deviation() == whole.moments.deviation(), boost::test_tools::tolerance(1e-12));
  }
  for (size_t row = 0; row < 40; ++row)
    BOOST_TEST(parts.rows[row].sum_of_squares == whole.rows[row].sum_of_squares, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(simd_and_scalar_paths_agree) {
  // Single values use the scalar path. Ranges from tiny to huge use both paths of the histogram.
  std::mt19937 random(11);
  for (const int scale : {-140, -30, 0, 5, 60}) {
    const size_t n_rows = 9, length = 37;
    std::vector<float> values(n_rows * length);
    for (float& value : values)
      value = random() % 8 == 0 ? 0.0f : std::ldexp(static_cast<float>(random() % 4001) - 2000.0f, scale - 11);
    values[3 * length + 20] = -std::numeric_limits<float>::infinity();  // a row that needs the slow path
    TensorStats whole(length, n_rows), single(length, n_rows);
    whole.add(values.data(), values.size());
    for (const float& value : values) single.add(&value, 1);
    BOOST_TEST((whole.count == single.count && whole.zeros == single.zeros && whole.infinities == 1));
    BOOST_TEST((whole.min == single.min && whole.max == single.max && whole.min < 0 && whole.max > 0));
    BOOST_TEST(whole.histogram.exponent == single.histogram.exponent);
    BOOST_TEST(
        std::equal(std::begin(whole.histogram.counts), std::end(whole.histogram.counts), single.histogram.counts));
    const auto near = boost::test_tools::tolerance(1e-12);
    BOOST_TEST(whole.moments.mean == single.moments.mean, near);
    BOOST_TEST(whole.moments.squares == single.moments.squares, near);
    for (size_t i = 0; i < length; ++i) {
      const LineStats a = whole.column(i), b = single.column(i);
      BOOST_TEST((a.count == b.count && a.count == n_rows - (i == 20 ? 1 : 0)));
      BOOST_TEST(a.absolute_maximum == b.absolute_maximum);
      BOOST_TEST(a.sum_of_squares == b.sum_of_squares, near);
    }
    for (size_t i = 0; i < n_rows; ++i) {
      BOOST_TEST(whole.rows[i].count == single.rows[i].count);
      BOOST_TEST(whole.rows[i].absolute_maximum == single.rows[i].absolute_maximum);
    }
  }
}

BOOST_AUTO_TEST_CASE(deviation_is_exact_beside_a_large_mean) {
  TensorStats stats(1000, 10);
  for (int i = 0; i < 10000; ++i) {
    const float value = 1e6f + static_cast<float>(i % 2);
    stats.add(&value, 1);
  }
  BOOST_TEST(stats.moments.deviation() == 0.5, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(comparison_counts_and_sums_differences) {
  const float a[] = {1, 2, 3, INFINITY}, b[] = {1, 2, 5, 0};
  Comparison comparison;
  comparison.add(a, b, 4);
  BOOST_TEST(comparison.not_finite == 1u);
  BOOST_TEST(comparison.squares_of_difference == 4.0);
  BOOST_TEST(comparison.squares_of_reference == 14.0);
  BOOST_TEST(comparison.products == 20.0);
  BOOST_TEST(comparison.maximum == 2.0);
}

BOOST_AUTO_TEST_CASE(block_scales_are_counted) {
  std::vector<uint8_t> blocks(4 * 34);
  const uint16_t halves[] = {0x3c00, 0x0000, 0x0001, 0x7c00};  // 1, 0, subnormal, infinite
  for (size_t i = 0; i < 4; ++i) store<uint16_t>(blocks.data() + 34 * i, halves[i]);
  ScaleStats scales;
  BOOST_TEST(scales.add(8, blocks.data(), 4));
  BOOST_TEST(scales.count == 4u);
  BOOST_TEST(scales.zeros == 1u);
  BOOST_TEST(scales.subnormal == 1u);
  BOOST_TEST(scales.not_finite == 1u);
  BOOST_TEST(scales.max == 1.0f);
  BOOST_TEST(!scales.add(0, blocks.data(), 4));
}

BOOST_AUTO_TEST_SUITE_END()
