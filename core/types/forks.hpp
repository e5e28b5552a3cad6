// Tensor types of ggml's forks: their ids and names. Nothing of their layout.
#pragma once

#include <cstdint>
#include <string_view>

namespace ggufscope {

struct ForkType {
  std::string_view name;  ///< "IQ4_KS"; empty for an id that this build does not know
  std::string_view fork;  ///< "ik_llama.cpp"
};

/// The fork that has a type of that id. Ids of ggml's own types mean these, but for those that ggml has removed and no
/// file has: BitNet's I2_S, I8_S and TL1 stand in their places.
[[nodiscard]] ForkType fork_type(uint32_t id);

}  // namespace ggufscope
