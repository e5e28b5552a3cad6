// The keys that llama.cpp requires for an architecture (required_keys.inc).
#pragma once

#include <string_view>

namespace ggufscope {

/// True if llama.cpp refuses a model of that architecture without "{architecture}.{suffix}".
[[nodiscard]] bool requires_key(std::string_view architecture, std::string_view suffix);

}  // namespace ggufscope
