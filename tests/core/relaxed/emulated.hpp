// The relaxed SIMD instructions that the engine uses, as each kind of CPU computes them. WebAssembly leaves their
// results open where CPUs differ:
//   f32x4.relaxed_madd                     one rounding or two
//   i16x8.relaxed_dot_i8x16_i7x16          b as int8 or uint8; a sum outside int16 wraps or saturates
//   i32x4.relaxed_dot_i8x16_i7x16_add      b as int8 or uint8; pairs may saturate or wrap to int16 first
//   i16x8.relaxed_q15mulr                  -1 * -1 saturates or wraps
//   i8x16.relaxed_swizzle                  an index above 15 gives 0, or is reduced modulo 16 if it is below 128
// Source: the relaxed SIMD proposal (https://github.com/WebAssembly/relaxed-simd).
//
// With GGUFSCOPE_EMULATED_RELAXED this file is included before each source (-include) and replaces the instructions.
#pragma once

#include <wasm_simd128.h>

namespace ggufscope::test {

/// Kinds of CPUs, and what engines use there.
enum class RelaxedCpu {
  kX86,      ///< PMADDUBSW, PMULHRSW, PSHUFB; no fused multiply-add
  kX86Vnni,  ///< the same with AVX-VNNI (VPDPBUSD) and FMA
  kArm,      ///< SMULL, ADDP and SADDLP, SQRDMULH, TBL, FMLA
  kArmDot,   ///< the same with SDOT
};

v128_t emulated_madd(RelaxedCpu cpu, v128_t a, v128_t b, v128_t c);
v128_t emulated_dot_i16(RelaxedCpu cpu, v128_t a, v128_t b);
v128_t emulated_dot_i32(RelaxedCpu cpu, v128_t a, v128_t b, v128_t c);
v128_t emulated_q15mulr(RelaxedCpu cpu, v128_t a, v128_t b);
v128_t emulated_swizzle(RelaxedCpu cpu, v128_t table, v128_t indices);

/// The CPU to emulate: the environment variable RELAXED_CPU (x86, x86-vnni, arm or arm-dot).
RelaxedCpu cpu_to_emulate();

}  // namespace ggufscope::test

#if defined(GGUFSCOPE_EMULATED_RELAXED)
#define wasm_f32x4_relaxed_madd(a, b, c) ggufscope::test::emulated_madd(ggufscope::test::cpu_to_emulate(), a, b, c)
#define wasm_i16x8_relaxed_dot_i8x16_i7x16(a, b) \
  ggufscope::test::emulated_dot_i16(ggufscope::test::cpu_to_emulate(), a, b)
#define wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, b, c) \
  ggufscope::test::emulated_dot_i32(ggufscope::test::cpu_to_emulate(), a, b, c)
#define wasm_i16x8_relaxed_q15mulr(a, b) ggufscope::test::emulated_q15mulr(ggufscope::test::cpu_to_emulate(), a, b)
#define wasm_i8x16_relaxed_swizzle(table, indices) \
  ggufscope::test::emulated_swizzle(ggufscope::test::cpu_to_emulate(), table, indices)
#endif
