// Generators that filters return.
#pragma once

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

/// The next element of a generator of map, select, batch and similar filters.
[[nodiscard]] Value next_generated(Runtime& r, Iter& iter);

/// The key for sorting and grouping: a string in lower case, unless case_sensitive.
[[nodiscard]] Value folded(Runtime& r, const Value& value, const Value& case_sensitive);

}  // namespace ggufscope::jinja
