// Compares dequantizers and quantizers with ggml's output, and the fast kernels with the scalar references.
// Cases iterate over the registry, so they also cover new types.
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
#include "quant/k_quants_64.hpp"
#include "quant/registry.hpp"
#include "quant/scales.hpp"
#include "quant/stats.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

using Path = std::filesystem::path;

using test::read_floats;

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

/// "floats" if they are equal, "" if files are missing, or the first difference.
std::string compare_floats(const Path& folder, const TypeGeometry& type, DequantizeFn kernel) {
  std::string result;
  for (const auto& [input, output] : {std::pair{".quantized.bin", ".expected.f32"},
                                      {".random.bin", ".random.f32"},
                                      {".all65536.bin", ".all65536.f32"}}) {
    const std::string name = std::string(type.name) + input;
    if (!std::filesystem::exists(folder / name)) continue;
    const std::vector<float> expected = read_floats(folder / (std::string(type.name) + output));
    const std::vector<float> got = dequantize(kernel, type, test::read_file(folder / name));
    const size_t same = first_difference(got, expected);
    if (got.size() != expected.size() || same != expected.size()) return name + " at float " + std::to_string(same);
    result = "floats";
  }
  return result;
}

/// ", bytes" if they are equal, "" if the file is missing, or the first difference.
std::string compare_bytes(const Path& folder, const TypeGeometry& type, const Quantizer& quantizer) {
  const Path path = folder / (std::string(type.name) + ".quantized.bin");
  if (!std::filesystem::exists(path)) return "";
  if (quantizer.quantize == nullptr) return "no quantizer";
  const std::vector<float> source = read_floats(folder / "source.f32"),
                           importance = read_floats(folder / "imatrix.f32");
  const std::vector<uint8_t> expected = test::read_file(path);
  const size_t n_blocks = source.size() / type.block_size;
  std::vector<uint8_t> got(n_blocks * type.block_bytes);
  quantizer.quantize(source.data(), got.data(), n_blocks, quantizer.needs_importance ? importance.data() : nullptr,
                     importance.size() / type.block_size);
  if (got.size() != expected.size()) return "size";
  const size_t same = static_cast<size_t>(std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin());
  return same == expected.size() ? ", bytes" : "byte " + std::to_string(same);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quant, *boost::unit_test::label("floats"))

BOOST_AUTO_TEST_CASE(every_type_in_use_has_kernels) {
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

BOOST_AUTO_TEST_CASE(simd_kernels_match_the_scalar_references_bit_for_bit) {
  std::mt19937 random(20261121);
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    const DequantizeFn reference = find_reference(type.id);
    for (const size_t n_blocks : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{19}, size_t{1024}}) {
      // A heap block of exactly this size at an odd address, so that the sanitizers detect reads beyond it.
      std::vector<uint8_t> bytes(n_blocks * type.block_bytes + 1);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      uint8_t* blocks = bytes.data() + 1;
      // Covers every sign and exponent of every wide field: zero, subnormal, infinite and NaN scales.
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

// A kernel may skip a rounding if a scale and a minimum allow it. Tests all signs and exponents of both, each pair with
// mantissas of few and of all bits, and with random, largest and smallest integers.
BOOST_AUTO_TEST_CASE(scales_and_minimums_of_every_exponent_match_the_references) {
  std::mt19937 random(20261123);
  size_t n_types = 0;
  for (const QuantKernels& kernels : all_kernels()) {
    const BlockScales* scales = find_scales(kernels.type);
    if (scales == nullptr || scales->kind != ScaleKind::kF16 || scales->minimums == 0) continue;
    ++n_types;
    const TypeGeometry& type = *find_type(kernels.type);
    constexpr uint32_t kMantissas[] = {0, 1, 0x200, 0x3ff};
    std::vector<uint8_t> blocks(size_t{64 * 64 * 4} * type.block_bytes);
    std::vector<float> expected(64 * 64 * 4 * type.block_size), got(expected.size());
    for (uint32_t pass = 0; pass < 4; ++pass) {
      uint8_t* block = blocks.data();
      for (uint32_t scale = 0; scale < 64; ++scale) {
        for (uint32_t minimum = 0; minimum < 64; ++minimum) {
          for (const uint32_t mantissa : kMantissas) {
            for (size_t i = 0; i < type.block_bytes; ++i)
              block[i] = pass == 0 ? 0xff : pass == 1 ? 0 : static_cast<uint8_t>(random());
            const uint16_t both[] = {static_cast<uint16_t>(scale << 10 | mantissa),
                                     static_cast<uint16_t>(minimum << 10 | kMantissas[(mantissa + pass) % 4])};
            std::memcpy(block + scales->offset, both, sizeof both);
            block += type.block_bytes;
          }
        }
      }
      const size_t n_blocks = blocks.size() / type.block_bytes;
      find_reference(type.id)(blocks.data(), expected.data(), n_blocks);
      kernels.dequantize(blocks.data(), got.data(), n_blocks);
      BOOST_TEST(first_difference(got, expected) == expected.size(), type.name << ", pass " << pass);
    }
  }
  BOOST_TEST(n_types == 5);
}

BOOST_AUTO_TEST_CASE(every_f16_and_integers_of_every_size_match_the_references) {
  const auto compare = [](TypeId id, const std::vector<uint8_t>& bytes) {
    const TypeGeometry& type = *find_type(static_cast<uint32_t>(id));
    const std::vector<float> expected = dequantize(find_reference(type.id), type, bytes);
    BOOST_TEST(
        first_difference(dequantize(find_kernels(type.id)->dequantize, type, bytes), expected) == expected.size(),
        type.name);
  };
  std::vector<uint8_t> halves(65536 * 2);
  for (size_t i = 0; i < 65536; ++i)
    halves[2 * i] = static_cast<uint8_t>(i), halves[2 * i + 1] = static_cast<uint8_t>(i >> 8);
  compare(TypeId::kF16, halves);
  // Runs of numbers that fit in 32 bits, except one at each position in turn.
  constexpr int64_t kEdges[] = {0, -1, 16777217, INT32_MAX, INT32_MIN, -16777217};
  for (size_t odd = 0; odd < 20; ++odd) {
    for (const int64_t wide :
         {int64_t{INT32_MAX} + 1, int64_t{INT32_MIN} - 1, INT64_MAX, INT64_MIN, int64_t{1} << 32}) {
      std::vector<uint8_t> integers(19 * 8);
      for (size_t i = 0; i < 19; ++i) {
        const int64_t value = i == odd ? wide : kEdges[i % std::size(kEdges)];
        std::memcpy(&integers[8 * i], &value, sizeof value);
      }
      compare(TypeId::kI64, integers);
    }
  }
}

BOOST_AUTO_TEST_CASE(super_blocks_of_64_match_values_computed_by_hand) {
  struct Case {
    uint32_t type;
    std::vector<uint8_t> block;
    std::vector<std::pair<size_t, float>> runs;  // (count, value)
  };
  const auto bytes = [](std::initializer_list<std::pair<size_t, std::vector<uint8_t>>> parts) {
    std::vector<uint8_t> out;
    for (const auto& [times, part] : parts)
      for (size_t i = 0; i < times; ++i) out.insert(out.end(), part.begin(), part.end());
    return out;
  };
  const std::vector<uint8_t> one = {0x00, 0x3c}, half = {0x00, 0x38};  // binary16
  const std::vector<Case> cases = {
      {10, bytes({{1, {0x12, 0x13, 0x21, 0x04}}, {16, {0xe4}}, {2, one}}), {{16, -1}, {16, 2}, {16, 0}, {16, 12}}},
      {11, bytes({{8, {0x01}}, {16, {0xe4}}, {1, {0xa9, 0xcb}}, {1, one}}), {{8, 0}, {8, -4}, {32, -6}, {16, -4}}},
      {12, bytes({{1, one}, {1, half}, {1, {0x23, 0x45}}, {32, {0x21}}}), {{32, 2}, {32, 8}}},
      {13, bytes({{1, one}, {1, {1, 2, 3, 0xff}}, {8, {0x0f}}, {32, {0x21}}}), {{16, 1}, {16, 2}, {16, -42}, {16, 14}}},
      {14,
       bytes({{32, {0x21}}, {16, {0xe4}}, {1, {1, 2, 3, 0xfc}}, {1, one}}),
       {{16, -31}, {16, -30}, {16, 6}, {16, -72}}},
      {15, bytes({{1, {0, 0, 0, 0x40}}, {64, {0xff}}, {8, {0}}}), {{64, -2}}},
  };
  for (const Case& c : cases) {
    const SmallBlockKernels* kernels = find_small_block_kernels(c.type);
    BOOST_TEST_REQUIRE((kernels != nullptr));
    BOOST_REQUIRE_EQUAL(c.block.size(), small_block_bytes(c.type));
    std::vector<uint8_t> blocks = c.block;
    blocks.insert(blocks.end(), c.block.begin(), c.block.end());
    std::vector<float> got(128), expected;
    kernels->dequantize(blocks.data(), got.data(), 2);
    for (int copy = 0; copy < 2; ++copy)
      for (const auto& [count, value] : c.runs) expected.insert(expected.end(), count, value);
    BOOST_TEST(got == expected, find_type(c.type)->name);

    // The same numbers in the other byte order. ScaleStats counts one scale for each block.
    ScaleStats scales;
    BOOST_TEST(scales.add(c.type, blocks.data(), 2, true));
    BOOST_TEST((scales.count == 2 && scales.min == scales.max && scales.min == (c.type == 15 ? 2.0f : 1.0f)));
    size_t end = 0;
    for (const BlockField& field : block_fields(c.type, true)) {
      BOOST_TEST(field.offset >= end);
      end = field.offset + size_t{field.width} * field.count;
      for (size_t k = 0; k < 2u * field.count; ++k) {
        const auto at = static_cast<std::ptrdiff_t>(k / field.count * c.block.size() + field.offset +
                                                    k % field.count * field.width);
        std::reverse(blocks.begin() + at, blocks.begin() + at + field.width);
      }
    }
    BOOST_TEST((end > 0 && end <= c.block.size()));
    swap_block_bytes(c.type, blocks.data(), 2, true);
    std::ranges::fill(got, 0.0f);
    kernels->dequantize(blocks.data(), got.data(), 2);
    BOOST_TEST(got == expected, find_type(c.type)->name << " from big-endian blocks");
  }
  BOOST_TEST(small_block_bytes(9) == 0u);
  BOOST_TEST(small_block_bytes(16) == 0u);
  BOOST_TEST((find_small_block_kernels(2) == nullptr));
}

BOOST_AUTO_TEST_CASE(big_endian_blocks_are_converted_by_their_fields) {
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

BOOST_AUTO_TEST_CASE(quantizers_accept_any_floats) {
  // Any floats and weights give complete blocks that can be dequantized. All rows differ.
  std::mt19937 random(7);
  const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-40f, 3.4e38f, -3.4e38f, 1e-15f, 65504.0f};
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    const Quantizer quantizer = find_quantizer(type.id);
    if (quantizer.quantize == nullptr) continue;
    const size_t row_blocks = 2, n_blocks = 8, n = n_blocks * type.block_size;
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<float> source(n), importance(row_blocks * type.block_size);
      for (size_t i = 0; i < n; ++i) {
        const float ordinary = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 300.0f;
        const float odd = special[random() % std::size(special)];
        source[i] = kind == 0 ? ordinary : kind == 1 ? (random() % 16 == 0 ? odd : ordinary) : kind == 2 ? odd : 0.0f;
      }
      for (float& weight : importance) weight = kind == 2 ? 0.0f : static_cast<float>(random() % 1000) / 100.0f;
      for (const bool weighted : {false, true}) {
        if (!weighted && quantizer.needs_importance) continue;
        std::vector<uint8_t> blocks(n_blocks * type.block_bytes, 0xa5), again(blocks.size(), 0x5a);
        for (std::vector<uint8_t>* out : {&blocks, &again})
          quantizer.quantize(source.data(), out->data(), n_blocks, weighted ? importance.data() : nullptr, row_blocks);
        BOOST_TEST((blocks == again), type.name << ": the bytes depend on what was there before");
        const std::vector<float> back = dequantize(kernels.dequantize, type, blocks);
        if (kind != 0) continue;
        double error = 0, energy = 0;
        for (size_t i = 0; i < n; ++i) {
          error += std::pow(static_cast<double>(back[i]) - source[i], 2);
          energy += std::pow(static_cast<double>(source[i]), 2);
        }
        BOOST_TEST(error < 0.5 * energy, type.name << " loses the values: " << error / energy);
      }
    }
  }
}

namespace {

void check_types(const Path& folder) {
  std::string table = "type      dequantize  quantize    identical to ggml\n";
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    const Quantizer quantizer = find_quantizer(type.id);
    const std::string floats = compare_floats(folder, type, find_reference(type.id));
    const std::string bytes = compare_bytes(folder, type, quantizer);
    BOOST_TEST(compare_floats(folder, type, kernels.dequantize) == floats, type.name);
    BOOST_TEST((floats == "floats" || floats.empty()), type.name << ": " << floats);
    BOOST_TEST((bytes == ", bytes" || bytes.empty()), type.name << ": " << bytes);
    const auto cell = [](std::string text, size_t width) { return text + std::string(width - text.size(), ' '); };
    table += cell(std::string(type.name), 10);
    table += cell(kernels.dequantize == find_reference(type.id) ? "scalar" : "SIMD", 12);
    table += cell(quantizer.quantize == nullptr ? "-" : quantizer.needs_importance ? "importance" : "yes", 12);
    table += (floats.empty() ? "no file of ggml's to compare with" : floats + bytes) + "\n";
  }
  BOOST_TEST_MESSAGE(table);
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_types_agree_with_ggml) { check_types(test::fixture("golden/quant")); }

BOOST_AUTO_TEST_CASE(all_types_agree_with_ggml_at_length,
                     *boost::unit_test::precondition(test::needs_shared("vectors/quant"))) {
  check_types(test::shared("vectors/quant"));
}

BOOST_AUTO_TEST_SUITE_END()
