// Collects the rows of all formats.
#include "nn/gemm/formats.hpp"

namespace ggufscope {

std::span<const PackedFormat> all_packed_formats() { return kFormats; }

const PackedFormat& wide_format(const PackedFormat& f) {
  return !f.half_scales ? f : kWideFormats[static_cast<size_t>(&f - kFormats)];
}

}  // namespace ggufscope
