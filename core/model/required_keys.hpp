// Refuses a model without a key that llama.cpp requires.
#pragma once

#include <string_view>

#include "model/hparams.hpp"

namespace ggufscope {

/// Refuses a file without a key of gguf/required_keys.inc that changes what the model computes and that no tensor
/// tells: a default would make another model of it. kNotFound: the first such key.
void refuse_missing_keys(Keys& keys, std::string_view architecture);

}  // namespace ggufscope
