// Swaps the bytes of the numbers in blocks.
#include "quant/byte_order.hpp"

#include "base/bytes.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

struct Row {
  TypeId type;
  BlockField fields[2];  // count 0: unused
};

constexpr Row kRows[] = {
#define GGUFSCOPE_FIELDS(id, ...) {TypeId::id, {__VA_ARGS__}},
#include "types/types.inc"
};

constexpr Row kSmallRows[] = {
#define GGUFSCOPE_SMALL_FIELDS(id, ...) {TypeId::id, {__VA_ARGS__}},
#include "types/types.inc"
};

/// Swaps the bytes of n numbers at p, which may be unaligned.
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
  // A type of plain numbers: the blocks are one array of them.
  if (fields[0].width == bytes) return swap_numbers(blocks, n_blocks, bytes);
  for (size_t i = 0; i < n_blocks; ++i, blocks += bytes)
    for (const BlockField& field : fields) swap_numbers(blocks + field.offset, field.count, field.width);
}

}  // namespace ggufscope
