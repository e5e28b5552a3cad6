#include "quant/lanes.hpp"

#include "quant/iq_grids.hpp"

namespace ggufscope {

const ByteMasks& byte_masks() {
  static const ByteMasks masks = [] {
    ByteMasks m;
    for (uint32_t bits = 0; bits < 256; ++bits) {
      m.of_8[bits] = 0;
      for (uint32_t k = 0; k < 8; ++k)
        if ((bits >> k & 1u) != 0) m.of_8[bits] |= uint64_t{255} << (8 * k);
    }
    for (uint32_t bits = 0; bits < 128; ++bits) m.of_even_7[bits] = m.of_8[even_signs(bits)];
    return m;
  }();
  return masks;
}

}  // namespace ggufscope
