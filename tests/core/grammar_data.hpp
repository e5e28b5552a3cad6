// Shared by the tests of grammars.
#pragma once

#include <string_view>

#include "engine/grammar.hpp"

namespace ggufscope::test {

inline bool reads(GrammarMatcher& matcher, std::string_view text) {
  const Result<bool> read = matcher.read(text);
  BOOST_REQUIRE_MESSAGE(read.has_value(), read.error().message);
  return *read;
}

}  // namespace ggufscope::test
