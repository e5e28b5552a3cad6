// This CPU's relaxed SIMD instructions, against those that emulated_tests puts in their place.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "emulated.hpp"

using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(relaxed)

namespace {

constexpr RelaxedCpu kCpus[] = {RelaxedCpu::kX86, RelaxedCpu::kX86Vnni, RelaxedCpu::kArm, RelaxedCpu::kArmDot};

// Vectors of random bytes, and of bytes at the ends of the ranges of int8 and int16.
std::vector<v128_t> operands(uint32_t seed) {
  std::mt19937 random(seed);
  constexpr uint8_t kEnds[] = {0, 1, 15, 16, 127, 128, 129, 255};
  std::vector<v128_t> all;
  for (int i = 0; i < 4000; ++i) {
    uint8_t bytes[16];
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(i % 2 == 0 ? random() : kEnds[random() % 8]);
    if (i % 4 == 3)  // -1 as a fraction of 15 bits
      for (size_t lane = 0; lane < 16; lane += 4) bytes[lane] = 0, bytes[lane + 1] = 0x80;
    all.push_back(wasm_v128_load(bytes));
  }
  return all;
}

// Vectors of floats of 24 significant bits. c is near -a * b, so that one rounding and two differ.
struct FloatOperands {
  v128_t a, b, c;
};
std::vector<FloatOperands> float_operands() {
  std::mt19937 random(9);
  std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
  std::vector<FloatOperands> all;
  for (int i = 0; i < 4000; ++i) {
    float a[4], b[4], c[4];
    for (int lane = 0; lane < 4; ++lane) {
      a[lane] = uniform(random), b[lane] = uniform(random);
      c[lane] = lane % 2 == 0 ? -(a[lane] * b[lane]) : uniform(random);
    }
    all.push_back({wasm_v128_load(a), wasm_v128_load(b), wasm_v128_load(c)});
  }
  return all;
}

// True if some kind of CPU gives this CPU's result for all n operands. agrees(cpu, i): whether it does for operand i.
template <class Agrees>
bool is_emulated(size_t n, const Agrees& agrees) {
  return std::ranges::any_of(kCpus, [&](RelaxedCpu cpu) {
    for (size_t i = 0; i < n; ++i)
      if (!agrees(cpu, i)) return false;
    return true;
  });
}

bool same(v128_t a, v128_t b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

BOOST_AUTO_TEST_CASE(this_cpu_computes_as_one_that_is_emulated) {
  const std::vector<v128_t> a = operands(1), b = operands(2);
  const std::vector<FloatOperands> floats = float_operands();
  BOOST_TEST(is_emulated(floats.size(), [&](RelaxedCpu cpu, size_t i) {
    const auto& [x, y, z] = floats[i];
    return same(wasm_f32x4_relaxed_madd(x, y, z), emulated_madd(cpu, x, y, z));
  }));
  BOOST_TEST(is_emulated(a.size(), [&](RelaxedCpu cpu, size_t i) {
    return same(wasm_i16x8_relaxed_dot_i8x16_i7x16(a[i], b[i]), emulated_dot_i16(cpu, a[i], b[i]));
  }));
  BOOST_TEST(is_emulated(a.size(), [&](RelaxedCpu cpu, size_t i) {
    const v128_t c = wasm_i32x4_splat(static_cast<int32_t>(i));
    return same(wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a[i], b[i], c), emulated_dot_i32(cpu, a[i], b[i], c));
  }));
  BOOST_TEST(is_emulated(a.size(), [&](RelaxedCpu cpu, size_t i) {
    return same(wasm_i16x8_relaxed_q15mulr(a[i], b[i]), emulated_q15mulr(cpu, a[i], b[i]));
  }));
  BOOST_TEST(is_emulated(a.size(), [&](RelaxedCpu cpu, size_t i) {
    return same(wasm_i8x16_relaxed_swizzle(a[i], b[i]), emulated_swizzle(cpu, a[i], b[i]));
  }));
}

// The operands tell each kind of CPU from the others, so the case above can fail.
BOOST_AUTO_TEST_CASE(operands_show_where_cpus_differ) {
  const std::vector<v128_t> a = operands(1), b = operands(2);
  const auto differ = [&](RelaxedCpu x, RelaxedCpu y, const auto& emulated) {
    for (size_t i = 0; i < a.size(); ++i)
      if (!same(emulated(x, a[i], b[i]), emulated(y, a[i], b[i]))) return true;
    return false;
  };
  const v128_t zero = wasm_i32x4_splat(0);
  const auto dot_i32 = [&](RelaxedCpu cpu, v128_t x, v128_t y) { return emulated_dot_i32(cpu, x, y, zero); };
  for (const RelaxedCpu x : kCpus)
    for (const RelaxedCpu y : kCpus)
      if (x != y) BOOST_TEST(differ(x, y, dot_i32));
  for (const auto emulated : {emulated_dot_i16, emulated_q15mulr, emulated_swizzle})
    BOOST_TEST(differ(RelaxedCpu::kX86, RelaxedCpu::kArm, emulated));
  const std::vector<FloatOperands> floats = float_operands();
  BOOST_TEST(std::ranges::any_of(floats, [](const FloatOperands& of) {
    return !same(emulated_madd(RelaxedCpu::kX86, of.a, of.b, of.c), emulated_madd(RelaxedCpu::kArm, of.a, of.b, of.c));
  }));
}

BOOST_AUTO_TEST_SUITE_END()
