// The format mini-language of str.format: [[fill]align][sign][#][0][width][grouping][.precision][type]
#pragma once

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

/// Python's format(value, spec).
[[nodiscard]] Value format_value(Runtime& r, const Value& value, const Str& spec);
/// Escapes characters beyond ASCII as \xNN, \uNNNN or \UNNNNNNNN.
[[nodiscard]] Value ascii_only(Runtime& r, const Str& text);

}  // namespace ggufscope::jinja
