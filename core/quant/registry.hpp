// The kernels of every ggml type that has them, built from the rows of types/types.inc.
//
// There are three tables, so that a module links only what it uses: the fast dequantizers (every module), the scalar
// references (tests, benchmarks) and the quantizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ggufscope {

/// Converts n_blocks whole blocks at src (little-endian, unaligned) to n_blocks * block_size floats at dst (aligned for
/// float). The bits are the same as those of ggml's to_float, except that NaN payloads may differ.
using DequantizeFn = void (*)(const uint8_t* src, float* dst, size_t n_blocks);

/// Converts n_blocks * block_size floats to n_blocks blocks, with the same bytes as ggml's reference quantizer.
/// importance: nullptr, or one non-negative weight for each float in a row of row_blocks blocks; the weights are the
/// same for every row. n_blocks must be a multiple of row_blocks.
using QuantizeFn = void (*)(const float* src, uint8_t* dst, size_t n_blocks, const float* importance,
                            size_t row_blocks);

struct QuantKernels {
  uint32_t type;
  DequantizeFn dequantize;  ///< SIMD if that is faster; bit-identical to the reference
};

[[nodiscard]] std::span<const QuantKernels> all_kernels();

/// nullptr for a type without kernels. Also finds legacy_types().
[[nodiscard]] const QuantKernels* find_kernels(uint32_t type);

/// The plain scalar dequantizer, or nullptr for a type without kernels.
[[nodiscard]] DequantizeFn find_reference(uint32_t type);

struct Quantizer {
  QuantizeFn quantize;    ///< nullptr if ggml has no reference quantizer for the type
  bool needs_importance;  ///< quantize requires importance
};

[[nodiscard]] Quantizer find_quantizer(uint32_t type);

}  // namespace ggufscope
