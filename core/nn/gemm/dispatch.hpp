// Selects the kernel by the format, the CPU's int8 dot product and the number of tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nn/gemm/activation_quant.hpp"
#include "nn/gemm/format.hpp"

namespace ggufscope {

/// From this many tokens on, prefill.cpp is faster, because it widens the codes to int16 once for all tokens.
inline constexpr size_t kPrefillTokens = 12;

/// How to quantize the activations for a product with n_tokens tokens.
[[nodiscard]] ActivationQuant activation_quant(const PackedFormat& f, size_t n_tokens);

/// How many memory streams decode (one token) reads: four, interleaved every few cache lines, or two in long runs.
/// Which is faster depends on the CPU: some memory systems serve four streams faster, some prefetchers follow only a
/// few. The results are the same.
inline constexpr size_t kMemoryStreams[] = {4, 2};
/// Selects an entry of kMemoryStreams; 0 at first.
void use_memory_streams(size_t which);
[[nodiscard]] size_t memory_streams_in_use();

/// BLAS's beta: overwrite y, or add to it, as the second and later panels do.
enum class Beta : uint8_t { kZero, kOne };

/// Computes y[t * y_stride + r] for the rows r of n_groups groups and n_tokens tokens, whose tiles are tile_bytes
/// apart; n_rows rows are written. groups: points to the first of these groups in the panel.
void gemm_groups(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                 ActivationQuant quant, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                 size_t y_stride, size_t n_rows);
/// The same for at least kPrefillTokens tokens, types without a stored minimum, and tiles in
/// ActivationLayout::kPrefill.
void gemm_prefill(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                  ActivationQuant quant, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                  size_t y_stride, size_t n_rows);

/// The same for one group and the tokens of one tile, in plain scalar code. Results are bit-identical if
/// multiplications and additions are not fused.
void gemm_group_reference(const PackedFormat& f, const uint8_t* group, size_t n_in, const float* x, size_t x_stride,
                          size_t n_tokens, Beta beta, float* y, size_t y_stride, size_t n_rows);

}  // namespace ggufscope
