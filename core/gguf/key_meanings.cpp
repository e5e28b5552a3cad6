// The meanings of standardized keys in words, which only some modules link.
#include "gguf/keys.hpp"

namespace ggufscope {
namespace {

// clang-format off
constexpr KeyMeaning kMeanings[] = {
#define GGUFSCOPE_KEY(pattern, type, form, unit, meaning) {unit, meaning},
#include "gguf/keys.inc"
#undef GGUFSCOPE_KEY
};
// clang-format on

}  // namespace

const KeyMeaning* find_key_meaning(std::string_view key) {
  const StandardKey* row = find_standard_key(key);
  return row == nullptr ? nullptr : &kMeanings[row - standard_keys().data()];
}

}  // namespace ggufscope
