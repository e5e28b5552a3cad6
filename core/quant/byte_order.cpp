#include "quant/byte_order.hpp"

#include "base/bytes.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

struct Row {
  TypeId type;
  BlockField fields[2];  // count 0: not there
};

// clang-format off
constexpr Row kRows[] = {
    {TypeId::kF32, {{0, 4, 1}}},    {TypeId::kF16, {{0, 2, 1}}},    {TypeId::kBF16, {{0, 2, 1}}},
    {TypeId::kF64, {{0, 8, 1}}},    {TypeId::kI16, {{0, 2, 1}}},    {TypeId::kI32, {{0, 4, 1}}},
    {TypeId::kI64, {{0, 8, 1}}},    {TypeId::kQ4_0, {{0, 2, 1}}},   {TypeId::kQ4_1, {{0, 2, 2}}},
    {TypeId::kQ5_0, {{0, 2, 1}, {2, 4, 1}}},                        {TypeId::kQ5_1, {{0, 2, 2}, {4, 4, 1}}},
    {TypeId::kQ8_0, {{0, 2, 1}}},   {TypeId::kQ8_1, {{0, 2, 2}}},   {TypeId::kQ2_K, {{80, 2, 2}}},
    {TypeId::kQ3_K, {{108, 2, 1}}}, {TypeId::kQ4_K, {{0, 2, 2}}},   {TypeId::kQ5_K, {{0, 2, 2}}},
    {TypeId::kQ6_K, {{208, 2, 1}}}, {TypeId::kQ8_K, {{0, 4, 1}, {260, 2, 16}}},
    {TypeId::kIQ1_S, {{0, 2, 1}, {34, 2, 8}}},                      {TypeId::kIQ1_M, {{48, 2, 4}}},
    {TypeId::kIQ2_XXS, {{0, 2, 1}, {2, 4, 16}}},                    {TypeId::kIQ2_XS, {{0, 2, 33}}},
    {TypeId::kIQ2_S, {{0, 2, 1}}},  {TypeId::kIQ3_XXS, {{0, 2, 1}, {66, 4, 8}}},
    {TypeId::kIQ3_S, {{0, 2, 1}}},  {TypeId::kIQ4_NL, {{0, 2, 1}}}, {TypeId::kIQ4_XS, {{0, 2, 2}}},
    {TypeId::kTQ1_0, {{52, 2, 1}}}, {TypeId::kTQ2_0, {{64, 2, 1}}},
    {TypeId::kQ1_0, {{0, 2, 1}}},   {TypeId::kQ2_0, {{0, 2, 1}}},
};

constexpr Row kSmallRows[] = {
    {TypeId::kQ2_K, {{20, 2, 2}}},  {TypeId::kQ3_K, {{26, 2, 1}}},  {TypeId::kQ4_K, {{0, 2, 2}}},
    {TypeId::kQ5_K, {{0, 2, 1}}},   {TypeId::kQ6_K, {{52, 2, 1}}},  {TypeId::kQ8_K, {{0, 4, 1}, {68, 2, 4}}},
};
// clang-format on

/// n numbers at p, which may be unaligned, in the other byte order.
template <class T>
void swap_numbers(uint8_t* p, size_t n) {
  for (size_t i = 0; i < n; ++i, p += sizeof(T)) store(p, swap_bytes(load<T>(p)));
}

void swap_numbers(uint8_t* p, size_t n, size_t width) {
  if (width == 2) return swap_numbers<uint16_t>(p, n);
  if (width == 4) return swap_numbers<uint32_t>(p, n);
  swap_numbers<uint64_t>(p, n);
}

}  // namespace

std::span<const BlockField> block_fields(uint32_t type, bool small) {
  for (const Row& row : small ? std::span<const Row>(kSmallRows) : std::span<const Row>(kRows))
    if (static_cast<uint32_t>(row.type) == type) return {row.fields, row.fields[1].count == 0 ? size_t{1} : size_t{2}};
  return {};
}

void swap_block_bytes(uint32_t type, uint8_t* blocks, size_t n_blocks, bool small) {
  const TypeGeometry* geometry = find_type(type);
  const std::span<const BlockField> fields = block_fields(type, small);
  if (geometry == nullptr || fields.empty()) return;
  const size_t bytes = small ? small_block_bytes(type) : geometry->block_bytes;
  // Plain numbers: one run of them.
  if (fields[0].width == bytes) return swap_numbers(blocks, n_blocks, bytes);
  for (size_t i = 0; i < n_blocks; ++i, blocks += bytes)
    for (const BlockField& field : fields) swap_numbers(blocks + field.offset, field.count, field.width);
}

}  // namespace ggufscope
