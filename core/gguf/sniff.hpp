// Identifies a file that does not begin with "GGUF" by its first bytes.
#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ggufscope {

/// Enough bytes to identify every known kind. A shorter file is passed as a whole.
inline constexpr uint64_t kSniffBytes = 64;

/// The error for a file that begins with these bytes: an HTML page, a Git LFS pointer, another container, zeros, or
/// a bad magic.
[[nodiscard]] Error foreign_file(ByteView first_bytes);

}  // namespace ggufscope
