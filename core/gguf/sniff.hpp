// What a file is that does not begin with "GGUF": told by its first bytes.
#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ggufscope {

/// As many bytes as tell everything apart, or the whole file where it is shorter.
inline constexpr uint64_t kSniffBytes = 64;

/// The error for a file that begins with these bytes: a page, a pointer, another container, or just a bad magic.
[[nodiscard]] Error foreign_file(ByteView first_bytes);

}  // namespace ggufscope
