// Computes the sizes of K blocks of 64 elements, and recognizes files that have them.
#include "gguf/small_blocks.hpp"

#include <algorithm>
#include <vector>

#include "base/sort.hpp"
#include "types/types.hpp"

namespace ggufscope {

std::optional<uint64_t> small_block_size(const TensorInfo& tensor) {
  const uint32_t bytes = small_block_bytes(tensor.type);
  uint64_t size = 0;
  if (bytes == 0 || tensor.n_elements == 0 || tensor.shape[0] % kSmallBlock != 0 ||
      __builtin_mul_overflow(tensor.n_elements / kSmallBlock, uint64_t{bytes}, &size) || size >> 63 != 0)
    return std::nullopt;
  return size;
}

bool has_small_blocks(const Header& header, std::optional<uint64_t> file_size) {
  const auto is_k = [](const TensorInfo& tensor) { return small_block_bytes(tensor.type) != 0; };
  if (std::ranges::none_of(header.tensors, is_k)) return false;
  const std::vector<uint32_t> order = sorted_order(header.tensors.size(), [&](uint32_t a, uint32_t b) {
    return header.tensors[a].offset < header.tensors[b].offset;
  });
  bool any = false;
  for (size_t i = 0; i < order.size(); ++i) {
    const TensorInfo& tensor = header.tensors[order[i]];
    if (!is_k(tensor) || tensor.n_elements == 0) continue;
    const std::optional<uint64_t> end = i + 1 < order.size() ? header.tensors[order[i + 1]].offset : file_size;
    if (!end) continue;
    const auto fits = [&](uint64_t bytes) {
      const uint64_t distance = *end - tensor.offset, beyond = bytes % header.alignment;
      return *end >= tensor.offset &&
             (distance == bytes || distance == bytes + (beyond == 0 ? 0 : header.alignment - beyond));
    };
    const std::optional<uint64_t> small = small_block_size(tensor);
    if (!small || !fits(*small) || (tensor.n_bytes != 0 && fits(tensor.n_bytes))) return false;
    any = true;
  }
  return any;
}

}  // namespace ggufscope
