// Dequantizers and quantizers against ggml's own output, and the fast kernels against the scalar references.
// Cases walk the registry, so a new row is covered the moment it exists.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/half.hpp"
#include "data.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

const auto kNeedsVectors = boost::unit_test::precondition(test::needs_shared("vectors/quant"));

std::vector<float> read_floats(const std::string& name) {
  const std::vector<uint8_t> bytes = test::read_file(test::shared("vectors/quant/" + name));
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

bool has_vector(const std::string& name) { return std::filesystem::exists(test::shared("vectors/quant/" + name)); }

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// The first index at which the floats differ, or their number.
size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && same_bits(a[i], b[i])) ++i;
  return i;
}

std::vector<float> dequantize(DequantizeFn kernel, const TypeGeometry& type, const std::vector<uint8_t>& blocks) {
  std::vector<float> values(blocks.size() / type.block_bytes * type.block_size);
  kernel(blocks.data(), values.data(), blocks.size() / type.block_bytes);
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quant)

BOOST_AUTO_TEST_CASE(every_live_type_has_kernels) {
  size_t live = 0;
  for (const TypeGeometry& type : all_types()) {
    BOOST_TEST((find_kernels(type.id) != nullptr) == !type.removed, type.name);
    BOOST_TEST((find_reference(type.id) != nullptr) == !type.removed, type.name);
    live += type.removed ? 0 : 1;
  }
  BOOST_TEST(all_kernels().size() == live);
  BOOST_TEST(find_kernels(43) == nullptr);
  BOOST_TEST(find_reference(0xffffffffu) == nullptr);
  BOOST_TEST(find_quantizer(43).quantize == nullptr);
}

BOOST_AUTO_TEST_CASE(dequantize_gives_the_bits_of_ggml, *kNeedsVectors) {
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    const std::string name(type.name);
    for (const auto& [input, output] : {std::pair{".quantized.bin", ".expected.f32"},
                                        {".random.bin", ".random.f32"},
                                        {".all65536.bin", ".all65536.f32"}}) {
      if (!has_vector(name + input)) continue;
      const std::vector<uint8_t> blocks = test::read_file(test::shared("vectors/quant/" + name + input));
      const std::vector<float> expected = read_floats(name + output);
      for (const DequantizeFn kernel : {find_reference(type.id), kernels.dequantize}) {
        const std::vector<float> got = dequantize(kernel, type, blocks);
        BOOST_REQUIRE_EQUAL(got.size(), expected.size());
        BOOST_TEST(first_difference(got, expected) == expected.size(), name << input);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(fast_kernels_give_the_bits_of_the_references) {
  std::mt19937 random(20261121);
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    const DequantizeFn reference = find_reference(type.id);
    for (const size_t n_blocks : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{19}, size_t{1024}}) {
      // A heap block of exactly these bytes, read from an odd address: the sanitizers see any byte too many.
      std::vector<uint8_t> bytes(n_blocks * type.block_bytes + 1);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      uint8_t* blocks = bytes.data() + 1;
      // Every sign and exponent of every wide field comes up: zero, subnormal, infinite and NaN scales.
      for (size_t i = 0; i < n_blocks; ++i)
        for (const BlockField& field : block_fields(type.id))
          for (size_t k = 0; k < std::min<size_t>(field.count, 2); ++k) {
            uint8_t* end = blocks + i * type.block_bytes + field.offset + (k + 1) * field.width;
            end[-1] = static_cast<uint8_t>(i + 128 * k);
            if ((i & 256) != 0) std::fill(end - field.width, end - 1, uint8_t{0});
          }
      std::vector<float> expected(n_blocks * type.block_size, -1.0f), got(n_blocks * type.block_size, -2.0f);
      reference(blocks, expected.data(), n_blocks);
      kernels.dequantize(blocks, got.data(), n_blocks);
      BOOST_TEST(first_difference(got, expected) == expected.size(), type.name << " x " << n_blocks);
    }
  }
}

BOOST_AUTO_TEST_CASE(fields_of_big_endian_blocks) {
  for (const TypeGeometry& type : all_types()) {
    size_t end = 0;
    for (const BlockField& field : block_fields(type.id)) {
      BOOST_TEST(field.offset >= end, type.name);
      end = field.offset + size_t{field.width} * field.count;
    }
    BOOST_TEST(end <= type.block_bytes, type.name);
  }
  // Q5_1: d, m, fifth bits, then bytes. Twice swapped is unchanged.
  std::vector<uint8_t> blocks(2 * 24);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<uint8_t>(i);
  const std::vector<uint8_t> before = blocks;
  swap_block_bytes(7, blocks.data(), 2);
  const uint8_t first[] = {1, 0, 3, 2, 7, 6, 5, 4, 8, 9}, second[] = {25, 24, 27, 26, 31, 30, 29, 28, 32, 33};
  BOOST_TEST(std::equal(std::begin(first), std::end(first), blocks.begin()));
  BOOST_TEST(std::equal(std::begin(second), std::end(second), blocks.begin() + 24));
  swap_block_bytes(7, blocks.data(), 2);
  BOOST_TEST(blocks == before);
}

BOOST_AUTO_TEST_SUITE_END()
