// general.file_type: the mixture of types that a quantizer was asked for (llama_ftype in llama.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ggufscope {

struct FileType {
  uint32_t id;
  std::string_view name;  ///< as in file names: "Q4_K_M"
  uint32_t type;          ///< ggml type of most tensors in such a file
  bool removed;
};

/// This flag is added to the id if a reader guessed it from the tensors.
inline constexpr uint32_t kFileTypeGuessed = 1024;

[[nodiscard]] std::span<const FileType> file_types();

/// Returns nullptr for an unknown id. The guessed flag is ignored.
[[nodiscard]] const FileType* find_file_type(uint32_t id);

/// The name of an id that ggml 1.0 has and this table does not; empty for any other id.
[[nodiscard]] std::string_view newer_file_type(uint32_t id);

/// The mixture named after a type: "Q5_0" for Q5_0, "Q4_K_M" for Q4_K. nullptr if there is none.
[[nodiscard]] const FileType* file_type_of(uint32_t type);

}  // namespace ggufscope
