// The names of the quantization mixtures.
#include "gguf/ftype.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "types/types.hpp"

namespace ggufscope {
namespace {

constexpr auto kFileTypes = [] {
  std::array types = {
#define GGUFSCOPE_FILE_TYPE(id, name, type, removed) FileType{id, name, type, removed},
#include "types/types.inc"
  };
  std::ranges::sort(types, {}, &FileType::id);
  return types;
}();

static_assert(ids_are_indices(kFileTypes));

}  // namespace

std::span<const FileType> file_types() { return kFileTypes; }

const FileType* find_file_type(uint32_t file_type) {
  file_type &= ~kFileTypeGuessed;
  return file_type < kFileTypes.size() ? &kFileTypes[file_type] : nullptr;
}

std::string_view newer_file_type(uint32_t id) { return id == 42 ? "FP8_E4M3" : std::string_view(); }

const FileType* file_type_of(uint32_t type) {
  const TypeGeometry* geometry = find_type(type);
  if (geometry == nullptr) return nullptr;
  const std::string medium = std::string(geometry->name) + "_M";
  for (const std::string_view name : {geometry->name, std::string_view(medium)})
    for (const FileType& row : kFileTypes)
      if (row.name == name) return &row;
  return nullptr;
}

}  // namespace ggufscope
