// The geometry of every ggml type: elements and bytes in a block. Sources: ggml.h and ggml-common.h of ggml 0.27. An id
// that is not listed is an unknown type, not an error.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ggufscope {

// The ids that code refers to by name. All other types are only data.
enum class TypeId : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ8_1 = 9,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kQ8_K = 15,
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kIQ1_M = 29,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
  kNVFP4 = 40,
  kQ1_0 = 41,
  kQ2_0 = 42,
};

struct TypeGeometry {
  uint32_t id;
  std::string_view name;  ///< as in ggml's enum: "Q4_K", "IQ2_XXS"
  uint32_t block_size;    ///< elements in a block; 0: removed from ggml, the layout is no longer defined
  uint32_t block_bytes;   ///< bytes in a block
  bool removed;
};

/// All types; row i has the id i.
[[nodiscard]] std::span<const TypeGeometry> all_types();

/// Block layouts of 2023 that only the containers before GGUF have. Their ids are ours: 1000 + ggml's id for layouts
/// before 2023-05-12, in which neighbouring elements share a byte; 2000 + id for layouts before 2023-05-19, in which
/// only the scale differs (f32).
[[nodiscard]] std::span<const TypeGeometry> legacy_types();

/// The type of a tensor with this id in a file of era 0 (before 2023-05-12), 1 (before 2023-05-19) or 2 (later).
[[nodiscard]] uint32_t legacy_type(uint32_t id, uint32_t era);

/// Bytes in a super-block of 64 elements, which the K types had in ggml built with QK_K = 64 (until May 2024); 0 for
/// other types. Only the tensors' offsets show that a file uses them.
[[nodiscard]] uint32_t small_block_bytes(uint32_t id);
inline constexpr uint32_t kSmallBlock = 64;

/// True if row i of a table has id i, so that an id can be used as index.
consteval bool ids_are_indices(const auto& rows) {
  for (uint32_t i = 0; i < rows.size(); ++i)
    if (rows[i].id != i) return false;
  return true;
}

/// nullptr for an unknown id. Also finds legacy_types().
[[nodiscard]] const TypeGeometry* find_type(uint32_t id);
/// The type of a tensor in a GGUF file. The ids of legacy_types() count as unknown there.
[[nodiscard]] const TypeGeometry* find_gguf_type(uint32_t id);
[[nodiscard]] const TypeGeometry* find_type(std::string_view name);

}  // namespace ggufscope
