// Quantizers must write complete blocks for any floats and weights, and access nothing outside. Input: a type id and
// whether there is importance, then floats.
#include <cmath>
#include <cstring>
#include <vector>

#include "quant/registry.hpp"
#include "types/types.hpp"

using namespace ggufscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const QuantKernels& kernels = all_kernels()[data[0] % all_kernels().size()];
  const TypeGeometry& type = *find_type(kernels.type);
  const Quantizer quantizer = find_quantizer(type.id);
  if (quantizer.quantize == nullptr) return 0;
  const bool weighted = quantizer.needs_importance || data[1] % 2 != 0;
  const size_t n = (size - 2) / sizeof(float) / type.block_size * type.block_size;
  std::vector<float> source(n), importance(type.block_size);
  if (n > 0) std::memcpy(source.data(), data + 2, n * sizeof(float));
  for (size_t i = 0; i < importance.size(); ++i) importance[i] = n == 0 ? 1.0f : std::fabs(source[i]);
  std::vector<uint8_t> blocks(n / type.block_size * type.block_bytes);
  quantizer.quantize(source.data(), blocks.data(), n / type.block_size, weighted ? importance.data() : nullptr, 1);
  std::vector<float> back(n);
  kernels.dequantize(blocks.data(), back.data(), n / type.block_size);
  return 0;
}
