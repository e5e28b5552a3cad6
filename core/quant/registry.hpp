// The kernels of every ggml type that can be computed. The rows are those of types/types.inc.
//
// Three tables are made from the rows, so that a module links only what it uses: the fast dequantizers (every module),
// the
// scalar references (tests, benchmarks) and the quantizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ggufscope {

/// n_blocks whole blocks of the type at src (little-endian, unaligned) to n_blocks * block_size floats at dst (aligned
/// as floats are). The same bits as ggml's to_float; NaN is NaN.
using DequantizeFn = void (*)(const uint8_t* src, float* dst, size_t n_blocks);

/// n_blocks * block_size floats to n_blocks blocks, the same bytes as ggml's reference quantizer. importance: as many
/// non-negative weights as floats in one row of row_blocks blocks (they repeat for every row), or nullptr.
/// n_blocks is a multiple of row_blocks.
using QuantizeFn = void (*)(const float* src, uint8_t* dst, size_t n_blocks, const float* importance,
                            size_t row_blocks);

struct QuantKernels {
  uint32_t type;
  DequantizeFn dequantize;  ///< SIMD where it is faster, bit-identical to the reference
};

[[nodiscard]] std::span<const QuantKernels> all_kernels();

/// nullptr for a type that cannot be computed. Those of legacy_types() are found too.
[[nodiscard]] const QuantKernels* find_kernels(uint32_t type);

/// The plain scalar dequantizer; nullptr for a type that cannot be computed.
[[nodiscard]] DequantizeFn find_reference(uint32_t type);

struct Quantizer {
  QuantizeFn quantize;    ///< nullptr: ggml has no reference quantizer for it
  bool needs_importance;  ///< quantize refuses nullptr importance
};

[[nodiscard]] Quantizer find_quantizer(uint32_t type);

}  // namespace ggufscope
