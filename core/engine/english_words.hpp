// English texts as OuteTTS reads them: words of the letters a to z.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ggufscope {

/// The words of a text, as llama.cpp prepares them: digits become words, letters small ones; hyphens, underscores,
/// slashes, commas and full stops separate words, and all else that is not a letter is left out.
[[nodiscard]] std::vector<std::string> english_words(std::string_view text);

}  // namespace ggufscope
