// Weights of any type for tests: random blocks whose values are finite and of ordinary size.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope::test {

struct RandomWeights {
  uint32_t type;
  size_t n_in, n_out;
  std::vector<uint8_t> bytes;  ///< in the file's layout
  std::vector<float> values;   ///< dequantized by the reference
};

inline std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> out(n);
  for (float& value : out) value = static_cast<float>(static_cast<int32_t>(random() >> 8)) * 0x1p-23f - 1.0f;
  return out;
}

/// Values below `limit`.
inline RandomWeights random_weights(uint32_t type, size_t n_in, size_t n_out, uint32_t seed, float limit = 1e4f) {
  const TypeGeometry& geometry = *find_type(type);
  const DequantizeFn dequantize = find_reference(type);
  RandomWeights w{type, n_in, n_out, {}, {}};
  w.values.resize(n_in * n_out);
  const size_t n_blocks = w.values.size() / geometry.block_size;
  w.bytes.resize(n_blocks * geometry.block_bytes);
  std::mt19937 random(seed);
  for (size_t b = 0; b < n_blocks; ++b) {
    uint8_t* block = w.bytes.data() + b * geometry.block_bytes;
    float* values = w.values.data() + b * geometry.block_size;
    for (bool ordinary = false; !ordinary;) {
      for (uint32_t i = 0; i < geometry.block_bytes; ++i) block[i] = static_cast<uint8_t>(random() >> 24);
      dequantize(block, values, 1);
      ordinary = true;
      for (uint32_t i = 0; i < geometry.block_size; ++i)
        ordinary = ordinary && std::isfinite(values[i]) && std::abs(values[i]) < limit;
      if (type == static_cast<uint32_t>(TypeId::kI64) || type == static_cast<uint32_t>(TypeId::kI32)) {
        for (uint32_t i = 2; i < geometry.block_bytes; ++i) block[i] = 0;
        dequantize(block, values, 1);
        ordinary = true;
      }
    }
  }
  return w;
}

}  // namespace ggufscope::test
