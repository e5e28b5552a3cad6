#include "nn/matmul.hpp"

#include <algorithm>
#include <cstring>

#include "base/simd.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

constexpr size_t kRows = 4;  // rows dequantized together

struct RowLayout {
  const TypeGeometry* geometry;
  const QuantKernels* kernels;
  uint64_t row_bytes;
};

Result<RowLayout> row_layout(uint32_t type, uint64_t n_in, uint64_t n_out) {
  const TypeGeometry* geometry = find_type(type);
  const QuantKernels* kernels = find_kernels(type);
  if (geometry == nullptr || kernels == nullptr || geometry->block_size == 0)
    return fail(ErrorCode::kUnsupported, "cannot compute with tensors of type " + std::to_string(type));
  if (n_in == 0 || n_out == 0 || n_in % geometry->block_size != 0)
    return fail(ErrorCode::kBadShape, "a weight of shape [" + std::to_string(n_in) + ", " + std::to_string(n_out) +
                                          "] cannot be of type " + std::string(geometry->name));
  constexpr uint64_t kMaxElements = uint64_t{1} << 40;
  if (n_in > kMaxElements / n_out)
    return fail(ErrorCode::kOutOfMemory, "a weight of more elements than any machine can hold");
  return RowLayout{geometry, kernels, n_in / geometry->block_size * geometry->block_bytes};
}

// sums[r] = dot(rows + r * n, x). One vector of four partial sums a dot product, whatever is computed beside it.
template <size_t Tokens>
void dot_rows(const float* rows, size_t n_rows, size_t n, const float* x, float* y, size_t y_stride) {
  v128_t sums[kRows][Tokens];
  for (size_t r = 0; r < kRows; ++r)
    for (size_t t = 0; t < Tokens; ++t) sums[r][t] = wasm_f32x4_splat(0);
  const float* row[kRows];
  for (size_t r = 0; r < kRows; ++r) row[r] = rows + std::min(r, n_rows - 1) * n;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    v128_t xs[Tokens];
    for (size_t t = 0; t < Tokens; ++t) xs[t] = wasm_v128_load(x + t * n + i);
    for (size_t r = 0; r < kRows; ++r) {
      const v128_t w = wasm_v128_load(row[r] + i);
      for (size_t t = 0; t < Tokens; ++t) sums[r][t] = wasm_f32x4_add(sums[r][t], wasm_f32x4_mul(w, xs[t]));
    }
  }
  for (size_t r = 0; r < n_rows; ++r) {
    for (size_t t = 0; t < Tokens; ++t) {
      const v128_t s = sums[r][t];
      float sum = (wasm_f32x4_extract_lane(s, 0) + wasm_f32x4_extract_lane(s, 2)) +
                  (wasm_f32x4_extract_lane(s, 1) + wasm_f32x4_extract_lane(s, 3));
      for (size_t k = i; k < n; ++k) sum += row[r][k] * x[t * n + k];
      y[t * y_stride + r] = sum;
    }
  }
}

// Rows [first, last) of the product, all tokens.
void multiply_rows_exact(const PackedMatrix& w, size_t first, size_t last, const float* x, size_t n_tokens, float* y,
                         float* scratch) {
  const size_t n = w.n_in(), row_bytes = w.file_row_bytes();
  const bool is_f32 = w.type() == static_cast<uint32_t>(TypeId::kF32);
  const DequantizeFn dequantize = find_kernels(w.type())->dequantize;
  const size_t n_blocks = n / find_type(w.type())->block_size;
  for (size_t row = first; row < last; row += kRows) {
    const size_t n_rows = std::min(kRows, last - row);
    const float* rows = reinterpret_cast<const float*>(w.data() + row * row_bytes);
    if (!is_f32) {
      dequantize(w.data() + row * row_bytes, scratch, n_rows * n_blocks);
      rows = scratch;
    }
    size_t t = 0;
    for (; t + 2 <= n_tokens; t += 2) dot_rows<2>(rows, n_rows, n, x + t * n, y + t * w.n_out() + row, w.n_out());
    if (t < n_tokens) dot_rows<1>(rows, n_rows, n, x + t * n, y + t * w.n_out() + row, w.n_out());
  }
}

}  // namespace

Result<uint64_t> packed_bytes(uint32_t type, uint64_t n_in, uint64_t n_out, Precision) {
  const Result<RowLayout> layout = row_layout(type, n_in, n_out);
  if (!layout) return std::unexpected(layout.error());
  return layout->row_bytes * n_out;
}

Result<PackedMatrix> PackedMatrix::create(Pool& pool, uint32_t type, uint64_t n_in, uint64_t n_out,
                                          Precision precision) {
  const Result<RowLayout> layout = row_layout(type, n_in, n_out);
  if (!layout) return std::unexpected(layout.error());
  const Result<uint64_t> bytes = ggufscope::packed_bytes(type, n_in, n_out, precision);
  if (!bytes) return std::unexpected(bytes.error());
  Result<Buffer> data = Buffer::allocate(*bytes);
  if (!data) return std::unexpected(data.error());
  if (const Result<void> scratch = pool.reserve_scratch(0, n_in * kRows * sizeof(float)); !scratch)
    return std::unexpected(scratch.error());
  PackedMatrix matrix;
  matrix.type_ = type;
  matrix.n_in_ = static_cast<size_t>(n_in);
  matrix.n_out_ = static_cast<size_t>(n_out);
  matrix.file_row_bytes_ = static_cast<size_t>(layout->row_bytes);
  matrix.data_ = std::move(*data);
  return matrix;
}

Result<void> PackedMatrix::pack_rows(uint64_t first_row, ByteView rows) {
  if (file_row_bytes_ == 0 || rows.size() % file_row_bytes_ != 0)
    return fail(ErrorCode::kInvalidArgument, std::to_string(rows.size()) + " bytes are no whole rows");
  const uint64_t n_rows = rows.size() / file_row_bytes_;
  if (first_row > n_out_ || n_rows > n_out_ - first_row)
    return fail(ErrorCode::kInvalidArgument, "rows beyond the end of a weight");
  if (n_rows != 0)
    std::memcpy(data_.data() + static_cast<size_t>(first_row) * file_row_bytes_, rows.data(), rows.size());
  return {};
}

void matmul(Pool& pool, std::span<const Product> products, const float* x, size_t n_tokens) {
  size_t n_rows = 0;  // of all products, one after the other
  for (const Product& product : products) n_rows += (product.weights->n_out() + kRows - 1) / kRows * kRows;
  const size_t grain = std::clamp<size_t>(n_rows / (pool.n_threads() * 8) / kRows, 1, 64) * kRows;
  pool.parallel_for(n_rows / kRows, grain / kRows, [&](size_t first, size_t last, size_t thread) {
    float* scratch = reinterpret_cast<float*>(pool.thread_scratch(thread));
    first *= kRows, last *= kRows;
    size_t offset = 0;
    for (const Product& product : products) {
      const size_t n_out = product.weights->n_out(), padded = (n_out + kRows - 1) / kRows * kRows;
      const size_t begin = std::max(first, offset), end = std::min(last, offset + n_out);
      if (begin < end)
        multiply_rows_exact(*product.weights, begin - offset, end - offset, x, n_tokens, product.y, scratch);
      offset += padded;
    }
  });
}

void matmul(Pool& pool, const PackedMatrix& weights, const float* x, size_t n_tokens, float* y) {
  const Product product{&weights, y};
  matmul(pool, std::span(&product, 1), x, n_tokens);
}

void get_rows(const PackedMatrix& weights, std::span<const int32_t> ids, float* out) {
  const DequantizeFn dequantize = find_kernels(weights.type())->dequantize;
  const size_t n_blocks = weights.n_in() / find_type(weights.type())->block_size;
  for (size_t i = 0; i < ids.size(); ++i)
    dequantize(weights.data() + static_cast<size_t>(ids[i]) * weights.file_row_bytes(), out + i * weights.n_in(),
               n_blocks);
}

}  // namespace ggufscope
