// What llama.cpp requires of an architecture's keys (required_keys.inc).
#pragma once

#include <string_view>

namespace ggufscope {

/// Whether llama.cpp refuses a model of that architecture without "{architecture}.{suffix}".
[[nodiscard]] bool requires_key(std::string_view architecture, std::string_view suffix);

}  // namespace ggufscope
