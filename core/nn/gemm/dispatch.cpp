// Which micro-kernel multiplies a format, and the loop over row groups and tiles that calls it.
#include "nn/gemm/dispatch.hpp"

#include <algorithm>

#include "nn/gemm/int8_dot.hpp"
#include "nn/gemm/microkernel.hpp"

namespace ggufscope {
namespace {

// Whether there is a product of bytes; whether it may take one operand's for numbers without a sign.
#if defined(__wasm_relaxed_simd__)
constexpr bool kHasInt8Dot = true, kMayBeUnsigned = true;
#elif defined(__wasm_simd128__)
constexpr bool kHasInt8Dot = false, kMayBeUnsigned = false;
#else
constexpr bool kHasInt8Dot = true, kMayBeUnsigned = false;
#endif

// Called by pointer: inlined, all kernels would be one function, which V8 is slow to optimize, and poor at it.
using Kernel = void (*)(const PackedFormat& f, const uint8_t* group, size_t step, size_t n_in, const uint8_t* tile,
                        Beta beta, float* y, size_t y_stride, size_t n_rows);
struct Kernels {
  Kernel tokens[kTileTokens];  // 1, 2 .. of them
  // Decode: the only token.
  Kernel alone;
  Kernel streams[std::size(kMemoryStreams)];
};
template <KernelSpec S, KernelSpec OfOne = S>
constexpr Kernels kKernels{{microkernel<S, 1, 1>, microkernel<S, 2, 1>, microkernel<S, 3, 1>, microkernel<S, 4, 1>},
                           microkernel<OfOne, 1, 1>,
                           {microkernel<OfOne, 1, kMemoryStreams[0]>, microkernel<OfOne, 1, kMemoryStreams[1]>}};

size_t g_streams = 0;  // of kMemoryStreams

DotKind dot_kind(const PackedFormat& f) {
  if (f.code_type == CodeType::kI16) return DotKind::kBfp16;
  switch (int8_dot()) {
    case Int8Dot::kSigned:
      return DotKind::kInt8x4;
    case Int8Dot::kUnsigned:
      return f.code_type == CodeType::kU7 && f.bits == 4 && f.table == nullptr ? DotKind::kInt8x4Packed
                                                                               : DotKind::kInt8x4;
    case Int8Dot::kSaturating:
      return f.code_type == CodeType::kU7 ? DotKind::kInt8x2 : DotKind::kInt16;
    case Int8Dot::kNone:
      break;
  }
  return DotKind::kInt16;
}

template <bool Super, int Bits, bool Half, int Sub, Correction C, bool Table>
const Kernels& kernels_of(DotKind dot) {
  constexpr bool kHasSign = C == Correction::kNone;  // its codes
  constexpr bool kReaches255 = C == Correction::kOffset && Sub == 32 && (Bits == 8 || Table);
  if constexpr (kHasInt8Dot) {
    if constexpr (kMayBeUnsigned && Bits == 4 && !Table)
      if (dot == DotKind::kInt8x4Packed)
        return kKernels<KernelSpec{Super, Bits, Half, Sub, C, Table, DotKind::kInt8x4Packed}>;
    if constexpr (!kHasSign)
      if (dot == DotKind::kInt8x2) return kKernels<KernelSpec{Super, Bits, Half, Sub, C, Table, DotKind::kInt8x2}>;
    if (dot == DotKind::kInt8x4) return kKernels<KernelSpec{Super, Bits, Half, Sub, C, Table, DotKind::kInt8x4}>;
  }
  if constexpr (kMayBeUnsigned && kReaches255)
    if (int8x2_is_unsigned())
      return kKernels<KernelSpec{Super, Bits, Half, Sub, C, Table, DotKind::kInt16},
                      KernelSpec{Super, Bits, Half, Sub, C, Table, DotKind::kInt8x2Split}>;
  if constexpr (kHasInt8Dot ? kReaches255 : !kHasSign)
    return kKernels<KernelSpec{Super, Bits, Half, Sub, C, Table, DotKind::kInt16}>;
  __builtin_trap();
}

// Every shape that a format has, once: the row is compared with it, so that a missing one cannot go unnoticed.
const Kernels& find_kernels_of(const PackedFormat& f, DotKind dot) {
  if (dot == DotKind::kBfp16)  // F16, and BF16 or F16 with float scales
    return f.half_scales ? kKernels<KernelSpec{false, 16, true, 16, Correction::kNone, false, DotKind::kBfp16}>
                         : kKernels<KernelSpec{false, 16, false, 16, Correction::kNone, false, DotKind::kBfp16}>;
#define SHAPE(super_, bits_, half_, sub_, correction_, table_)                           \
  if (f.super == super_ && f.bits == bits_ && f.half_scales == half_ && f.sub == sub_ && \
      f.correction == Correction::correction_ && (f.table != nullptr) == table_)         \
    return kernels_of<super_, bits_, half_, sub_, Correction::correction_, table_>(dot);
  SHAPE(false, 4, true, 32, kOffset, false)  // Q4_0
  SHAPE(false, 4, true, 32, kStored, false)  // Q4_1
  SHAPE(false, 8, true, 32, kStored, false)  // Q5_1
  SHAPE(false, 8, true, 32, kOffset, false)  // Q5_0, Q8_0
  SHAPE(false, 8, true, 32, kNone, false)    // Q8_0
  SHAPE(false, 4, true, 32, kNone, true)     // IQ4_NL
  SHAPE(false, 4, true, 32, kOffset, true)   // IQ4_NL
  // Float scales.
  SHAPE(false, 4, false, 32, kOffset, false)  // Q4_0
  SHAPE(false, 4, false, 32, kStored, false)  // Q4_1
  SHAPE(false, 8, false, 32, kOffset, false)  // Q5_0, Q8_0
  SHAPE(false, 8, false, 32, kStored, false)  // Q5_1
  SHAPE(false, 8, false, 32, kNone, false)    // Q8_0
  SHAPE(false, 4, false, 32, kNone, true)     // IQ4_NL
  SHAPE(false, 4, false, 32, kOffset, true)   // MXFP4, IQ4_NL
  SHAPE(false, 4, false, 16, kOffset, true)   // NVFP4
  SHAPE(true, 4, false, 16, kStored, false)   // Q2_K, IQ1_M
  SHAPE(true, 4, false, 16, kOffset, false)   // Q3_K
  SHAPE(true, 4, false, 16, kOffset, true)    // IQ2_XS, IQ2_S
  SHAPE(true, 4, false, 32, kStored, false)   // Q4_K, IQ1_S, IQ3_S
  SHAPE(true, 8, false, 32, kStored, false)   // Q5_K
  SHAPE(true, 8, false, 16, kOffset, false)   // Q6_K
  SHAPE(true, 4, false, 32, kNone, true)      // IQ4_XS, IQ2_XXS, IQ3_XXS
  SHAPE(true, 4, false, 32, kOffset, true)    // the same
#undef SHAPE
  __builtin_trap();
}
}  // namespace

ActivationQuant activation_quant(const PackedFormat& f, size_t n_tokens) {
  const DotKind dot = dot_kind(f);
  ActivationLayout codes = activation_layout(dot);
  // Of pairs of codes of super-blocks' tables, or Q6_K's, too few fit 16 bits (kInt8x2Elements).
  const bool few_int8x2 = dot == DotKind::kInt8x2 && f.super && (f.table != nullptr || (f.bits == 8 && f.sub == 16));
  if (n_tokens >= kPrefillTokens && !f.stores_e() && (dot == DotKind::kInt16 || few_int8x2))
    codes = ActivationLayout::kPrefill;
  if (n_tokens == 1 && int8x2_is_unsigned() && dot == DotKind::kInt16) codes = ActivationLayout::kNibbles;
  return {f.super ? kSuperHalf : static_cast<uint16_t>(f.block()), codes};
}

void use_memory_streams(size_t index) { g_streams = index; }

size_t memory_streams_in_use() { return g_streams; }

void gemm_groups(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                 ActivationQuant quant, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                 size_t y_stride, size_t n_rows) {
  if (quant.layout == ActivationLayout::kPrefill)
    return gemm_prefill(f, groups, n_groups, panel, quant, tiles, tile_bytes, n_tokens, y, y_stride, n_rows);
  const Kernels& kernels = find_kernels_of(f, dot_kind(f));
  const Beta beta = panel.first == 0 ? Beta::kZero : Beta::kOne;
  const size_t group_bytes = packed_group_bytes(f, panel.n);
  const bool alone = n_tokens == 1 && quant == activation_quant(f, 1);
  const size_t streams = kMemoryStreams[g_streams], step = alone ? n_groups / streams : 0;
  for (size_t group = 0; group < n_groups; ++group) {
    if (group == step) group = step * streams;
    if (group == n_groups) break;
    const size_t row = group * kGroupRows;
    // All of a prompt's tiles pass over one group, which stays in L1.
    for (size_t t = 0; t < n_tokens; t += kTileTokens) {
      const size_t n = std::min(kTileTokens, n_tokens - t);
      const Kernel kernel = group < step ? kernels.streams[g_streams] : alone ? kernels.alone : kernels.tokens[n - 1];
      kernel(f, groups + group * group_bytes, step, panel.n,
             tiles + t / kTileTokens * tile_bytes + activation_offset(quant, panel.first, n), beta,
             y + t * y_stride + row, y_stride, n_rows - row);
    }
  }
}

}  // namespace ggufscope
