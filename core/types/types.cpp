// The table of types, built from types.inc.
#include "types/types.hpp"

#include <array>

namespace ggufscope {
namespace {

constexpr std::array kTypes = {
#define GGUFSCOPE_TYPE(id, name, block_size, block_bytes, removed) \
  TypeGeometry{id, name, block_size, block_bytes, removed},
#include "types/types.inc"
};

// clang-format off
constexpr std::array kLegacyTypes = {
    TypeGeometry{1002, "Q4_0_V1", 32, 20, true},
    TypeGeometry{1003, "Q4_1_V1", 32, 24, true},
    TypeGeometry{1004, "Q4_2_V1", 16, 10, true},
    TypeGeometry{1005, "Q4_3_V1", 16, 12, true},
    TypeGeometry{1006, "Q5_0_V1", 32, 22, true},
    TypeGeometry{1007, "Q5_1_V1", 32, 24, true},
    TypeGeometry{1008, "Q8_0_V1", 32, 36, true},
    TypeGeometry{2002, "Q4_0_V2", 32, 20, true},
    TypeGeometry{2003, "Q4_1_V2", 32, 24, true},
};
// clang-format on

static_assert(ids_are_indices(kTypes));

}  // namespace

std::span<const TypeGeometry> all_types() { return kTypes; }

std::span<const TypeGeometry> legacy_types() { return kLegacyTypes; }

uint32_t legacy_type(uint32_t id, uint32_t era) {
  if (era == 0 && id >= 2 && id <= 8) return 1000 + id;
  if (era == 1 && (id == 2 || id == 3)) return 2000 + id;
  return era == 1 && id == 8 ? 1008 : id;
}

uint32_t small_block_bytes(uint32_t id) {
  switch (static_cast<TypeId>(id)) {
#define GGUFSCOPE_SMALL_BLOCK(type, bytes) \
  case TypeId::type:                       \
    return bytes;
#include "types/types.inc"
    default:
      return 0;
  }
}

const TypeGeometry* find_gguf_type(uint32_t id) { return id < kTypes.size() ? &kTypes[id] : nullptr; }

const TypeGeometry* find_type(uint32_t id) {
  if (const TypeGeometry* type = find_gguf_type(id)) return type;
  for (const TypeGeometry& type : kLegacyTypes)
    if (type.id == id) return &type;
  return nullptr;
}

const TypeGeometry* find_type(std::string_view name) {
  for (const std::span<const TypeGeometry> types : {all_types(), legacy_types()})
    for (const TypeGeometry& type : types)
      if (type.name == name) return &type;
  return nullptr;
}

}  // namespace ggufscope
