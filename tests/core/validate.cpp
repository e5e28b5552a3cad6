// Blocks that llama.cpp's --check-tensors refuses: only the floats of a block are checked, for every type.
#include "quant/validate.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <vector>

#include "base/bytes.hpp"
#include "data.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

enum class FloatWidth : uint8_t { kNone, kHalf, kBfloat, kFloat, kDouble, kExponent, kNibbles };

/// The floats of a block, by ggml-common.h.
struct BlockFloats {
  FloatWidth width = FloatWidth::kNone;
  std::vector<size_t> offsets;
};

const std::map<TypeId, BlockFloats>& floats_of_types() {
  using enum FloatWidth;
  using enum TypeId;
  static const std::map<TypeId, BlockFloats> all = {
      {kF32, {kFloat, {0}}},
      {kF16, {kHalf, {0}}},
      {kBF16, {kBfloat, {0}}},
      {kF64, {kDouble, {0}}},
      {kI8, {}},
      {kI16, {}},
      {kI32, {}},
      {kI64, {}},
      {kQ4_0, {kHalf, {0}}},
      {kQ4_1, {kHalf, {0, 2}}},
      {kQ5_0, {kHalf, {0}}},
      {kQ5_1, {kHalf, {0, 2}}},
      {kQ8_0, {kHalf, {0}}},
      {kQ2_K, {kHalf, {80, 82}}},
      {kQ3_K, {kHalf, {108}}},
      {kQ4_K, {kHalf, {0, 2}}},
      {kQ5_K, {kHalf, {0, 2}}},
      {kQ6_K, {kHalf, {208}}},
      {kQ8_K, {kFloat, {0}}},
      {kIQ1_S, {kHalf, {0}}},
      {kIQ1_M, {kNibbles, {48}}},
      {kIQ2_XXS, {kHalf, {0}}},
      {kIQ2_XS, {kHalf, {0}}},
      {kIQ2_S, {kHalf, {0}}},
      {kIQ3_XXS, {kHalf, {0}}},
      {kIQ3_S, {kHalf, {0}}},
      {kIQ4_NL, {kHalf, {0}}},
      {kIQ4_XS, {kHalf, {0}}},
      {kTQ1_0, {kHalf, {52}}},
      {kTQ2_0, {kHalf, {64}}},
      {kMXFP4, {kExponent, {0}}},
      {kNVFP4, {}},
      {kQ1_0, {kHalf, {0}}},
      {kQ2_0, {kHalf, {0}}},
  };
  return all;
}

const std::map<TypeId, BlockFloats>& floats_of_small_types() {
  using enum FloatWidth;
  using enum TypeId;
  static const std::map<TypeId, BlockFloats> all = {
      {kQ2_K, {kHalf, {20, 22}}}, {kQ3_K, {kHalf, {26}}}, {kQ4_K, {kHalf, {0, 2}}},
      {kQ5_K, {kHalf, {0}}},      {kQ6_K, {kHalf, {52}}}, {kQ8_K, {kFloat, {0}}},
  };
  return all;
}

enum class FloatValue : uint8_t { kLargest, kInfinite, kNegativeInfinite, kNan };

void put_float(uint8_t* p, FloatWidth width, FloatValue value, bool big) {
  const auto bits = [&](auto largest, auto infinite, auto sign) -> decltype(infinite) {
    switch (value) {
      case FloatValue::kLargest:
        return largest;
      case FloatValue::kInfinite:
        return infinite;
      case FloatValue::kNegativeInfinite:
        return static_cast<decltype(infinite)>(infinite | sign);
      default:
        return static_cast<decltype(infinite)>(infinite | 1);
    }
  };
  const auto half = bits(uint16_t{0x7bff}, uint16_t{0x7c00}, uint16_t{0x8000});
  switch (width) {
    case FloatWidth::kHalf:
      return store(p, half, big);
    case FloatWidth::kBfloat:
      return store(p, bits(uint16_t{0x7f7f}, uint16_t{0x7f80}, uint16_t{0x8000}), big);
    case FloatWidth::kFloat:
      return store(p, bits(0x7f7fffffu, 0x7f800000u, 0x80000000u), big);
    case FloatWidth::kDouble: {
      // The largest double that rounds to a finite float, and the smallest one that does not.
      const double beyond = 0x1.ffffffp127;
      const double doubles[] = {0x1.fffffefffffffp127, beyond, -beyond, std::numeric_limits<double>::quiet_NaN()};
      return store(p, doubles[static_cast<size_t>(value)], big);
    }
    case FloatWidth::kNibbles:
      for (size_t k = 0; k < 4; ++k) {
        const int low = load<uint16_t>(p + 2 * k, big) & 0x0fff;
        store(p + 2 * k, static_cast<uint16_t>(low | (half >> (4 * k) & 15) << 12), big);
      }
      return;
    case FloatWidth::kExponent:
      *p = value == FloatValue::kLargest ? 0xfe : 0xff;
      return;
    case FloatWidth::kNone:
      return;
  }
}

void check_floats_of(TypeId id, const BlockFloats& floats, bool small) {
  const uint32_t type = static_cast<uint32_t>(id);
  const size_t bytes = small ? small_block_bytes(type) : find_type(type)->block_bytes, n_blocks = 5;
  for (const bool big : {false, true}) {
    // All bits are set except those of the floats, because nothing else is checked.
    std::vector<uint8_t> sound(n_blocks * bytes, 0xff);
    for (size_t i = 0; i < n_blocks; ++i)
      for (const size_t offset : floats.offsets)
        put_float(&sound[i * bytes + offset], floats.width, FloatValue::kLargest, big);
    BOOST_TEST(find_invalid_blocks(type, sound.data(), n_blocks, big, small).count == 0u, find_type(type)->name);

    for (const FloatValue value : {FloatValue::kInfinite, FloatValue::kNegativeInfinite, FloatValue::kNan}) {
      for (const size_t offset : floats.offsets) {
        std::vector<uint8_t> blocks = sound;
        for (const size_t i : {size_t{2}, size_t{4}}) put_float(&blocks[i * bytes + offset], floats.width, value, big);
        const InvalidBlocks found = find_invalid_blocks(type, blocks.data(), n_blocks, big, small);
        BOOST_TEST((found.count == 2 && found.first == 2), find_type(type)->name << " at " << offset);
        const bool nan = value == FloatValue::kNan || floats.width == FloatWidth::kExponent;
        BOOST_TEST((found.flaw == (nan ? BlockFlaw::kNan : BlockFlaw::kInfinity)), find_type(type)->name);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(validation)

BOOST_AUTO_TEST_CASE(every_invalid_float_is_found_and_nothing_else) {
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeId id = static_cast<TypeId>(kernels.type);
    if (id == TypeId::kQ8_1) continue;
    const auto floats = floats_of_types().find(id);
    BOOST_TEST_REQUIRE((floats != floats_of_types().end()), find_type(kernels.type)->name << " has no case");
    check_floats_of(id, floats->second, false);
  }
  for (const TypeGeometry& type : all_types()) {
    if (small_block_bytes(type.id) == 0) continue;
    const auto floats = floats_of_small_types().find(static_cast<TypeId>(type.id));
    BOOST_TEST_REQUIRE((floats != floats_of_small_types().end()), type.name << " has no case");
    check_floats_of(floats->first, floats->second, true);
  }
}

BOOST_AUTO_TEST_CASE(types_that_files_must_not_hold_are_refused) {
  const std::vector<uint8_t> blocks(3 * 36);
  const InvalidBlocks found = find_invalid_blocks(static_cast<uint32_t>(TypeId::kQ8_1), blocks.data(), 3);
  BOOST_TEST((found.count == 3 && found.first == 0 && found.flaw == BlockFlaw::kRefused));
  BOOST_TEST(find_invalid_blocks(static_cast<uint32_t>(TypeId::kQ8_1), blocks.data(), 0).count == 0u);
  for (const uint32_t unknown : {4u, 43u, 0xffffffffu})
    BOOST_TEST(find_invalid_blocks(unknown, blocks.data(), 1).count == 0u);
}

BOOST_AUTO_TEST_CASE(reference_vectors_are_valid,
                     *boost::unit_test::precondition(test::needs_shared("vectors/quant"))) {
  size_t seen = 0;
  for (const TypeGeometry& type : all_types()) {
    for (const char* ending : {".quantized.bin", ".random.bin", ".all65536.bin"}) {
      const auto path = test::shared("vectors/quant/" + std::string(type.name) + ending);
      if (!std::filesystem::exists(path)) continue;
      const std::vector<uint8_t> blocks = test::read_file(path);
      const InvalidBlocks found = find_invalid_blocks(type.id, blocks.data(), blocks.size() / type.block_bytes);
      ++seen;
      const bool all_patterns = std::string_view(ending) == ".all65536.bin", half = type.name == "F16";
      BOOST_TEST(found.count == (!all_patterns ? 0u : half ? 2048u : 256u), path.filename().string());
      if (all_patterns) BOOST_TEST((found.first == (half ? 0x7c00u : 0x7f80u) && found.flaw == BlockFlaw::kInfinity));
    }
  }
  BOOST_TEST(seen == 27u * 2 + 2);
}

BOOST_AUTO_TEST_SUITE_END()
