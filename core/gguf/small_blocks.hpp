// Files of ggml built with QK_K = 64 (until May 2024), whose K types have super-blocks of 64 elements: the type ids are
// the same, only the places of the tensors tell.
#pragma once

#include <cstdint>
#include <optional>

#include "gguf/header.hpp"

namespace ggufscope {

/// Whether each tensor of a K type is followed by the next one, or by the end of the file, at the distance that
/// super-blocks of 64 take, and none at that of 256. Where nothing can be measured they have 256.
[[nodiscard]] bool has_small_blocks(const Header& header, std::optional<uint64_t> file_size);

/// Bytes of the tensor with super-blocks of 64; nullopt for other types, rows of parts of blocks, and 2^63 or more.
[[nodiscard]] std::optional<uint64_t> small_block_size(const TensorInfo& tensor);

}  // namespace ggufscope
