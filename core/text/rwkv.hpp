// RWKV World: greedy longest match over bytes, from left to right.
#pragma once

#include <string_view>
#include <vector>

#include "text/prefix_table.hpp"
#include "text/vocabulary.hpp"

namespace ggufscope {

class RwkvModel {
 public:
  explicit RwkvModel(const Vocabulary& vocabulary);

  void encode(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out) const;

 private:
  PrefixTable table_;  // of pieces
};

}  // namespace ggufscope
