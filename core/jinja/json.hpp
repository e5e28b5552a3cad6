// JSON: variables come in as it, tojson writes it as Python's json.dumps.
#pragma once

#include <string>

#include "jinja/runtime.hpp"

namespace ggufscope::jinja {

struct JsonStyle {
  bool ascii = false, sort_keys = false, indents = false;
  std::string indent, item_separator = ", ", key_separator = ": ";
};

[[nodiscard]] bool write_json(Runtime& r, const Value& value, const JsonStyle& style, Writer& out, uint32_t level = 0);

/// The object of variables. Strings below the names messages, tools and documents are marked as content where marks are
/// asked for; roles and types that are plain words are not, as templates build control tokens of them.
[[nodiscard]] Value read_json(Runtime& r, std::string_view text, bool marks);

}  // namespace ggufscope::jinja
