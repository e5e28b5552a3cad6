#include "nn/gemm/formats.hpp"

#include "nn/gemm/int8_dot.hpp"

namespace ggufscope {

std::span<const PackedFormat> all_packed_formats() { return kFormats; }

const PackedFormat* find_packed_format(uint32_t type) {
  for (const PackedFormat& f : kFormats)
    if (f.type == type && (f.code_type != CodeType::kI8 || int8_dot() == Int8Dot::kSigned)) return &f;
  return nullptr;
}

const PackedFormat& wide_format(const PackedFormat& f) {
  return !f.half_scales ? f : kWideFormats[static_cast<size_t>(&f - kFormats)];
}

}  // namespace ggufscope
