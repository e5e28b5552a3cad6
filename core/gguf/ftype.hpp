// general.file_type: which mixture of types a quantizer was asked for (llama_ftype of llama.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ggufscope {

struct FileType {
  uint32_t id;
  std::string_view name;  ///< as file names spell it: "Q4_K_M"
  uint32_t type;          ///< ggml type that such a file holds: the rest of the mixture goes around it
  bool removed;
};

/// Set beside the id where a reader guessed it from the tensors.
inline constexpr uint32_t kFileTypeGuessed = 1024;

[[nodiscard]] std::span<const FileType> file_types();

/// nullptr for an id that this build does not know. The guessed flag is ignored.
[[nodiscard]] const FileType* find_file_type(uint32_t id);

/// The mixture that is named after a type: "Q5_0" of Q5_0, "Q4_K_M" of Q4_K. nullptr where there is none.
[[nodiscard]] const FileType* file_type_of(uint32_t type);

}  // namespace ggufscope
