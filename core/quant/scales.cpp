#include "quant/scales.hpp"

#include <algorithm>
#include <span>

namespace ggufscope {
namespace {

// clang-format off
constexpr BlockScales kScales[] = {
    {TypeId::kQ4_0, 0, 1, ScaleKind::kF16},             {TypeId::kQ4_1, 0, 1, ScaleKind::kF16, 1},
    {TypeId::kQ5_0, 0, 1, ScaleKind::kF16},             {TypeId::kQ5_1, 0, 1, ScaleKind::kF16, 1},
    {TypeId::kQ8_0, 0, 1, ScaleKind::kF16},             {TypeId::kQ8_1, 0, 1, ScaleKind::kF16},
    {TypeId::kQ2_K, 80, 1, ScaleKind::kF16, 1},         {TypeId::kQ3_K, 108, 1, ScaleKind::kF16},
    {TypeId::kQ4_K, 0, 1, ScaleKind::kF16, 1},          {TypeId::kQ5_K, 0, 1, ScaleKind::kF16, 1},
    {TypeId::kQ6_K, 208, 1, ScaleKind::kF16},           {TypeId::kQ8_K, 0, 1, ScaleKind::kF32},
    {TypeId::kIQ1_S, 0, 1, ScaleKind::kF16},            {TypeId::kIQ1_M, 48, 1, ScaleKind::kIq1m},
    {TypeId::kIQ2_XXS, 0, 1, ScaleKind::kF16},          {TypeId::kIQ2_XS, 0, 1, ScaleKind::kF16},
    {TypeId::kIQ2_S, 0, 1, ScaleKind::kF16},            {TypeId::kIQ3_XXS, 0, 1, ScaleKind::kF16},
    {TypeId::kIQ3_S, 0, 1, ScaleKind::kF16},            {TypeId::kIQ4_NL, 0, 1, ScaleKind::kF16},
    {TypeId::kIQ4_XS, 0, 1, ScaleKind::kF16},           {TypeId::kTQ1_0, 52, 1, ScaleKind::kF16},
    {TypeId::kTQ2_0, 64, 1, ScaleKind::kF16},           {TypeId::kMXFP4, 0, 1, ScaleKind::kE8m0},
    {TypeId::kNVFP4, 0, 4, ScaleKind::kUe4m3},          {TypeId::kQ1_0, 0, 1, ScaleKind::kF16},
    {TypeId::kQ2_0, 0, 1, ScaleKind::kF16},
};

constexpr BlockScales kSmallScales[] = {
    {TypeId::kQ2_K, 20, 1, ScaleKind::kF16, 1},         {TypeId::kQ3_K, 26, 1, ScaleKind::kF16},
    {TypeId::kQ4_K, 0, 1, ScaleKind::kF16, 1},          {TypeId::kQ5_K, 0, 1, ScaleKind::kF16},
    {TypeId::kQ6_K, 52, 1, ScaleKind::kF16},            {TypeId::kQ8_K, 0, 1, ScaleKind::kF32},
};
// clang-format on

}  // namespace

const BlockScales* find_scales(uint32_t type, bool small) {
  const auto rows = small ? std::span<const BlockScales>(kSmallScales) : std::span<const BlockScales>(kScales);
  const auto row = std::ranges::find(rows, static_cast<TypeId>(type), &BlockScales::type);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace ggufscope
