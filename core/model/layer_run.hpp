// Layers of an encoder of images or audio whose rows something else may compute, such as a device.
#pragma once

#include <cstdint>
#include <span>

#include "nn/attention.hpp"

namespace ggufscope {

/// From the layer that is the encoder's next step up to one after which the encoder itself reads the rows. They are the
/// input, and are replaced by the output. Each row attends to cells, which are rows.
struct LayerRun {
  uint32_t first = 0, end = 0;  ///< equal: the next step is no layer
  size_t n_rows = 0;
  std::span<float> rows;                                   ///< [n_rows, n_embd]
  std::span<const std::span<const CellRun>> all, windows;  ///< what each row sees, in layers of each kind
  size_t half = 0;                                         ///< pairs of elements of a head that are rotated
  std::span<const float> cosines, sines;                   ///< [n, half] of the first rows; others are not rotated
  [[nodiscard]] explicit operator bool() const { return first != end; }
};

}  // namespace ggufscope
