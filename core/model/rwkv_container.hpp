// RWKV models with the tensor names of the original checkpoints ("blocks.0.att.key.weight"): files of rwkv.cpp, and the
// specification's "rwkv" architecture.
#pragma once

#include "model/model.hpp"

namespace ggufscope {

/// True if the names are those of an RWKV checkpoint.
[[nodiscard]] bool is_rwkv_checkpoint(std::span<const TensorEntry> tensors);

/// Opens versions 4, 5.2 and 7, which are recognized by their tensors; sizes are taken from the shapes. time_decay is
/// stored as in rwkv.cpp: -e^w in version 4, e^(-e^w) in version 5. Errors as Model::open.
[[nodiscard]] Result<std::unique_ptr<Model>> open_rwkv_checkpoint(std::vector<TensorEntry> tensors);

}  // namespace ggufscope
