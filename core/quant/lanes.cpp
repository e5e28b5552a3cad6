// The bytes that the bits of a sign mask stand for, as tables.
#include "quant/lanes.hpp"

#include "quant/iq_grids.hpp"

namespace ggufscope {
namespace {

constexpr ByteMasks kMasks = [] {
  ByteMasks m{};
  for (uint32_t bits = 0; bits < 256; ++bits)
    for (uint32_t k = 0; k < 8; ++k)
      if ((bits >> k & 1u) != 0) m.of_8[bits] |= uint64_t{255} << (8 * k);
  for (uint32_t bits = 0; bits < 128; ++bits) m.of_even_7[bits] = m.of_8[even_signs(bits)];
  return m;
}();

}  // namespace

const ByteMasks& byte_masks() { return kMasks; }

}  // namespace ggufscope
