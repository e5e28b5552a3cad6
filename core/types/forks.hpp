// Ids and names of the tensor types of ggml's forks and of newer versions of ggml. Their layouts are not known here.
#pragma once

#include <cstdint>
#include <string_view>

namespace ggufscope {

struct ForkType {
  std::string_view name;  ///< "IQ4_KS"; empty for an unknown id
  std::string_view fork;  ///< "ik_llama.cpp", or kNewerGgml
};

inline constexpr std::string_view kNewerGgml = "ggml 1.0";

/// The fork, or the newer version of ggml, that defines a type id. An id that ggml itself defines gives nothing, except
/// for ids whose types ggml removed and no file has: BitNet uses those for I2_S, I8_S and TL1.
[[nodiscard]] ForkType fork_type(uint32_t id);

}  // namespace ggufscope
