#include "gguf/ftype.hpp"

#include <array>

#include "types/types.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t id(TypeId type) { return static_cast<uint32_t>(type); }

using enum TypeId;

// clang-format off
constexpr std::array kFileTypes = {
    FileType{0, "F32", id(kF32), false},
    FileType{1, "F16", id(kF16), false},
    FileType{2, "Q4_0", id(kQ4_0), false},
    FileType{3, "Q4_1", id(kQ4_1), false},
    FileType{4, "Q4_1_SOME_F16", id(kQ4_1), true},
    FileType{5, "Q4_2", 4, true},
    FileType{6, "Q4_3", 5, true},
    FileType{7, "Q8_0", id(kQ8_0), false},
    FileType{8, "Q5_0", id(kQ5_0), false},
    FileType{9, "Q5_1", id(kQ5_1), false},
    FileType{10, "Q2_K", id(kQ2_K), false},
    FileType{11, "Q3_K_S", id(kQ3_K), false},
    FileType{12, "Q3_K_M", id(kQ3_K), false},
    FileType{13, "Q3_K_L", id(kQ3_K), false},
    FileType{14, "Q4_K_S", id(kQ4_K), false},
    FileType{15, "Q4_K_M", id(kQ4_K), false},
    FileType{16, "Q5_K_S", id(kQ5_K), false},
    FileType{17, "Q5_K_M", id(kQ5_K), false},
    FileType{18, "Q6_K", id(kQ6_K), false},
    FileType{19, "IQ2_XXS", id(kIQ2_XXS), false},
    FileType{20, "IQ2_XS", id(kIQ2_XS), false},
    FileType{21, "Q2_K_S", id(kQ2_K), false},
    FileType{22, "IQ3_XS", id(kIQ3_S), false},
    FileType{23, "IQ3_XXS", id(kIQ3_XXS), false},
    FileType{24, "IQ1_S", id(kIQ1_S), false},
    FileType{25, "IQ4_NL", id(kIQ4_NL), false},
    FileType{26, "IQ3_S", id(kIQ3_S), false},
    FileType{27, "IQ3_M", id(kIQ3_S), false},
    FileType{28, "IQ2_S", id(kIQ2_XS), false},
    FileType{29, "IQ2_M", id(kIQ2_S), false},
    FileType{30, "IQ4_XS", id(kIQ4_XS), false},
    FileType{31, "IQ1_M", id(kIQ1_M), false},
    FileType{32, "BF16", id(kBF16), false},
    FileType{33, "Q4_0_4_4", 31, true},
    FileType{34, "Q4_0_4_8", 32, true},
    FileType{35, "Q4_0_8_8", 33, true},
    FileType{36, "TQ1_0", id(kTQ1_0), false},
    FileType{37, "TQ2_0", id(kTQ2_0), false},
    FileType{38, "MXFP4_MOE", id(kMXFP4), false},
    FileType{39, "NVFP4", id(kNVFP4), false},
    FileType{40, "Q1_0", id(kQ1_0), false},
    FileType{41, "Q2_0", id(kQ2_0), false},
};
// clang-format on

static_assert(ids_are_indices(kFileTypes));

}  // namespace

std::span<const FileType> file_types() { return kFileTypes; }

const FileType* find_file_type(uint32_t file_type) {
  file_type &= ~kFileTypeGuessed;
  return file_type < kFileTypes.size() ? &kFileTypes[file_type] : nullptr;
}

}  // namespace ggufscope
