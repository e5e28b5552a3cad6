// The kernels of a plan as tables and types, built from kernels.inc and streams.inc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ggufscope::gpu {

enum class Kernel : uint8_t {
#define GGUFSCOPE_KERNEL(kernel, name, n_bindings) kernel,
#include "gpu/kernels.inc"
};

/// Bits of Variant::flags.
enum Flag : uint32_t {
#define GGUFSCOPE_FLAG(name, bit) name = uint32_t{1} << bit,
#include "gpu/kernels.inc"
};

/// What mat_vec and mat_mul do with their outputs.
enum class Epilogue : uint8_t { kStore, kAdd, kGate, kActivate };

enum class Access : uint8_t { kRead, kReadWrite };

struct BindingRow {
  Kernel kernel;
  uint8_t index;  ///< 0 is the parameters' uniform buffer
  std::string_view name;
  Access access;
  std::string_view element;  ///< "u32" or "f32"
};
struct KernelRow {
  std::string_view name;
  uint8_t n_bindings;  ///< with the parameters
};
struct FlagRow {
  std::string_view name;
  uint32_t bit;
};
[[nodiscard]] std::span<const KernelRow> kernel_rows();  ///< row i is Kernel i
[[nodiscard]] std::span<const BindingRow> binding_rows();
[[nodiscard]] std::span<const FlagRow> flag_rows();

inline constexpr uint32_t kAbsent = UINT32_MAX;  ///< of a parameter that is an index
inline constexpr size_t kMaxBindings = 8;        ///< of a kernel, with the parameters
inline constexpr size_t kMaxMatrices = 4;        ///< of a product

// What a workgroup computes. The grids of a plan use these numbers, so the WGSL kernels take them from here.
inline constexpr uint32_t kMatVecRows = 16;   ///< outputs of one matrix (kGate: half of them of each)
inline constexpr uint32_t kMaxColumns = 8;    ///< tokens that the decode list computes at once, at most
inline constexpr uint32_t kTileOutputs = 64;  ///< mat_mul
inline constexpr uint32_t kTileRows = 32;
inline constexpr uint32_t kTokensAttended = 8;  ///< attend_rows
inline constexpr uint32_t kSplitCells = 64;     ///< the cells of a split are a multiple of this
inline constexpr uint32_t kMaxSplits = 64;
inline constexpr uint32_t kMaxHeadsTogether = 4;   ///< attend_splits: query heads of a workgroup
inline constexpr uint32_t kMaxQueryFloats = 2304;  ///< attend_splits: of these heads
inline constexpr uint32_t kScanStates = 16;        ///< scan: numbers of a state that it keeps at once
inline constexpr uint32_t kMaxExperts = 1024;      ///< choose_experts
inline constexpr uint32_t kMaxInFlight = 3;        ///< passes on their way at once

/// Parameters of embed, norm_rows, mat_vec, mat_mul and argmax. See kernels.inc.
struct RowsParameters {
#define GGUFSCOPE_ROWS(type, name) type name = 0;
#include "gpu/kernels.inc"
};
struct MatrixParameters {
#define GGUFSCOPE_MATRIX(type, name) type name = 0;
#include "gpu/kernels.inc"
};
/// Parameters of the attention kernels.
struct HeadsParameters {
#define GGUFSCOPE_HEADS(type, name) type name = 0;
#include "gpu/kernels.inc"
};
struct ChoiceParameters {
#define GGUFSCOPE_CHOICE(type, name) type name = 0;
#include "gpu/kernels.inc"
};
/// Parameters of the kernels of recurrent layers.
struct MixParameters {
#define GGUFSCOPE_MIX(type, name) type name = 0;
#include "gpu/kernels.inc"
};
inline constexpr size_t kMatrixWord = 32;   ///< of the first MatrixParameters, behind RowsParameters
inline constexpr size_t kMatrixWords = 12;  ///< from one to the next
/// Each dispatch has so many words of Plan::parameters, zero-padded: 512 bytes, a multiple of what offsets of uniform
/// buffers must be.
inline constexpr size_t kParameterWords = 128;
static_assert(sizeof(RowsParameters) <= kMatrixWord * 4 && sizeof(MatrixParameters) <= kMatrixWords * 4);
static_assert(kMatrixWord + kMaxMatrices * kMatrixWords <= kParameterWords);

/// A range of a block of the file.
struct BlockRange {
  uint16_t offset, bytes;
};
/// What a stream holds of a block.
struct Stream {
  std::array<BlockRange, 2> ranges{};
  [[nodiscard]] constexpr uint32_t bytes() const { return uint32_t{ranges[0].bytes} + ranges[1].bytes; }
};
struct StreamsRow {
  uint32_t type;
  Stream quants, middles, scales;
};
[[nodiscard]] std::span<const StreamsRow> stream_rows();
/// nullptr: the type has no layout on the GPU.
[[nodiscard]] const StreamsRow* find_streams(uint32_t type);

}  // namespace ggufscope::gpu
