// GEMM and GEMV with weights of any ggml type: y = x W^T. README.md explains packing, micro-kernels and dispatch.
//
// ggml's order: a weight has n_out rows of n_in elements, x is [n_tokens, n_in], y is [n_tokens, n_out], all row-major.
//   kExact    keeps the file's blocks and dequantizes a few rows at a time; float32 arithmetic. Every dot product is
//             accumulated in one order whatever the number of threads or tokens, so results are reproducible.
//   kFast     repacks into interleaved rows and quantizes activations to 8 bits per block, up to 16 for F16 and BF16;
//             types and rows without a packed format are multiplied as floats, fused where the CPU fuses.
//   kCompact  the same, but types whose repacked rows would be more than twice as long as the file's stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

struct PackedFormat;

enum class Precision : uint8_t { kExact, kFast, kCompact };

class PackedMatrix {
 public:
  PackedMatrix() = default;

  /// Allocates an [n_out, n_in] matrix of a ggml type, and scratch memory in the pool for its products. Rows are
  /// undefined until packed. Errors: kUnsupported for a type without kernels; kBadShape if a row is not a whole number
  /// of blocks or a size is zero; kOutOfMemory.
  [[nodiscard]] static Result<PackedMatrix> create(Pool& pool, uint32_t type, uint64_t n_in, uint64_t n_out,
                                                   Precision precision);

  /// Packs whole rows in the file's layout (little-endian) as rows first_row and following. They may come in any order
  /// and any number at a time; the pool's threads share the work. Error: kInvalidArgument if the bytes are not whole
  /// rows or the rows are outside of the matrix.
  [[nodiscard]] Result<void> pack_rows(Pool& pool, uint64_t first_row, ByteView rows);

  [[nodiscard]] uint32_t type() const { return type_; }
  [[nodiscard]] size_t n_in() const { return n_in_; }
  [[nodiscard]] size_t n_out() const { return n_out_; }
  [[nodiscard]] size_t file_row_bytes() const { return file_row_bytes_; }
  [[nodiscard]] size_t packed_bytes() const { return data_.size(); }
  /// The rows in the file's format, or groups of rows in the packed format.
  [[nodiscard]] const uint8_t* data() const { return data_.data(); }
  /// nullptr: rows are as in the file, and products are computed with floats.
  [[nodiscard]] const PackedFormat* format() const { return format_; }
  [[nodiscard]] Precision precision() const { return precision_; }
  [[nodiscard]] bool empty() const { return n_out_ == 0; }

 private:
  [[nodiscard]] Result<void> widen(Pool& pool);

  uint32_t type_ = 0;
  size_t n_in_ = 0;
  size_t n_out_ = 0;
  size_t file_row_bytes_ = 0;
  Precision precision_ = Precision::kExact;
  const PackedFormat* format_ = nullptr;
  Buffer data_;
};

/// Bytes that create would allocate for the weights. Errors as create, except for kOutOfMemory.
[[nodiscard]] Result<uint64_t> packed_bytes(uint32_t type, uint64_t n_in, uint64_t n_out, Precision precision);

/// y [n_tokens, n_out] = x [n_tokens, n_in] times the transpose of weights. x and y do not overlap.
void matmul(Pool& pool, const PackedMatrix& weights, const float* x, size_t n_tokens, float* y);

/// One of several products of the same x, computed together (q, k and v; gate and up). All must have x's n_in.
struct Product {
  const PackedMatrix* weights;
  float* y;  ///< [n_tokens, weights->n_out()]
};
void matmul(Pool& pool, std::span<const Product> products, const float* x, size_t n_tokens);

/// Converts rows ids[i] to floats: out [ids.size(), n_in]. The caller must check that 0 <= id < n_out.
void get_rows(const PackedMatrix& weights, std::span<const int32_t> ids, float* out);

}  // namespace ggufscope
