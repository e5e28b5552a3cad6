// Generators that filters make.
#pragma once

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

/// The next element of a generator of map, select, batch and their like.
[[nodiscard]] Value next_generated(Runtime& r, Iter& iter);

/// A string in lower case, unless case counts: what sorting and grouping compare.
[[nodiscard]] Value folded(Runtime& r, const Value& value, const Value& case_sensitive);

}  // namespace ggufscope::jinja
