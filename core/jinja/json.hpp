// JSON: the input format of variables, and the output of tojson (like Python's json.dumps).
#pragma once

#include <string>

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

struct JsonStyle {
  bool ascii = false, sort_keys = false, indents = false;
  std::string indent, item_separator = ", ", key_separator = ": ";
};

[[nodiscard]] bool write_json(Runtime& r, const Value& value, const JsonStyle& style, Writer& out, uint32_t level = 0);

/// Parses the object of variables. With `marks`, strings inside messages, tools and documents are marked as content.
/// Roles and types that are plain words are not marked, because templates build control tokens from them.
[[nodiscard]] Value read_json(Runtime& r, std::string_view text, bool marks);

}  // namespace ggufscope::jinja
