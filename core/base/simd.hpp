// 128-bit SIMD. All SIMD code includes this header: the wasm intrinsics, or SIMDe's emulation in native builds, so that
// the same kernels run under the sanitizers and the fuzzers.
//
// relaxed_*: instructions of the relaxed SIMD proposal in builds with -mrelaxed-simd; otherwise SIMD128 code with the
// same meaning.
#pragma once

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include <simde/wasm/simd128.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
using v128_t = simde_v128_t;
#endif

namespace ggufscope {

/// Keeps a constant in a local, for use inside a loop. LLVM would otherwise repeat plain wasm_*_splat and _const at
/// each use, and engines would rebuild the vector there from general registers, which costs several times the operation
/// itself.
inline v128_t loop_constant(v128_t value) {
#if defined(__wasm_simd128__)
  const v128_t* opaque = &value;
  __asm__("" : "+r"(opaque) : : "memory");
  return *opaque;
#else
  return value;
#endif
}

/// Returns p, but hides its target from the compiler, so that loads through it are not folded into constants.
template <class T>
inline const T* opaque(const T* p) {
#if defined(__wasm_simd128__)
  __asm__("" : "+r"(p));
#endif
  return p;
}

/// a * b + c in f32 lanes. Fused if the build is relaxed and the CPU has FMA; otherwise rounded twice.
inline v128_t relaxed_madd(v128_t a, v128_t b, v128_t c) {
#if defined(__wasm_relaxed_simd__)
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#endif
}

/// i16 lanes: a[2i] * b[2i] + a[2i+1] * b[2i+1]. a is signed 8-bit; b is within 0..127, where all engines agree.
inline v128_t relaxed_dot_i16(v128_t a, v128_t b) {
#if defined(__wasm_relaxed_simd__)
  return wasm_i16x8_relaxed_dot_i8x16_i7x16(a, b);
#else
  const v128_t even = wasm_i16x8_mul(wasm_i16x8_shr(wasm_i16x8_shl(a, 8), 8), wasm_i16x8_shr(wasm_i16x8_shl(b, 8), 8));
  const v128_t odd = wasm_i16x8_mul(wasm_i16x8_shr(a, 8), wasm_i16x8_shr(b, 8));
  return wasm_i16x8_add(even, odd);
#endif
}

/// i32 lanes: c plus the sum of four products a * b. a is signed 8-bit; b is within 0..127.
inline v128_t relaxed_dot_i32(v128_t a, v128_t b, v128_t c) {
#if defined(__wasm_relaxed_simd__)
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, b, c);
#else
  return wasm_i32x4_add(c, wasm_i32x4_extadd_pairwise_i16x8(relaxed_dot_i16(a, b)));
#endif
}

/// i16 lanes: a * b / 2^15, rounded. a and b must not both be -2^15.
inline v128_t relaxed_q15mulr(v128_t a, v128_t b) {
#if defined(__wasm_relaxed_simd__)
  return wasm_i16x8_relaxed_q15mulr(a, b);
#else
  return wasm_i16x8_q15mulr_sat(a, b);
#endif
}

/// table[indices] in bytes. Indices must be within 0..15.
inline v128_t relaxed_lookup(v128_t table, v128_t indices) {
#if defined(__wasm_relaxed_simd__)
  return wasm_i8x16_relaxed_swizzle(table, indices);
#else
  return wasm_i8x16_swizzle(table, indices);
#endif
}

}  // namespace ggufscope
