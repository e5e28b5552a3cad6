// Loading of a plan whose tensors all have the same precision: projectors and speech models.
#pragma once

#include <cstring>

#include "model/state.hpp"
#include "model/weights.hpp"
#include "nn/halves.hpp"

namespace ggufscope {

/// Bytes of all tensors after packing. Errors: kOverflow; those of packed_bytes.
[[nodiscard]] inline Result<uint64_t> plan_bytes(std::span<const TensorRequest> plan, Precision precision) {
  uint64_t sum = 0;
  for (const TensorRequest& request : plan) {
    const Result<uint64_t> bytes = loaded_size(request, precision);
    if (!bytes) return bytes;
    if (!add_product(sum, *bytes, 1))
      return fail(ErrorCode::kOverflow, "the weights need more memory than can be counted");
  }
  return sum;
}

/// Prepares a plan for its first or another load.
inline void begin_plan(std::span<TensorRequest> plan) {
  for (TensorRequest& request : plan) request.n_rows_arrived = 0;
}

/// pack_rows for the weights of a convolution. They are rounded to halves, as in ggml.
[[nodiscard]] inline Result<void> pack_convolution_rows(Pool& pool, TensorRequest& request, Precision precision,
                                                        uint64_t first_row, ByteView rows) {
  constexpr uint32_t kFloat32Type = 0;  // ggml's type id of F32
  if (request.entry.type != kFloat32Type || request.entry.big_endian)
    return pack_rows(pool, request, precision, first_row, rows);
  std::vector<float> rounded(rows.size() / sizeof(float));
  const size_t n_bytes = rounded.size() * sizeof(float);
  std::memcpy(rounded.data(), rows.data(), n_bytes);
  round_to_halves(rounded.data(), rounded.size());
  return pack_rows(pool, request, precision, first_row, {reinterpret_cast<const uint8_t*>(rounded.data()), n_bytes});
}

}  // namespace ggufscope
