// The tables of kernels and streams, and the look-ups in them.
#include "gpu/kernels.hpp"

#include "types/types.hpp"

namespace ggufscope::gpu {
namespace {

constexpr KernelRow kKernels[] = {
#define GGUFSCOPE_KERNEL(kernel, name, n_bindings) {#name, n_bindings},
#include "gpu/kernels.inc"
};

namespace access {
constexpr Access read = Access::kRead, read_write = Access::kReadWrite;
}
constexpr BindingRow kBindings[] = {
#define GGUFSCOPE_BINDING(kernel, index, name, how, element) {Kernel::kernel, index, #name, access::how, #element},
#include "gpu/kernels.inc"
};

constexpr FlagRow kFlags[] = {
#define GGUFSCOPE_FLAG(name, bit) {#name, bit},
#include "gpu/kernels.inc"
};

constexpr StreamsRow kStreams[] = {
#define R(offset, bytes) \
  BlockRange { offset, bytes }
#define S(...)      \
  Stream {          \
    { __VA_ARGS__ } \
  }
#define GGUFSCOPE_STREAM(type, quants, middles, scales) {static_cast<uint32_t>(TypeId::type), quants, middles, scales},
#include "gpu/streams.inc"
#undef R
#undef S
};

}  // namespace

std::span<const KernelRow> kernel_rows() { return kKernels; }
std::span<const BindingRow> binding_rows() { return kBindings; }
std::span<const FlagRow> flag_rows() { return kFlags; }
std::span<const StreamsRow> stream_rows() { return kStreams; }

const StreamsRow* find_streams(uint32_t type) {
  for (const StreamsRow& row : kStreams)
    if (row.type == type) return &row;
  return nullptr;
}

}  // namespace ggufscope::gpu
