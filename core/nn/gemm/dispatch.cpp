// Dispatch: which micro-kernel multiplies a format, and the loop over row groups and tiles that calls it.
#include "nn/gemm/dispatch.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nn/gemm/formats.hpp"
#include "nn/gemm/int8_dot.hpp"
#include "nn/gemm/microkernel.hpp"

namespace ggufscope {
namespace {

// The CPU's int8 dot product. kSaturatingUint8 saturates, and its two-product form takes uint8 operands.
enum class Cpu : uint8_t { kNoInt8Dot, kSaturating, kSaturatingUint8, kSigned, kUnsigned };
constexpr size_t kCpus = 5, kCodeTypes = 7;

/// How codes of one type are multiplied on one CPU.
struct Choice {
  bool possible = false;
  DotKind decode{}, batch{};  ///< for one token (GEMV), for several (GEMM)
  bool prefill = false;       ///< use prefill.cpp from kPrefillTokens on, except for formats with a stored minimum
};

// The choice of every kernel, by CPU and code type. An empty cell means that the format is not used on that CPU: its
// type has another row in types.inc.
constexpr auto kChoices = [] {
  using enum DotKind;
  std::array<std::array<Choice, kCodeTypes>, kCpus> table{};
  const auto set = [&](Cpu cpu, CodeType codes, DotKind decode, DotKind batch, bool prefill = false) {
    table[static_cast<size_t>(cpu)][static_cast<size_t>(codes)] = {true, decode, batch, prefill};
  };
  // clang-format off
  //  CPU                     codes            decode         batch          prefill.cpp
  set(Cpu::kSigned,           CodeType::kU4,   kInt8x4,       kInt8x4);
  set(Cpu::kSigned,           CodeType::kU5,   kInt8x4,       kInt8x4);
  set(Cpu::kSigned,           CodeType::kU6,   kInt8x4,       kInt8x4);
  set(Cpu::kSigned,           CodeType::kU7,   kInt8x4,       kInt8x4);
  set(Cpu::kSigned,           CodeType::kI8,   kInt8x4,       kInt8x4);

  set(Cpu::kUnsigned,         CodeType::kU4,   kInt8x4Packed, kInt8x4Packed);
  set(Cpu::kUnsigned,         CodeType::kU5,   kInt8x4,       kInt8x4);
  set(Cpu::kUnsigned,         CodeType::kU6,   kInt8x4,       kInt8x4);
  set(Cpu::kUnsigned,         CodeType::kU7,   kInt8x4,       kInt8x4);
  set(Cpu::kUnsigned,         CodeType::kU8,   kInt8x4,       kInt8x4);

  for (const Cpu cpu : {Cpu::kSaturating, Cpu::kSaturatingUint8}) {
    set(cpu,                  CodeType::kU4,   kInt8x2,       kInt8x2);
    set(cpu,                  CodeType::kU5,   kInt8x2,       kInt8x2);
    set(cpu,                  CodeType::kU6,   kInt8x2,       kInt8x2Wide,  true);
    set(cpu,                  CodeType::kU7,   kInt8x2Wide,   kInt8x2Wide,  true);
  }
  set(Cpu::kSaturating,       CodeType::kU8,   kInt16,        kInt16,       true);
  set(Cpu::kSaturatingUint8,  CodeType::kU8,   kInt8x2Split,  kInt16,       true);

  for (const CodeType codes : {CodeType::kU4, CodeType::kU5, CodeType::kU6, CodeType::kU7, CodeType::kU8})
    set(Cpu::kNoInt8Dot,      codes,           kInt16,        kInt16,       true);

  for (size_t cpu = 0; cpu < kCpus; ++cpu)
    set(static_cast<Cpu>(cpu), CodeType::kI16, kBfp16,        kBfp16);
  // clang-format on
  return table;
}();
constexpr const Choice& choice_of(const PackedFormat& f, Cpu cpu) {
  return kChoices[static_cast<size_t>(cpu)][static_cast<size_t>(f.code_type)];
}

// The CPUs on which a build can run, or which its tests emulate.
#if defined(__wasm_relaxed_simd__)
constexpr std::array kBuildCpus{Cpu::kSaturating, Cpu::kSaturatingUint8, Cpu::kSigned, Cpu::kUnsigned};
#elif defined(__wasm_simd128__)
constexpr std::array kBuildCpus{Cpu::kNoInt8Dot};
#else
constexpr std::array kBuildCpus{Cpu::kSaturating, Cpu::kSigned};
#endif

static_assert(std::ranges::all_of(kBuildCpus,
                                  [](Cpu cpu) {
                                    return std::ranges::all_of(kFormats, [&](const PackedFormat& f) {
                                      return std::ranges::any_of(kFormats, [&](const PackedFormat& g) {
                                        return g.type == f.type && choice_of(g, cpu).possible;
                                      });
                                    });
                                  }),
              "a type without a kernel on some CPU");

Cpu cpu_in_use() {
  switch (int8_dot()) {
    case Int8Dot::kSigned:
      return Cpu::kSigned;
    case Int8Dot::kUnsigned:
      return Cpu::kUnsigned;
    case Int8Dot::kSaturating:
      return int8x2_is_unsigned() ? Cpu::kSaturatingUint8 : Cpu::kSaturating;
    case Int8Dot::kNone:
      break;
  }
  return Cpu::kNoInt8Dot;
}

// Kernels are called by pointer. If all were inlined into one function, V8 would optimize it late and badly.
using Kernel = void (*)(const PackedFormat& f, const uint8_t* group, size_t step, size_t n_in, const uint8_t* tile,
                        Beta beta, float* y, size_t y_stride, size_t n_rows);
struct Kernels {
  Kernel tokens[kTileTokens];  ///< for a tile of 1, 2, ... tokens
  Kernel decode;               ///< for a single token; one row group
  Kernel streams[std::size(kMemoryStreams)];
};
// A tile of one token uses the decode kernel if that has the same layout of activations.
template <KernelSpec Decode, KernelSpec Batch,
          KernelSpec One = activation_layout(Decode.dot) == activation_layout(Batch.dot) ? Decode : Batch>
constexpr Kernels kKernels{
    {microkernel<One, 1, 1>, microkernel<Batch, 2, 1>, microkernel<Batch, 3, 1>, microkernel<Batch, 4, 1>},
    microkernel<Decode, 1, 1>,
    {microkernel<Decode, 1, kMemoryStreams[0]>, microkernel<Decode, 1, kMemoryStreams[1]>}};

constexpr KernelSpec spec_of(const PackedFormat& f, DotKind dot) {
  return {f.super, f.bits, f.half_scales, f.sub, f.correction, f.has_table, dot};
}

// The kernels of every format, then of every wide format, on each CPU. Formats with the same shape share functions.
using KernelTable = std::array<std::array<const Kernels*, kCpus>, 2 * std::size(kFormats)>;
template <size_t Row, Cpu C>
constexpr const Kernels* kernels_of() {
  constexpr size_t kRows = std::size(kFormats);
  constexpr PackedFormat kFormat = Row < kRows ? kFormats[Row] : kWideFormats[Row - kRows];
  constexpr Choice kChoice = choice_of(kFormat, C);
  if constexpr (kChoice.possible)
    return &kKernels<spec_of(kFormat, kChoice.decode), spec_of(kFormat, kChoice.batch)>;
  else
    return nullptr;
}
constexpr KernelTable kKernelTable = []<size_t... Row>(std::index_sequence<Row...>) {
  KernelTable table{};
  const auto fill = [&]<Cpu C>() { ((table[Row][static_cast<size_t>(C)] = kernels_of<Row, C>()), ...); };
  [&]<size_t... I>(std::index_sequence<I...>) { (fill.template operator()<kBuildCpus[I]>(), ...); }
  (std::make_index_sequence<kBuildCpus.size()>());
  return table;
}
(std::make_index_sequence<2 * std::size(kFormats)>());

const Kernels& find_kernels_of(const PackedFormat& f) {
  const size_t row = &f >= kFormats && &f < std::end(kFormats)
                         ? static_cast<size_t>(&f - kFormats)
                         : std::size(kFormats) + static_cast<size_t>(&f - kWideFormats.data());
  return *kKernelTable[row][static_cast<size_t>(cpu_in_use())];
}

size_t g_streams = 0;  // index into kMemoryStreams

}  // namespace

const PackedFormat* find_packed_format(uint32_t type) {
  const Cpu cpu = cpu_in_use();
  for (const PackedFormat& f : kFormats)
    if (f.type == type && choice_of(f, cpu).possible) return &f;
  return nullptr;
}

ActivationQuant activation_quant(const PackedFormat& f, size_t n_tokens) {
  const Choice& choice = choice_of(f, cpu_in_use());
  const bool prefill = choice.prefill && n_tokens >= kPrefillTokens && !f.stores_e();
  return {f.super ? kSuperHalf : static_cast<uint16_t>(f.block()),
          prefill ? ActivationLayout::kPrefill : activation_layout(n_tokens == 1 ? choice.decode : choice.batch)};
}

void use_memory_streams(size_t index) { g_streams = index; }

size_t memory_streams_in_use() { return g_streams; }

void gemm_groups(const PackedFormat& f, const uint8_t* groups, size_t n_groups, const Panel& panel,
                 ActivationQuant quant, const uint8_t* tiles, size_t tile_bytes, size_t n_tokens, float* y,
                 size_t y_stride, size_t n_rows) {
  if (quant.layout == ActivationLayout::kPrefill)
    return gemm_prefill(f, groups, n_groups, panel, quant, tiles, tile_bytes, n_tokens, y, y_stride, n_rows);
  const Kernels& kernels = find_kernels_of(f);
  const Beta beta = panel.first == 0 ? Beta::kZero : Beta::kOne;
  const size_t group_bytes = packed_group_bytes(f, panel.n);
  const bool decode = n_tokens == 1 && quant == activation_quant(f, 1);
  const size_t streams = kMemoryStreams[g_streams], step = decode ? n_groups / streams : 0;
  for (size_t group = 0; group < n_groups; ++group) {
    if (group == step) group = step * streams;
    if (group == n_groups) break;
    const size_t row = group * kGroupRows;
    // All tiles of a prompt are multiplied by one row group, which stays in L1, before the next group.
    for (size_t t = 0; t < n_tokens; t += kTileTokens) {
      const size_t n = std::min(kTileTokens, n_tokens - t);
      const Kernel kernel = group < step ? kernels.streams[g_streams] : decode ? kernels.decode : kernels.tokens[n - 1];
      kernel(f, groups + group * group_bytes, step, panel.n,
             tiles + t / kTileTokens * tile_bytes + activation_offset(quant, panel.first, n), beta,
             y + t * y_stride + row, y_stride, n_rows - row);
    }
  }
}

}  // namespace ggufscope
