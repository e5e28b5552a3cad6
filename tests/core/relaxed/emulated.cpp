// Relaxed SIMD as CPUs of other kinds compute it.
#include "emulated.hpp"

#include <emscripten/em_js.h>

#include <cmath>
#include <cstdlib>

// clang-format off
EM_JS(int, relaxed_cpu_of_environment, (), {
  return ['x86', 'x86-vnni', 'arm', 'arm-dot'].indexOf(process.env.RELAXED_CPU);
})
// clang-format on

namespace ggufscope::test {
namespace {

bool is_arm(RelaxedCpu cpu) { return cpu == RelaxedCpu::kArm || cpu == RelaxedCpu::kArmDot; }

// Products of int8 a with the even and the odd bytes of b, which are int8 on ARM and uint8 on x86: all fit int16.
struct Products {
  v128_t even, odd;
};
Products products(RelaxedCpu cpu, v128_t a, v128_t b) {
  const bool is_signed = is_arm(cpu);
  const v128_t high = wasm_i16x8_shl(b, 8);
  const v128_t even = is_signed ? wasm_i16x8_shr(high, 8) : wasm_u16x8_shr(high, 8);
  const v128_t odd = is_signed ? wasm_i16x8_shr(b, 8) : wasm_u16x8_shr(b, 8);
  return {wasm_i16x8_mul(wasm_i16x8_shr(wasm_i16x8_shl(a, 8), 8), even), wasm_i16x8_mul(wasm_i16x8_shr(a, 8), odd)};
}

}  // namespace

v128_t emulated_madd(RelaxedCpu cpu, v128_t a, v128_t b, v128_t c) {
  if (cpu == RelaxedCpu::kX86) return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
  float x[4], y[4], z[4];
  wasm_v128_store(x, a);
  wasm_v128_store(y, b);
  wasm_v128_store(z, c);
  for (int i = 0; i < 4; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return wasm_v128_load(z);
}

v128_t emulated_dot_i16(RelaxedCpu cpu, v128_t a, v128_t b) {
  const auto [even, odd] = products(cpu, a, b);
  return is_arm(cpu) ? wasm_i16x8_add(even, odd) : wasm_i16x8_add_sat(even, odd);
}

v128_t emulated_dot_i32(RelaxedCpu cpu, v128_t a, v128_t b, v128_t c) {
  if (cpu == RelaxedCpu::kX86 || cpu == RelaxedCpu::kArm)
    return wasm_i32x4_add(c, wasm_i32x4_extadd_pairwise_i16x8(emulated_dot_i16(cpu, a, b)));
  const auto [even, odd] = products(cpu, a, b);
  return wasm_i32x4_add(c,
                        wasm_i32x4_add(wasm_i32x4_extadd_pairwise_i16x8(even), wasm_i32x4_extadd_pairwise_i16x8(odd)));
}

v128_t emulated_q15mulr(RelaxedCpu cpu, v128_t a, v128_t b) {
  const v128_t saturated = wasm_i16x8_q15mulr_sat(a, b);
  if (is_arm(cpu)) return saturated;
  const v128_t least = wasm_i16x8_splat(INT16_MIN);
  const v128_t wraps = wasm_v128_and(wasm_i16x8_eq(a, least), wasm_i16x8_eq(b, least));
  return wasm_v128_xor(saturated, wraps);  // 0x7fff -> 0x8000
}

v128_t emulated_swizzle(RelaxedCpu cpu, v128_t table, v128_t indices) {
  const v128_t used = is_arm(cpu) ? indices : wasm_v128_and(indices, wasm_u8x16_splat(0x8f));
  return wasm_i8x16_swizzle(table, used);
}

RelaxedCpu cpu_to_emulate() {
  static const int cpu = relaxed_cpu_of_environment();
  if (cpu < 0) std::abort();
  return static_cast<RelaxedCpu>(cpu);
}

}  // namespace ggufscope::test
