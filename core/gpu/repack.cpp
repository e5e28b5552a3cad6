// Repacks whole rows of the file into the streams of quants and scales that the GPU reads.
#include "gpu/repack.hpp"

#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope::gpu {
namespace {

// The stream's ranges of n_blocks blocks, padded to whole words.
std::vector<uint8_t> split(const Stream& stream, const uint8_t* blocks, uint64_t n_blocks, uint32_t block_bytes) {
  std::vector<uint8_t> out(static_cast<size_t>((n_blocks * stream.bytes() + 3) / 4 * 4));
  uint8_t* to = out.data();
  for (uint64_t i = 0; i < n_blocks; ++i, blocks += block_bytes)
    for (const BlockRange& range : stream.ranges) {
      std::memcpy(to, blocks + range.offset, range.bytes);
      to += range.bytes;
    }
  return out;
}

std::vector<uint8_t> to_floats(const TensorRequest& request, ByteView rows, const TypeGeometry& type) {
  const size_t n_blocks = rows.size() / type.block_bytes;
  std::vector<float> floats(n_blocks * type.block_size);
  std::vector<uint8_t> swapped;
  const uint8_t* from = rows.data();
  if (request.entry.big_endian) {
    swapped.assign(rows.begin(), rows.end());
    swap_block_bytes(request.entry.type, swapped.data(), n_blocks);
    from = swapped.data();
  }
  find_kernels(request.entry.type)->dequantize(from, floats.data(), n_blocks);
  std::vector<uint8_t> out(floats.size() * sizeof(float));
  std::memcpy(out.data(), floats.data(), out.size());
  return out;
}

}  // namespace

Result<std::vector<BufferWrite>> repack(const Plan& plan, const Model& model, uint32_t request, uint64_t first_row,
                                        ByteView rows) {
  if (request >= model.plan().size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  const TensorRequest& r = model.plan()[request];
  const TypeGeometry* type = find_type(r.entry.type);
  const uint64_t n_rows = rows.size() / r.row_bytes;
  if (type == nullptr || rows.size() % r.row_bytes != 0 || first_row > r.n_rows || n_rows > r.n_rows - first_row ||
      first_row % kRepackRows != 0 ||
      (n_rows % kRepackRows != 0 && first_row + n_rows != r.n_rows && first_row + n_rows != r.n_rows_kept))
    return fail(ErrorCode::kInvalidArgument,
                "these are not whole rows of tensor " + r.entry.name + " in steps of " + std::to_string(kRepackRows));
  std::vector<BufferWrite> out;
  for (const Upload& upload : plan.uploads) {
    if (upload.request != request) continue;
    const uint64_t first = std::max(first_row, upload.first_row);
    const uint64_t end = std::min(first_row + n_rows, upload.first_row + upload.n_rows);
    if (first >= end) continue;
    const ByteView part = rows.subspan(static_cast<size_t>((first - first_row) * r.row_bytes),
                                       static_cast<size_t>((end - first) * r.row_bytes));
    if (upload.is_vector) {
      out.push_back(
          {upload.buffer, upload.quants + first * r.entry.shape[0] * sizeof(float), to_floats(r, part, *type)});
      continue;
    }
    const StreamsRow& streams = *find_streams(r.entry.type);
    const uint64_t n_blocks = part.size() / type->block_bytes;
    const uint64_t at = (first - upload.first_row) * (r.row_bytes / type->block_bytes);
    const auto add = [&](const Stream& stream, uint64_t offset) {
      if (stream.bytes() != 0)
        out.push_back(
            {upload.buffer, offset + at * stream.bytes(), split(stream, part.data(), n_blocks, type->block_bytes)});
    };
    add(streams.quants, upload.quants);
    add(streams.middles, upload.middles);
    add(streams.scales, upload.scales);
  }
  return out;
}

}  // namespace ggufscope::gpu
