// Files from ggml builds with QK_K = 64 (until May 2024). Their K types have super-blocks of 64 elements. The type ids
// are the same, so only the tensors' offsets reveal it.
#pragma once

#include <cstdint>
#include <optional>

#include "gguf/header.hpp"

namespace ggufscope {

/// True if the distance from each K-type tensor to the next one (or to the end of the file) matches super-blocks of 64
/// elements, and never super-blocks of 256. False if no distance can be measured.
[[nodiscard]] bool has_small_blocks(const Header& header, std::optional<uint64_t> file_size);

/// Size in bytes of the tensor with super-blocks of 64. nullopt for other types, for rows that are not whole blocks,
/// and for 2^63 or more.
[[nodiscard]] std::optional<uint64_t> small_block_size(const TensorInfo& tensor);

}  // namespace ggufscope
