// Compares the fast dequantizers with the scalar references, also for swapped byte order, and checks statistics of the
// same blocks. Input: a type id, then blocks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "quant/byte_order.hpp"
#include "quant/k_quants_64.hpp"
#include "quant/registry.hpp"
#include "quant/stats.hpp"
#include "quant/validate.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

void look_at(uint32_t type, const std::vector<uint8_t>& blocks, const std::vector<float>& floats, size_t n_blocks,
             bool small) {
  std::vector<uint8_t> turned = blocks;
  swap_block_bytes(type, turned.data(), n_blocks, small);
  swap_block_bytes(type, turned.data(), n_blocks, small);
  if (turned != blocks) std::abort();
  ScaleStats scales;
  if (scales.add(type, blocks.data(), n_blocks, small) && scales.count < n_blocks) std::abort();
  // A block with a float or a scale that is NaN or infinite has such values; but ggml computes with MXFP4's NaN, 255,
  // as if it were a power of two.
  if (const InvalidBlocks invalid = find_invalid_blocks(type, blocks.data(), n_blocks, false, small);
      invalid.count != 0 && invalid.flaw != BlockFlaw::kRefused) {
    const size_t length = floats.size() / n_blocks, first = static_cast<size_t>(invalid.first);
    const float* values = floats.data() + first * length;
    const bool lacks_number =
        type == static_cast<uint32_t>(TypeId::kMXFP4) && blocks[first * find_type(type)->block_bytes] == 255;
    if (!lacks_number && std::all_of(values, values + length, [](float value) { return std::isfinite(value); }))
      std::abort();
  }
  TensorStats stats(32, floats.size() / 32);
  stats.add(floats.data(), floats.size());
  if (stats.count != floats.size() || stats.moments.count + stats.nans + stats.infinities != stats.count) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const QuantKernels& kernels = all_kernels()[data[0] % all_kernels().size()];
  const TypeGeometry& type = *find_type(kernels.type);
  const size_t n_blocks = (size - 1) / type.block_bytes;
  // Heap blocks of exactly these sizes, so that the sanitizers detect accesses beyond them.
  const std::vector<uint8_t> blocks(data + 1, data + 1 + n_blocks * type.block_bytes);
  std::vector<float> expected(n_blocks * type.block_size), got(expected.size());
  find_reference(type.id)(blocks.data(), expected.data(), n_blocks);
  kernels.dequantize(blocks.data(), got.data(), n_blocks);
  for (size_t i = 0; i < got.size(); ++i)
    if (std::bit_cast<uint32_t>(got[i]) != std::bit_cast<uint32_t>(expected[i]) &&
        !(std::isnan(got[i]) && std::isnan(expected[i])))
      std::abort();
  if (const SmallBlockKernels* small = find_small_block_kernels(type.id); small != nullptr) {
    const size_t n_small = blocks.size() / small_block_bytes(type.id);
    std::vector<float> floats(n_small * kSmallBlock);
    small->dequantize(blocks.data(), floats.data(), n_small);
    look_at(type.id, blocks, floats, n_small, true);
  }
  look_at(type.id, blocks, got, n_blocks, false);
  return 0;
}
