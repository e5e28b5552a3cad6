// The table of formats: one row a type, or several where the CPU's int8 dot product decides. format.hpp has the
// columns. Part of formats.cpp and dispatch.cpp.
#pragma once

#include <array>

#include "nn/gemm/unpack.hpp"
#include "quant/block.hpp"
#include "types/types.hpp"

namespace ggufscope {

// The values of IQ2's and IQ3_XXS's codes: magnitudes of the codebooks, the negative ones first.
inline constexpr int8_t kIq2Values[16] = {-43, -25, -8, 8, 25, 43};
inline constexpr int8_t kIq3Values[16] = {-62, -52, -44, -36, -28, -20, -12, -4, 4, 12, 20, 28, 36, 44, 52, 62};

// A table with a bias added, so that its values are unsigned.
constexpr std::array<int8_t, 16> biased(const int8_t (&values)[16], int by) {
  std::array<int8_t, 16> table{};
  for (size_t i = 0; i < 16; ++i) table[i] = static_cast<int8_t>(static_cast<uint8_t>(values[i] + by));
  return table;
}
inline constexpr auto kIq4Biased = biased(kIq4Values, 128), kIq2Biased = biased(kIq2Values, 128),
                      kIq3Biased = biased(kIq3Values, 128);
// With the least bias, so that values are CodeType::kU7.
inline constexpr auto kIq2Biased43 = biased(kIq2Values, 43), kE2m1Biased = biased(kE2m1Doubled, 12);

template <TypeId Id>
inline constexpr uint32_t kId = static_cast<uint32_t>(Id);

// clang-format off
// Where a type has several rows, the first that the CPU can multiply is its format.
inline constexpr PackedFormat kFormats[] = {
    //                       super  bits half   sub correction          offset table               code type           unpack
    {kId<TypeId::kF16>,        false,  16,   true,   16,  Correction::kNone,      0,    nullptr,              CodeType::kI16,  unpack_f16},
    {kId<TypeId::kBF16>,       false,  16,   false,  16,  Correction::kNone,      0,    nullptr,              CodeType::kI16,  unpack_bf16},
    {kId<TypeId::kQ4_0>,       false,  4,    true,   32,  Correction::kOffset,    8,    nullptr,              CodeType::kU4,   unpack_q4_0},
    {kId<TypeId::kQ4_1>,       false,  4,    true,   32,  Correction::kStored,    0,    nullptr,              CodeType::kU4,   unpack_q4_1},
    {kId<TypeId::kQ5_0>,       false,  8,    true,   32,  Correction::kOffset,    16,   nullptr,              CodeType::kU5,   unpack_q5_0},
    {kId<TypeId::kQ5_1>,       false,  8,    true,   32,  Correction::kStored,    0,    nullptr,              CodeType::kU5,   unpack_q5_1},
    {kId<TypeId::kQ8_0>,       false,  8,    true,   32,  Correction::kNone,      0,    nullptr,              CodeType::kI8,   unpack_q8_0},
    {kId<TypeId::kQ8_0>,       false,  8,    true,   32,  Correction::kOffset,    128,  nullptr,              CodeType::kU8,   unpack_q8_0_biased},
    {kId<TypeId::kIQ4_NL>,     false,  4,    true,   32,  Correction::kNone,      0,    kIq4Values,           CodeType::kI8,   unpack_q4_0},
    {kId<TypeId::kIQ4_NL>,     false,  4,    true,   32,  Correction::kOffset,    128,  kIq4Biased.data(),    CodeType::kU8,   unpack_q4_0},
    {kId<TypeId::kMXFP4>,      false,  4,    false,  32,  Correction::kOffset,    12,   kE2m1Biased.data(),   CodeType::kU5,   unpack_mxfp4},
    {kId<TypeId::kNVFP4>,      false,  4,    false,  16,  Correction::kOffset,    12,   kE2m1Biased.data(),   CodeType::kU5,   unpack_nvfp4},
    {kId<TypeId::kTQ1_0>,      false,  4,    false,  32,  Correction::kOffset,    1,    nullptr,              CodeType::kU4,   unpack_tq1_0},
    {kId<TypeId::kTQ2_0>,      false,  4,    false,  32,  Correction::kOffset,    1,    nullptr,              CodeType::kU4,   unpack_tq2_0},
    {kId<TypeId::kQ1_0>,       false,  4,    true,   32,  Correction::kOffset,    1,    nullptr,              CodeType::kU4,   unpack_q1_0},
    {kId<TypeId::kQ2_0>,       false,  4,    true,   32,  Correction::kOffset,    1,    nullptr,              CodeType::kU4,   unpack_q2_0},
    {kId<TypeId::kQ2_K>,       true,   4,    false,  16,  Correction::kStored,    0,    nullptr,              CodeType::kU4,   unpack_q2_k},
    {kId<TypeId::kQ3_K>,       true,   4,    false,  16,  Correction::kOffset,    4,    nullptr,              CodeType::kU4,   unpack_q3_k},
    {kId<TypeId::kQ4_K>,       true,   4,    false,  32,  Correction::kStored,    0,    nullptr,              CodeType::kU4,   unpack_q4_k},
    {kId<TypeId::kQ5_K>,       true,   8,    false,  32,  Correction::kStored,    0,    nullptr,              CodeType::kU5,   unpack_q5_k},
    {kId<TypeId::kQ6_K>,       true,   8,    false,  16,  Correction::kOffset,    32,   nullptr,              CodeType::kU6,   unpack_q6_k},
    {kId<TypeId::kIQ4_XS>,     true,   4,    false,  32,  Correction::kNone,      0,    kIq4Values,           CodeType::kI8,   unpack_iq4_xs},
    {kId<TypeId::kIQ4_XS>,     true,   4,    false,  32,  Correction::kOffset,    128,  kIq4Biased.data(),    CodeType::kU8,   unpack_iq4_xs},
    {kId<TypeId::kIQ1_S>,      true,   4,    false,  32,  Correction::kStored,    0,    nullptr,              CodeType::kU4,   unpack_iq1_s},
    {kId<TypeId::kIQ1_M>,      true,   4,    false,  16,  Correction::kStored,    0,    nullptr,              CodeType::kU4,   unpack_iq1_m},
    {kId<TypeId::kIQ2_XXS>,    true,   4,    false,  32,  Correction::kNone,      0,    kIq2Values,           CodeType::kI8,   unpack_iq2_xxs},
    {kId<TypeId::kIQ2_XXS>,    true,   4,    false,  32,  Correction::kOffset,    128,  kIq2Biased.data(),    CodeType::kU8,   unpack_iq2_xxs},
    {kId<TypeId::kIQ2_XS>,     true,   4,    false,  16,  Correction::kOffset,    43,   kIq2Biased43.data(),  CodeType::kU7,   unpack_iq2_xs},
    {kId<TypeId::kIQ2_S>,      true,   4,    false,  16,  Correction::kOffset,    43,   kIq2Biased43.data(),  CodeType::kU7,   unpack_iq2_s},
    {kId<TypeId::kIQ3_XXS>,    true,   4,    false,  32,  Correction::kNone,      0,    kIq3Values,           CodeType::kI8,   unpack_iq3_xxs},
    {kId<TypeId::kIQ3_XXS>,    true,   4,    false,  32,  Correction::kOffset,    128,  kIq3Biased.data(),    CodeType::kU8,   unpack_iq3_xxs},
    {kId<TypeId::kIQ3_S>,      true,   4,    false,  32,  Correction::kStored,    0,    nullptr,              CodeType::kU4,   unpack_iq3_s},
};
// clang-format on

inline constexpr auto kWideFormats = [] {
  std::array<PackedFormat, std::size(kFormats)> wide{};
  for (size_t i = 0; i < wide.size(); ++i) {
    wide[i] = kFormats[i];
    wide[i].half_scales = false;
  }
  return wide;
}();

}  // namespace ggufscope
