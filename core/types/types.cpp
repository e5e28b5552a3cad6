#include "types/types.hpp"

#include <array>

namespace ggufscope {
namespace {

// clang-format off
constexpr std::array kTypes = {
    TypeGeometry{0, "F32", 1, 4, false},
    TypeGeometry{1, "F16", 1, 2, false},
    TypeGeometry{2, "Q4_0", 32, 18, false},
    TypeGeometry{3, "Q4_1", 32, 20, false},
    TypeGeometry{4, "Q4_2", 0, 0, true},
    TypeGeometry{5, "Q4_3", 0, 0, true},
    TypeGeometry{6, "Q5_0", 32, 22, false},
    TypeGeometry{7, "Q5_1", 32, 24, false},
    TypeGeometry{8, "Q8_0", 32, 34, false},
    TypeGeometry{9, "Q8_1", 32, 36, false},
    TypeGeometry{10, "Q2_K", 256, 84, false},
    TypeGeometry{11, "Q3_K", 256, 110, false},
    TypeGeometry{12, "Q4_K", 256, 144, false},
    TypeGeometry{13, "Q5_K", 256, 176, false},
    TypeGeometry{14, "Q6_K", 256, 210, false},
    TypeGeometry{15, "Q8_K", 256, 292, false},
    TypeGeometry{16, "IQ2_XXS", 256, 66, false},
    TypeGeometry{17, "IQ2_XS", 256, 74, false},
    TypeGeometry{18, "IQ3_XXS", 256, 98, false},
    TypeGeometry{19, "IQ1_S", 256, 50, false},
    TypeGeometry{20, "IQ4_NL", 32, 18, false},
    TypeGeometry{21, "IQ3_S", 256, 110, false},
    TypeGeometry{22, "IQ2_S", 256, 82, false},
    TypeGeometry{23, "IQ4_XS", 256, 136, false},
    TypeGeometry{24, "I8", 1, 1, false},
    TypeGeometry{25, "I16", 1, 2, false},
    TypeGeometry{26, "I32", 1, 4, false},
    TypeGeometry{27, "I64", 1, 8, false},
    TypeGeometry{28, "F64", 1, 8, false},
    TypeGeometry{29, "IQ1_M", 256, 56, false},
    TypeGeometry{30, "BF16", 1, 2, false},
    TypeGeometry{31, "Q4_0_4_4", 0, 0, true},
    TypeGeometry{32, "Q4_0_4_8", 0, 0, true},
    TypeGeometry{33, "Q4_0_8_8", 0, 0, true},
    TypeGeometry{34, "TQ1_0", 256, 54, false},
    TypeGeometry{35, "TQ2_0", 256, 66, false},
    TypeGeometry{36, "IQ4_NL_4_4", 0, 0, true},
    TypeGeometry{37, "IQ4_NL_4_8", 0, 0, true},
    TypeGeometry{38, "IQ4_NL_8_8", 0, 0, true},
    TypeGeometry{39, "MXFP4", 32, 17, false},
    TypeGeometry{40, "NVFP4", 64, 36, false},
    TypeGeometry{41, "Q1_0", 128, 18, false},
    TypeGeometry{42, "Q2_0", 64, 18, false},
};

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
  constexpr uint32_t first = static_cast<uint32_t>(TypeId::kQ2_K);
  constexpr uint32_t bytes[] = {24, 28, 38, 46, 54, 76};  // Q2_K to Q6_K, Q8_K
  return id >= first && id - first < std::size(bytes) ? bytes[id - first] : 0;
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
