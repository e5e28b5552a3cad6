// Containers older than GGUF must give the same result if read as a whole or in the smallest windows. Input: a file.
#include "gguf/legacy.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "quant/legacy.hpp"
#include "quant/registry.hpp"

using namespace ggufscope;

namespace {

Result<LegacyHeader> read(const uint8_t* data, size_t size, uint64_t window) {
  LegacyState state;
  uint64_t wanted = 0;
  for (;;) {
    const uint64_t n = std::min(size - state.position, std::max(window, wanted));
    const std::vector<uint8_t> bytes(data + state.position, data + state.position + n);
    const Result<LegacyProgress> progress = read_legacy(bytes, size, state);
    if (!progress) return std::unexpected(progress.error());
    if (progress->complete) return legacy_header(state);
    wanted = progress->at_least;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<LegacyHeader> whole = read(data, size, size), grown = read(data, size, 1);
  if (whole.has_value() != grown.has_value()) std::abort();
  if (!whole) {
    if (whole.error().message != grown.error().message || whole.error().offset > size) std::abort();
    return 0;
  }
  if (whole->bytes != grown->bytes) std::abort();
  for (const TensorInfo& tensor : whole->header.tensors) {
    if (tensor.offset > size || tensor.n_bytes > size - tensor.offset) std::abort();
    const QuantKernels* kernels = find_kernels(tensor.type);
    if (kernels == nullptr) continue;
    const std::vector<uint8_t> blocks(data + tensor.offset, data + tensor.offset + tensor.n_bytes);
    const TypeGeometry& type = *find_type(tensor.type);
    std::vector<float> values(static_cast<size_t>(tensor.n_elements));
    kernels->dequantize(blocks.data(), values.data(), values.size() / type.block_size);
    const std::optional<uint32_t> today = modern_type(tensor.type);
    if (!today) continue;
    const size_t n_blocks = static_cast<size_t>(tensor.n_elements) / type.block_size;
    std::vector<uint8_t> modern(n_blocks * find_type(*today)->block_bytes);
    modernize(tensor.type, blocks.data(), modern.data(), n_blocks);
    find_kernels(*today)->dequantize(modern.data(), values.data(), n_blocks);
  }
  return 0;
}
