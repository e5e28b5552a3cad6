// Repacks whole rows of the file into the streams of quants and scales that the GPU reads.
#include "gpu/repack.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/sentence.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope::gpu {
namespace {

// The stream's ranges of n_blocks blocks, padded to whole words.
std::vector<uint8_t> split(const Stream& stream, const uint8_t* blocks, uint64_t n_blocks, uint32_t block_bytes) {
  const auto bytes = static_cast<size_t>(n_blocks * stream.bytes());
  std::vector<uint8_t> out((bytes + 3) / 4 * 4);
  uint8_t* to = out.data();
  // As in the file: a call for each block would take longer than the copy, of floats above all.
  if (stream.bytes() == block_bytes) {
    std::memcpy(to, blocks, bytes);
    return out;
  }
  for (uint64_t i = 0; i < n_blocks; ++i, blocks += block_bytes)
    for (const BlockRange& range : stream.ranges) {
      std::memcpy(to, blocks + range.offset, range.bytes);
      to += range.bytes;
    }
  return out;
}

std::vector<float> to_floats(const TensorRequest& request, ByteView rows, const TypeGeometry& type) {
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
  return floats;
}

std::vector<uint8_t> bytes_of(const std::vector<float>& floats) {
  std::vector<uint8_t> out(floats.size() * sizeof(float));
  std::memcpy(out.data(), floats.data(), out.size());
  return out;
}

// Rows of a small matrix as floats.
std::vector<float> rows_of(const PackedMatrix& matrix, size_t first, size_t n) {
  std::vector<int32_t> ids(n);
  std::iota(ids.begin(), ids.end(), static_cast<int32_t>(first));
  std::vector<float> out(ids.size() * matrix.n_in());
  get_rows(matrix, ids, out.data());
  return out;
}

// Adds scale * B A to rows from `first` on, as apply and look_up add it to products.
void adapt(bool table, const TensorRequest& r, uint64_t first, std::span<float> rows) {  // table: A has its rows
  const size_t n_in = r.stack != nullptr ? r.stack->n_in : r.linear->n_in;
  const size_t n_out = r.stack != nullptr ? r.stack->n_out : r.linear->n_out;
  for (const LowRankUse& use : r.stack != nullptr ? r.stack->adapters : r.linear->adapters) {
    const LowRank& pair = *use.pair;
    std::vector<float> wide;
    for (size_t i = 0; i < rows.size() / n_in; ++i) {
      const auto at = static_cast<size_t>(first) + i, matrix = at / n_out, row = at % n_out;
      if (i == 0 || row == 0) wide = table ? rows_of(pair.b[0], 0, n_in) : rows_of(pair.a[matrix], 0, pair.rank);
      const std::vector<float> own = rows_of(table ? pair.a[0] : pair.b[matrix], row, 1);
      float* const to = rows.data() + i * n_in;
      for (size_t j = 0; j < pair.rank; ++j)
        for (size_t k = 0; k < n_in; ++k) to[k] += use.scale * own[j] * wide[table ? k * pair.rank + j : j * n_in + k];
    }
  }
}

}  // namespace

Result<std::vector<BufferWrite>> repack(const Plan& plan, const Model& model, uint32_t request, uint64_t first_row,
                                        ByteView rows) {
  return repack(plan, model.plan(), request, first_row, rows, &model.weights().token_embedding);
}

Result<std::vector<BufferWrite>> repack(const Plan& plan, std::span<const TensorRequest> requests, uint32_t request,
                                        uint64_t first_row, ByteView rows, const Linear* table) {
  if (request >= requests.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  const TensorRequest& r = requests[request];
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
    if (upload.is_vector || upload.adapted) {
      std::vector<float> floats = to_floats(r, part, *type);
      if (upload.adapted) adapt(r.linear != nullptr && r.linear == table, r, first, floats);
      const uint64_t at = (first - upload.first_row) * r.entry.shape[0] * sizeof(float);
      out.push_back({upload.buffer, upload.quants + at, bytes_of(floats)});
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
