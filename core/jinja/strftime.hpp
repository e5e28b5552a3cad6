// strftime of the C locale, with glibc's codes, flags and widths. The moment has no time zone: %z and %Z are empty.
#pragma once

#include <string>
#include <string_view>

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

/// Appends to out. Returns false if it would exceed max_bytes.
[[nodiscard]] bool strftime(const Moment& now, std::string_view format, size_t max_bytes, std::string& out);

}  // namespace ggufscope::jinja
