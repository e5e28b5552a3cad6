// PLaMo-2: finds the tokens with the lowest total cost, working backwards from the end. A character that no token
// spells costs kUnknownCost and becomes byte tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/prefix_table.hpp"
#include "text/vocabulary.hpp"

namespace ggufscope {

class Plamo2Model {
 public:
  /// Missing byte tokens are added to the vocabulary's notes.
  explicit Plamo2Model(Vocabulary& vocabulary);

  void encode(const Vocabulary& vocabulary, std::string_view text, std::vector<TokenId>& out);

 private:
  struct Step {
    int64_t cost;
    TokenId token;    // kNoToken: use byte tokens
    uint32_t length;  // in bytes
  };

  PrefixTable table_;
  std::vector<int32_t> costs_;  // for each token, in units of 1e-4
  std::array<TokenId, 256> byte_tokens_{};
  std::vector<Step> steps_;
};

}  // namespace ggufscope
