// Rows of the file -> the streams of the GPU; see streams.inc.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "gpu/plan.hpp"

namespace ggufscope::gpu {

/// Bytes to write to a buffer of the plan. Offset and length are multiples of 4.
struct BufferWrite {
  uint32_t buffer = 0;
  uint64_t offset = 0;
  std::vector<uint8_t> bytes;
};

/// Whole rows of request `request` of Model::plan(), from first_row on, for the uploads of the plan that have them.
/// Rows must come in multiples of kRepackRows, but for a tensor's last ones. Errors: kInvalidArgument for other rows,
/// or bytes that are not whole rows.
[[nodiscard]] Result<std::vector<BufferWrite>> repack(const Plan& plan, const Model& model, uint32_t request,
                                                      uint64_t first_row, ByteView rows);
/// The same for other requests. table: the matrix whose adapters are those of a table that is looked up.
[[nodiscard]] Result<std::vector<BufferWrite>> repack(const Plan& plan, std::span<const TensorRequest> requests,
                                                      uint32_t request, uint64_t first_row, ByteView rows,
                                                      const Linear* table = nullptr);
inline constexpr uint64_t kRepackRows = 8;  ///< so many rows fill whole words of every stream

}  // namespace ggufscope::gpu
