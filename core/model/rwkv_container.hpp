// RWKV models whose tensors have the names of the original checkpoints ("blocks.0.att.key.weight"): files of rwkv.cpp,
// and the specification's "rwkv" architecture.
#pragma once

#include "model/model.hpp"

namespace ggufscope {

/// True where the names are those of an RWKV checkpoint.
[[nodiscard]] bool is_rwkv_checkpoint(std::span<const TensorEntry> tensors);

/// Versions 4, 5.2 and 7, recognized by their tensors; sizes come from the shapes. time_decay as rwkv.cpp stores it:
/// -e^w of version 4, e^(-e^w) of version 5. Errors as Model::open.
[[nodiscard]] Result<std::unique_ptr<Model>> open_rwkv_checkpoint(std::vector<TensorEntry> tensors);

}  // namespace ggufscope
