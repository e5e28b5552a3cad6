// Parts of a model's layers as pairs of numbers from JavaScript.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/probe.hpp"

namespace ggufscope {

/// pairs [n, 2]: a layer and a head, or -1 for the whole layer.
inline std::vector<LayerPart> layer_parts(const int32_t* pairs, size_t n) {
  std::vector<LayerPart> parts(n);
  for (size_t i = 0; i < n; ++i)
    parts[i] = {static_cast<uint32_t>(pairs[2 * i]), static_cast<uint32_t>(pairs[2 * i + 1])};
  return parts;
}

}  // namespace ggufscope
